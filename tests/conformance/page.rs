//! `docs/conformance.md`, made from what was found.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::compare::TOLERANCE;
use super::summary::{Deviation, Share, Summary};

/// Why the simulator says something else of some runs, found by looking at both timelines.
struct Explanation {
    why: &'static str,
    /// The releases and the seeds.
    runs: &'static [(&'static str, &'static [u64])],
}

/// Every miss of a kept summary has one.
const EXPLAINED: &[Explanation] = &[
    Explanation {
        why: "the container ended by itself, or was told to, within 20 ms of a probe's answer: which came first is chance",
        runs: &[(
            "1.37.2",
            &[
                10_313, 10_639, 10_765, 11_192, 11_424, 11_542, 11_737, 11_929,
            ],
        )],
    },
    Explanation {
        why: "a gRPC client that is refused dials again after a time with a share of chance",
        runs: &[("1.37.2", &[11_823])],
    },
    Explanation {
        why: "the log says of readiness what its probe finds, and not that a container is not ready because it does not count as \
              started any more",
        runs: &[("1.35.4", &[10_173]), ("1.37.2", &[10_173, 10_818, 11_162])],
    },
    Explanation {
        why: "a gRPC probe that began to dial while nobody listened reached the next instance, which the simulator does not follow",
        runs: &[("1.37.2", &[10_525])],
    },
    Explanation {
        why: "the pod was deleted before the kubelet noticed that a container had ended: when it would have is not known",
        runs: &[("1.37.2", &[10_546])],
    },
    Explanation {
        why: "a sync lay within 6 ms of a tick, or of what asked for it, and the log does not say which came first",
        runs: &[("1.37.2", &[10_601, 11_566])],
    },
    Explanation {
        why: "at some ticks of two workers the one saw what the other had just found out, and at others it did not",
        runs: &[("1.37.2", &[11_152, 11_209])],
    },
    Explanation {
        why: "it happens in so narrow a range of phases that none of those that were swept lies in it",
        runs: &[("1.37.2", &[10_326, 10_539])],
    },
];

/// Why a run is a miss, where somebody has found out.
fn explanation(kubernetes: &str, seed: u64) -> Option<&'static str> {
    let holds = |one: &&Explanation| {
        let mut runs = one.runs.iter();
        runs.any(|(release, seeds)| *release == kubernetes && seeds.contains(&seed))
    };
    EXPLAINED.iter().find(holds).map(|one| one.why)
}

/// Where the simulator is known to be simpler than the kubelet.
const KNOWN: &[&str] = &[
    "Images that cannot be pulled, evictions, resizes in place and restarts of the kubelet are not simulated.",
    "How long the runtime takes to start and to stop something, and when the kubelet finds an end, is the machine's: a replay is told \
     what was observed ([0014](decisions/0014-replay-is-told-what-is-chance.md)), a verdict knows nothing of it.",
    "A worker that is told to stop while a tick waits takes the one or the other by chance, so from 0.1 s before a pod is told to end, or \
     is done, its startup and liveness probes are not compared.",
    "What the log says of readiness is what its probe finds. That a container is not ready because it does not count as started any more is \
     simulated, and cannot be seen.",
    "A gRPC probe that dials while nobody listens stays with nobody, also if the next instance starts in its time.",
];

/// Writes the page.
pub(crate) fn page(summaries: &[Summary]) -> String {
    let mut page = String::new();
    write(&mut page, summaries).expect("a string takes everything");
    page
}

/// The misses of a summary that nobody has explained.
pub(crate) fn unexplained(summary: &Summary) -> Vec<u64> {
    let seeds = summary.misses.keys().copied();
    seeds
        .filter(|seed| explanation(&summary.kubernetes, *seed).is_none())
        .collect()
}

fn write(page: &mut String, summaries: &[Summary]) -> std::fmt::Result {
    writeln!(
        page,
        "# How well the simulator agrees with the kubelet\n\n\
         Generated from `tests/kubelet/conformance/` by `make conformance`; do not edit.\n\n\
         warmgate judges by a simulation of the kubelet. This page says how well it holds. Pods are drawn from seeds \
         (`tests/conformance/draw.rs`): a third of them load within the guaranteed window of their probe, a third do not load \
         by its latest kill, a sixth lie between the two, and the rest anywhere. Each runs on a real kubelet with a server of \
         which everything is known. What the kubelet did is read from its own log (microseconds), the runtime's events \
         (nanoseconds) and the server's log, and held against three things:\n\n\
         - **the verdict**, in closed form, before the run and for every phase of the kubelet's clocks: survives, depends or dies.\n\
         - **the interval**, from many simulated phases: between which moments the first kill, restart and readiness fall.\n\
         - **the replay**: simulated in the phase that was observed, the probes of each worker, and the kills, ends, restarts and \
         waits of each container, come in the same order, and each within {} s. What is chance and in no log is tried in several \
         values ([0014](decisions/0014-replay-is-told-what-is-chance.md)).\n",
        seconds(TOLERANCE.0 / 1000)
    )?;
    overview(page, summaries)?;
    verdicts(page, summaries)?;
    deviations(page, summaries)?;
    dimensions(page, summaries)?;
    differences(page, summaries)
}

