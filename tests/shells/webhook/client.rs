//! A client that is as careful or as careless as a test wants.

use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rustls::crypto::ring::default_provider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, RootCertStore, SupportedProtocolVersion, version};
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::body;
use super::certificates::{Authority, NAME, Pair};

/// How long a test waits for what must come.
const PATIENCE: Duration = Duration::from_secs(20);

/// An answer to a request.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    head: String,
    pub(super) body: Vec<u8>,
}

impl Answer {
    /// The value of a header.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().skip(1).find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }

    pub(super) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The `response` of a review.
    pub(super) fn response(&self) -> Value {
        let review: Value = serde_json::from_slice(&self.body).expect("the answer is JSON");
        assert_eq!(review["apiVersion"], "admission.k8s.io/v1");
        assert_eq!(review["kind"], "AdmissionReview");
        review["response"].clone()
    }

    pub(super) fn closes(&self) -> bool {
        self.header("connection") == Some("close")
    }
}

/// What a client shows and takes.
pub(super) struct Tls<'a> {
    authority: &'a Authority,
    pub(super) identity: Option<Pair>,
    pub(super) versions: Vec<&'static SupportedProtocolVersion>,
    pub(super) alpn: &'static [&'static str],
}

impl<'a> Tls<'a> {
    pub(super) fn new(authority: &'a Authority) -> Self {
        Self {
            authority,
            identity: None,
            versions: vec![&version::TLS13, &version::TLS12],
            alpn: &[],
        }
    }

    fn config(&self) -> ClientConfig {
        let mut roots = RootCertStore::empty();
        let ca = CertificateDer::from_pem_slice(self.authority.pem.as_bytes());
        roots
            .add(ca.expect("it is PEM"))
            .expect("it is a certificate");
        let builder = ClientConfig::builder_with_provider(Arc::new(default_provider()))
            .with_protocol_versions(&self.versions)
            .expect("the versions are known")
            .with_root_certificates(roots);
        let mut config = match &self.identity {
            None => builder.with_no_client_auth(),
            Some(pair) => {
                let chain = CertificateDer::pem_slice_iter(pair.chain.as_bytes());
                let key = PrivateKeyDer::from_pem_slice(pair.key.as_bytes());
                builder
                    .with_client_auth_cert(
                        chain.collect::<Result<_, _>>().expect("it is PEM"),
                        key.expect("it is PEM"),
                    )
                    .expect("they belong together")
            }
        };
        config.alpn_protocols = self
            .alpn
            .iter()
            .map(|name| name.as_bytes().to_vec())
            .collect();
        config
    }

    pub(super) async fn connect(&self, address: SocketAddr) -> io::Result<TlsClient> {
        self.service(address).connect().await
    }

    /// What connects so, also where the authority is not at hand.
    pub(super) fn service(&self, address: SocketAddr) -> Service {
        Service {
            tls: TlsConnector::from(Arc::new(self.config())),
            endpoints: Arc::new(Mutex::new(vec![address])),
            turn: Arc::default(),
        }
    }
}

/// What callers connect to: one server, or several as behind a Service, whose connections go to one after the other. Clones share
/// the endpoints.
#[derive(Clone)]
pub(super) struct Service {
    tls: TlsConnector,
    endpoints: Arc<Mutex<Vec<SocketAddr>>>,
    turn: Arc<AtomicUsize>,
}

impl Service {
    /// Sends new connections to these from now on.
    pub(super) fn lead_to(&self, endpoints: impl Into<Vec<SocketAddr>>) {
        *self.endpoints.lock().expect("nobody panicked with it") = endpoints.into();
    }

    /// A connection before its handshake.
    pub(super) async fn dial(&self) -> io::Result<TcpStream> {
        let turn = self.turn.fetch_add(1, Ordering::Relaxed);
        let endpoint = {
            let endpoints = self.endpoints.lock().expect("nobody panicked with it");
            endpoints[turn % endpoints.len()]
        };
        TcpStream::connect(endpoint).await
    }

