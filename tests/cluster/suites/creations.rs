//! Pods that are created all the time while something happens to warmgate, and what became of each.

use std::fs;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::harness::cluster::Cluster;
use crate::harness::logs;
use crate::harness::namespace::Namespace;
use crate::product::{asks_for_an_accelerator, changes};

/// How many may be under way: a webhook that hangs costs 2 s, and the others must not wait for it.
const AT_A_TIME: usize = 12;

/// After this there is no hope that there will be as many as are waited for: at their rate that takes two minutes at most.
const HOPELESS: Duration = Duration::from_secs(900);

/// After how many creations those that were stored are deleted.
const BATCH: usize = 500;

/// One creation.
#[derive(Debug)]
pub(super) struct Creation {
    /// When it was asked for.
    pub(super) at: Instant,
    /// Which of the namespaces it was for.
    pub(super) namespace: usize,
    pub(super) fate: Fate,
}

/// What became of a creation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    Mended,
    Unmended,
    /// What the API server said.
    Failed(String),
}

/// Creations that go on while something happens.
pub(super) struct Creations<'a> {
    cluster: &'a Cluster,
    namespaces: &'a [Namespace<'a>],
    start: Instant,
    /// The time between two.
    pause: Duration,
    begun: AtomicUsize,
    over: AtomicBool,
}

/// Creates pods in `namespaces` by turns, `rate` a second, half of them as dry runs, for as long as `happening` takes.
///
/// # Panics
///
/// When the API server does not answer.
pub(super) fn during<'a>(
    cluster: &'a Cluster,
    namespaces: &'a [Namespace<'a>],
    rate: u32,
    happening: impl FnOnce(&Creations<'_>),
) -> Vec<Creation> {
    let creations = Creations {
        cluster,
        namespaces,
        start: Instant::now(),
        pause: Duration::from_secs(1) / rate,
        begun: AtomicUsize::new(0),
        over: AtomicBool::new(false),
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..AT_A_TIME)
            .map(|_| scope.spawn(|| creations.create()))
            .collect();
        let end = End(&creations.over);
        happening(&creations);
        drop(end);
        let made = workers.into_iter().map(|worker| worker.join());
        let made = made.map(|made| made.unwrap_or_else(|why| std::panic::resume_unwind(why)));
        made.flatten().collect()
    })
}

/// Ends the creations, also when what happens fails.
struct End<'a>(&'a AtomicBool);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Creations<'_> {
    /// How many have been begun.
    pub(super) fn begun(&self) -> usize {
        self.begun.load(Ordering::Relaxed)
    }

    /// Waits until `enough` have been begun.
    ///
    /// # Panics
    ///
    /// When nobody creates any more, or hardly.
    #[track_caller]
    pub(super) fn wait_until(&self, enough: usize) {
        self.cluster
            .wait_for(&format!("{enough} creations"), HOPELESS, || {
                let begun = self.begun();
                let done = begun >= enough;
                done.then_some(())
                    .ok_or_else(|| format!("{begun} are begun"))
            });
    }

    fn create(&self) -> Vec<Creation> {
        let mut made = Vec::new();
        while !self.over.load(Ordering::Relaxed) {
            let number = self.begun.fetch_add(1, Ordering::Relaxed);
            let turn = self.start + self.pause * u32::try_from(number).unwrap_or(u32::MAX);
            thread::sleep(turn.saturating_duration_since(Instant::now()));
            made.push(self.create_one(number));
            if number % BATCH == BATCH - 1 {
                self.delete();
            }
        }
        made
    }

    fn create_one(&self, number: usize) -> Creation {
        let index = number / 2 % self.namespaces.len();
        let path = self.namespaces[index].path("pods", "");
        let dry = if number.is_multiple_of(2) {
            "?dryRun=All"
        } else {
            ""
        };
        let pod = asks_for_an_accelerator(&format!("pod-{number}")).to_string();
        let at = Instant::now();
        let answer = self
            .cluster
            .api("POST", &format!("{path}{dry}"), "application/json", &pod);
        let fate = match answer.status {
            201 if changes(&answer.body).is_some() => Fate::Mended,
            201 => Fate::Unmended,
            status => Fate::Failed(format!("{status} {}", answer.body)),
        };
        Creation {
            at,
            namespace: index,
            fate,
        }
    }

    /// Deletes what has been stored. No node runs it, so that it is gone at once.
    fn delete(&self) {
        for namespace in self.namespaces {
            let path = namespace.path("pods", "");
            let answer = self.cluster.api("DELETE", &path, "application/json", "");
            assert_eq!(answer.status, 200, "{}", answer.body);
        }
    }
}

/// How many there were a second.
pub(super) fn rate(creations: &[Creation]) -> f64 {
    let times = || creations.iter().map(|creation| creation.at);
    let (Some(first), Some(last)) = (times().min(), times().max()) else {
        return 0.0;
    };
    creations.len() as f64 / last.duration_since(first).as_secs_f64()
}

/// Fails unless all were created.
#[track_caller]
pub(super) fn assert_none_failed(creations: &[Creation]) {
    let failed: Vec<_> = creations
        .iter()
        .filter_map(|creation| match &creation.fate {
            Fate::Failed(why) => Some(why),
            Fate::Mended | Fate::Unmended => None,
        })
        .collect();
    let count = (failed.len(), creations.len());
    assert!(
        failed.is_empty(),
        "{count:?} failed, as this: {}",
        failed[0]
    );
}

/// Fails unless all were mended, and says why the API server asked nobody.
#[track_caller]
pub(super) fn assert_all_mended<'a>(
    cluster: &Cluster,
    creations: impl IntoIterator<Item = &'a Creation>,
) {
    let creations: Vec<_> = creations.into_iter().collect();
    let Some(first) = creations.first() else {
        panic!("nothing was created");
    };
    let unmended: Vec<_> = creations
        .iter()
        .filter(|creation| creation.fate != Fate::Mended)
        .map(|creation| creation.at.duration_since(first.at).as_millis())
        .collect();
    assert!(
        unmended.is_empty(),
        "{} of {} not mended, after ms {unmended:?}:\n{}",
        unmended.len(),
        creations.len(),
        why(cluster)
    );
}

/// Fails unless every call of the creations in `namespaces` was answered: those that judge, too.
#[track_caller]
pub(super) fn assert_all_asked(cluster: &Cluster, namespaces: &[Namespace<'_>]) {
    let log = cluster.own().map(|own| own.audit_log());
    let log = log.expect("suites that read the audit log run on a cluster of our own");
    let text = fs::read_to_string(log).unwrap_or_else(|error| panic!("{error}"));
    let lost = text.lines().filter(|line| {
        let here = |namespace: &Namespace<'_>| line.contains(namespace.name());
        line.contains("failed-open.") && namespaces.iter().any(here)
    });
    let lost = lost.count();
    assert_eq!(lost, 0, "requests let through unasked:\n{}", why(cluster));
}

/// Why the API server let objects through unasked.
fn why(cluster: &Cluster) -> String {
    let lines = cluster
        .own()
        .map(|own| logs::said(own.state().name(), "kube-apiserver", "failing open"));
    lines.unwrap_or_default().join("\n")
}
