//! A mutating webhook as a mesh has one: it puts a proxy in front of the containers of a pod, and has the kubelet ask the proxy
//! instead of them. Called again it does what is left to do. A pod may also tell it what to answer.

use std::io;
use std::path::Path;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use rustls::ServerConfig;
use rustls::crypto::ring::default_provider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;

use crate::server::Server;

/// The proxy's name, and the port at which it answers for the others.
const PROXY: &str = "istio-proxy";
const PORT: u16 = 15020;

/// Where a pod says that the proxy is in it.
const STATUS: &str = "sidecar.istio.io/status";

/// Where a pod brings a patch of its own, in whatever state: it gets that one, and no proxy.
const TOLD: &str = "inject.warmgate.test/patch";

/// The probes, and the last word of the path under which the proxy answers for each.
const PROBES: [(&str, &str); 3] = [
    ("livenessProbe", "livez"),
    ("readinessProbe", "readyz"),
    ("startupProbe", "startupz"),
];

/// Reads the certificate `tls.crt` and the key `tls.key` in `folder`.
///
/// # Errors
///
/// They cannot be read, or are none.
pub(crate) fn acceptor(folder: &Path) -> io::Result<TlsAcceptor> {
    let chain = CertificateDer::pem_file_iter(folder.join("tls.crt"))
        .and_then(Iterator::collect)
        .map_err(io::Error::other)?;
    let key = PrivateKeyDer::from_pem_file(folder.join("tls.key")).map_err(io::Error::other)?;
    let config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .and_then(|config| config.with_no_client_auth().with_single_cert(chain, key))
        .map_err(io::Error::other)?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}

/// Answers the reviews that come over `stream`.
///
/// # Errors
///
/// The connection broke, or what came is no review.
pub(crate) async fn serve(
    server: &Server,
    acceptor: &TlsAcceptor,
    stream: TcpStream,
) -> io::Result<()> {
    let stream = acceptor.accept(stream).await?;
    let service = service_fn(|request: Request<Incoming>| async move {
        let body = request
            .into_body()
            .collect()
            .await
            .map_err(io::Error::other)?;
        let review: Value = serde_json::from_slice(&body.to_bytes())?;
        let patch = text(&review["request"]["object"]);
        server.log.write(
            "review",
            json!({"uid": review["request"]["uid"], "patch": patch}),
        );
        let answer = Bytes::from(answer(&review, patch).to_string());
        Ok::<_, io::Error>(Response::new(Full::new(answer)))
    });
    hyper::server::conn::http1::Builder::new()
        .serve_connection(TokioIo::new(stream), service)
        .await
        .map_err(io::Error::other)
}

/// The patch of `pod` as it is sent, if there is one.
fn text(pod: &Value) -> Option<String> {
    if let Some(told) = pod["metadata"]["annotations"][TOLD].as_str() {
        return Some(told.to_owned());
    }
    let patch = patch(pod);
    (!patch.is_empty()).then(|| json!(patch).to_string())
}

fn answer(review: &Value, patch: Option<String>) -> Value {
    let mut response = json!({"uid": review["request"]["uid"], "allowed": true});
    if let Some(patch) = patch {
        response["patchType"] = json!("JSONPatch");
        response["patch"] = json!(STANDARD.encode(patch));
    }
    json!({"apiVersion": review["apiVersion"], "kind": review["kind"], "response": response})
}

/// What is missing in `pod`.
fn patch(pod: &Value) -> Vec<Value> {
    let add = |path: &str, value: Value| json!({"op": "add", "path": path, "value": value});
    let containers = pod["spec"]["containers"].as_array();
    let containers = containers.map_or(&[][..], Vec::as_slice);
    let mut patch = Vec::new();
    for (at, container) in containers.iter().enumerate() {
        let name = container["name"].as_str().unwrap_or_default();
        for (probe, word) in PROBES {
            let asked = &container[probe]["httpGet"]["path"];
            if asked
                .as_str()
                .is_some_and(|path| !path.starts_with("/app-health/"))
            {
                let path = format!("/app-health/{name}/{word}");
                patch.push(add(
                    &format!("/spec/containers/{at}/{probe}/httpGet"),
                    json!({"path": path, "port": PORT, "scheme": "HTTP"}),
                ));
            }
        }
    }
    if !containers
        .iter()
        .any(|container| container["name"] == PROXY)
    {
        if pod["metadata"]["annotations"].is_null() {
            patch.push(add("/metadata/annotations", json!({})));
        }
        let status = format!("/metadata/annotations/{}", STATUS.replace('/', "~1"));
        patch.push(add(
            &status,
            json!(json!({"containers": [PROXY]}).to_string()),
        ));
        patch.push(add(
            "/spec/containers/0",
            json!({
                "name": PROXY,
                "image": "slowserver:local",
                "args": ["--http", PORT.to_string()],
                "readinessProbe": {"httpGet": {"path": "/app-health/ready", "port": PORT}},
            }),
        ));
    }
    patch
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pod_gets_the_proxy_once_and_every_probe_goes_through_it() {
        let mut pod = json!({"metadata": {}, "spec": {"containers": [{
            "name": "a",
            "livenessProbe": {"httpGet": {"path": "/", "port": 80}, "timeoutSeconds": 7},
            "readinessProbe": {"tcpSocket": {"port": 80}},
        }]}});
        apply(&mut pod);
        let containers = &pod["spec"]["containers"];
        assert_eq!(containers[0]["name"], PROXY);
        assert_eq!(
            containers[1]["livenessProbe"],
            json!({
                "httpGet": {"path": "/app-health/a/livez", "port": PORT, "scheme": "HTTP"},
                "timeoutSeconds": 7,
            })
        );
        assert_eq!(
            containers[1]["readinessProbe"],
            json!({"tcpSocket": {"port": 80}})
        );
        assert!(pod["metadata"]["annotations"][STATUS].is_string());
        assert_eq!(patch(&pod), Vec::<Value>::new());

        pod["spec"]["containers"][1]["startupProbe"] =
            json!({"httpGet": {"path": "/", "port": 80}});
        apply(&mut pod);
        let startup = &pod["spec"]["containers"][1]["startupProbe"];
        assert_eq!(startup["httpGet"]["path"], "/app-health/a/startupz");
        assert_eq!(pod["spec"]["containers"].as_array().map(Vec::len), Some(2));
    }

    #[test]
    fn a_pod_that_brings_a_patch_gets_that_one() {
        let pod = json!({"metadata": {"annotations": {TOLD: "no patch"}}, "spec": {"containers": [{"name": "a"}]}});
        let review = json!({"request": {"uid": "u", "object": pod}});
        let answer = answer(&review, text(&review["request"]["object"]));
        let patch = answer["response"]["patch"].as_str().unwrap();
        assert_eq!(STANDARD.decode(patch).unwrap(), b"no patch");
    }

    fn apply(pod: &mut Value) {
        let patch: json_patch::Patch = serde_json::from_value(json!(patch(pod))).unwrap();
        json_patch::patch(pod, &patch).unwrap();
    }
}
