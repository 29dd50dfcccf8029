//! Reading the annotations of an object.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::words::{Seconds, type_of};

use super::handler::StartupProbe;
use super::table::{
    ALLOW_PREFIX, CONTAINERS, DRAIN_TIME, MAX_STARTUP_TIME, PREFIX, PRESTOP_SLEEP, PROBE_TIMEOUT,
    Row, STARTUP_PROBE,
};
use super::trouble::Trouble;
use super::value::{PerContainer, Rollout, Setting, StepDown};

/// The most keys of ours that are read of one map; there is one for each rule and a dozen more. Each one that is not known is held
/// against all that are.
const MOST_KEYS: usize = 256;

/// What the annotations of one object, template or namespace say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Annotations {
    /// `max-startup-time`, L: the longest time from container start to able to serve.
    pub max_startup_time: PerContainer<Seconds>,
    /// `startup-probe`: the handler to inject.
    pub startup_probe: PerContainer<StartupProbe>,
    /// `probe-timeout`: the floor of the liveness and readiness timeouts.
    pub probe_timeout: PerContainer<Setting>,
    /// `prestop-sleep`: the sleep before SIGTERM.
    pub prestop_sleep: PerContainer<Setting>,
    /// `drain-time`: the longest request in flight.
    pub drain_time: PerContainer<Setting>,
    /// `rollout`.
    pub rollout: Option<Rollout>,
    /// `accelerator`: whether the object counts as an accelerator workload.
    pub accelerator: Option<bool>,
    /// `containers`: the containers that serve; at least one, none twice.
    pub containers: Option<Vec<String>>,
    /// `mode`: the mode that the object steps down to.
    pub mode: Option<StepDown>,
    /// `skip`: why the object is left alone.
    pub skip: Option<String>,
    /// `allow.`: the rules that are silenced, and why.
    pub allow: BTreeMap<String, String>,
    /// `changes`, as it stands there.
    pub changes: Option<String>,
    /// Every key of ours that stands there, readable or not, in the order in which they stand.
    pub keys: Vec<String>,
    /// What is wrong with them, in the same order.
    pub troubles: Vec<Trouble>,
}

impl Annotations {
    /// The containers that values name, each with the key that names it: a name that no template has is malformed.
    pub fn named_containers(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let containers = self.containers.iter().flatten().map(String::as_str);
        under(MAX_STARTUP_TIME, self.max_startup_time.names())
            .chain(under(STARTUP_PROBE, self.startup_probe.names()))
            .chain(under(PROBE_TIMEOUT, self.probe_timeout.names()))
            .chain(under(PRESTOP_SLEEP, self.prestop_sleep.names()))
            .chain(under(DRAIN_TIME, self.drain_time.names()))
            .chain(under(CONTAINERS, containers))
    }
}

/// Each of `names` with the key they stand under.
fn under<'a>(
    key: &'static str,
    names: impl Iterator<Item = &'a str>,
) -> impl Iterator<Item = (&'static str, &'a str)> {
    names.map(move |name| (key, name))
}

/// Reads the value of `metadata.annotations`; `rules` are the ids that an `allow.` key may name. Absent and `null` say
/// nothing.
pub fn read(annotations: Option<&Value>, rules: &[&str]) -> Annotations {
    match annotations {
        None | Some(Value::Null) => Annotations::default(),
        Some(Value::Object(members)) => read_map(members, rules),
        Some(other) => Annotations {
            troubles: vec![Trouble::no_map(type_of(other))],
            ..Annotations::default()
        },
    }
}

/// Reads annotations that are known to be a map, such as the defaults of a namespace; else like [`read`].
pub fn read_map(members: &Map<String, Value>, rules: &[&str]) -> Annotations {
    let mut into = Annotations::default();
    for (key, value) in members.iter().filter(|(key, _)| is_ours(key)) {
        if into.keys.len() == MOST_KEYS {
            into.troubles.push(Trouble::too_many(MOST_KEYS));
            break;
        }
        into.keys.push(key.clone());
        if let Err(trouble) = read_one(key, value, rules, &mut into) {
            into.troubles.push(trouble);
        }
    }
    into
}

/// The keys of ours that stand as a label on an object: nothing reads them there. (The label `warmgate.io/mode` belongs on
/// a Namespace.)
pub fn labels(labels: Option<&Value>) -> Vec<Trouble> {
    let members = labels.and_then(Value::as_object);
    members
        .into_iter()
        .flat_map(Map::keys)
        .filter(|key| is_ours(key))
        .take(MOST_KEYS)
        .map(|key| Trouble::label(key))
        .collect()
}

/// Whether `key` stands under `warmgate.io` or a sub-domain of it.
pub fn is_ours(key: &str) -> bool {
    let domain = PREFIX.trim_end_matches('/');
    key.split_once('/')
        .and_then(|(prefix, _)| prefix.strip_suffix(domain))
        .is_some_and(|above| above.is_empty() || above.ends_with('.'))
}

