//! Good requests, as an API server sends them: so many a second, whatever became of those before.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::Value;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until, timeout};
use warmgate::admit::{Endpoint, admit};
use warmgate::facts::{Facts, Mode, Origin};
use warmgate::review;

use super::client::{Answer, Service, TlsClient};
use super::hostile::model_server;

/// Losses that are kept in words; the others are counted.
const WORDS: usize = 3;

/// How requests are sent.
#[derive(Clone, Copy)]
pub(super) struct Rate {
    /// Connections, each kept as long as its answers leave it open. A request that finds none idle waits.
    pub(super) connections: usize,
    /// Requests a second on all of them together; `None` sends each as soon as its connection is idle.
    pub(super) per_second: Option<f64>,
    /// How long an answer is waited for.
    pub(super) patience: Duration,
}

/// What became of requests.
#[derive(Default)]
pub(super) struct Tally {
    /// Answered as they should be.
    pub(super) right: usize,
    /// Told to come again: 503 with a number of seconds in Retry-After.
    pub(super) busy: usize,
    /// Answered in another way, late, or not at all.
    pub(super) lost: usize,
    /// Connections that were made.
    pub(super) connections: usize,
    /// How some were lost.
    pub(super) losses: Vec<String>,
    /// From when a request was due to its right answer.
    times: Vec<Duration>,
}

impl Tally {
    pub(super) fn sent(&self) -> usize {
        self.right + self.busy + self.lost
    }

    /// The time that so many of a thousand right answers did not take longer than.
    pub(super) fn per_mille(&self, share: usize) -> Duration {
        let mut times = self.times.clone();
        times.sort_unstable();
        let at = (times.len() * share / 1000).min(times.len().saturating_sub(1));
        times.get(at).copied().unwrap_or_default()
    }

    /// Every request was answered as it should be.
    pub(super) fn assert_none_lost(&self) {
        let (lost, busy) = (self.lost, self.busy);
        assert_eq!((lost, busy), (0, 0), "{:#?}", self.losses);
        assert!(self.right > 0);
    }

    fn lose(&mut self, why: String) {
        self.lost += 1;
        if self.losses.len() < WORDS {
            self.losses.push(why);
        }
    }

    fn add(&mut self, other: Self) {
        self.right += other.right;
        self.busy += other.busy;
        self.lost += other.lost;
        self.connections += other.connections;
        self.losses.extend(other.losses);
        self.losses.truncate(WORDS);
        self.times.extend(other.times);
    }
}

/// A request, and its answer as the judgement itself gives it: each up to the uid and behind it.
struct Question {
    path: String,
    request: [String; 2],
    answer: [String; 2],
}

impl Question {
    /// About an object that there is something to mend of, by somebody who waits so many seconds.
    fn about(asked: &Value, patience: Duration) -> Self {
        let request = review::Request::from_value(asked).expect("it is a review");
        let facts = Facts::new(Mode::Fix, Origin::Admission);
        let response = admit(&request, &facts).response(Endpoint::Mutate);
        assert!(!response.patch.0.is_empty());
        let answer = review::answer(&request.uid, &response);
        let around = |text: &str| {
            let (before, behind) = text.split_once(&request.uid).expect("it has the uid");
            [before.to_owned(), behind.to_owned()]
        };
        Self {
            path: format!("/mutate/fix?timeout={}s", patience.as_secs()),
            request: around(&asked.to_string()),
            answer: around(std::str::from_utf8(&answer).expect("it is text")),
        }
    }

    async fn ask(&self, client: &mut TlsClient, uid: &str) -> Result<Answer, String> {
        let answer = client.post(&self.path, self.request.join(uid)).await;
        answer.ok_or_else(|| "no answer".to_owned())
    }

    fn is_right(&self, answer: &Answer, uid: &str) -> bool {
        answer.status == 200 && answer.body == self.answer.join(uid).as_bytes()
    }
}

fn is_busy(answer: &Answer) -> bool {
    let seconds = answer.header("retry-after").map(str::parse::<u32>);
    answer.status == 503 && matches!(seconds, Some(Ok(_)))
}

/// What callers share: who asks next, and when.
struct Schedule {
    question: Question,
    rate: Rate,
    begun: Instant,
    next: AtomicUsize,
    over: AtomicBool,
}

impl Schedule {
    /// The number of the next request and when it is due, until it is over.
    fn next(&self) -> Option<(usize, Instant)> {
        if self.over.load(Ordering::Relaxed) {
            return None;
        }
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let due = match self.rate.per_second {
            Some(rate) => self.begun + Duration::from_secs_f64(number as f64 / rate),
            None => Instant::now(),
        };
        Some((number, due))
    }
}

/// Callers that ask until they are told to stop.
pub(super) struct Good {
    callers: JoinSet<Tally>,
    schedule: Arc<Schedule>,
}

impl Good {
    /// About a model server.
    pub(super) fn begin(service: &Service, rate: Rate) -> Self {
        Self::about(&model_server(), service, rate)
    }

    /// About the object of a review.
    pub(super) fn about(review: &Value, service: &Service, rate: Rate) -> Self {
        let schedule = Arc::new(Schedule {
            question: Question::about(review, rate.patience),
            rate,
            begun: Instant::now(),
            next: AtomicUsize::new(0),
            over: AtomicBool::new(false),
        });
        let mut callers = JoinSet::new();
        for _ in 0..rate.connections {
            callers.spawn(call(service.clone(), Arc::clone(&schedule)));
        }
        Self { callers, schedule }
    }

    /// Ends them, once they have what they asked for.
    pub(super) async fn end(mut self) -> Tally {
        self.schedule.over.store(true, Ordering::Relaxed);
        let mut tally = Tally::default();
        while let Some(ended) = self.callers.join_next().await {
            tally.add(ended.expect("a caller only counts"));
        }
        tally
    }
}

/// Asks on one connection after the other.
async fn call(service: Service, schedule: Arc<Schedule>) -> Tally {
    let mut tally = Tally::default();
    let mut kept = None;
    while let Some((number, due)) = schedule.next() {
        sleep_until(due).await;
        let uid = format!("good-{number}");
        let asked = async {
            let mut client = match kept.take() {
                Some(client) => client,
                None => {
                    tally.connections += 1;
                    let connected = service.connect().await;
                    connected.map_err(|error| format!("no connection: {error}"))?
                }
            };
            let answer = schedule.question.ask(&mut client, &uid).await?;
            if !answer.closes() {
                kept = Some(client);
            }
            Ok::<_, String>(answer)
        };
        let asked = timeout(schedule.rate.patience, asked).await;
        match asked.unwrap_or_else(|_| Err("no answer in time".to_owned())) {
            Ok(answer) if schedule.question.is_right(&answer, &uid) => {
                tally.right += 1;
                tally.times.push(due.elapsed());
            }
            Ok(answer) if is_busy(&answer) => tally.busy += 1,
            Ok(answer) => tally.lose(format!("{}: {:.300}", answer.status, answer.text())),
            Err(why) => tally.lose(why),
        }
    }
    tally
}
