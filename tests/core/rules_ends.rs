//! When the rules about the end of a pod speak, and the near misses that must not.

use super::rules_rows::{SERVER, assert_rows, deployment, grace, hooked, said};

#[test]
fn hooks_and_grace_periods() {
    let rule = "prestop-exceeds-grace";
    let row = |speaks, pod: &str, hook: &str| (rule, speaks, deployment("", pod, &hooked(hook)));
    assert_rows(&[
        row(true, "", "{sleep: {seconds: 30}}"),
        row(true, &grace("60"), "{exec: {command: [sleep, 1m]}}"),
        row(
            true,
            &grace("45"),
            "{exec: {command: [bash, -c, exec sleep 50]}}",
        ),
        row(false, "", "{sleep: {seconds: 29}}"),
        row(false, &grace("61"), "{exec: {command: [sleep, 1m]}}"),
        row(true, "", "{exec: {command: [sh, -c, sleep 60; kill 1]}}"),
        row(true, "", "{exec: {command: [sh, -c, sleep 60; /drain]}}"),
        row(
            true,
            "",
            "{exec: {command: [sh, -c, '/drain || true; sleep 30']}}",
        ),
        row(false, "", "{exec: {command: [sh, -c, /drain && sleep 30]}}"),
        row(
            false,
            &grace("31"),
            "{exec: {command: [sh, -c, /drain; sleep 30]}}",
        ),
        row(true, &grace("3600"), "{exec: {command: [sleep, infinity]}}"),
        row(false, "", "{httpGet: {port: 1}}"),
    ]);
    let manifest = deployment("", &grace("45"), &hooked("{sleep: {seconds: 50}}"));
    let [message] = &said(rule, &manifest)[..] else {
        panic!("one finding");
    };
    assert!(
        message.contains("50 s of a grace period of 45 s"),
        "{message}"
    );
    assert!(message.ends_with("to 110"), "{message}");
    let hook = "{exec: {command: [sh, -c, /drain; sleep 50]}}";
    let least = said(rule, &deployment("", "", &hooked(hook))).concat();
    assert!(least.contains("50 s or more of a"), "{least}");
    assert!(least.ends_with("to 110"), "{least}");
    let rule = "grace-too-short";
    let row = |speaks, pod: &str, container: &str| (rule, speaks, deployment("", pod, container));
    assert_rows(&[
        row(true, &grace("0"), SERVER),
        row(true, &grace("29"), SERVER),
        row(false, &grace("30"), SERVER),
        row(false, &grace("31"), SERVER),
        row(false, &grace("10"), &hooked("{httpGet: {port: 1}}")),
        // Nothing in it is known to serve.
        row(false, &grace("10"), "image: x, command: [sleep, infinity]"),
    ]);
    // The kubelet leaves two seconds also where the period is shorter.
    for (period, seconds) in [("0", 2), ("1", 2), ("2", 2), ("3", 3)] {
        let message = said(rule, &deployment("", &grace(period), SERVER)).concat();
        let cut = format!("cuts requests off {seconds} s after SIGTERM");
        assert!(message.contains(&cut), "{period}: {message}");
    }
}

#[test]
fn hooks_that_cannot_run() {
    let row = |speaks, image: &str, hook: &str| {
        let container = hooked(hook).replacen("image: x", &format!("image: {image}"), 1);
        (
            "prestop-needs-shell",
            speaks,
            deployment("", "", &container),
        )
    };
    let sleep = "{exec: {command: [/bin/sh, -c, sleep 5]}}";
    assert_rows(&[
        row(true, "r.example/distroless/server:1", sleep),
        row(
            true,
            "r.example/server:1-scratch",
            "{exec: {command: [sleep, '5']}}",
        ),
        row(
            false,
            "r.example/distroless/server:1",
            "{exec: {command: [/drain]}}",
        ),
        row(
            false,
            "r.example/distroless/server:1",
            "{sleep: {seconds: 5}}",
        ),
        row(false, "r.example/server:1", sleep),
    ]);
}

