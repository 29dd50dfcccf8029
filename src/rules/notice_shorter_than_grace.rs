//! A spot node goes before its pods have ended.

use super::Case;
use super::rule::{Rule, Scope};
use crate::plan::DEFAULT_GRACE;
use crate::words::{Finding, Severity};

pub(super) static RULE: Rule = Rule {
    id: "notice-shorter-than-grace",
    severity: Severity::Note,
    summary: "a spot node goes before its pods have used their grace period",
    page: include_str!("../../docs/rules/notice-shorter-than-grace.md"),
    scope: Scope::Judged,
    check,
};

/// Seconds between the notice and the end of a spot node: 30 where the cloud is not known to give more.
const NOTICE: i64 = 30;

/// Amazon gives two minutes.
const NOTICE_OF_EKS: i64 = 120;

/// Seconds that a server needs at least once its hook has ended.
const LEAST_END: i64 = 5;

fn check(case: &Case<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for template in case.templates() {
        let Some(spot) = &template.spot else {
            continue;
        };
        let notice = if spot.contains("eks.amazonaws.com/") {
            NOTICE_OF_EKS
        } else {
            NOTICE
        };
        let path = template.template.spec_path();
        let grace = template.template.grace().unwrap_or(DEFAULT_GRACE);
        if grace > notice {
            let message = format!(
                "terminationGracePeriodSeconds allows {grace} s, a spot node goes {notice} s after its notice ({spot}): what takes longer is lost, set {notice}"
            );
            findings.push(RULE.at(path.key("terminationGracePeriodSeconds"), message));
            continue;
        }
        let hooks = template.serving().filter_map(|one| {
            let hook = one.container.pre_stop.as_ref()?.literal()?;
            (hook > notice - LEAST_END).then_some((one, hook))
        });
        findings.extend(hooks.map(|(container, hook)| {
            let message = format!(
                "takes {hook} of the {notice} s that a spot node has left ({spot}): nothing remains to end requests, set {LEAST_END}"
            );
            RULE.about(container, &["lifecycle", "preStop"], &message)
        }));
    }
    findings
}
