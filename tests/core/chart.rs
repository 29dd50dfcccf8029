//! The chart's values: their table, their schema, and that their defaults are those of the core. What the templates make of
//! them is a matter of `tests/cluster`, where Helm is.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};
use warmgate::facts::Config;
use warmgate::knowledge::Knowledge;
use warmgate::manifest::Manifest;

const BEGIN: &str = "<!-- values: made from values.yaml; `WARMGATE_BLESS=1 cargo test --test core chart` writes them anew -->\n";
const END: &str = "<!-- end of values -->\n";

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("charts/warmgate")
        .join(name)
}

fn text(name: &str) -> String {
    fs::read_to_string(file(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn yaml(name: &str) -> Value {
    let read = Manifest::read(name, &text(name));
    assert!(read.errors.is_empty(), "{name}: {:?}", read.errors);
    assert_eq!(read.objects.len(), 1, "{name}");
    read.objects[0].value.clone()
}

fn schema() -> Value {
    serde_json::from_str(&text("values.schema.json")).expect("the schema is JSON")
}

/// A value that has a comment: where it stands, and what is said of it.
struct Documented {
    path: Vec<String>,
    comment: String,
}

/// The values with a comment above them, in the order of the file.
fn documented(values: &str) -> Vec<Documented> {
    let mut found: Vec<Documented> = Vec::new();
    let mut path: Vec<(usize, String)> = Vec::new();
    let mut comment: Vec<&str> = Vec::new();
    for line in values.lines() {
        let inner = line.trim_start();
        if let Some(words) = inner.strip_prefix('#') {
            comment.push(words.trim());
            continue;
        }
        if let Some((key, _)) = inner.split_once(':') {
            let depth = line.len() - inner.len();
            path.retain(|(above, _)| *above < depth);
            path.push((depth, key.to_owned()));
            if !comment.is_empty() {
                found.push(Documented {
                    path: path.iter().map(|(_, key)| key.clone()).collect(),
                    comment: comment.join(" "),
                });
            }
        }
        comment.clear();
    }
    found
}

fn at<'a>(values: &'a Value, path: &[String]) -> &'a Value {
    path.iter().fold(values, |value, key| &value[key])
}

/// The rows of the table.
fn table(values: &str, defaults: &Value) -> String {
    let mut table = "| value | default | |\n| --- | --- | --- |\n".to_owned();
    for Documented { path, comment } in documented(values) {
        let default = at(defaults, &path);
        let path = path.join(".");
        writeln!(table, "| `{path}` | `{default}` | {comment} |")
            .expect("a String takes every write");
    }
    table
}

#[test]
fn the_table_of_values_is_made_from_their_comments() {
    let wanted = table(&text("values.yaml"), &yaml("values.yaml"));
    let page = text("README.md");
    let (before, rest) = page
        .split_once(BEGIN)
        .expect("the page has a place for them");
    let (found, after) = rest.split_once(END).expect("that place has an end");
    if std::env::var_os("WARMGATE_BLESS").is_some_and(|value| value == "1") {
        let page = [before, BEGIN, &wanted, END, after].concat();
        fs::write(file("README.md"), page).expect("the page can be written");
    } else {
        assert_eq!(found, wanted, "WARMGATE_BLESS=1 writes it anew");
    }
}

/// The schema that a schema refers to, or itself.
fn resolved<'a>(root: &'a Value, schema: &'a Value) -> &'a Value {
    match schema["$ref"].as_str() {
        Some(reference) => root
            .pointer(reference.trim_start_matches('#'))
            .unwrap_or_else(|| panic!("nothing is at {reference}")),
        None => schema,
    }
}

/// Holds the values at a path against their schema, down to those that have a comment.
fn agree(root: &Value, schema: &Value, values: &Value, path: &[String], said: &[Documented]) {
    if said.iter().any(|one| one.path == path) {
        return;
    }
    let members = values.as_object().filter(|members| !members.is_empty());
    let members = members.unwrap_or_else(|| panic!("{} has no comment", path.join(".")));
    let schema = resolved(root, schema);
    let known = schema["properties"].as_object().into_iter().flatten();
    let known: BTreeSet<_> = known.map(|(key, _)| key.as_str()).collect();
    let mut keys: BTreeSet<_> = members.keys().map(String::as_str).collect();
    if path.is_empty() {
        // What Helm hands to every chart of a release.
        keys.insert("global");
    }
    assert_eq!(keys, known, "values.yaml and its schema at {path:?}");
    for (key, value) in members {
        let path = [path, std::slice::from_ref(key)].concat();
        agree(root, &schema["properties"][key], value, &path, said);
    }
}

#[test]
fn every_value_has_a_comment_and_a_schema() {
    let (schema, said) = (schema(), documented(&text("values.yaml")));
    agree(&schema, &schema, &yaml("values.yaml"), &[], &said);
}

#[test]
fn the_schema_is_closed() {
    fn look(schema: &Value, path: &str) {
        let Value::Object(members) = schema else {
            if let Value::Array(items) = schema {
                for (index, item) in items.iter().enumerate() {
                    look(item, &format!("{path}/{index}"));
                }
            }
            return;
        };
        if schema["type"] == "object" && !path.ends_with("/properties") {
            let others = &schema["additionalProperties"];
            let closed = others == false || others.is_object();
            // Helm hands it in.
            assert!(
                closed || path == "/properties/global",
                "{path} takes anything"
            );
        }
        for (key, member) in members {
            look(member, &format!("{path}/{key}"));
        }
    }
    look(&schema(), "");
}

/// What of `knowledge` is not the chart's: the API server is told of kinds when the chart is made.
const KINDS: [&str; 2] = ["podless", "workloads"];

/// Where the rows of `knowledge` have members with names: the place, `[]` being an element of a list, and the names.
fn rows<'s>(
    root: &'s Value,
    schema: &'s Value,
    place: &[&'s str],
    into: &mut Vec<(Vec<&'s str>, BTreeSet<&'s str>)>,
) {
    let schema = resolved(root, schema);
    if let Some(properties) = schema["properties"].as_object() {
        into.push((
            place.to_vec(),
            properties.keys().map(String::as_str).collect(),
        ));
        for (key, member) in properties {
            rows(root, member, &[place, &[key]].concat(), into);
        }
    } else if !schema["items"].is_null() {
        rows(root, &schema["items"], &[place, &["[]"]].concat(), into);
    }
}

#[test]
fn rows_of_knowledge_have_the_members_that_the_core_reads() {
    let schema = schema();
    let mut places = Vec::new();
    rows(
        &schema,
        &schema["properties"]["knowledge"],
        &[],
        &mut places,
    );
    assert!(places.len() > 20, "{places:?}");
    for (place, members) in places {
        let unknown = if place.is_empty() {
            json!([])
        } else {
            json!(1)
        };
        let value = place
            .iter()
            .rev()
            .fold(json!({"notAMember": unknown}), |inner, step| {
                if *step == "[]" {
                    json!([inner])
                } else {
                    json!({ (*step): inner })
                }
            });
        let refusal = Knowledge::builtin().with(&value).expect_err("it is none");
        let refusal = refusal.to_string();
        // The lists are named in words, members in quotes.
        let read: BTreeSet<&str> = match refusal.split_once(" use ") {
            Some((_, lists)) => lists
                .split(", ")
                .filter(|list| !KINDS.contains(list))
                .collect(),
            None => refusal.split('`').skip(3).step_by(2).collect(),
        };
        assert_eq!(members, read, "{place:?}: {refusal}");
    }
}

/// A value that a schema takes, with every member there is.
fn example(root: &Value, schema: &Value) -> Value {
    let schema = resolved(root, schema);
    if let Some(choices) = schema["enum"].as_array() {
        return choices[0].clone();
    }
    match schema["type"].as_str() {
        Some("object") => {
            let members = schema["properties"].as_object().into_iter().flatten();
            members
                .map(|(key, member)| (key.clone(), example(root, member)))
                .collect()
        }
        Some("array") => json!([example(root, &schema["items"])]),
        Some("boolean") => json!(true),
        Some("integer") => schema.get("minimum").cloned().unwrap_or(json!(1)),
        Some("string") => {
            let slash = schema["pattern"]
                .as_str()
                .is_some_and(|pattern| pattern.contains("]+/["));
            json!(if slash {
                "example.com/a"
            } else {
                "example.com"
            })
        }
        other => panic!("{other:?}: {schema}"),
    }
}

#[test]
fn knowledge_that_the_schema_takes_is_read() {
    let schema = schema();
    let example = example(&schema, &schema["properties"]["knowledge"]);
    let knowledge = Knowledge::builtin().with(&example);
    let knowledge = knowledge.unwrap_or_else(|error| panic!("{error}"));
    let known = knowledge.presets().iter().map(|preset| preset.id());
    assert!(known.collect::<Vec<_>>().contains(&"example.com"));
}

#[test]
fn the_defaults_are_those_of_the_core() {
    let values = yaml("values.yaml");
    let members = ["edits", "defaults", "limits", "overrides"];
    let config: Map<_, _> = members
        .map(|key| (key.to_owned(), values[key].clone()))
        .into_iter()
        .collect();
    let config: Config =
        serde_json::from_value(Value::Object(config)).expect("the core reads them");
    assert_eq!(config, Config::default());
}

#[test]
fn the_chart_has_the_version_of_the_package() {
    let chart = yaml("Chart.yaml");
    for key in ["version", "appVersion"] {
        assert_eq!(chart[key], env!("CARGO_PKG_VERSION"), "{key}");
    }
}
