//! When the rules about rollouts, groups and neighbours speak, and the near misses that must not.

use super::rules_page::{blocks, findings_of_file};
use super::rules_rows::{SERVER, assert_rows, deployment, of_kind};

fn start(threshold: u32) -> String {
    format!("{SERVER}, startupProbe: {{tcpSocket: {{port: 1}}, failureThreshold: {threshold}}}")
}

#[test]
fn deadlines_of_rollouts() {
    let rule = "progress-deadline-too-short";
    let row = |speaks, spec: &str, container: &str| (rule, speaks, deployment(spec, "", container));
    let killed = format!("{SERVER}, livenessProbe: {{tcpSocket: {{port: 1}}, timeoutSeconds: 5}}");
    assert_rows(&[
        row(true, "", &start(32)),
        row(true, "minReadySeconds: 1", &start(31)),
        row(true, "progressDeadlineSeconds: 3899", &start(361)),
        row(true, "progressDeadlineSeconds: 700", &killed),
        row(false, "", &start(31)),
        row(false, "progressDeadlineSeconds: 3900", &start(361)),
        row(false, "progressDeadlineSeconds: 0", &start(361)),
        row(false, "progressDeadlineSeconds: 2147483647", &start(361)),
        // The deadline is raised together with the probe that needs it.
        row(false, "progressDeadlineSeconds: 600", &killed),
        row(false, "", SERVER),
        (
            rule,
            false,
            of_kind("StatefulSet", "", "", "", "", &start(361)),
        ),
    ]);
    let rule = "deadline-while-gated";
    let queued = "labels: {kueue.x-k8s.io/queue-name: q}";
    let row = |speaks, metadata: &str, spec: &str, pod: &str| {
        let manifest = of_kind("Deployment", metadata, "", spec, pod, SERVER);
        (rule, speaks, manifest)
    };
    assert_rows(&[
        row(true, queued, "", ""),
        row(true, queued, "progressDeadlineSeconds: 7200", ""),
        row(true, "", "", "schedulingGates: [{name: g}]"),
        row(false, queued, "progressDeadlineSeconds: 2147483647", ""),
        row(false, "", "", "schedulingGates: []"),
        row(false, "", "", "activeDeadlineSeconds: 7200"),
        (
            rule,
            false,
            of_kind("StatefulSet", queued, "", "", "", SERVER),
        ),
    ]);
}

#[test]
fn rollouts_without_a_spare_accelerator() {
    let rule = "rollout-needs-spare-gpu";
    let strategy = |unavailable: &str| {
        format!("replicas: 3, strategy: {{rollingUpdate: {{maxUnavailable: {unavailable}}}}}")
    };
    let asked = "annotations: {warmgate.io/rollout: no-surge}";
    let surge = "strategy: {rollingUpdate: {maxSurge: 1, maxUnavailable: 1}}";
    let row = |speaks, metadata: &str, spec: &str, pod: &str| {
        let manifest = of_kind("Deployment", metadata, "", spec, pod, SERVER);
        (rule, speaks, manifest)
    };
    assert_rows(&[
        row(true, "", "", ""),
        row(true, "", "replicas: 3", ""),
        row(true, "", &strategy("30%"), ""),
        row(true, asked, "replicas: 8", ""),
        row(true, asked, surge, ""),
        row(true, "", &strategy("0"), "hostNetwork: true"),
        row(false, "", "replicas: 0", ""),
        row(false, "", "replicas: 4", ""),
        row(false, "", &strategy("34%"), ""),
        row(false, "", &strategy("0"), ""),
        row(false, "", &strategy("1"), "hostNetwork: true"),
        row(false, "", "strategy: {type: Recreate}", "hostNetwork: true"),
        row(
            false,
            asked,
            "strategy: {rollingUpdate: {maxSurge: 0%}}",
            "",
        ),
        (
            rule,
            false,
            of_kind("StatefulSet", asked, "", "", "", SERVER),
        ),
    ]);
    let severity = |pod: &str| {
        let findings = findings_of_file("situation", &deployment("", pod, SERVER));
        let finding = findings.into_iter().find(|one| one.rule == rule);
        finding.map(|finding| finding.severity.word())
    };
    assert_eq!(severity(""), Some("note"));
    assert_eq!(severity("hostNetwork: true"), Some("warn"));
}

#[test]
fn sets_that_wait_for_a_pod_that_is_never_ready() {
    let rule = "ordered-ready-trap";
    let row = |speaks, kind: &str, spec: &str, probe: &str| {
        let container = format!("image: x, {probe}: {{httpGet: {{port: nowhere}}}}");
        (rule, speaks, of_kind(kind, "", "", spec, "", &container))
    };
    assert_rows(&[
        row(true, "StatefulSet", "", "readinessProbe"),
        row(
            true,
            "StatefulSet",
            "podManagementPolicy: OrderedReady",
            "startupProbe",
        ),
        row(
            false,
            "StatefulSet",
            "podManagementPolicy: Parallel",
            "readinessProbe",
        ),
        row(false, "StatefulSet", "", "livenessProbe"),
        row(false, "Deployment", "", "readinessProbe"),
        (
            rule,
            false,
            of_kind(
                "StatefulSet",
                "",
                "",
                "",
                "",
                "image: x, readinessProbe: {exec: {command: ['true']}}",
            ),
        ),
    ]);
}

