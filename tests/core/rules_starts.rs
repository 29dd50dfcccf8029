//! When the notes about starts speak, and the near misses that must not.

use super::rules_rows::{SERVER, assert_rows, deployment, of_kind, said};

#[test]
fn notes_about_starts() {
    let of = |rule, speaks, container: &str| (rule, speaks, deployment("", "", container));
    let probe = |field: &str, numbers: &str| {
        format!("image: x, {field}: {{tcpSocket: {{port: 1}}, timeoutSeconds: 5, {numbers}}}")
    };
    assert_rows(&[
        of(
            "readiness-delay",
            true,
            &probe("readinessProbe", "initialDelaySeconds: 120"),
        ),
        of(
            "readiness-delay",
            false,
            &probe("readinessProbe", "initialDelaySeconds: 119"),
        ),
        of(
            "readiness-delay",
            false,
            &probe("livenessProbe", "initialDelaySeconds: 900"),
        ),
        of(
            "readiness-missing",
            true,
            &probe("startupProbe", "failureThreshold: 30"),
        ),
        of(
            "readiness-missing",
            true,
            &probe("livenessProbe", "failureThreshold: 30"),
        ),
        of(
            "readiness-missing",
            false,
            &probe("readinessProbe", "periodSeconds: 5"),
        ),
        of(
            "readiness-missing",
            false,
            "image: vllm-openai, args: [--model, a]",
        ),
        of(
            "unbounded-startup-window",
            true,
            &probe("startupProbe", "periodSeconds: 60, failureThreshold: 1442"),
        ),
        of(
            "unbounded-startup-window",
            false,
            &probe("startupProbe", "periodSeconds: 60, failureThreshold: 1441"),
        ),
        of(
            "unbounded-startup-window",
            false,
            &probe("livenessProbe", "periodSeconds: 60, failureThreshold: 9999"),
        ),
        of(
            "timeout-exceeds-period",
            true,
            &probe("readinessProbe", "periodSeconds: 4"),
        ),
        of(
            "timeout-exceeds-period",
            true,
            &probe("startupProbe", "periodSeconds: 1"),
        ),
        of(
            "timeout-exceeds-period",
            false,
            &probe("readinessProbe", "periodSeconds: 5"),
        ),
        of(
            "startup-period-too-coarse",
            true,
            &probe("startupProbe", "periodSeconds: 31"),
        ),
        of(
            "startup-period-too-coarse",
            false,
            &probe("startupProbe", "periodSeconds: 30"),
        ),
        of(
            "startup-period-too-coarse",
            false,
            &probe("readinessProbe", "periodSeconds: 60"),
        ),
    ]);
}

#[test]
fn limits_and_downloads_of_known_servers() {
    let vllm = "image: vllm-openai, args: [--model, acme/a]";
    let start = |threshold: u32| {
        format!(
            "{vllm}, startupProbe: {{tcpSocket: {{port: 8000}}, failureThreshold: {threshold}}}"
        )
    };
    let rule = "server-start-limit";
    let row = |speaks, time: &str, container: &str| {
        let template = format!("annotations: {{{time}}}");
        (
            rule,
            speaks,
            of_kind("Deployment", "", &template, "", "", container),
        )
    };
    let raised = format!(
        "{}, env: [{{name: VLLM_ENGINE_READY_TIMEOUT_S, value: '900'}}]",
        start(361)
    );
    assert_rows(&[
        row(true, "", &start(62)),
        row(true, "warmgate.io/max-startup-time: 601s", vllm),
        row(true, "warmgate.io/max-startup-time: 16m", &raised),
        row(false, "", &start(61)),
        row(false, "warmgate.io/max-startup-time: 10m", &start(361)),
        row(false, "warmgate.io/max-startup-time: 15m", &raised),
        row(false, "warmgate.io/max-startup-time: 1h", SERVER),
    ]);
    let rule = "download-in-startup";
    let mounted = |name: &str| format!("{vllm}, volumeMounts: [{{name: {name}, mountPath: /m}}]");
    let row = |speaks, pod: &str, container: &str| (rule, speaks, deployment("", pod, container));
    let empty = "volumes: [{name: v, emptyDir: {}}]";
    let fetcher = "initContainers: [{name: f, image: f, volumeMounts: [{name: v, mountPath: /m}]}]";
    assert_rows(&[
        row(true, "", vllm),
        row(true, empty, &mounted("v")),
        row(true, "initContainers: [{name: f, image: f}]", vllm),
        row(true, &format!("{empty}, {fetcher}"), vllm),
        row(false, &format!("{empty}, {fetcher}"), &mounted("v")),
        row(
            false,
            "volumes: [{name: v, hostPath: {path: /m}}]",
            &mounted("v"),
        ),
        row(false, "", "image: vllm-openai, args: [--model, /models/a]"),
        row(false, "", SERVER),
        (
            rule,
            false,
            of_kind(
                "StatefulSet",
                "",
                "",
                "volumeClaimTemplates: [{metadata: {name: v}}]",
                "",
                &mounted("v"),
            ),
        ),
    ]);
}

