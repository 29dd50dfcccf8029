//! The liveness probe gives up sooner than the server is known to stall under load.

use super::Case;
use super::rule::{Rule, Scope};
use crate::intent::fault;
use crate::kubelet::bounds;
use crate::subject::{Probe, Role};
use crate::words::{Finding, Severity};

pub(super) static RULE: Rule = Rule {
    id: "liveness-below-known-stall",
    severity: Severity::Warn,
    summary: "the liveness probe gives up sooner than the server is known to stall under load",
    page: include_str!("../../docs/rules/liveness-below-known-stall.md"),
    scope: Scope::Judged,
    check,
};

fn check(case: &Case<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (template, container, probe) in case.probes(Role::Liveness) {
        let (Some(server), Some(row)) = (
            container.server(),
            fault::known_path(template, container, &probe.handler),
        ) else {
            continue;
        };
        let Some(stall) = row.stall.filter(|stall| is_below(probe, *stall)) else {
            continue;
        };
        let message = format!(
            "restarts a server that does not answer for {} s, {} is known to stall for {stall} s under load: set failureThreshold to {} or more",
            bounds::hang_survived(probe),
            server.preset.title(),
            threshold_for(probe, stall)
        );
        findings.push(RULE.about(container, &["livenessProbe"], &message));
    }
    findings
}

/// A probe that waits as long as the stall lasts never fails of it.
fn is_below(probe: &Probe, stall: i64) -> bool {
    bounds::hang_survived(probe) < stall && probe.timeout < stall
}

/// The smallest failureThreshold that outlasts the stall.
fn threshold_for(probe: &Probe, stall: i64) -> i64 {
    let step = probe.period.max(probe.timeout);
    1 + stall / step + i64::from(stall % step != 0)
}
