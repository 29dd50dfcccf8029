//! `grpc.health.v1.Health/Check` over HTTP/2 without TLS, as the kubelet asks it.

use std::future::poll_fn;
use std::sync::Arc;
use std::time::Instant;

use h2::RecvStream;
use h2::server::SendResponse;
use hyper::body::Bytes;
use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use hyper::{Request, Response};
use serde_json::json;
use tokio::net::TcpStream;

use crate::http::micros;
use crate::server::Server;

/// `HealthCheckResponse.status`.
const SERVING: u8 = 1;
const NOT_SERVING: u8 = 2;

/// Before every message stands one byte for compression and four for the length.
const PREFIX: usize = 5;

/// Answers every call on `stream`.
///
/// # Errors
///
/// The connection broke.
pub(crate) async fn serve(server: &Arc<Server>, stream: TcpStream) -> Result<(), h2::Error> {
    let mut connection = h2::server::handshake(stream).await?;
    while let Some(call) = connection.accept().await {
        let (request, answer) = call?;
        let server = Arc::clone(server);
        // The connection must be polled while a call waits for its answer.
        tokio::spawn(async move {
            if let Err(error) = check(&server, request, answer).await {
                server
                    .log
                    .write("error", json!({"error": error.to_string()}));
            }
        });
    }
    Ok(())
}

async fn check(
    server: &Server,
    request: Request<RecvStream>,
    mut answer: SendResponse<Bytes>,
) -> Result<(), h2::Error> {
    let start = Instant::now();
    let (head, body) = request.into_parts();
    let agent = head
        .headers
        .get("user-agent")
        .and_then(|agent| agent.to_str().ok());
    let service = service(&read(body).await?);
    let request = json!({
        "protocol": "grpc", "path": head.uri.path(), "service": service, "agent": agent,
    });
    server.log.write("request", request);
    let reply = server.reply();
    tokio::select! {
        () = server.until(reply.done) => {}
        _ = poll_fn(|context| answer.poll_reset(context)) => {
            let abandoned = json!({"service": service, "took_us": micros(start)});
            server.log.write("abandoned", abandoned);
            return Ok(());
        }
    }
    let status = if reply.well { SERVING } else { NOT_SERVING };
    let mut response = Response::new(());
    let kind = HeaderValue::from_static("application/grpc");
    response.headers_mut().insert("content-type", kind);
    let mut stream = answer.send_response(response, false)?;
    stream.send_data(message(status), false)?;
    stream.send_trailers(HeaderMap::from_iter([(
        HeaderName::from_static("grpc-status"),
        HeaderValue::from_static("0"),
    )]))?;
    let status = json!({"service": service, "status": status, "took_us": micros(start)});
    server.log.write("answer", status);
    Ok(())
}

/// A `HealthCheckResponse`: field 1, a varint.
fn message(status: u8) -> Bytes {
    Bytes::from(vec![0, 0, 0, 0, 2, 0x08, status])
}

/// The service that a `HealthCheckRequest` names: field 1, a string.
fn service(body: &[u8]) -> String {
    let name = match body.get(PREFIX..) {
        Some([0x0a, length, name @ ..]) => name.get(..usize::from(*length)).unwrap_or(name),
        _ => &[],
    };
    String::from_utf8_lossy(name).into_owned()
}

async fn read(mut body: RecvStream) -> Result<Vec<u8>, h2::Error> {
    let mut bytes = Vec::new();
    while let Some(part) = body.data().await {
        let part = part?;
        body.flow_control().release_capacity(part.len())?;
        bytes.extend_from_slice(&part);
    }
    Ok(bytes)
}
