//! What makes an object strange and is legal JSON all the same: fields nobody knows, an odd order of keys, wrong types.

use serde_json::{Map, Value};

use super::Source;
use super::places::places;

/// The object with one to three strange things in it.
pub(super) fn made_strange(source: &mut Source<'_>, object: &Value) -> Value {
    let mut strange = object.clone();
    for _ in 0..=source.below(3) {
        let kind = source.below(5);
        match (kind, pick(source, &mut strange, kind < 4)) {
            (0 | 1, Value::Object(members)) => unknown_field(source, members),
            (2 | 3, Value::Object(members)) => odd_order(source, members),
            (_, place) => *place = source.any(2),
        }
    }
    strange
}

/// A place in the object: a map if `map`, else anything below the root.
fn pick<'v>(source: &mut Source<'_>, object: &'v mut Value, map: bool) -> &'v mut Value {
    let mut pointers = places(object);
    pointers.retain(|pointer| match map {
        true => object.pointer(pointer).is_some_and(Value::is_object),
        false => !pointer.is_empty(),
    });
    let pointer = match pointers.len() {
        0 => String::new(),
        count => pointers.swap_remove(source.below(count)),
    };
    object
        .pointer_mut(&pointer)
        .expect("the pointer was collected from this object")
}

fn unknown_field(source: &mut Source<'_>, members: &mut Map<String, Value>) {
    let name = source.one(&[
        "x-team-note",
        "futureField",
        "initialDelaySecond",
        "a/b~c",
        "ü",
    ]);
    let value = source.any(2);
    members.insert(name.to_owned(), value);
}

fn odd_order(source: &mut Source<'_>, members: &mut Map<String, Value>) {
    let mut entries: Vec<(String, Value)> = std::mem::take(members).into_iter().collect();
    if !entries.is_empty() {
        let turn = source.below(entries.len());
        entries.rotate_left(turn);
    }
    if source.chance(2) {
        entries.reverse();
    }
    members.extend(entries);
}
