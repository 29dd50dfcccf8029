//! `warmgate explain`: what is decided and why, and the timelines.

use super::{CONFIG_MAP, example, run, run_with};

/// The sentence about the container, of the last timeline.
fn outlook(text: &str, container: &str) -> String {
    let begins = format!("{container}: ");
    text.lines()
        .map(str::trim)
        .rfind(|line| line.starts_with(&begins))
        .unwrap_or_default()
        .to_owned()
}

fn slowboot(load: &str) -> String {
    let ran = run(&["explain", "--load", load, "examples/slowboot.yaml"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    ran.out
}

/// The two numbers in `kills it in ..., A to B s after its start`.
fn kills(outlook: &str) -> (f64, f64) {
    let (before, _) = outlook
        .split_once(" s after its start")
        .expect("a kill is told");
    let (_, range) = before.rsplit_once(", ").expect("the range comes last");
    let (from, to) = range.split_once(" to ").expect("there are two ends");
    let number = |text: &str| text.parse().expect("it is a number");
    (number(from), number(to))
}

#[test]
fn a_load_of_a_minute_never_ends_under_a_probe_of_ten_seconds() {
    let text = slowboot("60");
    assert!(text.contains("[not-ours]"), "{text}");
    assert!(text.contains("ignores SIGTERM"), "{text}");
    let outlook = outlook(&text, "server");
    assert!(outlook.contains("in each of 60 phases"), "{outlook}");
    assert!(outlook.contains("never ready to serve"), "{outlook}");
    let (earliest, latest) = kills(&outlook);
    assert!((5.0..6.0).contains(&earliest), "{outlook}");
    assert!(9.0 < latest && latest <= 10.5, "{outlook}");
    let moment = |what: &str| {
        let line = text
            .lines()
            .find(|line| line.ends_with(what))
            .unwrap_or_else(|| panic!("{what}\n{text}"));
        let (at, _) = line.trim().split_once(" s").expect("a line has a moment");
        at.parse::<f64>().expect("it is a number")
    };
    let (term, kill) = (moment("gets SIGTERM"), moment("gets SIGKILL"));
    assert!((kill - term - 30.0).abs() < 0.01, "{text}");
    assert!(text.contains("ends with exit code 137"), "{text}");
    assert!(text.contains("starts again, restart 3"), "{text}");
    assert!(text.contains("CrashLoopBackOff"), "{text}");
    assert!(!text.contains("has loaded"), "{text}");
}

#[test]
fn a_short_load_lives_and_one_in_between_depends_on_the_phase() {
    let lives = outlook(&slowboot("4"), "server");
    assert!(
        lives.contains("no probe kills it in any of 60 phases"),
        "{lives}"
    );
    assert!(lives.ends_with("0 restarts"), "{lives}");
    let depends = outlook(&slowboot("7"), "server");
    assert!(depends.contains("depends on the phase"), "{depends}");
    assert!(depends.contains("kills it in "), "{depends}");
    assert!(!depends.contains("each of"), "{depends}");
}

#[test]
fn after_the_fix_the_slow_pod_is_ready_in_every_phase() {
    let checked = run(&["check", "examples/slowboot-declared.yaml"]);
    assert_eq!(checked.code, 1);
    assert!(
        checked.out.contains("kills 5 to 11 s after each start"),
        "{}",
        checked.out
    );
    assert!(checked.out.contains("60 s"), "{}", checked.out);
    let text = run(&["explain", "examples/slowboot-declared.yaml"]).out;
    assert!(text.contains("timeline before the fix"), "{text}");
    let (before, after) = text
        .split_once("timeline after the fix")
        .expect("there is a fix");
    assert!(
        outlook(before, "server").contains("never ready to serve"),
        "{before}"
    );
    let after = outlook(after, "server");
    assert!(
        after.contains("no probe kills it in any of 60 phases"),
        "{after}"
    );
    assert!(
        after.contains("ready to serve after 60.") && after.ends_with("0 restarts"),
        "{after}"
    );
}

#[test]
fn every_value_has_its_source() {
    let text = run(&["explain", "examples/vllm-crash-loop.yaml"]).out;
    for part in [
        "is ours: container engine asks for nvidia.com/gpu",
        "serves: it runs vLLM",
        "900 s  from annotation warmgate.io/max-startup-time of the pod template",
        "8000  from default of vLLM",
        "15 s  from default",
        "20 s after each start at the earliest, 31 s at the latest",
        "dies in every phase",
        "add spec.template.spec.containers[0].startupProbe",
        "timeline before the fix",
        "timeline after the fix",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
}

#[test]
fn a_load_on_the_command_line_overrules_what_is_declared() {
    let text = run(&["explain", "--load", "10s", "examples/vllm-crash-loop.yaml"]).out;
    assert!(
        text.contains("a start of 10 s lives in every phase"),
        "{text}"
    );
    assert!(
        text.contains("engine can serve from 10 s after its start on"),
        "{text}"
    );
}

#[test]
fn a_command_that_replaces_its_shell_gets_sigterm() {
    let text = example("slowboot.yaml").replace(
        "sleep 60; touch /tmp/ready; sleep 3600",
        "prepare; exec serve",
    );
    let ran = run_with(&["explain", "--load", "60", "-"], &text);
    assert!(!ran.out.contains("ignores SIGTERM"), "{}", ran.out);
    assert!(ran.out.contains("exit code 143"), "{}", ran.out);
}

#[test]
fn headers_are_kept_secret() {
    let text = example("vllm-crash-loop.yaml").replacen(
        "              path: /health\n",
        "              path: /health\n              httpHeaders: [{name: Authorization, value: Bearer hunter2}]\n",
        1,
    );
    for verb in ["explain", "check"] {
        let ran = run_with(&[verb, "-"], &text);
        assert!(ran.out.contains("startupProbe"), "{}", ran.out);
        assert!(!ran.out.contains("hunter2"), "{}", ran.out);
        assert!(!ran.err.contains("hunter2"), "{}", ran.err);
    }
}

#[test]
fn every_object_is_explained_and_what_cannot_be_read_is_told() {
    let input = [CONFIG_MAP, "a: [1\n", &example("slowboot.yaml")].join("---\n");
    let ran = run_with(&["explain", "-"], &input);
    assert_eq!(ran.code, 2);
    assert!(
        ran.out.contains("ConfigMap c (<stdin>:1): not-checked"),
        "{}",
        ran.out
    );
    assert!(ran.out.contains("Pod slowboot"), "{}", ran.out);
    assert!(ran.err.contains("<stdin>:"), "{}", ran.err);
}

/// A pod of a server that loads for 15 s, with this rest of its container.
fn pod(container: &str) -> String {
    let annotations = "{warmgate.io/accelerator: 'true', warmgate.io/max-startup-time: 15s}";
    format!(
        "{{apiVersion: v1, kind: Pod, metadata: {{name: a, annotations: {annotations}}}, \
         spec: {{containers: [{{name: engine, image: x, {container}}}]}}}}\n"
    )
}

#[test]
fn what_a_probe_meets_is_said() {
    let explain = |container: &str| run_with(&["explain", "-"], &pod(container)).out;
    let told = |container: &str, lines: &[&str]| {
        let text = explain(container);
        for line in lines {
            assert!(text.contains(line), "{line}\n{text}");
        }
        text
    };
    let text = told(
        "startupProbe: {httpGet: {port: web}}",
        &[
            "its errors count for nothing: it never kills, and the container never counts as started",
            "its startupProbe errs each time",
        ],
    );
    assert!(!text.contains("lives in every phase"), "{text}");
    told(
        "livenessProbe: {tcpSocket: {port: web}}",
        &["its errors count for nothing: it never kills"],
    );
    told(
        "readinessProbe: {tcpSocket: {port: web}}",
        &["never passes, so the pod is never Ready"],
    );
    told(
        "livenessProbe: {exec: {command: ['true']}}",
        &[
            "passes whatever the server does: it never kills",
            "its livenessProbe always passes",
        ],
    );
    told(
        "livenessProbe: {exec: {command: [cat, /ready]}}",
        &["its livenessProbe fails at once until then"],
    );
    told(
        "livenessProbe: {grpc: {port: 1}}",
        &[
            "engine can serve from 15 s after its start on",
            "its livenessProbe is refused until then",
            "it ends at once on SIGTERM and never by itself",
        ],
    );
    // vLLM is known to refuse on the port that it is told of, and nobody listens on another.
    let text = told(
        "args: [vllm, serve, m, --port, '80'], startupProbe: {httpGet: {path: /health, port: 81}}",
        &["and it never answers this probe"],
    );
    assert!(!text.contains("dies in every phase"), "{text}");
}

#[test]
fn a_container_that_does_not_serve_is_not_held_to_the_declared_time() {
    let sidecar = "startupProbe: {httpGet: {port: 80}}}], initContainers: [{name: proxy, image: y, \
                   restartPolicy: Always, startupProbe: {httpGet: {port: 81}, failureThreshold: 1}";
    let text = run_with(&["explain", "-"], &pod(sidecar)).out;
    assert_eq!(text.matches("a start of 15 s").count(), 1, "{text}");
    assert!(text.contains("proxy can serve at its start"), "{text}");
}

#[test]
fn a_deadline_is_on_the_timeline() {
    let container = "startupProbe: {httpGet: {port: 80}, failureThreshold: 9}}], activeDeadlineSeconds: 12, volumes: [{name: v";
    let text = run_with(&["explain", "-"], &pod(container)).out;
    assert!(
        text.contains("12.0 s  pod: is ended, activeDeadlineSeconds is over"),
        "{text}"
    );
    let said = outlook(&text, "engine");
    assert!(said.contains("never ready to serve"), "{said}");
    let job = "{apiVersion: batch/v1, kind: Job, metadata: {name: a}, spec: {activeDeadlineSeconds: 9, template: {spec: \
               {restartPolicy: Never, containers: [{name: engine, image: x, resources: {limits: {nvidia.com/gpu: 1}}}]}}}}\n";
    let text = run_with(&["explain", "-"], job).out;
    assert!(text.contains("9.0 s  pod: is ended"), "{text}");
}

#[test]
fn what_only_chance_makes_longer_is_said_to_be_the_earliest() {
    let text = run_with(
        &["explain", "-"],
        &pod("livenessProbe: {httpGet: {port: 80}, periodSeconds: 3}"),
    )
    .out;
    assert!(
        text.contains(" s at the earliest (CrashLoopBackOff)"),
        "{text}"
    );
    assert!(text.contains("in one of 60 phases"), "{text}");
}
