{{/* How many of a number of pods a number or a percentage is; of a part, Kubernetes makes a whole. Takes both. */}}
{{- define "warmgate.checks.share" -}}
{{- $wanted := toString (index . 0) -}}
{{- $number := trimSuffix "%" $wanted | int -}}
{{- if hasSuffix "%" $wanted -}}
{{- $number = div (add (mul $number (index . 1)) 99) 100 | int -}}
{{- end -}}
{{- $number -}}
{{- end -}}

{{/* The seconds of a duration as values.schema.json has them, such as 1m30s. */}}
{{- define "warmgate.checks.seconds" -}}
{{- $seconds := 0 -}}
{{- range $unit, $length := dict "h" 3600 "m" 60 "s" 1 -}}
{{- $count := regexFind (printf "[0-9]+%s" $unit) $ | trimSuffix $unit | int -}}
{{- $seconds = add $seconds (mul $count $length) -}}
{{- end -}}
{{- $seconds -}}
{{- end -}}

{{/*
What the API server would refuse in selectors, half way through an installation, and terms that are about no pod. Takes a place in the
values, and what is there.
*/}}
{{- define "warmgate.checks.selectors" -}}
{{- $at := .at -}}
{{- if kindIs "slice" .value -}}
{{- range $index, $item := .value -}}
{{- include "warmgate.checks.selectors" (dict "at" (printf "%s[%d]" $at $index) "value" $item) -}}
{{- end -}}
{{- else if kindIs "map" .value -}}
{{- with .value -}}
{{- $operator := toString .operator -}}
{{- $values := len (default list .values) -}}
{{- if and (has $operator (list "In" "NotIn")) (eq $values 0) -}}
{{- fail (printf "%s has the operator %s and no values: give it some" $at $operator) -}}
{{- end -}}
{{- if and (has $operator (list "Exists" "DoesNotExist")) (gt $values 0) -}}
{{- fail (printf "%s has the operator %s and values: take them out" $at $operator) -}}
{{- end -}}
{{- if and (has $operator (list "Gt" "Lt")) (ne $values 1) -}}
{{- fail (printf "%s has the operator %s, which takes one value, and has %d" $at $operator $values) -}}
{{- end -}}
{{- if and .topologyKey (kindIs "invalid" .labelSelector) -}}
{{- fail (printf "%s has no labelSelector, so it is about no pod: set one" $at) -}}
{{- end -}}
{{- range $key, $member := omit . "matchLabels" -}}
{{- include "warmgate.checks.selectors" (dict "at" (printf "%s.%s" $at $key) "value" $member) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
