//! The server as a whole: its ports, its watch, and how it ends.

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;

use super::connection::Service;
use super::health::{Health, HealthPort};
use super::listen::Room;
use super::shared::{Judge, Shared};
use super::watch::Watch;
use super::{Certificate, Error, Settings, listen, routes, tls};
use crate::admit::{Decision, admit};
use crate::facts::Facts;
use crate::review::Request;

/// A running server. It ends at once, and cuts its connections, when it is dropped.
pub struct Server {
    shared: Arc<Shared>,
    admission: SocketAddr,
    health: SocketAddr,
    /// The admission port; over when it has drained.
    admitting: JoinSet<()>,
    /// What goes on until then: the health port and the watch.
    beside: JoinSet<()>,
}

impl Server {
    /// Binds both ports, reads the files once and begins to serve. Where the certificate's files are missing or bad the
    /// server waits for them and is not ready.
    ///
    /// # Errors
    /// Where a port cannot be bound, or a certificate that was given as PEM cannot be used.
    pub async fn start(settings: Settings) -> Result<Self, Error> {
        Self::start_with(settings, admit).await
    }

    /// The same with another judge than [`admit`]: for tests of what surrounds it.
    ///
    /// # Errors
    /// The same.
    pub async fn start_with(
        settings: Settings,
        judge: impl Fn(&Request, &Facts) -> Decision + Send + Sync + 'static,
    ) -> Result<Self, Error> {
        Self::launch(settings, Box::new(judge), routes::router).await
    }

    /// The same with other routes on the admission port, behind the same listener, TLS and timers: for benches of what is left of
    /// a review's cost where nothing is judged.
    ///
    /// # Errors
    /// The same.
    #[doc(hidden)]
    pub async fn start_routes(settings: Settings, routes: Router) -> Result<Self, Error> {
        Self::launch(settings, Box::new(admit), |_| routes).await
    }

    async fn launch(
        settings: Settings,
        judge: Box<Judge>,
        routes: impl FnOnce(Arc<Shared>) -> Router,
    ) -> Result<Self, Error> {
        if let Certificate::Pem { chain, key } = &settings.certificate {
            tls::identity(chain, key, None)?;
        }
        let admission = listen::bind(settings.admission)?;
        let health = HealthPort::bind(settings.health)?;
        let shared = Arc::new(Shared::new(&settings, judge));
        let mut watch = Watch::new(&settings);
        watch.look(&shared).await;
        let mut server = Self {
            shared,
            admission: admission.1,
            health: health.address(),
            admitting: JoinSet::new(),
            beside: JoinSet::new(),
        };
        server.watch(watch, settings.poll_interval);
        let vitals = Arc::clone(&server.shared) as Arc<dyn Health>;
        server.beside.spawn(health.serve(vitals, settings.limits));
        server.admit(admission.0, routes(Arc::clone(&server.shared)), &settings);
        let connections = settings.limits.connections;
        tracing::info!(admission = %server.admission, health = %server.health, connections, "listening");
        Ok(server)
    }

    /// Where reviews are taken.
    pub fn admission_address(&self) -> SocketAddr {
        self.admission
    }

    /// Where the probes and the metrics are.
    pub fn health_address(&self) -> SocketAddr {
        self.health
    }

    /// Serves until `shutdown` is ready, then leaves as [`stop`](Self::stop) does.
    ///
    /// # Errors
    /// Where a part ends before, by a panic: nobody would be answered any more, or nothing would be told, and nobody would see it.
    pub async fn run(mut self, shutdown: impl Future<Output = ()>) -> Result<(), Error> {
        let ended = tokio::select! {
            () = shutdown => Ok(()),
            Some(_) = self.admitting.join_next() => Err(Error::Ended),
            Some(_) = self.beside.join_next() => Err(Error::Ended),
        };
        self.stop().await;
        ended
    }

    /// Leaves without losing a request: not ready from now on, every answer ends its connection, and idle connections are
    /// left to their callers. Over when no connection is left and the lame-duck time has passed, at the latest at the limit.
    pub async fn stop(mut self) {
        tracing::info!("leaving");
        self.shared.drain.begin();
        while self.admitting.join_next().await.is_some() {}
        tracing::info!("left");
    }

    fn watch(&mut self, mut watch: Watch, interval: Duration) {
        let shared = Arc::clone(&self.shared);
        self.beside.spawn(async move {
            loop {
                sleep(interval).await;
                watch.look(&shared).await;
            }
        });
    }

    fn admit(&mut self, listener: TcpListener, router: Router, settings: &Settings) {
        let service = Service {
            router,
            limits: settings.limits,
            drain: self.shared.drain.clone(),
            times: settings.drain,
        };
        let room = Room::Wait(settings.limits.connections);
        let (drain, times) = (self.shared.drain.clone(), settings.drain);
        let shared = Arc::clone(&self.shared);
        self.admitting.spawn(async move {
            let serve = |stream| shake_hands(Arc::clone(&shared), service.clone(), stream);
            listen::accept(listener, room, drain, times, serve).await;
        });
    }
}

/// Serves one connection of the admission port.
async fn shake_hands(shared: Arc<Shared>, service: Service, stream: TcpStream) {
    let _connection = shared.metrics.connection();
    // Without a certificate a quick end is kinder than a wait that ends in the caller's timeout.
    let Some(identity) = shared.identity.load_full() else {
        return;
    };
    let acceptor = TlsAcceptor::from(Arc::clone(&identity.config));
    // In boxes, so that what is needed only now takes no room in the task of an idle connection.
    let handshake = Box::pin(async move { acceptor.accept(stream).await.map(Box::new) });
    let handshake = timeout(shared.limits.handshake, handshake).await;
    shared.metrics.shook_hands(match &handshake {
        Ok(Ok(_)) => "ok",
        Ok(Err(_)) => "error",
        Err(_) => "timeout",
    });
    match handshake {
        Ok(Ok(stream)) => Box::pin(service.serve(stream)).await,
        Ok(Err(error)) => tracing::debug!(%error, "no handshake"),
        Err(_) => tracing::debug!("no handshake in time"),
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use rcgen::{CertificateParams, KeyPair};

    use super::super::{DrainTimes, Listen};
    use super::*;

    async fn server() -> Server {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new([String::from("localhost")]).unwrap();
        let chain = params.self_signed(&key).unwrap().pem().into_bytes();
        let key = key.serialize_pem().into_bytes();
        let settings = Settings {
            admission: Listen::on([127, 0, 0, 1], 0),
            health: Listen::on([127, 0, 0, 1], 0),
            drain: DrainTimes {
                lame_duck: Duration::ZERO,
                ..DrainTimes::default()
            },
            ..Settings::new(Certificate::Pem { chain, key })
        };
        Server::start(settings).await.unwrap()
    }

    #[tokio::test]
    async fn a_server_with_a_part_that_panics_ends_with_an_error() {
        let parts: [fn(&mut Server) -> &mut JoinSet<()>; 2] =
            [|server| &mut server.admitting, |server| &mut server.beside];
        for part in parts {
            let mut server = server().await;
            part(&mut server).spawn(async { panic!("as meant") });
            let ended = server.run(pending()).await;
            assert!(matches!(ended, Err(Error::Ended)), "{ended:?}");
        }
    }

    #[tokio::test]
    async fn a_server_that_is_told_to_end_ends_well() {
        assert!(server().await.run(async {}).await.is_ok());
    }
}
