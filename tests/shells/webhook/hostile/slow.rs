//! Callers that take their time, and keep nobody else's.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::super::Fixture;
use super::super::client::{Client, Service};
use super::super::limits::{JSON, head};
use super::super::reload::until;
use super::{BESIDE, Good};

/// Callers of each kind.
const EACH: usize = 25;

/// How long a test waits for what must come.
const PATIENCE: Duration = Duration::from_secs(20);

/// How to be slow.
#[derive(Clone, Copy, Debug)]
pub(in crate::webhook) enum Slow {
    /// Nothing is said.
    Silent,
    /// A record of the handshake never becomes whole.
    Handshake,
    /// Nothing is said behind the handshake.
    Idle,
    /// A head never ends.
    Head,
    /// A body does not come.
    Body,
}

impl Slow {
    pub(in crate::webhook) const ALL: [Self; 5] = [
        Self::Silent,
        Self::Handshake,
        Self::Idle,
        Self::Head,
        Self::Body,
    ];

    /// Is slow, with so long between two bytes, until the server ends the connection.
    pub(in crate::webhook) async fn until_dropped(self, service: &Service, pause: Duration) {
        match self {
            Self::Silent => {
                let mut stream = service.dial().await.expect("it connects");
                let mut nothing = [0; 16];
                assert_eq!(stream.read(&mut nothing).await.unwrap_or_default(), 0);
            }
            Self::Handshake => {
                let stream = service.dial().await.expect("it connects");
                dribble(stream, &[22, 3, 1, 64, 0, 1, 0, 0, 0], pause).await;
            }
            Self::Idle => {
                let mut client = service.connect().await.expect("it shakes hands");
                let read = client.stream.read(&mut [0; 16]).await;
                assert_eq!(read.unwrap_or_default(), 0);
            }
            Self::Head => {
                let begin = "POST /validate/fix HTTP/1.1\r\nx: ";
                Self::dribble_behind(begin, service, pause).await;
            }
            Self::Body => {
                let begin = head(&format!("{JSON}content-length: 100000\r\n"));
                Self::dribble_behind(&begin, service, pause).await;
            }
        }
    }

    async fn dribble_behind(begin: &str, service: &Service, pause: Duration) {
        let mut client = service.connect().await.expect("it shakes hands");
        client.send(begin).await;
        dribble(client.stream, b"y", pause).await;
    }
}

/// Sends a byte now and then until the server has had enough.
async fn dribble(mut stream: impl AsyncWrite + Unpin, bytes: &[u8], pause: Duration) {
    for byte in bytes.iter().cycle() {
        if stream.write_all(&[*byte]).await.is_err() || stream.flush().await.is_err() {
            return;
        }
        sleep(pause).await;
    }
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
    let service = fixture.service();
    let good = Good::begin(&service, BESIDE);
    let mut slow = JoinSet::new();
    for &how in [Slow::ALL; EACH].as_flattened() {
        let service = service.clone();
        slow.spawn(async move {
            how.until_dropped(&service, Duration::from_millis(10)).await;
        });
    }
    let dropped = async {
        while let Some(ended) = slow.join_next().await {
            ended.expect("it was dropped");
        }
    };
    timeout(PATIENCE, dropped)
        .await
        .expect("all of them are dropped");
    good.end().await.assert_none_lost();
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
    fixture.service().assert_answers().await;
    assert!(hanging.first_mut().expect("there are some").ends().await);
}
