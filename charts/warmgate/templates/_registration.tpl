{{/* Made from the tables in knowledge/: `WARMGATE_BLESS=1 cargo test --test core registration` writes it anew. */}}

{{/* Pods: nothing that we judge changes once they are made. */}}
{{- define "warmgate.rules.pods" -}}
- operations: [CREATE]
  apiGroups: [""]
  apiVersions: ["*"]
  resources: [pods]
  scope: Namespaced
{{- end }}

{{/* Workloads that are edited and judged. */}}
{{- define "warmgate.rules.edited" -}}
- operations: [CREATE, UPDATE]
  apiGroups: ["apps"]
  apiVersions: ["*"]
  resources: [deployments, statefulsets, daemonsets]
  scope: Namespaced
- operations: [CREATE, UPDATE]
  apiGroups: ["batch"]
  apiVersions: ["*"]
  resources: [jobs, cronjobs]
  scope: Namespaced
- operations: [CREATE, UPDATE]
  apiGroups: ["leaderworkerset.x-k8s.io"]
  apiVersions: ["*"]
  resources: [leaderworkersets]
  scope: Namespaced
{{- end }}

{{/* Workloads that are judged only. */}}
{{- define "warmgate.rules.judged" -}}
- operations: [CREATE, UPDATE]
  apiGroups: ["apps"]
  apiVersions: ["*"]
  resources: [replicasets]
  scope: Namespaced
{{- end }}

{{/* What concerns us. */}}
{{- define "warmgate.conditions" -}}
- name: not-being-deleted
  expression: |-
    [object].map(x, type(x) == map, x.?metadata.orValue(null)).map(x, type(x) == map, x.?deletionTimestamp.orValue(null))
      .all(x, x == null)
