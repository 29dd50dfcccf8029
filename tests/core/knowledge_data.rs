//! Accelerators, device classes, kinds, and the format of the data.

use serde_json::json;
use warmgate::knowledge::{DeviceClass, Knowledge, Part};

#[test]
fn accelerators_and_what_only_looks_like_one() {
    let knowledge = Knowledge::builtin();
    for resource in [
        "nvidia.com/gpu",
        "nvidia.com/gpu.shared",
        "nvidia.com/mig-1g.10gb",
        "nvidia.com/mig-1g.5gb.shared",
        "nvidia.com/mig-1g.10gb.me",
        "nvidia.com/gpumem-percentage",
        "amd.com/gpu",
        "amd.com/cpx_nps4",
        "gpu.intel.com/i915",
        "gpu.intel.com/xe",
        "npu.intel.com/accel",
        "habana.ai/gaudi",
        "google.com/tpu",
        "aws.amazon.com/neuroncore",
        "huawei.com/Ascend910B4-1",
        "huawei.com/Ascend910B3-memory",
        "huawei.com/ascend-1980",
        "cambricon.com/mlu370",
        "cambricon.com/mlu.mim-1m.1g",
        "iluvatar.ai/MR-V100-vgpu.vCore",
        "furiosa.ai/rngd-2core.12gb",
        "rebellions.ai/ATOM",
        "volcano.sh/gpu-mem.128Mi",
        "koordinator.sh/gpu-memory-ratio",
        "tke.cloud.tencent.com/qgpu-core",
    ] {
        assert!(knowledge.accelerator(resource), "{resource}");
    }
    for resource in [
        "cpu",
        "memory",
        "nvidia.com/priority",
        "nvidia.com/mig-config",
        "amd.com/ama_u30",
        "gpu.intel.com/monitoring",
        "gpu.intel.com/i915_monitoring",
        "gpu.intel.com/xe_monitoring",
        "qat.intel.com/generic",
        "sgx.intel.com/enclave",
        "huawei.com/npu-dvpp",
        "rdma/hca_shared",
        "example.com/gpu",
        "NVIDIA.com/gpu",
        "",
    ] {
        assert!(!knowledge.accelerator(resource), "{resource}");
    }
    for (class, found) in [
        ("gpu.nvidia.com", DeviceClass::Accelerator),
        ("mig-1g-12gb.gpu.nvidia.com", DeviceClass::Accelerator),
        ("gaudi.intel.com", DeviceClass::Accelerator),
        ("neuron.aws.com", DeviceClass::Accelerator),
        (
            "compute-domain-default-channel.nvidia.com",
            DeviceClass::Other,
        ),
        ("qat.intel.com", DeviceClass::Other),
        ("tpu.google.com", DeviceClass::Accelerator),
        ("npu.rebellions.ai", DeviceClass::Accelerator),
        ("mrdma.google.com", DeviceClass::Other),
        ("dranet.networking.k8s.io", DeviceClass::Other),
        ("nic.example.com", DeviceClass::Other),
        ("roce-nic.example.com", DeviceClass::Other),
        ("gpu-monitoring.intel.com", DeviceClass::Other),
        ("team-card", DeviceClass::Unknown),
        ("", DeviceClass::Unknown),
    ] {
        assert_eq!(knowledge.device_class(class), found, "{class}");
    }
    assert_eq!(
        knowledge.fraction_annotations(),
        ["gpu-fraction", "gpu-memory"]
    );
    assert_eq!(
        knowledge.fraction_container_annotations(),
        ["gpu-fraction-container-name"]
    );
}

