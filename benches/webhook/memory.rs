//! Memory: idle, under load, and with many idle connections.

use std::time::Duration;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::load;
use super::process::{Place, Program};
use super::reviews::Review;

/// The idle connections that are wanted.
const WANTED: u64 = 10_000;

/// Descriptors of each side that are no connections.
const APART: u64 = 512;

/// How long what was freed has to go back.
const REST: Duration = Duration::from_secs(1);

/// Resident MiB, and how much of it is not a file's.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Resident {
    pub(crate) all: f64,
    pub(crate) own: f64,
}

/// What a server has resident.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Memory {
    /// Once it has answered one review.
    pub(crate) idle: Resident,
    /// Under load, at most.
    pub(crate) load: f64,
    /// With idle connections, each of which has asked once.
    pub(crate) connections: Resident,
    /// How many those are.
    pub(crate) count: u64,
}

/// Measures a fresh process.
pub(crate) async fn measure(
    place: &Place,
    program: Program,
    reviews: &[Review],
    time: Duration,
    wanted: u64,
) -> Result<Memory, String> {
    let process = place.start(program)?;
    let resident = || Resident {
        all: process.memory("VmRSS"),
        own: process.memory("RssAnon"),
    };
    let text = |error: std::io::Error| error.to_string();
    let reviews: Vec<_> = reviews
        .iter()
        .filter(|review| program != Program::Go || review.in_go)
        .map(|review| review.request(program))
        .collect();
    let mut first = process.connect(&place.caller).await?;
    first.ask(&reviews[0]).await.map_err(text)?;
    drop(first);
    tokio::time::sleep(REST).await;
    let idle = resident();
    for request in &reviews {
        load::closed(&process, &place.caller, request, time).await?;
    }
    let load = process.memory("VmHWM");
    let mut connections = Vec::new();
    for _ in 0..wanted {
        let mut connection = process.connect(&place.caller).await?;
        connection.ask(&reviews[0]).await.map_err(text)?;
        connections.push(connection);
    }
    tokio::time::sleep(REST).await;
    Ok(Memory {
        idle,
        load,
        connections: resident(),
        count: wanted,
    })
}

/// Raises the limit of file descriptors, and says how many idle connections it lets a process have: the servers are under the
/// same limit and raise it themselves.
pub(crate) fn room() -> u64 {
    let limit = getrlimit(Resource::Nofile);
    let most = limit.maximum.unwrap_or(u64::MAX);
    let current = most.min(WANTED + APART);
    let raised = Rlimit {
        current: Some(current),
        ..limit
    };
    match setrlimit(Resource::Nofile, raised) {
        Ok(()) => WANTED.min(current.saturating_sub(APART)),
        Err(_) => WANTED.min(limit.current.unwrap_or(0).saturating_sub(APART)),
    }
}
