//! The Kubernetes objects that documents hold.

use serde_json::Value;

use crate::words::{FieldPath, Segment, type_of};

use super::build::Document;
use super::error::Fault;
use super::lines::Lines;
use super::tree::{Id, Tree};

/// One Kubernetes object.
#[derive(Clone, Debug, PartialEq)]
pub struct Object {
    /// The number of its YAML document in the stream, from 0; empty documents count. The objects of a List share it.
    pub document: usize,
    /// Its index in the List it stands in, the innermost one where Lists are nested.
    pub item: Option<usize>,
    /// The line it begins on, from 1.
    pub line: usize,
    /// The column it begins at, in characters from 1.
    pub column: usize,
    /// Its content, with aliases and merges resolved. An item of a typed list (`DeploymentList`) that does not say its
    /// apiVersion and kind has those that the list implies, as the API's clients read it.
    pub value: Value,
    /// Where it stands in its document.
    pub base: FieldPath,
    /// Whether apiVersion and kind come from the list and are not written in the object.
    pub(super) implied: bool,
}

/// Takes the objects out of the documents.
pub(super) struct Unroll<'a> {
    pub(super) text: &'a str,
    pub(super) lines: &'a Lines,
    pub(super) tree: &'a Tree,
    pub(super) objects: Vec<Object>,
    pub(super) faults: Vec<Fault>,
}

impl Unroll<'_> {
    /// Takes the objects out of one document; where one was, null stays behind.
    pub(super) fn document(&mut self, document: &mut Document) {
        let (number, root) = (document.number, document.root);
        if !document.value.is_null() {
            self.object(number, root, &mut document.value, FieldPath::root(), None);
        }
    }

    fn object(
        &mut self,
        document: usize,
        node: Id,
        value: &mut Value,
        base: FieldPath,
        implied: Option<(&str, &str)>,
    ) {
        let offset = self.tree.node(node).start();
        let Value::Object(members) = value else {
            let message = format!("expected an object, found {}", type_of(value));
            self.faults.push(Fault::new(offset, message));
            return;
        };
        let is_implied = !members.contains_key("kind") && implied.is_some();
        if let (true, Some((version, kind))) = (is_implied, implied) {
            members.insert("apiVersion".to_owned(), version.into());
            members.insert("kind".to_owned(), kind.into());
        }
        if is_list(value) {
            self.items(document, node, value, &base);
            return;
        }
        let (line, column) = self.lines.position(self.text, offset);
        self.objects.push(Object {
            document,
            item: match base.segments().last() {
                Some(Segment::Index(index)) => Some(*index),
                _ => None,
            },
            line,
            column,
            value: value.take(),
            base,
            implied: is_implied,
        });
    }

    fn items(&mut self, document: usize, list: Id, value: &mut Value, base: &FieldPath) {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let (version, kind) = (text(&value["apiVersion"]), text(&value["kind"]));
        let implied = kind
            .strip_suffix("List")
            .filter(|kind| !kind.is_empty())
            .map(|kind| (version.as_str(), kind));
        let segment = Segment::Key("items".to_owned());
        let Some((_, items)) = self.tree.step(self.text, list, &segment) else {
            return;
        };
        let base = base.key("items");
        let nodes: Vec<Id> = self.tree.children(self.tree.target(items)).collect();
        let values = value["items"].as_array_mut().into_iter().flatten();
        for (index, (node, value)) in nodes.into_iter().zip(values).enumerate() {
            let node = self.tree.target(node);
            self.object(document, node, value, base.index(index), implied);
        }
    }
}

/// Whether this is a List of objects: `kind: List`, or a list of one kind as the API answers it. Some kinds are only named
/// like one; what they list are no objects.
fn is_list(value: &Value) -> bool {
    let kind = value["kind"].as_str().unwrap_or_default();
    value["items"].as_array().is_some_and(|items| {
        kind == "List" || kind.ends_with("List") && items.iter().all(Value::is_object)
    })
}
