//! Callers that take their time, and keep nobody else's.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::super::client::{Client, Tls};
use super::super::limits::{JSON, head};
use super::super::reload::until;
use super::super::{Fixture, body};
use super::Good;

/// Callers of each kind.
const EACH: usize = 25;

/// How long a test waits for what must come.
const PATIENCE: Duration = Duration::from_secs(20);

/// Sends a byte now and then until the server has had enough.
async fn dribble(mut stream: impl AsyncWrite + Unpin, bytes: &[u8]) {
    for byte in bytes.iter().cycle() {
        if stream.write_all(&[*byte]).await.is_err() || stream.flush().await.is_err() {
            return;
        }
        sleep(Duration::from_millis(10)).await;
    }
}

/// Says nothing until the server ends the connection.
async fn say_nothing(address: SocketAddr) {
    let mut stream = TcpStream::connect(address).await.expect("it connects");
    let mut nothing = [0; 16];
    assert_eq!(stream.read(&mut nothing).await.unwrap_or_default(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_good_request_is_lost_beside_slow_callers_and_those_are_dropped() {
    let short = Duration::from_secs(2);
    let fixture = Fixture::with(|settings| {
        let limits = &mut settings.limits;
        (
            limits.handshake,
            limits.first_byte,
            limits.header,
            limits.timeout,
        ) = (short, short, short, short);
    })
    .await;
    let good = Good::begin(&fixture);
    let address = fixture.server.admission_address();
    let mut slow = JoinSet::new();
    for _ in 0..EACH {
        slow.spawn(say_nothing(address));
        // The start of a TLS record that never becomes whole.
        slow.spawn(async move {
            let stream = TcpStream::connect(address).await.expect("it connects");
            dribble(stream, &[22, 3, 1, 64, 0, 1, 0, 0, 0]).await;
        });
        for begin in [
            String::new(),
            "POST /validate/fix HTTP/1.1\r\nx: ".to_owned(),
            head(&format!("{JSON}content-length: 100000\r\n")),
        ] {
            let tls = Tls::new(&fixture.authority).connector();
            slow.spawn(async move {
                let mut client = tls.connect(address).await.expect("it shakes hands");
                client.send(&begin).await;
                if begin.is_empty() {
                    assert!(client.ends().await);
                } else {
                    dribble(client.stream, b"y").await;
                }
            });
        }
    }
    let dropped = async {
        while let Some(ended) = slow.join_next().await {
            ended.expect("it was dropped");
        }
    };
    timeout(PATIENCE, dropped)
        .await
        .expect("all of them are dropped");
    good.end().await;
    for count in [
        format!(
            r#"warmgate_handshakes_total{{result="timeout"}} {}"#,
            2 * EACH
        ),
        format!(r#"warmgate_rejected_requests_total{{reason="late-body"}} {EACH}"#),
    ] {
        until(&count, async || fixture.metrics().await.contains(&count)).await;
    }
}

#[tokio::test]
async fn whoever_hangs_on_the_plain_port_keeps_no_probe_away() {
    let fixture = Fixture::start().await;
    let address = fixture.server.health_address();
    // More of each kind than there is room for in all.
    let mut hanging = Vec::new();
    for _ in 0..130 {
        let mut asked = Client::plain(address).await;
        asked.get("/metrics").await.expect("there is an answer");
        hanging.push(asked);
    }
    for _ in 0..130 {
        let mut unread = Client::plain(address).await;
        unread
            .send("GET /metrics HTTP/1.1\r\nhost: x\r\n\r\nGET /met")
            .await;
        hanging.push(unread);
    }
    let mut probe = Client::plain(address).await;
    for path in ["/livez", "/readyz"] {
        assert_eq!(
            probe.get(path).await.expect("there is an answer").status,
            200,
            "{path}"
        );
    }
    let answer = fixture
        .connect()
        .await
        .post("/validate/fix", body("llm"))
        .await;
    assert_eq!(answer.expect("there is an answer").status, 200);
    assert!(hanging.first_mut().expect("there are some").ends().await);
}
