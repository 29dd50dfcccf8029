//! A tree in as little memory as a judgement of all its objects together needs: what is settled by itself is answered when it is
//! read, and gone before the next file is; the rest waits until everything has been read that may have a say.

use std::mem;

use serde_json::Value;

use super::input::{self, Text};
use super::known::{self, Said};
use super::walk::Input;
use super::{judge, progress};
use crate::admit::{admit, settled};
use crate::facts::{self, Facts};
use crate::manifest::Manifest;
use crate::report::{Entry, Trouble};

/// What is left of an input when it has been read.
struct Sifted {
    /// In the order of the text; nothing where an object waits.
    entries: Vec<Option<Entry>>,
    /// What could not be read in it.
    troubles: Vec<Trouble>,
    said: Said,
    /// The text, if an object of it waits; the others are gone from it.
    text: Option<Text>,
}

/// Everything that was found in the input, in its order: what was decided of its objects, and what could not be read of it.
pub(super) fn all(inputs: Vec<Input>, facts: Facts) -> (Vec<Entry>, Vec<Trouble>) {
    let wanted = |group: &str, kind: &str| {
        facts::speaks_of_others(group, kind) || facts.knowledge.workload(group, kind).is_some()
    };
    let read = progress::over("reading", inputs, |input| {
        let text = input::text(input, |name, text| Manifest::sift(name, text, &wanted));
        text.map(|text| sift(text, &facts))
    });
    let (mut unread, mut unclear) = (Vec::new(), Vec::new());
    let (mut said, mut sifted) = (Vec::new(), Vec::new());
    for one in read {
        match one {
            Ok(mut one) => {
                unclear.append(&mut one.troubles);
                said.push(mem::take(&mut one.said));
                sifted.push(one);
            }
            Err(trouble) => unread.push(trouble),
        }
    }
    let facts = known::widened(facts, said);
    let judged = progress::over("judging", sifted, |one| one.judged(&facts));
    unread.append(&mut unclear);
    (judged.into_iter().flatten().collect(), unread)
}

fn sift(mut text: Text, facts: &Facts) -> Sifted {
    let said = known::said(&text);
    let troubles = text.troubles().collect();
    let mut entries = Vec::with_capacity(text.manifest.objects.len());
    for index in 0..text.manifest.objects.len() {
        let entry = judge::one(&mut text, index, |request| settled(request, facts));
        if entry.is_some() {
            text.manifest.objects[index].value = Value::Null;
        }
        entries.push(entry);
    }
    let waits = entries.iter().any(Option::is_none);
    Sifted {
        entries,
        troubles,
        said,
        text: waits.then_some(text),
    }
}

impl Sifted {
    /// Judges the objects that wait.
    fn judged(self, facts: &Facts) -> Vec<Entry> {
        let Some(mut text) = self.text else {
            return self.entries.into_iter().flatten().collect();
        };
        let entries = self.entries.into_iter().enumerate();
        entries
            .filter_map(|(index, entry)| {
                entry
                    .or_else(|| judge::one(&mut text, index, |request| Some(admit(request, facts))))
            })
            .collect()
    }
}
