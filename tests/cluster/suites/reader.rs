//! What the user reads is what happens: the seconds that `check` and `explain` print, and that `fix` mends.

use std::fmt;
use std::time::{Duration, Instant};

use serde_json::Value;
use warmgate::kubelet::Micros;
use warmgate::subject::Role;

use super::said;
use crate::conformance::{Seen, TOLERANCE, Telling, read_runs};
use crate::harness::cluster::Cluster;
use crate::harness::namespace::{Namespace, is_ready};
use crate::kubelet::runs::{self, Run};

const ENGINE: &str = "engine";

/// How many pods there are.
const PODS: usize = 20;

/// `explain` tries so many phases that the earliest and the latest of all may lie this much outside, and it rounds.
const BESIDE: Micros = Micros::millis(600);

/// How often a pod runs to which something else happens: what a busy machine has done once it does not do again and again.
const ATTEMPTS: usize = 3;

/// After this there is no hope that a mended pod becomes ready.
const HOPELESS: Duration = Duration::from_secs(180);

/// How long the mended pods are watched: longer than any probe would need to kill them.
const WATCHED: Duration = Duration::from_secs(60);

/// Twenty pods as their owners write them: each does what was printed of it, and once mended none is killed.
pub(super) fn is_told_what_happens(cluster: &Cluster, namespace: &Namespace<'_>) {
    let tellings = read_runs();
    assert_eq!(tellings.len(), PODS);
    holds(cluster, namespace, &tellings);
    let mended = cluster.namespace("mended", &[]);
    are_mended(&mended, &tellings);
}

/// Runs them, and holds what happens against what was printed.
fn holds(cluster: &Cluster, namespace: &Namespace<'_>, tellings: &[Telling]) {
    let mut left = told_wrong(cluster, namespace, tellings);
    for _ in 1..ATTEMPTS {
        if left.is_empty() {
            break;
        }
        let namespace = cluster.namespace("once-more", &[]);
        left = told_wrong(cluster, &namespace, &left);
    }
    let names: Vec<&str> = left.iter().map(|telling| telling.name).collect();
    assert!(names.is_empty(), "something else happens to {names:?}");
}

/// Those of which something else was printed than what happens.
fn told_wrong(cluster: &Cluster, namespace: &Namespace<'_>, tellings: &[Telling]) -> Vec<Telling> {
    let (runs, idle) =
        runs::run(cluster, namespace, tellings).unwrap_or_else(|fault| panic!("{fault}"));
    println!("{idle:.0} % idle");
    let mut wrong = Vec::new();
    for run in runs {
        let differences = differences(&run);
        if !differences.is_empty() {
            println!("{}", differences.join("\n"));
            wrong.push(run.telling);
        }
    }
    wrong
}

/// Applies what `fix` makes of them, and shows that nobody is killed.
fn are_mended(namespace: &Namespace<'_>, tellings: &[Telling]) {
    let start = Instant::now();
    for telling in tellings {
        let mended = said::run(&["fix", "-"], &telling.case.manifest(telling.name));
        namespace.apply(&mended);
    }
    for telling in tellings {
        namespace.ready(telling.name, HOPELESS);
    }
    std::thread::sleep(WATCHED.saturating_sub(start.elapsed()));
    let pods = namespace.list("pods");
    assert_eq!(pods.len(), tellings.len());
    for pod in pods {
        assert!(is_ready(&pod), "{pod}");
        let lists = ["initContainerStatuses", "containerStatuses"];
        let lists = lists
            .iter()
            .filter_map(|list| pod["status"][list].as_array());
        let restarted = |status: &&Value| status["restartCount"] != 0;
        let name = &pod["metadata"]["name"];
        assert_eq!(lists.flatten().find(restarted), None, "{name} is restarted");
    }
}

/// What was printed of a pod and did not happen.
fn differences(run: &Run) -> Vec<String> {
    let manifest = run.telling.case.manifest(run.telling.name);
    let name = run.telling.name;
    let printed = Printed::of(&manifest);
    let mut wrong = Vec::new();
    let mut expect = |holds: bool, what: String| {
        if !holds {
            wrong.push(format!("{name}: {what}"));
        }
    };
    let lives = run.lives(ENGINE);
    let kills: Vec<(Role, Micros)> = [
        (Role::Startup, Seen::StartupKills),
        (Role::Liveness, Seen::LivenessKills),
    ]
    .into_iter()
    .flat_map(|(role, seen)| run.seen(ENGINE, seen).into_iter().map(move |at| (role, at)))
    .map(|(role, at)| {
        let life = lives.iter().rfind(|life| life.started <= at);
        (role, at - life.expect("somebody was killed").started)
    })
    .collect();
    // `check`, and the two ends that `explain` gives of a probe.
    for told in printed.found.into_iter().chain(printed.window) {
        for (_, after) in &kills {
            expect(
                told.holds(*after, Micros::ZERO),
                format!("killed after {after} s, told was {told}"),
            );
        }
    }
    match printed.fate {
        Fate::Lives => expect(kills.is_empty(), format!("killed: {kills:?}")),
        Fate::Depends(..) => {}
        Fate::Dies(..) => {
            expect(!kills.is_empty(), "not killed".to_owned());
            expect(printed.found.is_some(), "check says nothing".to_owned());
        }
    }
    if let (Fate::Depends(role, told) | Fate::Dies(role, told), Some((by, after))) =
        (printed.fate, kills.first())
        && name != HANGS
    {
        expect(*by == role, format!("killed by {by:?}, told was {role:?}"));
        expect(
            told.holds(*after, BESIDE),
            format!("first killed after {after} s, told was {told}"),
        );
    }
    if let (Fate::Lives, Some(told)) = (printed.fate, printed.serves) {
        let ready = run
            .seen(ENGINE, Seen::Ready)
            .first()
            .map(|at| *at - lives[0].started);
        expect(
            ready.is_some_and(|ready| told.holds(ready, BESIDE)),
            format!("ready after {ready:?}, told was {told}"),
        );
    }
    wrong
}

