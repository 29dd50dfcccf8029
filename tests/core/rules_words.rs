//! When the rules about annotations and unknown fields speak, and the near misses that must not.

use super::rules_rows::{SERVER, assert_rows, deployment, grace, hooked, of_kind, said};

#[test]
fn annotations_against_the_spec() {
    let rule = "annotation-overruled";
    let row = |speaks, annotation: &str, pod: &str, container: &str| {
        let template = format!("annotations: {{warmgate.io/{annotation}}}");
        (
            rule,
            speaks,
            of_kind("Deployment", "", &template, "", pod, container),
        )
    };
    let http = format!(
        "{SERVER}, ports: [{{name: api, containerPort: 80}}], startupProbe: {{httpGet: {{port: 80, path: /a}}, failureThreshold: 361}}"
    );
    let sleeps = hooked("{sleep: {seconds: 15}}");
    assert_rows(&[
        row(true, "startup-probe: none", "", &http),
        row(true, "startup-probe: 'http://:80/b'", "", &http),
        row(true, "startup-probe: 'https://:80/a'", "", &http),
        row(true, "startup-probe: 'tcp://:80'", "", &http),
        row(false, "startup-probe: 'http://:80/a'", "", &http),
        row(false, "startup-probe: 'http://:api/a'", "", &http),
        row(false, "startup-probe: 'http://:80/a'", "", SERVER),
        row(true, "prestop-sleep: 20s", "", &sleeps),
        row(true, "prestop-sleep: none", "", &sleeps),
        row(true, "prestop-sleep: 5s", &grace("10"), SERVER),
        row(false, "prestop-sleep: 15s", "", &sleeps),
        row(false, "prestop-sleep: 20s", "", SERVER),
        row(false, "prestop-sleep: none", &grace("10"), SERVER),
        row(true, "drain-time: 2m", &grace("134"), &sleeps),
        row(true, "drain-time: 2m", &grace("134"), SERVER),
        row(false, "drain-time: 2m", &grace("135"), SERVER),
        row(false, "drain-time: 2m", "", SERVER),
        row(false, "drain-time: none", &grace("40"), SERVER),
        // The owner's own sleep reaches the period, so it is raised for both.
        row(false, "drain-time: 2m", &grace("15"), &sleeps),
        row(false, "max-startup-time: 10m", "", &http),
    ]);
    let member =
        "image: vllm/vllm-openai:v0.11.0, args: [--model, a, --nnodes, '2', --node-rank, '0']";
    assert_rows(&[
        row(true, "startup-probe: 'http://:8000/health'", "", member),
        row(false, "startup-probe: none", "", member),
        row(false, "max-startup-time: 10m", "", member),
    ]);
    let rule = "startup-time-above-limit";
    let row = |speaks, time: &str| {
        let template = format!("annotations: {{warmgate.io/max-startup-time: {time}}}");
        (
            rule,
            speaks,
            of_kind("Deployment", "", &template, "", "", SERVER),
        )
    };
    assert_rows(&[
        row(true, "4h1s"),
        row(true, "a=5h"),
        row(false, "4h"),
        row(false, "14400"),
    ]);
}

/// Under LeaderReady a startup probe that is asked for keeps the workers from being made, also where they have the leader's template.
#[test]
fn startup_probes_that_peers_wait_for() {
    let template = |annotation: &str| {
        format!(
            "{{metadata: {{annotations: {{warmgate.io/{annotation}}}}}, \
             spec: {{containers: [{{name: a, resources: {{limits: {{nvidia.com/gpu: 1}}}}, {SERVER}}}]}}}}"
        )
    };
    let group = |policy: &str, templates: &str| {
        format!(
            "{{apiVersion: leaderworkerset.x-k8s.io/v1, kind: LeaderWorkerSet, metadata: {{name: a}}, \
             spec: {{startupPolicy: {policy}, leaderWorkerTemplate: {{size: 2, {templates}}}}}}}\n"
        )
    };
    let asks = template("startup-probe: 'tcp://:1'");
    let worker = "workerTemplate: {spec: {containers: [{name: a, image: x}]}}";
    let two = format!("leaderTemplate: {asks}, {worker}");
    let one = format!("workerTemplate: {asks}");
    let silent = format!(
        "leaderTemplate: {}, {worker}",
        template("max-startup-time: 10m")
    );
    let rule = "annotation-overruled";
    assert_rows(&[
        (rule, true, group("LeaderReady", &two)),
        (rule, true, group("LeaderReady", &one)),
        (rule, false, group("LeaderCreated", &two)),
        (rule, false, group("LeaderCreated", &one)),
        (rule, false, group("LeaderReady", &silent)),
    ]);
}

