//! Pods as owners write them, of which the command line says what will happen.

use serde_json::{Value, json};

use super::super::case::port;
use super::super::server::{Loading, OnTerm, Server, asks, looks};
use super::{
    ENGINE, Part, Telling, case, engine, grpc, http, loads, merged, named, probe, sidecar, tcp,
};

/// How long they are watched, in seconds.
const WATCHED: i64 = 40;

/// These runs. They end at once on SIGTERM, and need so much time to load as they declare.
pub(super) fn all() -> Vec<Telling> {
    [killed(), behind_other_things(), living()].concat()
}

/// A pod that says of itself how many milliseconds its engine loads.
fn declared<const N: usize>(
    name: &'static str,
    shows: &'static str,
    load: i64,
    parts: [Part; N],
) -> Telling {
    let mut case = case(json!({"terminationGracePeriodSeconds": 8}), parts, WATCHED);
    case.pod["metadata"] = json!({"annotations": {
        "warmgate.io/accelerator": "true",
        "warmgate.io/containers": ENGINE,
        "warmgate.io/max-startup-time": format!("{}s", load / 1_000),
    }});
    Telling { name, shows, case }
}

/// A container with nothing but a liveness probe.
fn only(handler: Value, failures: i64, period: i64, more: Value) -> Value {
    json!({"livenessProbe": probe(handler, failures, period, more)})
}

/// A pod of one container that a probe kills while it loads, or not.
fn alone(
    name: &'static str,
    shows: &'static str,
    container: Value,
    load: i64,
    while_loading: Loading,
) -> Telling {
    let server = loads(load, while_loading);
    declared(name, shows, load, [engine(container, server)])
}

fn killed() -> Vec<Telling> {
    let file = json!({"exec": {"command": looks()}});
    let command = json!({"exec": {"command": asks(port(0))}});
    let none = || json!({});
    vec![
        alone(
            "read-http-refused",
            "Three refused connections kill.",
            only(http(0), 3, 2, none()),
            12_000,
            Loading::Refused,
        ),
        alone(
            "read-http-503",
            "Three answers of 503 kill.",
            only(http(0), 3, 2, none()),
            12_000,
            Loading::Unavailable,
        ),
        alone(
            "read-http-hang",
            "A hang kills later by its timeout.",
            only(http(0), 2, 3, json!({"timeoutSeconds": 2})),
            14_000,
            Loading::Hang,
        ),
        alone(
            "read-tcp",
            "A TCP probe counts in the same way.",
            only(tcp(0), 4, 2, none()),
            12_000,
            Loading::Refused,
        ),
        alone(
            "read-grpc-refused",
            "A gRPC probe that is refused dials until its timeout.",
            only(grpc(0), 2, 3, none()),
            14_000,
            Loading::Refused,
        ),
        alone(
            "read-command",
            "A command that looks for a file fails at once.",
            only(file, 3, 2, none()),
            12_000,
            Loading::Refused,
        ),
        alone(
            "read-command-that-asks",
            "So does one that asks a server which is not there.",
            only(command, 2, 3, json!({"timeoutSeconds": 2})),
            12_000,
            Loading::Refused,
        ),
        alone(
            "read-delay",
            "An initial delay is too short to help.",
            only(http(0), 3, 2, json!({"initialDelaySeconds": 5})),
            16_000,
            Loading::Refused,
        ),
        alone(
            "read-one-failure",
            "One failure kills, in the first period.",
            only(http(0), 1, 5, none()),
            12_000,
            Loading::Refused,
        ),
        alone(
            "read-many-failures",
            "Ten failures in ten seconds kill.",
            only(http(0), 10, 1, none()),
            16_000,
            Loading::Refused,
        ),
        alone(
            "read-slow-period",
            "A long period makes the moment vague.",
            only(http(0), 2, 8, none()),
            20_000,
            Loading::Refused,
        ),
    ]
}

fn behind_other_things() -> Vec<Telling> {
    let liveness = |number| only(http(number), 3, 2, json!({}));
    let slow = || loads(12_000, Loading::Refused);
    let by_name = json!({"httpGet": {"path": "/", "port": "web"}});
    let hook = |hook: Value| json!({"lifecycle": {"preStop": hook}});
    vec![
        declared(
            "read-readiness",
            "A readiness probe kills nobody and keeps nobody alive.",
            12_000,
            [engine(
                merged(
                    liveness(0),
                    json!({"readinessProbe": probe(http(0), 3, 2, json!({}))}),
                ),
                slow(),
            )],
        ),
        declared(
            "read-sleep",
            "A hook delays the restart, not the kill.",
            12_000,
            [engine(
                merged(liveness(0), hook(json!({"sleep": {"seconds": 2}}))),
                slow(),
            )],
        ),
        declared(
            "read-drain",
            "So does a drain.",
            12_000,
            [engine(
                liveness(0),
                Server {
                    on_term: OnTerm::Serve(2_000),
                    ..slow()
                },
            )],
        ),
        declared(
            "read-named-port",
            "A port may have a name.",
            12_000,
            [engine(
                merged(
                    only(by_name, 3, 2, json!({})),
                    json!({"ports": [{"name": "web", "containerPort": port(0)}]}),
                ),
                slow(),
            )],
        ),
        declared(
            "read-beside-another",
            "Another container changes nothing.",
            12_000,
            [
                engine(liveness(0), slow()),
                named("helper", json!({}), Server::default()),
            ],
        ),
        declared(
            "read-behind-a-sidecar",
            "What a sidecar needs first is not counted.",
            12_000,
            [
                sidecar(
                    "proxy",
                    json!({"startupProbe": probe(http(0), 10, 1, json!({}))}),
                    loads(3_000, Loading::Unavailable),
                ),
                engine(liveness(1), slow()),
            ],
        ),
    ]
}

fn living() -> Vec<Telling> {
    let readiness = || json!({"readinessProbe": probe(http(0), 3, 1, json!({}))});
    let liveness = |failures, period| only(http(0), failures, period, json!({}));
    vec![
        alone(
            "read-patient",
            "A liveness probe that is patient enough.",
            merged(liveness(10, 2), readiness()),
            8_000,
            Loading::Refused,
        ),
        alone(
            "read-startup",
            "A startup probe that is.",
            merged(
                merged(liveness(3, 2), readiness()),
                json!({"startupProbe": probe(http(0), 20, 1, json!({}))}),
            ),
            8_000,
            Loading::Unavailable,
        ),
        alone(
            "read-depends",
            "It depends on the phase.",
            liveness(3, 4),
            10_000,
            Loading::Refused,
        ),
    ]
}
