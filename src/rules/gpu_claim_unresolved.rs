//! A device claim may be for an accelerator, and nobody here can tell.

use super::Case;
use super::rule::{Rule, Scope};
use crate::intent::TemplateIntent;
use crate::words::{FieldPath, Finding, Severity, clip};

pub(super) static RULE: Rule = Rule {
    id: "gpu-claim-unresolved",
    severity: Severity::Warn,
    summary: "a device claim may be for an accelerator, and nobody here can tell",
    page: include_str!("../../docs/rules/gpu-claim-unresolved.md"),
    scope: Scope::NotSkipped,
    check,
};

fn check(case: &Case<'_>) -> Vec<Finding> {
    let templates = case.intent.templates.iter();
    let open =
        templates.filter(|template| template.skip.is_none() && template.layers.opt_in().is_none());
    open.flat_map(|template| {
        let unresolved = template.accelerators.unresolved.iter();
        unresolved
            .filter(|(_, claim, _)| matters(template, claim))
            .map(|(path, claim, class)| finding(path, claim, class.as_deref()))
    })
    .collect()
}

/// Whether a container uses the claim that is not known to hold an accelerator anyway.
fn matters(template: &TemplateIntent<'_>, claim: &str) -> bool {
    let mut users = template
        .template
        .staying()
        .filter(|container| container.claims.iter().any(|used| used.claim == claim));
    users.any(|container| !template.accelerators.holds(&container.name))
}

fn finding(path: &FieldPath, claim: &str, class: Option<&str>) -> Finding {
    let unknown = match class {
        Some(class) => format!("its device class {} is not known", clip(class, 60)),
        None => "what it asks for is not known here".to_owned(),
    };
    let message = format!(
        "the device claim {} leaves the pod alone, {unknown}: set warmgate.io/accelerator to \"true\" or \"false\" in the pod template",
        clip(claim, 40)
    );
    RULE.at(path.clone(), message)
}
