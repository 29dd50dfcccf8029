//! How a container ends: the sleep before SIGTERM, and the grace period that covers it and the requests in flight.

use serde_json::{Value, json};

use super::{Edit, EditKind, Site, Why, Withheld, present};
use crate::annotations::Setting;
use crate::facts::{Facts, Version};
use crate::intent::{ContainerIntent, TemplateIntent};
use crate::subject::Hook;
use crate::words::{FieldPath, Seconds};

/// What the API server fills in; it counts as unset.
pub(crate) const DEFAULT_GRACE: i64 = 30;

/// A hook whose length cannot be seen counts as so many seconds, or as those that it sleeps in any case.
const UNKNOWN_HOOK: i64 = 15;

/// Before a reclaimed node goes, so many seconds are left for a sleep: the notice is 25 to 30 s on the clouds that give
/// the least.
const SPOT_SLEEP: i64 = 5;

/// How the pods of a template will end.
pub(super) struct Ending {
    /// `terminationGracePeriodSeconds` that the pods end up with.
    pub(super) grace: i64,
    /// Per container of the template: the hook's length, `None` where it cannot be seen.
    pub(super) hooks: Vec<Option<i64>>,
}

/// A container's hook as it will be.
struct HookPlan<'t> {
    container: &'t ContainerIntent<'t>,
    /// A sleep to be added.
    sleep: Option<i64>,
    /// The owner's hook: its length where it can be seen.
    standing: Option<Option<i64>>,
    /// The seconds that the owner's hook sleeps in any case, whatever else it does.
    at_least: Option<i64>,
    drain: i64,
    /// Whether the owner declared sleep or drain, which counts on spot capacity too.
    drain_declared: bool,
}

impl HookPlan<'_> {
    fn length(&self) -> i64 {
        let unknown = self.at_least.unwrap_or(0).max(UNKNOWN_HOOK);
        self.sleep
            .or(self.standing.map(|length| length.unwrap_or(unknown)))
            .unwrap_or(0)
    }

    /// The grace period that covers hook and drain.
    fn needs(&self) -> i64 {
        grace_for(self.length(), self.drain)
    }
}

/// The grace period that covers a hook and the requests in flight, in seconds. Where nothing drains, a hook still needs one
/// second more than it takes, or the end of the grace period cuts it off.
pub(crate) fn grace_for(hook: i64, drain: i64) -> i64 {
    hook.saturating_add(drain.max(i64::from(hook > 0)))
}

/// Plans sleeps and grace period of a template.
pub(super) fn plan(
    site: &Site<'_>,
    template: &TemplateIntent<'_>,
    edits: &mut Vec<Edit>,
    withheld: &mut Vec<Withheld>,
) -> Ending {
    let path = template
        .template
        .spec_path()
        .key("terminationGracePeriodSeconds");
    let written = template.template.grace();
    // The kubelet takes a negative one for 1: it is meant, or nonsense.
    let readable = match written {
        Some(seconds) => seconds >= 0,
        None => present(site.subject.object, &path).is_none(),
    };
    let mut hooks: Vec<HookPlan<'_>> = template
        .serving()
        .map(|one| hook(site, template, one, withheld))
        .collect();
    let current = written.unwrap_or(DEFAULT_GRACE);
    let mut grace = current;
    if readable {
        if current != DEFAULT_GRACE && current < DEFAULT_GRACE {
            hooks.iter_mut().for_each(|hook| hook.sleep = None);
        }
        grace = wanted_grace(site, template, &path, &hooks);
        let too_long: Vec<bool> = hooks
            .iter()
            .map(|hook| hook.sleep.is_some_and(|sleep| sleep >= grace))
            .collect();
        if too_long.contains(&true) {
            for (hook, _) in hooks
                .iter_mut()
                .zip(&too_long)
                .filter(|(_, too_long)| **too_long)
            {
                let sleep = hook.sleep.take().unwrap_or_default();
                withheld.push(withheld_sleep(
                    hook.container,
                    Why::ExceedsGrace(sleep, grace),
                ));
            }
            grace = wanted_grace(site, template, &path, &hooks);
        }
        edits.extend(
            hooks
                .iter()
                .filter_map(|hook| sleep_edit(site, template, hook)),
        );
        if grace > current {
            edits.push(Edit {
                kind: EditKind::GracePeriod,
                container: None,
                was: present(site.subject.object, &path).cloned(),
                value: Some(json!(grace)),
                why: why_grace(&hooks, grace, current),
                path,
            });
        }
    }
    Ending {
        grace,
        hooks: lengths(template, &hooks),
    }
}

fn lengths(template: &TemplateIntent<'_>, hooks: &[HookPlan<'_>]) -> Vec<Option<i64>> {
    let of = |one: &ContainerIntent<'_>| {
        let hook = hooks
            .iter()
            .find(|hook| hook.container.container.path == one.container.path);
        match hook {
            Some(HookPlan {
                standing: Some(length),
                ..
            }) => *length,
            Some(hook) => Some(hook.sleep.unwrap_or(0)),
            None => Some(0),
        }
    };
    template.containers.iter().map(of).collect()
}

