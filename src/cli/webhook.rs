//! `warmgate webhook`.

use std::io;

use super::args::{LogFormat, WebhookArgs};
use super::{CliError, Exit};
use crate::webhook::{self, Certificate, Flush, Format, Listen, Settings};

pub(super) fn run(args: WebhookArgs) -> Result<Exit, CliError> {
    let _flush = init_log(args.log_format, &args.log)?;
    runtime()?.block_on(async {
        let shutdown = webhook::termination()?;
        webhook::serve(settings(args), shutdown).await
    })?;
    Ok(Exit::Clean)
}

/// Logs to standard output from now on.
pub(super) fn init_log(format: LogFormat, filter: &str) -> Result<Flush, CliError> {
    let format = match format {
        LogFormat::Json => Format::Json,
        LogFormat::Text => Format::Text,
    };
    Ok(webhook::init_log(format, filter, io::stdout())?)
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
