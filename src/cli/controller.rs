//! `warmgate controller`.

use std::net::IpAddr;
use std::time::Duration;

use clap::{Args, ValueEnum};

use super::args::LogFormat;
use super::webhook::{init_log, runtime};
use super::{CliError, Exit};
use crate::controller::{self, CertificateSource, Lifetimes, Settings};
use crate::webhook::{self, Listen};

const DAY: u64 = 24 * 60 * 60;

/// Keeps certificates, webhook configurations and facts right in a cluster.
///
/// Replicas elect one leader by a Lease. It makes and renews the certificate that the webhook shows, writes whom to trust into
/// both webhook configurations and restores it where it is wiped, and writes the defaults of namespaces into the ConfigMap
/// that the webhook reads. The API server is that of the service account, or of a kubeconfig. /livez, /readyz and /metrics
/// are answered over plain HTTP. SIGTERM lets another replica lead at once.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  warmgate controller --namespace warmgate --identity \"$POD_NAME\"

Exit codes:
  0  told to end, and left
  2  usage, or it could not start, or a part of it failed")]
pub(super) struct ControllerArgs {
    /// The namespace of all that is named here but the webhook configurations; it owns those
    #[arg(long, value_name = "NAMESPACE")]
    namespace: String,
    /// Who this replica is: the name of its pod
    #[arg(long, value_name = "NAME")]
    identity: String,
    /// Where the certificate comes from
    #[arg(long, value_enum, default_value_t = CertificatesArg::SelfSigned)]
    certificates: CertificatesArg,
    /// The Service that the webhook configurations call
    #[arg(long, value_name = "NAME", default_value_t = usual().service)]
    service: String,
    /// The Secret with the authority
    #[arg(long, value_name = "NAME", default_value_t = usual().authority_secret)]
    ca_secret: String,
    /// The Secret with the certificate that the webhook shows
    #[arg(long, value_name = "NAME", default_value_t = usual().certificate_secret)]
    tls_secret: String,
    /// The ConfigMap with the facts, under facts.json
    #[arg(long, value_name = "NAME", default_value_t = usual().facts_config_map)]
    facts_configmap: String,
    /// The Lease by which the leader is elected
    #[arg(long, value_name = "NAME", default_value_t = usual().lease)]
    lease: String,
    /// The MutatingWebhookConfiguration
    #[arg(long, value_name = "NAME", default_value_t = usual().mutating_configuration)]
    mutating_configuration: String,
    /// The ValidatingWebhookConfiguration
    #[arg(long, value_name = "NAME", default_value_t = usual().validating_configuration)]
    validating_configuration: String,
    /// The label selector of the webhook's pods
    #[arg(long, value_name = "SELECTOR", default_value_t = usual().webhook_pods)]
    webhook_pods: String,
    /// How long an authority lives, in days; it is replaced after two thirds
    #[arg(long, value_name = "DAYS", default_value_t = days(usual().lifetimes.authority), value_parser = clap::value_parser!(u32).range(1..=36500))]
    ca_days: u32,
    /// How long the certificate lives, in days; it is replaced after two thirds
    #[arg(long, value_name = "DAYS", default_value_t = days(usual().lifetimes.leaf), value_parser = clap::value_parser!(u32).range(1..=3650))]
    tls_days: u32,
    /// The address of the port; without it every address, IPv6 and IPv4
    #[arg(long, value_name = "IP")]
    address: Option<IpAddr>,
    /// The port of the probes and the metrics
    #[arg(long, value_name = "PORT", default_value_t = usual().health.port)]
    health_port: u16,
    /// How lines of the log look
    #[arg(long, value_enum, default_value_t = LogFormat::Json)]
    log_format: LogFormat,
    /// What is logged: error, warn, info, debug, or directives as of RUST_LOG
    #[arg(long, value_name = "FILTER", default_value = "info")]
    log: String,
}

/// Where a certificate comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum CertificatesArg {
    /// The controller has an authority of its own
    SelfSigned,
    /// cert-manager issues it, and writes whom to trust
    CertManager,
    /// Somebody fills the Secret; its ca.crt, if there is one, says whom to trust
    Byo,
}

impl From<CertificatesArg> for CertificateSource {
    fn from(source: CertificatesArg) -> Self {
        match source {
            CertificatesArg::Byo => Self::Provided,
            CertificatesArg::CertManager => Self::CertManager,
            CertificatesArg::SelfSigned => Self::SelfSigned,
        }
    }
}

pub(super) fn run(args: ControllerArgs) -> Result<Exit, CliError> {
    let _flush = init_log(args.log_format, &args.log)?;
    runtime()?.block_on(async {
        let shutdown = webhook::termination().map_err(controller::Error::from)?;
        controller::run(settings(args), shutdown).await
    })?;
    Ok(Exit::Clean)
}

/// What holds where nothing is said.
fn usual() -> Settings {
    Settings::new("", "")
}

/// Whole days of a duration.
fn days(duration: Duration) -> u32 {
    u32::try_from(duration.as_secs() / DAY).unwrap_or(u32::MAX)
}

fn settings(args: ControllerArgs) -> Settings {
    let days = |days: u32| Duration::from_secs(u64::from(days) * DAY);
    Settings {
        lease: args.lease,
        service: args.service,
        certificates: args.certificates.into(),
        authority_secret: args.ca_secret,
        certificate_secret: args.tls_secret,
        facts_config_map: args.facts_configmap,
        mutating_configuration: args.mutating_configuration,
        validating_configuration: args.validating_configuration,
        webhook_pods: args.webhook_pods,
        health: Listen {
            address: args.address,
            port: args.health_port,
        },
        lifetimes: Lifetimes {
            authority: days(args.ca_days),
            leaf: days(args.tls_days),
        },
        ..Settings::new(args.namespace, args.identity)
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        args: ControllerArgs,
    }

    #[test]
    fn what_is_not_said_is_as_usual() {
        let line = Line::parse_from(["warmgate", "--namespace", "serving", "--identity", "one"]);
        let expected = Settings::new("serving", "one");
        assert_eq!(
            format!("{:?}", settings(line.args)),
            format!("{expected:?}")
        );
    }
}
