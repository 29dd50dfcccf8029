//! What is wrong with an object, or worth knowing: one rule a file, each with its page.
//!
//! Rules judge the object as it arrives. They only look; [`run`] silences, tones down and sorts what they say.

mod age;
mod case;
mod index;
mod inner_timeout;
mod rule;
mod selector;
mod typed;

mod annotation_not_in_template;
mod annotation_overruled;
mod deadline_before_load;
mod deadline_while_gated;
mod download_in_startup;
mod exec_probe_timeout_inner;
mod gpu_claim_unresolved;
mod grace_too_short;
mod group_restart_cost;
mod job_liveness;
mod liveness_before_readiness;
mod liveness_below_known_stall;
mod liveness_is_readiness;
mod liveness_kills_startup;
mod liveness_runs_inference;
mod liveness_without_startup;
mod long_grace;
mod loopback_bind;
mod malformed_annotation;
mod named_port_missing;
mod no_disruption_budget;
mod no_probes;
mod no_spread;
mod notice_shorter_than_grace;
mod ordered_ready_trap;
mod override_ignored;
mod prestop_exceeds_grace;
mod prestop_needs_shell;
mod probe_auth;
mod probe_behind_mesh;
mod probe_binary_missing;
mod probe_port_mismatch;
mod probe_port_unresolvable;
mod probe_scheme;
mod progress_deadline_too_short;
mod proxy_ends_first;
mod readiness_delay;
mod readiness_missing;
mod rollout_needs_spare_gpu;
mod server_start_limit;
mod service_link_collision;
mod short_probe_timeout;
mod startup_passes_too_early;
mod startup_period_too_coarse;
mod startup_time_above_limit;
mod startup_window_doubtful;
mod startup_window_too_short;
mod timeout_exceeds_period;
mod unbounded_startup_window;
mod unknown_annotation;
mod unknown_field;
mod unreadable_field;
mod worker_probe;

use serde_json::Value;

use crate::annotations::{self, Trouble, TroubleKind};
use crate::intent::fault::{self, Fault};
use crate::intent::{ContainerIntent, SkipReason, TemplateIntent};
use crate::kubelet::bounds;
use crate::plan;
use crate::subject::{Place, Probe, Role};
use crate::words::{FieldPath, Finding, MESSAGE_LIMIT, Severity, clip};

use age::Age;
pub use case::Case;
pub use index::index;
pub use rule::Rule;
use rule::Scope;

/// All rules, the gravest first, then in the order in which a reader meets them.
pub static RULES: &[&Rule] = &[
    &liveness_kills_startup::RULE,
    &startup_window_too_short::RULE,
    &probe_port_unresolvable::RULE,
    &deadline_before_load::RULE,
    &malformed_annotation::RULE,
    &liveness_without_startup::RULE,
    &no_probes::RULE,
    &short_probe_timeout::RULE,
    &named_port_missing::RULE,
    &probe_port_mismatch::RULE,
    &probe_scheme::RULE,
    &probe_auth::RULE,
    &loopback_bind::RULE,
    &probe_binary_missing::RULE,
    &exec_probe_timeout_inner::RULE,
    &probe_behind_mesh::RULE,
    &prestop_exceeds_grace::RULE,
    &grace_too_short::RULE,
    &prestop_needs_shell::RULE,
    &progress_deadline_too_short::RULE,
    &rollout_needs_spare_gpu::RULE,
    &ordered_ready_trap::RULE,
    &job_liveness::RULE,
    &worker_probe::RULE,
    &startup_passes_too_early::RULE,
    &startup_window_doubtful::RULE,
    &liveness_runs_inference::RULE,
    &liveness_below_known_stall::RULE,
    &liveness_before_readiness::RULE,
    &liveness_is_readiness::RULE,
    &proxy_ends_first::RULE,
    &service_link_collision::RULE,
    &group_restart_cost::RULE,
    &gpu_claim_unresolved::RULE,
    &unknown_annotation::RULE,
    &annotation_not_in_template::RULE,
    &annotation_overruled::RULE,
    &override_ignored::RULE,
    &unknown_field::RULE,
    &unreadable_field::RULE,
    &startup_time_above_limit::RULE,
    &readiness_delay::RULE,
    &readiness_missing::RULE,
    &server_start_limit::RULE,
    &unbounded_startup_window::RULE,
    &timeout_exceeds_period::RULE,
    &startup_period_too_coarse::RULE,
    &download_in_startup::RULE,
    &notice_shorter_than_grace::RULE,
    &long_grace::RULE,
    &deadline_while_gated::RULE,
    &no_disruption_budget::RULE,
    &no_spread::RULE,
];

/// The ids of all rules: what `allow.` may name.
pub fn ids() -> &'static [&'static str] {
    static IDS: std::sync::LazyLock<Vec<&str>> =
        std::sync::LazyLock::new(|| RULES.iter().map(|rule| rule.id).collect());
    &IDS
}

/// The rule of that id.
pub fn find(id: &str) -> Option<&'static Rule> {
    RULES.iter().find(|rule| rule.id == id).copied()
}

