//! What a caller may send that is no API server, or one that is not in its right mind, and what it is told. All of it is sent alone, and
//! again while others ask: none of those may miss its answer. `make soak` sends it a hundred times, to the binary.

mod expensive;
mod http;
mod json;
mod objects;
mod slow;

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use self::http::{Bytes, Leaver};
use self::json::{Body, Verdict};
use self::objects::Review;
use super::Fixture;
use super::client::{Answer, Service, TlsClient};
use super::good::{Good, Rate};
use super::tls::{Hello, hellos};

pub(super) use self::objects::model_server;
pub(super) use self::slow::Slow;

/// How often bodies come beside good requests.
const ROUNDS: usize = 20;

/// How often requests do, and callers that leave: each takes a handshake.
const HANDSHAKES: usize = 2;

/// The good requests beside hostile ones.
const BESIDE: Rate = Rate {
    connections: 4,
    per_second: Some(200.0),
    patience: Duration::from_secs(20),
};

/// Something hostile, and what is told to it.
pub(super) enum Input {
    Body(Body),
    Bytes(Bytes),
    Hello(Hello),
    Leaver(Leaver),
    Review(Review),
}

impl Input {
    fn what(&self) -> &str {
        match self {
            Self::Body(body) => body.what,
            Self::Bytes(bytes) => bytes.what,
            Self::Hello(hello) => hello.what,
            Self::Leaver(_) => "a caller that leaves",
            Self::Review(review) => &review.what,
        }
    }

    async fn assert_told(&self, caller: &mut Caller) {
        match self {
            Self::Body(body) => body.assert_told(caller).await,
            Self::Bytes(bytes) => bytes.assert_told(&caller.service).await,
            Self::Hello(hello) => hello.assert_refused(&caller.service).await,
            Self::Leaver(leaver) => leaver.leave(&caller.service).await,
            Self::Review(review) => {
                review.assert_told(caller).await;
            }
        }
    }
}

/// Every hostile input, by kind.
pub(super) fn inputs() -> Vec<(&'static str, Arc<[Input]>)> {
    vec![
        ("hellos", of(hellos(), Input::Hello)),
        ("requests", of(http::all(), Input::Bytes)),
        ("leavers", of(http::leavers(), Input::Leaver)),
        ("bodies", of(json::small(), Input::Body)),
        ("large bodies", of(json::large(), Input::Body)),
        ("objects", of(objects::all(), Input::Review)),
        ("expensive objects", of(expensive::all(), Input::Review)),
    ]
}

fn of<T>(all: impl IntoIterator<Item = T>, input: fn(T) -> Input) -> Arc<[Input]> {
    all.into_iter().map(input).collect()
}

/// A caller that keeps its connection as long as its answers leave it open.
pub(super) struct Caller {
    service: Service,
    kept: Option<TlsClient>,
}

impl Caller {
    fn new(service: &Service) -> Self {
        Self {
            service: service.clone(),
            kept: None,
        }
    }

    async fn post(&mut self, what: &str, path: &str, body: &[u8]) -> Answer {
        let mut client = match self.kept.take() {
            Some(client) => client,
            None => self.service.connect().await.expect("it shakes hands"),
        };
        let answer = client.post(path, body).await;
        let answer = answer.unwrap_or_else(|| panic!("{what} is not answered"));
        if !answer.closes() {
            self.kept = Some(client);
        }
        answer
    }
}

/// What hostile input was told.
#[derive(Default)]
pub(super) struct Told {
    /// Inputs that were told what they should be.
    pub(super) right: usize,
    /// The others, each with what it was told.
    pub(super) otherwise: Vec<String>,
    /// The longest time from the first byte of an input to the last of its answer, and which it was.
    pub(super) slowest: (Duration, String),
}

impl Told {
    pub(super) fn add(&mut self, other: Self) {
        self.right += other.right;
        self.otherwise.extend(other.otherwise);
        if other.slowest > self.slowest {
            self.slowest = other.slowest;
        }
    }

    fn assert_right(&self) {
        assert!(self.otherwise.is_empty(), "{:#?}", self.otherwise);
        assert!(self.right > 0);
    }
}

/// Sends inputs one after the other, all of them so many times.
pub(super) async fn send(service: Service, inputs: Arc<[Input]>, times: usize) -> Told {
    let mut told = Told::default();
    let mut caller = Caller::new(&service);
    for number in 0..times * inputs.len() {
        let number = number % inputs.len();
        let begun = Instant::now();
        // In a task of its own, so that an assertion that fails is an input that was told otherwise.
        let asking = tokio::spawn({
            let inputs = Arc::clone(&inputs);
            async move {
                inputs[number].assert_told(&mut caller).await;
                caller
            }
        });
        let what = inputs[number].what();
        caller = match asking.await {
            Ok(caller) => {
                told.right += 1;
                caller
            }
            Err(error) => {
                told.otherwise.push(format!("{what}: {error}"));
                Caller::new(&service)
            }
        };
        let time = begun.elapsed();
        if time > told.slowest.0 {
            told.slowest = (time, what.to_owned());
        }
    }
    told
}

async fn assert_no_panic(fixture: &Fixture) {
    let metrics = fixture.metrics().await;
    assert!(metrics.contains("warmgate_panics_total 0"), "{metrics}");
}

#[tokio::test]
async fn every_strange_request_has_its_status() {
    let fixture = Fixture::start().await;
    let requests = of(http::all(), Input::Bytes);
    send(fixture.service(), requests, 1).await.assert_right();
    assert_no_panic(&fixture).await;
}

#[tokio::test]
async fn every_strange_body_has_its_answer() {
    let fixture = Fixture::start().await;
    let bodies = [json::small(), json::large()].concat();
    let strange = bodies
        .iter()
        .filter(|body| body.verdict == Verdict::Strange)
        .count();
    let bodies = of(bodies, Input::Body);
    send(fixture.service(), bodies, 1).await.assert_right();
    let metrics = fixture.metrics().await;
    let counted = format!("warmgate_not_understood_total {strange}\n");
    assert!(metrics.contains(&counted), "{strange}: {metrics}");
    assert!(metrics.contains("warmgate_panics_total 0"), "{metrics}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_good_request_is_lost_beside_strange_ones() {
    let fixture = Fixture::start().await;
    let service = fixture.service();
    let good = Good::begin(&service, BESIDE);
    for (inputs, times) in [
        (of(http::all(), Input::Bytes), HANDSHAKES),
        (of(json::small(), Input::Body), ROUNDS),
        (of(json::large(), Input::Body), 1),
    ] {
        send(service.clone(), inputs, times).await.assert_right();
    }
    good.end().await.assert_none_lost();
    assert_no_panic(&fixture).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_good_request_is_lost_beside_callers_that_leave() {
    let fixture = Fixture::start().await;
    let service = fixture.service();
    let good = Good::begin(&service, BESIDE);
    let leavers = of(http::leavers(), Input::Leaver);
    send(service, leavers, HANDSHAKES).await.assert_right();
    good.end().await.assert_none_lost();
    assert_no_panic(&fixture).await;
}
