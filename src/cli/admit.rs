//! `warmgate admit`.

use serde_json::Value;

use super::args::{AdmitArgs, EndpointArg};
use super::{CliError, Exit, input, known, output};
use crate::admit::{Endpoint, admit};
use crate::manifest::Manifest;
use crate::review::{self, Request};

pub(super) fn run(args: &AdmitArgs) -> Result<Exit, CliError> {
    let facts = known::admission(&args.beside, args.mode.into())?;
    let (file, bytes) = input::file(&args.file)?;
    let request = request(&file, &bytes)?;
    let endpoint = match args.endpoint {
        EndpointArg::Mutate => Endpoint::Mutate,
        EndpointArg::Validate => Endpoint::Validate,
    };
    let response = admit(&request, &facts).response(endpoint);
    let answer = review::answer(&request.uid, &response);
    let answer: Value = serde_json::from_slice(&answer).expect("an answer is JSON");
    output::raw(&format!("{answer:#}\n"))?;
    Ok(Exit::Clean)
}

/// Reads a review: JSON as the webhook reads it, anything else as YAML.
fn request(file: &str, bytes: &[u8]) -> Result<Request, CliError> {
    let is_json = bytes.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'{');
    let json = review::read(bytes);
    if is_json || json.is_ok() {
        return json.map_err(|source| CliError::Review {
            file: file.to_owned(),
            source,
        });
    }
    let text = std::str::from_utf8(bytes)
        .map_err(|_| CliError::Manifest(format!("{file}: is not UTF-8")))?;
    let manifest = Manifest::read(file, text);
    if let Some(error) = manifest.errors.first() {
        return Err(CliError::Manifest(error.to_string()));
    }
    let [object] = manifest.objects.as_slice() else {
        let why = format!(
            "{file}: has {} documents, a review is one",
            manifest.objects.len()
        );
        return Err(CliError::Manifest(why));
    };
    Request::from_value(&object.value).map_err(|source| CliError::Review {
        file: file.to_owned(),
        source,
    })
}
