//! Load: as much as 25 connections bring about, or so many requests a second.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::{Mutex, mpsc};
use tokio::task::{JoinSet, yield_now};

use super::cpu;
use super::process::Process;
use super::wire::{Caller, Connection};

/// The connections that the API server keeps to one webhook (`MaxIdleConnsPerHost` in `transport/cache.go` of client-go).
pub(crate) const CONNECTIONS: usize = 25;

/// Requests on each connection before anything is measured.
const WARMING: usize = 20;

/// What a server took under load.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Taken {
    /// Requests answered a second.
    pub(crate) rate: f64,
    /// Microseconds of a core that the server took for each.
    pub(crate) cpu: f64,
    /// The part of the time that the server was on its core.
    pub(crate) server_busy: f64,
    /// The same of the client.
    pub(crate) client_busy: f64,
}

/// Latencies, from when a request was due to the last byte of its answer.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Latency {
    /// The percentiles 50, 99 and 99.9, in microseconds.
    pub(crate) percentiles: [f64; 3],
    /// Microseconds of a core that the server took for each request.
    pub(crate) cpu: f64,
}

/// Connections that have been used.
async fn connections(
    process: &Process,
    caller: &Caller,
    request: &[u8],
) -> Result<(Vec<Connection>, usize), String> {
    let mut connections = Vec::new();
    let mut length = 0;
    for _ in 0..CONNECTIONS {
        let mut connection = process.connect(caller).await?;
        for _ in 0..WARMING {
            let answer = connection.ask(request).await;
            length = answer.map_err(|error| error.to_string())?.len();
        }
        connections.push(connection);
    }
    Ok((connections, length))
}

/// Asks on every connection, one request after the other, for a time.
pub(crate) async fn closed(
    process: &Process,
    caller: &Caller,
    request: &Arc<[u8]>,
    time: Duration,
) -> Result<Taken, String> {
    let (connections, length) = connections(process, caller, request).await?;
    let before = (process.cpu(), cpu::time(std::process::id()));
    let begun = Instant::now();
    let mut tasks = JoinSet::new();
    for mut connection in connections {
        let request = Arc::clone(request);
        tasks.spawn(async move {
            let mut count = 0_u64;
            while begun.elapsed() < time {
                ask(&mut connection, &request, length).await?;
                count += 1;
            }
            Ok::<_, String>(count)
        });
    }
    let mut count = 0;
    while let Some(done) = tasks.join_next().await {
        count += done.map_err(|error| error.to_string())??;
    }
    let elapsed = begun.elapsed().as_secs_f64();
    let server = (process.cpu() - before.0).as_secs_f64();
    let client = (cpu::time(std::process::id()) - before.1).as_secs_f64();
    Ok(Taken {
        rate: count as f64 / elapsed,
        cpu: server * 1e6 / count as f64,
        server_busy: server / elapsed,
        client_busy: client / elapsed,
    })
}

async fn ask(connection: &mut Connection, request: &[u8], length: usize) -> Result<(), String> {
    let answer = connection.ask(request).await;
    let answer = answer.map_err(|error| error.to_string())?;
    match answer.len() == length {
        true => Ok(()),
        false => Err("the same review was answered otherwise".to_owned()),
    }
}

/// Asks at even distances, whatever the answers take. A request that finds every connection at work waits, and its wait counts.
pub(crate) async fn paced(
    process: &Process,
    caller: &Caller,
    request: &Arc<[u8]>,
    rate: f64,
    time: Duration,
) -> Result<Latency, String> {
    let (connections, length) = connections(process, caller, request).await?;
    let (due, queue) = mpsc::unbounded_channel::<Instant>();
    let queue = Arc::new(Mutex::new(queue));
    let mut tasks = JoinSet::new();
    for mut connection in connections {
        let (queue, request) = (Arc::clone(&queue), Arc::clone(request));
        tasks.spawn(async move {
            let mut latencies = Vec::new();
            loop {
                let next = queue.lock().await.recv().await;
                let Some(due) = next else {
                    return Ok::<_, String>(latencies);
                };
                ask(&mut connection, &request, length).await?;
                latencies.push(due.elapsed());
            }
        });
    }
    let before = process.cpu();
    send(due, rate, time).await;
    let mut latencies = Vec::new();
    while let Some(done) = tasks.join_next().await {
        latencies.extend(done.map_err(|error| error.to_string())??);
    }
    let cpu = (process.cpu() - before).as_secs_f64() * 1e6 / latencies.len() as f64;
    latencies.sort_unstable();
    Ok(Latency {
        percentiles: [0.5, 0.99, 0.999].map(|part| percentile(&latencies, part)),
        cpu,
    })
}

/// Says when each request is due. It never sleeps: a timer is coarser than an answer takes.
async fn send(due: mpsc::UnboundedSender<Instant>, rate: f64, time: Duration) {
    let begun = Instant::now();
    let mut sent = 0_u64;
    loop {
        let next = Duration::from_secs_f64(sent as f64 / rate);
        if next >= time {
            return;
        }
        if begun.elapsed() < next {
            yield_now().await;
            continue;
        }
        if due.send(begun + next).is_err() {
            // The workers have given up, and say why themselves.
            return;
        }
        sent += 1;
    }
}

/// The percentile of sorted latencies, in microseconds.
fn percentile(latencies: &[Duration], part: f64) -> f64 {
    let rank = (latencies.len() as f64 * part).ceil() as usize;
    let latency = latencies[rank.clamp(1, latencies.len()) - 1];
    latency.as_secs_f64() * 1e6
}
