//! What makes a rule speak, and the near misses that must not.
//!
//! A row is the one container of a Deployment, without its name, on a pod that asks for an accelerator.

use super::rules_page::findings_of_file;

/// Whether a rule speaks of a container, with annotations and pod fields around it.
struct Row {
    rule: &'static str,
    speaks: bool,
    container: &'static str,
    annotations: &'static str,
    pod: &'static str,
}

const fn row(rule: &'static str, speaks: bool, container: &'static str) -> Row {
    Row {
        rule,
        speaks,
        container,
        annotations: "",
        pod: "",
    }
}

impl Row {
    const fn annotated(self, annotations: &'static str) -> Self {
        Self {
            annotations,
            ..self
        }
    }

    const fn pod(self, pod: &'static str) -> Self {
        Self { pod, ..self }
    }

    fn manifest(&self) -> String {
        let Self {
            container,
            annotations,
            pod,
            ..
        } = self;
        let pod = if pod.is_empty() {
            String::new()
        } else {
            format!("{pod}, ")
        };
        format!(
            "{{apiVersion: apps/v1, kind: Deployment, metadata: {{name: a}}, spec: {{template: {{metadata: {{annotations: {{{annotations}}}}}, \
             spec: {{{pod}containers: [{{name: a, resources: {{limits: {{nvidia.com/gpu: 1}}}}, {container}}}]}}}}}}}}"
        )
    }
}

const LIVENESS: [Row; 17] = [
    row(
        "liveness-without-startup",
        true,
        "image: x, livenessProbe: {tcpSocket: {port: 1}, initialDelaySeconds: 5000}",
    ),
    row(
        "liveness-without-startup",
        true,
        "image: x, livenessProbe: {tcpSocket: {port: 1}, failureThreshold: 100}",
    )
    .annotated("warmgate.io/max-startup-time: 15m"),
    row(
        "liveness-without-startup",
        false,
        "image: x, livenessProbe: {tcpSocket: {port: 1}}",
    )
    .annotated("warmgate.io/max-startup-time: 15m"),
    row(
        "liveness-without-startup",
        false,
        "image: x, livenessProbe: {exec: {command: [sh, -c, exit 0]}}",
    ),
    row(
        "liveness-without-startup",
        false,
        "image: x, livenessProbe: {httpGet: {port: nowhere}}",
    ),
    row(
        "liveness-before-readiness",
        true,
        "image: x, ports: [{name: a, containerPort: 80}], livenessProbe: {tcpSocket: {port: a}}, readinessProbe: {tcpSocket: {port: 80}}",
    ),
    row(
        "liveness-before-readiness",
        true,
        "image: x, livenessProbe: {exec: {command: [check]}, periodSeconds: 5}, readinessProbe: {exec: {command: [check]}}",
    ),
    row(
        "liveness-before-readiness",
        false,
        "image: x, livenessProbe: {tcpSocket: {port: 80}, failureThreshold: 4}, readinessProbe: {tcpSocket: {port: 80}}",
    ),
    row(
        "liveness-before-readiness",
        false,
        "image: x, livenessProbe: {httpGet: {path: /live, port: 80}}, readinessProbe: {httpGet: {path: /ready, port: 80}}",
    ),
    row(
        "liveness-before-readiness",
        false,
        "image: x, livenessProbe: {httpGet: {port: gone}}, readinessProbe: {httpGet: {port: gone}}",
    ),
    row(
        "liveness-is-readiness",
        true,
        "image: x, livenessProbe: {httpGet: {path: '/health?fail_on_no_slot', port: 80}}",
    ),
    row(
        "liveness-is-readiness",
        true,
        "image: tritonserver:25.06-py3, command: [tritonserver], livenessProbe: {httpGet: {path: /v2/health/ready, port: 8000}}",
    ),
    row(
        "liveness-is-readiness",
        false,
        "image: x, livenessProbe: {httpGet: {path: '/health?slots=fail_on_no_slot', port: 80}}",
    ),
    row(
        "liveness-is-readiness",
        false,
        "image: tritonserver:25.06-py3, command: [tritonserver], readinessProbe: {httpGet: {path: /v2/health/ready, port: 8000}}",
    ),
    row(
        "liveness-is-readiness",
        false,
        "image: x, livenessProbe: {httpGet: {path: /v2/health/ready, port: 8000}}",
    ),
    row("no-probes", true, "image: x, command: [/bin/engine]"),
    row(
        "no-probes",
        false,
        "image: x, readinessProbe: {tcpSocket: {port: 1}}",
    ),
];

