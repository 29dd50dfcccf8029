//! The pods: what they may do to their node, how they are started, and how they leave.

use clap::Parser;
use serde_json::{Value, json};
use warmgate::cli::Cli;

use super::{VARIATIONS, find, of_kind, render, texts};

/// The kinds of volumes that the restricted Pod Security Standard allows.
const VOLUMES: [&str; 8] = [
    "configMap",
    "csi",
    "downwardAPI",
    "emptyDir",
    "ephemeral",
    "persistentVolumeClaim",
    "projected",
    "secret",
];

/// The pods of both Deployments, with the variation that they are of.
fn pods() -> Vec<(&'static str, Value)> {
    let mut pods = Vec::new();
    for (name, values) in VARIATIONS {
        let objects = render(values);
        let deployments = of_kind(&objects, "Deployment");
        assert_eq!(deployments.len(), 2, "{name}");
        for deployment in deployments {
            pods.push((name, deployment["spec"]["template"]["spec"].clone()));
        }
    }
    pods
}

/// Pods satisfy the restricted Pod Security Standard, but for the node's network where it is asked for, and write nowhere.
pub(in crate::suites) fn are_restricted() {
    for (name, pod) in pods() {
        for field in ["hostPID", "hostIPC", "hostUsers"] {
            assert_eq!(pod[field], Value::Null, "{name}: {field}");
        }
        let webhook = pod["containers"][0]["name"] == "webhook";
        let on_node = json!(name == "hostNetwork" && webhook);
        assert_eq!(
            pod.get("hostNetwork").unwrap_or(&json!(false)),
            &on_node,
            "{name}"
        );
        let expected = json!({"runAsNonRoot": true, "seccompProfile": {"type": "RuntimeDefault"}});
        assert_eq!(pod["securityContext"], expected, "{name}");
        for volume in pod["volumes"].as_array().into_iter().flatten() {
            let keys = volume
                .as_object()
                .into_iter()
                .flatten()
                .map(|(key, _)| key.as_str());
            let kinds: Vec<_> = keys.filter(|key| *key != "name").collect();
            assert!(
                kinds.iter().all(|kind| VOLUMES.contains(kind)),
                "{name}: {kinds:?}"
            );
        }
        assert_eq!(pod["initContainers"], Value::Null, "{name}");
        let containers = pod["containers"].as_array().map_or(&[][..], Vec::as_slice);
        let [container] = containers else {
            panic!("{name}: {containers:?}")
        };
        let expected = json!({
            "allowPrivilegeEscalation": false,
            "capabilities": {"drop": ["ALL"]},
            "readOnlyRootFilesystem": true,
        });
        assert_eq!(container["securityContext"], expected, "{name}");
        for mount in container["volumeMounts"].as_array().into_iter().flatten() {
            assert_eq!(mount["readOnly"], true, "{name}");
        }
        for port in container["ports"].as_array().into_iter().flatten() {
            assert_eq!(port["hostPort"], Value::Null, "{name}");
        }
        assert!(
            container["resources"]["limits"]["memory"].is_string(),
            "{name}"
        );
    }
}

/// The program takes the arguments, and the ports that it is told are those that are declared.
pub(in crate::suites) fn are_started_as_the_program_expects() {
    for (name, pod) in pods() {
        let container = &pod["containers"][0];
        let args = texts(&container["args"]);
        let words = ["warmgate"].into_iter().chain(args.iter().copied());
        if let Err(error) = Cli::try_parse_from(words) {
            panic!("{name}: {error}");
        }
        assert_eq!(args.first().copied(), container["name"].as_str(), "{name}");
        for (flag, port) in [("port", "https"), ("health-port", "health")] {
            let Some(number) = flag_of(&args, flag) else {
                continue;
            };
            let declared = container["ports"].as_array().into_iter().flatten();
            let declared: Vec<_> = declared
                .filter(|declared| declared["name"] == port)
                .collect();
            assert_eq!(declared.len(), 1, "{name}: {port}");
            assert_eq!(
                declared[0]["containerPort"].to_string(),
                number,
                "{name}: {port}"
            );
        }
        for probe in ["startupProbe", "livenessProbe", "readinessProbe"] {
            assert_eq!(
                container[probe]["httpGet"]["port"], "health",
                "{name}: {probe}"
            );
        }
    }
}

fn flag_of<'a>(args: &[&'a str], flag: &str) -> Option<&'a str> {
    let prefix = format!("--{flag}=");
    args.iter()
        .find_map(|arg| arg.strip_prefix(prefix.as_str()))
}

