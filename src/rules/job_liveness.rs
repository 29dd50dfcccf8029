//! A liveness probe kills work that ends by itself.

use super::Case;
use super::rule::{Rule, Scope};
use crate::intent::{Service, SkipReason};
use crate::kubelet::bounds;
use crate::subject::Role;
use crate::words::{Finding, Severity};

pub(super) static RULE: Rule = Rule {
    id: "job-liveness",
    severity: Severity::Warn,
    summary: "a liveness probe kills work that would end by itself",
    page: include_str!("../../docs/rules/job-liveness.md"),
    scope: Scope::Batch,
    check,
};

fn check(case: &Case<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for template in &case.intent.templates {
        let batch = template
            .skip
            .as_ref()
            .is_some_and(|skip| skip.reason == SkipReason::Batch);
        let workers = template
            .containers
            .iter()
            .filter(|one| batch && !matches!(one.service, Service::Bystander(_)));
        for container in workers {
            let Some(probe) = container.container.probe(Role::Liveness) else {
                continue;
            };
            let message = format!(
                "kills the work once it is silent for {} to {} s, and it starts over: remove the probe, what ends by itself needs none",
                bounds::outage_survived(probe),
                bounds::hang_fatal(probe)
            );
            findings.push(RULE.about(container, &["livenessProbe"], &message));
        }
    }
    findings
}
