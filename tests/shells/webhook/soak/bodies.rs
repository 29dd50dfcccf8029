//! Bodies without end, many at once.

use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};

use super::super::process::flood;
use super::{Run, said};

/// For how long bodies are sent.
const LASTING: Duration = Duration::from_secs(10);

/// What bodies without end were told.
#[derive(Default)]
struct Floods {
    too_long: usize,
    no_room: usize,
    late: usize,
    otherwise: Vec<String>,
}

/// Sends so many bodies at once, one behind the other.
async fn send(run: &Run, count: usize) -> Floods {
    let (mut floods, mut told) = (JoinSet::new(), Floods::default());
    let until = Instant::now() + LASTING;
    let send = || {
        let service = run.service.clone();
        async move { flood(service.connect().await.expect("it shakes hands")).await }
    };
    for _ in 0..count {
        floods.spawn(send());
    }
    while let Some(status) = floods.join_next().await {
        match status {
            Ok(status) if status == "HTTP/1.1 413" => told.too_long += 1,
            Ok(status) if status == "HTTP/1.1 503" => told.no_room += 1,
            Ok(status) if status == "HTTP/1.1 408" => told.late += 1,
            other => told.otherwise.push(format!("{other:?}")),
        }
        if Instant::now() < until {
            floods.spawn(send());
        }
    }
    told
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "make soak"]
async fn soak_bodies_without_end() {
    let run = Run::start("bodies without end", &[]);
    let good = run.good();
    sleep(Duration::from_secs(2)).await;
    let (before, _) = run.webhook.memory();
    let mut wrong = Vec::new();
    for count in [1, 20, 100] {
        let told = send(&run, count).await;
        let (_, peak) = run.webhook.memory();
        run.say(format!(
            "{count} at once: {} told that they are too long, {} that there is no room, {} that they are late, {} otherwise, {} MiB more",
            told.too_long, told.no_room, told.late, told.otherwise.len(), peak - before,
        ));
        assert!(told.too_long > 0);
        wrong.extend(told.otherwise);
    }
    let good = good.end().await;
    run.say(said(&good));
    assert!(wrong.is_empty(), "{wrong:#?}");
    good.assert_none_lost();
    run.assert_unharmed().await;
}
