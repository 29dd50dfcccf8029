//! A connection as the API server makes one: HTTP/1.1 over TLS 1.3, kept alive, without resumption, AES-128 first, and requests
//! written in pieces of 4096 bytes as Go's transport writes them. Verified is the certificate, and of an answer its status and
//! length.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use rustls::client::Resumption;
use rustls::crypto::ring::cipher_suite::TLS13_AES_128_GCM_SHA256;
use rustls::crypto::ring::default_provider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::certificates::NAME;

/// The buffer of a Go transport (`WriteBufferSize` of `http.Transport`).
const PIECE: usize = 4096;

/// Connects.
#[derive(Clone)]
pub(crate) struct Caller(TlsConnector);

impl Caller {
    /// Trusts the authority in `pem`.
    pub(crate) fn new(pem: &str) -> Self {
        let mut roots = RootCertStore::empty();
        let authority = CertificateDer::from_pem_slice(pem.as_bytes()).expect("it is PEM");
        roots.add(authority).expect("it is a certificate");
        let mut provider = default_provider();
        provider.cipher_suites = vec![TLS13_AES_128_GCM_SHA256];
        let mut config = ClientConfig::builder_with_provider(Arc::new(provider))
            .with_safe_default_protocol_versions()
            .expect("there is a suite for them")
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        config.resumption = Resumption::disabled();
        Self(TlsConnector::from(Arc::new(config)))
    }

    pub(crate) async fn connect(&self, address: SocketAddr) -> io::Result<Connection> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let name = ServerName::try_from(NAME).expect("it is a name");
        let stream = self.0.connect(name, stream).await?;
        Ok(Connection {
            stream,
            received: Vec::with_capacity(PIECE),
        })
    }
}

/// The bytes of a request for a path.
pub(crate) fn request(path: &str, body: &[u8]) -> Vec<u8> {
    let head = format!(
        "POST {path}?timeout=2s HTTP/1.1\r\nHost: {NAME}:443\r\nUser-Agent: kube-apiserver-admission\r\n\
         Content-Length: {}\r\nAccept: application/json, */*\r\nContent-Type: application/json\r\n\
         Accept-Encoding: gzip\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), body].concat()
}

/// A connection.
pub(crate) struct Connection {
    stream: TlsStream<TcpStream>,
    received: Vec<u8>,
}

impl Connection {
    /// Sends a request and returns the body of its answer.
    pub(crate) async fn ask(&mut self, request: &[u8]) -> io::Result<&[u8]> {
        for piece in request.chunks(PIECE) {
            self.stream.write_all(piece).await?;
        }
        self.stream.flush().await?;
        self.received.clear();
        let head = loop {
            self.more().await?;
            if let Some(end) = find(&self.received, b"\r\n\r\n") {
                break end + 4;
            }
        };
        let length = length(&self.received[..head])?;
        while self.received.len() < head + length {
            self.more().await?;
        }
        if self.received.len() > head + length {
            return Err(strange("an answer is longer than it says"));
        }
        Ok(&self.received[head..])
    }

    async fn more(&mut self) -> io::Result<()> {
        match self.stream.read_buf(&mut self.received).await? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            _ => Ok(()),
        }
    }
}

/// The length of the body behind this head of an answer, which must be a good one.
fn length(head: &[u8]) -> io::Result<usize> {
    let text = std::str::from_utf8(head).map_err(|_| strange("a head is no text"))?;
    if !text.starts_with("HTTP/1.1 200 ") {
        return Err(strange(text));
    }
    let length = text.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length")
            .then(|| value.trim().parse().ok())?
    });
    length.ok_or_else(|| strange("an answer does not say how long it is"))
}

fn strange(what: &str) -> io::Error {
    io::Error::other(what.to_owned())
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|window| window == what)
}