const LOAD: [Row; 18] = [
    row(
        "liveness-runs-inference",
        true,
        "image: x, livenessProbe: {exec: {command: [sh, -c, 'curl -sf http://localhost:80/v1/completions -d @/q']}}",
    ),
    row(
        "liveness-runs-inference",
        true,
        "image: x, livenessProbe: {httpGet: {path: '/health_generate?x=1', port: 80}}",
    ),
    row(
        "liveness-runs-inference",
        false,
        "image: x, livenessProbe: {exec: {command: [sh, -c, 'curl -sf http://localhost:80/generate_status && ls /generate']}}",
    ),
    row(
        "liveness-runs-inference",
        true,
        "image: x, livenessProbe: {exec: {command: [sh, -c, 'curl -sf \"http://localhost:${PORT}/v1/chat/completions\" -d @/q']}}",
    ),
    row(
        "liveness-runs-inference",
        true,
        "image: x, livenessProbe: {exec: {command: [curl, -sf, 'localhost:8000/v2/models/m/infer', -d, '@/q']}}",
    ),
    row(
        "liveness-runs-inference",
        true,
        "image: x, livenessProbe: {exec: {command: [sh, -c, 'timeout 20 ollama run m hello']}}",
    ),
    row(
        "liveness-runs-inference",
        false,
        "image: x, livenessProbe: {exec: {command: [/opt/bin/embed, --check, /models/generate]}}",
    ),
    row(
        "liveness-runs-inference",
        false,
        "image: x, startupProbe: {httpGet: {path: /health_generate, port: 80}}",
    ),
    row(
        "liveness-below-known-stall",
        true,
        "image: vllm/vllm-openai, livenessProbe: {httpGet: {path: /health, port: 8000}, timeoutSeconds: 15, failureThreshold: 3}",
    ),
    row(
        "liveness-below-known-stall",
        false,
        "image: vllm/vllm-openai, livenessProbe: {httpGet: {path: /health, port: 8000}, timeoutSeconds: 20}",
    ),
    row(
        "liveness-below-known-stall",
        false,
        "image: vllm/vllm-openai, livenessProbe: {httpGet: {path: /health, port: 8000}, timeoutSeconds: 60, failureThreshold: 1}",
    ),
    row(
        "liveness-below-known-stall",
        false,
        "image: vllm/vllm-openai, livenessProbe: {httpGet: {path: /custom, port: 8000}}",
    ),
    row(
        "short-probe-timeout",
        true,
        "image: x, livenessProbe: {tcpSocket: {port: 1}, timeoutSeconds: 0}",
    ),
    row(
        "short-probe-timeout",
        true,
        "image: x, readinessProbe: {grpc: {port: 1}, periodSeconds: 1, timeoutSeconds: 1}",
    ),
    row(
        "short-probe-timeout",
        false,
        "image: x, startupProbe: {tcpSocket: {port: 1}}",
    ),
    row(
        "short-probe-timeout",
        false,
        "image: x, livenessProbe: {tcpSocket: {port: 1}, timeoutSeconds: 2}",
    ),
    row(
        "exec-probe-timeout-inner",
        true,
        "image: x, livenessProbe: {exec: {command: [bash, -c, 'wget -T 2 -q -O- localhost | grep ok']}}",
    ),
    row(
        "exec-probe-timeout-inner",
        false,
        "image: x, livenessProbe: {exec: {command: [/ctl, ping, --timeout, 5s]}, timeoutSeconds: 8}",
    ),
];

