//! The one table of the annotations.

use super::grammar::{self, Complaint};
use super::handler;
use super::read::Annotations;

/// What every key but the `allow.` keys begins with.
pub const PREFIX: &str = "warmgate.io/";
/// What the keys that silence one rule begin with; the rule's id follows.
pub const ALLOW_PREFIX: &str = "allow.warmgate.io/";

/// The longest time from a container's start to being able to serve, L.
pub const MAX_STARTUP_TIME: &str = "warmgate.io/max-startup-time";
/// The handler of the startup probe to inject.
pub const STARTUP_PROBE: &str = "warmgate.io/startup-probe";
/// The floor of the liveness and readiness timeouts.
pub const PROBE_TIMEOUT: &str = "warmgate.io/probe-timeout";
/// The sleep before SIGTERM.
pub const PRESTOP_SLEEP: &str = "warmgate.io/prestop-sleep";
/// The longest request in flight.
pub const DRAIN_TIME: &str = "warmgate.io/drain-time";
/// How the workload is rolled out.
pub const ROLLOUT: &str = "warmgate.io/rollout";
/// Whether the object counts as an accelerator workload.
pub const ACCELERATOR: &str = "warmgate.io/accelerator";
/// Which containers serve.
pub const CONTAINERS: &str = "warmgate.io/containers";
/// The weaker mode of this object.
pub const MODE: &str = "warmgate.io/mode";
/// Why this object is left alone.
pub const SKIP: &str = "warmgate.io/skip";
/// What we wrote, and what it replaced.
pub const CHANGES: &str = "warmgate.io/changes";

/// The key of the row that stands for every `allow.` key.
const ALLOW: &str = "allow.warmgate.io/<rule>";

/// One annotation. The lines of the reference are made from it.
pub struct Row {
    /// The key; `allow.warmgate.io/<rule>` stands for one key a rule.
    pub key: &'static str,
    /// The forms of the value, as Markdown.
    pub value: &'static str,
    /// What the value means, as Markdown.
    pub meaning: &'static str,
    /// A value as it may be written; empty where only warmgate writes it.
    pub example: &'static str,
    /// Reads the value of a key into its field; a complaint leaves the field as it was.
    pub(super) parse: fn(key: &str, text: &str, into: &mut Annotations) -> Result<(), Complaint>,
}

impl Row {
    /// The row of `key`.
    pub(super) fn of(key: &str) -> Option<&'static Self> {
        let key = if key.starts_with(ALLOW_PREFIX) {
            ALLOW
        } else {
            key
        };
        TABLE.iter().find(|row| row.key == key)
    }
}

/// Every annotation there is, in the order of the reference.
pub static TABLE: &[Row] = &[
    Row {
        key: MAX_STARTUP_TIME,
        value: "duration; a container's own as `NAME=`, comma separated: `engine=15m,proxy=20s`",
        meaning: "The longest time from container start to able to serve. The startup probe that is injected lasts 1.25 times \
                  as long; probes that would kill earlier are refused or reported.",
        example: "15m",
        parse: |_, text, into| grammar::durations(text).map(|value| into.max_startup_time = value),
    },
    Row {
        key: STARTUP_PROBE,
        value: "`http://:PORT/PATH`, `https://:PORT/PATH`, `tcp://:PORT`, `grpc://:PORT/SERVICE`, `exec:COMMAND` or `none`; \
                several one a line, each with `NAME=` before it",
        meaning: "The handler of the startup probe to inject; `none` injects none. The port may be the name of a declared \
                  port (not for `grpc`); there is no host, the pod itself is asked.",
        example: "http://:8000/health",
        parse: |_, text, into| {
            handler::startup_probes(text).map(|value| into.startup_probe = value)
        },
    },
    Row {
        key: PROBE_TIMEOUT,
        value: "duration or `none`; also per container as `NAME=`",
        meaning: "The floor of every liveness and readiness timeout of the serving containers, written or not, also above \
                  the period; `none` leaves the timeouts as they are.",
        example: "10s",
        parse: |_, text, into| grammar::settings(text).map(|value| into.probe_timeout = value),
    },
    Row {
        key: PRESTOP_SLEEP,
        value: "duration or `none`; also per container as `NAME=`",
        meaning: "How long a serving container sleeps before SIGTERM, so that endpoints and load balancers forget it first; \
                  `none` adds no sleep.",
        example: "20s",
        parse: |_, text, into| grammar::settings(text).map(|value| into.prestop_sleep = value),
    },
    Row {
        key: DRAIN_TIME,
        value: "duration or `none`; also per container as `NAME=`",
        meaning: "The longest request in flight. The grace period is made at least the preStop sleep and this.",
        example: "2m",
        parse: |_, text, into| grammar::settings(text).map(|value| into.drain_time = value),
    },
    Row {
        key: ROLLOUT,
        value: "`no-surge`",
        meaning: "Sets maxSurge 0 and maxUnavailable 1, for pools without a spare accelerator.",
        example: "no-surge",
        parse: |_, text, into| grammar::rollout(text).map(|value| into.rollout = Some(value)),
    },
    Row {
        key: ACCELERATOR,
        value: "`true` or `false`",
        meaning: "Treats the object as an accelerator workload, or not. `false` wins over everything that opts in.",
        example: "true",
        parse: |_, text, into| grammar::boolean(text).map(|value| into.accelerator = Some(value)),
    },
    Row {
        key: CONTAINERS,
        value: "container names, comma separated",
        meaning: "The containers that serve, where the accelerator does not tell. It decides alone.",
        example: "engine,router",
        parse: |_, text, into| grammar::containers(text).map(|value| into.containers = Some(value)),
    },
    Row {
        key: MODE,
        value: "`audit`, `warn` or `fix`",
        meaning: "A weaker mode for this object than its namespace has. A stronger one has no effect.",
        example: "warn",
        parse: |_, text, into| grammar::step_down(text).map(|value| into.mode = Some(value)),
    },
    Row {
        key: SKIP,
        value: "the reason, in words",
        meaning: "Leaves this object alone: it is neither edited nor judged.",
        example: "probes are tuned by the vendor's operator",
        parse: |_, text, into| grammar::reason(text).map(|value| into.skip = Some(value)),
    },
    Row {
        key: ALLOW,
        value: "the reason, in words",
        meaning: "Silences one rule on this object.",
        example: "the gateway in front retries for two minutes",
        parse: |key, text, into| {
            let rule = key.strip_prefix(ALLOW_PREFIX).unwrap_or(key);
            let reason = grammar::reason(text)?;
            into.allow.insert(rule.to_owned(), reason);
            Ok(())
        },
    },
    Row {
        key: CHANGES,
        value: "written by warmgate",
        meaning: "Every field that warmgate wrote, its value, what it replaced, and why in short. It stands on the metadata \
                  of the object that was edited, never in a template. Deleting it hands the values to the owner; \
                  `warmgate undo` takes them back.",
        example: "",
        parse: |_, text, into| {
            into.changes = Some(text.to_owned());
            Ok(())
        },
    },
];