/// A webhook is told to leave in less time than it is given, after callers have given up idle connections, and a rollout takes
/// none away before another one serves.
pub(in crate::suites) fn leave_one_after_the_other() {
    let objects = render("");
    let deployment = find(&objects, "Deployment", "warmgate-webhook");
    let spec = &deployment["spec"];
    assert_eq!(spec["replicas"], 2);
    let rolling = json!({"maxSurge": 1, "maxUnavailable": 0});
    assert_eq!(spec["strategy"]["rollingUpdate"], rolling);
    let pod = &spec["template"]["spec"];
    let args = texts(&pod["containers"][0]["args"]);
    let seconds = |flag| flag_of(&args, flag)?.strip_suffix('s')?.parse::<i64>().ok();
    let (lame, drain) = (seconds("lame-duck"), seconds("drain-limit"));
    let (lame, drain) = (lame.expect("it is told"), drain.expect("it is told"));
    let grace = pod["terminationGracePeriodSeconds"]
        .as_i64()
        .unwrap_or_default();
    assert!(
        lame >= 15 && drain > 90 && lame < drain && drain < grace,
        "{lame} {drain} {grace}"
    );
    let budget = find(&objects, "PodDisruptionBudget", "warmgate-webhook");
    assert_eq!(budget["spec"]["maxUnavailable"], 1);
    assert_eq!(budget["spec"]["selector"], spec["selector"]);
    let spread: Vec<_> = pod["topologySpreadConstraints"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|constraint| constraint["topologyKey"].clone())
        .collect();
    assert_eq!(
        spread,
        ["kubernetes.io/hostname", "topology.kubernetes.io/zone"]
    );
}

/// The pod waits for its certificate and for nothing else, calls nobody, and is called on its ports only.
pub(in crate::suites) fn need_a_certificate_and_nobody() {
    for (name, values) in VARIATIONS {
        let objects = render(values);
        let deployments = of_kind(&objects, "Deployment");
        let webhook = deployments
            .iter()
            .find(|one| one["spec"]["template"]["spec"]["containers"][0]["name"] == "webhook")
            .unwrap_or_else(|| panic!("{name} has no webhook"));
        let template = &webhook["spec"]["template"];
        let volumes = &template["spec"]["volumes"];
        let secret = &volumes[0]["secret"];
        assert!(secret["optional"].is_null(), "{name}");
        let keys: Vec<_> = secret["items"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|item| &item["key"])
            .collect();
        assert_eq!(keys, ["tls.crt", "tls.key"], "{name}");
        assert_eq!(volumes[1]["configMap"]["optional"], true, "{name}");
        let policies = of_kind(&objects, "NetworkPolicy");
        let policy = policies
            .iter()
            .find(|policy| policy["spec"]["podSelector"] == webhook["spec"]["selector"]);
        assert_eq!(policy.is_none(), name == "bare", "{name}");
        if let Some(policy) = policy {
            let spec = &policy["spec"];
            assert_eq!(spec["policyTypes"], json!(["Ingress", "Egress"]), "{name}");
            assert_eq!(spec["egress"], json!([]), "{name}");
            let ports: Vec<_> = spec["ingress"][0]["ports"]
                .as_array()
                .into_iter()
                .flatten()
                .map(|port| &port["port"])
                .collect();
            assert_eq!(ports, ["https", "health"], "{name}");
        }
        // Who is found by these labels is found.
        for service in of_kind(&objects, "Service") {
            let labels = &template["metadata"]["labels"];
            for (key, value) in service["spec"]["selector"]
                .as_object()
                .into_iter()
                .flatten()
            {
                assert_eq!(&labels[key], value, "{name}: {key}");
            }
        }
    }
}

/// A constraint without a selector would be about no pod: it gets that of its own Deployment. One that has a selector keeps it.
pub(in crate::suites) fn spread_as_they_are_told() {
    let constraint = "topologyKey: rack, maxSkew: 1, whenUnsatisfiable: DoNotSchedule";
    let values = format!(
        "topologySpreadConstraints: [{{{constraint}}}, {{{constraint}, labelSelector: {{}}}}]
controller: {{topologySpreadConstraints: [{{{constraint}, labelSelector: {{matchLabels: {{a: b}}}}}}, {{{constraint}}}]}}"
    );
    let objects = render(&values);
    let selectors = |name: &str| {
        let spec = &find(&objects, "Deployment", name)["spec"];
        let constraints = &spec["template"]["spec"]["topologySpreadConstraints"];
        let constraints = constraints.as_array().into_iter().flatten();
        let selectors = constraints.map(|one| {
            assert_eq!(
                (&one["topologyKey"], &one["maxSkew"]),
                (&json!("rack"), &json!(1))
            );
            one["labelSelector"].clone()
        });
        (selectors.collect::<Vec<_>>(), spec["selector"].clone())
    };
    let (found, own) = selectors("warmgate-webhook");
    assert_eq!(found, [own, json!({})]);
    let (found, own) = selectors("warmgate-controller");
    assert_eq!(found, [json!({"matchLabels": {"a": "b"}}), own]);
}
