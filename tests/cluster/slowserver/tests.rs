//! The server as its clients see it, in one process.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use clap::Parser;
use hyper::Request;
use hyper::body::Bytes;
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::flags::Flags;
use crate::log::Log;
use crate::server::Server;
use crate::{grpc, http};

/// A log that can be read.
#[derive(Clone, Default)]
struct Seen(Arc<Mutex<Vec<u8>>>);

impl Write for Seen {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Write::write(&mut *self.0.lock().unwrap(), bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seen {
    fn events(&self) -> Vec<Value> {
        let text = String::from_utf8(self.0.lock().unwrap().clone()).unwrap();
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    fn event(&self, name: &str) -> Value {
        let events = self.events();
        let found = events.iter().find(|event| event["event"] == name);
        found
            .unwrap_or_else(|| panic!("no {name} in {events:?}"))
            .clone()
    }
}

/// One connection to a server with these `flags`; the server's end of it is served to its end.
async fn connect(flags: &str) -> (TcpStream, Seen, tokio::task::JoinHandle<()>) {
    let seen = Seen::default();
    let flags = Flags::parse_from(format!("slowserver {flags}").split_whitespace());
    let over_grpc = flags.grpc.is_some();
    let server = Arc::new(Server::new(flags, Log::new(seen.clone())));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let served = tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        if over_grpc {
            grpc::serve(&server, stream).await.ok();
        } else {
            http::serve(&server, stream).await.unwrap();
        }
    });
    (TcpStream::connect(address).await.unwrap(), seen, served)
}

async fn ask(flags: &str) -> (String, Value) {
    let (mut stream, seen, served) = connect(flags).await;
    stream
        .write_all(b"GET /health HTTP/1.1\r\nHost: x\r\nUser-Agent: kube-probe/1.37\r\n\r\n")
        .await
        .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    served.await.unwrap();
    let request = seen.event("request");
    assert_eq!(request["path"], "/health");
    assert_eq!(request["agent"], "kube-probe/1.37");
    assert!(request["us"].as_u64().unwrap() > 1_600_000_000_000_000);
    (answer, seen.event("answer"))
}

#[tokio::test]
async fn a_ready_server_says_so() {
    let (answer, logged) = ask("--while-loading 503").await;
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    assert!(answer.ends_with("\r\n\r\nok\n"), "{answer}");
    assert_eq!(logged["status"], 200);
}

#[tokio::test]
async fn a_loading_server_says_so_or_lies() {
    let (answer, logged) = ask("--ready-after 3600 --while-loading 503").await;
    assert!(answer.starts_with("HTTP/1.1 503 "), "{answer}");
    assert_eq!(logged["status"], 503);
    let (answer, _) = ask("--ready-after 3600 --while-loading 200").await;
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
}

#[tokio::test]
async fn a_stalled_answer_has_a_head_and_no_body() {
    let (mut stream, seen, served) = connect("--ready-after 3600 --while-loading stall").await;
    stream.write_all(b"GET / HTTP/1.1\r\n\r\n").await.unwrap();
    let mut head = vec![0; 1024];
    let read = stream.read(&mut head).await.unwrap();
    let head = String::from_utf8_lossy(&head[..read]).into_owned();
    assert!(
        head.contains("Content-Length: 3") && head.ends_with("\r\n\r\n"),
        "{head}"
    );
    drop(stream);
    served.await.unwrap();
    assert_eq!(seen.event("abandoned")["path"], "/");
}

#[tokio::test]
async fn a_request_that_hangs_or_waits_ends_with_its_client() {
    for flags in [
        "--ready-after 3600 --while-loading hang",
        "--answers-in 3600",
    ] {
        let (mut stream, seen, served) = connect(flags).await;
        stream.write_all(b"GET / HTTP/1.1\r\n\r\n").await.unwrap();
        stream.shutdown().await.unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await.unwrap();
        served.await.unwrap();
        assert!(answer.is_empty());
        seen.event("abandoned");
    }
}

#[tokio::test]
async fn a_connection_without_a_request_is_only_logged() {
    let (stream, seen, served) = connect("").await;
    drop(stream);
    served.await.unwrap();
    seen.event("closed");
}

/// The status of the service `engine`, with the trailer that says whether the call itself went well.
async fn health(flags: &str) -> (u8, String) {
    let (stream, seen, served) = connect(flags).await;
    let (mut client, connection) = h2::client::handshake(stream).await.unwrap();
    let connection = tokio::spawn(connection);
    let request = Request::post("http://x/grpc.health.v1.Health/Check")
        .body(())
        .unwrap();
    let (answer, mut stream) = client.send_request(request, false).unwrap();
    let question = [&[0, 0, 0, 0, 8, 0x0a, 6][..], b"engine"].concat();
    stream.send_data(Bytes::from(question), true).unwrap();
    let answer = answer.await.unwrap();
    assert_eq!(answer.headers()["content-type"], "application/grpc");
    let mut body = answer.into_body();
    let data = body.data().await.unwrap().unwrap();
    let trailers = body.trailers().await.unwrap().unwrap();
    assert_eq!(&data[..6], &[0, 0, 0, 0, 2, 8]);
    assert_eq!(seen.event("request")["service"], "engine");
    drop((client, body, stream));
    connection.await.unwrap().unwrap();
    served.await.unwrap();
    (
        data[6],
        trailers["grpc-status"].to_str().unwrap().to_owned(),
    )
}

#[tokio::test]
async fn grpc_health_serves_or_not() {
    assert_eq!(health("--grpc 1").await, (1, "0".to_owned()));
    assert_eq!(
        health("--grpc 1 --ready-after 3600").await,
        (2, "0".to_owned())
    );
}
