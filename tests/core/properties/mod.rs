//! What holds for every object, whatever it looks like: a thousand objects a property, or as many as `WARMGATE_CASES` says
//! (`make test`: 20,000).
//! `make fuzz` looks for objects of which it does not hold.

mod answers;
mod cure;
mod edits;
#[cfg(test)]
mod foreign;
#[cfg(test)]
mod holds;
mod robust;
mod undo;
mod updates;
mod verdicts;

use json_patch::Patch;
use serde_json::{Value, json};
use warmgate::admit::{Decision, admit};
use warmgate::facts::{Facts, Mode};
use warmgate::review::Request;

use crate::generate::Drawn;
#[cfg(test)]
pub(crate) use holds::cases;
#[cfg(test)]
use holds::holds;

/// Something that holds for what is drawn from any bytes; the error says of what it does not.
#[cfg(not(test))]
type Property = fn(&[u8]) -> Result<(), String>;

/// Makes each property a test, and all of them a list for the fuzzer.
macro_rules! properties {
    ($($room:ident::$name:ident,)*) => {
        /// The properties, with their names.
        #[cfg(not(test))]
        pub(crate) const PROPERTIES: &[(&str, Property)] = &[$((stringify!($name), $room::$name)),*];

        $(
            #[test]
            fn $name() {
                holds($room::$name);
            }
        )*
    };
}

properties! {
    answers::every_answer_fits_its_question,
    cure::what_an_edit_cures_is_not_found_again,
    edits::a_file_is_mended_in_place,
    edits::a_record_that_lies_writes_nothing_that_edits_would_not,
    edits::a_sidecar_may_come_before_or_after,
    edits::every_operation_is_allowed_and_applies,
    edits::files_and_admission_agree,
    edits::mending_twice_is_mending_once,
    edits::nothing_of_the_owners_is_weakened,
    edits::what_is_not_ours_stays_as_it_was_written,
    edits::what_is_recorded_is_known_again,
    robust::a_damaged_review_is_survived,
    robust::any_bytes_are_survived,
    robust::any_json_is_survived,
    robust::the_same_request_has_the_same_answer,
    undo::a_record_that_lies_puts_nothing_back,
    undo::a_record_that_lies_reaches_no_further_than_edits,
    undo::taking_back_twice_is_taking_back_once,
    undo::what_the_owner_has_made_of_it_since_stays,
    undo::what_was_mended_becomes_what_it_was,
    updates::a_template_that_is_not_changed_is_not_written,
    updates::nobody_is_refused_for_a_value_of_ours,
    updates::nothing_that_the_owner_said_since_is_weakened,
    verdicts::a_lost_mutating_call_never_becomes_a_refusal,
    verdicts::a_refusal_never_rests_on_facts,
    verdicts::an_edit_of_ours_never_becomes_a_refusal,
    verdicts::everything_said_has_the_form_of_a_message,
    verdicts::nobody_stands_there_to_be_refused,
}

/// The facts of an API server that asks in a mode that edits: the drawn one, or `fix`.
fn editing(drawn: &Drawn) -> Facts {
    drawn.admission(drawn.facts.mode.max(Mode::Fix))
}

/// The object with the patch in it.
fn patched(object: &Value, patch: &Patch) -> Result<Value, String> {
    let mut patched = object.clone();
    json_patch::patch(&mut patched, patch).map_err(|error| format!("{error}\n{}", json!(patch)))?;
    Ok(patched)
}

/// A request with another object in it.
fn with_object(request: &Request, object: &Value) -> Request {
    Request {
        object: Some(object.clone()),
        ..request.clone()
    }
}

/// The decision on a request, and what it makes of the object.
fn mended(request: &Request, facts: &Facts) -> Result<(Decision, Value), String> {
    let decision = admit(request, facts);
    let object = request
        .object
        .as_ref()
        .expect("drawn requests have an object");
    let after = patched(object, &decision.patch)?;
    Ok((decision, after))
}

/// The default annotations that hold for an object.
fn namespace_defaults(drawn: &Drawn) -> Value {
    let own = drawn.object["metadata"]["namespace"]
        .as_str()
        .filter(|own| !own.is_empty());
    let defaults = drawn
        .facts
        .namespace_defaults(own.unwrap_or(drawn.namespace));
    defaults.cloned().map_or(Value::Null, Value::Object)
}

/// Fails with what was seen.
fn ensure(holds: bool, what: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(what()) }
}
