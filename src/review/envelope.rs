//! The two maps around the objects of a review, each wanted member kept as the text it is.

use std::fmt;

use serde::de::{
    Deserialize, DeserializeOwned, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor,
};
use serde_json::value::RawValue;

/// The members of the outer map that are read.
const OF_REVIEW: [&str; 3] = ["apiVersion", "kind", "request"];

/// The members of the request that are read.
const OF_REQUEST: [&str; 9] = [
    "dryRun",
    "kind",
    "name",
    "namespace",
    "object",
    "oldObject",
    "operation",
    "subResource",
    "uid",
];

/// The outer map.
#[derive(Default)]
pub(super) struct Envelope<'a> {
    api_version: Option<&'a RawValue>,
    kind: Option<&'a RawValue>,
    /// The request, where there is one.
    pub(super) request: Option<Members<'a>>,
}

impl Envelope<'_> {
    /// The version that the review says it has; empty where it says none.
    pub(super) fn api_version(&self) -> Result<String, String> {
        text("apiVersion", self.api_version)
    }

    /// The kind that the review says it has; empty where it says none.
    pub(super) fn kind(&self) -> Result<String, String> {
        text("kind", self.kind)
    }
}

/// The members of the request.
#[derive(Default)]
pub(super) struct Members<'a>([Option<&'a RawValue>; OF_REQUEST.len()]);

impl<'a> Members<'a> {
    fn find(&self, name: &str) -> Option<&'a RawValue> {
        let index = OF_REQUEST.iter().position(|known| *known == name)?;
        self.0[index]
    }

    /// The JSON text of a member; `null` where there is none.
    pub(super) fn raw(&self, name: &str) -> &'a str {
        self.find(name).map_or("null", RawValue::get)
    }

    /// A member for which null means the same as its absence.
    pub(super) fn get<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>, String> {
        typed(name, self.find(name))
    }

    /// A string; empty where there is none, as in the API's own types.
    pub(super) fn text(&self, name: &str) -> Result<String, String> {
        text(name, self.find(name))
    }
}

fn text(name: &str, member: Option<&RawValue>) -> Result<String, String> {
    typed(name, member).map(Option::unwrap_or_default)
}

fn typed<T: DeserializeOwned>(name: &str, member: Option<&RawValue>) -> Result<Option<T>, String> {
    match member {
        None => Ok(None),
        // The parser's own words may quote the value, which has no place in a log.
        Some(member) => serde_json::from_str(member.get())
            .map_err(|_| format!("{name} of the review has another type")),
    }
}

/// Reads a key as its place in a list of names; `None` where it is not listed.
struct Place<'n>(&'n [&'n str]);

impl<'de> DeserializeSeed<'de> for Place<'_> {
    type Value = Option<usize>;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<Self::Value, D::Error> {
        json.deserialize_str(self)
    }
}

impl Visitor<'_> for Place<'_> {
    type Value = Option<usize>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E>(self, key: &str) -> Result<Self::Value, E> {
        Ok(self.0.iter().position(|name| *name == key))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Envelope<'a> {
    fn deserialize<D: Deserializer<'de>>(json: D) -> Result<Self, D::Error> {
        struct Outer;
        impl<'de> Visitor<'de> for Outer {
            type Value = Envelope<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an AdmissionReview")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut envelope = Envelope::default();
                while let Some(place) = map.next_key_seed(Place(&OF_REVIEW))? {
                    match place {
                        Some(0) => envelope.api_version = Some(map.next_value()?),
                        Some(1) => envelope.kind = Some(map.next_value()?),
                        Some(_) => envelope.request = map.next_value()?,
                        None => drop(map.next_value::<IgnoredAny>()?),
                    }
                }
                Ok(envelope)
            }
        }
        json.deserialize_map(Outer)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(json: D) -> Result<Self, D::Error> {
        struct Inner;
        impl<'de> Visitor<'de> for Inner {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the request of an AdmissionReview")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Members::default();
                while let Some(place) = map.next_key_seed(Place(&OF_REQUEST))? {
                    match place {
                        Some(index) => members.0[index] = Some(map.next_value()?),
                        None => drop(map.next_value::<IgnoredAny>()?),
                    }
                }
                Ok(members)
            }
        }
        json.deserialize_map(Inner)
    }
}
