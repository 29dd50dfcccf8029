//! What the place of a pod in a group, on a node pool or in a mesh forbids.

use serde_json::Value;

use super::TemplateIntent;
use crate::knowledge::{Group, Part};
use crate::subject::Subject;

/// The label that every pod of a LeaderWorkerSet carries.
const LWS_NAME: &str = "leaderworkerset.sigs.k8s.io/name";
const WORKER_INDEX: &str = "leaderworkerset.sigs.k8s.io/worker-index";

/// Node labels that tell spot capacity, with the value that means it. Their taints have the same keys.
const SPOT: [(&str, &str); 5] = [
    ("cloud.google.com/gke-preemptible", "true"),
    ("cloud.google.com/gke-spot", "true"),
    ("eks.amazonaws.com/capacityType", "SPOT"),
    ("karpenter.sh/capacity-type", "spot"),
    ("kubernetes.azure.com/scalesetpriority", "spot"),
];

/// Fills in why probes may not be injected or nothing may be edited.
pub(super) fn decide(subject: &Subject<'_>, intent: &mut TemplateIntent<'_>) {
    let template = intent.template;
    let stateful = subject.workload.kind == "StatefulSet";
    let in_lws = template.label(LWS_NAME).is_some() && subject.is_pod();
    let leader_pod = in_lws && template.label(WORKER_INDEX) == Some("0");
    let group = group(intent);
    if subject.workload.kind == "LeaderWorkerSet" {
        let leader_ready = subject
            .object
            .pointer("/spec/startupPolicy")
            .and_then(Value::as_str)
            == Some("LeaderReady");
        if template.part == Part::Worker
            && !subject.templates.iter().any(|one| one.part == Part::Leader)
        {
            intent.hands_off = Some(
                "leader and workers are made from the same template: the leader's pod is mended"
                    .to_owned(),
            );
        }
        if leader_ready {
            intent.ready_gate = Some(
                "startupPolicy LeaderReady: the workers are made once the leader is Ready"
                    .to_owned(),
            );
        }
    } else if let Group::Member(why) | Group::Spread(why) = &group
        && !in_lws
        // One that only spreads has its devices in its own pod, unless pods have names by which they find each other.
        && (matches!(group, Group::Member(_)) || stateful || subject.owned_by(&["StatefulSet"]))
    {
        intent.ready_gate = Some(together(why));
    }
    if let Group::RankAtRunTime(why) = &group
        && !leader_pod
    {
        intent.hands_off = Some(format!("{why}: the rank is known only at run time"));
        // A LeaderWorkerSet makes its pods without waiting for Ready, unless it says so.
        if subject.workload.kind != "LeaderWorkerSet" && !in_lws {
            intent.ready_gate = Some(together(why));
        }
    }
    if template.label("ray.io/node-type") == Some("head") {
        if subject.owned_by(&["RayCluster"]) {
            intent.hands_off =
                Some("label ray.io/node-type: its operator sets the probes".to_owned());
        }
        intent.ready_gate = Some(
            "label ray.io/node-type: head: Serve is started once the head is Ready".to_owned(),
        );
    }
    if in_lws {
        let why = "a pod of a LeaderWorkerSet: its peers may wait for Ready".to_owned();
        intent.no_copy = Some(why.clone());
        intent.no_preset = Some(why);
    } else if subject.is_pod() && subject.owned_by(&["StatefulSet"]) {
        intent.no_preset =
            Some("a pod of a StatefulSet: a wrong guess would stop the set".to_owned());
    } else if stateful && is_ordered(subject) {
        intent.no_preset =
            Some("an OrderedReady StatefulSet: a wrong guess could not be undone".to_owned());
    }
}

fn together(why: &str) -> String {
    format!("{why}: the server is ready only together with its peers")
}

/// Whether a StatefulSet waits for each pod to be Ready before the next is made.
fn is_ordered(subject: &Subject<'_>) -> bool {
    let policy = subject
        .object
        .pointer("/spec/podManagementPolicy")
        .and_then(Value::as_str);
    policy.is_none_or(|policy| policy == "OrderedReady")
}

