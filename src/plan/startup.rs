//! The startup probe that holds the liveness probe off while the model loads.

use serde_json::{Value, json};

use super::handler::{Chosen, choose};
use super::termination::Ending;
use super::{Edit, EditKind, Site, Why, Withheld, present};
use crate::facts::Facts;
use crate::intent::{ContainerIntent, TemplateIntent};
use crate::kubelet::bounds;
use crate::subject::{Probe, Role};

/// Up to here a period of 5 s keeps the time to Ready short; above it the usual 10 s do.
const SHORT_WINDOW: i64 = 120;
const SHORT_PERIOD: i64 = 5;
const LONG_PERIOD: i64 = 10;

/// A server that never started has nothing to drain; so many seconds after its hook it may be killed.
const GRACE_AFTER_HOOK: i64 = 30;

/// Plans the startup probes of a template; returns the startup windows that its serving containers end up with.
pub(super) fn plan(
    site: &Site<'_>,
    template: &TemplateIntent<'_>,
    ending: &Ending,
    edits: &mut Vec<Edit>,
    withheld: &mut Vec<Withheld>,
) -> Vec<i64> {
    let mut windows = Vec::new();
    for (index, container) in template
        .containers
        .iter()
        .enumerate()
        .filter(|(_, one)| one.serves())
    {
        let path = container.container.probe_path(Role::Startup);
        let enabled = site.facts.config.edits.startup_probe && container.container.readable;
        if let Some(probe) = container.container.probe(Role::Startup) {
            let raised = if enabled {
                raise(site, container, probe)
            } else {
                None
            };
            windows.push(
                raised
                    .as_ref()
                    .map_or_else(|| window(probe), |(window, _)| *window),
            );
            edits.extend(raised.map(|(_, edit)| edit));
            continue;
        }
        if !enabled || present(site.subject.object, &path).is_some() {
            continue;
        }
        let chosen = match choose(template, container) {
            Ok(Some(_)) if site.is_applied(&path) => Err(Why::Applied),
            chosen => chosen,
        };
        match chosen {
            Ok(None) => {}
            Ok(Some(chosen)) => {
                let (window, edit) =
                    inject(site, container, chosen, ending.grace, ending.hooks[index]);
                windows.push(window);
                edits.push(edit);
            }
            Err(why) => withheld.push(Withheld {
                kind: EditKind::StartupProbe,
                container: Some(container.container.name.clone()),
                path,
                why,
            }),
        }
    }
    windows
}

/// The startup windows that stand in a template that is not written.
pub(super) fn standing_windows<'t>(
    template: &'t TemplateIntent<'t>,
) -> impl Iterator<Item = i64> + 't {
    template
        .serving()
        .filter_map(|container| container.container.probe(Role::Startup))
        .map(window)
}

/// The window that a rollout must leave to a startup probe: D + (F-1) P.
pub(crate) fn window(probe: &Probe) -> i64 {
    bounds::guaranteed_window(probe).saturating_add(i64::from(probe.initial_delay > 0))
}

/// In a pod that a controller owns nobody can be refused, and the team often cannot reach the operator's probe: the
/// declared time is a floor.
fn raise(site: &Site<'_>, container: &ContainerIntent<'_>, probe: &Probe) -> Option<(i64, Edit)> {
    let declared = container
        .declared
        .as_ref()
        .filter(|_| site.is_owned_pod())?;
    // The API server refuses what is negative.
    if probe.failure_threshold < 0 || bounds::guaranteed_window(probe) >= declared.value.0 {
        return None;
    }
    let wanted = with_margin(declared.value.0);
    let threshold = bounds::failure_threshold_for(wanted, probe.initial_delay, probe.period);
    let path = container
        .container
        .probe_path(Role::Startup)
        .key("failureThreshold");
    let was = present(site.subject.object, &path).cloned();
    if site.is_applied(&path) {
        return None;
    }
    let raised = Probe {
        failure_threshold: threshold,
        ..probe.clone()
    };
    let why = format!(
        "{} declared, {} s guaranteed",
        declared.value.short(),
        bounds::guaranteed_window(&raised)
    );
    let edit = Edit {
        kind: EditKind::StartupWindow,
        container: Some(container.container.name.clone()),
        was,
        value: Some(json!(threshold)),
        path,
        why,
    };
    Some((window(&raised), edit))
}

/// A quarter more than declared: loads vary.
fn with_margin(seconds: i64) -> i64 {
    seconds
        .saturating_add(seconds / 4)
        .saturating_add(i64::from(seconds % 4 != 0))
}

/// The window that a startup probe of the container should have, in seconds: a quarter more than is declared or was measured,
/// and never below that of the liveness probe that it holds off.
pub(crate) fn wanted_window(facts: &Facts, container: &ContainerIntent<'_>) -> i64 {
    let load = match &container.declared {
        Some(declared) => with_margin(declared.value.0),
        None => {
            let measured = container
                .measured
                .map_or(0, |measured| with_margin(measured.0));
            facts.config.defaults.startup_window.max(measured)
        }
    };
    let liveness = container.container.probe(Role::Liveness);
    load.max(liveness.map_or(0, window))
}

/// `periodSeconds` and `failureThreshold` of a startup probe that guarantees so many seconds.
pub(crate) fn rhythm(window: i64) -> (i64, i64) {
    let period = if window <= SHORT_WINDOW {
        SHORT_PERIOD
    } else {
        LONG_PERIOD
    };
    (period, bounds::failure_threshold_for(window, 0, period))
}

fn inject(
    site: &Site<'_>,
    container: &ContainerIntent<'_>,
    chosen: Chosen,
    grace: i64,
    hook: Option<i64>,
) -> (i64, Edit) {
    let wanted = wanted_window(site.facts, container);
    let (period, threshold) = rhythm(wanted);
    let least_timeout = if period < LONG_PERIOD { 3 } else { 5 };
    let mut probe = chosen.handler;
    probe.insert("periodSeconds".to_owned(), json!(period));
    probe.insert(
        "timeoutSeconds".to_owned(),
        json!(chosen.timeout.max(least_timeout)),
    );
    probe.insert("failureThreshold".to_owned(), json!(threshold));
    if let Some(hook) = hook {
        let own_grace = grace.min(hook.saturating_add(GRACE_AFTER_HOOK));
        if own_grace >= 1 {
            probe.insert("terminationGracePeriodSeconds".to_owned(), json!(own_grace));
        }
    }
    let guaranteed = (threshold - 1).saturating_mul(period);
    let time = match (&container.declared, container.measured) {
        (Some(declared), _) => format!("{} declared", declared.value.short()),
        (None, Some(measured)) => format!("nothing declared, {measured} measured"),
        (None, None) => "nothing declared".to_owned(),
    };
    let edit = Edit {
        kind: EditKind::StartupProbe,
        container: Some(container.container.name.clone()),
        path: container.container.probe_path(Role::Startup),
        value: Some(Value::Object(probe)),
        was: None,
        why: format!(
            "{time}, {guaranteed} s guaranteed, handler of {}",
            chosen.source
        ),
    };
    (guaranteed, edit)
}
