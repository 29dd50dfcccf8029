{{/*
One entry of a webhook configuration. Takes the root, the endpoint, the mode of its namespaces ("unknown" for a label that is none),
its values, its failure policy, its rules and conditions, and the name where it is not the mode. Names never depend on values: the
controller's caBundle is kept by name.
*/}}
{{- define "warmgate.entry" -}}
- name: {{ default .mode .name }}.{{ .endpoint }}.warmgate.io
  admissionReviewVersions: [v1]
  clientConfig:
    service:
      name: {{ include "warmgate.fullname" .root }}
      namespace: {{ .root.Release.Namespace | quote }}
      path: /{{ .endpoint }}/{{ .mode }}
      port: 443
  failurePolicy: {{ .failurePolicy }}
  matchPolicy: Equivalent
  {{- if eq .endpoint "mutate" }}
  # What another webhook adds afterwards, such as a sidecar, is seen as well.
  reinvocationPolicy: IfNeeded
  {{- end }}
  sideEffects: None
  timeoutSeconds: {{ .values.timeoutSeconds }}
  namespaceSelector:
    {{- with .root.Values.namespaceSelector.matchLabels }}
    matchLabels:
      {{- toYaml . | nindent 6 }}
    {{- end }}
    matchExpressions:
      {{- if eq .mode "unknown" }}
      - key: warmgate.io/mode
        operator: Exists
      - key: warmgate.io/mode
        operator: NotIn
        values: [audit, warn, fix, enforce]
      {{- else }}
      - key: warmgate.io/mode
        operator: In
        values: [{{ .mode }}]
      {{- end }}
      # In the selector, so that these work also where no webhook does.
      - key: kubernetes.io/metadata.name
        operator: NotIn
        values: [kube-node-lease, kube-public, kube-system, {{ .root.Release.Namespace | quote }}]
      {{- with .root.Values.namespaceSelector.matchExpressions }}
      {{- toYaml . | nindent 6 }}
      {{- end }}
  objectSelector:
    {{- toYaml .root.Values.objectSelector | nindent 4 }}
  rules:
    {{- range .rules }}
    {{- include (printf "warmgate.rules.%s" .) $.root | nindent 4 }}
    {{- end }}
  matchConditions:
    {{- include "warmgate.conditions" .root | nindent 4 }}
    {{- range .conditions }}
    {{- include (printf "warmgate.conditions.%s" .) $.root | nindent 4 }}
    {{- end }}
{{- end -}}

{{/* With cert-manager, its CA injector says whom the API server trusts. */}}
{{- define "warmgate.injection" -}}
{{- if eq .Values.certificates.source "cert-manager" }}
annotations:
  cert-manager.io/inject-ca-from: {{ .Release.Namespace }}/{{ include "warmgate.fullname" . }}-tls
{{- end }}
{{- end -}}
