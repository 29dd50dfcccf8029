//! When it listens, what it would answer now, and how it ends.

use std::io;
use std::net::Ipv6Addr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;
use tokio::net::{TcpListener, TcpStream};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{mpsc, watch};
use tokio_rustls::TlsAcceptor;

use crate::flags::{Ending, Flags, Loading};
use crate::log::Log;
use crate::{grpc, http, inject};

/// The exit code of a program that SIGTERM ended.
const TERMINATED: u8 = 128 + 15;

/// What every connection knows.
pub(crate) struct Server {
    flags: Flags,
    start: Instant,
    pub(crate) log: Log,
}

/// How a request is treated.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Treatment {
    /// It is told, after a while, whether the server is well.
    Answer(bool, Duration),
    /// It is never answered.
    Hang,
    /// It gets the head of an answer.
    Stall,
}

/// What a port speaks.
#[derive(Clone)]
enum Protocol {
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

    /// How a request that comes now is treated.
    pub(crate) fn treatment(&self) -> Treatment {
        if self.start.elapsed() >= self.flags.ready_after {
            return Treatment::Answer(true, self.flags.answers_in);
        }
        match self.flags.while_loading {
            Loading::Refused | Loading::Unavailable => Treatment::Answer(false, Duration::ZERO),
            Loading::Ok => Treatment::Answer(true, Duration::ZERO),
            Loading::Hang => Treatment::Hang,
            Loading::Stall => Treatment::Stall,
        }
    }

    /// Sleeps until so long after the start.
    async fn until(&self, after: Duration) {
        tokio::time::sleep(after.saturating_sub(self.start.elapsed())).await;
    }

    async fn becomes_ready(self: Arc<Self>) {
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

    async fn listens(
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

/// Runs `server` to its end, and gives its exit code.
///
/// # Errors
///
/// The runtime cannot be made.
pub(crate) fn run(server: Server) -> io::Result<u8> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    let code = runtime.block_on(lives(Arc::new(server)));
    runtime.shutdown_background();
    code
}

async fn lives(server: Arc<Server>) -> io::Result<u8> {
    let mut term = signal(SignalKind::terminate())?;
    let (end, ending) = watch::channel(false);
    let (busy, mut idle) = mpsc::channel::<()>(1);
    server
        .log
        .write("start", json!({"flags": format!("{:?}", server.flags)}));
    tokio::spawn(Arc::clone(&server).becomes_ready());
    let flags = &server.flags;
    let mut ports = vec![
        (flags.http, Protocol::Http),
        (flags.grpc, Protocol::Grpc),
        (flags.tcp, Protocol::Tcp),
    ];
    if let Some(folder) = &flags.tls {
        ports.push((flags.inject, Protocol::Inject(inject::acceptor(folder)?)));
    }
    for (port, protocol) in ports {
        if let Some(port) = port {
            let server = Arc::clone(&server);
            tokio::spawn(server.listens(port, protocol, ending.clone(), busy.clone()));
        }
    }
    drop(busy);
    let exits = async {
        match flags.exits_after {
            Some(after) => server.until(after).await,
            None => std::future::pending().await,
        }
    };
    tokio::pin!(exits);
    loop {
        tokio::select! {
            () = &mut exits => return Ok(ends(&server, flags.exit_code)),
            _ = term.recv() => server.log.write("term", json!({})),
        }
        match flags.on_term {
            Ending::Ignore => {}
            Ending::Abort => return Ok(ends(&server, TERMINATED)),
            Ending::Drain(longest) => {
                end.send_replace(true);
                // The channel closes with the last connection.
                let drained = tokio::time::timeout(longest, idle.recv()).await.is_ok();
                server.log.write("drained", json!({"whole": drained}));
                return Ok(ends(&server, 0));
            }
        }
    }
}

fn ends(server: &Server, code: u8) -> u8 {
    server.log.write("exit", json!({"code": code}));
    code
}
