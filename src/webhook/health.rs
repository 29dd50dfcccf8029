//! The plain port: is it alive, should callers come, how is it doing.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use axum::routing::get;
use tokio::net::{TcpListener, TcpStream};

use super::connection::Service;
use super::drain::Drain;
use super::listen::Room;
use super::{DrainTimes, Error, Limits, Listen, listen};

/// The content type of what `prometheus-client` writes.
const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// What a process tells of itself.
pub(crate) trait Health: Send + Sync + 'static {
    /// Why callers should not come now, if they should not.
    fn unready(&self) -> Option<&'static str>;

    /// The metrics as OpenMetrics text.
    fn metrics(&self) -> String;
}

/// A plain port that is bound.
pub(crate) struct HealthPort {
    listener: TcpListener,
    address: SocketAddr,
}

impl HealthPort {
    /// Binds a port.
    pub(crate) fn bind(listen: Listen) -> Result<Self, Error> {
        let (listener, address) = listen::bind(listen)?;
        Ok(Self { listener, address })
    }

    /// Where it is bound.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers until it is dropped: it is the last that ends.
    pub(crate) async fn serve(self, health: Arc<dyn Health>, limits: Limits) {
        let service = Service {
            router: router(health),
            limits: bounded(limits),
            drain: Drain::new(),
            times: DrainTimes::default(),
        };
        let room = Room::Evict(service.limits.connections);
        let (drain, times) = (service.drain.clone(), service.times);
        let serve = |stream: TcpStream| {
            let service = service.clone();
            async move { service.serve(stream).await }
        };
        listen::accept(self.listener, room, drain, times, serve).await;
    }
}

/// The routes of the plain port.
fn router(health: Arc<dyn Health>) -> Router {
    Router::new()
        .route("/livez", get(|| async { "ok" }))
        .route("/readyz", get(ready))
        .route("/metrics", get(metrics))
        .with_state(health)
}

/// The limits of the plain port: the kubelet and a few scrapers come, and must not keep anybody from reviews. Whoever else comes
/// must not keep the kubelet away, which would restart the server.
fn bounded(limits: Limits) -> Limits {
    Limits {
        connections: 128,
        first_byte: Duration::from_secs(10).min(limits.first_byte),
        ..limits
    }
}

async fn ready(State(health): State<Arc<dyn Health>>) -> impl IntoResponse {
    match health.unready() {
        None => (StatusCode::OK, "ok"),
        Some(why) => (StatusCode::SERVICE_UNAVAILABLE, why),
    }
}

async fn metrics(State(health): State<Arc<dyn Health>>) -> impl IntoResponse {
    ([(header::CONTENT_TYPE, OPEN_METRICS)], health.metrics())
}
