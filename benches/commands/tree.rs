//! A tree of manifests as the teams of a company keep them, drawn from a seed: the same bytes on every machine.

use std::fs;
use std::io;
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::manifests::App;
use crate::random::Random;

/// So many files are in the tree, and so many documents in each.
pub(crate) const FILES: usize = 2_000;
pub(crate) const DOCUMENTS: usize = 5;

/// So many files are in one folder.
const FOLDER: usize = 50;

/// What the tree is drawn from.
const SEED: u64 = 2_000_005;

/// Writes the tree into `folder`, or leaves it as it is where it stands there already.
///
/// # Errors
///
/// What the file system says.
pub(crate) fn write(folder: &Path) -> io::Result<()> {
    let mark = folder.with_extension("sha256");
    let files: Vec<(String, String)> = (0..FILES).map(file).collect();
    let digest = digest(&files);
    if fs::read_to_string(&mark).is_ok_and(|kept| kept == digest) {
        return Ok(());
    }
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    for (name, text) in &files {
        let path = folder.join(name);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(path, text)?;
    }
    fs::write(mark, digest)
}

/// The name and the text of one file. Every file has a workload that asks for an accelerator, one that does not, their Service
/// and ConfigMap, and one more object, in an order of its own.
fn file(number: usize) -> (String, String) {
    let mut random = Random::new(SEED.wrapping_mul(number as u64 + 1));
    let mut app = App::new(&mut random, number);
    let mut documents = [
        app.model(),
        app.web(),
        app.service(),
        app.config_map(),
        app.other(),
    ];
    documents.rotate_left(number % DOCUMENTS);
    let text = format!("# {}\n---\n{}", app.title(), documents.join("---\n"));
    let name = format!("team-{:02}/{}.yaml", number / FOLDER, app.name());
    (name, text)
}

fn digest(files: &[(String, String)]) -> String {
    let mut hash = Sha256::new();
    for (name, text) in files {
        hash.update(name);
        hash.update(text);
    }
    hash.finalize()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}
