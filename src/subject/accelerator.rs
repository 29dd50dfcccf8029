//! Which containers of a template ask for an accelerator, and by which field.

use serde_json::Value;

use super::{PodTemplate, raw};
use crate::facts::Facts;
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
    let named = template.annotation("gpu-fraction-container-name");
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
    for (index, claim) in raw::items(template.spec, "resourceClaims")
        .iter()
        .enumerate()
    {
        let Some(name) = raw::text(claim, "name") else {
            continue;
        };
        let users: Vec<&str> = template
            .containers
            .iter()
            .filter(|container| container.claims.iter().any(|used| used == name))
            .map(|container| container.name.as_str())
            .collect();
        if users.is_empty() {
            continue;
        }
        let classes = classes_of(claim, namespace, facts);
        let known: Vec<(DeviceClass, &String)> = classes
            .iter()
            .flat_map(|classes| classes.iter())
            .map(|class| (facts.knowledge.device_class(class), class))
            .collect();
        if let Some((_, class)) = known
            .iter()
            .find(|(class, _)| *class == DeviceClass::Accelerator)
        {
            for user in users
                .into_iter()
                .filter(|user| !found.holds(user))
                .collect::<Vec<_>>()
            {
                found
                    .holders
                    .push((user.to_owned(), format!("device class {class}")));
            }
        } else if known.is_empty()
            || known
                .iter()
                .any(|(class, _)| *class == DeviceClass::Unknown)
        {
            let path = template.spec_path().key("resourceClaims").index(index);
            let class = known
                .iter()
                .find(|(class, _)| *class == DeviceClass::Unknown)
                .map(|(_, class)| (*class).clone());
            found.unresolved.push((path, name.to_owned(), class));
        }
    }
}

/// The device classes that a pod's claim asks for, where its claim or template is known.
fn classes_of<'f>(claim: &Value, namespace: &str, facts: &'f Facts) -> Option<&'f Vec<String>> {
    let known = &facts.cluster.claims;
    let (table, name) = match (
        raw::text(claim, "resourceClaimName"),
        raw::text(claim, "resourceClaimTemplateName"),
    ) {
        (Some(name), _) => (&known.claims, name),
        (None, Some(name)) => (&known.templates, name),
        (None, None) => return None,
    };
    table.get(&format!("{namespace}/{name}"))
}
