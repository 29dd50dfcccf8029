//! The server that judges nothing: warmgate's own listener, TLS, timers and accept loop, and behind them as little as an answer
//! to a review can be. What it takes, no webhook on them can do without.

use std::path::PathBuf;

use axum::Router;
use axum::body::Bytes;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use warmgate::webhook::{self, Certificate, DrainTimes, Listen, Server, Settings};

/// The argument that makes the bench this server.
pub(crate) const VERB: &str = "nothing";

/// What stands before the uid of a review, which is the first member of the request.
const BEFORE: &[u8] = b"\"uid\":\"";

/// Serves on the given port of loopback, with the certificate in the given folder, until it is told to end.
pub(crate) fn serve(arguments: &[String]) -> Result<(), String> {
    let [port, folder] = arguments else {
        return Err(format!("{VERB} takes a port and a folder"));
    };
    let port = port.parse().map_err(|_| format!("{port} is no port"))?;
    let folder = PathBuf::from(folder);
    let certificate = Certificate::Files {
        chain: folder.join("tls.crt"),
        key: folder.join("tls.key"),
    };
    let settings = Settings {
        admission: Listen::on([127, 0, 0, 1], port),
        health: Listen::on([127, 0, 0, 1], 0),
        drain: DrainTimes {
            lame_duck: super::process::LAME_DUCK,
            ..DrainTimes::default()
        },
        ..Settings::new(certificate)
    };
    // As `warmgate webhook` makes it.
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| error.to_string())?;
    runtime.block_on(async {
        let ended = webhook::termination().map_err(|error| error.to_string())?;
        let routes = Router::new().route("/nothing", post(answer));
        let server = Server::start_routes(settings, routes)
            .await
            .map_err(|error| error.to_string())?;
        ended.await;
        server.stop().await;
        Ok(())
    })
}

async fn answer(body: Bytes) -> Response {
    match uid(&body) {
        Some(uid) => {
            let mut bytes = Vec::with_capacity(192);
            bytes.extend_from_slice(
                br#"{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{"uid":""#,
            );
            bytes.extend_from_slice(uid);
            bytes.extend_from_slice(br#"","allowed":true}}"#);
            ([(header::CONTENT_TYPE, "application/json")], bytes).into_response()
        }
        None => StatusCode::BAD_REQUEST.into_response(),
    }
}

fn uid(body: &[u8]) -> Option<&[u8]> {
    let begin = body
        .windows(BEFORE.len())
        .position(|window| window == BEFORE)?
        + BEFORE.len();
    let length = body[begin..].iter().position(|byte| *byte == b'"')?;
    Some(&body[begin..begin + length])
}
