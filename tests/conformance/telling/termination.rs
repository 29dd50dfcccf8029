//! How containers end: hooks and grace periods, kills and deletions.

use serde_json::{Value, json};

use super::super::server::{Loading, OnTerm, Server};
use super::{Telling, case, deleted, engine, http, merged, never_loads, probe, sidecar};
use crate::conformance::Case;

/// These runs.
pub(super) fn all() -> Vec<Telling> {
    [deletions(), asked(), kills(), probe_graces(), sidecars()].concat()
}

/// When a pod that is to be deleted is, in seconds: its container has started by then.
const DELETED: i64 = 4;

/// No hook.
fn none() -> Value {
    json!({})
}

/// A hook of the kubelet's own.
fn native(seconds: i64) -> Value {
    json!({"lifecycle": {"preStop": {"sleep": {"seconds": seconds}}}})
}

/// A hook that is a command.
fn command(seconds: i64) -> Value {
    json!({"lifecycle": {"preStop": {"exec": {"command": ["sleep", seconds.to_string()]}}}})
}

fn on_term(on_term: OnTerm) -> Server {
    Server {
        on_term,
        ..Server::default()
    }
}

/// A pod with this grace period that is deleted.
fn deletion(grace: i64, hook: Value, term: OnTerm) -> Case {
    let spec = json!({"terminationGracePeriodSeconds": grace});
    deleted(case(spec, [engine(hook, on_term(term))], 16), DELETED, None)
}

/// A pod with this grace period whose container a liveness probe kills; `more` is what else the probe says.
fn kill(grace: i64, hook: Value, more: Value, term: OnTerm) -> Case {
    let liveness = json!({"livenessProbe": probe(http(0), 2, 2, more)});
    let server = Server {
        on_term: term,
        ..never_loads(Loading::Unavailable)
    };
    let spec = json!({"terminationGracePeriodSeconds": grace});
    case(spec, [engine(merged(liveness, hook), server)], 24)
}

fn deletions() -> Vec<Telling> {
    vec![
        Telling {
            name: "deleted",
            shows: "A container without a handler for SIGTERM ends with 143.",
            case: deletion(8, none(), OnTerm::Abort),
        },
        Telling {
            name: "deleted-and-drains",
            shows: "A container that ends within the grace period is not killed.",
            case: deletion(8, none(), OnTerm::Serve(3_000)),
        },
        Telling {
            name: "deleted-and-deaf",
            shows: "SIGKILL comes when the grace period is over: exit code 137.",
            case: deletion(4, none(), OnTerm::Ignore),
        },
        Telling {
            name: "deleted-with-a-sleep",
            shows: "SIGTERM comes when the sleep is over, and not before.",
            case: deletion(8, native(3), OnTerm::Abort),
        },
        Telling {
            name: "deleted-with-a-sleep-and-deaf",
            shows: "A sleep is part of the grace period.",
            case: deletion(6, native(3), OnTerm::Ignore),
        },
        Telling {
            name: "deleted-with-a-command-and-drains",
            shows: "A command and what follows SIGTERM share the grace period.",
            case: deletion(8, command(3), OnTerm::Serve(2_000)),
        },
        Telling {
            name: "deleted-with-a-sleep-nearly-as-long",
            shows: "Two seconds are left after SIGTERM, also where the hook has left one of the grace period.",
            case: deletion(4, native(3), OnTerm::Ignore),
        },
        Telling {
            name: "deleted-with-a-command-too-long",
            shows: "A command is cut off when the grace period is over, SIGTERM follows, and SIGKILL two seconds later.",
            case: deletion(4, command(60), OnTerm::Ignore),
        },
        Telling {
            name: "deleted-with-a-command-too-long-and-drains",
            shows: "Two seconds are enough for a container that needs one.",
            case: deletion(4, command(60), OnTerm::Serve(1_000)),
        },
        Telling {
            name: "deleted-with-a-command-too-long-and-aborts",
            shows: "A container that ends of SIGTERM does so when its command is cut off.",
            case: deletion(4, command(60), OnTerm::Abort),
        },
        Telling {
            name: "deleted-with-a-hook-above-the-grace",
            shows: "A command that would take two seconds more than the grace period is cut off all the same.",
            case: deletion(4, command(6), OnTerm::Ignore),
        },
        Telling {
            name: "deleted-with-the-grace-that-is-told",
            shows: "The same command in the grace period that warmgate asks for: it ends, and so does the server.",
            case: deletion(66, command(6), OnTerm::Serve(1_000)),
        },
        Telling {
            name: "deleted-with-one-second",
            shows: "A grace period of one second is two.",
            case: deletion(1, none(), OnTerm::Ignore),
        },
        Telling {
            name: "deleted-without-grace",
            shows: "A grace period of 0 takes the pod from the API at once; its container gets SIGTERM and two seconds.",
            case: deletion(0, none(), OnTerm::Ignore),
        },
    ]
}