fn overview(page: &mut String, summaries: &[Summary]) -> std::fmt::Result {
    writeln!(page, "## In one table\n")?;
    header(page, "", summaries)?;
    row(page, "pods", summaries, |one| one.pods.1.to_string())?;
    row(
        page,
        "not judged, the machine was too busy",
        summaries,
        |one| one.invalid.to_string(),
    )?;
    row(page, "seeds", summaries, |one| {
        format!("{} to {}", one.seeds.0, one.seeds.1 - 1)
    })?;
    row(page, "verdicts", summaries, |one| races(one).to_string())?;
    row(page, "contradicted", summaries, |one| {
        one.contradicted.len().to_string()
    })?;
    row(page, "said to depend on the phase", summaries, |one| {
        let depends = one
            .verdicts
            .get("depends")
            .map_or(0, |race| race.passed + race.killed);
        format!("{:.1} %", Share(depends, races(one)).percent())
    })?;
    row(page, "bands wider than they may be", summaries, |one| {
        one.too_wide.to_string()
    })?;
    row(page, "moments inside of their interval", summaries, |one| {
        share(one.intervals)
    })?;
    row(
        page,
        "moments of the replays within the tolerance",
        summaries,
        |one| share(one.moments),
    )?;
    row(page, "pods that agree in everything", summaries, |one| {
        share(one.pods)
    })?;
    row(
        page,
        "of these, after a move of the load or of the second by up to 0.12 s",
        summaries,
        |one| one.razor.to_string(),
    )?;
    writeln!(page)
}

fn verdicts(page: &mut String, summaries: &[Summary]) -> std::fmt::Result {
    writeln!(
        page,
        "## Verdicts\n\n\
         How the race of a load against its probe was called, and how it came out. `depends` is said only inside of one period \
         (and one second with an initial delay, for the kubelet cuts the start to the whole second); where it is not known how a \
         server fails, the probe's timeout comes on top, and of each failure what it is above the period; a refused gRPC probe takes all of its \
         timeout but a second, more or less, by chance.\n"
    )?;
    for one in summaries {
        writeln!(
            page,
            "| Kubernetes {} | passed first | was killed first |",
            one.kubernetes
        )?;
        writeln!(page, "| --- | --- | --- |")?;
        for (verdict, race) in &one.verdicts {
            writeln!(page, "| {verdict} | {} | {} |", race.passed, race.killed)?;
        }
        writeln!(page)?;
    }
    Ok(())
}

fn deviations(page: &mut String, summaries: &[Summary]) -> std::fmt::Result {
    writeln!(
        page,
        "## How far apart\n\n\
         Between a simulated moment and the observed one, in milliseconds, as far as two timelines agree; what lies further apart is a \
         miss.\n"
    )?;
    for one in summaries {
        writeln!(
            page,
            "| Kubernetes {} | moments | p50 | p95 | p99 | most |",
            one.kubernetes
        )?;
        writeln!(page, "| --- | --- | --- | --- | --- | --- |")?;
        for (what, deviation) in &one.deviations {
            let Deviation {
                count,
                p50,
                p95,
                p99,
                max,
            } = deviation;
            writeln!(page, "| {what} | {count} | {p50} | {p95} | {p99} | {max} |")?;
        }
        writeln!(page)?;
    }
    Ok(())
}

fn dimensions(page: &mut String, summaries: &[Summary]) -> std::fmt::Result {
    writeln!(
        page,
        "## By what is special about a pod\n\nPods that agree in everything, of all.\n"
    )?;
    header(page, " |", summaries)?;
    let mut all: BTreeMap<(&String, &String), ()> = BTreeMap::new();
    for one in summaries {
        for (dimension, values) in &one.dimensions {
            all.extend(values.keys().map(|value| ((dimension, value), ())));
        }
    }
    for (dimension, value) in all.into_keys() {
        row(page, &format!("{dimension} | {value}"), summaries, |one| {
            let of = one
                .dimensions
                .get(dimension)
                .and_then(|values| values.get(value));
            of.map_or(String::new(), |of| format!("{} of {}", of.0, of.1))
        })?;
    }
    writeln!(page)
}

fn differences(page: &mut String, summaries: &[Summary]) -> std::fmt::Result {
    writeln!(page, "## Misses\n")?;
    for one in summaries {
        for (seed, what) in &one.misses {
            let why = explanation(&one.kubernetes, *seed).unwrap_or("not explained");
            writeln!(
                page,
                "- {} seed {seed}: {}. {why}",
                one.kubernetes,
                what.join("; ")
            )?;
        }
        if one.misses.is_empty() {
            writeln!(page, "- {}: none", one.kubernetes)?;
        }
    }
    writeln!(page, "\n## Known differences\n")?;
    for known in KNOWN {
        writeln!(page, "- {known}")?;
    }
    Ok(())
}

fn header(page: &mut String, first: &str, summaries: &[Summary]) -> std::fmt::Result {
    let releases: Vec<String> = summaries
        .iter()
        .map(|one| format!("Kubernetes {}", one.kubernetes))
        .collect();
    let columns = releases.len() + 1 + first.matches('|').count();
    writeln!(page, "| {first} | {} |", releases.join(" | "))?;
    writeln!(page, "|{}", " --- |".repeat(columns))
}

fn row(
    page: &mut String,
    name: &str,
    summaries: &[Summary],
    cell: impl Fn(&Summary) -> String,
) -> std::fmt::Result {
    let cells: Vec<String> = summaries.iter().map(cell).collect();
    writeln!(page, "| {name} | {} |", cells.join(" | "))
}

fn races(summary: &Summary) -> usize {
    summary
        .verdicts
        .values()
        .map(|race| race.passed + race.killed)
        .sum()
}

fn share(share: Share) -> String {
    format!("{} of {} ({:.2} %)", share.0, share.1, share.percent())
}

fn seconds(millis: i64) -> String {
    format!("{}", millis as f64 / 1000.0)
}
