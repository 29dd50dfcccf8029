//! What the kubelet's source says and few would guess.

use serde_json::json;

use super::super::server::{Loading, MISSING, OnTerm, Server};
use super::{SHORT_BACK_OFF, Telling, case, engine, grpc, http, loads, named, never_loads, probe};
use crate::conformance::Case;

/// These runs.
pub(super) fn all() -> Vec<Telling> {
    [counting(), cadence(), restarts(), grace()].concat()
}

fn counting() -> Vec<Telling> {
    vec![
        Telling {
            name: "crash-leaves-its-failures",
            shows: "A container that ends by itself leaves its run of failures to the next one, which is killed all the sooner.",
            case: case(
                json!({"terminationGracePeriodSeconds": 3}),
                [engine(
                    json!({"startupProbe": probe(http(0), 10, 2, json!({}))}),
                    Server {
                        exits: Some((12_500, 1)),
                        ..never_loads(Loading::Unavailable)
                    },
                )],
                32,
            ),
        },
        Telling {
            name: "stalled-body-of-a-startup-probe",
            shows: "The head of a 200 and no body is an error after three tries: the startup probe neither passes nor kills.",
            case: case(
                json!({"terminationGracePeriodSeconds": 3}),
                [engine(
                    json!({"startupProbe": probe(http(0), 2, 2, json!({}))}),
                    never_loads(Loading::Stall),
                )],
                24,
            ),
        },
        Telling {
            name: "stalled-body-of-a-liveness-probe",
            shows: "The same of a liveness probe: nobody is killed, and the first body that comes passes.",
            case: case(
                json!({"terminationGracePeriodSeconds": 3}),
                [engine(
                    json!({"livenessProbe": probe(http(0), 2, 2, json!({}))}),
                    loads(20_000, Loading::Stall),
                )],
                28,
            ),
        },
        Telling {
            name: "errors-between-failures",
            shows: "An error does not end a run of failures and does not add to it.",
            case: case(
                json!({"terminationGracePeriodSeconds": 3}),
                [engine(
                    json!({"startupProbe": probe(http(0), 6, 1, json!({}))}),
                    Server {
                        listens_after: 3_500,
                        exits: Some((9_000, 1)),
                        ..never_loads(Loading::Stall)
                    },
                )],
                20,
            ),
        },
        Telling {
            name: "missing-command",
            shows: "A liveness probe whose command the image does not have never kills.",
            case: case(
                json!({"terminationGracePeriodSeconds": 3}),
                [engine(
                    json!({"livenessProbe": probe(json!({"exec": {"command": [MISSING]}}), 1, 2, json!({}))}),
                    Server::default(),
                )],
                20,
            ),
        },
        Telling {
            name: "missing-port",
            shows: "A startup probe on a port name that the container does not declare never passes and never kills.",
            case: case(
                json!({"terminationGracePeriodSeconds": 3}),
                [engine(
                    json!({"startupProbe": probe(json!({"tcpSocket": {"port": "no-such-name"}}), 1, 2, json!({}))}),
                    Server::default(),
                )],
                20,
            ),
        },
    ]
}

