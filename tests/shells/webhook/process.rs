//! The webhook as a process: what it takes of the machine, and what the machine may do to it.

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt, split};
use tokio::task::JoinSet;
use tokio::time::sleep;

use super::certificates::Authority;
use super::client::{Client, Tls, TlsClient};
use super::limits::{JSON, head};
use super::metrics;
use super::reload::until;
use super::review;

/// A webhook that ends with the test.
pub(super) struct Process {
    child: Child,
    /// Where its log goes; it is open and nobody reads it.
    _log: BufReader<ChildStdout>,
    pub(super) admission: SocketAddr,
    health: SocketAddr,
    _files: TempDir,
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        self.child.wait().expect("it ends");
    }
}

impl Process {
    /// Starts it with a certificate of this authority and with these arguments more, and reads its log up to where it says that it
    /// listens.
    pub(super) fn start(authority: &Authority, more: &[&str]) -> Self {
        let pair = authority.pair("one");
        let files = TempDir::new().expect("there is a folder");
        let (chain, key) = (files.path().join("tls.crt"), files.path().join("tls.key"));
        fs::write(&chain, pair.chain).expect("files can be written");
        fs::write(&key, pair.key).expect("files can be written");
        let mut child = Command::new(env!("CARGO_BIN_EXE_warmgate"))
            .envs(chart_env())
            .args(["webhook", "--address", "127.0.0.1"])
            .args(["--port", "0", "--health-port", "0"])
            .arg("--tls-cert")
            .arg(chain)
            .arg("--tls-key")
            .arg(key)
            .args(more)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the binary runs");
        let mut log = BufReader::new(child.stdout.take().expect("its output is a pipe"));
        let listening = loop {
            let mut line = String::new();
            let read = log.read_line(&mut line).expect("a line is text");
            assert!(read > 0, "it says where it listens");
            let line: Value = serde_json::from_str(&line).expect("a line is JSON");
            if line["admission"].is_string() {
                break line;
            }
        };
        let address = |port: &str| {
            let address = listening[port].as_str().map(str::parse);
            address.expect("it is text").expect("it is an address")
        };
        Self {
            admission: address("admission"),
            health: address("health"),
            child,
            _log: log,
            _files: files,
        }
    }

    pub(super) async fn metrics(&self) -> String {
        metrics(self.health).await
    }

    /// The value of a metric without labels.
    pub(super) async fn metric(&self, name: &str) -> u64 {
        let metrics = self.metrics().await;
        let line = metrics.lines().find_map(|line| line.strip_prefix(name));
        let value = line.and_then(|value| value.trim().parse().ok());
        value.unwrap_or_else(|| panic!("{name} is in {metrics}"))
    }

    /// Waits until it may be asked.
    pub(super) async fn ready(&self) {
        until("it is ready", async || {
            let ready = Client::plain(self.health).await.get("/readyz").await;
            ready.is_some_and(|answer| answer.status == 200)
        })
        .await;
    }

    /// Tells it to leave.
    pub(super) fn terminate(&self) {
        kill_process(Pid::from_child(&self.child), Signal::TERM).expect("it runs");
    }

    /// Waits until it has left, and says whether it did so by itself.
    pub(super) async fn left(mut self) -> bool {
        loop {
            match self.child.try_wait().expect("it can be waited for") {
                Some(status) => return status.success(),
                None => sleep(Duration::from_millis(20)).await,
            }
        }
    }

    /// The memory in MiB that it has now, and the most that it has had.
    pub(super) fn memory(&self) -> (u64, u64) {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()));
        let status = status.expect("it runs");
        let of = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name));
            let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
            kib.expect("the kernel counts it in KiB") >> 10
        };
        (of("VmRSS:"), of("VmHWM:"))
    }
}

/// The variables that the chart gives the webhook.
fn chart_env() -> Vec<(&'static str, &'static str)> {
    let template = include_str!("../../../charts/warmgate/templates/webhook-deployment.yaml");
    let lines: Vec<&str> = template.lines().map(str::trim).collect();
    let pair = |lines: &[&'static str]| {
        let name = lines[0].strip_prefix("- name: ")?;
        let value = lines[1].strip_prefix("value: ")?;
        Some((name, value.trim_matches('"')))
    };
    let pairs: Vec<_> = lines.windows(2).filter_map(pair).collect();
    let named = |wanted: &str| pairs.iter().any(|(name, _)| *name == wanted);
    assert!(named("MALLOC_TRIM_THRESHOLD_"), "{pairs:?}");
    pairs
}

