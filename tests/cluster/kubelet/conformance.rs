//! The differential test: drawn pods on a real kubelet, and what the simulator says of them.

use warmgate::facts::Version;

use super::kept::Kept;
use super::published;
use super::sample::{self, Run};
use crate::conformance::{Collection, Judgement, REAL, Simulator, Summary, compare, judge};
use crate::harness::cluster::{Cluster, Options};
use crate::harness::fault::{Fault, Outcome};
use crate::harness::versions;
use crate::image;

/// How many pods run before what happened is kept, in the long run.
const BATCH: usize = 700;

/// Runs the pods of these seeds, keeps what happened, and writes what is found of all that is kept into the page.
///
/// # Errors
///
/// What the harness says.
pub(crate) fn long(seeds: &[u64]) -> Outcome<()> {
    let kubernetes = versions::chosen().map_err(Fault::new)?;
    let slowserver = image::slowserver()?;
    let cluster = Cluster::start(&Options {
        kubernetes,
        name: "conformance",
        kubelet: "",
    })?;
    cluster.load_image(&slowserver);
    let kept = Kept::new(kubernetes)?;
    for batch in seeds.chunks(BATCH) {
        let namespace = cluster.namespace("conformance", &[]);
        for run in sample::run(&cluster, &namespace, batch)? {
            kept.add(&run)?;
        }
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

/// The seeds of the runs of which the simulator says something else, or nothing was seen.
///
/// # Panics
///
/// When a verdict did not come true: no machine is an excuse for that.
#[track_caller]
pub(crate) fn wrong(runs: &[Run], version: Version) -> Vec<u64> {
    let mut wrong = Vec::new();
    for run in runs {
        let Some(observed) = &run.observed else {
            wrong.push(run.seed);
            continue;
        };
        let judgement = judge(REAL, &run.case, observed, version);
        if judgement.contradiction.is_some() {
            tell(run, &judgement);
            panic!("seed {}: {:?}", run.seed, judgement.contradiction);
        }
        if !judgement.agrees() {
            tell(run, &judgement);
            wrong.push(run.seed);
        }
    }
    wrong
}

/// Whether a simulator that is broken gives itself away in a run.
pub(crate) fn gives_itself_away(simulator: Simulator, run: &Run, version: Version) -> bool {
    let observed = run.observed.as_ref();
    observed.is_some_and(|observed| compare(simulator, &run.case, observed, version).is_err())
}

/// Judges every run that can be.
fn judge_all(runs: &[Run], collection: &mut Collection, version: Version) {
    for run in runs {
        let Some(observed) = &run.observed else {
            collection.add_invalid();
            continue;
        };
        let judgement = judge(REAL, &run.case, observed, version);
        collection.add(run.seed, &run.case, observed, &judgement);
        if !judgement.agrees() {
            tell(run, &judgement);
        }
    }
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
