//! Values with their sources.

use std::fmt;

use super::Intent;
use crate::subject::PodTemplate;
use crate::words::FieldPath;

/// A value and where it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sourced<T> {
    /// The value.
    pub value: T,
    /// Where it comes from.
    pub source: Source,
}

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// Built in, or set for the cluster.
    Default,
    /// The longest start that was measured.
    Measured,
    /// An annotation of the object, by its key.
    Metadata(&'static str),
    /// An annotation of the namespace, by its key.
    Namespace(&'static str),
    /// What is known of a server, by the server's name and the fact.
    Preset(String),
    /// The spec itself.
    Spec(FieldPath),
    /// An annotation of the pod template, by its key.
    Template(&'static str),
}

impl Source {
    /// Whether the object itself says so: a refusal may rest on nothing else.
    pub fn is_object(&self) -> bool {
        matches!(self, Self::Metadata(_) | Self::Spec(_) | Self::Template(_))
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::Measured => f.write_str("longest start measured"),
            Self::Metadata(key) => write!(f, "annotation {key} of the object"),
            Self::Namespace(key) => write!(f, "annotation {key} of the namespace"),
            Self::Preset(fact) => write!(f, "preset {fact}"),
            Self::Spec(path) => write!(f, "{path}"),
            Self::Template(key) => write!(f, "annotation {key} of the pod template"),
        }
    }
}

impl<T> Sourced<T> {
    /// Where the annotation stands that gave the value; the root for what is no annotation of the object.
    pub fn source_path(&self, intent: &Intent<'_>) -> FieldPath {
        self.source
            .path(intent.templates.first().map(|one| one.template))
    }
}

impl Source {
    /// Where in the object the value stands; the root for what does not stand in the object.
    pub fn path(&self, template: Option<&PodTemplate<'_>>) -> FieldPath {
        match self {
            Self::Metadata(key) => FieldPath::of(&["metadata", "annotations", key]),
            Self::Template(key) => template
                .map_or_else(FieldPath::root, |template| template.path.clone())
                .keys(&["metadata", "annotations", key]),
            Self::Spec(path) => path.clone(),
            Self::Default | Self::Measured | Self::Namespace(_) | Self::Preset(_) => {
                FieldPath::root()
            }
        }
    }
}
