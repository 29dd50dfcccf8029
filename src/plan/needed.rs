//! Values of ours that cannot be taken out, because of what their owner has set beside them.

use super::edit::EditKind;
use super::own::Own;
use super::{DEFAULT_DEADLINE, DEFAULT_GRACE, min_ready};
use crate::subject::{Hook, Subject};
use crate::words::FieldPath;

/// The values of ours without which the API server would refuse the object, and why: the owner has set something that only
/// fits beside them (`pkg/apis/core/validation/validation.go`, `pkg/apis/apps/validation/validation.go`).
///
/// `bare` is the object without values of ours.
pub(super) fn needed(bare: &Subject<'_>, own: &[Own]) -> Vec<(FieldPath, String)> {
    let why = |own: &Own| {
        let why = match own.kind {
            EditKind::GracePeriod => longer_sleep(bare, own),
            EditKind::ProgressDeadline => {
                let restored = bare.number(&own.path).unwrap_or(DEFAULT_DEADLINE);
                let least = min_ready(bare);
                let refused = restored <= least;
                refused.then(|| format!("minReadySeconds is {least}, and {restored} was before"))
            }
            _ => None,
        };
        Some((own.path.clone(), why?))
    };
    own.iter().filter_map(why).collect()
}

/// A native sleep that does not fit into the grace period as it was.
fn longer_sleep(bare: &Subject<'_>, own: &Own) -> Option<String> {
    let template = bare.templates.get(own.template?)?;
    let restored = template.grace().unwrap_or(DEFAULT_GRACE);
    template.containers.iter().find_map(|container| {
        let Some(Hook::Sleep(seconds)) = container.pre_stop else {
            return None;
        };
        let name = &container.name;
        let why = || {
            format!("containers[{name}] sleeps {seconds} s in preStop, and {restored} was before")
        };
        (seconds > restored).then(why)
    })
}
