//! Drawn pods on a real kubelet, and what became of each.

use std::cmp::Reverse;
use std::time::Duration;

use super::batch;
use super::runs::version;
use crate::conformance::{Case, Class, Observed, draw};
use crate::harness::cluster::Cluster;
use crate::harness::fault::Outcome;
use crate::harness::namespace::Namespace;

/// One pod of the sample.
#[derive(Debug)]
pub(crate) struct Run {
    /// What it was drawn from.
    pub(crate) seed: u64,
    /// What its load was chosen for.
    pub(crate) class: Class,
    /// The pod.
    pub(crate) case: Case,
    /// What happened; nothing where no container was made in time, or the machine was too busy for the pod's servers.
    pub(crate) observed: Option<Observed>,
}

/// A batch with less idle time than this share, in percent, tells of the machine and not of the kubelet.
const IDLE: f64 = 20.0;

/// How far apart pods are made.
const PACE: Duration = Duration::from_millis(1_000);

/// The slowest pace that is tried.
const SLOWEST: Duration = Duration::from_secs(4);

/// Runs the pods of `seeds`, more slowly if the machine was too busy.
///
/// # Errors
///
/// What [`batch::run`] says, or that the machine is too busy at any pace.
pub(crate) fn run(
    cluster: &Cluster,
    namespace: &Namespace<'_>,
    seeds: &[u64],
) -> Outcome<Vec<Run>> {
    let version = version(cluster);
    let mut pace = PACE;
    let mut drawn: Vec<(u64, Class, Case)> = seeds
        .iter()
        .map(|&seed| {
            let (class, case) = draw(seed);
            (seed, class, case)
        })
        .collect();
    // Those that are watched longest first: all are over the sooner.
    drawn.sort_by_key(|(.., case)| Reverse(case.watched));
    loop {
        let named: Vec<(String, Case)> = drawn
            .iter()
            .map(|(seed, _, case)| (format!("case-{seed}-{}", pace.as_millis()), case.clone()))
            .collect();
        let batch = batch::run(cluster, namespace, &named, pace)?;
        println!(
            "{} pods, one every {} ms: {:.0} % idle",
            named.len(),
            pace.as_millis(),
            batch.idle
        );
        if batch.idle < IDLE && pace < SLOWEST {
            pace *= 2;
            continue;
        }
        let runs = drawn
            .into_iter()
            .zip(&named)
            .map(|((seed, class, case), (name, _))| {
                let pod = case.pod(version);
                let names: Vec<String> = pod.containers.into_iter().map(|one| one.name).collect();
                let observed = batch
                    .evidence
                    .observed(namespace.name(), name, &names, case.watched)
                    .filter(|_| !batch.evidence.disturbed(name));
                Run {
                    seed,
                    class,
                    case,
                    observed,
                }
            });
        return Ok(runs.collect());
    }
}
