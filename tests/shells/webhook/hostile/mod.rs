//! What a caller may send that is no API server, or one that is not in its right mind, and what it is told. All of it is sent alone, and
//! again while others ask: none of those may miss its answer.

mod expensive;
mod http;
mod json;
mod objects;
mod slow;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::task::JoinSet;
use tokio::time::sleep;

use self::http::Bytes;
use self::json::{Body, Verdict};
use super::client::{Answer, Tls};
use super::{Fixture, body};

/// How often bodies come beside good requests.
const ROUNDS: usize = 20;

/// How often requests do, and callers that leave: each takes a handshake.
const HANDSHAKES: usize = 2;

/// What is answered to bytes on a connection of their own, until it ends.
async fn statuses(fixture: &Fixture, hostile: &Bytes) -> Vec<u16> {
    let mut client = fixture.connect().await;
    client.send(&hostile.bytes).await;
    if hostile.ends {
        // A server that has heard enough may have hung up.
        let _ = client.stream.shutdown().await;
    }
    client.statuses().await
}

fn assert_answered(hostile: &Body, answer: &Answer) {
    let (what, text) = (&hostile.what, answer.text());
    let Some(uid) = &hostile.uid else {
        assert_eq!(answer.status, 400, "{what}: {text:.300}");
        assert!(text.starts_with("the "), "{what}: {text:.300}");
        return;
    };
    assert_eq!(answer.status, 200, "{what}: {text:.300}");
    let response = answer.response();
    assert_eq!(response["uid"], **uid, "{what}");
    assert_eq!(response["allowed"], true, "{what}");
    assert_eq!(response.get("patch"), None, "{what}");
    let warnings = response["warnings"].as_array().map_or(0, Vec::len);
    let expected = usize::from(hostile.verdict == Verdict::Strange);
    assert_eq!(warnings, expected, "{what}: {text:.300}");
}

/// Sends bodies one after the other on one connection, which every answer leaves open.
async fn send_bodies(fixture: &Fixture, bodies: &[Body]) {
    let mut client = fixture.connect().await;
    for hostile in bodies {
        let answer = client.post("/validate/fix", &hostile.bytes).await;
        let answer = answer.unwrap_or_else(|| panic!("{} is not answered", hostile.what));
        assert_answered(hostile, &answer);
    }
}

async fn assert_no_panic(fixture: &Fixture) {
    let metrics = fixture.metrics().await;
    assert!(metrics.contains("warmgate_panics_total 0"), "{metrics}");
}

/// Sends everything that is no request as it should be, and says what is answered otherwise than it should be.
async fn otherwise_answered(fixture: &Fixture, requests: &[Bytes]) -> Vec<String> {
    let mut otherwise = Vec::new();
    for hostile in requests {
        let answered = statuses(fixture, hostile).await;
        if answered != hostile.statuses {
            otherwise.push(format!("{}: {answered:?}", hostile.what));
        }
    }
    otherwise
}

#[tokio::test]
async fn every_strange_request_has_its_status() {
    let fixture = Fixture::start().await;
    let otherwise = otherwise_answered(&fixture, &http::all()).await;
    assert!(otherwise.is_empty(), "{otherwise:#?}");
    assert_no_panic(&fixture).await;
}

#[tokio::test]
async fn every_strange_body_has_its_answer() {
    let fixture = Fixture::start().await;
    let bodies = [json::small(), json::large()].concat();
    send_bodies(&fixture, &bodies).await;
    let strange = bodies
        .iter()
        .filter(|body| body.verdict == Verdict::Strange)
        .count();
    let metrics = fixture.metrics().await;
    let counted = format!("warmgate_not_understood_total {strange}\n");
    assert!(metrics.contains(&counted), "{strange}: {metrics}");
    assert!(metrics.contains("warmgate_panics_total 0"), "{metrics}");
}

/// Callers that ask as an API server does until they are told to stop, and what they were answered.
struct Good {
    callers: JoinSet<()>,
    answered: Arc<AtomicUsize>,
    over: Arc<AtomicBool>,
}

impl Good {
    /// Several callers, each with a connection that it keeps.
    fn begin(fixture: &Fixture) -> Self {
        let (answered, over) = (Arc::default(), Arc::<AtomicBool>::default());
        let address = fixture.server.admission_address();
        let mut callers = JoinSet::new();
        for number in 0..4 {
            let (answered, over): (Arc<AtomicUsize>, _) =
                (Arc::clone(&answered), Arc::clone(&over));
            let connecting = Tls::new(&fixture.authority).connector();
            callers.spawn(async move {
                let mut client = connecting.connect(address).await.expect("it connects");
                while !over.load(Ordering::Relaxed) {
                    let name = format!("good-{number}");
                    let answer = client.post("/validate/fix", body(&name)).await;
                    let answer = answer.expect("no good request is lost");
                    assert_eq!(answer.status, 200);
                    assert_eq!(answer.response()["uid"], format!("uid of {name}"));
                    answered.fetch_add(1, Ordering::Relaxed);
                    sleep(Duration::from_millis(2)).await;
                }
            });
        }
        Self {
            callers,
            answered,
            over,
        }
    }

    /// Ends them; every request of theirs was answered.
    async fn end(mut self) {
        self.over.store(true, Ordering::Relaxed);
        while let Some(ended) = self.callers.join_next().await {
            ended.expect("a good caller gets its answers");
        }
        assert!(self.answered.load(Ordering::Relaxed) >= 4);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_good_request_is_lost_beside_strange_ones() {
    let fixture = Fixture::start().await;
    let good = Good::begin(&fixture);
    let (requests, bodies) = (http::all(), json::small());
    for _ in 0..HANDSHAKES {
        let otherwise = otherwise_answered(&fixture, &requests).await;
        assert!(otherwise.is_empty(), "{otherwise:#?}");
    }
    for _ in 0..ROUNDS {
        send_bodies(&fixture, &bodies).await;
    }
    send_bodies(&fixture, &json::large()).await;
    good.end().await;
    assert_no_panic(&fixture).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_good_request_is_lost_beside_callers_that_leave() {
    let fixture = Fixture::start().await;
    let good = Good::begin(&fixture);
    let request = http::good();
    for _ in 0..HANDSHAKES {
        for cut in [0, 1, 40, request.len() - 1, request.len()] {
            let mut client = fixture.connect().await;
            client.send(&request[..cut]).await;
            drop(client);
        }
        // In the middle of an answer that is longer than what is read of it.
        let mut client = fixture.connect().await;
        client.send(request.repeat(50)).await;
        assert_eq!(client.answer().await.expect("there is one").status, 200);
        drop(client);
    }
    good.end().await;
    assert_no_panic(&fixture).await;
}
