//! What `fix` may make of a text, whatever the text is.

use std::sync::Arc;

use json_patch::{Patch, PatchOperation};
use serde_json::Value;
use warmgate::admit::{Decision, admit};
use warmgate::facts::{Facts, Mode, Origin, collect};
use warmgate::manifest::{EditError, Manifest};
use warmgate::words::FieldPath;

use crate::generate::create;
use crate::lawful::{at, same, steps};

const FILE: &str = "a.yaml";

/// Reads a text and mends it as `fix` does. The error says what is wrong with the outcome: it must read as what the patches
/// say, keep all else of the text, and leave nothing for a second `fix`.
pub(crate) fn check(text: &str) -> Result<(), String> {
    let manifest = Manifest::read(FILE, text);
    if manifest.edit(&[]).ok().as_deref() != Some(text) {
        return Err("without a patch the text is changed".to_owned());
    }
    let decisions = decisions(&manifest);
    for (object, decision) in manifest.objects.iter().zip(&decisions) {
        for finding in &decision.findings {
            let (line, column) = manifest.position(object, &finding.path);
            if line < 1 || column < 1 {
                return Err(format!("{} stands nowhere", finding.line()));
            }
        }
    }
    // `fix` leaves a text alone of which it cannot read everything.
    if !manifest.errors.is_empty() {
        return Ok(());
    }
    let patches: Vec<(usize, &Patch)> = decisions
        .iter()
        .map(|decision| &decision.patch)
        .enumerate()
        .filter(|(_, patch)| !patch.0.is_empty())
        .collect();
    let edited = match manifest.edit(&patches) {
        Ok(edited) => edited,
        Err(EditError::Differs) => return Ok(()),
        Err(error) => return Err(format!("{error}: {patches:?}")),
    };
    reads_as_patched(&manifest, &decisions, &edited)?;
    if !keeps(&edited, &manifest, &patches) {
        return Err(format!("more than the patches say is lost:\n{edited}"));
    }
    Ok(())
}

/// The decisions that `fix` makes.
fn decisions(manifest: &Manifest) -> Vec<Decision> {
    let objects = || manifest.objects.iter().map(|object| &object.value);
    let (cluster, neighbours) = collect(objects(), "");
    let facts = Facts {
        cluster: Arc::new(cluster),
        neighbours: Some(Arc::new(neighbours)),
        ..Facts::new(Mode::Enforce, Origin::File)
    };
    objects()
        .map(|object| {
            let namespace = object["metadata"]["namespace"].as_str();
            admit(&create(object, namespace.unwrap_or_default()), &facts)
        })
        .collect()
}

fn reads_as_patched(
    manifest: &Manifest,
    decisions: &[Decision],
    edited: &str,
) -> Result<(), String> {
    let again = Manifest::read(FILE, edited);
    if again.objects.len() != manifest.objects.len() || !again.errors.is_empty() {
        return Err(format!(
            "it cannot be read again: {:?}\n{edited}",
            again.errors
        ));
    }
    for ((object, decision), read) in manifest.objects.iter().zip(decisions).zip(&again.objects) {
        let mut wanted = object.value.clone();
        json_patch::patch(&mut wanted, &decision.patch).map_err(|error| error.to_string())?;
        if !same(&wanted, &read.value) {
            return Err(format!(
                "it reads as {}, not {wanted}\n{edited}",
                read.value
            ));
        }
    }
    let left = decisions_left(&again);
    match left {
        Some(patch) => Err(format!("a second fix makes {patch:?}\n{edited}")),
        None => Ok(()),
    }
}

fn decisions_left(again: &Manifest) -> Option<Patch> {
    let patches = decisions(again).into_iter().map(|decision| decision.patch);
    patches.into_iter().find(|patch| !patch.0.is_empty())
}

/// Whether everything of a text is still there in the same order, but for blanks, and for what stands in the place of a value
/// that was replaced.
fn keeps(edited: &str, manifest: &Manifest, patches: &[(usize, &Patch)]) -> bool {
    let mut text: Vec<&str> = manifest.text().split('\n').collect();
    // What an alias or a merge brought may have moved.
    if manifest.text().contains(['&', '*']) {
        return true;
    }
    for (index, patch) in patches {
        let object = &manifest.objects[*index];
        for operation in &patch.0 {
            let path = steps(operation.path().as_ref());
            match (operation, at(&object.value, &path)) {
                (PatchOperation::Add(_), None) => {}
                (PatchOperation::Add(_), Some(Value::Number(_))) => {
                    let path = FieldPath::from_pointer(operation.path().as_ref(), &object.value);
                    let (line, _) = manifest.position(object, &path);
                    text[line - 1] = "";
                    // Its value may stand on the next line.
                    if let Some(next) = text.get_mut(line) {
                        *next = "";
                    }
                }
                _ => return true,
            }
        }
    }
    let mut there = edited.chars();
    let mut wanted = text.iter().flat_map(|line| line.chars());
    wanted.all(|wanted| wanted.is_whitespace() || there.any(|c| c == wanted))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::check;

    #[test]
    fn every_text_of_ours_is_mended_once_and_keeps_the_rest() {
        let package = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut texts = 0;
        for folder in ["tests/cases", "examples", "knowledge"] {
            let folder = package.join(folder);
            for entry in std::fs::read_dir(&folder).expect("the folder can be read") {
                let path = entry.expect("the folder can be read").path();
                let Ok(text) = std::fs::read_to_string(&path) else {
                    continue;
                };
                if let Err(why) = check(&text) {
                    panic!("{}: {why}", path.display());
                }
                texts += 1;
            }
        }
        assert!(texts > 200);
    }
}
