//! What is found of many runs together, as it stands in `tests/kubelet/conformance` and on the page.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use warmgate::kubelet::bounds::Verdict;
use warmgate::subject::Role;

use super::case::Case;
use super::judge::Judgement;
use super::observed::Observed;
use super::prediction::Outcome;
use super::seen::Seen;

/// What is found of many runs on one release of Kubernetes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Summary {
    /// The release.
    pub(crate) kubernetes: String,
    /// The first seed and the one after the last.
    pub(crate) seeds: (u64, u64),
    /// Pods that say nothing: the machine was too busy to make a container in time, or to let the servers do what they were told.
    pub(crate) invalid: usize,
    /// Pods that were judged.
    pub(crate) pods: Share,
    /// Of the pods that agree, those whose load ended so close to a probe that it had to be moved by milliseconds.
    pub(crate) razor: usize,
    /// How races of a load against a probe came out, by verdict.
    pub(crate) verdicts: BTreeMap<String, Race>,
    /// Verdicts that did not come true, a sentence each.
    pub(crate) contradicted: Vec<String>,
    /// Races in which the phase decides over a wider band than it may.
    pub(crate) too_wide: usize,
    /// First kills, restarts and readiness inside of the interval that was said before.
    pub(crate) intervals: Share,
    /// Moments of the replays within the tolerance.
    pub(crate) moments: Share,
    /// How much later than simulated things happened, by what they are.
    pub(crate) deviations: BTreeMap<String, Deviation>,
    /// Pods that agree, by what is special about them.
    pub(crate) dimensions: BTreeMap<String, BTreeMap<String, Share>>,
    /// Pods that do not, with what differs.
    pub(crate) misses: BTreeMap<u64, Vec<String>>,
}

/// So many of so many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Share(pub(crate) usize, pub(crate) usize);

impl Share {
    fn add(&mut self, holds: bool) {
        self.0 += usize::from(holds);
        self.1 += 1;
    }

    /// In percent.
    pub(crate) fn percent(self) -> f64 {
        100.0 * self.0 as f64 / self.1.max(1) as f64
    }
}

/// How races came out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Race {
    /// The probe passed first.
    pub(crate) passed: usize,
    /// The probe killed first.
    pub(crate) killed: usize,
}

/// How much later than simulated something happened, in milliseconds; the amount counts, not the sign.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Deviation {
    /// How often it was seen.
    pub(crate) count: usize,
    /// The median.
    pub(crate) p50: i64,
    /// 95 of 100 are not more.
    pub(crate) p95: i64,
    /// 99 of 100 are not more.
    pub(crate) p99: i64,
    /// The most.
    pub(crate) max: i64,
}

/// Collects runs.
#[derive(Debug, Default)]
pub(crate) struct Collection {
    summary: Summary,
    amounts: BTreeMap<String, Vec<i64>>,
}

impl Collection {
    /// Begins with nothing.
    pub(crate) fn new(kubernetes: &str, seeds: (u64, u64)) -> Self {
        let summary = Summary {
            kubernetes: kubernetes.to_owned(),
            seeds,
            ..Summary::default()
        };
        Self {
            summary,
            amounts: BTreeMap::new(),
        }
    }

    /// Adds a pod that says nothing.
    pub(crate) fn add_invalid(&mut self) {
        self.summary.invalid += 1;
    }

    /// Adds a run.
    pub(crate) fn add(&mut self, seed: u64, case: &Case, observed: &Observed, judged: &Judgement) {
        let summary = &mut self.summary;
        let agrees = judged.agrees();
        summary.pods.add(agrees);
        for (dimension, value) in dimensions(case) {
            let values = summary.dimensions.entry(dimension.to_owned()).or_default();
            values.entry(value).or_default().add(agrees);
        }
        for (verdict, outcome, narrow) in &judged.races {
            let race = summary
                .verdicts
                .entry(word(*verdict).to_owned())
                .or_default();
            match outcome {
                Outcome::Passed => race.passed += 1,
                Outcome::Killed => race.killed += 1,
            }
            summary.too_wide += usize::from(!narrow);
        }
        summary.intervals.0 += judged.intervals - judged.outside.len().min(judged.intervals);
        summary.intervals.1 += judged.intervals;
        let contradiction = judged.contradiction.iter();
        let contradicted = contradiction.map(|it| format!("seed {seed}: {it}"));
        summary.contradicted.extend(contradicted);
        let late = match &judged.replay {
            Ok(found) => {
                summary.razor += usize::from(found.razor);
                &found.late
            }
            Err(miss) => &miss.late,
        };
        summary.moments.0 += late.len();
        summary.moments.1 += observed.sights.len();
        for (seen, by) in late {
            let amount = (by.0.abs() + 500) / 1000;
            for what in [kind(*seen), "all"] {
                self.amounts
                    .entry(what.to_owned())
                    .or_default()
                    .push(amount);
            }
        }
        if !agrees {
            let mut what = judged.outside.clone();
            what.extend(judged.contradiction.clone());
            if let Err(miss) = &judged.replay {
                what.extend(miss.what.clone());
            }
            self.summary.misses.insert(seed, what);
        }
    }

