//! The controller: keeps certificates, webhook configurations and facts right.
//!
//! ```text
//! lease -> leader -> certificates -> configurations
//!                 \-> namespaces -> facts -> events
//!                 \-> contents
//! ```
//!
//! It is apart from the webhook so that whoever takes over the webhook finds no token there. All replicas stand for
//! election, one works. Its rights are few: get, update, patch and delete of its objects by their names; in its own namespace
//! creating Secrets, ConfigMaps and Leases, and get, list and patch of pods; in the cluster reading namespaces and creating
//! Events.

#![expect(
    clippy::disallowed_methods,
    reason = "this is where the clock and the API server are"
)]

mod api;
mod certificates;
mod configurations;
mod contents;
mod course;
mod events;
mod facts;
mod leader;
mod lease;
mod metrics;
mod namespaces;
mod settings;

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use kube::{Client, Config};
use tokio::task::JoinSet;

use self::leader::Leader;
use self::lease::Election;
use self::metrics::Metrics;
use crate::webhook::{self, Health, HealthPort, Limits};

pub use self::certificates::Lifetimes;
pub use self::lease::ElectionTimes;
pub use self::settings::{CertificateSource, Settings};

/// Why the controller does not start, or does not go on.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Neither a kubeconfig nor a service account says where the API server is.
    #[error("cannot tell where the API server is")]
    Config(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// What it says cannot be used.
    #[error("cannot reach the API server")]
    Client(#[source] Box<kube::Error>),
    /// The plain port cannot be bound.
    #[error(transparent)]
    Health(#[from] webhook::Error),
    /// A part that works until it is told to end has ended: a bug of ours. Where it panicked, the log says where.
    #[error("a part of the controller has ended by itself")]
    Ended,
}

/// Works until `shutdown` is ready, with the API server that a kubeconfig or the service account names.
///
/// # Errors
/// Where the controller does not start, or a part of it ends by itself.
pub async fn run(settings: Settings, shutdown: impl Future<Output = ()>) -> Result<(), Error> {
    let config = Config::infer()
        .await
        .map_err(|error| Error::Config(error.into()))?;
    let client = Client::try_from(config).map_err(|error| Error::Client(error.into()))?;
    Controller::start(settings, client)?.run(shutdown).await
}

/// A running controller. It ends at once when it is dropped.
pub struct Controller {
    client: Client,
    settings: Arc<Settings>,
    health: SocketAddr,
    tasks: JoinSet<()>,
}

impl Controller {
    /// Stands for election and works when it leads.
    ///
    /// # Errors
    /// Where the plain port cannot be bound.
    pub fn start(settings: Settings, client: Client) -> Result<Self, Error> {
        let port = HealthPort::bind(settings.health)?;
        let health = port.address();
        let settings = Arc::new(settings);
        let vitals = Arc::new(Vitals {
            reached: AtomicBool::new(false),
            metrics: Arc::new(Metrics::new()),
        });
        let mut tasks = JoinSet::new();
        tasks.spawn(port.serve(Arc::clone(&vitals) as Arc<dyn Health>, Limits::default()));
        tasks.spawn(campaign(client.clone(), Arc::clone(&settings), vitals));
        tracing::info!(%health, identity = settings.identity, "standing for election");
        Ok(Self {
            client,
            settings,
            health,
            tasks,
        })
    }

    /// Where the probes and the metrics are.
    pub fn health_address(&self) -> SocketAddr {
        self.health
    }

    /// Works until `shutdown` is ready, then leaves as [`stop`](Self::stop) does.
    ///
    /// # Errors
    /// Where a part ends before, by a panic: it would not stand for election again, and nobody would see it. Another
    /// instance may lead at once.
    pub async fn run(mut self, shutdown: impl Future<Output = ()>) -> Result<(), Error> {
        let ended = tokio::select! {
            () = shutdown => Ok(()),
            _ = self.tasks.join_next() => Err(Error::Ended),
        };
        self.stop().await;
        ended
    }

    /// Stops working and lets another instance lead at once.
    pub async fn stop(mut self) {
        tracing::info!("leaving");
        self.tasks.shutdown().await;
        match election(&self.client, &self.settings).release().await {
            Ok(()) => tracing::info!("left"),
            Err(error) => tracing::warn!(error = webhook::chain(&error), "lease not released"),
        }
    }
}

/// What the plain port tells of.
struct Vitals {
    /// Whether the API server answered last.
    reached: AtomicBool,
    metrics: Arc<Metrics>,
}

impl Health for Vitals {
    fn unready(&self) -> Option<&'static str> {
        let reached = self.reached.load(Ordering::Relaxed);
        (!reached).then_some("the API server does not answer")
    }

    fn metrics(&self) -> String {
        self.metrics.text()
    }
}

fn election(client: &Client, settings: &Settings) -> Election {
    Election::new(
        client,
        &settings.namespace,
        settings.lease.clone(),
        settings.identity.clone(),
        settings.election,
    )
}

/// Waits to lead, leads until the lease is lost, and again.
async fn campaign(client: Client, settings: Arc<Settings>, vitals: Arc<Vitals>) {
    let mut election = election(&client, &settings);
    let reached = |reached| vitals.reached.store(reached, Ordering::Relaxed);
    loop {
        let since = election.won(reached).await;
        tracing::info!("leading");
        vitals.metrics.leads(true);
        let metrics = Arc::clone(&vitals.metrics);
        let leader = Leader::new(client.clone(), Arc::clone(&settings), metrics);
        tokio::select! {
            () = leader.lead() => {}
            () = election.lost(since, reached) => tracing::warn!("not leading any more"),
        }
        vitals.metrics.leads(false);
    }
}
