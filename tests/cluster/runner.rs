//! Runs the suites: side by side on one cluster, and prints in cargo's form.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use crate::harness::cluster::{Cluster, Options};
use crate::harness::fault::{Fault, Outcome};
use crate::harness::leftovers::Trace;
use crate::harness::steps::Steps;
use crate::harness::{prerequisites, versions};
use crate::image;
use crate::product;
use crate::suite::{Need, Run, Suite};

/// The variable that names the kubeconfig of somebody else's cluster to run against.
pub(crate) const FOREIGN: &str = "KUBECONFIG_E2E";

/// The name of the cluster that the suites share.
const SHARED: &str = "suites";

/// Waiting is most of what suites do, so there are more of them than processors.
const SIDE_BY_SIDE: usize = 6;

/// What became of the suites.
#[derive(Default)]
struct Tally {
    passed: AtomicUsize,
    failed: Mutex<Vec<String>>,
    ignored: usize,
}

impl Tally {
    fn failed(&self, name: &str) {
        let mut failed = self
            .failed
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        failed.push(name.to_owned());
    }

    fn failures(&self) -> Vec<String> {
        let failed = self
            .failed
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        failed.clone()
    }

    /// Runs one suite, named in every message of its thread.
    fn run(&self, name: &str, suite: impl FnOnce() + Send) {
        let start = Instant::now();
        let passed = std::thread::scope(|scope| {
            let thread = std::thread::Builder::new().name(name.to_owned());
            let thread =
                thread.spawn_scoped(scope, || catch_unwind(AssertUnwindSafe(suite)).is_ok());
            thread.is_ok_and(|thread| thread.join().unwrap_or(false))
        });
        let seconds = start.elapsed().as_secs_f64();
        if passed {
            self.passed.fetch_add(1, Ordering::Relaxed);
            println!("test {name} ... ok ({seconds:.1} s)");
        } else {
            self.failed(name);
            println!("test {name} ... FAILED ({seconds:.1} s)");
        }
    }
}

/// Runs those of `suites` that one of `filters` is a part of, or all where there is no filter.
pub(crate) fn run(suites: &[Suite], filters: &[String]) -> ExitCode {
    let start = Instant::now();
    let mut chosen: Vec<_> = suites.iter().collect();
    chosen.retain(|suite| match filters {
        [] => !suite.runs_when_asked(),
        filters => filters.iter().any(|part| suite.name.contains(part)),
    });
    println!("\nrunning {} tests", chosen.len());
    let mut tally = Tally::default();
    let filtered = suites.len() - chosen.len();
    let foreign = std::env::var_os(FOREIGN).filter(|file| !file.is_empty());
    let need = |suite: &&Suite| suite.need(foreign.is_some());
    let most = chosen.iter().filter_map(need).max();
    let most = most.unwrap_or(Need::Cargo);
    let met = met(most);
    if met < most && std::env::var_os("CI").is_some_and(|value| value == "true") {
        eprintln!("with CI=true no suite may be left out");
        return ExitCode::FAILURE;
    }
    chosen.retain(|suite| {
        let obstacle = obstacle(need(suite), met);
        if let Some(obstacle) = obstacle {
            println!("test {} ... ignored, {obstacle}", suite.name);
            tally.ignored += 1;
        }
        obstacle.is_none()
    });
    for suite in &chosen {
        if let Run::Bare(run) = suite.run {
            tally.run(suite.name, run);
        }
    }
    if let Err(fault) = with_cluster(&chosen, foreign.map(PathBuf::from), &tally) {
        println!("{fault}");
        tally.failed("the cluster");
    }
    finish(&tally, filtered, start)
}

/// As much as is here of `most`, what the suites need. What is missing is printed.
fn met(most: Need) -> Need {
    let missing = prerequisites::missing(most);
    for line in &missing {
        eprintln!("{line}");
    }
    if missing.is_empty() {
        most
    } else if prerequisites::missing(Need::Tools).is_empty() {
        Need::Tools
    } else {
        Need::Cargo
    }
}