    /// What is found of all of them.
    pub(crate) fn summary(mut self) -> Summary {
        for (what, mut amounts) in self.amounts {
            amounts.sort_unstable();
            let at = |percent: usize| {
                let place = (amounts.len() * percent).div_ceil(100).max(1) - 1;
                amounts.get(place).copied().unwrap_or(0)
            };
            let deviation = Deviation {
                count: amounts.len(),
                p50: at(50),
                p95: at(95),
                p99: at(99),
                max: at(100),
            };
            self.summary.deviations.insert(what, deviation);
        }
        self.summary
    }
}

/// Reads what is kept in `folder`, the oldest release first.
///
/// # Panics
///
/// When a file there is none of a summary.
pub(crate) fn read_summaries(folder: &std::path::Path) -> Vec<Summary> {
    let found = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<_> = found.map(|entry| entry.path()).collect();
    paths.sort();
    let read = |path: &std::path::PathBuf| {
        let text = std::fs::read_to_string(path).expect("a summary can be read");
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    paths.iter().map(read).collect()
}

/// How a verdict is called.
pub(crate) fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Survives => "survives",
        Verdict::Depends => "depends",
        Verdict::Dies => "dies",
    }
}

/// What a moment is one of.
fn kind(seen: Seen) -> &'static str {
    match seen {
        Seen::Started => "start",
        Seen::Exited(_) => "end",
        Seen::StartupPassed | Seen::StartupFailed | Seen::StartupErrored => "startup probe",
        Seen::LivenessPassed | Seen::LivenessFailed | Seen::LivenessErrored => "liveness probe",
        Seen::StartupKills | Seen::LivenessKills => "decision to kill",
        Seen::Ready | Seen::NotReady => "readiness",
        Seen::PreStop | Seen::PreStopEnded | Seen::PreStopCutOff => "preStop hook",
        Seen::BackOff => "back-off",
    }
}

/// What is special about a pod, by dimension.
fn dimensions(case: &Case) -> Vec<(&'static str, String)> {
    let spec = &case.pod["spec"];
    let containers = spec["containers"].as_array().into_iter().flatten();
    let engine = containers.clone().find(|one| one["name"] == "engine");
    let mut found = Vec::new();
    let policy = spec["restartPolicy"].as_str().unwrap_or("Always");
    found.push(("restartPolicy", policy.to_owned()));
    let removed = if case.removal.is_some() {
        "deleted"
    } else {
        "not deleted"
    };
    found.push(("deletion", removed.to_owned()));
    let sidecars = spec["initContainers"].as_array().into_iter().flatten();
    let sidecar = match sidecars.clone().next() {
        None => "none",
        Some(sidecar) if sidecar.get(Role::Startup.field()).is_some() => "with a startup probe",
        Some(_) => "without a probe",
    };
    found.push(("sidecar", sidecar.to_owned()));
    found.push((
        "containers",
        (containers.count() + sidecars.count()).to_string(),
    ));
    let (Some(engine), Some(server)) = (engine, case.servers.get("engine")) else {
        return found;
    };
    found.push(("while loading", server.while_loading.word().to_owned()));
    let ends = match server.exits {
        None => "no".to_owned(),
        Some((_, code)) => format!("with {code}"),
    };
    found.push(("exits by itself", ends));
    found.push(("on SIGTERM", server.on_term.word().to_owned()));
    let hook = &engine["lifecycle"]["preStop"];
    let hook = ["sleep", "exec"]
        .into_iter()
        .find(|kind| hook.get(kind).is_some());
    found.push(("preStop", hook.unwrap_or("none").to_owned()));
    for role in Role::ALL {
        let probe = &engine[role.field()];
        if probe.is_null() {
            continue;
        }
        let handlers = ["httpGet", "tcpSocket", "grpc", "exec"];
        let handler = handlers.into_iter().find(|it| probe.get(it).is_some());
        found.push((role.field(), handler.unwrap_or("none").to_owned()));
        let number = |field: &str| probe[field].as_i64().unwrap_or(0);
        if number("timeoutSeconds") > number("periodSeconds") {
            found.push(("special", format!("{} with timeout > period", role.field())));
        }
        if number("initialDelaySeconds") > 0 {
            found.push(("special", format!("{} with a delay", role.field())));
        }
        if probe.get("terminationGracePeriodSeconds").is_some() {
            found.push(("special", format!("{} with a grace period", role.field())));
        }
    }
    if !server.stalls.is_empty() {
        found.push(("special", "a stall while it serves".to_owned()));
    }
    found
}
