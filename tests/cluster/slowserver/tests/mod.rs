//! The server as its clients see it, in one process.

mod answers;
mod asks;
mod calls;
mod ends;

use std::io::{self, Write};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use clap::Parser;
use serde_json::Value;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use crate::flags::Flags;
use crate::log::Log;
use crate::server::Server;
use crate::{grpc, http};

/// After this there is no hope that a log will say what it has not said yet.
const HOPELESS: Duration = Duration::from_secs(60);

/// A log that can be read.
#[derive(Clone, Default)]
struct Seen(Arc<Mutex<Vec<u8>>>);

impl Write for Seen {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Write::write(&mut *self.0.lock().unwrap(), bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seen {
    fn events(&self) -> Vec<Value> {
        let text = String::from_utf8(self.0.lock().unwrap().clone()).unwrap();
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    fn event(&self, name: &str) -> Value {
        let found = self.find(name);
        found.unwrap_or_else(|| panic!("no {name} in {:?}", self.events()))
    }

    fn find(&self, name: &str) -> Option<Value> {
        let mut events = self.events().into_iter();
        events.find(|event| event["event"] == name)
    }

    async fn wait_for(&self, name: &str) -> Value {
        let look = async {
            loop {
                match self.find(name) {
                    Some(event) => return event,
                    None => tokio::time::sleep(Duration::from_millis(5)).await,
                }
            }
        };
        let found = tokio::time::timeout(HOPELESS, look).await;
        found.unwrap_or_else(|_| panic!("no {name} in {:?}", self.events()))
    }
}

/// A server with these `flags`, and what it logs.
fn server(flags: &str) -> (Arc<Server>, Seen) {
    let seen = Seen::default();
    let flags = Flags::parse_from(format!("slowserver {flags}").split_whitespace());
    let server = Server::new(flags, Log::new(seen.clone()));
    (Arc::new(server), seen)
}

/// The port of a server with these `flags` that serves one connection to its end.
async fn serves_one(flags: &str) -> (u16, Seen, JoinHandle<()>) {
    let (server, seen) = server(flags);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let served = tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        if server.flags.grpc.is_some() {
            grpc::serve(&server, stream).await.ok();
        } else {
            http::serve(&server, stream).await.unwrap();
        }
    });
    (port, seen, served)
}

/// The connection to such a server.
async fn connect(flags: &str) -> (TcpStream, Seen, JoinHandle<()>) {
    let (port, seen, served) = serves_one(flags).await;
    let stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    (stream, seen, served)
}
