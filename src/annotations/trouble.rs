//! What is wrong with an annotation, in words.

use crate::words::clip;

use super::grammar::Complaint;
use super::table::{ALLOW_PREFIX, PREFIX, Row, TABLE};

/// The longest value that a message shows, in characters.
const SHOWN_VALUE: usize = 40;
/// The longest key that a message shows, in characters: a prefix of ours and a name of 63, the API's limit.
const SHOWN_KEY: usize = 82;
/// The longest part of a key that is shown where all names stand behind it, in characters.
const SHOWN_STRANGER: usize = 40;
/// How alike a key must be to be meant, from 0 to 1: one letter in two is still a slip, less is a guess.
const ALIKE: f64 = 0.5;

/// One thing that is wrong with an annotation or a label of ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// The key; empty where the annotations as a whole are no map.
    pub key: String,
    /// What kind of trouble it is.
    pub kind: TroubleKind,
    /// One line for the user, without the rule; at most 230 characters.
    pub message: String,
}

/// The kinds of [`Trouble`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TroubleKind {
    /// The value cannot be read, and counts as absent.
    Malformed,
    /// There is no such key.
    UnknownKey {
        /// The real key that is most like it, if one is like it.
        nearest: Option<String>,
    },
    /// An `allow.` key names no rule.
    UnknownRule {
        /// The rule that is most like it, if one is like it.
        nearest: Option<String>,
    },
    /// A key of ours stands as a label, where nothing reads it.
    LabelKey,
}

impl Trouble {
    /// The value of `key` cannot be read.
    pub(super) fn malformed(key: &str, complaint: &Complaint) -> Self {
        let Complaint { part, why } = complaint;
        Self {
            key: key.to_owned(),
            kind: TroubleKind::Malformed,
            message: format!("{} \"{}\" {why}", shown_key(key), shown(part, SHOWN_VALUE)),
        }
    }

    /// The value of `key` is no text but `what`.
    pub(super) fn no_text(key: &str, what: &str) -> Self {
        Self {
            key: key.to_owned(),
            kind: TroubleKind::Malformed,
            message: format!(
                "{} is {what}, and the API server takes only text: write the value in quotes",
                shown_key(key)
            ),
        }
    }

    /// The annotations are no map but `what`.
    pub(super) fn no_map(what: &str) -> Self {
        Self {
            key: String::new(),
            kind: TroubleKind::Malformed,
            message: format!(
                "metadata.annotations is {what}, and the API server takes only a map of text"
            ),
        }
    }

    /// There are more keys of ours than `most`, and the rest is not read.
    pub(super) fn too_many(most: usize) -> Self {
        Self {
            key: String::new(),
            kind: TroubleKind::Malformed,
            message: format!(
                "metadata.annotations has more than {most} keys of warmgate, and no more are read: remove those that do nothing"
            ),
        }
    }

    /// `key` is none of the table.
    pub(super) fn unknown_key(key: &str, rules: &[&str]) -> Self {
        let nearest = nearest_key(key, rules);
        let (shown, cure) = match &nearest {
            Some(nearest) => (shown_key(key), format!("did you mean {nearest}")),
            None => (
                shown(key, SHOWN_STRANGER),
                format!("the keys are {}", every_name()),
            ),
        };
        Self {
            key: key.to_owned(),
            kind: TroubleKind::UnknownKey { nearest },
            message: format!("{shown} does nothing, no key is named so: {cure}"),
        }
    }

    /// `key` allows a rule that there is not.
    pub(super) fn unknown_rule(key: &str, rule: &str, rules: &[&str]) -> Self {
        let nearest = nearest(rule, rules.iter().copied()).map(str::to_owned);
        let cure = match &nearest {
            Some(nearest) => format!("did you mean {ALLOW_PREFIX}{nearest}"),
            None => "`warmgate rules` lists the rules".to_owned(),
        };
        Self {
            key: key.to_owned(),
            kind: TroubleKind::UnknownRule { nearest },
            message: format!(
                "{} silences nothing, no rule is named so: {cure}",
                shown_key(key)
            ),
        }
    }

    /// `key` stands as a label.
    pub(super) fn label(key: &str) -> Self {
        let meant = match Row::of(key) {
            Some(_) => Some(key.to_owned()),
            None => nearest_key(key, &[]),
        };
        let cure = match meant {
            Some(meant) => format!("write it as the annotation {}", shown_key(&meant)),
            None => "remove it".to_owned(),
        };
        Self {
            key: key.to_owned(),
            kind: TroubleKind::LabelKey,
            message: format!("{} does nothing as a label: {cure}", shown_key(key)),
        }
    }
}

/// The real key that an unknown one was meant to be. A rule's id behind the wrong prefix is meant to be allowed.
fn nearest_key(key: &str, rules: &[&str]) -> Option<String> {
    let (_, name) = key.split_once('/')?;
    if rules.contains(&name) {
        return Some(format!("{ALLOW_PREFIX}{name}"));
    }
    nearest(name, names()).map(|name| format!("{PREFIX}{name}"))
}

/// The one of `names` that is most like `word`, the first of them where several are; `None` where none is like it.
fn nearest<'a>(word: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    // A word of any length may stand in a file; no real name comes near a longer one.
    let word: String = word.chars().take(SHOWN_KEY).collect();
    let mut best = None;
    for name in names {
        let likeness = strsim::normalized_damerau_levenshtein(&word, name);
        if likeness >= ALIKE && best.is_none_or(|(most, _)| likeness > most) {
            best = Some((likeness, name));
        }
    }
    best.map(|(_, name)| name)
}

/// What stands behind the prefix in every key that has one name.
fn names() -> impl Iterator<Item = &'static str> {
    TABLE.iter().filter_map(|row| row.key.strip_prefix(PREFIX))
}

/// All of [`names`], for a user who guessed.
fn every_name() -> String {
    names().collect::<Vec<_>>().join(", ")
}

/// A key as a message shows it.
fn shown_key(key: &str) -> String {
    shown(key, SHOWN_KEY)
}

/// Text of the user as a message shows it: one line, cut, and without characters that turn or hide what follows.
fn shown(text: &str, limit: usize) -> String {
    clip(text.trim(), limit)
        .chars()
        .map(|c| {
            if c.escape_debug().len() > 2 {
                '\u{fffd}'
            } else {
                c
            }
        })
        .collect()
}