fn asked() -> Vec<Telling> {
    let asked = |grace, asked| {
        let case = deletion(grace, none(), OnTerm::Ignore);
        deleted(case, DELETED, Some(asked))
    };
    vec![
        Telling {
            name: "deleted-sooner",
            shows: "A delete request may ask for a shorter grace period than the pod has.",
            case: asked(10, 3),
        },
        Telling {
            name: "deleted-later",
            shows: "A delete request may ask for a longer grace period than the pod has.",
            case: asked(2, 6),
        },
        Telling {
            name: "deleted-while-a-probe-kills",
            shows: "A deletion waits until a kill under way is over, and for the restart that follows; then it kills again.",
            case: deleted(
                Case {
                    watched: 32,
                    ..kill(8, none(), none(), OnTerm::Ignore)
                },
                8,
                None,
            ),
        },
    ]
}

fn kills() -> Vec<Telling> {
    vec![
        Telling {
            name: "killed",
            shows: "A probe kill sends SIGTERM and starts the container again.",
            case: kill(8, none(), none(), OnTerm::Abort),
        },
        Telling {
            name: "killed-and-drains",
            shows: "A probe kill waits for a container that ends by and by; meanwhile its probes go on.",
            case: kill(8, none(), none(), OnTerm::Serve(3_000)),
        },
        Telling {
            name: "killed-and-deaf",
            shows: "A probe kill sends SIGKILL when the pod's grace period is over.",
            case: kill(4, none(), none(), OnTerm::Ignore),
        },
        Telling {
            name: "killed-with-a-sleep",
            shows: "A probe kill runs the preStop hook too, which delays the restart.",
            case: kill(8, native(3), none(), OnTerm::Abort),
        },
        Telling {
            name: "killed-with-a-command-and-drains",
            shows: "On a probe kill a command and what follows SIGTERM share the grace period.",
            case: kill(8, command(2), none(), OnTerm::Serve(2_000)),
        },
        Telling {
            name: "killed-with-a-command-too-long",
            shows: "On a probe kill a command is cut off as well.",
            case: kill(3, command(60), none(), OnTerm::Ignore),
        },
    ]
}

fn probe_graces() -> Vec<Telling> {
    let grace = |seconds: i64| json!({"terminationGracePeriodSeconds": seconds});
    let startup = json!({"startupProbe": probe(http(0), 2, 2, grace(2))});
    let deaf = Server {
        on_term: OnTerm::Ignore,
        ..never_loads(Loading::Refused)
    };
    vec![
        Telling {
            name: "grace-of-the-probe-is-shorter",
            shows: "The grace period of the probe that failed counts instead of the pod's.",
            case: kill(9, none(), grace(2), OnTerm::Ignore),
        },
        Telling {
            name: "grace-of-the-probe-is-longer",
            shows: "The grace period of the probe counts also where it is the longer one.",
            case: kill(2, none(), grace(6), OnTerm::Ignore),
        },
        Telling {
            name: "grace-of-the-probe-cuts-the-hook",
            shows: "The preStop hook has to fit into the probe's grace period.",
            case: kill(9, command(6), grace(3), OnTerm::Ignore),
        },
        Telling {
            name: "grace-of-a-startup-probe",
            shows: "A startup probe has a grace period of its own too.",
            case: case(
                json!({"terminationGracePeriodSeconds": 9}),
                [engine(startup, deaf)],
                24,
            ),
        },
    ]
}

fn sidecars() -> Vec<Telling> {
    let pod = |grace: i64, hook: Value, main: OnTerm, side: OnTerm| {
        let spec = json!({"terminationGracePeriodSeconds": grace});
        let parts = [
            sidecar("first", json!({}), on_term(side)),
            sidecar("second", hook, on_term(side)),
            engine(json!({}), on_term(main)),
        ];
        deleted(case(spec, parts, 20), DELETED + 2, None)
    };
    vec![
        Telling {
            name: "sidecars-end-last",
            shows: "Sidecars get SIGTERM when all other containers have ended, the last one first.",
            case: pod(10, none(), OnTerm::Serve(2_000), OnTerm::Serve(1_500)),
        },
        Telling {
            name: "sidecar-with-a-hook",
            shows: "The preStop hook of a sidecar does not wait for its turn.",
            case: pod(10, native(4), OnTerm::Serve(2_000), OnTerm::Abort),
        },
        Telling {
            name: "sidecars-out-of-grace",
            shows: "Sidecars whose turn does not come within the grace period get SIGTERM then, and two seconds.",
            case: pod(4, none(), OnTerm::Ignore, OnTerm::Ignore),
        },
    ]
}
