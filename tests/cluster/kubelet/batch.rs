//! Many pods at once on a real kubelet, each watched for its time and then removed.

use std::fs;
use std::time::{Duration, Instant};

use serde_json::json;

use super::observe::Evidence;
use super::recording::Recording;
use crate::conformance::Case;
use crate::harness::cluster::Cluster;
use crate::harness::fault::{Fault, Outcome};
use crate::harness::namespace::Namespace;

/// How much longer than its time a pod is left, for the kubelet makes its first container some time after it is created.
const SLACK: Duration = Duration::from_secs(12);

/// What a batch left behind.
#[derive(Debug)]
pub(crate) struct Batch {
    /// Everything that was written.
    pub(crate) evidence: Evidence,
    /// Which share of the processors' time was idle while pods were made, in percent.
    pub(crate) idle: f64,
}

/// What is still to be done to one pod.
struct Watched<'a> {
    name: &'a str,
    case: &'a Case,
    created: Instant,
    removed: bool,
}

/// Creates the named pods, `pace` apart, and returns when all have been watched. They are being removed by then.
///
/// # Errors
///
/// The cluster is not ours, or cannot be listened to.
pub(crate) fn run(
    cluster: &Cluster,
    namespace: &Namespace<'_>,
    cases: &[(String, Case)],
    pace: Duration,
) -> Outcome<Batch> {
    let recording = Recording::start(cluster, namespace)?;
    let before = Idle::now();
    let mut watched: Vec<Watched<'_>> = Vec::new();
    for (name, case) in cases {
        let answer = namespace.create("pods", &case.manifest(name));
        if answer.status != 201 {
            return Err(Fault::new(format!("{name}: {}", answer.body)));
        }
        watched.push(Watched {
            name,
            case,
            created: Instant::now(),
            removed: false,
        });
        let next = Instant::now() + pace;
        while Instant::now() < next {
            step(namespace, &mut watched);
            std::thread::sleep(pace.min(Duration::from_millis(100)));
        }
    }
    let idle = before.share();
    while watched.iter().any(|one| one.created.elapsed() < one.time()) {
        step(namespace, &mut watched);
        std::thread::sleep(Duration::from_millis(100));
    }
    let evidence = recording.evidence()?;
    Ok(Batch { evidence, idle })
}

impl Watched<'_> {
    fn time(&self) -> Duration {
        Duration::from_secs(self.case.watched.unsigned_abs()) + SLACK
    }
}

/// Deletes what is to be deleted: pods whose case says so, and those that have been watched long enough.
fn step(namespace: &Namespace<'_>, watched: &mut [Watched<'_>]) {
    for one in watched.iter_mut().filter(|one| !one.removed) {
        let age = one.created.elapsed();
        let grace = match one.case.removal {
            Some(removal) if age >= Duration::from_secs(removal.after.unsigned_abs()) => {
                removal.grace
            }
            _ if age >= one.time() => Some(1),
            _ => continue,
        };
        one.removed = true;
        namespace.delete("pods", one.name, &json!({"gracePeriodSeconds": grace}));
    }
}

/// The processors' time: what was idle or would have given way, and all of it.
#[derive(Debug)]
pub(crate) struct Idle(u64, u64);

impl Idle {
    /// What it is by now.
    pub(crate) fn now() -> Self {
        let text = fs::read_to_string("/proc/stat").unwrap_or_default();
        let line = text.lines().next().unwrap_or_default();
        let times: Vec<u64> = line
            .split_ascii_whitespace()
            .filter_map(|word| word.parse().ok())
            .collect();
        // user, nice, system, idle, iowait ...: who is nice gives way to the kubelet and its pods.
        let idle = [1, 3, 4]
            .iter()
            .filter_map(|column| times.get(*column))
            .sum();
        Self(idle, times.iter().take(8).sum())
    }

    /// Which share of the time since then was idle, in percent.
    pub(crate) fn share(&self) -> f64 {
        let now = Self::now();
        let all = (now.1 - self.1).max(1);
        100.0 * (now.0 - self.0) as f64 / all as f64
    }
}
