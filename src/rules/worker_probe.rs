//! A member of a group that serves nothing is probed as if it served.

use super::Case;
use super::rule::{Rule, Scope};
use crate::intent::Service;
use crate::subject::{Handler, Probe, Role};
use crate::words::{Finding, Severity, clip};

pub(super) static RULE: Rule = Rule {
    id: "worker-probe",
    severity: Severity::Warn,
    summary: "a member of a group that serves nothing is probed over the network as if it served",
    page: include_str!("../../docs/rules/worker-probe.md"),
    scope: Scope::Judged,
    check,
};

/// Ray's own health path of a node, which workers have.
const RAYLET: &str = "/api/local_raylet_healthz";

fn check(case: &Case<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    if case.is_owned_pod() {
        return findings;
    }
    for container in case.templates().flat_map(|template| &template.containers) {
        let Service::Follower(why) = &container.service else {
            continue;
        };
        for role in Role::ALL {
            let Some(probe) = container
                .container
                .probe(role)
                .filter(|probe| serves(probe))
            else {
                continue;
            };
            let message = format!(
                "asks a member that serves nothing ({}), so {}: remove it, the leader's probe speaks for the group",
                clip(why, 60),
                super::never_passes(role, probe)
            );
            findings.push(RULE.about(container, &[role.field()], &message));
        }
    }
    findings
}

/// Whether a probe asks for a server. A command is meant for this member: it may look at its rank or at its peers.
fn serves(probe: &Probe) -> bool {
    match &probe.handler {
        Handler::Exec { .. } => false,
        Handler::Http { path, .. } => !path.starts_with(RAYLET),
        Handler::Grpc { .. } | Handler::Tcp { .. } => true,
    }
}
