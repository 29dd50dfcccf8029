//! The webhook server: reviews over TLS in, answers out.
//!
//! ```text
//! listen -> tls -> pace -> connection -> routes -> admission -> body -> judgement -> admit
//!                                    \-> health -> metrics
//! watch -> tls, facts
//! ```
//!
//! The accept loop is our own because the stock ones set no timers. The order of the limits is that of their cost: a
//! connection is counted before it shakes hands, a head is bounded before a body is read, a body is counted before it is
//! parsed. Everything that is shared is swapped whole, so that no request waits for another.

#![expect(
    clippy::disallowed_methods,
    reason = "this is where the clock, the files and the log are"
)]

mod admission;
mod body;
mod connection;
mod deadline;
mod descriptors;
mod drain;
mod health;
mod judgement;
mod labels;
mod listen;
mod log;
mod metrics;
mod pace;
mod rejection;
mod routes;
mod server;
mod settings;
mod shared;
mod tls;
mod watch;

use std::future::Future;
use std::io;
use std::net::SocketAddr;

use tokio::signal::unix::{SignalKind, signal};

#[cfg(feature = "controller")]
pub(crate) use health::{Health, HealthPort};
#[cfg(feature = "controller")]
pub(crate) use log::chain;
pub use log::{Flush, Format, init as init_log};
#[cfg(feature = "controller")]
pub(crate) use metrics::DroppedLines;
pub use server::Server;
pub use settings::{Certificate, DrainTimes, Limits, Listen, Settings};
pub use tls::{Identity, TlsError, identity};

/// Why the server does not start, or does not go on.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A port cannot be bound.
    #[error("cannot listen on {address}")]
    Bind {
        /// The address that was tried.
        address: SocketAddr,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// The certificate that was given cannot be used. One in files is waited for instead.
    #[error("cannot use the certificate")]
    Certificate(#[from] TlsError),
    /// Signals cannot be waited for.
    #[error("cannot wait for signals")]
    Signal(#[source] io::Error),
    /// Logging cannot be set up.
    #[error("cannot set up logging")]
    Log(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// A part that works until it is told to end has ended: a bug of ours. Where it panicked, the log says where.
    #[error("a part of the webhook has ended by itself")]
    Ended,
}

/// Serves until `shutdown` is ready, then leaves as [`Server::stop`] does. The process is taken to be there for it: its limit of
/// file descriptors is raised, and no more connections are taken than that leaves room for.
///
/// # Errors
/// Where the server does not start, or a part of it ends by itself.
pub async fn serve(
    mut settings: Settings,
    shutdown: impl Future<Output = ()>,
) -> Result<(), Error> {
    let wanted = settings.limits.connections;
    let connections = descriptors::make_room(wanted);
    if connections < wanted {
        tracing::warn!(connections, wanted, "the limit of file descriptors is low");
    }
    settings.limits.connections = connections;
    Server::start(settings).await?.run(shutdown).await
}

/// Waits for SIGTERM or SIGINT. The signals are caught from this call on, not from the first wait.
///
/// # Errors
/// Where the system does not let signals be caught.
pub fn termination() -> Result<impl Future<Output = ()>, Error> {
    let mut terminate = signal(SignalKind::terminate()).map_err(Error::Signal)?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(Error::Signal)?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    })
}