const STARTUP: [Row; 13] = [
    row(
        "startup-passes-too-early",
        true,
        "image: llama.cpp:server-b6000, args: [-m, /m], startupProbe: {tcpSocket: {port: 8080}}",
    ),
    row(
        "startup-passes-too-early",
        true,
        "image: ollama/ollama, startupProbe: {httpGet: {path: /, port: 11434}}",
    ),
    row(
        "startup-passes-too-early",
        false,
        "image: vllm/vllm-openai, startupProbe: {tcpSocket: {port: 8000}}",
    ),
    row(
        "startup-passes-too-early",
        false,
        "image: llama.cpp:server-b6000, args: [-m, /m], startupProbe: {httpGet: {path: /health, port: 8080}}",
    ),
    row(
        "startup-passes-too-early",
        false,
        "image: ollama/ollama, startupProbe: {httpGet: {path: /, port: 80}}",
    ),
    row(
        "startup-window-doubtful",
        true,
        "image: vllm/vllm-openai, startupProbe: {httpGet: {path: /health, port: 8000}, failureThreshold: 29, timeoutSeconds: 5}",
    ),
    row(
        "startup-window-doubtful",
        true,
        "image: vllm/vllm-openai, startupProbe: {httpGet: {path: /health, port: 8000}, initialDelaySeconds: 200}",
    ),
    row(
        "startup-window-doubtful",
        false,
        "image: vllm/vllm-openai, startupProbe: {httpGet: {path: /health, port: 8000}, failureThreshold: 30}",
    ),
    row(
        "startup-window-doubtful",
        false,
        "image: ollama/ollama, startupProbe: {exec: {command: [bash, -c, ollama pull x]}, periodSeconds: 3, timeoutSeconds: 10800}",
    ),
    row(
        "startup-window-doubtful",
        false,
        "image: x, startupProbe: {tcpSocket: {port: 1}}",
    ),
    row(
        "named-port-missing",
        true,
        "image: x, ports: [{containerPort: 80}], livenessProbe: {tcpSocket: {port: http}}",
    ),
    row(
        "named-port-missing",
        false,
        "image: x, ports: [{name: http, containerPort: 80}], livenessProbe: {tcpSocket: {port: http}}",
    ),
    row(
        "named-port-missing",
        false,
        "image: x, readinessProbe: {tcpSocket: {port: http}}",
    ),
];

