//! Which containers of a template ask for an accelerator, and by which field.

use serde_json::Value;

use super::{ClaimUse, PodTemplate, raw};
use crate::facts::{DeviceRequest, Facts};
use crate::knowledge::DeviceClass;
use crate::words::FieldPath;

/// The accelerators of a pod template.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Accelerators {
    /// The names of the containers that ask for one, each with what it asks for (`nvidia.com/gpu`, a device class, an
    /// annotation).
    pub holders: Vec<(String, String)>,
    /// Device claims whose class is not known: where the claim stands, its name, and the class if there is one.
    pub unresolved: Vec<(FieldPath, String, Option<String>)>,
}

impl Accelerators {
    /// Whether the container asks for one.
    pub fn holds(&self, container: &str) -> bool {
        self.holders.iter().any(|(name, _)| name == container)
    }
}

/// Finds the accelerators of a template: extended resources above zero, fractions by annotation, and device claims as far
/// as the facts resolve them.
pub fn accelerators(template: &PodTemplate<'_>, namespace: &str, facts: &Facts) -> Accelerators {
    let mut found = Accelerators::default();
    for container in &template.containers {
        if let Some(key) = container
            .resources
            .iter()
            .find(|key| facts.knowledge.accelerator(key))
        {
            found.holders.push((container.name.clone(), key.clone()));
        }
    }
    by_annotation(template, facts, &mut found);
    by_claim(template, namespace, facts, &mut found);
    found
}

/// Schedulers that share one device by an annotation (KAI, Run:ai) leave the resource list empty.
fn by_annotation(template: &PodTemplate<'_>, facts: &Facts, found: &mut Accelerators) {
    let keys = facts.knowledge.fraction_annotations();
    let Some(key) = keys
        .iter()
        .find(|key| template.annotation(key).is_some_and(is_more_than_nothing))
    else {
        return;
    };
    let named = facts
        .knowledge
        .fraction_container_annotations()
        .iter()
        .find_map(|key| template.annotation(key));
    let holder = named.and_then(|name| template.container(name));
    let first = template
        .containers
        .iter()
        .find(|container| container.place == super::Place::Regular);
    if let Some(container) = holder.or(first)
        && !found.holds(&container.name)
    {
        found
            .holders
            .push((container.name.clone(), format!("annotation {key}")));
    }
}

fn is_more_than_nothing(value: &str) -> bool {
    super::quantity::is_positive(&Value::String(value.to_owned()))
}

fn by_claim(template: &PodTemplate<'_>, namespace: &str, facts: &Facts, found: &mut Accelerators) {
    let claims = raw::items(template.spec, "resourceClaims");
    for (index, claim) in claims.iter().enumerate() {
        let Some(name) = raw::text(claim, "name") else {
            continue;
        };
        let requests = requests_of(claim, namespace, facts);
        let mut unresolved = None;
        for container in &template.containers {
            for used in container.claims.iter().filter(|used| used.claim == name) {
                match class_of(used, requests, facts) {
                    (DeviceClass::Accelerator, class) if !found.holds(&container.name) => {
                        let by = format!("device class {}", class.unwrap_or_default());
                        found.holders.push((container.name.clone(), by));
                    }
                    (DeviceClass::Unknown, class) => unresolved = Some(class),
                    _ => {}
                }
            }
        }
        if let Some(class) = unresolved {
            let path = template.spec_path().key("resourceClaims").index(index);
            found.unresolved.push((path, name.to_owned(), class));
        }
    }
}

/// What a container gets by a claim: an accelerator if any of the requests that it uses is one; unknown if one of them is.
fn class_of(
    used: &ClaimUse,
    requests: Option<&Vec<DeviceRequest>>,
    facts: &Facts,
) -> (DeviceClass, Option<String>) {
    let Some(requests) = requests else {
        return (DeviceClass::Unknown, None);
    };
    let wanted = used
        .request
        .as_deref()
        .map(|request| request.split('/').next().unwrap_or(request));
    let mut unknown = None;
    for request in requests
        .iter()
        .filter(|request| wanted.is_none_or(|wanted| request.name == wanted))
    {
        if request.admin_access {
            continue;
        }
        for class in &request.classes {
            match facts.knowledge.device_class(class) {
                DeviceClass::Accelerator => return (DeviceClass::Accelerator, Some(class.clone())),
                DeviceClass::Unknown => unknown = unknown.or(Some(class.clone())),
                DeviceClass::Other => {}
            }
        }
    }
    let class = if unknown.is_some() {
        DeviceClass::Unknown
    } else {
        DeviceClass::Other
    };
    (class, unknown)
}