- name: not-a-mirror
  expression: |-
    !(request.kind.group == '' && request.kind.kind == 'Pod') ||
    [object].map(x, type(x) == map, x.?metadata.orValue(null)).map(x, type(x) == map, x.?annotations.orValue(null))
      .all(x, type(x) != map || !('kubernetes.io/config.mirror' in x))
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
        .exists(m, type(m) == map && m.exists(k, k in ['gpu-fraction', 'gpu-memory'{{ range include "warmgate.moreFractions" . | fromYamlArray }}, '{{ . }}'{{ end }}] && m[k] != '0')) ||
      [t].map(x, type(x) == map, x.?spec.orValue(null)).map(x, type(x) == map, x.?resourceClaims.orValue(null))
        .exists(l, type(l) == list && l.size() > 0) ||
      (
        [t].map(x, type(x) == map, x.?spec.orValue(null)).map(x, type(x) == map, x.?initContainers.orValue(null)) +
        [t].map(x, type(x) == map, x.?spec.orValue(null)).map(x, type(x) == map, x.?containers.orValue(null))
      ).exists(l, type(l) == list && l.exists(c, (
        [c].map(x, type(x) == map, x.?resources.orValue(null)).map(x, type(x) == map, x.?limits.orValue(null)) +
        [c].map(x, type(x) == map, x.?resources.orValue(null)).map(x, type(x) == map, x.?requests.orValue(null))
      ).exists(m, type(m) == map && m.exists(k, m[k] != '0' && m[k] != 0 && (
        k in [
          'aliyun.com/gpu-core.percentage',
          'aliyun.com/gpu-count',
          'aliyun.com/gpu-mem',
          'amd.com/gpu',
          'amd.com/gpucores',
          'amd.com/gpumem',
          'aws.amazon.com/neuron',
          'aws.amazon.com/neuroncore',
          'aws.amazon.com/neurondevice',
          'beta.furiosa.ai/npu',
          'birentech.com/gpu',
          'elasticgpu.io/gpu-core',
          'elasticgpu.io/gpu-memory',
          'enflame.com/drs-gcu',
          'enflame.com/gcu',
          'enflame.com/gcu-core',
          'enflame.com/gcu-memory',
          'furiosa.ai/rngd',
          'google.com/tpu',
          'gpu.intel.com/i915',
          'gpu.intel.com/xe',
          'habana.ai/gaudi',
          'hami.io/gpu',
          'hami.io/gpucores',
          'hami.io/gpumem',
          'huawei.com/npu-core',
          'hygon.com/dcucores',
          'hygon.com/dcumem',
          'hygon.com/dcunum',
          'koordinator.sh/gpu',
          'koordinator.sh/gpu-core',
          'koordinator.sh/gpu-memory',
          'koordinator.sh/gpu-memory-ratio',
          'koordinator.sh/gpu.shared',
          'kunlunxin.com/vxpu',
          'kunlunxin.com/vxpu-memory',
          'kunlunxin.com/xpu',
          'metax-tech.com/gpu',
          'metax-tech.com/sgpu',
          'metax-tech.com/vcore',
          'metax-tech.com/vmemory',
          'mthreads.com/gpu',
          'mthreads.com/sgpu-core',
          'mthreads.com/sgpu-memory',
          'mthreads.com/vgpu',
          'npu.intel.com/accel',
          'nvidia.com/gpu',
          'nvidia.com/gpu.shared',
          'nvidia.com/gpucores',
          'nvidia.com/gpumem',
          'nvidia.com/gpumem-percentage',
          'qualcomm.com/qaic',
          'rebellions.ai/ATOM',
          'rebellions.ai/REBEL',
          'rebellions.ai/npu',
          'tencent.com/vcuda-core',
          'tencent.com/vcuda-memory',
          'tke.cloud.tencent.com/qgpu-core',
          'tke.cloud.tencent.com/qgpu-core-greedy',
          'tke.cloud.tencent.com/qgpu-memory',
          'vastaitech.com/va',
          'volcano.sh/gpu-core.percentage',
          'volcano.sh/gpu-memory',
          'volcano.sh/gpu-number',
          'volcano.sh/vgpu-cores',
          'volcano.sh/vgpu-memory',
          'volcano.sh/vgpu-memory-percentage',
          'volcano.sh/vgpu-number'
        ] ||
        k.startsWith('nvidia.com/mig-') && k.matches('^nvidia[.]com/mig-.*g[.].*gb.*$') ||
        k.startsWith('amd.com/') && k.matches('^amd[.]com/.*_nps.*$') ||
        k.startsWith('huawei.com/Ascend') ||
        k.startsWith('huawei.com/ascend-') ||
        k.startsWith('cambricon.com/mlu') ||
        k.startsWith('cambricon.com/vmlu') ||
        k.startsWith('iluvatar.ai/') && k.matches('^iluvatar[.]ai/.*-vgpu.*$') ||
        k.startsWith('furiosa.ai/rngd-') ||
        k.startsWith('volcano.sh/gpu-mem.'){{- range include "warmgate.moreAccelerators" . | fromYamlArray }} ||
        {{ if contains "*" . }}k.startsWith('{{ splitList "*" . | first }}') && k.matches('^{{ . | replace "." "[.]" | replace "*" ".*" }}$'){{ else }}k == '{{ . }}'{{ end }}{{ end }}
      ) && !(
        k == 'nvidia.com/priority' ||
        k == 'amd.com/ama_u30' ||
        k.startsWith('gpu.intel.com/') && k.matches('^gpu[.]intel[.]com/.*monitoring$') ||
        k.startsWith('qat.intel.com/') ||
        k.startsWith('dsa.intel.com/') ||
        k.startsWith('dlb.intel.com/') ||
        k.startsWith('fpga.intel.com/') ||
        k.startsWith('iaa.intel.com/') ||
        k.startsWith('sgx.intel.com/') ||
        k == 'huawei.com/npu-cpu' ||
        k == 'huawei.com/npu-dvpp' ||
        k == 'cambricon.com/dsmlu.lock'{{- range include "warmgate.moreNotAccelerators" . | fromYamlArray }} ||
        {{ if contains "*" . }}k.startsWith('{{ splitList "*" . | first }}') && k.matches('^{{ . | replace "." "[.]" | replace "*" ".*" }}$'){{ else }}k == '{{ . }}'{{ end }}{{ end }}
      )))))
    )
{{- end }}

{{/* What is judged only, and owned, was judged at its owner. */}}
{{- define "warmgate.conditions.judged" -}}
- name: not-judged-at-its-owner
  expression: |-
    !(request.kind.group == 'apps' && request.kind.kind == 'ReplicaSet') ||
    ![object].map(x, type(x) == map, x.?metadata.orValue(null)).map(x, type(x) == map, x.?ownerReferences.orValue(null))
      .exists(l, type(l) == list && l.exists(x, type(x) == map && x.?controller.orValue(false) == true))
{{- end }}

{{/* What a person wrote. */}}
{{- define "warmgate.conditions.unowned" -}}
- name: not-owned
  expression: |-
    ![object].map(x, type(x) == map, x.?metadata.orValue(null)).map(x, type(x) == map, x.?ownerReferences.orValue(null))
      .exists(l, type(l) == list && l.exists(x, type(x) == map && x.?controller.orValue(false) == true))
{{- end }}

{{/* Pods, and what a controller wrote. */}}
{{- define "warmgate.conditions.podOrOwned" -}}
- name: a-pod-or-owned
  expression: |-
    request.kind.group == '' && request.kind.kind == 'Pod' ||
    [object].map(x, type(x) == map, x.?metadata.orValue(null)).map(x, type(x) == map, x.?ownerReferences.orValue(null))
      .exists(l, type(l) == list && l.exists(x, type(x) == map && x.?controller.orValue(false) == true))
{{- end }}