/// The hook that a serving container will have, before it is known whether it fits.
fn hook<'t>(
    site: &Site<'_>,
    template: &TemplateIntent<'_>,
    container: &'t ContainerIntent<'t>,
    withheld: &mut Vec<Withheld>,
) -> HookPlan<'t> {
    let owners = container.container.pre_stop.as_ref();
    let standing = owners.map(Hook::literal);
    let (drain, drain_declared) = drain(site.facts, container);
    let mut plan = HookPlan {
        container,
        sleep: None,
        standing,
        at_least: owners.and_then(Hook::at_least),
        drain,
        drain_declared,
    };
    let unreadable = !container.container.readable;
    if standing.is_some() || unreadable || !site.facts.config.edits.pre_stop {
        return plan;
    }
    if site.is_applied(&hook_path(container)) {
        withheld.push(withheld_sleep(container, Why::Applied));
        return plan;
    }
    let seconds = match &container.prestop_sleep {
        Some(asked) => match asked.value {
            Setting::Off => return plan,
            Setting::For(Seconds(seconds)) => seconds,
        },
        None if template.spot.is_some() => SPOT_SLEEP,
        None => site.facts.config.defaults.prestop_sleep,
    };
    if seconds < 1 {
        return plan;
    }
    if site.facts.kubernetes < Version::NATIVE_SLEEP && !has_sleep(template, container) {
        withheld.push(withheld_sleep(container, Why::NoSleep));
        return plan;
    }
    plan.sleep = Some(seconds);
    plan
}

fn has_sleep(template: &TemplateIntent<'_>, container: &ContainerIntent<'_>) -> bool {
    !template.template.is_windows()
        && container
            .server()
            .is_some_and(|server| server.shell == Some(true))
}

/// The longest request in flight in seconds, and whether the owner declared it.
pub(crate) fn drain(facts: &Facts, container: &ContainerIntent<'_>) -> (i64, bool) {
    match container.drain_time.as_ref().map(|asked| asked.value) {
        Some(Setting::For(Seconds(seconds))) => (seconds, true),
        Some(Setting::Off) => (0, true),
        None => {
            let preset = container
                .server()
                .and_then(|server| server.drain.as_ref())
                .map(|known| known.value);
            // A preset only lengthens: where the server ends sooner by itself, a longer grace period costs nothing.
            let usual = facts.config.defaults.drain_time;
            (preset.map_or(usual, |preset| preset.max(usual)), false)
        }
    }
}

/// The grace period that hooks and drains need, never below the one that stands.
fn wanted_grace(
    site: &Site<'_>,
    template: &TemplateIntent<'_>,
    path: &FieldPath,
    hooks: &[HookPlan<'_>],
) -> i64 {
    let written = template.template.grace();
    let current = written.unwrap_or(DEFAULT_GRACE);
    let may_edit = site.facts.config.edits.grace_period && !site.is_applied(path);
    if !may_edit {
        return current;
    }
    let counts = |hook: &&HookPlan<'_>| template.spot.is_none() || hook.drain_declared;
    let needed = if current == DEFAULT_GRACE {
        hooks.iter().filter(counts).map(HookPlan::needs).max()
    } else if template.spot.is_some() {
        None
    } else {
        let reaching = |hook: &&HookPlan<'_>| hook.at_least.is_some_and(|length| length >= current);
        hooks.iter().filter(reaching).map(HookPlan::needs).max()
    };
    needed.unwrap_or(current).max(current)
}

fn sleep_edit(site: &Site<'_>, template: &TemplateIntent<'_>, hook: &HookPlan<'_>) -> Option<Edit> {
    let seconds = hook.sleep?;
    let value: Value = if site.facts.kubernetes < Version::NATIVE_SLEEP {
        json!({"exec": {"command": ["sleep", seconds.to_string()]}})
    } else {
        json!({"sleep": {"seconds": seconds}})
    };
    let why = match (&hook.container.prestop_sleep, &template.spot) {
        (Some(asked), _) => format!("{seconds} s asked for ({})", asked.source),
        (None, Some(spot)) => format!("spot capacity ({spot})"),
        (None, None) => "endpoints go before SIGTERM".to_owned(),
    };
    Some(Edit {
        kind: EditKind::PreStop,
        container: Some(hook.container.container.name.clone()),
        path: hook_path(hook.container),
        value: Some(value),
        was: None,
        why,
    })
}

fn hook_path(container: &ContainerIntent<'_>) -> FieldPath {
    container.container.path.keys(&["lifecycle", "preStop"])
}

fn withheld_sleep(container: &ContainerIntent<'_>, why: Why) -> Withheld {
    Withheld {
        kind: EditKind::PreStop,
        container: Some(container.container.name.clone()),
        path: hook_path(container),
        why,
    }
}

fn why_grace(hooks: &[HookPlan<'_>], grace: i64, current: i64) -> String {
    let longest = hooks.iter().max_by_key(|hook| hook.needs());
    match longest {
        Some(hook) if hook.needs() == grace => {
            format!(
                "{} s before SIGTERM and {} s to drain, {current} s before",
                hook.length(),
                hook.drain
            )
        }
        _ => format!("{current} s before"),
    }
}
