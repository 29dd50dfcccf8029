//! What happens every day.

use serde_json::json;

use super::super::case::port;
use super::super::server::{Loading, Server, asks, looks};
use super::{
    Telling, case, engine, grpc, http, loads, merged, named, never_loads, probe, sidecar, tcp,
};

/// These runs.
pub(super) fn all() -> Vec<Telling> {
    [handlers(), loading(), serving(), restarts(), sidecars()].concat()
}

fn handlers() -> Vec<Telling> {
    let started = |handler, server| {
        let startup = json!({"startupProbe": probe(handler, 10, 2, json!({}))});
        case(
            json!({"terminationGracePeriodSeconds": 3}),
            [engine(startup, server)],
            16,
        )
    };
    vec![
        Telling {
            name: "http-503-then-200",
            shows: "503 fails, 200 passes.",
            case: started(http(0), loads(7_000, Loading::Unavailable)),
        },
        Telling {
            name: "tcp-that-listens-early",
            shows: "A connection is all that a TCP probe asks for: it passes before the load is done.",
            case: started(tcp(0), loads(7_000, Loading::Unavailable)),
        },
        Telling {
            name: "grpc-that-is-not-serving",
            shows: "NOT_SERVING fails, SERVING passes.",
            case: started(grpc(0), loads(7_000, Loading::Unavailable)),
        },
        Telling {
            name: "command-that-looks-for-a-file",
            shows: "A command that ends with 0 passes.",
            case: started(
                json!({"exec": {"command": looks()}}),
                loads(7_000, Loading::Refused),
            ),
        },
        Telling {
            name: "command-that-takes-too-long",
            shows: "A command that outlasts its timeout has failed.",
            case: case(
                json!({"terminationGracePeriodSeconds": 3}),
                [engine(
                    json!({"livenessProbe": probe(json!({"exec": {"command": asks(port(0))}}), 3, 2, json!({}))}),
                    Server {
                        answers_in: 2_500,
                        ..Server::default()
                    },
                )],
                20,
            ),
        },
    ]
}

fn loading() -> Vec<Telling> {
    let startup = |more| json!({"startupProbe": probe(http(0), 3, 4, more)});
    let pod = |container, server, watched| {
        case(
            json!({"terminationGracePeriodSeconds": 3}),
            [engine(container, server)],
            watched,
        )
    };
    vec![
        Telling {
            name: "killed-while-it-answers-503",
            shows: "The last of three failures 4 s apart kills: 8 to 12 s after the start.",
            case: pod(startup(json!({})), never_loads(Loading::Unavailable), 34),
        },
        Telling {
            name: "killed-while-it-hangs",
            shows: "A hang is known only when the timeout is over.",
            case: pod(
                startup(json!({"timeoutSeconds": 3})),
                never_loads(Loading::Hang),
                34,
            ),
        },
        Telling {
            name: "killed-while-it-refuses-behind-a-delay",
            shows: "An initial delay moves the first probe, and not those after it.",
            case: pod(
                startup(json!({"initialDelaySeconds": 6})),
                never_loads(Loading::Refused),
                34,
            ),
        },
        Telling {
            name: "answers-a-probe-under-way",
            shows: "A probe that waits passes when the load ends within its timeout.",
            case: pod(
                startup(json!({"timeoutSeconds": 4})),
                loads(10_000, Loading::Hang),
                24,
            ),
        },
        Telling {
            name: "passes-before-it-is-loaded",
            shows: "A server that answers 200 while it loads passes its startup probe at once.",
            case: pod(startup(json!({})), loads(9_000, Loading::Ok), 16),
        },
        Telling {
            name: "guaranteed-window",
            shows: "A server that is there within the guaranteed window, 8 s, lives in every phase.",
            case: pod(startup(json!({})), loads(7_500, Loading::Refused), 24),
        },
    ]
}

