//! Liveness and readiness timeouts: the default of one second restarts busy servers.

use serde_json::json;

use super::{Edit, EditKind, Site, present};
use crate::annotations::Setting;
use crate::intent::{ContainerIntent, TemplateIntent};
use crate::subject::{Probe, Role};

/// What the API server fills in; it counts as unset, since nobody can tell it from the owner's.
pub(super) const DEFAULT_TIMEOUT: i64 = 1;

/// Raises the timeouts that count as unset, or lie below the floor that the owner declared.
pub(super) fn timeouts(site: &Site<'_>, template: &TemplateIntent<'_>, edits: &mut Vec<Edit>) {
    if !site.facts.config.edits.probe_timeouts {
        return;
    }
    for container in template.serving() {
        for role in [Role::Liveness, Role::Readiness] {
            edits.extend(
                container
                    .container
                    .probe(role)
                    .and_then(|probe| timeout(site, container, role, probe)),
            );
        }
    }
}

fn timeout(
    site: &Site<'_>,
    container: &ContainerIntent<'_>,
    role: Role,
    probe: &Probe,
) -> Option<Edit> {
    let (floor, why) = match &container.probe_timeout {
        Some(asked) => match asked.value {
            Setting::Off => return None,
            Setting::For(floor) => (floor.0, format!("{floor} asked for ({})", asked.source)),
        },
        None if probe.timeout != DEFAULT_TIMEOUT => return None,
        None => {
            let floor = site.facts.config.defaults.probe_timeout.min(probe.period);
            (floor, format!("unset, so {DEFAULT_TIMEOUT} s"))
        }
    };
    let path = container.container.probe_path(role).key("timeoutSeconds");
    let was = present(site.subject.object, &path).cloned();
    // The API server refuses what is negative.
    if probe.timeout < 0 || probe.timeout >= floor || site.is_applied(&path) {
        return None;
    }
    Some(Edit {
        kind: EditKind::ProbeTimeout,
        container: Some(container.container.name.clone()),
        path,
        value: Some(json!(floor)),
        was,
        why,
    })
}