/// Sends a body without end until there is an answer, and returns its status line.
pub(super) async fn flood(client: TlsClient) -> String {
    let (mut reading, mut writing) = split(client.stream);
    let writer = tokio::spawn(async move {
        let begin = head(&format!("{JSON}transfer-encoding: chunked\r\n"));
        let chunk = format!("10000\r\n{}\r\n", " ".repeat(0x10000));
        let mut sent = writing.write_all(begin.as_bytes()).await;
        while sent.is_ok() {
            sent = writing.write_all(chunk.as_bytes()).await;
        }
    });
    let mut answer = vec![0; 12];
    let read = reading.read_exact(&mut answer).await;
    writer.abort();
    read.expect("there is an answer");
    String::from_utf8(answer).expect("it is text")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_bodies_without_end_take_bounded_memory() {
    let authority = Authority::new();
    let webhook = Process::start(&authority, &[]);
    let service = Tls::new(&authority).service(webhook.admission);
    let mut floods = JoinSet::new();
    for _ in 0..80 {
        floods.spawn(flood(service.connect().await.expect("it shakes hands")));
    }
    while let Some(status) = floods.join_next().await {
        let status = status.expect("it is answered");
        assert!(
            matches!(status.as_str(), "HTTP/1.1 413" | "HTTP/1.1 503"),
            "{status}"
        );
    }
    service.assert_answers().await;
    // Without a budget for all bodies together these would be 560 MiB, and the chart gives 512.
    let (_, peak) = webhook.memory();
    assert!(peak <= 384, "{peak} MiB");
}

/// Reviews with as many values as are read, from more callers than are judged at once.
#[tokio::test]
async fn many_large_reviews_take_bounded_memory() {
    let mut large = review("llm");
    let object = &mut large["request"]["object"];
    object["metadata"]["annotations"] = json!({"warmgate.io/accelerator": "true"});
    let variables = vec![json!({"name": "A", "value": "$(B)$(C)"}); 60_000];
    object["spec"] = json!({"containers": [{"name": "a", "env": variables}]});
    let large: Arc<str> = large.to_string().into();
    let authority = Authority::new();
    let webhook = Process::start(&authority, &[]);
    let service = Tls::new(&authority).service(webhook.admission);
    let mut callers = JoinSet::new();
    for _ in 0..8 {
        let mut client = service.connect().await.expect("it shakes hands");
        let large = Arc::clone(&large);
        callers.spawn(async move {
            let mut judged = 0;
            for _ in 0..3 {
                let answer = client.post("/mutate/fix", large.as_bytes()).await;
                let status = answer.expect("there is an answer").status;
                assert!(matches!(status, 200 | 503), "{status}");
                judged += usize::from(status == 200);
            }
            judged
        });
    }
    let mut judged = 0;
    while let Some(called) = callers.join_next().await {
        judged += called.expect("all are answered");
    }
    assert!(judged > 0, "some find their turn");
    assert_eq!(webhook.metric("warmgate_not_understood_total").await, 0);
    service.assert_answers().await;
    let (_, peak) = webhook.memory();
    assert!(peak <= 256, "{peak} MiB");
}

#[tokio::test]
async fn an_output_that_nobody_reads_stalls_no_review() {
    let authority = Authority::new();
    let webhook = Process::start(&authority, &["--log", "debug"]);
    let service = Tls::new(&authority).service(webhook.admission);
    // More lines than the pipe and the queue before it have room for.
    let nothing = head("content-type: text/plain\r\ncontent-length: 0\r\n");
    let mut client = service.connect().await.expect("it shakes hands");
    for _ in 0..120 {
        client.send(nothing.repeat(50)).await;
        for _ in 0..50 {
            assert_eq!(
                client.answer().await.expect("there is an answer").status,
                415
            );
        }
    }
    service.assert_answers().await;
    assert!(webhook.metric("warmgate_log_lines_dropped_total").await > 0);
}