/// What is to be set does not depend on who may set it: a kind that is never edited gets the numbers of one that is, and where
/// peers wait for Ready nobody is sent to a startup probe.
#[test]
fn the_cure_is_what_a_fix_would_write() {
    let declared = "annotations: {warmgate.io/max-startup-time: 15m}";
    let liveness = "image: x, livenessProbe: {tcpSocket: {port: 1}, timeoutSeconds: 5}";
    for kind in ["Deployment", "ReplicaSet"] {
        let manifest = of_kind(kind, "", declared, "", "", liveness);
        let said = said("liveness-kills-startup", &manifest);
        assert!(
            said[0].ends_with("failureThreshold 114"),
            "{kind}: {said:?}"
        );
    }
    let floor = "annotations: {warmgate.io/probe-timeout: 20s}";
    let readiness = "image: x, readinessProbe: {tcpSocket: {port: 1}, periodSeconds: 4}";
    for (annotations, seconds) in [(floor, "20"), ("annotations: {a: b}", "4")] {
        let manifest = of_kind("Deployment", "", annotations, "", "", readiness);
        let said = said("short-probe-timeout", &manifest);
        let cure = format!("set timeoutSeconds to {seconds}");
        assert!(said[0].ends_with(&cure), "{said:?}");
    }
    let template = |container: &str| {
        format!(
            "{{spec: {{containers: [{{name: a, resources: {{limits: {{nvidia.com/gpu: 1}}}}, {container}}}]}}}}"
        )
    };
    let group = |policy: &str, templates: &str| {
        format!(
            "{{apiVersion: leaderworkerset.x-k8s.io/v1, kind: LeaderWorkerSet, metadata: {{name: a}}, spec: {{startupPolicy: {policy}, \
             leaderWorkerTemplate: {{size: 2, {templates}}}}}}}\n"
        )
    };
    let (leader, worker) = (template(liveness), template("image: x"));
    let two = format!("leaderTemplate: {leader}, workerTemplate: {worker}");
    let one = format!("workerTemplate: {leader}");
    for (rule, templates) in [
        ("group-restart-cost", &two),
        ("liveness-without-startup", &two),
        ("liveness-without-startup", &one),
    ] {
        let patient = said(rule, &group("LeaderReady", templates));
        let ends =
            patient[0].ends_with("set initialDelaySeconds to 3600, since peers wait for Ready");
        assert!(ends, "{patient:?}");
        let probed = said(rule, &group("LeaderCreated", templates));
        assert!(probed[0].ends_with("failureThreshold 361"), "{probed:?}");
    }
}

/// A rank that is read off the pod's name makes the server one of several, as a literal one does.
#[test]
fn peers_wait_for_a_rank_that_is_known_at_run_time_too() {
    let set = |rank: &str| {
        let container = format!(
            "image: x, command: [sh, -c, 'python3 -m sglang.launch_server --model-path m --nnodes 2 --node-rank {rank} \
             --dist-init-addr a-0.a:5000'], livenessProbe: {{httpGet: {{path: /health, port: 30000}}, timeoutSeconds: 5}}"
        );
        of_kind("StatefulSet", "", "", "", "", &container)
    };
    for rank in ["0", "${HOSTNAME##*-}"] {
        for rule in ["liveness-without-startup", "group-restart-cost"] {
            let said = said(rule, &set(rank));
            let patient = "set initialDelaySeconds to 3600, since peers wait for Ready";
            assert!(said.len() == 1 && said[0].ends_with(patient), "{said:?}");
        }
    }
}

/// Who adds the probe that cannot pass is let in and dies an hour later.
#[test]
fn nobody_is_sent_to_a_probe_that_never_passes() {
    let of = |args: &str, probe: &str| {
        let container = format!(
            "image: lmsysorg/sglang:v0.5.7, command: [python3, -m, sglang.launch_server], args: [--model-path, m, {args}], livenessProbe: {{{probe}, timeoutSeconds: 25}}"
        );
        let template = "annotations: {warmgate.io/max-startup-time: 15m}";
        let manifest = of_kind("Deployment", "", template, "", "", &container);
        said("liveness-kills-startup", &manifest).concat()
    };
    let get = |port: u16| format!("httpGet: {{path: /health, port: {port}}}");
    for (args, probe, cure) in [
        ("--port, '30000'", get(30000), "loopback address only"),
        (
            "--host, 0.0.0.0, --port, '8080'",
            get(8000),
            "listens on 8080",
        ),
        (
            "--host, 0.0.0.0, --ssl-keyfile, k",
            get(30000),
            "speaks TLS",
        ),
    ] {
        let said = of(args, &probe);
        assert!(
            said.contains(cure) && said.ends_with("mend that first"),
            "{said}"
        );
        assert!(!said.contains("add a startupProbe"), "{said}");
    }
    let said = of("--host, 0.0.0.0", &get(30000));
    assert!(
        said.contains("add a startupProbe with periodSeconds 10"),
        "{said}"
    );
}