/// The requests of a pod's claim, where the claim or its template is known.
fn requests_of<'f>(
    claim: &Value,
    namespace: &str,
    facts: &'f Facts,
) -> Option<&'f Vec<DeviceRequest>> {
    let known = &facts.cluster.claims;
    let by_name = raw::text(claim, "resourceClaimName");
    let by_template = raw::text(claim, "resourceClaimTemplateName");
    let (table, name) = match (by_name, by_template) {
        (Some(name), _) => (&known.claims, name),
        (None, Some(name)) => (&known.templates, name),
        (None, None) => return None,
    };
    table.get(&format!("{namespace}/{name}"))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;
    use crate::facts::{Cluster, Mode, Origin, collect};
    use crate::knowledge::Knowledge;
    use crate::subject::Subject;

    fn of(spec: Value, beside: &[Value]) -> Accelerators {
        let (cluster, _): (Cluster, _) = collect(beside.iter(), "ns");
        let facts = Facts {
            cluster: Arc::new(cluster),
            ..Facts::new(Mode::Enforce, Origin::File)
        };
        let pod =
            json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": spec});
        let subject = Subject::read(&pod, "ns", &facts.knowledge).unwrap();
        accelerators(&subject.templates[0], "ns", &facts)
    }

    fn template(requests: Value) -> Value {
        json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate", "metadata": {"name": "t"},
            "spec": {"spec": {"devices": {"requests": requests}}}})
    }

    fn pod(uses: [Value; 2]) -> Value {
        let [engine, helper] = uses;
        json!({
            "resourceClaims": [{"name": "c", "resourceClaimTemplateName": "t"}],
            "containers": [
                {"name": "engine", "image": "a", "resources": {"claims": [engine]}},
                {"name": "helper", "image": "b", "resources": {"claims": [helper]}}
            ]
        })
    }

    #[test]
    fn the_request_that_a_container_uses_decides() {
        let claim = template(json!([
            {"name": "gpu", "exactly": {"deviceClassName": "gpu.nvidia.com"}},
            {"name": "look", "exactly": {"deviceClassName": "gpu.nvidia.com", "adminAccess": true}}
        ]));
        let uses = [
            json!({"name": "c", "request": "gpu"}),
            json!({"name": "c", "request": "look"}),
        ];
        let found = of(pod(uses), &[claim]);
        assert_eq!(
            found.holders,
            [(
                "engine".to_owned(),
                "device class gpu.nvidia.com".to_owned()
            )]
        );
        assert_eq!(found.unresolved, []);
    }

    #[test]
    fn what_nobody_knows_is_unresolved() {
        let uses = [json!({"name": "c"}), json!({"name": "other"})];
        let found = of(pod(uses.clone()), &[]);
        assert_eq!(found.unresolved.len(), 1, "no template");
        let strange =
            template(json!([{"name": "x", "exactly": {"deviceClassName": "made.up.example"}}]));
        let found = of(pod(uses), &[strange]);
        assert_eq!(found.unresolved[0].2.as_deref(), Some("made.up.example"));
        assert_eq!(found.holders, []);
    }

    #[test]
    fn fractions_are_asked_for_by_annotation() {
        let facts = Facts::new(Mode::Enforce, Origin::File);
        let object = json!({"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": "p", "annotations": {"gpu-fraction": "0.5", "gpu-fraction-container-name": "b"}},
            "spec": {"containers": [{"name": "a", "image": "a"}, {"name": "b", "image": "b"}]}});
        let subject = Subject::read(&object, "", &facts.knowledge).unwrap();
        let found = accelerators(&subject.templates[0], "", &facts);
        assert_eq!(
            found.holders,
            [("b".to_owned(), "annotation gpu-fraction".to_owned())]
        );
    }
    #[test]
    fn rows_of_a_config_ask_for_fractions_too() {
        let more = json!({
            "fractions": [{"annotations": ["example.com/share"], "source": "ours"}],
            "fractionContainers": [{"annotations": ["example.com/holder"], "source": "ours"}],
        });
        let knowledge = Knowledge::builtin().with(&more).expect("the format");
        let facts = Facts {
            knowledge: Arc::new(knowledge),
            ..Facts::new(Mode::Enforce, Origin::File)
        };
        let object = json!({"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": "p", "annotations": {"example.com/share": "0.5", "example.com/holder": "b"}},
            "spec": {"containers": [{"name": "a", "image": "a"}, {"name": "b", "image": "b"}]}});
        let subject = Subject::read(&object, "", &facts.knowledge).unwrap();
        let found = accelerators(&subject.templates[0], "", &facts);
        let holder = ("b".to_owned(), "annotation example.com/share".to_owned());
        assert_eq!(found.holders, [holder]);
    }
}
