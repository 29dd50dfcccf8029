//! The bench from its beginning to its end.

use std::sync::Arc;
use std::time::Duration;

use super::cases::{self, Case, Rounds, Servers};
use super::counts::{self, Counts};
use super::memory::{self, Memory};
use super::process::{Place, Program};
use super::reviews::{self, Expected, Review};
use super::{edits, go, report, start};
use crate::common::{Options, idle, machine, page};

/// Everything that was seen.
pub(crate) struct Seen {
    /// The machine and the versions of what ran on it.
    pub(crate) machine: String,
    pub(crate) two_cores: bool,
    pub(crate) rounds: Rounds,
    pub(crate) reviews: Vec<Review>,
    pub(crate) cases: Vec<Case>,
    /// Of [`COUNTED`], for each review; `None` without valgrind.
    pub(crate) counts: Option<Vec<Vec<Counts>>>,
    pub(crate) memory: Vec<(Program, Memory)>,
    /// Milliseconds.
    pub(crate) starts: Vec<(Program, f64)>,
}

/// The programs whose instructions are counted.
pub(crate) const COUNTED: [Program; 2] = [Program::Nothing, Program::Warmgate];

/// How much is done.
struct Amount {
    rounds: Rounds,
    starts: usize,
    loaded: Duration,
    connections: u64,
}

impl Amount {
    fn of(options: Options) -> Self {
        let millis = Duration::from_millis;
        let (count, closed, paced, starts, loaded, connections) = match options.quick {
            true => (1, 300, 300, 3, 300, 500),
            false => (5, 2000, 1500, 21, 3000, u64::MAX),
        };
        Self {
            rounds: Rounds {
                count,
                closed: millis(closed),
                paced: millis(paced),
            },
            starts,
            loaded: millis(loaded),
            connections,
        }
    }
}

/// Measures, and writes what was asked for.
pub(crate) fn run(options: Options) -> Result<(), String> {
    if options.write {
        idle::must_be_idle()?;
    }
    let go = go::build()?;
    if go.is_none() {
        say("go is missing: nothing stands beside warmgate in Go");
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| error.to_string())?;
    let seen = runtime.block_on(see(&Amount::of(options), go))?;
    let text = report::text(&seen);
    println!("{text}");
    if options.write {
        page::write("the webhook", &text)?;
    }
    Ok(())
}

async fn see(amount: &Amount, go: Option<String>) -> Result<Seen, String> {
    let mut machine = machine::line();
    let place = Arc::new(Place::new()?);
    let mut programs = vec![Program::Nothing, Program::Warmgate];
    if let Some(go) = &go {
        machine = format!("{machine}, {go}");
        programs.push(Program::Go);
    }
    let mut servers = Servers::new();
    for program in &programs {
        servers.push((*program, place.start(*program)?));
    }
    say("checking the answers");
    let reviews = checked(&place, &servers).await?;
    say("measuring rates, latencies and CPU");
    let cases = cases::measure(&place, &servers, &reviews, amount.rounds).await?;
    drop(servers);
    say("measuring memory and starts");
    let (mut memory, mut starts) = (Vec::new(), Vec::new());
    let connections = memory::room().min(amount.connections);
    for program in programs {
        if program != Program::Nothing {
            let seen = memory::measure(&place, program, &reviews, amount.loaded, connections);
            memory.push((program, seen.await?));
        }
        let milliseconds = start::measure(&place, program, &reviews[0], amount.starts).await?;
        starts.push((program, milliseconds));
    }
    let counts = match counts::tool() {
        Some(version) => {
            say("counting instructions and allocations");
            machine = format!("{machine}, {version}");
            Some(counts::count(&place, &reviews, &COUNTED).await?)
        }
        None => {
            say("valgrind is missing: no instructions and allocations are counted");
            None
        }
    };
    Ok(Seen {
        machine,
        two_cores: place.has_two_cores(),
        rounds: amount.rounds,
        reviews,
        cases,
        counts,
        memory,
        starts,
    })
}

/// The reviews, each of which every server has answered as it should.
async fn checked(place: &Place, servers: &Servers) -> Result<Vec<Review>, String> {
    let mut reviews = reviews::mutating();
    let mut mended = Vec::new();
    for review in &reviews {
        let mut ours = None;
        for (program, process) in servers {
            if *program == Program::Go && !review.in_go {
                continue;
            }
            let object = edits::ask(place, process, *program, review).await?;
            match (program, &ours) {
                (Program::Warmgate, _) => ours = Some(object),
                (Program::Go, Some(ours)) => edits::same(ours, &object)?,
                _ => {}
            }
        }
        if let (Expected::Patch, Some(object)) = (review.expected, ours) {
            mended.push(reviews::validating(review, object));
        }
    }
    for review in &mended {
        for (program, process) in servers {
            if *program != Program::Go {
                edits::ask(place, process, *program, review).await?;
            }
        }
    }
    reviews.append(&mut mended);
    Ok(reviews)
}

fn say(what: &str) {
    eprintln!("== {what}");
}
