//! The runs that tell most about a kubelet: each shows one thing that is easily taken for otherwise.

mod ordinary;
mod points;
mod read;
mod termination;

use serde_json::{Value, json};

use super::case::{Case, Removal, port};
use super::server::{Loading, Server};

/// One run.
#[derive(Clone, Debug)]
pub(crate) struct Telling {
    /// What it is called, as a pod and as a file.
    pub(crate) name: &'static str,
    /// What it shows, a sentence.
    pub(crate) shows: &'static str,
    /// The pod and its servers.
    pub(crate) case: Case,
}

/// All of them.
pub(crate) fn telling_runs() -> Vec<Telling> {
    [points::all(), termination::all(), ordinary::all()].concat()
}

/// Pods that an owner asks `check`, `explain` and `fix` about. They are not recorded: it is what the kubelet in front of us does that
/// is held against what was printed.
pub(crate) fn read_runs() -> Vec<Telling> {
    read::all()
}

/// Runs that show what they are for by chance only, each with the broken simulator that it tells from the real one: they are
/// recorded again until they do.
pub(crate) const BY_CHANCE: [(&str, &str); 2] = [
    (
        "delay-from-the-whole-second",
        "counts the initial delay from the real start",
    ),
    ("one-slow-answer", "moves the grid with a late probe"),
];

/// The name of the container that a run is about.
pub(crate) const ENGINE: &str = "engine";

/// The lowered maximum of a back-off, in seconds, where a run needs one.
pub(crate) const SHORT_BACK_OFF: i64 = 4;

/// One container and what its server does.
struct Part {
    name: &'static str,
    container: Value,
    server: Server,
}

/// The container that a run is about.
fn engine(container: Value, server: Server) -> Part {
    named(ENGINE, container, server)
}

fn named(name: &'static str, container: Value, server: Server) -> Part {
    Part {
        name,
        container,
        server,
    }
}

/// A container that starts before the others and ends after them.
fn sidecar(name: &'static str, container: Value, server: Server) -> Part {
    named(
        name,
        merged(container, json!({"restartPolicy": "Always"})),
        server,
    )
}

/// A pod of which the spec says this besides its containers, watched for so many seconds.
fn case<const N: usize>(spec: Value, parts: [Part; N], watched: i64) -> Case {
    let mut lists = json!({"containers": []});
    let mut servers = std::collections::BTreeMap::new();
    for part in parts {
        let list = if part.container.get("restartPolicy").is_some() {
            "initContainers"
        } else {
            "containers"
        };
        let container = merged(json!({"name": part.name}), part.container);
        if lists[list].is_null() {
            lists[list] = json!([]);
        }
        lists[list]
            .as_array_mut()
            .into_iter()
            .for_each(|it| it.push(container.clone()));
        servers.insert(part.name.to_owned(), part.server);
    }
    Case {
        pod: json!({"spec": merged(lists, spec)}),
        servers,
        removal: None,
        watched,
        longest_back_off: None,
    }
}

/// The same pod, deleted so many seconds after it was made.
fn deleted(case: Case, after: i64, grace: Option<i64>) -> Case {
    Case {
        removal: Some(Removal { after, grace }),
        ..case
    }
}

/// Both objects in one; what stands in both is as in `more`.
fn merged(mut one: Value, more: Value) -> Value {
    if let (Value::Object(one), Value::Object(more)) = (&mut one, more) {
        one.extend(more);
    }
    one
}

/// A probe with its failureThreshold and periodSeconds, and what else it says.
fn probe(handler: Value, failures: i64, period: i64, more: Value) -> Value {
    let numbers = json!({"failureThreshold": failures, "periodSeconds": period});
    merged(merged(handler, numbers), more)
}

/// A request to the HTTP server of the container with this number.
fn http(container: usize) -> Value {
    json!({"httpGet": {"path": "/health", "port": port(container)}})
}

fn grpc(container: usize) -> Value {
    json!({"grpc": {"port": port(container) + 1}})
}

fn tcp(container: usize) -> Value {
    json!({"tcpSocket": {"port": port(container) + 2}})
}

/// A server that is loaded after so many milliseconds.
fn loads(ready_after: i64, while_loading: Loading) -> Server {
    Server {
        ready_after,
        while_loading,
        ..Server::default()
    }
}

/// A server that is still loading when nobody watches any more.
fn never_loads(while_loading: Loading) -> Server {
    loads(600_000, while_loading)
}
