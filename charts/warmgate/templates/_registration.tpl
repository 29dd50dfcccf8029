{{/* Made from knowledge/accelerators.yaml and knowledge/workloads.yaml */}}

{{/* Pods: probes and grace of a pod cannot change once it is made. */}}
{{- define "warmgate.rules.pods" -}}
- operations: [CREATE]
  apiGroups: [""]
  apiVersions: [v1]
  resources: [pods]
  scope: Namespaced
{{- end }}

{{/* What is edited and judged. */}}
{{- define "warmgate.rules.edited" -}}
- operations: [CREATE, UPDATE]
  apiGroups: ["apps"]
  apiVersions: [v1]
  resources: [deployments, statefulsets, daemonsets]
  scope: Namespaced
- operations: [CREATE, UPDATE]
  apiGroups: ["batch"]
  apiVersions: [v1]
  resources: [jobs, cronjobs]
  scope: Namespaced
- operations: [CREATE, UPDATE]
  apiGroups: ["leaderworkerset.x-k8s.io"]
  apiVersions: [v1]
  resources: [leaderworkersets]
  scope: Namespaced
{{- end }}

{{/* What is judged only. */}}
{{- define "warmgate.rules.judged" -}}
- operations: [CREATE, UPDATE]
  apiGroups: ["apps"]
  apiVersions: [v1]
  resources: [replicasets]
  scope: Namespaced
{{- end }}

{{/* What is ours. No object makes these expressions err: a member that is absent or of another type counts as absent. */}}
{{- define "warmgate.conditions" -}}
- name: not-being-deleted
  expression: |-
    [object].map(x, type(x) == map, x.?metadata.orValue(null)).map(x, type(x) == map, x.?deletionTimestamp.orValue(null))
      .all(x, x == null)
- name: not-a-mirror-pod
  expression: |-
    !(request.kind.group == '' && request.kind.kind == 'Pod') ||
    [object].map(x, type(x) == map, x.?metadata.orValue(null)).map(x, type(x) == map, x.?annotations.orValue(null))
      .all(m, type(m) != map || !('kubernetes.io/config.mirror' in m))
