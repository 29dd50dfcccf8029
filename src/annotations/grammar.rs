//! The grammars of the values, the startup probe's handlers apart.

use crate::words::Seconds;

use super::value::{PerContainer, Rollout, Setting, StepDown};

/// Values of a reason that give none.
const NO_REASONS: [&str; 8] = ["true", "false", "yes", "no", "on", "off", "0", "1"];

/// The most containers that one value may name. Each name is held against all others, and against all containers there are.
const MOST_NAMES: usize = 128;

/// What is wrong with a value that names more.
const TOO_MANY_NAMES: &str = "is one name too many: name at most 128 containers";

/// Why a value cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Complaint {
    /// The part of the value that is wrong.
    pub(super) part: String,
    /// What is wrong with it and what to write instead; a sentence whose subject is the part.
    pub(super) why: String,
}

impl Complaint {
    /// `part` is wrong, `why` says how.
    pub(super) fn new(part: &str, why: impl Into<String>) -> Self {
        Self {
            part: part.to_owned(),
            why: why.into(),
        }
    }
}

/// `15m`, or `engine=15m,proxy=20s`.
pub(super) fn durations(text: &str) -> Result<PerContainer<Seconds>, Complaint> {
    per_container(text.split(','), |part| {
        Seconds::parse(part).map_err(|error| error.to_string())
    })
}

/// Durations that can also be `none`.
pub(super) fn settings(text: &str) -> Result<PerContainer<Setting>, Complaint> {
    per_container(text.split(','), |part| match part {
        "none" => Ok(Setting::Off),
        _ => Seconds::parse(part)
            .map(Setting::For)
            .map_err(|error| format!("{error}, or none")),
    })
}

/// Reads each of `parts` as `VALUE` or `NAME=VALUE`: at most one without a name, and no name twice.
pub(super) fn per_container<'a, T>(
    parts: impl Iterator<Item = &'a str>,
    parse: impl Fn(&str) -> Result<T, String>,
) -> Result<PerContainer<T>, Complaint> {
    let mut values = PerContainer::default();
    for part in parts {
        let (name, value) = split_name(part);
        if let Some(name) = name.filter(|name| !is_container_name(name)) {
            return Err(Complaint::new(name, NO_CONTAINER_NAME));
        }
        let read = parse(value).map_err(|why| Complaint::new(part, why))?;
        let twice = match name {
            Some(name) if values.named.len() == MOST_NAMES => {
                return Err(Complaint::new(name, TOO_MANY_NAMES));
            }
            Some(name) => {
                let twice = values.names().any(|other| other == name);
                values.named.push((name.to_owned(), read));
                twice
            }
            None => values.all.replace(read).is_some(),
        };
        if twice {
            let why = "says twice what one container gets: write one value for each container";
            return Err(Complaint::new(part, why));
        }
    }
    Ok(values)
}

/// The `NAME` before the first `=`, and the value behind it. A colon before the `=` belongs to a handler, whose path or
/// command may hold one.
fn split_name(part: &str) -> (Option<&str>, &str) {
    match part.split_once('=') {
        Some((name, value)) if !name.contains(':') => (Some(name.trim()), value.trim()),
        _ => (None, part.trim()),
    }
}

/// What is wrong with a name that no container can have.
const NO_CONTAINER_NAME: &str =
    "is no container name: write small letters, digits and -, at most 63";

/// Whether a container can be named so (a DNS label, `ValidateDNS1123Label` in
/// `staging/src/k8s.io/apimachinery/pkg/util/validation/validation.go`).
fn is_container_name(name: &str) -> bool {
    (1..=63).contains(&name.len())
        && !name.starts_with('-')
        && !name.ends_with('-')
        && name
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
}

/// `engine,router`.
pub(super) fn containers(text: &str) -> Result<Vec<String>, Complaint> {
    let mut names: Vec<String> = Vec::new();
    for name in text.split(',').map(str::trim) {
        if !is_container_name(name) {
            return Err(Complaint::new(name, NO_CONTAINER_NAME));
        }
        if names.len() == MOST_NAMES {
            return Err(Complaint::new(name, TOO_MANY_NAMES));
        }
        if names.iter().any(|other| other == name) {
            let why = "stands twice: name each serving container once";
            return Err(Complaint::new(name, why));
        }
        names.push(name.to_owned());
    }
    Ok(names)
}

/// `no-surge`.
pub(super) fn rollout(text: &str) -> Result<Rollout, Complaint> {
    match text.trim() {
        "no-surge" => Ok(Rollout::NoSurge),
        _ => Err(Complaint::new(text, "is no rollout: write no-surge")),
    }
}

/// `true` or `false`.
pub(super) fn boolean(text: &str) -> Result<bool, Complaint> {
    match text.trim() {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(Complaint::new(text, "is neither true nor false")),
    }
}

