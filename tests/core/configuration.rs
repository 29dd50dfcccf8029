//! The page about the two files shows what can be said in them, and its defaults are the real ones.

use std::error::Error;
use std::path::Path;

use serde_json::{Value, json};
use warmgate::facts::{Config, Facts, Mode, Origin};
use warmgate::knowledge::DeviceClass;
use warmgate::manifest::Manifest;

/// The block of the page with this info string.
fn block(info: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/configuration.md");
    let page = std::fs::read_to_string(path).expect("docs/configuration.md can be read");
    let (_, behind) = page
        .split_once(&format!("```yaml {info}\n"))
        .expect("the page has the block");
    let (block, _) = behind.split_once("```").expect("the block is closed");
    block.to_owned()
}

fn value(text: &str) -> Value {
    let mut manifest = Manifest::read("block", text);
    assert!(manifest.errors.is_empty(), "{:?}", manifest.errors);
    manifest.objects.pop().expect("the block is one map").value
}

fn facts() -> Facts {
    Facts::new(Mode::Fix, Origin::File)
}

/// The members that a map of the file may have: an error about one that it may not names them.
fn members(pointer: &str, read: impl Fn(&str) -> String) -> Vec<String> {
    let mut file = json!({"": 1});
    for key in pointer.rsplit('/').filter(|key| !key.is_empty()) {
        file = json!({key: file});
    }
    let error = read(&file.to_string());
    let names = error.split('`').skip(1).step_by(2).skip(1);
    let names: Vec<String> = names.map(str::to_owned).collect();
    assert!(!names.is_empty(), "{error}");
    names
}

fn shows(shown: &Value, pointers: &[&str], read: impl Fn(&str) -> String) {
    for pointer in pointers {
        let map = shown.pointer(pointer).expect("the page shows the map");
        for member in members(pointer, &read) {
            assert!(map.get(&member).is_some(), "{pointer} without {member}");
        }
    }
}

fn cause(error: &dyn Error) -> String {
    error.source().expect("it has a cause").to_string()
}

#[test]
fn the_config_is_shown_whole_and_with_its_defaults() {
    let text = block("config");
    let read = facts().with_config_file("block", text.as_bytes());
    let read = read.expect("the block is a config");
    let default = Config::default();
    assert_eq!(read.config.limits, default.limits);
    assert_eq!(read.config.defaults, default.defaults);
    assert_eq!(read.config.edits, default.edits);
    let strict = read.config.overrides(Mode::Enforce);
    assert!(!strict.skip && !strict.step_down && strict.allow.len() == 2);
    let pointers = ["", "/limits", "/defaults", "/edits", "/overrides/enforce"];
    shows(&value(&text), &pointers, |text| {
        let read = facts().with_config_file("block", text.as_bytes());
        cause(&read.expect_err("a member is unknown"))
    });
}

#[test]
fn the_facts_are_shown_whole() {
    let text = block("facts");
    let read = facts().with_facts_file("block", text.as_bytes());
    let cluster = read.expect("the block is a facts file").cluster;
    assert_eq!(cluster.namespaces.len(), 1);
    assert_eq!(cluster.starts.len(), 1);
    let requests = &cluster.claims.templates["ml/one-gpu"];
    let class = facts().knowledge.device_class(&requests[0].classes[0]);
    assert_eq!(class, DeviceClass::Accelerator);
    shows(&value(&text), &["", "/claims"], |text| {
        let read = facts().with_facts_file("block", text.as_bytes());
        cause(&read.expect_err("a member is unknown"))
    });
}