- name: ours
  expression: |-
    (
      [object] +
      [object].map(x, type(x) == map, x.?spec.orValue(null)).map(x, type(x) == map, x.?template.orValue(null)) +
      [object].map(x, type(x) == map, x.?spec.orValue(null)).map(x, type(x) == map, x.?jobTemplate.orValue(null)).map(x, type(x) == map, x.?spec.orValue(null)).map(x, type(x) == map, x.?template.orValue(null)) +
      [object].map(x, type(x) == map, x.?spec.orValue(null)).map(x, type(x) == map, x.?leaderWorkerTemplate.orValue(null)).map(x, type(x) == map, x.?leaderTemplate.orValue(null)) +
      [object].map(x, type(x) == map, x.?spec.orValue(null)).map(x, type(x) == map, x.?leaderWorkerTemplate.orValue(null)).map(x, type(x) == map, x.?workerTemplate.orValue(null))
    ).exists(t,
      (
        [t].map(x, type(x) == map, x.?metadata.orValue(null)).map(x, type(x) == map, x.?annotations.orValue(null)) +
        [t].map(x, type(x) == map, x.?metadata.orValue(null)).map(x, type(x) == map, x.?labels.orValue(null))
      ).exists(m, type(m) == map && m.exists(k, k.matches('^([^/]*[.])?warmgate[.]io/'))) ||
      [t].map(x, type(x) == map, x.?metadata.orValue(null)).map(x, type(x) == map, x.?annotations.orValue(null))
        .exists(m, type(m) == map && m.exists(k, k in ['gpu-fraction', 'gpu-memory'] && m[k] != '0')) ||
      [t].map(x, type(x) == map, x.?spec.orValue(null)).map(x, type(x) == map, x.?resourceClaims.orValue(null))
        .exists(l, type(l) == list && l.size() > 0) ||
      (
        [t].map(x, type(x) == map, x.?spec.orValue(null)).map(x, type(x) == map, x.?initContainers.orValue(null)) +
        [t].map(x, type(x) == map, x.?spec.orValue(null)).map(x, type(x) == map, x.?containers.orValue(null))
      ).exists(l, type(l) == list && l.exists(c, (
        [c].map(x, type(x) == map, x.?resources.orValue(null)).map(x, type(x) == map, x.?limits.orValue(null)) +
        [c].map(x, type(x) == map, x.?resources.orValue(null)).map(x, type(x) == map, x.?requests.orValue(null))
      ).exists(m, type(m) == map && m.exists(k, m[k] != '0' && m[k] != 0 && k.contains('/') && (
        k in [
          'nvidia.com/gpu',
          'nvidia.com/gpu.shared',
          'nvidia.com/gpumem',
          'nvidia.com/gpumem-percentage',
          'nvidia.com/gpucores',
          'amd.com/gpumem',
          'amd.com/gpucores',
          'amd.com/gpu',
          'gpu.intel.com/i915',
          'gpu.intel.com/xe',
          'npu.intel.com/accel',
          'habana.ai/gaudi',
          'google.com/tpu',
          'aws.amazon.com/neuron',
          'aws.amazon.com/neuroncore',
          'aws.amazon.com/neurondevice',
          'huawei.com/npu-core',
          'metax-tech.com/gpu',
          'metax-tech.com/sgpu',
          'metax-tech.com/vcore',
          'metax-tech.com/vmemory',
          'mthreads.com/vgpu',
          'mthreads.com/gpu',
          'mthreads.com/sgpu-core',
          'mthreads.com/sgpu-memory',
          'hygon.com/dcunum',
          'hygon.com/dcumem',
          'hygon.com/dcucores',
          'enflame.com/gcu',
          'enflame.com/drs-gcu',
          'enflame.com/gcu-memory',
          'enflame.com/gcu-core',
          'kunlunxin.com/xpu',
          'kunlunxin.com/vxpu',
          'kunlunxin.com/vxpu-memory',
          'birentech.com/gpu',
          'vastaitech.com/va',
          'furiosa.ai/rngd',
          'beta.furiosa.ai/npu',
          'rebellions.ai/ATOM',
          'rebellions.ai/REBEL',
          'rebellions.ai/npu',
          'qualcomm.com/qaic',
          'volcano.sh/gpu-memory',
          'volcano.sh/gpu-number',
          'volcano.sh/vgpu-number',
          'volcano.sh/vgpu-memory',
          'volcano.sh/vgpu-memory-percentage',
          'volcano.sh/vgpu-cores',
          'volcano.sh/gpu-core.percentage',
          'koordinator.sh/gpu',
          'koordinator.sh/gpu.shared',
          'koordinator.sh/gpu-core',
          'koordinator.sh/gpu-memory',
          'koordinator.sh/gpu-memory-ratio',
          'aliyun.com/gpu-mem',
          'aliyun.com/gpu-count',
          'aliyun.com/gpu-core.percentage',
          'tke.cloud.tencent.com/qgpu-core',
          'tke.cloud.tencent.com/qgpu-memory',
          'tke.cloud.tencent.com/qgpu-core-greedy',
          'elasticgpu.io/gpu-core',
          'elasticgpu.io/gpu-memory',
          'tencent.com/vcuda-core',
          'tencent.com/vcuda-memory',
          'hami.io/gpu',
          'hami.io/gpumem',
          'hami.io/gpucores',
          {{- range .Values.extraAcceleratorResources }}{{ if not (contains "*" .) }}
          '{{ . }}',{{ end }}{{ end }}
        ] ||
        k.matches('^(nvidia[.]com/mig-.*g[.].*gb.*)$') ||
        k.matches('^(amd[.]com/.*_nps.*)$') ||
        k.matches('^(huawei[.]com/Ascend.*)$') ||
        k.matches('^(huawei[.]com/ascend-.*)$') ||
        k.matches('^(cambricon[.]com/mlu.*)$') ||
        k.matches('^(cambricon[.]com/vmlu.*)$') ||
        k.matches('^(iluvatar[.]ai/.*-vgpu.*)$') ||
        k.matches('^(furiosa[.]ai/rngd-.*)$') ||
        k.matches('^(volcano[.]sh/gpu-mem[.].*)$') ||
        {{- range .Values.extraAcceleratorResources }}{{ if contains "*" . }}
        k.matches('^{{ . | replace "." "[.]" | replace "*" ".*" }}$') ||{{ end }}{{ end }}
        false
      ) && !(
        k in ['nvidia.com/priority', 'amd.com/ama_u30', 'huawei.com/npu-cpu', 'huawei.com/npu-dvpp', 'cambricon.com/dsmlu.lock'] ||
        k.matches('^(gpu[.]intel[.]com/.*monitoring)$') ||
        k.matches('^(qat[.]intel[.]com/.*)$') ||
        k.matches('^(dsa[.]intel[.]com/.*)$') ||
        k.matches('^(dlb[.]intel[.]com/.*)$') ||
        k.matches('^(fpga[.]intel[.]com/.*)$') ||
        k.matches('^(iaa[.]intel[.]com/.*)$') ||
        k.matches('^(sgx[.]intel[.]com/.*)$')
      )))))
    )
{{- end }}

{{/* What is judged only, and owned, was judged at its owner. */}}
{{- define "warmgate.conditions.judged" -}}
- name: not-an-owned-replica-set
  expression: |-
    !(request.kind.group == 'apps' && request.kind.kind == 'ReplicaSet') ||
    ![object].map(x, type(x) == map, x.?metadata.orValue(null)).map(x, type(x) == map, x.?ownerReferences.orValue(null))
      .exists(l, type(l) == list && l.exists(o, type(o) == map && o.?controller.orValue(false) == true))
{{- end }}

{{/* A person stands there. */}}
{{- define "warmgate.conditions.unowned" -}}
- name: nobody-owns-it
  expression: |-
    ![object].map(x, type(x) == map, x.?metadata.orValue(null)).map(x, type(x) == map, x.?ownerReferences.orValue(null))
      .exists(l, type(l) == list && l.exists(o, type(o) == map && o.?controller.orValue(false) == true))
{{- end }}

{{/* Nobody stands there, or the pod would not come back. */}}
{{- define "warmgate.conditions.podOrOwned" -}}
- name: a-pod-or-owned
  expression: |-
    request.kind.group == '' && request.kind.kind == 'Pod' ||
    [object].map(x, type(x) == map, x.?metadata.orValue(null)).map(x, type(x) == map, x.?ownerReferences.orValue(null))
      .exists(l, type(l) == list && l.exists(o, type(o) == map && o.?controller.orValue(false) == true))
{{- end }}