#[test]
fn spot_nodes_and_long_periods() {
    let rule = "notice-shorter-than-grace";
    let gke = "nodeSelector: {cloud.google.com/gke-spot: 'true'}";
    let eks = "nodeSelector: {eks.amazonaws.com/capacityType: SPOT}";
    let row = |speaks, node: &str, seconds: &str, hook: &str| {
        let pod = format!("{node}, {}", grace(seconds));
        (rule, speaks, deployment("", &pod, &hooked(hook)))
    };
    assert_rows(&[
        row(true, gke, "31", "{sleep: {seconds: 5}}"),
        row(true, gke, "30", "{sleep: {seconds: 26}}"),
        row(true, eks, "121", "{sleep: {seconds: 5}}"),
        row(false, gke, "30", "{sleep: {seconds: 25}}"),
        row(false, gke, "30", "{exec: {command: [/drain]}}"),
        row(false, eks, "120", "{sleep: {seconds: 90}}"),
        (rule, false, deployment("", &grace("600"), SERVER)),
        ("long-grace", true, deployment("", &grace("601"), SERVER)),
        ("long-grace", false, deployment("", &grace("600"), SERVER)),
        ("long-grace", false, deployment("", "", SERVER)),
    ]);
}

fn with_proxy(annotation: &str, proxy: &str, server: &str) -> String {
    format!(
        "{{apiVersion: v1, kind: Pod, metadata: {{name: a, annotations: {{{annotation}}}}}, spec: {{containers: [{{name: istio-proxy, image: p{proxy}}}, \
         {{name: a, resources: {{limits: {{nvidia.com/gpu: 1}}}}, {server}}}]}}}}\n"
    )
}

#[test]
fn proxies_that_leave_first() {
    let sleeps = hooked("{sleep: {seconds: 15}}");
    let row = |speaks, annotation: &str, proxy: &str, server: &str| {
        let manifest = with_proxy(annotation, proxy, server);
        ("proxy-ends-first", speaks, manifest)
    };
    let config = |text: &str| format!("proxy.istio.io/config: '{text}'");
    assert_rows(&[
        row(true, "", "", &sleeps),
        row(true, "warmgate.io/drain-time: 6s", "", SERVER),
        row(true, &config("terminationDrainDuration: 14s"), "", &sleeps),
        row(true, &config("tracing: {}"), "", &sleeps),
        row(
            true,
            "",
            ", lifecycle: {preStop: {sleep: {seconds: 9}}}",
            &sleeps,
        ),
        row(
            true,
            "",
            ", env: [{name: TERMINATION_DRAIN_DURATION_SECONDS, value: '14'}]",
            &sleeps,
        ),
        row(false, "", "", SERVER),
        row(false, "", "", &hooked("{sleep: {seconds: 5}}")),
        row(false, "", "", &hooked("{exec: {command: [/drain]}}")),
        row(false, &config("terminationDrainDuration: 15s"), "", &sleeps),
        row(
            false,
            &config("{\"terminationDrainDuration\": \"1m\"}"),
            "",
            &sleeps,
        ),
        row(
            false,
            &config("terminationDrainDuration: never"),
            "",
            &sleeps,
        ),
        row(
            false,
            &config("proxyMetadata: {EXIT_ON_ZERO_ACTIVE_CONNECTIONS: \"true\"}"),
            "",
            &sleeps,
        ),
        row(
            false,
            "",
            ", env: [{name: EXIT_ON_ZERO_ACTIVE_CONNECTIONS, value: 'true'}]",
            &sleeps,
        ),
        row(
            false,
            "",
            ", env: [{name: PROXY_CONFIG, value: '{\"terminationDrainDuration\":\"20s\"}'}]",
            &sleeps,
        ),
        row(
            false,
            "",
            ", lifecycle: {preStop: {exec: {command: [/wait]}}}",
            &sleeps,
        ),
        row(
            false,
            "",
            ", lifecycle: {preStop: {sleep: {seconds: 10}}}",
            &sleeps,
        ),
    ]);
}
