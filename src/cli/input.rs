//! Files and standard input as manifests.

use std::fs;
use std::io::{self, Read};
use std::path::Path;

use super::walk::{self, Input};
use super::{CliError, progress};
use crate::manifest::Manifest;
use crate::report::Trouble;

/// An input that was read.
#[derive(Debug)]
pub(super) struct Text {
    pub(super) input: Input,
    pub(super) manifest: Manifest,
}

/// Everything that was read.
#[derive(Debug, Default)]
pub(super) struct Texts {
    /// In the order of the input.
    pub(super) texts: Vec<Text>,
    /// Inputs that could not be read at all.
    pub(super) troubles: Vec<Trouble>,
    /// Whether one file, or standard input, was named and nothing else.
    pub(super) single: bool,
}

/// Reads what arguments mean, in parallel; the order is that of the arguments.
pub(super) fn read(paths: &[std::path::PathBuf]) -> Result<Texts, CliError> {
    let found = walk::walk(paths)?;
    let read = progress::over("reading", found.inputs, |input| {
        text(input, |name, text| Manifest::read(name, &text))
    });
    let mut texts = Texts {
        troubles: found.troubles,
        single: found.single,
        ..Texts::default()
    };
    for one in read {
        match one {
            Ok(text) => texts.texts.push(text),
            Err(trouble) => texts.troubles.push(trouble),
        }
    }
    Ok(texts)
}

impl Text {
    /// What could not be read of it.
    pub(super) fn troubles(&self) -> impl Iterator<Item = Trouble> + use<'_> {
        let templated = self.manifest.text().contains("{{");
        self.manifest.errors.iter().map(move |error| Trouble {
            file: error.file.clone(),
            place: Some((error.line, error.column)),
            message: if templated {
                format!("{}; a template? check what it renders", error.message)
            } else {
                error.message.clone()
            },
        })
    }
}

/// Reads one input, whose name and text `read` makes objects of.
pub(super) fn text(
    input: Input,
    read: impl FnOnce(&str, String) -> Manifest,
) -> Result<Text, Trouble> {
    let name = input.name();
    let trouble = |message: String| Trouble {
        file: name.clone(),
        place: None,
        message,
    };
    let bytes = bytes(&input).map_err(|error| trouble(error.to_string()))?;
    let text = String::from_utf8(bytes).map_err(|_| trouble("is not UTF-8".to_owned()))?;
    let manifest = read(&name, text);
    Ok(Text { input, manifest })
}

fn bytes(input: &Input) -> io::Result<Vec<u8>> {
    match input {
        Input::File(path) => fs::read(path),
        Input::Stdin => {
            let mut bytes = Vec::new();
            io::stdin().lock().read_to_end(&mut bytes)?;
            Ok(bytes)
        }
    }
}

/// The bytes of one file, or of standard input, with its name.
pub(super) fn file(path: &Path) -> Result<(String, Vec<u8>), CliError> {
    let input = Input::of(path);
    let file = input.name();
    match bytes(&input) {
        Ok(bytes) => Ok((file, bytes)),
        Err(source) => Err(CliError::Read { file, source }),
    }
}