/// What is wrong with the defaults that a Namespace gives to what stands in it. They count as absent, so nothing is refused.
pub(crate) fn of_defaults(kind: &str, object: &Value) -> Vec<Finding> {
    let annotations = object.pointer("/metadata/annotations");
    let Some(annotations) = annotations.filter(|_| kind == "Namespace") else {
        return Vec::new();
    };
    let troubles = annotations::read(Some(annotations), ids()).troubles;
    let told = |trouble: Trouble| {
        let rule = match trouble.kind {
            TroubleKind::Malformed => &malformed_annotation::RULE,
            _ => &unknown_annotation::RULE,
        };
        let path = FieldPath::root().keys(&["metadata", "annotations"]);
        let path = match trouble.key.as_str() {
            "" => path,
            key => path.key(key),
        };
        case::with_severity(rule.at(path, trouble.message), Severity::Warn)
    };
    troubles.into_iter().map(told).collect()
}

/// Everything that the rules say of an object, the gravest first.
pub fn run(case: &Case<'_>) -> Vec<Finding> {
    let skip = case.intent.skip.as_ref().map(|skip| skip.reason);
    let speaks = |rule: &Rule| match rule.scope {
        Scope::Always => true,
        Scope::Batch => skip == Some(SkipReason::Batch),
        Scope::Judged => skip.is_none() && case.templates().next().is_some(),
        Scope::NotSkipped => skip.is_none(),
    };
    let mut findings: Vec<Finding> = RULES
        .iter()
        .filter(|rule| speaks(rule))
        .flat_map(|rule| (rule.check)(case))
        .collect();
    silence(case, &mut findings);
    let age = Age::of(case);
    for finding in &mut findings {
        // Names in it are the owner's, and may be as long as he likes.
        finding.message = clip(&finding.message, MESSAGE_LIMIT);
        if finding.severity == Severity::Deny && case.plan.is_ours(&finding.path) {
            finding.severity = Severity::Warn;
        }
        if age.as_ref().is_some_and(|age| age.is_old(case, finding)) {
            finding.severity = Severity::Note;
        }
    }
    findings.sort_by(|one, other| {
        (one.severity, &one.path, one.rule).cmp(&(other.severity, &other.path, other.rule))
    });
    findings.dedup();
    findings
}

/// Drops what the owner silenced, where he may.
fn silence(case: &Case<'_>, findings: &mut Vec<Finding>) {
    let overrides = case.facts.config.overrides(case.facts.mode);
    let mut ignored = Vec::new();
    findings.retain(|finding| {
        let at = |template: &&TemplateIntent<'_>| {
            let path = &template.template.path;
            finding.path.starts_with(path)
                || path.segments().is_empty()
                || finding.container.is_none()
        };
        let allowed = case
            .intent
            .templates
            .iter()
            .filter(at)
            .any(|template| template.layers.allows(finding.rule).is_some());
        let may = overrides.allow.contains(&finding.severity);
        if allowed && !may {
            ignored.push(finding.rule);
        }
        !(allowed && may)
    });
    ignored.dedup();
    findings.extend(
        ignored
            .into_iter()
            .map(|rule| override_ignored::of_allow(case, rule)),
    );
}

/// Where an annotation of ours stands that holds for a template: in it, else on the object.
fn annotation_path(case: &Case<'_>, template: &FieldPath, key: &str) -> FieldPath {
    let inside = template.keys(&["metadata", "annotations", key]);
    if inside.find(case.subject.object).is_some() {
        inside
    } else {
        FieldPath::of(&["metadata", "annotations", key])
    }
}

/// Whether failures of a probe are thrown away by the kubelet, so that it never kills: a port name that is not declared, or
/// a command that cannot be started.
fn never_counts(
    template: &TemplateIntent<'_>,
    container: &ContainerIntent<'_>,
    probe: &Probe,
) -> bool {
    fault::faults(template, container, &probe.handler)
        .iter()
        .any(|fault| matches!(fault, Fault::Binary { .. } | Fault::PortName { .. }))
}

/// What becomes of a container whose probe fails every time.
fn never_passes(role: Role, probe: &Probe) -> String {
    let (from, to) = (bounds::guaranteed_window(probe), bounds::latest_kill(probe));
    match role {
        Role::Readiness => "the pod is never Ready".to_owned(),
        Role::Liveness | Role::Startup => format!("it kills {from} to {to} s after each start"),
    }
}

/// The startup probe that a fix injects into a container, or would. Where peers wait for Ready, only patience helps: a startup
/// probe would hold Ready back.
fn startup_cure(
    case: &Case<'_>,
    template: &TemplateIntent<'_>,
    container: &ContainerIntent<'_>,
) -> String {
    let window = plan::wanted_window(case.facts, container);
    if template.ready_gate.is_some() {
        return format!("set initialDelaySeconds to {window}, since peers wait for Ready");
    }
    let liveness = container.container.probe(Role::Liveness);
    let fault = liveness.and_then(|probe| fault::never_passes(template, container, &probe.handler));
    if let Some(fault) = fault {
        return format!(
            "{}, so a startupProbe like it never passes: mend that first",
            fault.short()
        );
    }
    let (period, threshold) = plan::rhythm(window);
    // The other containers wait for it, so its owner has to want that.
    let declare = if container.container.place == Place::Sidecar && container.declared.is_none() {
        format!("declare {}, or ", annotations::MAX_STARTUP_TIME)
    } else {
        String::new()
    };
    format!("{declare}add a startupProbe with periodSeconds {period}, failureThreshold {threshold}")
}

/// A path as messages show it: without its query, which may hold a key.
fn shown(path: &str) -> String {
    clip(path.split('?').next().unwrap_or(path), 40)
}
