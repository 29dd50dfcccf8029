//! The webhook as a process: what it takes of the machine, and what the machine may do to it.

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, ChildStdout, Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt, split};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio_rustls::client::TlsStream;

use super::body;
use super::certificates::Authority;
use super::client::{Client, Tls};
use super::limits::{JSON, head};

/// A webhook that ends with the test.
struct Process {
    child: Child,
    /// Where its log goes; it is open and nobody reads it.
    _log: BufReader<ChildStdout>,
    admission: SocketAddr,
    health: SocketAddr,
    authority: Authority,
    _files: TempDir,
}

impl Drop for Process {
    fn drop(&mut self) {
        self.child.kill().expect("it runs");
        self.child.wait().expect("it ends");
    }
}

impl Process {
    /// Starts it with these arguments more, and reads its log up to where it says that it listens.
    fn start(more: &[&str]) -> Self {
        let authority = Authority::new();
        let pair = authority.pair("one");
        let files = TempDir::new().expect("there is a folder");
        let (chain, key) = (files.path().join("tls.crt"), files.path().join("tls.key"));
        fs::write(&chain, pair.chain).expect("files can be written");
        fs::write(&key, pair.key).expect("files can be written");
        let mut child = Command::new(env!("CARGO_BIN_EXE_warmgate"))
            .args([
                "webhook",
                "--address",
                "127.0.0.1",
                "--port",
                "0",
                "--health-port",
                "0",
            ])
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
            authority,
            _files: files,
        }
    }

    async fn connect(&self) -> Client<TlsStream<TcpStream>> {
        let connecting = Tls::new(&self.authority).connect(self.admission).await;
        connecting.expect("the server shakes hands")
    }

    async fn metrics(&self) -> String {
        let answer = Client::plain(self.health).await.get("/metrics").await;
        answer.expect("there is an answer").text()
    }

    /// The most memory that it has had, in MiB.
    fn most_memory(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()));
        let status = status.expect("it runs");
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = peak.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
        kib.expect("the kernel counts it in KiB") >> 10
    }

    async fn assert_answers(&self) {
        let answer = self
            .connect()
            .await
            .post("/validate/fix", body("llm"))
            .await;
        assert_eq!(answer.expect("there is an answer").status, 200);
    }
}

/// Sends a body without end until there is an answer, and returns its status line.
async fn flood(client: Client<TlsStream<TcpStream>>) -> String {
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
    let webhook = Process::start(&[]);
    let mut floods = JoinSet::new();
    for _ in 0..80 {
        floods.spawn(flood(webhook.connect().await));
    }
    while let Some(status) = floods.join_next().await {
        let status = status.expect("it is answered");
        assert!(
            matches!(status.as_str(), "HTTP/1.1 413" | "HTTP/1.1 503"),
            "{status}"
        );
    }
    webhook.assert_answers().await;
    // Without a budget for all bodies together these would be 560 MiB, and the chart gives 512.
    let peak = webhook.most_memory();
    assert!(peak <= 384, "{peak} MiB");
}

#[tokio::test]
async fn an_output_that_nobody_reads_stalls_no_review() {
    let webhook = Process::start(&["--log", "debug"]);
    // More lines than the pipe and the queue before it have room for.
    let nothing = head("content-type: text/plain\r\ncontent-length: 0\r\n");
    let mut client = webhook.connect().await;
    for _ in 0..120 {
        client.send(nothing.repeat(50)).await;
        for _ in 0..50 {
            assert_eq!(
                client.answer().await.expect("there is an answer").status,
                415
            );
        }
    }
    webhook.assert_answers().await;
    let metrics = webhook.metrics().await;
    let dropped = metrics
        .lines()
        .find_map(|line| line.strip_prefix("warmgate_log_lines_dropped_total "));
    assert!(dropped.is_some_and(|count| count != "0"), "{metrics}");
}