/// What is printed of the one pod: by `check`, and by `explain` of how it is before it is mended.
#[derive(Debug)]
struct Printed {
    /// `kills A to B s after each start`.
    found: Option<Range>,
    /// `A s after each start at the earliest, B s at the latest`.
    window: Option<Range>,
    fate: Fate,
    /// `ready to serve after A to B s`.
    serves: Option<Range>,
}

#[derive(Clone, Copy, Debug)]
enum Fate {
    Lives,
    Depends(Role, Range),
    Dies(Role, Range),
}

/// Between when and when, from a start.
#[derive(Clone, Copy, Debug)]
struct Range(Micros, Micros);

impl Range {
    /// Reads `A to B` or `A`, in seconds.
    #[track_caller]
    fn read(text: &str) -> Self {
        let (from, to) = text.split_once(" to ").unwrap_or((text, text));
        let read = |text: &str| {
            let seconds: f64 = text
                .parse()
                .unwrap_or_else(|_| panic!("no seconds: {text}"));
            Micros((seconds * 1e6).round() as i64)
        };
        Self(read(from), read(to))
    }

    /// Whether something happens between them; the kubelet may be late.
    fn holds(self, at: Micros, beside: Micros) -> bool {
        at + beside + EARLY >= self.0 && at <= self.1 + beside + TOLERANCE
    }
}

/// The runtime tells of a start a moment after it.
const EARLY: Micros = Micros::millis(150);

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} to {} s", self.0, self.1)
    }
}

impl Printed {
    #[track_caller]
    fn of(manifest: &Value) -> Self {
        let findings = said::findings(manifest);
        let found = findings
            .iter()
            .find_map(|message| between(message, "kills ", " s after each start"));
        let explained = said::run(&["explain", "-"], manifest);
        let before = explained
            .split("timeline after the fix")
            .next()
            .unwrap_or_default();
        // The last one: those of sidecars come first.
        let window = before
            .lines()
            .rfind(|line| line.contains("has not answered: "));
        let window = window.map(|line| {
            let earliest = between(line, "has not answered: ", " s after each start");
            let latest = between(line, " at the earliest, ", " s at the latest");
            let (earliest, latest) = earliest.zip(latest).expect("a window has two ends");
            Range(earliest.0, latest.1)
        });
        let sentence = before
            .lines()
            .map(str::trim)
            .rfind(|line| line.starts_with("engine: "))
            .unwrap_or_else(|| panic!("nothing is said of it: {explained}"));
        let fate = if sentence.contains("no probe kills it in any of ") {
            Fate::Lives
        } else {
            let (before, _) = sentence
                .split_once(" s after its start")
                .unwrap_or_else(|| panic!("no moment: {sentence}"));
            let (by, range) = before.rsplit_once(", ").expect("the moment comes last");
            let role = Role::ALL
                .into_iter()
                .find(|role| by.contains(&format!("{} kills it", role.field())));
            let role = role.unwrap_or_else(|| panic!("nobody kills: {sentence}"));
            if sentence.contains("depends on the phase") {
                Fate::Depends(role, Range::read(range))
            } else {
                Fate::Dies(role, Range::read(range))
            }
        };
        Self {
            found,
            window,
            fate,
            serves: between(sentence, "ready to serve after ", " s").filter(|_| {
                // Without a readiness probe the kubelet does not wait for the load.
                manifest["spec"]["containers"][0]
                    .get(Role::Readiness.field())
                    .is_some()
            }),
        }
    }
}

/// The seconds in `text` that stand between these words.
#[track_caller]
fn between(text: &str, before: &str, after: &str) -> Option<Range> {
    text.match_indices(before).find_map(|(at, _)| {
        let rest = &text[at + before.len()..];
        let (range, _) = rest.split_once(after)?;
        let number = |c: char| c.is_ascii_digit() || " .to".contains(c);
        range.chars().all(number).then(|| Range::read(range))
    })
}

/// The pod whose server hangs while it loads: `explain` says that it takes it to be refused.
const HANGS: &str = "read-http-hang";
