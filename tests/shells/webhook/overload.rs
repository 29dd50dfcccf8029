//! More callers than there is room for: who is turned away comes again on the same connection, and nobody is cut off.

use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::sleep;

use super::client::{Answer, Client};
use super::limits::{JSON, head};
use super::{Fixture, body};

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
    let fixture = Fixture::with(|settings| settings.limits.bodies = 2048).await;
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
    let fixture = Fixture::with(|settings| settings.limits.bodies = 2048).await;
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
