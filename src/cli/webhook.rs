//! `warmgate webhook`.

use std::io;
use std::time::Duration;

use super::args::{LogFormat, WebhookArgs};
use super::{CliError, Exit};
use crate::webhook::{self, Certificate, DrainTimes, Flush, Format, Listen, Settings};
use crate::words::Seconds;

pub(super) fn run(args: WebhookArgs) -> Result<Exit, CliError> {
    if args.lame_duck > args.drain_limit {
        let why =
            "--lame-duck is longer than --drain-limit: the shortest drain is at most the longest";
        return Err(CliError::Usage(why.to_owned()));
    }
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
        drain: DrainTimes {
            lame_duck: time(args.lame_duck),
            limit: time(args.drain_limit),
        },
        ..Settings::new(Certificate::Files {
            chain: args.tls_cert,
            key: args.tls_key,
        })
    }
}

fn time(seconds: Seconds) -> Duration {
    Duration::from_secs(seconds.0.unsigned_abs())
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::super::args::{Cli, Verb};
    use super::*;

    fn drain(more: &[&str]) -> DrainTimes {
        let files = ["warmgate", "webhook", "--tls-cert", "c", "--tls-key", "k"];
        let cli = Cli::try_parse_from([&files, more].concat()).unwrap();
        match cli.verb {
            Verb::Webhook(args) => settings(args).drain,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn it_drains_as_long_as_it_is_told() {
        let told = drain(&["--lame-duck", "2s", "--drain-limit", "1m"]);
        assert_eq!(told.lame_duck, Duration::from_secs(2));
        assert_eq!(told.limit, Duration::from_secs(60));
        let (usual, default) = (drain(&[]), DrainTimes::default());
        assert_eq!(usual.lame_duck, default.lame_duck);
        assert_eq!(usual.limit, default.limit);
    }
}
