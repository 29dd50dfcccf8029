//! The long runs: `make soak`. They send what the tests beside this folder send, a hundred times or a thousand at once, to the binary
//! as a process of its own, whose log nobody reads. Each prints a line or two. What is counted there must be right; what is measured
//! there depends on the machine and is only said.

#![expect(clippy::print_stdout, reason = "a run says what it has counted")]

mod bodies;
mod callers;
mod inputs;
mod overload;
mod restarts;

use std::time::Duration;

use tokio::time::sleep;

use super::certificates::Authority;
use super::client::{Service, Tls};
use super::good::{Good, Rate, Tally};
use super::process::Process;

/// What an API server asks meanwhile: it keeps 25 idle connections to a webhook, and waits for as long as the chart tells it.
const GOOD: Rate = Rate {
    connections: 25,
    per_second: Some(200.0),
    patience: Duration::from_secs(2),
};

/// A webhook and those who call it.
struct Run {
    name: &'static str,
    webhook: Process,
    authority: Authority,
    service: Service,
}

impl Run {
    fn start(name: &'static str, more: &[&str]) -> Self {
        let authority = Authority::new();
        let webhook = Process::start(&authority, more);
        let service = Tls::new(&authority).service(webhook.admission);
        Self {
            name,
            webhook,
            authority,
            service,
        }
    }

    /// The good requests beside what is tried.
    fn good(&self) -> Good {
        Good::begin(&self.service, GOOD)
    }

    fn say(&self, what: impl AsRef<str>) {
        let (now, peak) = self.webhook.memory();
        let (name, what) = (self.name, what.as_ref());
        println!("{name}: {what}; {now} MiB, {peak} at most");
    }

    /// It still answers, and nothing panicked.
    async fn assert_unharmed(&self) {
        self.service.assert_answers().await;
        let metrics = self.webhook.metrics().await;
        assert!(metrics.contains("warmgate_panics_total 0"), "{metrics}");
    }
}

fn said(good: &Tally) -> String {
    let (sent, lost) = (good.sent(), good.sent() - good.right);
    let [middle, late] = [500, 990].map(|share| millis(good.per_mille(share)));
    format!("good requests: {sent} sent, {lost} lost, p50 {middle} ms, p99 {late} ms")
}

fn millis(time: Duration) -> String {
    format!("{:.1}", time.as_secs_f64() * 1000.0)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "make soak"]
async fn soak_good_requests_alone() {
    let run = Run::start("good requests alone", &[]);
    let good = run.good();
    sleep(Duration::from_secs(15)).await;
    let good = good.end().await;
    run.say(said(&good));
    good.assert_none_lost();
}
