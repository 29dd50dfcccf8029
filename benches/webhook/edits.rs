//! Whether the answers are right, before anybody asks how fast they are.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use json_patch::Patch;
use serde_json::Value;

use super::process::{Place, Process, Program};
use super::reviews::{self, Expected, Review};

/// Asks once, and checks that the answer is one to this review and of the kind that is expected. Gives back the object as it is
/// behind the patch.
pub(crate) async fn ask(
    place: &Place,
    process: &Process,
    program: Program,
    review: &Review,
) -> Result<Value, String> {
    let mut connection = process.connect(&place.caller).await?;
    let answer = connection.ask(&review.request(program)).await;
    let answer: Value = serde_json::from_slice(answer.map_err(|error| error.to_string())?)
        .map_err(|error| error.to_string())?;
    let request: Value = serde_json::from_str(&review.text).map_err(|error| error.to_string())?;
    let response = &answer["response"];
    let mut object = reviews::object(review);
    let patched = match response["patch"].as_str() {
        Some(patch) => {
            apply(patch, &mut object)?;
            true
        }
        None => false,
    };
    let patches = program != Program::Nothing && review.expected == Expected::Patch;
    if response["uid"] != request["request"]["uid"]
        || response["allowed"] != true
        || patched != patches
    {
        return Err(format!("{program:?} answers {} with {answer}", review.name));
    }
    Ok(object)
}

fn apply(patch: &str, object: &mut Value) -> Result<(), String> {
    let text = STANDARD.decode(patch).map_err(|error| error.to_string())?;
    let patch: Patch = serde_json::from_slice(&text).map_err(|error| error.to_string())?;
    json_patch::patch(object, &patch).map_err(|error| error.to_string())
}

/// Whether two mended pods have the same containers and the same grace period. What differs is only the record that warmgate
/// keeps of its edits in an annotation.
pub(crate) fn same(ours: &Value, theirs: &Value) -> Result<(), String> {
    for field in ["containers", "terminationGracePeriodSeconds"] {
        let (ours, theirs) = (&ours["spec"][field], &theirs["spec"][field]);
        if ours != theirs {
            return Err(format!(
                "{field} mended by warmgate: {ours}, in Go: {theirs}"
            ));
        }
    }
    Ok(())
}