const REACH: [Row; 31] = [
    row(
        "probe-port-mismatch",
        true,
        "image: vllm/vllm-openai, args: [--port, '9000'], readinessProbe: {tcpSocket: {port: 8000}}",
    ),
    row(
        "probe-port-mismatch",
        false,
        "image: vllm/vllm-openai, readinessProbe: {httpGet: {port: 9000}}",
    ),
    row(
        "probe-port-mismatch",
        false,
        "image: vllm/vllm-openai, args: [--port, '9000'], ports: [{containerPort: 9000}, {containerPort: 9001}], readinessProbe: {httpGet: {port: 9001}}",
    ),
    row(
        "probe-port-mismatch",
        false,
        "image: tritonserver:25.06, command: [tritonserver, --http-port=8000], ports: [{containerPort: 8001}], livenessProbe: {tcpSocket: {port: 8001}}",
    ),
    row(
        "probe-port-mismatch",
        false,
        "image: vllm/vllm-openai, args: [--host, 127.0.0.1, --port, '9000'], readinessProbe: {httpGet: {port: 8000}}",
    ),
    row(
        "probe-scheme",
        true,
        "image: vllm/vllm-openai, readinessProbe: {httpGet: {port: 8000, scheme: HTTPS}}",
    ),
    row(
        "probe-scheme",
        false,
        "image: vllm/vllm-openai, args: [--ssl-keyfile, /k, --ssl-certfile, /c], readinessProbe: {tcpSocket: {port: 8000}}",
    ),
    row(
        "probe-scheme",
        false,
        "image: vllm/vllm-openai, args: [--config, /c.yaml], readinessProbe: {httpGet: {port: 8000, scheme: HTTPS}}",
    ),
    row(
        "probe-auth",
        true,
        "image: vllm/vllm-openai:v0.11.0, args: [--ssl-keyfile, /k, --ssl-certfile, /c, --ssl-cert-reqs, '2'], \
         readinessProbe: {httpGet: {port: 8000, scheme: HTTPS}}",
    ),
    row(
        "probe-auth",
        true,
        "image: vllm/vllm-openai, args: [--model, m, --api-key, k], readinessProbe: {httpGet: {path: /v1/models, port: 8000}}",
    ),
    row(
        "probe-auth",
        true,
        "image: vllm/vllm-openai, args: [--model, m], env: [{name: VLLM_API_KEY, valueFrom: {secretKeyRef: {name: a, key: b}}}], \
         readinessProbe: {httpGet: {path: /v1/models, port: 8000}}",
    ),
    row(
        "probe-auth",
        false,
        "image: vllm/vllm-openai, args: [--model, m, --api-key, k], readinessProbe: {httpGet: {path: /health, port: 8000}}",
    ),
    row(
        "probe-auth",
        false,
        "image: vllm/vllm-openai, args: [--model, m, --api-key, k], \
         readinessProbe: {httpGet: {path: /v1/models, port: 8000, httpHeaders: [{name: Authorization, value: Bearer k}]}}",
    ),
    row(
        "probe-auth",
        false,
        "image: text-embeddings-inference:1.5.0, args: [--port, '80'], env: [{name: API_KEY, value: k}], \
         readinessProbe: {httpGet: {path: /health, port: 80, httpHeaders: [{name: Authorization, value: Bearer k}]}}",
    ),
    row(
        "probe-auth",
        false,
        "image: text-embeddings-inference:1.5.0, args: [--port, '80'], env: [{name: API_KEY, value: k}], readinessProbe: {tcpSocket: {port: 80}}",
    ),
    row(
        "probe-auth",
        false,
        "image: text-embeddings-inference, args: [--port, '80'], env: [{name: API_KEY, value: k}], readinessProbe: {httpGet: {path: /health, port: 80}}",
    ),
    row(
        "loopback-bind",
        true,
        "image: vllm/vllm-openai, args: [--host, localhost], readinessProbe: {tcpSocket: {port: 8000}}",
    )
    .pod("hostNetwork: true"),
    row(
        "loopback-bind",
        true,
        "image: x, livenessProbe: {tcpSocket: {host: 0.0.0.0, port: 80}}",
    ),
    row(
        "loopback-bind",
        false,
        "image: vllm/vllm-openai, args: [--host, 127.0.0.1], readinessProbe: {httpGet: {host: localhost, port: 8000}}",
    )
    .pod("hostNetwork: true"),
    row(
        "loopback-bind",
        false,
        "image: vllm/vllm-openai, args: [--host, 127.0.0.1], readinessProbe: {exec: {command: [curl, localhost:8000]}}",
    ),
    row(
        "loopback-bind",
        false,
        "image: x, ports: [{containerPort: 80, hostPort: 80}], livenessProbe: {httpGet: {host: 127.0.0.1, port: 80}}",
    ),
    row(
        "loopback-bind",
        false,
        "image: x, livenessProbe: {httpGet: {host: health.example, port: 80}}",
    ),
    row(
        "probe-binary-missing",
        true,
        "image: x, readinessProbe: {exec: {command: [exit, '0']}}",
    ),
    row(
        "probe-binary-missing",
        true,
        "image: x, startupProbe: {exec: {command: [/bin/sh -c 'test -f /ready']}}",
    ),
    row(
        "probe-binary-missing",
        true,
        "image: 'r.example/app:2.0-scratch@sha256:0000', livenessProbe: {exec: {command: [/bin/sh, -c, check]}}",
    ),
    row(
        "probe-binary-missing",
        false,
        "image: 'r.example/scratch/app:2', livenessProbe: {exec: {command: [sh, -c, check]}}",
    ),
    row(
        "probe-binary-missing",
        false,
        "image: 'gcr.io/distroless/base:debug', livenessProbe: {exec: {command: [sh, -c, check]}}",
    ),
    row(
        "probe-binary-missing",
        false,
        "image: 'app:2-distroless', livenessProbe: {exec: {command: [/app/health, --deep]}}",
    ),
    row(
        "probe-binary-missing",
        false,
        "image: x, livenessProbe: {exec: {command: ['/opt/my app/health']}}",
    ),
    row(
        "probe-binary-missing",
        false,
        "image: x, livenessProbe: {exec: {command: [sh, -c, exit 0]}}",
    ),
    row(
        "gpu-claim-unresolved",
        false,
        "image: x, command: [/bin/engine]",
    )
    .pod("resourceClaims: [{name: nic, resourceClaimName: shared}]"),
];

