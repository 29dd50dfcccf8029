//! YAML and JSON text as Kubernetes objects, each field of which knows where it stands, and edits that leave everything
//! else in the text as it is.
//!
//! Scalars mean what they mean to kubectl, which reads YAML 1.1 (see `scalar`). Aliases are copies, `<<` merges maps
//! (explicit keys win, as YAML 1.1 says). A document that cannot be read is a [`ReadError`], and the others are read all the
//! same: a syntax error, a key that stands twice, an alias without anchor, lists and maps nested deeper than 128, or anchors
//! and aliases that expand to more than 100,000 nodes (a node counts 16, a byte of its text 1, in all 1,600,000 for a
//! text).
//!
//! JSON is read as the YAML that it is. JSON documents may also follow each other without a marker, as in a log.

mod build;
mod edit;
mod error;
mod frame;
mod lines;
mod members;
mod objects;
mod scalar;
mod scan;
mod stream;
mod tree;
mod write;

pub use edit::EditError;
pub use error::ReadError;
pub use objects::Object;

use json_patch::Patch;

use crate::words::FieldPath;

use build::Document;
use error::Fault;
use frame::Wanted;
use lines::Lines;
use objects::Unroll;
use tree::Tree;

/// A text with the objects that were found in it.
#[derive(Clone, Debug)]
pub struct Manifest {
    /// The objects, in the order of the text.
    pub objects: Vec<Object>,
    /// What could not be read, in the order of the text.
    pub errors: Vec<ReadError>,
    text: String,
    lines: Lines,
    tree: Tree,
    documents: Vec<Document>,
}

impl Manifest {
    /// Reads a text; `file` is the name that errors carry. Whatever cannot be read is in [`Manifest::errors`].
    pub fn read(file: &str, text: &str) -> Self {
        Self::of(file, text.to_owned(), None)
    }

    /// Reads a text as [`Manifest::read`] does, with the same errors, and keeps `apiVersion`, `kind` and `metadata` alone of objects
    /// whose group and kind are not `wanted`. Such a manifest cannot be edited.
    pub fn sift(file: &str, text: String, wanted: &dyn Fn(&str, &str) -> bool) -> Self {
        let mut manifest = Self::of(file, text, Some(wanted));
        manifest.tree.shrink();
        manifest
    }

    fn of(file: &str, text: String, wanted: Option<&Wanted<'_>>) -> Self {
        let stream = stream::read(&text, wanted);
        let lines = Lines::of(&text);
        let mut documents = stream.documents;
        let mut unroll = Unroll {
            text: &text,
            lines: &lines,
            tree: &stream.tree,
            objects: Vec::new(),
            faults: stream.faults,
        };
        for document in &mut documents {
            unroll.document(document);
        }
        let Unroll {
            objects,
            mut faults,
            ..
        } = unroll;
        faults.sort_by_key(|fault| fault.offset);
        let error = |fault: Fault| {
            let (line, column) = lines.position(&text, fault.offset);
            ReadError {
                file: file.to_owned(),
                line,
                column,
                message: fault.message,
            }
        };
        let errors = faults.into_iter().map(error).collect();
        Self {
            objects,
            errors,
            text,
            lines,
            tree: stream.tree,
            documents,
        }
    }

    /// The text as it was read.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The line and the column, from 1, of a field of one of the objects: of its key where it has one. Where the field is
    /// absent they are those of the nearest field around it. What an alias or a merge brings stands at its anchor.
    pub fn position(&self, object: &Object, path: &FieldPath) -> (usize, usize) {
        let start = (object.line, object.column);
        let documents = &self.documents;
        let Ok(index) = documents.binary_search_by_key(&object.document, |it| it.number) else {
            return start;
        };
        let mut place = None;
        let mut node = documents[index].root;
        let way = object.base.segments().iter().chain(path.segments());
        for (depth, segment) in way.enumerate() {
            let Some((field, value)) = self.tree.step(&self.text, node, segment) else {
                break;
            };
            node = value;
            if depth >= object.base.segments().len() {
                place = Some(field);
            }
        }
        place.map_or(start, |field| {
            let offset = self.tree.node(self.tree.target(field)).start();
            self.lines.position(&self.text, offset)
        })
    }

    /// The text with patches made in place, each on the object with that index in [`Manifest::objects`].
    ///
    /// Comments, order, style, quoting, indentation and line breaks of everything else stay byte for byte. Where an alias or
    /// a merge brings a value that changes in one place only, that place gets a copy of its own. The result is read again.
    ///
    /// # Errors
    /// [`EditError`] where a patch does not apply, or where the result does not read as exactly what the patches make of the
    /// objects.
    pub fn edit(&self, patches: &[(usize, &Patch)]) -> Result<String, EditError> {
        edit::edit(self, patches)
    }
}