    pub(super) async fn connect(&self) -> io::Result<TlsClient> {
        let stream = self.dial().await?;
        let name = ServerName::try_from(NAME).expect("it is a name");
        let stream = timeout(PATIENCE, self.tls.connect(name, stream)).await??;
        Ok(Client::new(stream))
    }

    /// Asks as a well-behaved caller does.
    pub(super) async fn assert_answers(&self) {
        let mut client = self.connect().await.expect("it shakes hands");
        let answer = client.post("/validate/fix", body("llm")).await;
        assert_eq!(answer.expect("there is an answer").status, 200);
    }
}

/// A connection over TLS.
pub(super) type TlsClient = Client<TlsStream<TcpStream>>;

/// A connection.
pub(super) struct Client<S> {
    pub(super) stream: S,
    received: Vec<u8>,
}

impl Client<TcpStream> {
    pub(super) async fn plain(address: SocketAddr) -> Self {
        Self::new(TcpStream::connect(address).await.expect("it connects"))
    }
}

impl TlsClient {
    /// The common name that the server showed.
    pub(super) fn common_name(&self) -> String {
        let (_, session) = self.stream.get_ref();
        let chain = session.peer_certificates().expect("there is a certificate");
        let (_, leaf) = x509_parser::parse_x509_certificate(&chain[0]).expect("it is X.509");
        let name = leaf
            .subject()
            .iter_common_name()
            .next()
            .expect("it has a name");
        name.as_str().expect("it is text").to_owned()
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> Client<S> {
    pub(super) fn new(stream: S) -> Self {
        Self {
            stream,
            received: Vec::new(),
        }
    }

    pub(super) async fn send(&mut self, bytes: impl AsRef<[u8]>) {
        // A server that has heard enough may hang up; what it said before is what counts.
        let _ = self.stream.write_all(bytes.as_ref()).await;
        let _ = self.stream.flush().await;
    }

    /// The next answer, or `None` where the connection ends before one.
    pub(super) async fn answer(&mut self) -> Option<Answer> {
        let end = loop {
            if let Some(end) = find(&self.received, b"\r\n\r\n") {
                break end + 4;
            }
            self.more().await?;
        };
        let head: Vec<u8> = self.received.drain(..end).collect();
        let mut answer = Answer {
            status: 0,
            head: String::from_utf8(head).expect("a head is text"),
            body: Vec::new(),
        };
        let status = answer
            .head
            .split(' ')
            .nth(1)
            .and_then(|code| code.parse().ok());
        answer.status = status.expect("there is a status");
        let length = answer
            .header("content-length")
            .and_then(|length| length.parse().ok());
        let length = length.unwrap_or(0);
        while self.received.len() < length {
            self.more().await?;
        }
        answer.body = self.received.drain(..length).collect();
        Some(answer)
    }

    /// The statuses of everything that is answered until the connection ends.
    pub(super) async fn statuses(&mut self) -> Vec<u16> {
        let mut statuses = Vec::new();
        while let Some(answer) = self.answer().await {
            statuses.push(answer.status);
        }
        statuses
    }

    async fn more(&mut self) -> Option<()> {
        let mut space = [0; 4096];
        let read = timeout(PATIENCE, self.stream.read(&mut space))
            .await
            .expect("the server does something");
        match read {
            Ok(length) if length > 0 => {
                self.received.extend_from_slice(&space[..length]);
                Some(())
            }
            _ => None,
        }
    }

    /// Whether the server ends the connection without another word.
    pub(super) async fn ends(&mut self) -> bool {
        self.received.is_empty() && self.more().await.is_none()
    }

    pub(super) async fn post(&mut self, path: &str, body: impl AsRef<[u8]>) -> Option<Answer> {
        let body = body.as_ref();
        let length = body.len();
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: {NAME}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n"
        );
        self.send([head.as_bytes(), body].concat()).await;
        self.answer().await
    }

    pub(super) async fn get(&mut self, path: &str) -> Option<Answer> {
        self.send(format!("GET {path} HTTP/1.1\r\nhost: {NAME}\r\n\r\n"))
            .await;
        self.answer().await
    }
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|window| window == what)
}
