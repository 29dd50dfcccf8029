//! A whole server: its ports, and how it ends.

use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio::task::{JoinHandle, spawn_blocking};

use super::{Seen, server};
use crate::{ask, life};

/// A whole server with these `flags`, the way to send it SIGTERM, and its end.
fn lives(flags: &str) -> (Seen, mpsc::UnboundedSender<()>, JoinHandle<u8>) {
    let (server, seen) = server(flags);
    let (term, terms) = mpsc::unbounded_channel();
    let lives = tokio::spawn(async move { life::lives(server, terms).await.unwrap() });
    (seen, term, lives)
}

#[tokio::test]
async fn a_signal_ends_it_as_it_was_told() {
    for (flags, code) in [
        ("--on-term abort", 143),
        ("--on-term serve=0.2", 0),
        ("--on-term drain=30", 0),
        // The end of its own comes first.
        ("--on-term serve=3600 --exits-after 0.2 --exit-code 7", 7),
        ("--on-term ignore --exits-after 0.2 --exit-code 7", 7),
    ] {
        let (seen, term, lives) = lives(flags);
        term.send(()).unwrap();
        assert_eq!(lives.await.unwrap(), code, "{flags}");
        seen.event("term");
        assert_eq!(seen.event("exit")["code"], code);
    }
}

#[tokio::test]
async fn who_is_told_to_serve_on_does() {
    let (seen, term, lives) = lives("--http 0 --on-term serve=3600");
    let port = seen.wait_for("listening").await["port"].as_u64().unwrap();
    let port = u16::try_from(port).unwrap();
    term.send(()).unwrap();
    seen.wait_for("term").await;
    let asked = spawn_blocking(move || ask::ask(port)).await.unwrap();
    asked.unwrap();
    assert_eq!(seen.find("exit"), None);
    lives.abort();
}

/// A port is there in all that time, so that who only connects sees nothing of it.
#[tokio::test]
async fn connections_are_taken_while_nothing_is_answered() {
    for flags in [
        "--stall 0=3600",
        "--ready-after 3600 --while-loading hang",
        "--answers-in 3600",
    ] {
        let (seen, _term, lives) = lives(&format!("--http 0 {flags}"));
        let port = seen.wait_for("listening").await["port"].as_u64().unwrap();
        let address = format!("127.0.0.1:{port}");
        drop(TcpStream::connect(address).await.unwrap());
        seen.wait_for("connection").await;
        lives.abort();
    }
}
