//! The cases: each review with each program, in rounds.

use std::sync::Arc;
use std::time::Duration;

use super::load::{self, Latency, Taken};
use super::process::{Place, Process, Program};
use super::reviews::Review;
use crate::common::median;

/// The parts of what a server can do at most at which latencies are measured.
pub(crate) const LOADS: [f64; 2] = [0.5, 0.8];

/// A review with a program, and what was measured.
pub(crate) struct Case {
    /// The place of the review in the list.
    pub(crate) review: usize,
    pub(crate) program: Program,
    request: Arc<[u8]>,
    pub(crate) taken: Taken,
    pub(crate) latencies: [Latency; LOADS.len()],
}

/// The servers that run meanwhile; only one of them is asked at a time.
pub(crate) type Servers = Vec<(Program, Process)>;

/// How long and how often each case is measured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rounds {
    pub(crate) count: usize,
    pub(crate) closed: Duration,
    pub(crate) paced: Duration,
}

/// Measures all cases.
pub(crate) async fn measure(
    place: &Place,
    servers: &Servers,
    reviews: &[Review],
    rounds: Rounds,
) -> Result<Vec<Case>, String> {
    let mut cases = Vec::new();
    for (index, review) in reviews.iter().enumerate() {
        for program in review.programs(servers.iter().any(|(known, _)| *known == Program::Go)) {
            cases.push(Case {
                review: index,
                program,
                request: review.request(program),
                taken: Taken::default(),
                latencies: Default::default(),
            });
        }
    }
    take(place, servers, &mut cases, rounds).await?;
    for load in 0..LOADS.len() {
        wait(place, servers, &mut cases, rounds, load).await?;
    }
    Ok(cases)
}

/// As much as they bring about.
async fn take(
    place: &Place,
    servers: &Servers,
    cases: &mut [Case],
    rounds: Rounds,
) -> Result<(), String> {
    let mut all = vec![Vec::new(); cases.len()];
    for _ in 0..rounds.count {
        for (case, all) in cases.iter().zip(&mut all) {
            let server = server(servers, case.program);
            all.push(load::closed(server, &place.caller, &case.request, rounds.closed).await?);
        }
    }
    for (case, all) in cases.iter_mut().zip(all) {
        let of = |figure: fn(&Taken) -> f64| median(all.iter().map(figure).collect());
        case.taken = Taken {
            rate: of(|taken| taken.rate),
            cpu: of(|taken| taken.cpu),
            server_busy: of(|taken| taken.server_busy),
            client_busy: of(|taken| taken.client_busy),
        };
    }
    Ok(())
}

/// At a part of that.
async fn wait(
    place: &Place,
    servers: &Servers,
    cases: &mut [Case],
    rounds: Rounds,
    load: usize,
) -> Result<(), String> {
    let mut all = vec![Vec::new(); cases.len()];
    for _ in 0..rounds.count {
        for (case, all) in cases.iter().zip(&mut all) {
            let server = server(servers, case.program);
            let rate = LOADS[load] * case.taken.rate;
            let time = rounds.paced;
            all.push(load::paced(server, &place.caller, &case.request, rate, time).await?);
        }
    }
    for (case, all) in cases.iter_mut().zip(all) {
        let percentile =
            |index: usize| median(all.iter().map(|one| one.percentiles[index]).collect());
        case.latencies[load] = Latency {
            percentiles: [percentile(0), percentile(1), percentile(2)],
            cpu: median(all.iter().map(|one| one.cpu).collect()),
        };
    }
    Ok(())
}

fn server(servers: &Servers, program: Program) -> &Process {
    let found = servers.iter().find(|(known, _)| *known == program);
    &found.expect("a program that is asked was started").1
}
