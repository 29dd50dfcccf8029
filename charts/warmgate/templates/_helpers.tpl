{{- define "warmgate.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{/* What everything is named after; 11 characters are left for what is put behind it. */}}
{{- define "warmgate.fullname" -}}
{{- $name := include "warmgate.name" . -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 52 | trimSuffix "-" -}}
{{- else if contains $name .Release.Name -}}
{{- .Release.Name | trunc 52 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 52 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/*
The Secrets that cert-manager fills have names of their own: Helm deletes what it made for the controller when the source changes, and
takes over nothing that it did not make.
*/}}
{{- define "warmgate.issued" -}}
{{- include "warmgate.fullname" . -}}
{{- if eq .Values.certificates.source "cert-manager" -}}-issued{{- end -}}
{{- end -}}

{{- define "warmgate.caSecret" -}}
{{- include "warmgate.issued" . -}}-ca
{{- end -}}

{{- define "warmgate.tlsSecret" -}}
{{- default (printf "%s-tls" (include "warmgate.issued" .)) .Values.certificates.secretName -}}
{{- end -}}

{{/* Labels by which pods are found; they never change. Takes the root, and the component if only that is meant. */}}
{{- define "warmgate.selectorLabels" -}}
app.kubernetes.io/name: {{ include "warmgate.name" .root }}
app.kubernetes.io/instance: {{ .root.Release.Name | quote }}
{{- with .component }}
app.kubernetes.io/component: {{ . }}
{{- end }}
{{- end -}}

{{/* Labels of every object. Takes the root, the component of what belongs to one, and more labels, which win over those of all. */}}
{{- define "warmgate.labels" -}}
{{ include "warmgate.selectorLabels" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" }}
{{- with merge (dict) (default dict .labels) .root.Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* Metadata of an object in our namespace. Takes the root, the component, more labels, and the name unless it is the component's. */}}
{{- define "warmgate.metadata" -}}
name: {{ default (printf "%s-%s" (include "warmgate.fullname" .root) .component) .name }}
namespace: {{ .root.Release.Namespace | quote }}
labels:
  {{- include "warmgate.labels" . | nindent 2 }}
{{- end -}}

{{- define "warmgate.image" -}}
{{- with .Values.image -}}
{{- if .registry -}}{{ .registry }}/{{- end -}}
{{ .repository }}
{{- if .digest -}}@{{ .digest }}{{- else -}}:{{ default $.Chart.AppVersion .tag }}{{- end -}}
{{- end -}}
{{- end -}}

{{/* The config file of the webhook: docs/configuration.md. */}}
{{- define "warmgate.config" -}}
ownNamespace: {{ .Release.Namespace | quote }}
edits:
  {{- toYaml .Values.edits | nindent 2 }}
defaults:
  {{- toYaml .Values.defaults | nindent 2 }}
limits:
  {{- toYaml .Values.limits | nindent 2 }}
overrides:
  {{- toYaml .Values.overrides | nindent 2 }}
{{- with include "warmgate.knowledge" . | fromYaml }}
knowledge:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* What the values add to what the program knows, in the form of the files in knowledge/. */}}
{{- define "warmgate.knowledge" -}}
{{- $knowledge := deepCopy (default dict .Values.knowledge) -}}
{{- with .Values.extraAcceleratorResources -}}
{{- $row := dict "names" . "source" "extraAcceleratorResources of the chart" -}}
{{- $knowledge = set $knowledge "accelerators" (prepend (default list $knowledge.accelerators) $row) -}}
{{- end -}}
{{- toYaml $knowledge -}}
{{- end -}}

{{/* What the rows of one of its lists name. Takes the root, the list and the member. */}}
{{- define "warmgate.more" -}}
{{- $names := list -}}
{{- range $row := index (include "warmgate.knowledge" .root | fromYaml) .list -}}
{{- $names = concat $names (index $row $.member) -}}
{{- end -}}
{{- uniq $names | toYaml -}}
{{- end -}}

{{- define "warmgate.moreAccelerators" -}}
{{- include "warmgate.more" (dict "root" . "list" "accelerators" "member" "names") -}}
{{- end -}}

{{- define "warmgate.moreNotAccelerators" -}}
{{- include "warmgate.more" (dict "root" . "list" "notAccelerators" "member" "names") -}}
{{- end -}}

{{- define "warmgate.moreFractions" -}}
{{- include "warmgate.more" (dict "root" . "list" "fractions" "member" "annotations") -}}
{{- end -}}
