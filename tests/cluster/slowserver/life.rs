//! A server from its start to its end.

use std::io;
use std::sync::Arc;

use serde_json::json;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{mpsc, watch};

use crate::flags::Ending;
use crate::inject;
use crate::server::{Protocol, Server};

/// The exit code of a program that SIGTERM ended.
const TERMINATED: u8 = 128 + 15;

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
    let code = runtime.block_on(async {
        let mut term = signal(SignalKind::terminate())?;
        let (told, terms) = mpsc::unbounded_channel();
        tokio::spawn(async move { while term.recv().await.is_some() && told.send(()).is_ok() {} });
        lives(Arc::new(server), terms).await
    });
    runtime.shutdown_background();
    code
}

/// Lives until it ends by itself or one of `terms`, which are signals, ends it. Gives its exit code.
///
/// # Errors
///
/// The certificate cannot be read.
pub(crate) async fn lives(
    server: Arc<Server>,
    mut terms: mpsc::UnboundedReceiver<()>,
) -> io::Result<u8> {
    let (end, ending) = watch::channel(false);
    let (busy, mut idle) = mpsc::channel::<()>(1);
    let flags = &server.flags;
    server
        .log
        .write("start", json!({"flags": format!("{flags:?}")}));
    tokio::spawn(Arc::clone(&server).becomes_ready());
    tokio::spawn(Arc::clone(&server).watches_the_time());
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
    let mut serves_until = None;
    loop {
        tokio::select! {
            () = server.until_any(flags.exits_after) => return Ok(ends(&server, flags.exit_code)),
            () = server.until_any(serves_until) => return Ok(ends(&server, 0)),
            Some(()) = terms.recv() => server.log.write("term", json!({})),
        }
        match flags.on_term {
            Ending::Ignore => {}
            Ending::Abort => return Ok(ends(&server, TERMINATED)),
            // The first signal counts.
            Ending::Serve(longer) => serves_until = serves_until.or(Some(server.later(longer))),
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
