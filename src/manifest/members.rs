//! The members of maps that are still open.
//!
//! They lie on one stack for all maps of a document, those of an inner map behind those of the map around it: until a map ends
//! nobody knows how many members it has, and then it gets the room that it needs and no more.

use serde_json::map::Entry;
use serde_json::{Map, Value};

/// So many members are looked through one by one; a map with more of them is kept as one from then on.
const FEW: usize = 16;

/// A name and its value.
pub(super) type Member = (String, Value);

/// The members of all maps that are open.
pub(super) type Stack = Vec<Member>;

/// Where those of one map are.
pub(super) struct Members {
    /// Where they begin on the stack.
    first: usize,
    /// The map, once they are many.
    many: Option<Map<String, Value>>,
}

impl Members {
    /// None yet, of a map that begins now.
    pub(super) fn on(stack: &[Member]) -> Self {
        Self {
            first: stack.len(),
            many: None,
        }
    }

    /// Adds a member.
    ///
    /// # Errors
    /// The name, if there is one of that name already.
    pub(super) fn add(
        &mut self,
        stack: &mut Stack,
        name: String,
        value: Value,
    ) -> Result<(), String> {
        if let Some(many) = &mut self.many {
            return match many.entry(name) {
                Entry::Occupied(first) => Err(first.key().clone()),
                Entry::Vacant(place) => {
                    place.insert(value);
                    Ok(())
                }
            };
        }
        if self.few(stack).iter().any(|(known, _)| *known == name) {
            return Err(name);
        }
        stack.push((name, value));
        if self.few(stack).len() == FEW {
            self.many = Some(stack.drain(self.first..).collect());
        }
        Ok(())
    }

    /// All members, now that the map has ended.
    pub(super) fn finish(self, stack: &mut Stack) -> Map<String, Value> {
        self.many
            .unwrap_or_else(|| stack.drain(self.first..).collect())
    }

    /// The value of a member, where they are few.
    pub(super) fn get<'s>(&self, stack: &'s [Member], name: &str) -> Option<&'s Value> {
        let mut few = self.few(stack).iter();
        few.find(|(known, _)| known == name).map(|(_, value)| value)
    }

    /// Forgets them all.
    pub(super) fn forget(self, stack: &mut Stack) {
        stack.truncate(self.first);
    }

    fn few<'s>(&self, stack: &'s [Member]) -> &'s [Member] {
        &stack[self.first..]
    }
}