/// Why a suite cannot run here, by what it needs.
fn obstacle(need: Option<Need>, met: Need) -> Option<&'static str> {
    match need {
        None => Some("it needs a cluster of our own"),
        Some(need) if need <= met => None,
        Some(Need::Machine) => Some("no cluster can run here"),
        Some(_) => Some("its programs cannot be built here"),
    }
}

/// Runs everything that needs more than cargo, and takes the shared cluster down.
fn with_cluster(suites: &[&Suite], foreign: Option<PathBuf>, tally: &Tally) -> Outcome<()> {
    let shared = suites.iter().any(|suite| suite.on_shared());
    let cluster = shared.then(|| start(foreign)).transpose()?;
    if let Some(cluster) = &cluster
        && suites.iter().any(|suite| suite.needs_warmgate())
        && let Err(fault) = product::install(cluster)
    {
        cluster.show_logs();
        return Err(fault);
    }
    let (last, beside): (Vec<_>, Vec<_>) = suites
        .iter()
        .copied()
        .partition(|suite| matches!(suite.run, Run::Exclusive(_)));
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..SIDE_BY_SIDE {
            scope.spawn(|| {
                while let Some(suite) = beside.get(next.fetch_add(1, Ordering::Relaxed)) {
                    on(cluster.as_ref(), suite, tally);
                }
            });
        }
    });
    for suite in last {
        on(cluster.as_ref(), suite, tally);
    }
    let Some(cluster) = cluster else {
        return Ok(());
    };
    if !tally.failures().is_empty() {
        cluster.show_logs();
    }
    if cluster.own().is_none() && suites.iter().any(|suite| suite.needs_warmgate()) {
        product::uninstall(&cluster)?;
    }
    let trace = cluster.own().map(|own| Trace::of(own.state(), own.pid()));
    cluster.end()?;
    let left = trace.map_or_else(Vec::new, |trace| trace.left());
    if left.is_empty() {
        return Ok(());
    }
    Err(Fault::new(format!("left behind: {}", left.join("\n"))))
}

/// Starts the shared cluster and loads the images that every suite may use.
fn start(foreign: Option<PathBuf>) -> Outcome<Cluster> {
    let kubernetes = versions::chosen().map_err(Fault::new)?;
    if let Some(kubeconfig) = foreign {
        return Cluster::foreign(kubernetes, &kubeconfig);
    }
    let slowserver = Steps::new(SHARED).take("slowserver built", image::slowserver)?;
    let cluster = Cluster::start(&Options {
        kubernetes,
        name: SHARED,
        kubelet: "",
    })?;
    cluster.load_image(&slowserver);
    Ok(cluster)
}

fn on(cluster: Option<&Cluster>, suite: &Suite, tally: &Tally) {
    match (suite.run, cluster) {
        (Run::Tools(run) | Run::Machine(run), _) => tally.run(suite.name, run),
        (Run::Shared(run) | Run::Exclusive(run), Some(cluster)) => tally.run(suite.name, || {
            let namespace = cluster.namespace(suite.name, &[]);
            run(cluster, &namespace);
        }),
        // Bare suites have run; and where a suite needs the cluster, there is one.
        (Run::Bare(_) | Run::Shared(_) | Run::Exclusive(_), _) => {}
    }
}

/// Prints the line that cargo's own tests end with.
fn finish(tally: &Tally, filtered: usize, start: Instant) -> ExitCode {
    let failed = tally.failures();
    if !failed.is_empty() {
        println!("\nfailures:\n    {}", failed.join("\n    "));
    }
    println!(
        "\ntest result: {}. {} passed; {} failed; {} ignored; 0 measured; {filtered} filtered out; finished in {:.2}s\n",
        if failed.is_empty() { "ok" } else { "FAILED" },
        tally.passed.load(Ordering::Relaxed),
        failed.len(),
        tally.ignored,
        start.elapsed().as_secs_f64()
    );
    ExitCode::from(u8::from(!failed.is_empty()))
}