fn cadence() -> Vec<Telling> {
    let delayed = |container: usize, delay: i64| json!({"livenessProbe": probe(http(container), 3, 2, json!({"initialDelaySeconds": delay}))});
    vec![
        Telling {
            name: "refused-grpc",
            shows: "A gRPC probe that is refused dials again until its timeout, so failures are 6 s apart with a period of 2 s.",
            case: case(
                json!({"terminationGracePeriodSeconds": 3}),
                [engine(
                    json!({"startupProbe": probe(grpc(0), 3, 2, json!({"timeoutSeconds": 6}))}),
                    never_loads(Loading::Refused),
                )],
                26,
            ),
        },
        Telling {
            name: "timeout-above-the-period",
            shows: "A probe that outlasts its period is followed by the next one at once.",
            case: case(
                json!({"terminationGracePeriodSeconds": 3}),
                [engine(
                    json!({"livenessProbe": probe(http(0), 3, 2, json!({"timeoutSeconds": 5}))}),
                    never_loads(Loading::Hang),
                )],
                24,
            ),
        },
        Telling {
            name: "one-slow-answer",
            shows: "A slow probe drops the ticks that fall into it but one, and the grid stays where it was.",
            case: case(
                json!({"terminationGracePeriodSeconds": 3}),
                [engine(
                    json!({"livenessProbe": probe(http(0), 3, 5, json!({"timeoutSeconds": 12}))}),
                    Server {
                        stalls: vec![(6_000, 17_000)],
                        ..Server::default()
                    },
                )],
                40,
            ),
        },
        Telling {
            name: "delay-from-the-whole-second",
            shows: "An initial delay counts from the start cut to the whole second, so a probe may come before it is over.",
            case: case(
                json!({"terminationGracePeriodSeconds": 3}),
                [
                    engine(delayed(0, 3), Server::default()),
                    named("second", delayed(1, 4), Server::default()),
                    named("third", delayed(2, 3), Server::default()),
                    named("fourth", delayed(3, 4), Server::default()),
                ],
                14,
            ),
        },
        Telling {
            name: "hook-of-a-neighbour",
            shows: "No container is probed for the first time while another one of its pod runs its postStart hook.",
            case: case(
                // The API takes no longer sleep than the grace period.
                json!({"terminationGracePeriodSeconds": 8}),
                [
                    engine(
                        json!({"livenessProbe": probe(http(0), 3, 1, json!({}))}),
                        Server::default(),
                    ),
                    named(
                        "neighbour",
                        json!({"lifecycle": {"postStart": {"sleep": {"seconds": 8}}}}),
                        Server::default(),
                    ),
                ],
                18,
            ),
        },
    ]
}

fn restarts() -> Vec<Telling> {
    let short = |case: Case| Case {
        longest_back_off: Some(SHORT_BACK_OFF),
        ..case
    };
    vec![
        Telling {
            name: "long-lives",
            shows: "A container that lives longer than the longest back-off is killed again and again and never waits.",
            case: short(case(
                json!({"terminationGracePeriodSeconds": 3}),
                [engine(
                    json!({"livenessProbe": probe(http(0), 3, 2, json!({"initialDelaySeconds": 2}))}),
                    never_loads(Loading::Unavailable),
                )],
                48,
            )),
        },
        Telling {
            name: "short-lives",
            shows: "A container that ends at once waits the longest back-off each time but the first.",
            case: short(case(
                json!({}),
                [engine(
                    json!({}),
                    Server {
                        exits: Some((500, 1)),
                        ..Server::default()
                    },
                )],
                30,
            )),
        },
        Telling {
            name: "clean-end-in-back-off",
            shows: "A container that a probe kills and that ends with 0 runs again at once, but not once it had to wait: OnFailure sees the 0.",
            case: case(
                json!({"restartPolicy": "OnFailure", "terminationGracePeriodSeconds": 5}),
                [engine(
                    json!({"livenessProbe": probe(http(0), 2, 1, json!({}))}),
                    Server {
                        on_term: OnTerm::Serve(200),
                        ..never_loads(Loading::Unavailable)
                    },
                )],
                30,
            ),
        },
    ]
}

fn grace() -> Vec<Telling> {
    let probed = json!({
        "livenessProbe": probe(http(0), 2, 1, json!({"terminationGracePeriodSeconds": 2})),
    });
    let deaf = Server {
        on_term: OnTerm::Ignore,
        ..never_loads(Loading::Unavailable)
    };
    let spec = json!({"restartPolicy": "Never", "terminationGracePeriodSeconds": 8});
    vec![
        Telling {
            name: "last-container-of-a-pod",
            shows: "With restartPolicy Never the last container of a pod is killed with the pod, whose grace period counts and not the probe's.",
            case: case(spec.clone(), [engine(probed.clone(), deaf.clone())], 18),
        },
        Telling {
            name: "one-of-two-containers",
            shows: "With restartPolicy Never and another container that stays, the probe's grace period counts.",
            case: case(
                spec,
                [
                    engine(probed, deaf),
                    named("neighbour", json!({}), Server::default()),
                ],
                18,
            ),
        },
    ]
}
