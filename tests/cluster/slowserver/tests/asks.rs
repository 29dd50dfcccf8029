//! The command that asks a server.

use std::io;

use tokio::net::TcpListener;
use tokio::task::spawn_blocking;

use super::serves_one;
use crate::ask;

/// What `--ask` makes of a server with these `flags`.
async fn asked(flags: &str) -> Result<(), String> {
    let (port, seen, served) = serves_one(flags).await;
    let asked = spawn_blocking(move || ask::ask(port)).await.unwrap();
    served.await.unwrap();
    assert_eq!(seen.event("request")["agent"], "slowserver");
    asked.map_err(|error| error.to_string())
}

#[tokio::test]
async fn a_command_asks_and_waits() {
    for flags in [
        "",
        "--answers-in 0.2",
        "--ready-after 0.2 --while-loading hang",
        "--ready-after 0.2 --while-loading stall",
    ] {
        assert_eq!(asked(flags).await, Ok(()), "{flags}");
    }
    let refused = asked("--ready-after 3600 --while-loading 503").await;
    assert!(refused.unwrap_err().contains("503"));
}

#[tokio::test]
async fn a_command_that_nobody_answers_fails() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let asked = spawn_blocking(move || ask::ask(port));
    drop(listener.accept().await.unwrap());
    asked.await.unwrap().unwrap_err();
    // Now nobody listens.
    drop(listener);
    let refused = spawn_blocking(move || ask::ask(port)).await.unwrap();
    assert_eq!(
        refused.unwrap_err().kind(),
        io::ErrorKind::ConnectionRefused
    );
}