#[test]
fn kinds_and_their_templates() {
    let knowledge = Knowledge::builtin();
    for (group, kind, templates) in [
        ("", "Pod", &[("", Part::Main)][..]),
        ("apps", "Deployment", &[("spec.template", Part::Main)]),
        ("apps", "StatefulSet", &[("spec.template", Part::Main)]),
        ("apps", "DaemonSet", &[("spec.template", Part::Main)]),
        ("apps", "ReplicaSet", &[("spec.template", Part::Main)]),
        ("batch", "Job", &[("spec.template", Part::Main)]),
        (
            "batch",
            "CronJob",
            &[("spec.jobTemplate.spec.template", Part::Main)],
        ),
        (
            "leaderworkerset.x-k8s.io",
            "LeaderWorkerSet",
            &[
                ("spec.leaderWorkerTemplate.leaderTemplate", Part::Leader),
                ("spec.leaderWorkerTemplate.workerTemplate", Part::Worker),
            ],
        ),
    ] {
        let workload = knowledge.workload(group, kind).unwrap();
        let found: Vec<(String, Part)> = workload
            .templates
            .iter()
            .map(|template| (template.path.to_string(), template.part))
            .collect();
        let expected: Vec<(String, Part)> = templates
            .iter()
            .map(|(path, part)| ((*path).to_owned(), *part))
            .collect();
        assert_eq!(found, expected, "{kind}");
        assert_eq!(workload.batch, group == "batch", "{kind}");
        assert_eq!(workload.check_only, kind == "ReplicaSet");
        assert_eq!(workload.template_mutable, !matches!(kind, "Job" | "Pod"));
        assert_eq!(workload.server_defaults, kind != "LeaderWorkerSet");
        let deadline = workload.progress_deadline.as_ref().map(ToString::to_string);
        assert_eq!(deadline.is_some(), kind == "Deployment");
        assert_eq!(workload.strategy.is_some(), kind == "Deployment");
        assert!(!knowledge.holds_no_pods(group, kind));
    }
    for (group, kind) in [
        ("", "Service"),
        ("", "ConfigMap"),
        ("", "PersistentVolumeClaim"),
        ("networking.k8s.io", "Ingress"),
        ("rbac.authorization.k8s.io", "ClusterRoleBinding"),
        ("resource.k8s.io", "ResourceClaimTemplate"),
        ("autoscaling", "HorizontalPodAutoscaler"),
        ("policy", "PodDisruptionBudget"),
        ("apiextensions.k8s.io", "CustomResourceDefinition"),
        ("networking.istio.io", "VirtualService"),
    ] {
        assert!(knowledge.holds_no_pods(group, kind), "{kind}");
        assert!(knowledge.workload(group, kind).is_none());
    }
    for (group, kind) in [
        ("", "ReplicationController"),
        ("ray.io", "RayCluster"),
        ("keda.sh", "ScaledJob"),
        ("example.com", "Service"),
        ("monitoring.coreos.com", "Prometheus"),
        ("extensions", "Deployment"),
    ] {
        assert!(!knowledge.holds_no_pods(group, kind), "{kind}");
        assert!(knowledge.workload(group, kind).is_none());
    }
}

#[test]
fn data_of_another_format_is_refused() {
    for (extra, place, why) in [
        (json!([]), "the data", "is no map of lists"),
        (json!({"server": []}), "server", "is no list of this format"),
        (json!({"servers": {}}), "servers", "is no list"),
        (
            json!({"accelerators": [{"names": ["a/b"], "source": "x"}, {"names": ["a/b"]}]}),
            "accelerators[1]",
            "missing field `source`",
        ),
        (
            json!({"accelerators": [{"names": ["a/b"], "source": " "}]}),
            "accelerators[0]",
            "a source is empty",
        ),
        (
            json!({"servers": [{"id": "x", "source": "x", "prot": {}}]}),
            "servers[0] (x)",
            "unknown field `prot`",
        ),
        (
            json!({"servers": [{"id": "x", "source": "x", "port": {"default": "http", "source": "x"}}]}),
            "servers[0] (x)",
            "invalid type",
        ),
        (
            json!({"servers": [{"id": "x", "source": "x", "commands": [{"run": " ", "source": "x"}]}]}),
            "servers[0] (x)",
            "`run` names no command",
        ),
        (
            json!({"servers": [{"id": "x", "source": "x"}]}),
            "servers[x]",
            "names neither images nor commands",
        ),
        (
            json!({"workloads": [{"group": "x", "kind": "Y", "templates": [{"path": "spec", "part": "all"}], "source": "x"}]}),
            "workloads[0]",
            "unknown variant `all`",
        ),
    ] {
        let error = Knowledge::builtin().with(&extra).unwrap_err().to_string();
        assert!(error.starts_with(&format!("{place}: ")), "{error}");
        assert!(error.contains(why), "{error}");
    }
}