fn serving() -> Vec<Telling> {
    let stalls = |length: i64, period: i64| {
        let container = json!({
            "startupProbe": probe(http(0), 10, period, json!({})),
            "livenessProbe": probe(http(0), 3, 2, json!({"timeoutSeconds": 1})),
        });
        let server = Server {
            stalls: vec![(12_000, 12_000 + length)],
            ..loads(4_000, Loading::Unavailable)
        };
        case(
            json!({"terminationGracePeriodSeconds": 3}),
            [engine(container, server)],
            30,
        )
    };
    let readiness = json!({
        "readinessProbe": probe(http(0), 2, 2, json!({"successThreshold": 2})),
    });
    vec![
        Telling {
            name: "stall-that-is-survived",
            shows: "Two failures of three do not kill, and a success ends their run.",
            case: stalls(3_500, 2),
        },
        Telling {
            name: "stall-that-is-fatal",
            shows: "Three failures kill. Until the worker of the startup probe has seen the next instance, that counts as started too, and the liveness probe asks it while it loads.",
            case: stalls(9_000, 5),
        },
        Telling {
            name: "readiness-comes-and-goes",
            shows: "Readiness takes two successes, is lost by two failures, and kills nobody.",
            case: case(
                json!({"terminationGracePeriodSeconds": 3}),
                [engine(
                    readiness.clone(),
                    Server {
                        stalls: vec![(14_000, 21_000)],
                        ..loads(4_000, Loading::Unavailable)
                    },
                )],
                34,
            ),
        },
        Telling {
            name: "readiness-behind-a-startup-probe",
            shows: "Readiness is asked as soon as the startup probe has passed, whenever its own tick would be.",
            case: case(
                json!({"terminationGracePeriodSeconds": 3}),
                [engine(
                    json!({
                        "startupProbe": probe(http(0), 20, 1, json!({})),
                        "readinessProbe": probe(http(0), 3, 10, json!({})),
                    }),
                    loads(5_000, Loading::Unavailable),
                )],
                14,
            ),
        },
    ]
}

fn restarts() -> Vec<Telling> {
    let exits = |at: i64, code: u8| Server {
        exits: Some((at, code)),
        ..Server::default()
    };
    vec![
        Telling {
            name: "crash-loop",
            shows: "A container that ends by itself starts again at once, then after 10 s, then after 20 s.",
            case: case(json!({}), [engine(json!({}), exits(1_000, 1))], 60),
        },
        Telling {
            name: "crash-loop-by-a-probe",
            shows: "The second kill of a probe starts the container again or makes it wait by the end of the life before.",
            case: case(
                json!({"terminationGracePeriodSeconds": 2}),
                [engine(
                    json!({"livenessProbe": probe(http(0), 3, 2, json!({}))}),
                    never_loads(Loading::Unavailable),
                )],
                75,
            ),
        },
        Telling {
            name: "on-failure",
            shows: "With restartPolicy OnFailure a container that ends with 3 runs again, and one that ends with 0 does not.",
            case: case(
                json!({"restartPolicy": "OnFailure"}),
                [
                    engine(json!({}), exits(3_000, 3)),
                    named("task", json!({}), exits(2_000, 0)),
                ],
                20,
            ),
        },
        Telling {
            name: "never",
            shows: "With restartPolicy Never a container that ends stays as it is.",
            case: case(
                json!({"restartPolicy": "Never"}),
                [
                    engine(
                        json!({"livenessProbe": probe(http(0), 3, 2, json!({}))}),
                        exits(5_000, 3),
                    ),
                    named("task", json!({}), exits(9_000, 0)),
                ],
                16,
            ),
        },
    ]
}

fn sidecars() -> Vec<Telling> {
    let proxy = json!({"startupProbe": probe(http(0), 10, 1, json!({}))});
    let liveness = json!({"livenessProbe": probe(http(0), 2, 2, json!({}))});
    let main = |number| json!({"livenessProbe": probe(http(number), 3, 2, json!({}))});
    vec![
        Telling {
            name: "sidecar-first",
            shows: "The other containers start when the startup probe of a sidecar has passed.",
            case: case(
                json!({"terminationGracePeriodSeconds": 3}),
                [
                    sidecar("proxy", proxy, loads(5_000, Loading::Unavailable)),
                    engine(main(1), Server::default()),
                ],
                16,
            ),
        },
        Telling {
            name: "sidecar-that-is-killed",
            shows: "A sidecar that its liveness probe kills runs again whatever the restartPolicy, and the others stay.",
            case: case(
                json!({"restartPolicy": "Never", "terminationGracePeriodSeconds": 3}),
                [
                    sidecar(
                        "proxy",
                        merged(liveness, json!({})),
                        Server {
                            stalls: vec![(6_000, 60_000)],
                            ..Server::default()
                        },
                    ),
                    engine(main(1), Server::default()),
                ],
                24,
            ),
        },
    ]
}
