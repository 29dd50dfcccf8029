//! What an operator can set, and the limits that keep one caller from hurting the others.

use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

/// Everything that the server is started with.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Where reviews are taken, over TLS.
    pub admission: Listen,
    /// Where `/livez`, `/readyz` and `/metrics` are answered, over plain HTTP.
    pub health: Listen,
    /// The certificate that is shown, and its key.
    pub certificate: Certificate,
    /// PEM certificates of the authorities that a caller's certificate must come from. `None` takes callers without one.
    pub client_ca: Option<PathBuf>,
    /// The facts file ([`Cluster`](crate::facts::Cluster)), YAML or JSON. It may be missing.
    pub facts: Option<PathBuf>,
    /// The config file ([`Config`](crate::facts::Config)), YAML or JSON. It may be missing.
    pub config: Option<PathBuf>,
    /// How often the files are read again. The kubelet swaps mounted files without a word, and a watch on them breaks in more
    /// ways than a look every few seconds.
    pub poll_interval: Duration,
    /// What one caller, and all of them together, may take.
    pub limits: Limits,
    /// How the server leaves.
    pub drain: DrainTimes,
}

impl Settings {
    /// The defaults with a certificate.
    pub fn new(certificate: Certificate) -> Self {
        Self {
            admission: Listen::everywhere(8443),
            health: Listen::everywhere(8080),
            certificate,
            client_ca: None,
            facts: None,
            config: None,
            poll_interval: Duration::from_secs(5),
            limits: Limits::default(),
            drain: DrainTimes::default(),
        }
    }
}

/// An address to listen on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Listen {
    /// `None` takes every address: `[::]`, which takes IPv4 too, and `0.0.0.0` where there is no IPv6.
    pub address: Option<IpAddr>,
    /// The TCP port; with 0 the system chooses a free one.
    pub port: u16,
}

impl Listen {
    /// A port on every address.
    pub fn everywhere(port: u16) -> Self {
        Self {
            address: None,
            port,
        }
    }

    /// A port on one address.
    pub fn on(address: impl Into<IpAddr>, port: u16) -> Self {
        Self {
            address: Some(address.into()),
            port,
        }
    }
}

/// A certificate chain, the server's own certificate first, and its private key; both PEM, the key EC or RSA.
#[derive(Clone)]
pub enum Certificate {
    /// Files, read again whenever they change. While they are missing or bad at the start the server is not ready.
    Files {
        /// The chain.
        chain: PathBuf,
        /// The key.
        key: PathBuf,
    },
    /// What was made or read already.
    Pem {
        /// The chain.
        chain: Vec<u8>,
        /// The key.
        key: Vec<u8>,
    },
}

impl std::fmt::Debug for Certificate {
    /// Without the key.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Files { chain, key } => f
                .debug_struct("Files")
                .field("chain", chain)
                .field("key", key)
                .finish(),
            Self::Pem { .. } => f.debug_struct("Pem").finish_non_exhaustive(),
        }
    }
}

/// What one caller, and all of them together, may take.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes of one body. The API server takes at most 3 MiB of one request (`MaxRequestBodyBytes` of its `pkg/server/config.go`),
    /// and a review of an update holds the object twice; 1 MiB is left for the envelope and for what escaping adds.
    pub body: usize,
    /// Bytes of all bodies that are being received or judged, so that many large ones cannot exhaust the memory together.
    pub bodies: usize,
    /// Bytes up to which a body is judged among the connections. A longer one would keep them waiting for its milliseconds, so it is
    /// judged beside them, where those that wait are seen.
    pub small_body: usize,
    /// Bodies above [`small_body`](Self::small_body) that are judged at the same time.
    pub judgements: usize,
    /// Bytes from which on bodies wait for each other and not for the shorter ones, nor these for them.
    pub large_body: usize,
    /// Large bodies that are judged at the same time. What a body with the admitted 200,000 values becomes may take 100 MiB,
    /// and the chart gives 512 for everything.
    pub large_judgements: usize,
    /// Requests between their head and their answer.
    pub requests: usize,
    /// Connections of each port; further ones wait to be accepted.
    pub connections: usize,
    /// Header lines of one request.
    pub headers: usize,
    /// Bytes of the head of one request, and of what is read ahead.
    pub head: usize,
    /// The longest TLS handshake. Go's client gives up after 10 s.
    pub handshake: Duration,
    /// The longest that a new connection may be silent. It is as long as [`idle`](Self::idle) where TLS is spoken: Go's
    /// transport dials ahead and keeps a connection that it did not need in its pool, so a silent one may be asked any moment.
    pub first_byte: Duration,
    /// The longest from the first to the last byte of a request's head.
    pub header: Duration,
    /// The longest that a connection may be idle between requests. It is longer than the 90 s of Go's client, because a
    /// request that meets a close on the wire is lost: a POST is not sent again.
    pub idle: Duration,
    /// The longest that a caller may leave an answer unread.
    pub write: Duration,
    /// The longest from the head of a request to the last byte of its body, and the deadline of one that names none. The API
    /// server names its own, the timeoutSeconds of the configuration.
    pub timeout: Duration,
    /// The age, give or take a fifth, from which on an answer asks the caller to connect anew: without it, new replicas
    /// would get nothing from a caller that keeps its connections.
    pub connection_age: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body: 7 << 20,
            bodies: 128 << 20,
            small_body: 32 << 10,
            judgements: 4,
            large_body: 256 << 10,
            large_judgements: 2,
            requests: 8192,
            connections: 16_384,
            headers: 64,
            head: 64 << 10,
            handshake: Duration::from_secs(5),
            first_byte: Duration::from_secs(120),
            header: Duration::from_secs(5),
            idle: Duration::from_secs(120),
            write: Duration::from_secs(10),
            timeout: Duration::from_secs(10),
            connection_age: Duration::from_secs(300),
        }
    }
}

/// How the server leaves: it stays reachable until nobody can still be sent to it.
#[derive(Clone, Copy, Debug)]
pub struct DrainTimes {
    /// The shortest time between the signal and the exit. Proxies learn within it that this replica is gone; GKE's may take
    /// 10 s.
    pub lame_duck: Duration,
    /// The longest. It must be longer than the 90 s after which Go's client drops an idle connection, and shorter than the
    /// pod's terminationGracePeriodSeconds (120).
    pub limit: Duration,
}

impl Default for DrainTimes {
    fn default() -> Self {
        Self {
            lame_duck: Duration::from_secs(15),
            limit: Duration::from_secs(115),
        }
    }
}
