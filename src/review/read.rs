//! The bytes of a review to a [`Request`].
//!
//! The envelope is walked once, and every member that matters is kept as the text it is: what we do not read is only skipped,
//! however deep or strange, and a member that cannot be read hides no other. Of duplicate keys the last counts, as in the
//! API server's own decoder.

use serde::de::Deserialize;
use serde_json::Value;

use super::envelope::{Envelope, Members};
use super::{API_VERSION, KIND, Operation, Request, object};

/// The most JSON values that the objects of one review may have. A value takes up to 150 bytes once it is read, so a body of
/// the admitted 7 MiB made of `0,0,0` would need half a gigabyte; real objects of that size have a tenth of this number.
const MOST_VALUES: usize = 200_000;

/// Why bytes are no review that could be answered: without the uid the API server does not take an answer.
#[derive(Debug, thiserror::Error)]
pub enum ReviewError {
    /// The bytes are no text.
    #[error("the body is not UTF-8")]
    Encoding(#[source] std::str::Utf8Error),
    /// The text is no JSON, or no object with a `request` in it.
    #[error("the body is not an AdmissionReview")]
    Form(#[source] serde_json::Error),
    /// There is no request.
    #[error("the body is not an AdmissionReview: it has no request")]
    NoRequest,
    /// The request cannot be answered.
    #[error("the request of the AdmissionReview has no uid")]
    NoUid,
}

/// Reads an AdmissionReview.
///
/// # Errors
/// [`ReviewError`] where there is no uid to answer to. Everything else that is wrong makes the request
/// [not understood](Request::not_understood).
pub fn read(body: &[u8]) -> Result<Request, ReviewError> {
    let text = std::str::from_utf8(body).map_err(ReviewError::Encoding)?;
    let mut json = serde_json::Deserializer::from_str(text);
    let envelope = Envelope::deserialize(&mut json)
        .and_then(|envelope| json.end().map(|()| envelope))
        .map_err(ReviewError::Form)?;
    let members = envelope.request.as_ref().ok_or(ReviewError::NoRequest)?;
    let uid = members.text("uid").map_err(|_| ReviewError::NoUid)?;
    if uid.is_empty() {
        return Err(ReviewError::NoUid);
    }
    let mut request = Request {
        uid,
        ..Request::default()
    };
    request.not_understood = fill(&mut request, &envelope, members).err();
    Ok(request)
}

/// Fills in what can be read, the parts that name the object first, and says why not everything can.
fn fill(request: &mut Request, envelope: &Envelope, members: &Members) -> Result<(), String> {
    request.namespace = members.text("namespace")?;
    request.name = members.text("name")?;
    request.sub_resource = Some(members.text("subResource")?).filter(|name| !name.is_empty());
    request.dry_run = members.get("dryRun")?.unwrap_or(false);
    request.kind = members.get("kind")?.ok_or("request.kind is missing")?;
    if envelope.api_version()? != API_VERSION || envelope.kind()? != KIND {
        return Err(format!("the body is no {KIND} of {API_VERSION}"));
    }
    request.operation = match members.text("operation")?.as_str() {
        "CREATE" => Operation::Create,
        "UPDATE" => Operation::Update,
        "CONNECT" | "DELETE" => Operation::Other,
        _ => {
            request.operation = Operation::Other;
            return Err("request.operation is unknown".to_owned());
        }
    };
    if request.operation == Operation::Other || request.sub_resource.is_some() {
        return Ok(());
    }
    fill_objects(request, members)
}

/// Fills in the objects of a request that may be judged.
fn fill_objects(request: &mut Request, members: &Members) -> Result<(), String> {
    let object = members.raw("object");
    let old = members.raw("oldObject");
    if has_too_many_values(&[object, old]) {
        return Err(format!("the objects have more than {MOST_VALUES} values"));
    }
    let object = object_of("object", object)?.ok_or("request.object is missing")?;
    // With matchPolicy Equivalent the API server converts the object to the kind that the request names.
    if object
        .get("kind")
        .is_some_and(|kind| *kind != *request.kind.kind)
    {
        return Err("request.object has another kind than request.kind".to_owned());
    }
    if request.operation == Operation::Update {
        request.old_object = object_of("oldObject", old)?;
    }
    request.object = Some(object);
    Ok(())
}

/// The JSON object in `text`, or `None` for null.
fn object_of(member: &str, text: &str) -> Result<Option<Value>, String> {
    match object::read(text) {
        Ok(Value::Null) => Ok(None),
        Ok(object @ Value::Object(_)) => Ok(Some(object)),
        Ok(_) => Err(format!("request.{member} is not an object")),
        Err(error) => Err(format!("request.{member} cannot be read: {error}")),
    }
}

/// Whether reading the texts would make more than [`MOST_VALUES`] values. Signs inside of strings are counted too, so this
/// errs on the side of memory.
fn has_too_many_values(texts: &[&str]) -> bool {
    // Each value takes at least a byte.
    let bytes: usize = texts.iter().map(|text| text.len()).sum();
    let signs = || {
        texts
            .iter()
            .flat_map(|text| text.bytes())
            .filter(|byte| matches!(byte, b',' | b'[' | b'{'))
            .count()
    };
    bytes > MOST_VALUES && signs() > MOST_VALUES
}
