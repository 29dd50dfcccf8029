//! What was seen, in Markdown.

use std::fmt::Write;

use super::cases::{Case, LOADS};
use super::counts::Counts;
use super::load::CONNECTIONS;
use super::memory::Memory;
use super::process::Program;
use super::reviews::MENDED_POD;
use super::run::Seen;
use crate::common::table::Table;

/// The aims of the project.
const PASSED: f64 = 0.95;
const MENDED: f64 = 0.85;
const GO: f64 = 6.0;
const IDLE: f64 = 8.0;
const LOADED: f64 = 25.0;
const START: f64 = 20.0;

/// Everything.
pub(crate) fn text(seen: &Seen) -> String {
    let mut text = format!("{}\n\n{}\n{}", conditions(seen), aims(seen), rates(seen));
    let _ = write!(text, "\n{}", latencies(seen));
    if let Some(counts) = &seen.counts {
        let _ = write!(text, "\n{}", counted(seen, counts));
    }
    let _ = write!(text, "\n{}\n{}", memory(seen), starts(seen));
    text
}

fn conditions(seen: &Seen) -> String {
    let cores = match seen.two_cores {
        true => "client and server on a core each",
        false => "client and server on the same core, so that no rate here is worth much",
    };
    format!(
        "{}; {cores}; medians of {} rounds in which the cases take turns, {} s each, and {} s each \
         for latencies; {CONNECTIONS} connections.",
        seen.machine,
        seen.rounds.count,
        seen.rounds.closed.as_secs_f64(),
        seen.rounds.paced.as_secs_f64(),
    )
}

/// The aims and what came of them.
fn aims(seen: &Seen) -> Table {
    let mut table = Table::new(["aim", "wanted", "seen", ""]);
    let mut row = |what: &str, wanted: String, seen: String, met: bool| {
        let met = if met { "met" } else { "missed" };
        table.row([what.to_owned(), wanted, seen, met.to_owned()]);
    };
    for (index, review) in seen.reviews.iter().enumerate() {
        let aim = match &review.name[..3] {
            "(b)" => PASSED,
            "(c)" => MENDED,
            _ => continue,
        };
        let (own, base) = (
            case(seen, index, Program::Warmgate),
            case(seen, index, Program::Nothing),
        );
        if let (Some(own), Some(base)) = (own, base) {
            let part = own.taken.rate / base.taken.rate;
            let what = format!("{}: requests a second, of those of (a)", review.name);
            row(
                &what,
                format!(">= {aim:.2}"),
                format!("{part:.2}"),
                part >= aim,
            );
        }
    }
    let mended = seen
        .reviews
        .iter()
        .position(|review| review.name == MENDED_POD);
    let of = |program| mended.and_then(|index| case(seen, index, program));
    if let (Some(own), Some(go)) = (of(Program::Warmgate), of(Program::Go)) {
        let times = go.taken.cpu / own.taken.cpu;
        let what = "CPU per review of the Go webhook, of ours";
        row(
            what,
            format!(">= {GO:.0} x"),
            format!("{times:.1} x"),
            times >= GO,
        );
    }
    if let Some((_, memory)) = seen
        .memory
        .iter()
        .find(|(program, _)| *program == Program::Warmgate)
    {
        let (idle, load) = (memory.idle.all, memory.load);
        row(
            "resident, idle",
            format!("<= {IDLE:.0} MiB"),
            format!("{idle:.1} MiB"),
            idle <= IDLE,
        );
        row(
            "resident, under load",
            format!("<= {LOADED:.0} MiB"),
            format!("{load:.1} MiB"),
            load <= LOADED,
        );
    }
    if let Some((_, start)) = seen
        .starts
        .iter()
        .find(|(program, _)| *program == Program::Warmgate)
    {
        let met = *start <= START;
        row(
            "from exec to the first answer",
            format!("<= {START:.0} ms"),
            format!("{start:.1} ms"),
            met,
        );
    }
    table
}

fn case(seen: &Seen, review: usize, program: Program) -> Option<&Case> {
    seen.cases
        .iter()
        .find(|case| case.review == review && case.program == program)
}