/// Probes that pass before the model is loaded, and such as only seem to.
const EARLY: [Row; 17] = [
    row(
        "liveness-kills-startup",
        false,
        "image: x, livenessProbe: {exec: {command: [sh, -c, exit 0]}}",
    )
    .annotated("warmgate.io/max-startup-time: 15m"),
    row(
        "liveness-kills-startup",
        false,
        "image: x, livenessProbe: {exec: {command: [echo, ok]}}",
    )
    .annotated("warmgate.io/max-startup-time: 15m"),
    row(
        "liveness-kills-startup",
        false,
        "image: x, livenessProbe: {exec: {command: [/bin/true]}}",
    )
    .annotated("warmgate.io/max-startup-time: 15m"),
    row(
        "liveness-kills-startup",
        false,
        "image: x, livenessProbe: {exec: {command: [sh, -c, 'curl -s localhost; true']}}",
    )
    .annotated("warmgate.io/max-startup-time: 15m"),
    row(
        "liveness-kills-startup",
        true,
        "image: x, livenessProbe: {exec: {command: [sh, -c, 'echo a; curl -sf localhost']}}",
    )
    .annotated("warmgate.io/max-startup-time: 15m"),
    row(
        "liveness-kills-startup",
        true,
        "image: x, livenessProbe: {exec: {command: [sh, -c, \"true\\ntest -f /ok\"]}}",
    )
    .annotated("warmgate.io/max-startup-time: 15m"),
    row(
        "liveness-kills-startup",
        false,
        "image: ollama/ollama, livenessProbe: {httpGet: {path: /, port: 11434}}",
    )
    .annotated("warmgate.io/max-startup-time: 15m"),
    row(
        "liveness-without-startup",
        true,
        "image: ollama/ollama, livenessProbe: {httpGet: {path: /, port: 11434}}",
    )
    .annotated("warmgate.io/max-startup-time: 15m"),
    row(
        "liveness-kills-startup",
        true,
        "image: ollama/ollama, livenessProbe: {httpGet: {path: /, port: 11434, scheme: HTTPS}}",
    )
    .annotated("warmgate.io/max-startup-time: 15m"),
    row(
        "liveness-kills-startup",
        false,
        "image: llama.cpp:server-b6000, args: [-m, /m], livenessProbe: {tcpSocket: {port: 8080}}",
    )
    .annotated("warmgate.io/max-startup-time: 15m"),
    row(
        "liveness-without-startup",
        true,
        "image: x, livenessProbe: {exec: {command: [sh, -c, 'echo a; curl -sf localhost']}}",
    ),
    row(
        "startup-window-too-short",
        false,
        "image: x, startupProbe: {exec: {command: ['true']}}",
    )
    .annotated("warmgate.io/max-startup-time: 15m"),
    row(
        "startup-window-too-short",
        false,
        "image: llama.cpp:server-b6000, args: [-m, /m], startupProbe: {tcpSocket: {port: 8080}}",
    )
    .annotated("warmgate.io/max-startup-time: 15m"),
    row(
        "startup-passes-too-early",
        true,
        "image: x, startupProbe: {exec: {command: ['true']}}",
    ),
    row(
        "startup-passes-too-early",
        true,
        "image: x, startupProbe: {exec: {command: [sh, -c, 'curl -s localhost; exit 0']}}",
    ),
    row(
        "startup-passes-too-early",
        false,
        "image: x, startupProbe: {exec: {command: [sh, -c, 'echo a; curl -sf localhost']}}",
    ),
    row(
        "startup-window-doubtful",
        false,
        "image: vllm/vllm-openai, startupProbe: {exec: {command: ['true']}}",
    ),
];

#[test]
fn rules_speak_where_they_should_and_only_there() {
    let rows = LIVENESS
        .iter()
        .chain(&LOAD)
        .chain(&STARTUP)
        .chain(&REACH)
        .chain(&EARLY);
    for row in rows {
        let text = row.manifest();
        let findings = findings_of_file(row.rule, &text);
        let said: Vec<String> = findings.iter().map(|finding| finding.line()).collect();
        let speaks = findings.iter().any(|finding| finding.rule == row.rule);
        assert_eq!(speaks, row.speaks, "{}: {text}\n{said:#?}", row.rule);
    }
}

/// The rules that speak of one manifest.
fn rules_of(text: &str) -> Vec<&'static str> {
    let findings = findings_of_file("a test", text);
    findings.iter().map(|finding| finding.rule).collect()
}

#[test]
fn a_claim_that_nobody_knows_is_all_that_is_said() {
    let pod = |class: &str, claims: &str, more: &str| {
        format!(
            "{{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {{name: c}}, spec: {{devices: {{requests: [{{name: r, exactly: {{deviceClassName: {class}}}}}]}}}}}}\n\
             ---\n\
             {{apiVersion: v1, kind: Pod, metadata: {{name: p}}, spec: {{resourceClaims: [{{name: c, resourceClaimName: c}}], \
             containers: [{{name: a, image: x, livenessProbe: {{tcpSocket: {{port: 1}}, periodSeconds: ten}}, \
             readinessProbe: {{tcpSocket: {{port: 1}}, timeoutSeconds: 5}}, resources: {{{claims}}}}}{more}]}}}}"
        )
    };
    let used = "claims: [{name: c}]";
    assert_eq!(
        rules_of(&pod("made.up.example", used, "")),
        ["gpu-claim-unresolved"]
    );
    assert_eq!(
        rules_of(&pod("gpu.nvidia.com", used, "")),
        ["unreadable-field"]
    );
    let both = "limits: {nvidia.com/gpu: 1}, claims: [{name: c}]";
    assert_eq!(
        rules_of(&pod("made.up.example", both, "")),
        ["unreadable-field"]
    );
    let beside = ", {name: b, image: y, resources: {claims: [{name: c}]}}";
    let holder = "limits: {nvidia.com/gpu: 1}";
    assert!(rules_of(&pod("made.up.example", holder, beside)).contains(&"gpu-claim-unresolved"));
}