#[test]
fn annotations_that_no_pod_sees() {
    let rule = "annotation-not-in-template";
    let declared = "annotations: {warmgate.io/max-startup-time: 1m}";
    let owned = "ownerReferences: [{apiVersion: x/v1, kind: X, name: x, uid: u, controller: true}]";
    let row = |speaks, kind: &str, metadata: &str, template: &str| {
        let manifest = of_kind(kind, metadata, template, "", "", SERVER);
        (rule, speaks, manifest)
    };
    assert_rows(&[
        row(true, "ReplicaSet", declared, ""),
        row(true, "Deployment", &format!("{declared}, {owned}"), ""),
        row(false, "ReplicaSet", declared, declared),
        row(false, "Deployment", declared, ""),
        row(
            false,
            "Deployment",
            &format!("annotations: {{warmgate.io/rollout: no-surge}}, {owned}"),
            "",
        ),
        // What is skipped needs nothing in its pods.
        row(
            false,
            "ReplicaSet",
            "annotations: {warmgate.io/accelerator: 'false'}",
            "",
        ),
    ]);
}

#[test]
fn fields_that_the_api_does_not_have() {
    let rule = "unknown-field";
    let row = |speaks, spec: &str, pod: &str, container: &str| {
        (rule, speaks, deployment(spec, pod, container))
    };
    let with = |more: &str| format!("{SERVER}, {more}");
    assert_rows(&[
        row(true, "progressDeadlineSecond: 900", "", SERVER),
        row(true, "", "replicas: 2", SERVER),
        row(
            true,
            "",
            "",
            &with("livenessProbe: {tcpSocket: {port: 1}, failureTreshold: 3}"),
        ),
        row(true, "", "", &with("env: [{name: A, vale: b}]")),
        // What does not read elsewhere does not hide it.
        row(true, "selector: 5", "", &with("livenesProbe: {}")),
        row(
            true,
            "",
            "volumes: 5",
            &with("ports: 8000, startupProbe: {tcpSocket: {port: 1}, retries: 3}"),
        ),
        row(
            false,
            "",
            "overhead: {cpu: 0.5}, volumes: [{name: v, emptyDir: {sizeLimit: 5}}]",
            SERVER,
        ),
        row(false, "selector: 5", "volumes: 5", &with("ports: 8000")),
        (
            rule,
            false,
            of_kind(
                "Deployment",
                "annotation: {}",
                "annotation: {}",
                "",
                "",
                SERVER,
            ),
        ),
    ]);
    let cure = |spec: &str, pod: &str, container: &str| {
        let [message] = &said(rule, &deployment(spec, pod, container))[..] else {
            panic!("one finding");
        };
        message.rsplit(": ").next().map(str::to_owned)
    };
    let is = |text: &str| Some(text.to_owned());
    assert_eq!(
        cure("minReadySecond: 1", "", SERVER),
        is("did you mean minReadySeconds")
    );
    assert_eq!(cure("", "strategy: {}", SERVER), is("it belongs to spec"));
    let one = with("timeoutSeconds: 5");
    assert_eq!(
        cure("", "", &one),
        is("it belongs to spec.template.spec.containers[0].readinessProbe")
    );
    let hook = with("lifecycle: {prestop: {sleep: {seconds: 5}}}");
    assert_eq!(cure("", "", &hook), is("did you mean preStop"));
    let path = with("livenessProbe: {httpGet: {port: 1, Path: /h}}");
    assert_eq!(cure("", "", &path), is("did you mean path"));
    assert_eq!(cure("", "colour: red", SERVER), is("remove it"));
    let root = deployment("", "", SERVER).replacen("kind:", "strategy: {}, kind:", 1);
    assert!(said(rule, &root)[0].ends_with("it belongs to spec"));
}
