//! What is the same on every machine: instructions in user mode and allocations, counted by valgrind over a few reviews and over
//! some more. The difference is that of the reviews alone.

use std::fs;
use std::sync::Arc;

use tokio::sync::Semaphore;
use tokio::task::{JoinSet, spawn_blocking};

use super::process::{Place, Program};
use super::reviews::Review;
use crate::common::machine;

/// Reviews of the two runs: on the first ones, what is made once is made.
const REVIEWS: [u32; 2] = [50, 150];

/// Runs at the same time: they wait for their exit more than for a core.
const AT_ONCE: usize = 4;

/// What one review takes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    /// Instructions in user mode.
    pub(crate) instructions: f64,
    /// Allocations, reallocations among them.
    pub(crate) allocations: f64,
}

/// What counts, what of its last words tells the figure, and what stands behind it.
const TOOLS: [(&str, &str); 2] = [
    (
        "--tool=callgrind --callgrind-out-file=/dev/null",
        "Collected :",
    ),
    (
        "--tool=memcheck --leak-check=no --undef-value-errors=no",
        "total heap usage:",
    ),
];

/// The version of valgrind, if it is there.
pub(crate) fn tool() -> Option<String> {
    machine::first_line("valgrind", "--version")
}

/// Counts for each review and program, in that order.
pub(crate) async fn count(
    place: &Arc<Place>,
    reviews: &[Review],
    programs: &[Program],
) -> Result<Vec<Vec<Counts>>, String> {
    let turns = Arc::new(Semaphore::new(AT_ONCE));
    let mut runs = JoinSet::new();
    for (row, review) in reviews.iter().enumerate() {
        for (column, program) in programs.iter().copied().enumerate() {
            let request = review.request(program);
            for tool in 0..TOOLS.len() {
                for (run, reviews) in REVIEWS.into_iter().enumerate() {
                    let (place, request) = (Arc::clone(place), Arc::clone(&request));
                    let turns = Arc::clone(&turns);
                    runs.spawn(async move {
                        let _turn = turns.acquire_owned().await;
                        let log = format!("valgrind-{row}-{column}-{tool}-{run}");
                        let total = total(&place, program, &request, tool, reviews, &log).await?;
                        Ok::<_, String>((row, column, tool, run, total))
                    });
                }
            }
        }
    }
    let mut counts = vec![vec![Counts::default(); programs.len()]; reviews.len()];
    let more = f64::from(REVIEWS[1] - REVIEWS[0]);
    while let Some(done) = runs.join_next().await {
        let (row, column, tool, run, total) = done.map_err(|error| error.to_string())??;
        let part = [-total, total][run] / more;
        let counts = &mut counts[row][column];
        match tool {
            0 => counts.instructions += part,
            _ => counts.allocations += part,
        }
    }
    Ok(counts)
}

/// What a server counts from its start to its end, with so many reviews between.
async fn total(
    place: &Place,
    program: Program,
    request: &[u8],
    tool: usize,
    reviews: u32,
    log: &str,
) -> Result<f64, String> {
    let (flags, words) = TOOLS[tool];
    let log = place.file(log);
    let mut before = vec!["valgrind".to_owned()];
    before.extend(flags.split(' ').map(str::to_owned));
    before.push(format!("--log-file={}", log.display()));
    let process = place.start_by(&before, program)?;
    let mut connection = process.connect(&place.caller).await?;
    for _ in 0..reviews {
        let answer = connection.ask(request).await;
        answer.map_err(|error| error.to_string())?;
    }
    drop(connection);
    let ended = spawn_blocking(move || process.stop()).await;
    let ended = ended.map_err(|error| error.to_string())??;
    let said = fs::read_to_string(&log).map_err(|error| error.to_string())?;
    number_behind(&said, words).ok_or_else(|| format!("valgrind ended with {ended}: {said}"))
}

/// The number behind some words.
fn number_behind(text: &str, words: &str) -> Option<f64> {
    let (_, rest) = text.split_once(words)?;
    let number = rest.split_whitespace().next()?.replace(',', "");
    number.parse().ok()
}
