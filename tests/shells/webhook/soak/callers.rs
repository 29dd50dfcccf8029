//! Callers that are slow, callers that are strangers, and nobody who reads the log.

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tempfile::NamedTempFile;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};

use super::super::certificates::Authority;
use super::super::client::Tls;
use super::super::hostile::{Slow, inputs};
use super::super::tls::{identities, is_answered};
use super::inputs::{said_of, send_all};
use super::{Run, millis, said};

/// Slow callers of each kind, for how long there are so many, and how slow they are.
const SLOW: usize = 200;
const LASTING: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(250);

/// How often a stranger comes.
const TIMES: usize = 100;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "make soak"]
async fn soak_slow_callers() {
    let run = Run::start("slow callers", &[]);
    let good = run.good();
    // How many of each kind were dropped, and how long the last of them had taken.
    let dropped = Arc::new(Mutex::new(BTreeMap::<_, (usize, Duration)>::new()));
    let mut slow = JoinSet::<()>::new();
    for &how in [Slow::ALL; SLOW].as_flattened() {
        let (service, dropped) = (run.service.clone(), Arc::clone(&dropped));
        slow.spawn(async move {
            loop {
                let begun = Instant::now();
                how.until_dropped(&service, PAUSE).await;
                let mut dropped = dropped.lock().expect("nobody panicked with it");
                let (count, longest) = dropped.entry(format!("{how:?}")).or_default();
                *count += 1;
                *longest = begun.elapsed().max(*longest);
            }
        });
    }
    sleep(LASTING).await;
    let connections = run.webhook.metric("warmgate_connections").await;
    let failed = std::iter::from_fn(|| slow.try_join_next()).count();
    slow.shutdown().await;
    let good = good.end().await;
    let dropped = dropped.lock().expect("nobody panicked with it").clone();
    for (how, (count, longest)) in &dropped {
        let longest = millis(*longest);
        run.say(format!(
            "{how}: {count} dropped, the last after {longest} ms"
        ));
    }
    run.say(format!("{connections} connections at the end"));
    run.say(said(&good));
    assert_eq!(failed, 0);
    for how in Slow::ALL {
        let count = dropped
            .get(&format!("{how:?}"))
            .map_or(0, |(count, _)| *count);
        // An idle connection has 120 s.
        assert_eq!(
            count >= SLOW,
            !matches!(how, Slow::Idle),
            "{how:?}: {count}"
        );
    }
    good.assert_none_lost();
    run.assert_unharmed().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "make soak"]
async fn soak_strangers() {
    let callers = Authority::new();
    let mut file = NamedTempFile::new().expect("files can be written");
    file.write_all(callers.pem.as_bytes())
        .expect("files can be written");
    let file = file.path().to_str().expect("it is text");
    let mut run = Run::start("strangers", &["--client-ca", file]);
    let mut strangers = Vec::new();
    for (identity, welcome) in identities(&callers) {
        let mut tls = Tls::new(&run.authority);
        tls.identity = identity;
        let service = tls.service(run.webhook.admission);
        match welcome {
            true => run.service = service,
            false => strangers.push(service),
        }
    }
    let good = run.good();
    let (mut refused, mut answered) = (0, 0);
    for _ in 0..TIMES {
        for stranger in &strangers {
            match is_answered(stranger).await {
                true => answered += 1,
                false => refused += 1,
            }
        }
    }
    let good = good.end().await;
    run.say(format!("{refused} refused, {answered} answered"));
    run.say(said(&good));
    assert_eq!((refused, answered), (TIMES * strangers.len(), 0));
    good.assert_none_lost();
    run.assert_unharmed().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "make soak"]
async fn soak_blocked_output() {
    let run = Run::start("blocked output", &["--log", "debug"]);
    let good = run.good();
    let mut wrong = Vec::new();
    for (kind, inputs) in inputs() {
        if matches!(kind, "requests" | "bodies") {
            let told = send_all(&run.service, &inputs).await;
            run.say(format!("{kind}: {}", said_of(&inputs, &told)));
            wrong.extend(told.otherwise);
        }
    }
    let good = good.end().await;
    let dropped = run.webhook.metric("warmgate_log_lines_dropped_total").await;
    run.say(format!("{dropped} lines dropped"));
    run.say(said(&good));
    assert!(dropped > 0);
    assert!(wrong.is_empty(), "{wrong:#?}");
    good.assert_none_lost();
    run.assert_unharmed().await;
}