/// Reads one annotation of ours into its field.
fn read_one(
    key: &str,
    value: &Value,
    rules: &[&str],
    into: &mut Annotations,
) -> Result<(), Trouble> {
    let row = Row::of(key).ok_or_else(|| Trouble::unknown_key(key, rules))?;
    if let Some(rule) = key.strip_prefix(ALLOW_PREFIX)
        && !rules.contains(&rule)
    {
        return Err(Trouble::unknown_rule(key, rule, rules));
    }
    let text = match value {
        Value::String(text) => text,
        // The API server reads a null in a map of text as the empty text.
        Value::Null => "",
        other => return Err(Trouble::no_text(key, type_of(other))),
    };
    (row.parse)(key, text, into).map_err(|complaint| Trouble::malformed(key, &complaint))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::TroubleKind;
    use super::*;

    const RULES: [&str; 2] = ["no-probes", "grace-too-short"];

    #[test]
    fn fields_keys_and_troubles_stand_side_by_side() {
        let annotations = json!({
            "example.com/mode": "x",
            "warmgate.io/skip": "the vendor tunes it",
            "warmgate.io/max-startup-time": "fifteen minutes",
            "warmgate.io/drain-time": "engine=2m",
            "warmgate.io/containers": "engine",
            "allow.warmgate.io/no-probes": "the gateway retries",
            "warmgate.io/changes": "",
        });
        let read = read(Some(&annotations), &RULES);
        assert_eq!(read.skip.as_deref(), Some("the vendor tunes it"));
        assert_eq!(read.allow["no-probes"], "the gateway retries");
        assert_eq!(read.changes.as_deref(), Some(""));
        assert!(read.max_startup_time.is_empty());
        assert_eq!(
            read.named_containers().collect::<Vec<_>>(),
            [(DRAIN_TIME, "engine"), (CONTAINERS, "engine")]
        );
        assert_eq!(read.keys.len(), 6);
        assert_eq!(read.troubles.len(), 1);
        let trouble = &read.troubles[0];
        assert_eq!(trouble.kind, TroubleKind::Malformed);
        assert_eq!(
            trouble.message,
            "warmgate.io/max-startup-time \"fifteen minutes\" is no duration: write 900, 900s, 15m or 1h30m"
        );
    }

    #[test]
    fn what_is_no_text_is_malformed() {
        for value in [
            json!(900),
            json!(true),
            json!(["15m"]),
            json!({}),
            json!(null),
        ] {
            let annotations = json!({"warmgate.io/max-startup-time": value});
            let read = read(Some(&annotations), &RULES);
            assert!(read.max_startup_time.is_empty());
            assert_eq!(read.troubles.len(), 1, "{value}");
            assert_eq!(read.troubles[0].kind, TroubleKind::Malformed);
        }
        assert_eq!(read(None, &RULES), Annotations::default());
        assert_eq!(read(Some(&Value::Null), &RULES), Annotations::default());
        let read = read(Some(&json!(["warmgate.io/skip"])), &RULES);
        assert_eq!(read.troubles[0].kind, TroubleKind::Malformed);
        assert_eq!(read.troubles[0].key, "");
    }

    #[test]
    fn of_many_keys_the_first_are_read_and_the_rest_is_told() {
        let many = (0..100_000).map(|number| (format!("warmgate.io/{number}"), json!("")));
        let read = read(Some(&many.clone().collect()), &RULES);
        assert_eq!(read.keys.len(), MOST_KEYS);
        assert_eq!(read.troubles.len(), MOST_KEYS + 1);
        assert_eq!(read.troubles[MOST_KEYS].kind, TroubleKind::Malformed);
        assert_eq!(labels(Some(&many.collect())).len(), MOST_KEYS);
    }

    #[test]
    fn an_unknown_key_gets_the_nearest_real_one() {
        for (key, nearest) in [
            ("warmgate.io/max-startup", Some(MAX_STARTUP_TIME)),
            ("warmgate.io/maxStartupTime", Some(MAX_STARTUP_TIME)),
            ("warmgate.io/preStop-sleep", Some(PRESTOP_SLEEP)),
            ("x.warmgate.io/probe-timeout", Some(PROBE_TIMEOUT)),
            ("warmgate.io/no-probes", Some("allow.warmgate.io/no-probes")),
            ("warmgate.io/zzz", None),
            ("warmgate.io/", None),
        ] {
            let read = read(Some(&json!({key: "x"})), &RULES);
            let nearest = nearest.map(str::to_owned);
            assert_eq!(read.keys, [key]);
            assert_eq!(
                read.troubles[0].kind,
                TroubleKind::UnknownKey { nearest },
                "{key}"
            );
        }
    }

    #[test]
    fn an_unknown_rule_gets_the_nearest_real_one() {
        for (rule, nearest) in [
            ("no-probe", Some("no-probes")),
            ("grace_too_short", Some("grace-too-short")),
            ("zzz", None),
            ("<rule>", None),
            ("", None),
        ] {
            let key = format!("{ALLOW_PREFIX}{rule}");
            let read = read(Some(&json!({&key: "a reason"})), &RULES);
            let nearest = nearest.map(str::to_owned);
            assert!(read.allow.is_empty());
            assert_eq!(
                read.troubles[0].kind,
                TroubleKind::UnknownRule { nearest },
                "{key}"
            );
        }
    }

    #[test]
    fn a_key_of_ours_is_told_from_others() {
        for key in [
            "warmgate.io/mode",
            "allow.warmgate.io/x",
            "a.b.warmgate.io/",
        ] {
            assert!(is_ours(key), "{key}");
        }
        for key in [
            "warmgate.io",
            "mode",
            "notwarmgate.io/mode",
            "warmgate.io.x/mode",
            "",
        ] {
            assert!(!is_ours(key), "{key}");
        }
    }

    #[test]
    fn labels_of_ours_are_named() {
        let found = labels(Some(
            &json!({"app": "x", "warmgate.io/mode": "fix", "warmgate.io/modes": 1}),
        ));
        assert_eq!(found.len(), 2);
        for trouble in found {
            assert_eq!(trouble.kind, TroubleKind::LabelKey);
            assert!(
                trouble.message.ends_with("annotation warmgate.io/mode"),
                "{trouble:?}"
            );
        }
        for nothing in [None, Some(json!(null)), Some(json!([1])), Some(json!({}))] {
            assert_eq!(labels(nothing.as_ref()), []);
        }
    }
}
