//! Edits in place: patches become the splices that make the text say what the patched objects say.
//!
//! The patches of an object are applied to its value first. Old and new value are then walked along with the nodes, and
//! wherever they differ a splice is made on the node's own bytes. So the steps a patch takes do not matter, only what it
//! changes; and what it does not change is not touched.

mod block;
mod entries;
mod flow;
mod layout;
mod merge;
mod replace;
mod splice;
mod walk;

use std::collections::BTreeMap;

use json_patch::{Patch, PatchError};
use serde_json::Value;

use super::build::Document;
use super::{Manifest, Object};

use splice::Splice;

/// Why a text was not edited.
#[derive(Debug, thiserror::Error)]
pub enum EditError {
    /// The edited text would not have read as exactly what the patches make of the objects.
    #[error("the text cannot be edited in place: the result does not read as the patched object")]
    Differs,
    /// There is no object with this index.
    #[error("there is no object {0}")]
    NoObject(usize),
    /// A patch does not apply.
    #[error("the patch does not apply to object {index}")]
    Patch {
        /// The index of the object.
        index: usize,
        /// Why it does not apply.
        source: PatchError,
    },
}

pub(super) fn edit(manifest: &Manifest, patches: &[(usize, &Patch)]) -> Result<String, EditError> {
    let patched = patched(manifest, patches)?;
    if patched.is_empty() {
        return Ok(manifest.text.clone());
    }
    let documents = manifest.documents.iter();
    let splices = documents.flat_map(|document| document_splices(manifest, document, &patched));
    let text = splice::apply(&manifest.text, splices.collect()).ok_or(EditError::Differs)?;
    if says(manifest, &patched, &text) {
        Ok(text)
    } else {
        Err(EditError::Differs)
    }
}

/// The new values of the objects that the patches change.
fn patched(
    manifest: &Manifest,
    patches: &[(usize, &Patch)],
) -> Result<BTreeMap<usize, Value>, EditError> {
    let mut patched = BTreeMap::new();
    for &(index, patch) in patches {
        let object = manifest.objects.get(index);
        let object = object.ok_or(EditError::NoObject(index))?;
        let value = patched.entry(index).or_insert_with(|| object.value.clone());
        json_patch::patch(value, patch).map_err(|source| EditError::Patch { index, source })?;
    }
    patched.retain(|&index, value| *value != manifest.objects[index].value);
    Ok(patched)
}

fn document_splices(
    manifest: &Manifest,
    document: &Document,
    patched: &BTreeMap<usize, Value>,
) -> Vec<Splice> {
    let first = manifest
        .objects
        .partition_point(|object| object.document < document.number);
    let objects: Vec<(usize, &Object)> = manifest
        .objects
        .iter()
        .enumerate()
        .skip(first)
        .take_while(|(_, object)| object.document == document.number)
        .collect();
    if !objects.iter().any(|(index, _)| patched.contains_key(index)) {
        return Vec::new();
    }
    let old = whole(document, objects.iter().map(|&(_, it)| (it, &it.value)));
    let new = whole(
        document,
        objects
            .iter()
            .map(|&(index, it)| (it, patched.get(&index).unwrap_or(&it.value))),
    );
    walk::splices(&manifest.text, &manifest.tree, document, &old, &new)
}

/// The value of a document with these values for its objects.
fn whole<'a>(document: &Document, objects: impl Iterator<Item = (&'a Object, &'a Value)>) -> Value {
    let mut whole = document.value.clone();
    for (object, value) in objects {
        let pointer = object.base.pointer();
        let place = whole
            .pointer_mut(&pointer)
            .expect("an object left its place in its document");
        *place = value.clone();
        if object.implied
            && let Some(members) = place.as_object_mut()
        {
            members.shift_remove("apiVersion");
            members.shift_remove("kind");
        }
    }
    whole
}

/// Whether a text reads as the manifest with the patched objects in it.
fn says(manifest: &Manifest, patched: &BTreeMap<usize, Value>, text: &str) -> bool {
    let read = Manifest::read("", text);
    let rests_alike = read.documents.len() == manifest.documents.len()
        && read
            .documents
            .iter()
            .zip(&manifest.documents)
            .all(|(new, old)| new.number == old.number && new.value == old.value);
    let objects_alike = read.objects.len() == manifest.objects.len()
        && read
            .objects
            .iter()
            .zip(&manifest.objects)
            .enumerate()
            .all(|(index, (new, old))| {
                let wanted = patched.get(&index).unwrap_or(&old.value);
                new.base == old.base && alike(&new.value, wanted)
            });
    rests_alike && objects_alike && read.errors.len() == manifest.errors.len()
}

/// Whether two values are the same to a reader of JSON, to whom 3.0 is 3.
fn alike(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(l, r)| alike(l, r))
        }
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len()
                && left
                    .iter()
                    .all(|(key, l)| right.get(key).is_some_and(|r| alike(l, r)))
        }
        (Value::Number(l), Value::Number(r)) if l.is_f64() != r.is_f64() => {
            l.as_f64() == r.as_f64()
        }
        _ => left == right,
    }
}
