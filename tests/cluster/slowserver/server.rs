//! When it listens, and what every connection knows.

use std::net::Ipv6Addr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, watch};
use tokio_rustls::TlsAcceptor;

use crate::endpoint::Reply;
use crate::flags::Flags;
use crate::log::Log;
use crate::{grpc, http, inject};

/// What every connection knows.
pub(crate) struct Server {
    pub(crate) flags: Flags,
    start: Instant,
    pub(crate) log: Log,
}

/// What a port speaks.
#[derive(Clone)]
pub(crate) enum Protocol {
    Http,
    Grpc,
    Tcp,
    Inject(TlsAcceptor),
}

impl Server {
    /// A server that starts to load now.
    pub(crate) fn new(flags: Flags, log: Log) -> Self {
        Self {
            flags,
            start: Instant::now(),
            log,
        }
    }

    /// What becomes of a request that comes now.
    pub(crate) fn reply(&self) -> Reply {
        self.flags.reply(self.start.elapsed())
    }

    /// Sleeps until so long after the start.
    pub(crate) async fn until(&self, after: Duration) {
        tokio::time::sleep(after.saturating_sub(self.start.elapsed())).await;
    }

    /// The same, or for ever.
    pub(crate) async fn until_any(&self, after: Option<Duration>) {
        match after {
            Some(after) => self.until(after).await,
            None => std::future::pending().await,
        }
    }

    /// So long after now, counted from the start.
    pub(crate) fn later(&self, by: Duration) -> Duration {
        self.start.elapsed().saturating_add(by)
    }

    /// Writes down when nobody let it run: what it does then is not what its flags say.
    pub(crate) async fn watches_the_time(self: Arc<Self>) {
        const PULSE: Duration = Duration::from_millis(100);
        const STARVED: Duration = Duration::from_millis(200);
        loop {
            let before = Instant::now();
            tokio::time::sleep(PULSE).await;
            let late = before.elapsed().saturating_sub(PULSE);
            if late > STARVED {
                self.log.write(
                    "starved",
                    json!({"ms": u64::try_from(late.as_millis()).unwrap_or(u64::MAX)}),
                );
            }
        }
    }

    /// Says when the load is done.
    pub(crate) async fn becomes_ready(self: Arc<Self>) {
        if let Some(file) = &self.flags.ready_file {
            std::fs::remove_file(file).ok();
        }
        self.until(self.flags.ready_after).await;
        self.log.write("ready", json!({}));
        if let Some(file) = &self.flags.ready_file
            && let Err(error) = std::fs::write(file, "")
        {
            self.log
                .write("error", json!({"file": file, "error": error.to_string()}));
        }
    }

    /// Serves `port` until it is `ending`. A connection keeps its copy of `busy` while it lasts.
    pub(crate) async fn listens(
        self: Arc<Self>,
        port: u16,
        protocol: Protocol,
        mut ending: watch::Receiver<bool>,
        busy: mpsc::Sender<()>,
    ) {
        self.until(self.flags.listens_after()).await;
        let listener = match TcpListener::bind((Ipv6Addr::UNSPECIFIED, port)).await {
            Ok(listener) => listener,
            // A node without IPv6.
            Err(_) => match TcpListener::bind(("0.0.0.0", port)).await {
                Ok(listener) => listener,
                Err(error) => {
                    self.log
                        .write("error", json!({"port": port, "error": error.to_string()}));
                    return;
                }
            },
        };
        // Port 0 is any that is free.
        let port = listener.local_addr().map_or(port, |at| at.port());
        self.log.write("listening", json!({"port": port}));
        loop {
            let stream = tokio::select! {
                accepted = listener.accept() => accepted,
                _ = ending.wait_for(|ends| *ends) => return,
            };
            let Ok((stream, from)) = stream else { continue };
            self.log.write(
                "connection",
                json!({"port": port, "from": from.to_string()}),
            );
            let (server, protocol) = (Arc::clone(&self), protocol.clone());
            let busy = busy.clone();
            tokio::spawn(async move {
                server.serve(protocol, stream).await;
                drop(busy);
            });
        }
    }

    async fn serve(self: &Arc<Self>, protocol: Protocol, stream: TcpStream) {
        let error = match protocol {
            Protocol::Http => http::serve(self, stream)
                .await
                .err()
                .map(|error| error.to_string()),
            Protocol::Grpc => grpc::serve(self, stream)
                .await
                .err()
                .map(|error| error.to_string()),
            Protocol::Tcp => http::closed(&stream)
                .await
                .err()
                .map(|error| error.to_string()),
            Protocol::Inject(acceptor) => inject::serve(self, &acceptor, stream)
                .await
                .err()
                .map(|error| error.to_string()),
        };
        if let Some(error) = error {
            self.log.write("error", json!({"error": error}));
        }
    }
}
