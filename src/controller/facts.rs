//! The facts file: what the webhook reads of the cluster.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::annotations::{self, Trouble};
use crate::facts::Version;
use crate::rules;

/// The most bytes of the file: the API server takes 1 MiB of a ConfigMap with everything around.
const MOST: usize = 900_000;

/// What a namespace says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Namespace {
    pub(super) name: String,
    /// Whether it has opted in.
    pub(super) labelled: bool,
    /// Its annotations, ours and others'.
    pub(super) annotations: BTreeMap<String, String>,
}

/// The facts file, and what is not in it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct File {
    /// JSON, a namespace a line.
    pub(super) text: String,
    /// The namespaces in it.
    pub(super) namespaces: usize,
    /// The namespaces for which there was no room.
    pub(super) left_out: usize,
    /// What cannot be read, by namespace. It counts as absent.
    pub(super) troubles: Vec<(String, Trouble)>,
}

/// Writes the facts file. Where the room is short, namespaces that have not opted in are left out first.
pub(super) fn write(version: Option<Version>, mut namespaces: Vec<Namespace>) -> File {
    let mut file = File::default();
    namespaces
        .sort_by(|one, other| (!one.labelled, &one.name).cmp(&(!other.labelled, &other.name)));
    let version = version.map(|version| format!("1.{}", version.minor));
    let head = format!(
        "{{\"kubernetesVersion\":{},\"namespaces\":{{",
        json(&version)
    );
    let end = "}}\n";
    let mut room = MOST - head.len() - end.len();
    let mut lines = BTreeMap::new();
    for namespace in &namespaces {
        let (defaults, troubles) = defaults(namespace);
        let name = || namespace.name.clone();
        file.troubles
            .extend(troubles.into_iter().map(|trouble| (name(), trouble)));
        if defaults.is_empty() {
            continue;
        }
        let line = format!("\n{}:{}", json(&namespace.name), json(&defaults));
        // And a comma.
        match room.checked_sub(line.len() + 1) {
            Some(left) => {
                room = left;
                lines.insert(&namespace.name, line);
            }
            None => file.left_out += 1,
        }
    }
    file.namespaces = lines.len();
    let lines: Vec<_> = lines.into_values().collect();
    file.text = format!("{head}{}{end}", lines.join(","));
    file
}

/// The defaults of a namespace that can be read, and what is wrong with the others.
fn defaults(namespace: &Namespace) -> (Map<String, Value>, Vec<Trouble>) {
    let ours = namespace
        .annotations
        .iter()
        .filter(|(key, _)| annotations::is_ours(key))
        .map(|(key, value)| (key.clone(), Value::from(value.as_str())));
    let mut defaults: Map<_, _> = ours.collect();
    let troubles = annotations::read_map(&defaults, rules::ids()).troubles;
    for trouble in &troubles {
        defaults.remove(&trouble.key);
    }
    (defaults, troubles)
}

fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).expect("text and maps of text are JSON")
}

#[cfg(test)]
mod tests {
    use crate::facts::Cluster;

    use super::*;

    fn namespace(name: &str, labelled: bool, annotations: &[(&str, &str)]) -> Namespace {
        let annotations = annotations
            .iter()
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        Namespace {
            name: name.to_owned(),
            labelled,
            annotations: annotations.collect(),
        }
    }

    fn read(file: &File) -> Cluster {
        serde_json::from_str(&file.text).expect("the webhook can read it")
    }

    #[test]
    fn the_webhook_reads_what_is_written() {
        let file = write(
            Some(Version { minor: 37 }),
            vec![
                namespace("b", false, &[("warmgate.io/max-startup-time", "15m")]),
                namespace(
                    "a",
                    true,
                    &[("warmgate.io/drain-time", "2m"), ("team", "\"x\"\n")],
                ),
                namespace("none", true, &[("team", "x")]),
            ],
        );
        let cluster = read(&file);
        assert_eq!(cluster.kubernetes_version, Some(Version { minor: 37 }));
        assert_eq!(cluster.namespaces["a"]["warmgate.io/drain-time"], "2m");
        assert_eq!(cluster.namespaces["a"].len(), 1);
        assert_eq!(
            cluster.namespaces["b"]["warmgate.io/max-startup-time"],
            "15m"
        );
        assert_eq!((cluster.namespaces.len(), file.namespaces), (2, 2));
        assert_eq!((file.left_out, file.troubles.len()), (0, 0));
        assert_eq!(file.text.lines().count(), 3);
    }

    #[test]
    fn nothing_known_is_a_file_as_well() {
        let file = write(None, Vec::new());
        assert_eq!(read(&file), Cluster::default());
    }

    #[test]
    fn what_cannot_be_read_is_told_of_and_counts_as_absent() {
        let file = write(
            None,
            vec![
                namespace(
                    "a",
                    true,
                    &[
                        ("warmgate.io/max-startup-time", "soon"),
                        ("warmgate.io/drain-time", "2m"),
                        ("warmgate.io/max-startup", "15m"),
                        ("allow.warmgate.io/nothing-like-it", "because"),
                    ],
                ),
                namespace("b", true, &[("warmgate.io/skip", "true")]),
            ],
        );
        let cluster = read(&file);
        let keys: Vec<_> = cluster.namespaces["a"].keys().collect();
        assert_eq!(keys, ["warmgate.io/drain-time"]);
        assert!(!cluster.namespaces.contains_key("b"));
        let told: Vec<_> = file
            .troubles
            .iter()
            .map(|(namespace, trouble)| (namespace.as_str(), trouble.key.as_str()))
            .collect();
        assert_eq!(
            told,
            [
                ("a", "allow.warmgate.io/nothing-like-it"),
                ("a", "warmgate.io/max-startup"),
                ("a", "warmgate.io/max-startup-time"),
                ("b", "warmgate.io/skip"),
            ]
        );
    }

    #[test]
    fn where_the_room_is_short_those_who_opted_in_stay() {
        let reason = "x".repeat(100_000);
        let skip = [("warmgate.io/skip", reason.as_str())];
        let mut namespaces: Vec<_> = (0..10)
            .map(|number| namespace(&format!("a{number}"), false, &skip))
            .collect();
        namespaces.push(namespace("z", true, &skip));
        let file = write(Some(Version { minor: 37 }), namespaces);
        assert!(file.text.len() <= MOST, "{}", file.text.len());
        let cluster = read(&file);
        assert_eq!((file.namespaces, file.left_out), (8, 3));
        assert_eq!(cluster.namespaces.len(), 8);
        assert!(cluster.namespaces.contains_key("z"));
    }
}
