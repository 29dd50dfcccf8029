//! An API server's side of the wire: HTTP/1.1 over TLS, a POST for each review on a connection that is kept.

use std::net::SocketAddr;
use std::sync::Arc;

use http_body_util::{BodyExt, Full};
use hyper::Request;
use hyper::body::Bytes;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::header::{ACCEPT, CONTENT_TYPE, HOST};
use hyper_util::rt::TokioIo;
use rustls::crypto::ring::default_provider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use super::{Exchange, MODE, failed};
use crate::admit::Endpoint;
use crate::cli::CliError;

/// The timeoutSeconds of the webhook configuration, as the API server passes it on.
const TIMEOUT: &str = "2s";

/// Why nothing came back.
const UNREACHABLE: &str = "the webhook cannot be reached";

/// A connection to the webhook.
pub(super) struct Client {
    sender: SendRequest<Full<Bytes>>,
    host: String,
}

impl Client {
    /// Connects to a webhook whose certificate is this one, PEM, and no other.
    pub(super) async fn connect(address: SocketAddr, certificate: &str) -> Result<Self, CliError> {
        let stream = TcpStream::connect(address)
            .await
            .map_err(failed(UNREACHABLE))?;
        let name = ServerName::from(address.ip());
        let stream = TlsConnector::from(Arc::new(config(certificate)?))
            .connect(name, stream)
            .await
            .map_err(failed(UNREACHABLE))?;
        let (sender, connection) = handshake(TokioIo::new(stream))
            .await
            .map_err(failed(UNREACHABLE))?;
        // What ends the connection shows in the request that is under way.
        tokio::spawn(connection);
        Ok(Self {
            sender,
            host: address.to_string(),
        })
    }

    /// Sends a review and waits for the answer.
    pub(super) async fn post(
        &mut self,
        endpoint: Endpoint,
        review: Vec<u8>,
    ) -> Result<Exchange, CliError> {
        let target = target(endpoint);
        let request = Request::post(&target)
            .header(HOST, &self.host)
            .header(ACCEPT, "application/json, */*")
            .header(CONTENT_TYPE, "application/json")
            .body(Full::from(review.clone()))
            .map_err(failed("the request cannot be written"))?;
        let unanswered = "the webhook did not answer";
        self.sender.ready().await.map_err(failed(unanswered))?;
        let response = self
            .sender
            .send_request(request)
            .await
            .map_err(failed(unanswered))?;
        let status = response.status().as_u16();
        let body = response
            .into_body()
            .collect()
            .await
            .map_err(failed(unanswered))?;
        Ok(Exchange {
            endpoint,
            target,
            review,
            status,
            answer: body.to_bytes().to_vec(),
        })
    }
}

/// The path and the query that an API server asks.
pub(super) fn target(endpoint: Endpoint) -> String {
    format!("/{}/{}?timeout={TIMEOUT}", endpoint.word(), MODE.word())
}

fn config(certificate: &str) -> Result<ClientConfig, CliError> {
    let unusable = "the certificate cannot be used";
    let mut roots = RootCertStore::empty();
    let root = CertificateDer::from_pem_slice(certificate.as_bytes()).map_err(failed(unusable))?;
    roots.add(root).map_err(failed(unusable))?;
    // Named here, because a process-wide default could be another one.
    let builder = ClientConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(failed(unusable))?;
    let mut config = builder.with_root_certificates(roots).with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}
