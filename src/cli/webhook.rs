//! `warmgate webhook`.

use std::io;

use super::args::{LogFormat, WebhookArgs};
use super::{CliError, Exit};
use crate::webhook::{self, Certificate, Format, Listen, Settings};

pub(super) fn run(args: WebhookArgs) -> Result<Exit, CliError> {
    let format = match args.log_format {
        LogFormat::Json => Format::Json,
        LogFormat::Text => Format::Text,
    };
    let _flush = webhook::init_log(format, &args.log, io::stdout())?;
    runtime()?.block_on(async {
        let shutdown = webhook::termination()?;
        webhook::serve(settings(args), shutdown).await
    })?;
    Ok(Exit::Clean)
}

/// What waits for sockets, timers and signals.
pub(super) fn runtime() -> Result<tokio::runtime::Runtime, CliError> {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(CliError::Runtime)
}

fn settings(args: WebhookArgs) -> Settings {
    let listen = |port| Listen {
        address: args.address,
        port,
    };
    Settings {
        admission: listen(args.port),
        health: listen(args.health_port),
        client_ca: args.client_ca,
        facts: args.beside.facts,
        config: args.beside.config,
        ..Settings::new(Certificate::Files {
            chain: args.tls_cert,
            key: args.tls_key,
        })
    }
}
