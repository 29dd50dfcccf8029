//! The blocks of a rule's page, and what `admit` says of them.
//!
//! ` ```yaml fails ` must yield the rule, ` ```yaml passes ` must not. What else is known stands in blocks before them:
//! ` ```yaml facts ` and ` ```yaml config ` (the files that `--facts` and `--config` read) hold for the rest of the page,
//! ` ```yaml old ` (the object before an update) for the next block. The objects of one block stand beside each other, as in
//! one input of `check`. A block may be given arguments: `args="--kubernetes-version 1.29 --mode fix --origin admission"`.

use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde_json::Value;
use warmgate::admit::{Decision, Outcome, admit};
use warmgate::facts::{self, Cluster, Config, Facts, Mode, Origin, Version};
use warmgate::manifest::Manifest;
use warmgate::review::{Kind, Operation, Request};
use warmgate::words::{Finding, split_words};

/// Where objects stand that say no namespace.
const NAMESPACE: &str = "default";

/// One block that is judged.
pub(super) struct Block {
    /// Whether it must yield the rule.
    pub(super) fails: bool,
    /// The page and the line of its fence, for messages of the tests.
    pub(super) place: String,
    objects: Vec<Value>,
    old: Option<Value>,
    facts: Facts,
}

impl Block {
    /// What `admit` says of its objects.
    pub(super) fn decisions(&self) -> Vec<Decision> {
        self.decisions_of(&self.objects)
    }

    /// All findings of its objects.
    pub(super) fn findings(&self) -> Vec<Finding> {
        of(self.decisions())
    }

    /// All findings once each object carries an annotation more.
    pub(super) fn findings_with(&self, key: &str, value: &str) -> Vec<Finding> {
        let mut objects = self.objects.clone();
        for object in &mut objects {
            object["metadata"]["annotations"][key] = value.into();
        }
        of(self.decisions_of(&objects))
    }

    fn decisions_of(&self, objects: &[Value]) -> Vec<Decision> {
        let judged = objects.iter().map(|object| {
            let request = request(object.clone(), self.old.clone());
            admit(&request, &self.facts)
        });
        judged.collect()
    }
}

fn of(decisions: Vec<Decision>) -> Vec<Finding> {
    decisions
        .into_iter()
        .flat_map(|decision| decision.findings)
        .collect()
}

/// Whether a kind was judged or left alone for a reason: not one of a kind that nobody knows.
pub(super) fn is_known(decision: &Decision) -> bool {
    !matches!(&decision.outcome, Outcome::NotChecked(why) if !why.ends_with("holds no pods"))
}

fn request(object: Value, old: Option<Value>) -> Request {
    let text = |pointer: &str| {
        let value = object.pointer(pointer).and_then(Value::as_str);
        value.unwrap_or_default().to_owned()
    };
    let version = text("/apiVersion");
    let (group, version) = version.split_once('/').unwrap_or(("", &version));
    let namespace = text("/metadata/namespace");
    Request {
        kind: Kind {
            group: group.to_owned(),
            version: version.to_owned(),
            kind: text("/kind"),
        },
        name: text("/metadata/name"),
        namespace: if namespace.is_empty() {
            NAMESPACE.to_owned()
        } else {
            namespace
        },
        operation: if old.is_some() {
            Operation::Update
        } else {
            Operation::Create
        },
        old_object: old,
        object: Some(object),
        ..Request::default()
    }
}

/// The objects of a text, each with the facts that the others are.
pub(super) fn objects(place: &str, text: &str) -> Vec<Value> {
    let manifest = Manifest::read(place, text);
    assert!(manifest.errors.is_empty(), "{place}: {:?}", manifest.errors);
    assert!(!manifest.objects.is_empty(), "{place}: holds no object");
    let values = manifest.objects.into_iter().map(|object| object.value);
    values.collect()
}

/// What is said of the objects of one file, judged as `check` does, or as the API server's question where it is one.
pub(super) fn findings_of_file(place: &str, text: &str) -> Vec<Finding> {
    let judged = decisions_of_file(place, text);
    of(judged.into_iter().map(|(_, decision)| decision).collect())
}

