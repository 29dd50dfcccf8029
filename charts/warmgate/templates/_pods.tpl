{{/* Labels of pods. Takes the root and the component. */}}
{{- define "warmgate.podLabels" -}}
{{ include "warmgate.labels" (dict "root" .root "component" .component "labels" .root.Values.podLabels) }}
{{- end -}}

{{/*
What both pods have in common: where they run, and that they may do nothing but run. Takes the root, the component, and the values with
its affinity and spread.
*/}}
{{- define "warmgate.podSpec" -}}
serviceAccountName: {{ include "warmgate.fullname" .root }}-{{ .component }}
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  seccompProfile:
    type: RuntimeDefault
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
{{- $labels := include "warmgate.selectorLabels" . }}
{{- range .values.topologySpreadConstraints }}
  {{- $constraint := . }}
  {{- if kindIs "invalid" .labelSelector }}
  {{- /* Without a selector it would be about no pod. */}}
  {{- $constraint = merge (dict "labelSelector" (dict "matchLabels" (fromYaml $labels))) . }}
  {{- end }}
  {{- list $constraint | toYaml | nindent 2 }}
{{- else }}
{{- range list "kubernetes.io/hostname" "topology.kubernetes.io/zone" }}
  - topologyKey: {{ . }}
    maxSkew: 1
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- $labels | nindent 8 }}
    matchLabelKeys: [pod-template-hash]
{{- end }}
{{- end }}
{{- end -}}

{{/* What both containers have in common. Takes the root, and the resources. */}}
{{- define "warmgate.container" -}}
image: {{ include "warmgate.image" .root | quote }}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
# The plain port answers as soon as the process runs.
startupProbe:
  httpGet:
    path: /livez
    port: health
  periodSeconds: 2
  timeoutSeconds: 5
  failureThreshold: 31
# One that hangs for 15 s is replaced, and not asked to drain.
livenessProbe:
  httpGet:
    path: /livez
    port: health
  periodSeconds: 5
  timeoutSeconds: 5
  failureThreshold: 2
  terminationGracePeriodSeconds: 5
readinessProbe:
  httpGet:
    path: /readyz
    port: health
  periodSeconds: 5
  timeoutSeconds: 5
  failureThreshold: 2
securityContext:
  allowPrivilegeEscalation: false
  capabilities:
    drop: [ALL]
  readOnlyRootFilesystem: true
resources:
  {{- toYaml .resources | nindent 2 }}
{{- end -}}
