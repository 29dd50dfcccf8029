//! Answers over HTTP, and those that do not come.

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::connect;

async fn get(flags: &str) -> (String, Value) {
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
    let (answer, logged) = get("--while-loading 503").await;
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    assert!(answer.ends_with("\r\n\r\nok\n"), "{answer}");
    assert_eq!(logged["status"], 200);
}

#[tokio::test]
async fn a_loading_server_says_so_or_lies() {
    let (answer, logged) = get("--ready-after 3600 --while-loading 503").await;
    assert!(answer.starts_with("HTTP/1.1 503 "), "{answer}");
    assert_eq!(logged["status"], 503);
    let (answer, _) = get("--ready-after 3600 --while-loading 200").await;
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
}

#[tokio::test]
async fn what_hangs_or_stalls_is_answered_whole_in_the_end() {
    for flags in [
        "--ready-after 0.2 --while-loading hang",
        "--ready-after 0.2 --while-loading stall",
        "--stall 0=0.2",
        "--answers-in 0.2",
    ] {
        let (answer, logged) = get(flags).await;
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
        assert!(answer.ends_with("\r\n\r\nok\n"), "{flags}: {answer}");
        assert_eq!(logged["status"], 200);
    }
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
    assert_eq!(seen.event("head")["path"], "/");
    drop(stream);
    served.await.unwrap();
    assert_eq!(seen.event("abandoned")["path"], "/");
    assert_eq!(seen.find("answer"), None);
}

#[tokio::test]
async fn a_request_that_hangs_or_waits_ends_with_its_client() {
    for flags in [
        "--ready-after 3600 --while-loading hang",
        "--ready-after 3600 --while-loading 503 --answers-in 3600",
        "--ready-after 3600 --while-loading 200 --answers-in 3600",
        "--answers-in 3600",
        "--stall 0=3600",
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
