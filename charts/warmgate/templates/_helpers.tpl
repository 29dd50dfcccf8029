{{- define "warmgate.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{/* What everything is named after. The longest name that is made of it has 11 characters more. */}}
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

{{- define "warmgate.tlsSecret" -}}
{{- default (printf "%s-tls" (include "warmgate.fullname" .)) .Values.certificates.secretName -}}
{{- end -}}

{{/* Labels by which pods are found; they never change. Takes the root and the component. */}}
{{- define "warmgate.selectorLabels" -}}
app.kubernetes.io/name: {{ include "warmgate.name" .root }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
{{- with .component }}
app.kubernetes.io/component: {{ . }}
{{- end }}
{{- end -}}

{{/* Labels of every object. Takes the root and, for what belongs to one of the two processes, the component. */}}
{{- define "warmgate.labels" -}}
{{ include "warmgate.selectorLabels" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" }}
{{- with .root.Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "warmgate.image" -}}
{{- with .Values.image -}}
{{- if .registry -}}{{ .registry }}/{{- end -}}
{{ .repository }}
{{- if .digest -}}@{{ .digest }}{{- else -}}:{{ default $.Chart.AppVersion .tag }}{{- end -}}
{{- end -}}
{{- end -}}

{{/* What both processes may do: nothing but run. */}}
{{- define "warmgate.podSecurityContext" -}}
runAsNonRoot: true
seccompProfile:
  type: RuntimeDefault
{{- end -}}

{{- define "warmgate.securityContext" -}}
allowPrivilegeEscalation: false
capabilities:
  drop: [ALL]
readOnlyRootFilesystem: true
{{- end -}}

{{/* Probes of the plain port. It answers as soon as the process runs. */}}
{{- define "warmgate.probes" -}}
startupProbe:
  httpGet:
    path: /livez
    port: health
  periodSeconds: 2
  timeoutSeconds: 5
  failureThreshold: 31
livenessProbe:
  httpGet:
    path: /livez
    port: health
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 3
readinessProbe:
  httpGet:
    path: /readyz
    port: health
  periodSeconds: 5
  timeoutSeconds: 5
  failureThreshold: 1
{{- end -}}

{{/* The config file of the webhook; docs/configuration.md has its members. */}}
{{- define "warmgate.config" -}}
ownNamespace: {{ .Release.Namespace }}
edits:
  {{- toYaml .Values.edits | nindent 2 }}
defaults:
  {{- toYaml .Values.defaults | nindent 2 }}
limits:
  {{- toYaml .Values.limits | nindent 2 }}
{{- with .Values.overrides }}
overrides:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.extraAcceleratorResources }}
knowledge:
  accelerators:
    - names:
        {{- toYaml . | nindent 8 }}
      source: extraAcceleratorResources of the chart
{{- end }}
{{- end -}}

{{/* Where pods run. Takes the root, the component, and the values with its affinity and spread. */}}
{{- define "warmgate.scheduling" -}}
{{- with .root.Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .root.Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
topologySpreadConstraints:
{{- if .values.topologySpreadConstraints }}
  {{- toYaml .values.topologySpreadConstraints | nindent 2 }}
{{- else }}
{{- $component := . }}
{{- range list "kubernetes.io/hostname" "topology.kubernetes.io/zone" }}
  - topologyKey: {{ . }}
    maxSkew: 1
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- include "warmgate.selectorLabels" (pick $component "root" "component") | nindent 8 }}
    matchLabelKeys: [pod-template-hash]
{{- end }}
{{- end }}
{{- end -}}
