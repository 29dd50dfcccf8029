//! Replicas that leave and come under load, behind what stands for a Service.

use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::sleep;

use super::super::certificates::Authority;
use super::super::client::Tls;
use super::super::good::{Good, Rate};
use super::super::process::Process;
use super::{GOOD, said};

/// How often a replica is replaced.
const RESTARTS: usize = 20;

/// How long the Service still leads new connections to a replica that was told to leave.
const LAG: Duration = Duration::from_secs(1);

/// A replica leaves after twice that.
const LEAVING: [&str; 2] = ["--lame-duck", "2s"];

/// Callers that ask so seldom that their connections are idle for seconds.
const SELDOM: Rate = Rate {
    connections: 10,
    per_second: Some(2.0),
    ..GOOD
};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "make soak"]
async fn soak_restarts() {
    let authority = Authority::new();
    let mut replicas = Vec::new();
    for _ in 0..2 {
        replicas.push(Process::start(&authority, &LEAVING));
    }
    let endpoints = |replicas: &[Process]| -> Vec<_> {
        replicas.iter().map(|replica| replica.admission).collect()
    };
    let service = Tls::new(&authority).service(replicas[0].admission);
    service.lead_to(endpoints(&replicas));
    let (good, seldom) = (Good::begin(&service, GOOD), Good::begin(&service, SELDOM));
    let mut leaving = JoinSet::new();
    for _ in 0..RESTARTS {
        let next = Process::start(&authority, &LEAVING);
        next.ready().await;
        replicas.push(next);
        replicas[0].terminate();
        service.lead_to(endpoints(&replicas));
        sleep(LAG).await;
        leaving.spawn(replicas.remove(0).left());
        service.lead_to(endpoints(&replicas));
    }
    let mut clean = 0;
    while let Some(left) = leaving.join_next().await {
        clean += usize::from(left.expect("it is waited for"));
    }
    let (good, seldom) = (good.end().await, seldom.end().await);
    println!("restarts: {clean} of {RESTARTS} replicas left by themselves");
    for tally in [&good, &seldom] {
        println!(
            "restarts: {} connections; {}",
            tally.connections,
            said(tally)
        );
    }
    assert_eq!(clean, RESTARTS);
    good.assert_none_lost();
    seldom.assert_none_lost();
}
