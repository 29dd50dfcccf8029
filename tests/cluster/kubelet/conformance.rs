//! The differential test: drawn pods on a real kubelet, and what the simulator says of them.

use warmgate::facts::Version;

use super::kept::Kept;
use super::published;
use super::sample::{self, Run};
use crate::conformance::{Collection, Judgement, REAL, Summary, judge};
use crate::harness::cluster::{Cluster, Options};
use crate::harness::fault::{Fault, Outcome};
use crate::harness::versions;
use crate::image;

/// How many pods run at once at most, in the long run.
const BATCH: u64 = 2_500;

/// Runs the pods of `first` to `first + pods`, keeps what happened, and writes what is found of it into the page.
///
/// # Errors
///
/// What the harness says.
pub(crate) fn long(first: u64, pods: u64) -> Outcome<()> {
    let kubernetes = versions::chosen().map_err(Fault::new)?;
    let slowserver = image::slowserver()?;
    let cluster = Cluster::start(&Options {
        kubernetes,
        name: "conformance",
        kubelet: "",
    })?;
    cluster.load_image(&slowserver);
    let version = version(&cluster);
    let kept = Kept::new(kubernetes)?;
    let mut seed = first;
    while seed < first + pods {
        let next = (seed + BATCH).min(first + pods);
        let namespace = cluster.namespace("conformance", &[]);
        for run in sample::run(&cluster, &namespace, seed..next, version)? {
            kept.add(&run)?;
        }
        seed = next;
    }
    cluster.end()?;
    publish()
}

/// Judges every run that is kept of the chosen release, and writes what is found into the page.
///
/// # Errors
///
/// What the file system says, or that none is kept.
pub(crate) fn publish() -> Outcome<()> {
    let kubernetes = versions::chosen().map_err(Fault::new)?;
    let version = Version::parse(kubernetes).expect("a pinned release");
    let runs = Kept::new(kubernetes)?.runs()?;
    let (Some(first), Some(last)) = (runs.first(), runs.last()) else {
        return Err(Fault::new("no runs are kept of this release"));
    };
    let mut collection = Collection::new(kubernetes, (first.seed, last.seed + 1));
    judge_all(&runs, &mut collection, version);
    let summary = collection.summary();
    print(&summary);
    published::write(&summary)
}

/// Judges every run that can be, and gives the seeds of those of which the simulator says something else.
fn judge_all(runs: &[Run], collection: &mut Collection, version: Version) -> Vec<u64> {
    let mut wrong = Vec::new();
    for run in runs {
        let Some(observed) = &run.observed else {
            collection.add_invalid();
            continue;
        };
        let judgement = judge(REAL, &run.case, observed, version);
        collection.add(run.seed, &run.case, observed, &judgement);
        if !judgement.agrees() {
            tell(run, &judgement);
            wrong.push(run.seed);
        }
    }
    wrong
}

fn version(cluster: &Cluster) -> Version {
    Version::parse(cluster.kubernetes()).expect("a pinned release")
}

/// Tells of a run of which the simulator says something else, with all that is needed to run it again.
fn tell(run: &Run, judgement: &Judgement) {
    println!("--- seed {} ({})", run.seed, run.class.word());
    for what in judgement.contradiction.iter().chain(&judgement.outside) {
        println!("{what}");
    }
    if let Err(miss) = &judgement.replay {
        println!("{miss}");
    }
    println!("{}", run.case.manifest("case"));
}

fn print(summary: &Summary) {
    let share = |verdict: &str| {
        let race = summary.verdicts.get(verdict).copied().unwrap_or_default();
        format!("{verdict} {}", race.passed + race.killed)
    };
    println!(
        "{} of {} pods agree ({} not judged); verdicts: {}, {}, {}; {} contradicted; {:.2} % of {} moments within the tolerance",
        summary.pods.0,
        summary.pods.1,
        summary.invalid,
        share("survives"),
        share("depends"),
        share("dies"),
        summary.contradicted.len(),
        summary.moments.percent(),
        summary.moments.1,
    );
    if let Some(all) = summary.deviations.get("all") {
        println!(
            "apart by {} ms (p50), {} ms (p95), {} ms (p99), {} ms (most)",
            all.p50, all.p95, all.p99, all.max
        );
    }
}