#[test]
fn work_that_ends_by_itself_needs_no_liveness() {
    let job = |kind: &str, probes: &str, annotations: &str| {
        let (open, close) = if kind == "CronJob" {
            ("{jobTemplate: {spec: ", "}}")
        } else {
            ("", "")
        };
        format!(
            "{{apiVersion: batch/v1, kind: {kind}, metadata: {{name: j}}, spec: {open}{{template: {{metadata: {{annotations: {{{annotations}}}}}, \
             spec: {{restartPolicy: Never, containers: [\
             {{name: a, image: x, resources: {{limits: {{nvidia.com/gpu: 1}}}}, {probes}}}, \
             {{name: log, image: y, livenessProbe: {{tcpSocket: {{port: 2}}}}}}]}}}}}}{close}}}"
        )
    };
    let liveness = "livenessProbe: {tcpSocket: {port: 1}}";
    for kind in ["Job", "CronJob"] {
        assert_eq!(rules_of(&job(kind, liveness, "")), ["job-liveness"]);
    }
    let readiness = "readinessProbe: {tcpSocket: {port: 1}}";
    assert_eq!(rules_of(&job("Job", readiness, "")), [""; 0]);
    let opted_in = job("Job", liveness, "warmgate.io/accelerator: 'true'");
    assert!(!rules_of(&opted_in).contains(&"job-liveness"));
}

#[test]
fn followers_are_not_probed_as_servers() {
    let worker = |command: &str, probe: &str, owner: &str| {
        format!(
            "{{apiVersion: v1, kind: Pod, metadata: {{name: w{owner}}}, spec: {{containers: [{{name: a, image: x, command: [{command}], \
             resources: {{limits: {{nvidia.com/gpu: 1}}}}, livenessProbe: {{{probe}, timeoutSeconds: 5}}}}]}}}}"
        )
    };
    let http = "httpGet: {path: /health, port: 8000}";
    for command in [
        "vllm, serve, m, --headless",
        "ray, start, '--address=h:6379', --block",
    ] {
        assert_eq!(rules_of(&worker(command, http, "")), ["worker-probe"]);
        let owned = ", ownerReferences: [{apiVersion: ray.io/v1, kind: RayCluster, name: r, uid: u, controller: true}]";
        for (probe, owner) in [
            (http, owned),
            ("exec: {command: [check-rank]}", ""),
            (
                "httpGet: {path: /api/local_raylet_healthz, port: 52365}",
                "",
            ),
        ] {
            assert_eq!(rules_of(&worker(command, probe, owner)), [""; 0], "{probe}");
        }
    }
}

#[test]
fn the_mesh_is_named_only_where_it_stands_in_the_way() {
    let pod = |status: &str, more: &str, probe: &str| {
        format!(
            "{{apiVersion: v1, kind: Pod, metadata: {{name: p, annotations: {{{status}{more}}}}}, spec: {{containers: [\
             {{name: a, image: vllm/vllm-openai, resources: {{limits: {{nvidia.com/gpu: 1}}}}, {probe}}}]}}}}"
        )
    };
    let mesh = "sidecar.istio.io/status: '{}'";
    let wanted = ", warmgate.io/startup-probe: 'http://:8000/health'";
    let liveness = "livenessProbe: {httpGet: {path: /health, port: 8000}, timeoutSeconds: 5}";
    let rewritten =
        "livenessProbe: {httpGet: {path: /app-health/a/livez, port: 15020}, timeoutSeconds: 5}";
    let says = |text: String| rules_of(&text).contains(&"probe-behind-mesh");
    assert!(says(pod(mesh, wanted, liveness)));
    assert!(says(pod(mesh, "", liveness)));
    assert!(!says(pod(mesh, "", rewritten)));
    assert!(!says(pod("a: b", wanted, liveness)));
    assert!(says(pod(mesh, "", &rewritten.replace("5}", "1}"))));
}
