//! Runs of cases that are known by name, and what can be asked of each.

use std::sync::Arc;
use std::time::Duration;

use warmgate::facts::Version;
use warmgate::kubelet::Micros;

use super::batch::{self, Idle};
use super::observe::Evidence;
use crate::conformance::{Life, Line, Observed, REAL, Seen, Telling, compare, telling_runs};
use crate::harness::cluster::{Cluster, Options};
use crate::harness::fault::{Fault, Outcome};
use crate::harness::namespace::Namespace;
use crate::image;

/// How far apart pods are made.
const PACE: Duration = Duration::from_millis(500);

/// With less idle time than this share, in percent, a run tells of the machine and not of the kubelet.
const IDLE: f64 = 20.0;

/// How often pods run on a machine that is too busy.
const ATTEMPTS: usize = 3;

/// One run. All moments count from when the kubelet began to make the pod's first container.
#[derive(Debug)]
pub(crate) struct Run {
    /// What it was to show.
    pub(crate) telling: Telling,
    /// What happened.
    pub(crate) observed: Observed,
    pod: String,
    namespace: String,
    containers: Vec<String>,
    /// When they begin to count, since the epoch.
    pub(crate) zero: Micros,
    evidence: Arc<Evidence>,
}

impl Run {
    fn number(&self, container: &str) -> usize {
        let mut names = self.containers.iter();
        names
            .position(|name| name == container)
            .unwrap_or_else(|| panic!("{} has no container {container}", self.telling.name))
    }

    /// When `seen` was seen of a container.
    pub(crate) fn seen(&self, container: &str, seen: Seen) -> Vec<Micros> {
        let number = self.number(container);
        let its = self.observed.sights.iter();
        its.filter(|sight| sight.container == number && sight.seen == seen)
            .map(|sight| sight.at)
            .collect()
    }

    /// The instances of a container.
    pub(crate) fn lives(&self, container: &str) -> Vec<Life> {
        let number = self.number(container);
        let lives = self.observed.lives.iter();
        lives
            .filter(|life| life.container == number)
            .copied()
            .collect()
    }

    /// The exit codes of a container, in order.
    pub(crate) fn codes(&self, container: &str) -> Vec<i64> {
        let number = self.number(container);
        let its = self
            .observed
            .sights
            .iter()
            .filter(|sight| sight.container == number);
        its.filter_map(|sight| match sight.seen {
            Seen::Exited(code) => Some(code),
            _ => None,
        })
        .collect()
    }

    /// The kubelet's lines of this message.
    pub(crate) fn said(&self, message: &str) -> Vec<&Line> {
        let lines = self.evidence.lines(&self.namespace, &self.pod).iter();
        lines.filter(|line| line.message == message).collect()
    }

    /// What the pod's events of this reason say.
    pub(crate) fn events(&self, reason: &str) -> Vec<&str> {
        // What happens once it has been watched is its removal.
        let until = self.zero + self.observed.until;
        let events = self.said("Event occurred").into_iter();
        events
            .filter(|line| line.word("reason") == reason && line.at <= until)
            .map(|line| line.word("message"))
            .collect()
    }

    /// When the kubelet began to kill a container, each time.
    pub(crate) fn killed(&self, container: &str) -> Vec<Micros> {
        let field = format!("{{{container}}}");
        let events = self.said("Event occurred").into_iter();
        events
            .filter(|line| line.word("reason") == "Killing")
            .filter(|line| line.word("fieldPath").ends_with(&field))
            .map(|line| line.at - self.zero)
            .collect()
    }

    /// When SIGTERM reached the instance after so many restarts.
    pub(crate) fn term(&self, container: &str, restarts: u32) -> Option<Micros> {
        let servers = self.evidence.servers();
        let at = servers.when(&self.pod, container, restarts, "term")?;
        Some(at - self.zero)
    }

    /// Whether the machine was too busy for the servers to do what they were told.
    pub(crate) fn disturbed(&self) -> bool {
        self.evidence.disturbed(&self.pod)
    }

    /// How the simulator disagrees, if it does.
    pub(crate) fn miss(&self, version: Version) -> Option<String> {
        let replay = compare(REAL, &self.telling.case, &self.observed, version);
        let miss = replay.err()?;
        Some(format!("{}: {miss}", self.telling.name))
    }
}

