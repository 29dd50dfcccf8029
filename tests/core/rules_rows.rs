//! Situations for the rules: small manifests, and whether a rule speaks of them.

use super::rules_page::findings_of_file;

/// A situation: the rule, whether it speaks, and the manifest.
pub(super) type Row = (&'static str, bool, String);

pub(super) fn deployment(spec: &str, pod: &str, container: &str) -> String {
    of_kind("Deployment", "", "", spec, pod, container)
}

/// A workload of the group apps with one container that asks for an accelerator. All parts are members of flow maps.
pub(super) fn of_kind(
    kind: &str,
    metadata: &str,
    template: &str,
    spec: &str,
    pod: &str,
    container: &str,
) -> String {
    let part = |text: &str| match text {
        "" => String::new(),
        text => format!(", {text}"),
    };
    format!(
        "{{apiVersion: apps/v1, kind: {kind}, metadata: {{name: a{}}}, spec: {{template: {{metadata: {{labels: {{app: a}}{}}}, \
         spec: {{containers: [{{name: a, resources: {{limits: {{nvidia.com/gpu: 1}}}}{}}}]{}}}}}{}}}}}\n",
        part(metadata),
        part(template),
        part(container),
        part(pod),
        part(spec),
    )
}

pub(super) fn said(rule: &str, manifest: &str) -> Vec<String> {
    let findings = findings_of_file("situation", manifest);
    let ours = findings.iter().filter(|finding| finding.rule == rule);
    ours.map(|finding| finding.message.clone()).collect()
}

pub(super) fn assert_rows(rows: &[Row]) {
    for (rule, speaks, manifest) in rows {
        let said = said(rule, manifest);
        assert_eq!(!said.is_empty(), *speaks, "{rule}: {manifest}{said:#?}");
    }
}

/// A server of an unknown make, with the probes that keep other rules quiet.
pub(super) const SERVER: &str =
    "image: x, readinessProbe: {tcpSocket: {port: 1}, timeoutSeconds: 5}";

pub(super) fn hooked(hook: &str) -> String {
    format!("{SERVER}, lifecycle: {{preStop: {hook}}}")
}

pub(super) fn grace(seconds: &str) -> String {
    format!("terminationGracePeriodSeconds: {seconds}")
}