/// What the serving containers say of the group that they belong to.
fn group(intent: &TemplateIntent<'_>) -> Group {
    let groups = intent
        .serving()
        .filter_map(|container| container.server())
        .map(|server| server.group.clone());
    groups
        .reduce(|one, other| {
            if matches!(one, Group::Alone) {
                other
            } else {
                one
            }
        })
        .unwrap_or(Group::Alone)
}

/// What says that the pods run on spot capacity and nothing else: a node selector, a required affinity with spot as the
/// only value, or a toleration of its taint, unless another of them asks for something else.
pub(super) fn spot(spec: &Value) -> Option<String> {
    let mut said = None;
    for (key, value) in SPOT {
        if let Some(selected) = spec
            .get("nodeSelector")
            .and_then(|selector| selector.get(key))
        {
            if selected.as_str() != Some(value) {
                return None;
            }
            said = said.or_else(|| Some(format!("nodeSelector {key}: {value}")));
        }
        match affinity(spec, key, value) {
            Some(false) => return None,
            Some(true) => said = said.or_else(|| Some(format!("node affinity {key}: {value}"))),
            None => {}
        }
        if tolerates(spec, key, value) {
            said = said.or_else(|| Some(format!("toleration {key}: {value}")));
        }
    }
    said
}

/// Whether the required node affinity admits only nodes with the value, or says anything else of the key.
fn affinity(spec: &Value, key: &str, value: &str) -> Option<bool> {
    let terms = spec.pointer(
        "/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms",
    )?;
    let terms = terms.as_array()?;
    let says = |term: &Value| -> Option<bool> {
        let expressions = term.get("matchExpressions")?.as_array()?;
        let of_key = expressions
            .iter()
            .find(|one| one.get("key").and_then(Value::as_str) == Some(key))?;
        let values = of_key
            .get("values")
            .and_then(Value::as_array)
            .map_or(&[][..], Vec::as_slice);
        let is_in = of_key.get("operator").and_then(Value::as_str) == Some("In");
        Some(is_in && !values.is_empty() && values.iter().all(|one| one.as_str() == Some(value)))
    };
    let said: Vec<Option<bool>> = terms.iter().map(says).collect();
    if said.iter().all(Option::is_none) {
        return None;
    }
    Some(said.iter().all(|one| *one == Some(true)))
}

fn tolerates(spec: &Value, key: &str, value: &str) -> bool {
    let tolerations = spec
        .get("tolerations")
        .and_then(Value::as_array)
        .map_or(&[][..], Vec::as_slice);
    tolerations.iter().any(|toleration| {
        let text = |member: &str| toleration.get(member).and_then(Value::as_str);
        text("key") == Some(key)
            && (text("operator") == Some("Exists") || text("value") == Some(value))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn spot_and_nothing_else() {
        let affinity = |values: Value| {
            json!({"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
                {"matchExpressions": [{"key": "karpenter.sh/capacity-type", "operator": "In", "values": values}]}
            ]}}}})
        };
        for spec in [
            json!({"nodeSelector": {"cloud.google.com/gke-spot": "true"}}),
            json!({"nodeSelector": {"eks.amazonaws.com/capacityType": "SPOT"}}),
            affinity(json!(["spot"])),
            json!({"tolerations": [{"key": "kubernetes.azure.com/scalesetpriority", "operator": "Equal", "value": "spot"}]}),
            json!({"tolerations": [{"key": "cloud.google.com/gke-spot", "operator": "Exists"}]}),
        ] {
            assert!(spot(&spec).is_some(), "{spec}");
        }
        for spec in [
            json!({}),
            json!({"nodeSelector": {"karpenter.sh/capacity-type": "on-demand"}}),
            affinity(json!(["spot", "on-demand"])),
            affinity(json!(["on-demand"])),
            json!({"tolerations": [{"operator": "Exists"}]}),
            json!({
                "nodeSelector": {"karpenter.sh/capacity-type": "on-demand"},
                "tolerations": [{"key": "karpenter.sh/capacity-type", "operator": "Exists"}]
            }),
        ] {
            assert_eq!(spot(&spec), None, "{spec}");
        }
    }
}