/// `audit`, `warn` or `fix`.
pub(super) fn step_down(text: &str) -> Result<StepDown, Complaint> {
    match text.trim() {
        "audit" => Ok(StepDown::Audit),
        "fix" => Ok(StepDown::Fix),
        "warn" => Ok(StepDown::Warn),
        "enforce" => Err(Complaint::new(
            text,
            "can only be asked for by the namespace's label: write audit, warn or fix",
        )),
        _ => Err(Complaint::new(text, "is no mode: write audit, warn or fix")),
    }
}

/// Words that say why; a switch is no reason.
pub(super) fn reason(text: &str) -> Result<String, Complaint> {
    let reason = text.trim();
    let none = reason.is_empty()
        || NO_REASONS
            .iter()
            .any(|word| reason.eq_ignore_ascii_case(word));
    if none {
        return Err(Complaint::new(text, "is no reason: write why, in words"));
    }
    Ok(reason.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(all: Option<i64>, named: &[(&str, i64)]) -> PerContainer<Seconds> {
        PerContainer {
            all: all.map(Seconds),
            named: named
                .iter()
                .map(|(name, value)| ((*name).to_owned(), Seconds(*value)))
                .collect(),
        }
    }

    #[test]
    fn durations_hold_for_all_or_for_one() {
        for (text, want) in [
            ("15m", seconds(Some(900), &[])),
            (" 900s\n", seconds(Some(900), &[])),
            (
                "engine=15m,proxy=20s",
                seconds(None, &[("engine", 900), ("proxy", 20)]),
            ),
            ("15m, proxy = 20 s", seconds(Some(900), &[("proxy", 20)])),
            ("proxy=20s,15m", seconds(Some(900), &[("proxy", 20)])),
        ] {
            assert_eq!(durations(text), Ok(want), "{text}");
        }
        let values = durations("15m,proxy=20s").expect("reads");
        assert_eq!(values.get("proxy"), Some(&Seconds(20)));
        assert_eq!(values.get("engine"), Some(&Seconds(900)));
        let values = durations("proxy=20s").expect("reads");
        assert_eq!(values.get("engine"), None);
    }

    #[test]
    fn a_wrong_part_is_named() {
        for (text, part) in [
            ("", ""),
            ("fifteen minutes", "fifteen minutes"),
            ("engine=15m,", ""),
            ("engine=15m,proxy=soon", "proxy=soon"),
            ("15m,20m", "20m"),
            ("engine=15m,engine=20m", "engine=20m"),
            ("Engine=15m", "Engine"),
            ("=15m", ""),
            ("-a=15m", "-a"),
            ("engine=", "engine="),
            ("none", "none"),
            ("25h", "25h"),
        ] {
            let complaint = durations(text).expect_err(text);
            assert_eq!(complaint.part, part, "{text}: {}", complaint.why);
        }
    }

    #[test]
    fn settings_can_be_switched_off() {
        let values = settings("none,engine=5s,proxy=none").expect("reads");
        assert_eq!(values.all, Some(Setting::Off));
        assert_eq!(values.get("engine"), Some(&Setting::For(Seconds(5))));
        assert_eq!(values.get("proxy"), Some(&Setting::Off));
        for text in ["", "off", "None", "0", "engine=no", "none,none"] {
            assert!(settings(text).is_err(), "{text}");
        }
    }

    #[test]
    fn containers_are_names_and_none_stands_twice() {
        assert_eq!(containers("engine"), Ok(vec!["engine".to_owned()]));
        let names = containers(" engine , router-2 ").expect("reads");
        assert_eq!(names, ["engine", "router-2"]);
        let long = "a".repeat(64);
        for text in ["", ",", "engine,", "a,a", "A", "a_b", "a b", "a-", &long] {
            assert!(containers(text).is_err(), "{text}");
        }
    }

    #[test]
    fn words_from_closed_lists() {
        assert_eq!(rollout("no-surge\n"), Ok(Rollout::NoSurge));
        assert_eq!(boolean("true"), Ok(true));
        assert_eq!(boolean("false"), Ok(false));
        assert_eq!(step_down("audit"), Ok(StepDown::Audit));
        assert_eq!(step_down("warn"), Ok(StepDown::Warn));
        assert_eq!(step_down("fix"), Ok(StepDown::Fix));
        for text in ["", "surge", "No-Surge", "true"] {
            assert!(rollout(text).is_err(), "{text}");
        }
        for text in ["", "True", "yes", "1", "gpu"] {
            assert!(boolean(text).is_err(), "{text}");
        }
        for text in ["", "Warn", "enforce", "off", "audit,warn"] {
            assert!(step_down(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_reason_says_why() {
        assert_eq!(reason(" it waits "), Ok("it waits".to_owned()));
        assert_eq!(reason("2"), Ok("2".to_owned()));
        for word in NO_REASONS
            .iter()
            .chain(&["", "  ", "\n", "TRUE", "Yes ", " oFF"])
        {
            assert!(reason(word).is_err(), "{word}");
        }
    }
}