#[test]
fn groups_that_restart_as_a_whole() {
    let rule = "group-restart-cost";
    let probe = "livenessProbe: {tcpSocket: {port: 1}}";
    let lws = |speaks, group: &str, container: &str| {
        let manifest = format!(
            "{{apiVersion: leaderworkerset.x-k8s.io/v1, kind: LeaderWorkerSet, metadata: {{name: a}}, spec: {{leaderWorkerTemplate: {{{group}, \
             workerTemplate: {{spec: {{containers: [{{name: a, image: x, resources: {{limits: {{nvidia.com/gpu: 1}}}}, {container}}}]}}}}}}}}}}\n"
        );
        (rule, speaks, manifest)
    };
    let set = |speaks, args: &str| {
        let container = format!("image: vllm-openai, args: [{args}], {probe}");
        (
            rule,
            speaks,
            of_kind("StatefulSet", "", "", "", "", &container),
        )
    };
    let guarded = format!("{probe}, startupProbe: {{tcpSocket: {{port: 1}}}}");
    assert_rows(&[
        lws(true, "size: 2", probe),
        lws(
            true,
            "size: 2, restartPolicy: RecreateGroupAfterStart",
            probe,
        ),
        lws(false, "size: 1", probe),
        lws(false, "size: 2, restartPolicy: None", probe),
        lws(false, "size: 2, restartPolicy: Default", probe),
        lws(false, "size: 2", &guarded),
        lws(
            false,
            "size: 2",
            "livenessProbe: {tcpSocket: {port: nowhere}}",
        ),
        set(true, "--model, a, --nnodes, '2'"),
        set(false, "--model, a"),
    ]);
}

#[test]
fn services_that_name_a_variable() {
    let rule = "service-link-collision";
    let vllm = "image: vllm-openai, args: [--model, a]";
    let row = |speaks, pod: &str, container: &str, service: &str| {
        let manifest = deployment("", pod, container)
            + "---\n"
            + &format!("{{apiVersion: v1, kind: Service, metadata: {{{service}}}}}\n");
        (rule, speaks, manifest)
    };
    let explicit = format!("{vllm}, env: [{{name: VLLM_PORT, value: '5000'}}]");
    assert_rows(&[
        row(true, "", vllm, "name: vllm"),
        row(
            true,
            "enableServiceLinks: true",
            vllm,
            "name: vllm, namespace: default",
        ),
        row(false, "enableServiceLinks: false", vllm, "name: vllm"),
        row(false, "", vllm, "name: vllm}, spec: {clusterIP: None"),
        row(false, "", vllm, "name: vllm, namespace: other"),
        row(false, "", vllm, "name: vllm-router"),
        row(false, "", &explicit, "name: vllm"),
        row(false, "", SERVER, "name: vllm"),
    ]);
    let asked = |pod: &str| {
        let page = format!(
            "```yaml passes args=\"--origin admission\"\n{}```\n",
            deployment("", pod, vllm)
        );
        let findings = blocks(rule, &page)[0].findings().into_iter();
        let ours = findings.filter(|one| one.rule == rule);
        ours.map(|one| one.severity.word()).collect::<Vec<_>>()
    };
    assert_eq!(asked("enableServiceLinks: true"), ["note"]);
    assert_eq!(asked("enableServiceLinks: false"), [""; 0]);
}

#[test]
fn budgets_and_spread_of_replicas() {
    let rule = "no-disruption-budget";
    let row = |speaks, spec: &str, namespace: &str, budget: &str| {
        let budget = format!(
            "{{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {{name: b{namespace}}}, spec: {{maxUnavailable: 1{budget}}}}}\n"
        );
        (
            rule,
            speaks,
            deployment(spec, "", SERVER) + "---\n" + &budget,
        )
    };
    let two = "replicas: 2";
    assert_rows(&[
        (rule, true, deployment(two, "", SERVER)),
        row(true, two, "", ", selector: {matchLabels: {app: b}}"),
        row(true, two, "", ""),
        row(
            true,
            two,
            ", namespace: other",
            ", selector: {matchLabels: {app: a}}",
        ),
        row(false, two, "", ", selector: {matchLabels: {app: a}}"),
        row(false, two, ", namespace: default", ", selector: {}"),
        row(
            false,
            two,
            "",
            ", selector: {matchExpressions: [{key: app, operator: Exists}]}",
        ),
        (rule, false, deployment("", "", SERVER)),
        (rule, false, of_kind("DaemonSet", "", "", "", "", SERVER)),
    ]);
    let rule = "no-spread";
    let row = |speaks, spec: &str, pod: &str| (rule, speaks, deployment(spec, pod, SERVER));
    assert_rows(&[
        row(true, two, ""),
        row(true, two, "topologySpreadConstraints: []"),
        row(true, two, "affinity: {nodeAffinity: {}}"),
        row(false, "replicas: 1", ""),
        row(false, two, "topologySpreadConstraints: [{maxSkew: 1}]"),
        row(
            false,
            two,
            "affinity: {podAntiAffinity: {preferredDuringSchedulingIgnoredDuringExecution: []}}",
        ),
    ]);
}