/// Each case with its own no-op.
fn rates(seen: &Seen) -> Table {
    let mut table = Table::new([
        "review",
        "kB",
        "server",
        "requests/s",
        "of (a)",
        "CPU µs",
        "times (a)",
        "core busy, server/client",
    ]);
    for case in &seen.cases {
        let review = &seen.reviews[case.review];
        let (name, size) = match case.program {
            Program::Nothing => (
                review.name,
                format!("{:.1}", review.text.len() as f64 / 1e3),
            ),
            _ => ("", String::new()),
        };
        let base = self::case(seen, case.review, Program::Nothing).map(|base| base.taken);
        let base = base.unwrap_or_default();
        table.row([
            name.to_owned(),
            size,
            word(case.program).to_owned(),
            format!("{:.0}", case.taken.rate),
            format!("{:.2}", case.taken.rate / base.rate),
            format!("{:.1}", case.taken.cpu),
            format!("{:.2}", case.taken.cpu / base.cpu),
            format!(
                "{:.0} / {:.0} %",
                100.0 * case.taken.server_busy,
                100.0 * case.taken.client_busy
            ),
        ]);
    }
    table
}

fn latencies(seen: &Seen) -> Table {
    let parts = LOADS.map(|load| format!("{:.0} %", 100.0 * load));
    let mut heads = vec!["review".to_owned(), "server".to_owned()];
    for part in &parts {
        for figure in ["requests/s", "p50 µs", "p99 µs", "p99.9 µs", "CPU µs"] {
            heads.push(format!("{part}: {figure}"));
        }
    }
    let mut table = Table::new(heads);
    for case in &seen.cases {
        let name = match case.program {
            Program::Nothing => seen.reviews[case.review].name,
            _ => "",
        };
        let mut cells = vec![name.to_owned(), word(case.program).to_owned()];
        for (load, latency) in LOADS.iter().zip(case.latencies) {
            cells.push(format!("{:.0}", load * case.taken.rate));
            cells.extend(latency.percentiles.map(|micros| format!("{micros:.0}")));
            cells.push(format!("{:.1}", latency.cpu));
        }
        table.row(cells);
    }
    table
}

fn counted(seen: &Seen, counts: &[Vec<Counts>]) -> Table {
    let mut table = Table::new([
        "review",
        "(a) instructions",
        "instructions",
        "times (a)",
        "(a) allocations",
        "allocations",
    ]);
    for (review, counts) in seen.reviews.iter().zip(counts) {
        let [base, own] = counts[..] else { continue };
        table.row([
            review.name.to_owned(),
            format!("{:.0}", base.instructions),
            format!("{:.0}", own.instructions),
            format!("{:.2}", own.instructions / base.instructions),
            format!("{:.0}", base.allocations),
            format!("{:.0}", own.allocations),
        ]);
    }
    table
}

fn memory(seen: &Seen) -> Table {
    let count = seen.memory.first().map_or(0, |(_, memory)| memory.count);
    let mut table = Table::new([
        "resident MiB".to_owned(),
        "idle".to_owned(),
        "of it not of files".to_owned(),
        "under load, at most".to_owned(),
        format!("{count} idle connections"),
        "of it not of files".to_owned(),
        "kB for each".to_owned(),
    ]);
    for (program, memory) in &seen.memory {
        let Memory {
            idle,
            load,
            connections,
            count,
        } = *memory;
        let each = (connections.own - idle.own) * 1024.0 / count as f64;
        table.row([
            word(*program).to_owned(),
            format!("{:.1}", idle.all),
            format!("{:.1}", idle.own),
            format!("{load:.1}"),
            format!("{:.1}", connections.all),
            format!("{:.1}", connections.own),
            format!("{each:.1}"),
        ]);
    }
    table
}

fn starts(seen: &Seen) -> Table {
    let mut table = Table::new(["from exec to the first answer", "ms"]);
    for (program, milliseconds) in &seen.starts {
        table.row([word(*program).to_owned(), format!("{milliseconds:.1}")]);
    }
    table
}

fn word(program: Program) -> &'static str {
    match program {
        Program::Nothing => "(a) no-op",
        Program::Warmgate => "warmgate",
        Program::Go => "Go",
    }
}