/// Runs the pods of these runs beside each other, and says which share of the processors' time was idle meanwhile, in percent.
///
/// # Errors
///
/// What [`batch::run`] says, or that a pod was never made.
pub(crate) fn run(
    cluster: &Cluster,
    namespace: &Namespace<'_>,
    tellings: &[Telling],
) -> Outcome<(Vec<Run>, f64)> {
    let version = version(cluster);
    let named = |(number, telling): (usize, &Telling)| {
        (format!("{}-{number}", telling.name), telling.case.clone())
    };
    let cases: Vec<_> = tellings.iter().enumerate().map(named).collect();
    let before = Idle::now();
    let batch = batch::run(cluster, namespace, &cases, PACE)?;
    let idle = before.share();
    let evidence = Arc::new(batch.evidence);
    let runs = tellings.iter().zip(cases).map(|(telling, (pod, case))| {
        let containers = case.pod(version).containers.into_iter();
        let containers: Vec<String> = containers.map(|one| one.name).collect();
        let here = namespace.name();
        let observed = evidence.observed(here, &pod, &containers, case.watched);
        let zero = evidence.zero(here, &pod);
        let (Some(observed), Some(zero)) = (observed, zero) else {
            return Err(Fault::new(format!("{pod}: no container was made")));
        };
        Ok(Run {
            telling: telling.clone(),
            observed,
            namespace: here.to_owned(),
            pod,
            containers,
            zero,
            evidence: Arc::clone(&evidence),
        })
    });
    Ok((runs.collect::<Outcome<_>>()?, idle))
}

/// Runs the pods of these names, and shows that the simulator says the same of each. Only on a machine that is too busy they may
/// have to run again.
///
/// # Panics
///
/// When the simulator disagrees, or there is no such run.
#[track_caller]
pub(crate) fn agreeing<const N: usize>(
    cluster: &Cluster,
    namespace: &Namespace<'_>,
    names: [&str; N],
) -> [Run; N] {
    let tellings = names.map(named);
    for attempt in 1.. {
        // Names of pods are used once.
        let again = (attempt > 1).then(|| cluster.namespace("once-more", &[]));
        let here = again.as_ref().unwrap_or(namespace);
        let (runs, idle) = run(cluster, here, &tellings).unwrap_or_else(|fault| panic!("{fault}"));
        let misses = runs.iter().filter_map(|run| run.miss(version(cluster)));
        let misses: Vec<String> = misses.collect();
        if misses.is_empty() {
            return runs.try_into().expect("a run for each name");
        }
        let busy = format!("{idle:.0} % idle");
        let disturbed = idle < IDLE || runs.iter().any(Run::disturbed);
        assert!(
            disturbed && attempt < ATTEMPTS,
            "{busy}\n{}",
            misses.join("\n")
        );
        println!("{busy}: once more\n{}", misses.join("\n"));
    }
    unreachable!("the last attempt is the last")
}

/// The run of this name.
#[track_caller]
fn named(name: &str) -> Telling {
    let mut all = telling_runs().into_iter();
    all.find(|telling| telling.name == name)
        .unwrap_or_else(|| panic!("no run is called {name}"))
}

/// Starts a cluster for runs whose node has this longest back-off in seconds, if it is not the default.
///
/// # Errors
///
/// What the harness says.
pub(crate) fn cluster(
    kubernetes: &str,
    name: &str,
    longest_back_off: Option<i64>,
) -> Outcome<Cluster> {
    // The gate is on since 1.35, and there since 1.32.
    let kubelet = longest_back_off.map_or_else(String::new, |longest| {
        format!(
            "featureGates: {{KubeletCrashLoopBackOffMax: true}}\ncrashLoopBackOff: {{maxContainerRestartPeriod: {longest}s}}\n"
        )
    });
    let slowserver = image::slowserver()?;
    let cluster = Cluster::start(&Options {
        kubernetes,
        name,
        kubelet: &kubelet,
    })?;
    cluster.load_image(&slowserver);
    Ok(cluster)
}

/// The release that the kubelet of a cluster is of.
pub(crate) fn version(cluster: &Cluster) -> Version {
    Version::parse(cluster.kubernetes()).expect("a pinned release")
}
