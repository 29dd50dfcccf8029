//! The annotation table: its reference, its examples, and values that nobody foresaw.

use std::path::Path;

use proptest::prelude::*;
use serde_json::{Value, json};
use warmgate::annotations::{self, ALLOW_PREFIX, CHANGES, TABLE};

use crate::told::{RULES, read_or_told_of};

/// A key that a row stands for.
fn key(row: &annotations::Row) -> String {
    match row.key.strip_prefix(ALLOW_PREFIX) {
        Some(_) => format!("{ALLOW_PREFIX}{}", RULES[0]),
        None => row.key.to_owned(),
    }
}

#[test]
fn the_reference_is_made_from_the_table() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/annotations.md");
    let reference = annotations::reference();
    if std::env::var_os("WARMGATE_BLESS").is_some_and(|value| value == "1") {
        std::fs::write(&path, &reference).expect("docs/annotations.md can be written");
    }
    let page = std::fs::read_to_string(&path).expect("docs/annotations.md can be read");
    assert_eq!(
        page, reference,
        "docs/annotations.md is old: WARMGATE_BLESS=1 writes it anew"
    );
}

#[test]
fn every_key_has_a_row_and_every_example_reads() {
    for row in TABLE {
        let read = annotations::read(Some(&json!({key(row): row.example})), &RULES);
        assert_eq!(read.troubles, [], "{}", row.key);
        assert_eq!(read.keys, [key(row)]);
        assert_ne!(
            annotations::Annotations {
                keys: Vec::new(),
                ..read
            },
            annotations::Annotations::default(),
            "{} fills no field",
            row.key
        );
    }
    let mut keys: Vec<_> = TABLE.iter().map(|row| row.key).collect();
    keys.sort_unstable();
    keys.dedup();
    assert_eq!(keys.len(), TABLE.len(), "a key stands twice");
}

/// Text that comes near the grammars, and text that does not.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "(([a-z]{1,3}=)?[0-9]{0,3}(h|m|s|none|,| ){0,3}){0,3}",
        "([a-z]{1,3}=)?(http|https|tcp|grpc|exec|ftp)(://|:)[a-z:/0-9\\[\\]\"', ?=\n-]{0,12}",
        "(true|false|audit|warn|fix|enforce|no-surge|no|1| ){1,2}",
        any::<String>(),
    ]
}

/// Any value under keys that are ours or nearly so.
fn entry() -> impl Strategy<Value = (String, Value)> {
    let key = prop_oneof![
        5 => (0..TABLE.len()).prop_map(|row| key(&TABLE[row])),
        1 => "(allow\\.|x\\.)?warmgate\\.io/[a-z-]{0,18}",
        1 => any::<String>(),
    ];
    let value = prop_oneof![
        8 => text().prop_map(Value::String),
        1 => any::<i64>().prop_map(Value::from),
        1 => Just(Value::Null),
        1 => Just(json!(["15m"])),
    ];
    (key, value)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::properties::cases()))]

    #[test]
    fn a_value_is_read_or_told_of((key, value) in entry()) {
        read_or_told_of(&key, &value);
    }

    #[test]
    fn any_json_is_survived(values in proptest::collection::vec(entry(), 0..6)) {
        let annotations: Value = values.into_iter().collect::<serde_json::Map<_, _>>().into();
        let read = annotations::read(Some(&annotations), &RULES);
        prop_assert!(read.troubles.len() <= read.keys.len());
        prop_assert!(annotations::labels(Some(&annotations)).len() == read.keys.len());
    }
}

/// The longest names that the API server admits, near to no key of ours: what is told of them still fits.
#[test]
fn the_longest_keys_are_told_of() {
    for prefix in ["warmgate.io/", "allow.warmgate.io/"] {
        for letter in ["q", "é", "\u{1}"] {
            read_or_told_of(&format!("{prefix}{}", letter.repeat(63)), &json!("x"));
        }
    }
}

#[test]
fn what_warmgate_writes_is_taken_as_it_is() {
    let read = annotations::read(Some(&json!({CHANGES: " {} "})), &RULES);
    assert_eq!(read.changes.as_deref(), Some(" {} "));
}
