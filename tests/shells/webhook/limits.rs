//! What one caller may take, and that the others do not notice.

use std::pin::pin;
use std::time::Duration;

use tokio::io::AsyncWriteExt;

use super::certificates::NAME;
use super::client::Client;
use super::{Fixture, body};

/// The head of a request with these lines.
pub(super) fn head(lines: &str) -> String {
    format!("POST /validate/fix HTTP/1.1\r\nhost: {NAME}\r\n{lines}\r\n")
}

pub(super) const JSON: &str = "content-type: application/json\r\n";

/// The status of the answer to a request whose head has these lines.
async fn status(fixture: &Fixture, lines: &str, body: &[u8]) -> Option<u16> {
    let mut client = fixture.connect().await;
    client.send([head(lines).as_bytes(), body].concat()).await;
    Some(client.answer().await?.status)
}

#[tokio::test]
async fn only_plain_json_is_taken() {
    let fixture = Fixture::start().await;
    let body = body("llm");
    let length = format!("content-length: {}\r\n", body.len());
    for (lines, expected) in [
        ("content-type: application/json\r\n", 200),
        ("content-type: application/json; charset=utf-8\r\n", 200),
        ("content-type: application/json; charset=utf-16\r\n", 415),
        ("content-type: text/plain\r\n", 415),
        ("", 415),
        (
            "content-type: application/json\r\ncontent-type: text/plain\r\n",
            415,
        ),
        (
            "content-type: application/json\r\ncontent-encoding: gzip\r\n",
            415,
        ),
    ] {
        let answered = status(&fixture, &format!("{lines}{length}"), body.as_bytes()).await;
        assert_eq!(answered, Some(expected), "{lines}");
    }
    let metrics = fixture.metrics().await;
    assert!(metrics.contains(r#"warmgate_rejected_requests_total{reason="content-type"} 4"#));
    assert!(metrics.contains(r#"warmgate_rejected_requests_total{reason="content-encoding"} 1"#));
}

#[tokio::test]
async fn a_body_has_7_mib_and_not_a_byte_more() {
    let fixture = Fixture::start().await;
    let mut padded = body("llm");
    padded.push_str(&" ".repeat((7 << 20) - padded.len()));
    let mut client = fixture.connect().await;
    assert_eq!(
        client.post("/validate/fix", &padded).await.unwrap().status,
        200
    );
    padded.push(' ');
    let answer = client.post("/validate/fix", &padded).await.unwrap();
    assert_eq!(answer.status, 413);
    assert!(answer.closes());
    assert!(client.ends().await);
}

#[tokio::test]
async fn an_announced_length_is_refused_before_the_body_is_sent() {
    let fixture = Fixture::start().await;
    let lines = format!("{JSON}content-length: 100000000\r\nexpect: 100-continue\r\n");
    assert_eq!(status(&fixture, &lines, b"").await, Some(413));
}

#[tokio::test]
async fn a_body_without_end_is_refused_at_the_limit() {
    let fixture = Fixture::with(|settings| settings.limits.body = 10_000).await;
    let mut client = fixture.connect().await;
    client
        .send(head(&format!("{JSON}transfer-encoding: chunked\r\n")))
        .await;
    let chunk = format!("400\r\n{}\r\n", "x".repeat(0x400));
    for _ in 0..10 {
        client.send(&chunk).await;
    }
    assert_eq!(client.answer().await.unwrap().status, 413);
}

#[tokio::test]
async fn a_slow_head_ends_the_connection() {
    let fixture =
        Fixture::with(|settings| settings.limits.header = Duration::from_millis(50)).await;
    let mut client = fixture.connect().await;
    client.send("POST /validate/fix HTTP/1.1\r\nhost:").await;
    assert!(client.ends().await);
    // Also where it is not the first.
    let mut client = fixture.connect().await;
    client.post("/validate/fix", body("llm")).await.unwrap();
    client.send("POST /val").await;
    assert!(client.ends().await);
}

#[tokio::test]
async fn an_idle_connection_outlives_the_limit_for_heads() {
    let fixture =
        Fixture::with(|settings| settings.limits.header = Duration::from_millis(20)).await;
    let mut client = fixture.connect().await;
    for _ in 0..3 {
        tokio::time::sleep(Duration::from_millis(100)).await;
        assert_eq!(
            client
                .post("/validate/fix", body("llm"))
                .await
                .unwrap()
                .status,
            200
        );
    }
}

#[tokio::test]
async fn an_idle_connection_ends_at_its_own_limit() {
    let fixture = Fixture::with(|settings| {
        settings.limits.idle = Duration::from_millis(50);
    })
    .await;
    let mut client = fixture.connect().await;
    assert_eq!(
        client
            .post("/validate/fix", body("llm"))
            .await
            .unwrap()
            .status,
        200
    );
    assert!(client.ends().await);
}

#[tokio::test]
async fn a_silent_connection_ends() {
    let short = Duration::from_millis(50);
    let fixture = Fixture::with(|settings| settings.limits.first_byte = short).await;
    assert!(fixture.connect().await.ends().await);
    let mut silent = Client::plain(fixture.server.health_address()).await;
    assert!(silent.ends().await);
    let fixture = Fixture::with(|settings| settings.limits.handshake = short).await;
    let mut silent = Client::plain(fixture.server.admission_address()).await;
    assert!(silent.ends().await);
    let metrics = fixture.metrics().await;
    assert!(
        metrics.contains(r#"warmgate_handshakes_total{result="timeout"} 1"#),
        "{metrics}"
    );
}

#[tokio::test]
async fn the_deadline_of_the_caller_is_that_of_its_body() {
    let fixture = Fixture::start().await;
    let mut client = fixture.connect().await;
    let lines = format!("{JSON}content-length: 100\r\n");
    let head = head(&lines).replace("/validate/fix", "/validate/fix?timeout=50ms");
    client.send(format!("{head}{{")).await;
    let answer = client.answer().await.unwrap();
    assert_eq!(answer.status, 408);
    assert!(answer.closes());
    assert!(client.ends().await);
}

#[tokio::test]
async fn who_finds_no_room_is_asked_to_come_again() {
    let full: [fn(&mut warmgate::webhook::Limits); 4] = [
        |limits| limits.requests = 0,
        |limits| limits.bodies = 0,
        |limits| (limits.small_body, limits.judgements) = (1, 0),
        |limits| {
            (
                limits.small_body,
                limits.large_body,
                limits.large_judgements,
            ) = (1, 1, 0)
        },
    ];
    for fill in full {
        let fixture = Fixture::with(|settings| fill(&mut settings.limits)).await;
        let answer = fixture
            .connect()
            .await
            .post("/validate/fix?timeout=200ms", body("llm"))
            .await
            .unwrap();
        assert_eq!(answer.status, 503);
        assert_eq!(answer.header("retry-after"), Some("1"));
        assert!(fixture.metrics().await.contains(r#"reason="busy"} 1"#));
    }
}

#[tokio::test]
async fn connections_wait_for_their_turn() {
    let fixture = Fixture::with(|settings| settings.limits.connections = 1).await;
    let mut first = fixture.connect().await;
    let mut second = pin!(fixture.connect());
    // Twenty answers leave time enough for somebody who need not wait.
    tokio::select! {
        biased;
        _ = &mut second => panic!("it did not wait"),
        () = async {
            for _ in 0..20 {
                let answer = first.post("/validate/fix", body("llm")).await.unwrap();
                assert_eq!(answer.status, 200);
            }
        } => {}
    }
    drop(first);
    let answer = second.await.post("/validate/fix", body("llm")).await;
    assert_eq!(answer.unwrap().status, 200);
}

#[tokio::test]
async fn an_old_connection_is_told_to_go() {
    let fixture = Fixture::with(|settings| settings.limits.connection_age = Duration::ZERO).await;
    let mut client = fixture.connect().await;
    let answer = client.post("/validate/fix", body("llm")).await.unwrap();
    assert_eq!(answer.status, 200);
    assert!(answer.closes());
    assert!(client.ends().await);
}

#[tokio::test]
async fn pipelined_requests_are_answered_in_order() {
    let fixture = Fixture::start().await;
    let mut client = fixture.connect().await;
    let requests: String = ["one", "two", "three"]
        .into_iter()
        .map(|name| {
            let body = body(name);
            let length = body.len();
            format!(
                "{}{body}",
                head(&format!("{JSON}content-length: {length}\r\n"))
            )
        })
        .collect();
    client.send(requests).await;
    for name in ["one", "two", "three"] {
        let answer = client.answer().await.unwrap();
        assert_eq!(answer.response()["uid"], format!("uid of {name}"));
    }
}

#[tokio::test]
async fn a_caller_that_has_said_all_still_gets_its_answer() {
    let fixture = Fixture::start().await;
    let mut client = fixture.connect().await;
    let body = body("llm");
    let length = body.len();
    let head = head(&format!("{JSON}content-length: {length}\r\n"));
    client.send(format!("{head}{body}")).await;
    client.stream.shutdown().await.unwrap();
    assert_eq!(client.answer().await.unwrap().status, 200);
    assert!(client.ends().await);
}

#[tokio::test]
async fn broken_http_hurts_nobody() {
    let fixture = Fixture::start().await;
    let many: String = (0..10_000)
        .map(|number| format!("x-{number}: y\r\n"))
        .collect();
    let broken = [
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_owned(),
        "\u{16}\u{3}\u{1}garbage\r\n\r\n".to_owned(),
        "CONNECT example.org:443 HTTP/1.1\r\nhost: x\r\n\r\n".to_owned(),
        "GET http://example.org/validate/fix HTTP/1.1\r\nhost: x\r\n\r\n".to_owned(),
        "POST /validate/fix HTTP/1.1\r\nhost: x\r\n\r\n".to_owned(),
        head(&format!(
            "{JSON}x: {}\r\ncontent-length: 0\r\n",
            "y".repeat(100_000)
        )),
        head(&format!("{JSON}{many}content-length: 0\r\n")),
        head(&format!("{JSON}content-length: 5\r\ncontent-length: 6\r\n")) + "12345",
        head(&format!("{JSON}content-length: x\r\n")),
        head(&format!("{JSON}transfer-encoding: gzip\r\n")),
        head(&format!("{JSON}transfer-encoding: chunked\r\n")) + "zz\r\n",
    ];
    for request in broken {
        let mut client = fixture.connect().await;
        client.send(&request).await;
        if let Some(answer) = client.answer().await {
            assert!(
                (400..500).contains(&answer.status),
                "{request:.60}: {}",
                answer.status
            );
        }
    }
    for cut in [
        "",
        "P",
        "POST /validate/fix HTTP/1.1\r\n",
        &head(&format!("{JSON}content-length: 50\r\n")),
    ] {
        let mut client = fixture.connect().await;
        client.send(cut).await;
        drop(client);
    }
    fixture.service().assert_answers().await;
    assert!(fixture.metrics().await.contains("warmgate_panics_total 0"));
}