/// The objects of one file, each with what [`findings_of_file`] goes by.
pub(super) fn decisions_of_file(place: &str, text: &str) -> Vec<(Value, Decision)> {
    let objects = objects(place, text);
    let mut facts = Facts::new(Mode::Enforce, Origin::File);
    beside(&mut facts, Cluster::default(), &objects);
    let judge = |object: &Value| {
        if object["kind"] == "AdmissionReview" {
            let facts = Facts::new(Mode::Enforce, Origin::Admission);
            admit(&Request::from_value(object).expect("a review"), &facts)
        } else {
            admit(&request(object.clone(), None), &facts)
        }
    };
    let judged = objects.into_iter().map(|object| {
        let decision = judge(&object);
        (object, decision)
    });
    judged.collect()
}

/// Adds what the objects of one input say of each other.
fn beside(facts: &mut Facts, mut cluster: Cluster, objects: &[Value]) {
    let (more, neighbours) = facts::collect(objects.iter(), NAMESPACE);
    cluster.extend(more);
    facts.cluster = Arc::new(cluster);
    facts.neighbours = Some(Arc::new(neighbours));
}

/// What a page has said so far of the cluster and its operator.
#[derive(Default)]
struct Context {
    cluster: Cluster,
    config: Config,
    old: Option<Value>,
}

/// The blocks of a page that are judged.
pub(super) fn blocks(id: &str, page: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut context = Context::default();
    let mut lines = page.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        let Some(info) = line.strip_prefix("```") else {
            continue;
        };
        let place = format!("docs/rules/{id}.md:{}", number + 1);
        let text: Vec<&str> = lines
            .by_ref()
            .map(|(_, line)| line)
            .take_while(|line| *line != "```")
            .collect();
        let words = split_words(info).expect("an info string");
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        blocks.extend(block(&place, &words, &text.join("\n"), &mut context));
    }
    blocks
}

fn block(place: &str, info: &[&str], text: &str, context: &mut Context) -> Option<Block> {
    let (fails, args) = match info {
        ["yaml", "facts"] => {
            context.cluster = read(place, text);
            return None;
        }
        ["yaml", "config"] => {
            context.config = read(place, text);
            return None;
        }
        ["yaml", "old"] => {
            context.old = objects(place, text).pop();
            return None;
        }
        ["yaml", "fails", args @ ..] => (true, args),
        ["yaml", "passes", args @ ..] => (false, args),
        ["yaml", other, ..] => panic!("{place}: nothing is called `yaml {other}`"),
        _ => return None,
    };
    let objects = objects(place, text);
    let mut facts = Facts::new(Mode::Enforce, Origin::File);
    facts.knowledge = context.config.knowledge().expect("knowledge of a config");
    facts.config = Arc::new(context.config.clone());
    beside(&mut facts, context.cluster.clone(), &objects);
    for arg in args {
        let line = arg.strip_prefix("args=").expect("args=\"...\"");
        set(&mut facts, place, line);
    }
    Some(Block {
        fails,
        place: place.to_owned(),
        objects,
        old: context.old.take(),
        facts,
    })
}

/// The one document of a facts or config block.
fn read<T: DeserializeOwned>(place: &str, text: &str) -> T {
    let value = objects(place, text).remove(0);
    serde_json::from_value(value).unwrap_or_else(|error| panic!("{place}: {error}"))
}

/// Sets what arguments of the command line set.
fn set(facts: &mut Facts, place: &str, line: &str) {
    let words: Vec<&str> = line.split_whitespace().collect();
    for pair in words.chunks(2) {
        match pair {
            ["--kubernetes-version", version] => {
                facts.kubernetes = Version::parse(version).expect("a version");
            }
            ["--mode", mode] => facts.mode = Mode::parse(mode).expect("a mode"),
            ["--origin", "admission"] => {
                facts.origin = Origin::Admission;
                facts.neighbours = None;
            }
            other => panic!("{place}: nothing is called {other:?}"),
        }
    }
}
