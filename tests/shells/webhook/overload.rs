//! More callers than there is room for: who is turned away comes again on the same connection, and nobody is cut off.

use std::sync::Mutex;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::mpsc::unbounded_channel;
use tokio::time::sleep;
use warmgate::admit::admit;
use warmgate::facts::Facts;
use warmgate::review::Request;
use warmgate::webhook::Server;

use super::certificates::Authority;
use super::client::{Answer, Client, Service, Tls};
use super::limits::{JSON, head};
use super::{Fixture, body, settings};

/// How long a test waits for what must come.
const PATIENCE: Duration = Duration::from_secs(20);

/// Sends a review in two pieces, as a client does whose buffer is smaller than the review.
async fn post_in_pieces<S>(client: &mut Client<S>, name: &str) -> Option<Answer>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let body = body(name);
    let length = body.len();
    client
        .send(head(&format!("{JSON}content-length: {length}\r\n")))
        .await;
    // The server has read the head before it reads the rest.
    sleep(Duration::from_millis(20)).await;
    client.send(body).await;
    client.answer().await
}

#[tokio::test]
async fn who_is_turned_away_keeps_the_connection_and_comes_again() {
    let fixture = Fixture::with(|settings| settings.limits.requests = 1).await;
    let mut first = fixture.connect().await;
    let held = body("held");
    let length = held.len();
    let expecting = format!("{JSON}expect: 100-continue\r\ncontent-length: {length}\r\n");
    first.send(head(&expecting)).await;
    // Its body is waited for, so it has taken the only place.
    assert_eq!(first.answer().await.map(|answer| answer.status), Some(100));
    let mut others = Vec::new();
    for _ in 0..8 {
        let mut other = fixture.connect().await;
        for _ in 0..2 {
            let answer = post_in_pieces(&mut other, "other").await;
            let answer = answer.expect("nobody is cut off");
            assert_eq!(answer.status, 503);
            assert_eq!(answer.header("retry-after"), Some("1"));
            assert!(!answer.closes());
        }
        others.push(other);
    }
    first.send(held).await;
    let answer = first.answer().await.expect("it is answered");
    assert_eq!(
        (answer.status, &answer.response()["uid"]),
        (200, &"uid of held".into())
    );
    for other in &mut others {
        let answer = post_in_pieces(other, "other")
            .await
            .expect("it has its connection");
        assert_eq!(
            (answer.status, &answer.response()["uid"]),
            (200, &"uid of other".into())
        );
    }
}

#[tokio::test]
async fn a_body_that_finds_no_room_leaves_the_connection_open() {
    let fixture = Fixture::with(|settings| settings.limits.bodies = 8192).await;
    let mut client = fixture.connect().await;
    let padded = body("llm") + &" ".repeat(100_000);
    for _ in 0..3 {
        let answer = client
            .post("/validate/fix", &padded)
            .await
            .expect("it is answered");
        assert_eq!(answer.status, 503);
        assert!(!answer.closes());
        let answer = client.post("/validate/fix", body("llm")).await;
        assert_eq!(answer.expect("it is answered").status, 200);
    }
}

#[tokio::test]
async fn an_answer_to_what_was_not_read_says_that_it_is_the_last() {
    let fixture = Fixture::with(|settings| settings.limits.bodies = 8192).await;
    let long = "content-length: 1000000\r\n";
    for (what, request) in [
        (
            "nobody's path",
            head(&format!("{JSON}{long}")).replacen("/validate/fix", "/", 1),
        ),
        (
            "another method",
            head(&format!("{JSON}{long}")).replacen("POST", "PUT", 1),
        ),
        ("another type", head(long)),
        (
            "no room for so much",
            head(&format!("{JSON}{long}")) + &"x".repeat(5000),
        ),
    ] {
        let mut client = fixture.connect().await;
        client.send(request).await;
        let answer = client.answer().await.expect("there is an answer");
        assert!(answer.status >= 400, "{what}");
        assert!(answer.closes(), "{what}: {}", answer.status);
        assert!(client.ends().await, "{what}");
    }
}

/// Asks about an object, with as many blanks behind it, on a connection of its own.
async fn post_padded(service: &Service, path: &str, name: &str, padding: usize) -> Answer {
    let mut client = service.connect().await.expect("it shakes hands");
    let answer = client.post(path, body(name) + &" ".repeat(padding)).await;
    answer.expect("it is answered")
}

#[tokio::test]
async fn longer_reviews_wait_for_their_turn_and_short_ones_do_not() {
    let (arrive, mut arrived) = unbounded_channel();
    let (release, released) = std::sync::mpsc::channel();
    let released = Mutex::new(released);
    let authority = Authority::new();
    let mut settings = settings(&authority.pair("one"));
    (settings.limits.judgements, settings.limits.large_judgements) = (1, 1);
    let (long, large) = (settings.limits.small_body, settings.limits.large_body);
    let server = Server::start_with(settings, move |request, facts| {
        if request.name == "held" {
            arrive.send(()).expect("the test waits for it");
            let released = released.lock().expect("nobody panicked with it");
            released.recv_timeout(PATIENCE).expect("the test goes on");
        }
        admit(request, facts)
    });
    let server = server.await.expect("the server starts");
    let service = Tls::new(&authority).service(server.admission_address());
    for (length, other) in [(long, large), (large, long)] {
        let begin = |name: &'static str| {
            let service = service.clone();
            tokio::spawn(async move {
                post_padded(&service, "/validate/fix", name, length)
                    .await
                    .status
            })
        };
        let held = begin("held");
        arrived.recv().await.expect("it is judged");
        for padding in [0, other] {
            let answer = post_padded(&service, "/validate/fix", "free", padding).await;
            assert_eq!(answer.status, 200, "{padding} beside {length}");
        }
        let hurried = "/validate/fix?timeout=200ms";
        let answer = post_padded(&service, hurried, "late", length).await;
        assert_eq!(answer.status, 503, "{length}");
        assert_eq!(answer.header("retry-after"), Some("1"));
        assert!(!answer.closes());
        let waiting = begin("waiting");
        release.send(()).expect("it is waited for");
        assert_eq!(held.await.expect("it is answered"), 200);
        assert_eq!(waiting.await.expect("it is answered"), 200);
    }
}

#[tokio::test]
async fn what_has_waited_too_long_is_not_judged() {
    let authority = Authority::new();
    // Longer than the quarter of 400 ms that a request waits for its turn.
    let judge = |request: &Request, facts: &Facts| {
        std::thread::sleep(Duration::from_millis(150));
        admit(request, facts)
    };
    let server = Server::start_with(settings(&authority.pair("one")), judge).await;
    let server = server.expect("the server starts");
    let service = Tls::new(&authority).service(server.admission_address());
    let mut clients = Vec::new();
    for _ in 0..4 {
        clients.push(service.connect().await.expect("it shakes hands"));
    }
    let body = body("llm");
    let length = body.len();
    let head = head(&format!("{JSON}content-length: {length}\r\n"));
    let hurried = head.replacen("/validate/fix", "/validate/fix?timeout=400ms", 1) + &body;
    // All of them have arrived before the first is judged: nothing else runs in between.
    for client in &mut clients {
        client.send(&hurried).await;
    }
    let (mut right, mut busy) = (0, 0);
    for client in &mut clients {
        let answer = client.answer().await.expect("nobody is cut off");
        match answer.status {
            200 => right += 1,
            503 => busy += usize::from(answer.header("retry-after") == Some("1")),
            other => panic!("{other}"),
        }
    }
    assert!(
        right >= 1 && busy >= 1 && right + busy == 4,
        "{right} {busy}"
    );
}
