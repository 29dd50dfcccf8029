//! Objects as people and machines write them, drawn from bytes: good ones, bad ones and strange ones, alone and as an update
//! of one that was mended before. A fuzzer can draw from its bytes as well as a property test.

mod annotations;
mod container;
mod defaults;
#[cfg(test)]
mod draws;
mod forged;
mod metadata;
mod places;
mod pod;
mod source;
mod strange;
mod surroundings;
mod update;
mod workload;

use serde_json::Value;
use warmgate::facts::{Facts, Mode, Origin};
use warmgate::review::{Kind, Operation, Request};
use warmgate::subject::group_and_kind;

pub(crate) use defaults::with_server_defaults;
#[cfg(test)]
pub(crate) use draws::{bytes, draws};
pub(crate) use forged::THEIRS;
pub(crate) use source::Source;
pub(crate) use update::{Update, inject_sidecar, is_named};

/// An object and what is known besides.
#[derive(Clone, Debug)]
pub(crate) struct Drawn {
    /// The object without anything strange in it.
    pub(crate) plain: Value,
    /// The object; every second one has unknown fields, an odd order of keys or wrong types.
    pub(crate) object: Value,
    pub(crate) facts: Facts,
    pub(crate) namespace: &'static str,
    request: Request,
}

/// Draws an object that is new.
pub(crate) fn drawn(bytes: &[u8]) -> Drawn {
    draw(&mut Source::new(bytes))
}

/// Draws an object that was mended before, and what its owner made of it since.
pub(crate) fn drawn_update(bytes: &[u8]) -> Update {
    update::draw(&mut Source::new(bytes))
}

/// Draws the same, and lies in the record of what was changed that its owner sends.
pub(crate) fn drawn_forgery(bytes: &[u8]) -> Update {
    let mut source = Source::new(bytes);
    let update = update::draw(&mut source);
    Update {
        new: forged::forged(&mut source, &update.new),
        ..update
    }
}

fn draw(source: &mut Source<'_>) -> Drawn {
    let plain = workload::object(source);
    let object = if source.chance(2) {
        strange::made_strange(source, &plain)
    } else {
        plain.clone()
    };
    let facts = surroundings::facts(source);
    let namespace = source.one(&["team", "", "kube-system"]);
    let mut request = create(&object, namespace);
    match source.below(100) {
        97 => request.not_understood = Some("the object has a wrong type".to_owned()),
        98 => request.sub_resource = Some("status".to_owned()),
        99 => request.operation = Operation::Other,
        _ => {}
    }
    Drawn {
        plain,
        object,
        facts,
        namespace,
        request,
    }
}

impl Drawn {
    /// The facts of an API server that asks, whatever mode was drawn.
    pub(crate) fn admission(&self, mode: Mode) -> Facts {
        Facts {
            mode,
            origin: Origin::Admission,
            ..self.facts.clone()
        }
    }

    /// A request to create the object; a few are for something else.
    pub(crate) fn create(&self) -> Request {
        self.request.clone()
    }
}

/// A request to create an object.
pub(crate) fn create(object: &Value, namespace: &str) -> Request {
    let (group, kind) = group_and_kind(object).unwrap_or_default();
    Request {
        uid: "drawn".to_owned(),
        kind: Kind {
            group: group.to_owned(),
            version: String::new(),
            kind: kind.to_owned(),
        },
        namespace: namespace.to_owned(),
        operation: Operation::Create,
        object: Some(object.clone()),
        ..Request::default()
    }
}

/// A request to replace an object.
pub(crate) fn replace(old: &Value, object: &Value, namespace: &str) -> Request {
    Request {
        operation: Operation::Update,
        old_object: Some(old.clone()),
        ..create(object, namespace)
    }
}
