//! The cases in `tests/cases`, as the core is tested with.

use std::fs;

use warmgate::manifest::Manifest;

use crate::harness::folders;

/// Every case by the name of its file, with what is in it.
pub(crate) fn all() -> Vec<(String, Manifest)> {
    let folder = folders::package().join("tests/cases");
    let files = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{error}"));
    let mut cases = Vec::new();
    for path in files.flatten().map(|file| file.path()) {
        let name = path.file_name().unwrap_or_default().display().to_string();
        if name.ends_with(".yaml") && !name.ends_with(".expect.yaml") {
            let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{error}"));
            let manifest = Manifest::read(&name, &text);
            cases.push((name, manifest));
        }
    }
    cases.sort_by(|one, other| one.0.cmp(&other.0));
    cases
}
