//! Annotations of ours, good and malformed.

use serde_json::{Map, Value, json};
use warmgate::rules;

use super::Source;

const DURATIONS: [&str; 12] = [
    "15m",
    "900",
    "60s",
    "1h30m",
    "20s",
    "5h",
    "4s",
    "engine=15m",
    "engine=20m,proxy=20s",
    "fifteen minutes",
    "0",
    "25h",
];
const SETTINGS: [&str; 10] = [
    "10s",
    "none",
    "20s",
    "2m",
    "45",
    "engine=30s",
    "3s",
    "nobody=5s",
    "-1",
    "10 minutes or so",
];
const PROBES: [&str; 14] = [
    "http://:8000/health",
    "http://:http/health",
    "https://:8443/ready",
    "tcp://:8000",
    "grpc://:9000/svc",
    "exec:cat /tmp/ready",
    "exec:[\"sh\", \"-c\", \"test -f /x\"]",
    "none",
    "engine=http://:8000/ready\nproxy=none",
    "tcp://:nobody",
    "http://host:8000/",
    "exec:",
    "grpc://:name",
    "udp://:1",
];
const REASONS: [&str; 5] = ["the vendor tunes it", "a test of ours", "true", "", "0"];

/// Adds a few keys of ours to a map of annotations.
pub(super) fn add(source: &mut Source<'_>, into: &mut Map<String, Value>) {
    for _ in 0..source.one(&[0, 0, 1, 1, 2, 4]) {
        let (key, value) = entry(source);
        into.insert(key, value);
    }
}

/// One key of ours with its value.
pub(super) fn entry(source: &mut Source<'_>) -> (String, Value) {
    let key = source.one(&[
        "max-startup-time",
        "max-startup-time",
        "startup-probe",
        "probe-timeout",
        "prestop-sleep",
        "drain-time",
        "rollout",
        "accelerator",
        "containers",
        "mode",
        "skip",
        "allow",
        "max-startup-tme",
    ]);
    let value = match key {
        "max-startup-time" | "max-startup-tme" => source.word(&DURATIONS),
        "startup-probe" => source.word(&PROBES),
        "probe-timeout" | "prestop-sleep" | "drain-time" => source.word(&SETTINGS),
        "rollout" => source.word(&["no-surge", "no-surge", "surge"]),
        "accelerator" => source.word(&["true", "true", "false", "maybe"]),
        "containers" => source.word(&["engine", "engine,proxy", "nobody", ""]),
        "mode" => source.word(&["warn", "audit", "fix", "enforce", "off"]),
        "skip" => source.word(&REASONS),
        _ => return allow(source),
    };
    (format!("warmgate.io/{key}"), value)
}

fn allow(source: &mut Source<'_>) -> (String, Value) {
    let rule = if source.chance(4) {
        "no-such-rule"
    } else {
        source.one(rules::ids())
    };
    (
        format!("allow.warmgate.io/{rule}"),
        json!(source.one(&REASONS)),
    )
}
