//! What is never judged, whatever the object says.

use super::update;
use crate::facts::Facts;
use crate::intent::{Skip, SkipReason};
use crate::plan::Write;
use crate::review::{Operation, Request};
use crate::subject::Subject;

/// Namespaces of the cluster itself: a webhook in their way can stop it.
const SYSTEM_NAMESPACES: [&str; 3] = ["kube-node-lease", "kube-public", "kube-system"];

/// Why a request is let through unread.
pub(super) fn out_of_scope(request: &Request, facts: &Facts) -> Option<Skip> {
    if let Some(why) = &request.not_understood {
        return Some(Skip::new(SkipReason::NotUnderstood, why.clone()));
    }
    if let Some(part) = &request.sub_resource {
        return Some(Skip::new(
            SkipReason::OutOfScope,
            format!("the subresource {part} is written, not the object"),
        ));
    }
    if request.operation == Operation::Other {
        return Some(Skip::new(
            SkipReason::OutOfScope,
            "the object is neither created nor updated",
        ));
    }
    system_namespace(&request.namespace, facts)
}

/// How the object is written, or why that is not judged.
pub(super) fn write(request: &Request) -> Result<Write<'_>, Skip> {
    match (request.operation, &request.old_object) {
        (Operation::Create, _) => Ok(Write::Create),
        _ if request.kind.kind == "Pod" && request.kind.group.is_empty() => Err(Skip::new(
            SkipReason::OutOfScope,
            "probes and grace of a pod cannot change once it is made",
        )),
        (_, Some(old)) => Ok(update(old)),
        (_, None) => Err(Skip::new(
            SkipReason::OutOfScope,
            "an update without the object as it was",
        )),
    }
}

/// Why an object is let through for where or what it is.
pub(super) fn never_ours(subject: &Subject<'_>, facts: &Facts) -> Option<Skip> {
    let metadata = subject.object.get("metadata");
    if metadata
        .and_then(|metadata| metadata.get("deletionTimestamp"))
        .is_some_and(|at| !at.is_null())
    {
        return Some(Skip::new(SkipReason::BeingDeleted, "it is being deleted"));
    }
    if subject.is_pod() && subject.annotation("kubernetes.io/config.mirror").is_some() {
        return Some(Skip::new(
            SkipReason::MirrorPod,
            "the mirror of a static pod, which runs already",
        ));
    }
    if subject.workload.check_only && subject.controller.is_some() {
        return Some(Skip::new(SkipReason::OutOfScope, "its owner was judged"));
    }
    system_namespace(&subject.namespace, facts)
}

fn system_namespace(namespace: &str, facts: &Facts) -> Option<Skip> {
    let own = facts.config.own_namespace.as_deref() == Some(namespace);
    let detail = if SYSTEM_NAMESPACES.contains(&namespace) {
        format!("namespace {namespace} is the cluster's own")
    } else if own && !namespace.is_empty() {
        format!("namespace {namespace} is warmgate's own")
    } else {
        return None;
    };
    Some(Skip::new(SkipReason::SystemNamespace, detail))
}
