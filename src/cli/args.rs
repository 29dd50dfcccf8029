//! What can be asked for: every verb with its arguments. The help is written here, and `docs/cli.md` is made from it.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use super::completions::CompletionsArgs;
#[cfg(feature = "controller")]
use super::controller::ControllerArgs;
use super::deliver::Destination;
use super::undo::UndoArgs;
use crate::facts::{Mode, Version};
use crate::words::{Seconds, Severity};

/// Keeps model servers on Kubernetes from being killed while they load.
///
/// A model server needs minutes to load its weights; the kubelet's defaults give it 20 to 30 seconds and then start it again
/// from nothing. warmgate reads manifests, says with seconds which probes would kill what, and mends what the owner left open.
#[derive(Debug, Parser)]
#[command(version, propagate_version = true, max_term_width = 100, after_help = EXAMPLES)]
pub struct Cli {
    #[command(subcommand)]
    pub(super) verb: Verb,
}

const EXAMPLES: &str = "\
Examples:
  warmgate check deploy/                        judge every manifest in a folder
  helm template ./chart | warmgate check -      judge what a chart renders
  warmgate fix --diff deploy/                   show what would be changed
  warmgate explain deploy/llama.yaml            show why, second by second

Exit codes:
  0  done, nothing that fails was found
  1  something that fails was found (check)
  2  usage, or something could not be read or written; the rest is done all the same";

#[derive(Debug, Subcommand)]
pub(super) enum Verb {
    Check(CheckArgs),
    Fix(FixArgs),
    Undo(UndoArgs),
    Explain(ExplainArgs),
    Rules(RulesArgs),
    Admit(AdmitArgs),
    Completions(CompletionsArgs),
    #[cfg(feature = "webhook")]
    Webhook(WebhookArgs),
    #[cfg(feature = "controller")]
    Controller(ControllerArgs),
    #[cfg(feature = "webhook")]
    Demo(DemoArgs),
}

/// What is read.
#[derive(Args, Debug)]
pub(super) struct Paths {
    /// Files and folders; - is standard input, which is also read where nothing is named and something is piped in. Of
    /// folders every .yaml, .yml and .json file is read; hidden ones are left out, links to folders are not followed
    #[arg(value_name = "PATH")]
    pub(super) paths: Vec<PathBuf>,
}

/// What is known besides the objects.
#[derive(Args, Debug)]
pub(super) struct Beside {
    /// Facts about the cluster, YAML or JSON: annotations of namespaces, measured starts, device claims
    #[arg(long, value_name = "FILE")]
    pub(super) facts: Option<PathBuf>,
    /// The configuration of warmgate, YAML or JSON: limits, defaults, edits, overrides, more servers (docs/configuration.md)
    #[arg(long, value_name = "FILE")]
    pub(super) config: Option<PathBuf>,
}

/// The same for files, whose cluster may be any.
#[derive(Args, Debug)]
pub(super) struct BesideFiles {
    #[command(flatten)]
    pub(super) beside: Beside,
    /// The version of the cluster; without it that of the facts, else 1.37
    #[arg(long, value_name = "1.MINOR", value_parser = version)]
    pub(super) kubernetes_version: Option<Version>,
}

/// Says what the kubelet would do to the model servers in manifests.
///
/// Every object is judged as it stands; what `fix` would make of it is told beside it. Objects that warmgate has nothing to do
/// with are skipped, and kinds that it does not know are not checked; both are told with the reason. Claims, Services,
/// PodDisruptionBudgets and annotated Namespaces in the same input count.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  warmgate check deploy/ extra.yaml
  kustomize build overlays/prod | warmgate check --fail-on warn
  warmgate check --format json deploy/ | jq '.objects[] | select(.outcome == \"denied\")'

Exit codes:
  0  nothing at or above --fail-on
  1  something at or above it; or, with --require-subject, nothing was judged
  2  usage, or something could not be read; the rest is reported")]
pub(super) struct CheckArgs {
    #[command(flatten)]
    pub(super) paths: Paths,
    /// The mode of the namespaces: enforce says what the strictest would
    #[arg(long, value_enum, default_value_t = ModeArg::Enforce)]
    pub(super) mode: ModeArg,
    /// What makes the exit code 1. A deny on an object that steps down by annotation, or that a controller owns, refuses nothing and
    /// counts as a warning
    #[arg(long, value_enum, value_name = "SEVERITY", default_value_t = FailOn::Deny)]
    pub(super) fail_on: FailOn,
    /// How the report is printed
    #[arg(long, value_enum, default_value_t = Format::Human)]
    pub(super) format: Format,
    #[command(flatten)]
    pub(super) beside: BesideFiles,
    /// Exit with 1 where no object was judged, so that a wrong path does not look like success
    #[arg(long)]
    pub(super) require_subject: bool,
}

/// Writes what is missing into manifests.
///
/// Comments, order, style, indentation, quoting and line ends stay as they are; nothing the owner set is lowered, dropped or moved. Of
/// one file, or of standard input, the mended text is printed. Of folders and several files it is not: say --write or --diff. A
/// file in which something cannot be read, or that cannot be edited in place, is left alone. A second run changes nothing.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  warmgate fix deploy/llama.yaml > mended.yaml
  warmgate fix --diff deploy/
  warmgate fix --write deploy/
  helm template ./chart | warmgate fix | kubectl apply -f -

Exit codes:
  0  done, whether something was changed or not
  2  usage, or a file could not be read, edited or written; the others are done")]
pub(super) struct FixArgs {
    #[command(flatten)]
    pub(super) paths: Paths,
    #[command(flatten)]
    pub(super) to: Destination,
    #[command(flatten)]
    pub(super) beside: BesideFiles,
}

/// Shows what is decided for a file and why, with a simulated timeline.
///
/// Of every object: whether it is ours and why, who serves, every value with its source, the earliest and the latest kill of each
/// probe, what `fix` changes, and what the kubelet does before and after the fix: drawn, as wide as the terminal, and second by second.
/// Nothing is read off a command line about how long a load takes: that is declared by annotation, or given with --load.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  warmgate explain deploy/llama.yaml
  warmgate explain --load 60 examples/slowboot.yaml
  warmgate explain --svg llama.svg deploy/llama.yaml

Exit codes:
  0  done
  2  usage, or something could not be read or written; the rest is explained")]
pub(super) struct ExplainArgs {
    /// The file; - is standard input
    #[arg(value_name = "FILE")]
    pub(super) file: PathBuf,
    /// How long the load takes in the simulation: 900, 15m, 1h30m. Without it what is declared, else 900
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub(super) load: Option<Seconds>,
    /// Draw the pictures of all objects into this file too, as one SVG for light and dark pages; a file that is there is replaced
    #[arg(long, value_name = "FILE")]
    pub(super) svg: Option<PathBuf>,
    #[command(flatten)]
    pub(super) beside: BesideFiles,
}

/// Lists the rules, or prints the page of one.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  warmgate rules
  warmgate rules liveness-kills-startup

Exit codes:
  0  done
  2  usage, or there is no such rule")]
pub(super) struct RulesArgs {
    /// The rule, as findings name it
    #[arg(value_name = "ID")]
    pub(super) id: Option<String>,
}

/// Answers one AdmissionReview from a file, as the webhook would.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  warmgate admit --endpoint mutate --mode fix review.json
  warmgate admit --endpoint validate --mode enforce - < review.yaml

Exit codes:
  0  answered, whatever the answer is
  2  usage, or the review could not be read")]
pub(super) struct AdmitArgs {
    /// The endpoint that is asked
    #[arg(long, value_enum)]
    pub(super) endpoint: EndpointArg,
    /// The mode of the namespace
    #[arg(long, value_enum)]
    pub(super) mode: ModeArg,
    /// The AdmissionReview, YAML or JSON; - is standard input
    #[arg(value_name = "FILE")]
    pub(super) file: PathBuf,
    #[command(flatten)]
    pub(super) beside: Beside,
}

/// Serves the judgement to an API server over TLS.
///
/// Reviews are answered at /mutate/MODE and /validate/MODE. /livez, /readyz and /metrics are answered on a port of their own, over plain
/// HTTP. Certificate, facts and configuration are read again when their files change; the last good ones stay.
/// SIGTERM drains: not ready at once, every answer asks its caller to connect anew, and gone when no connection is left.
#[cfg(feature = "webhook")]
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  warmgate webhook --tls-cert /tls/tls.crt --tls-key /tls/tls.key --facts /facts/facts.json

Exit codes:
  0  told to end, and drained
  2  usage, or it could not start, or a part of it failed")]
pub(super) struct WebhookArgs {
    /// The certificate chain, PEM, the server's own first
    #[arg(long, value_name = "FILE")]
    pub(super) tls_cert: PathBuf,
    /// The private key, PEM
    #[arg(long, value_name = "FILE")]
    pub(super) tls_key: PathBuf,
    /// Take only callers with a certificate of these authorities, PEM
    #[arg(long, value_name = "FILE")]
    pub(super) client_ca: Option<PathBuf>,
    #[command(flatten)]
    pub(super) beside: Beside,
    /// The address of both ports; without it every address, IPv6 and IPv4
    #[arg(long, value_name = "IP")]
    pub(super) address: Option<std::net::IpAddr>,
    /// The port of the reviews
    #[arg(long, value_name = "PORT", default_value_t = 8443)]
    pub(super) port: u16,
    /// The port of the probes and the metrics
    #[arg(long, value_name = "PORT", default_value_t = 8080)]
    pub(super) health_port: u16,
    /// The shortest time from SIGTERM to the exit: until then proxies may still send callers
    #[arg(long, value_name = "DURATION", value_parser = duration, default_value = "15s")]
    pub(super) lame_duck: Seconds,
    /// The longest time from SIGTERM to the exit: longer than the 90 s for which the API server keeps an idle connection, shorter than the
    /// pod's terminationGracePeriodSeconds
    #[arg(long, value_name = "DURATION", value_parser = duration, default_value = "115s")]
    pub(super) drain_limit: Seconds,
    /// How lines of the log look
    #[arg(long, value_enum, default_value_t = LogFormat::Json)]
    pub(super) log_format: LogFormat,
    /// What is logged: error, warn, info, debug, or directives as of RUST_LOG
    #[arg(long, value_name = "FILTER", default_value = "info")]
    pub(super) log: String,
}

/// Shows the webhook at work, without a cluster.
///
/// Starts the real webhook on the loopback address with a certificate made on the spot, and asks it over TLS as an API server does: about
/// a vLLM Deployment that crash-loops, a slowly starting pod and one that contradicts itself, or about the objects in FILE. Every
/// patch, warning and refusal that is printed came back over the socket.
#[cfg(feature = "webhook")]
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  warmgate demo
  warmgate demo --keep deploy/llama.yaml

Exit codes:
  0  done, whatever the answers are
  2  usage, or FILE could not be read, or the webhook could not be started")]
pub(super) struct DemoArgs {
    /// Manifests to ask about instead of the bundled ones; - is standard input
    #[arg(value_name = "FILE")]
    pub(super) file: Option<PathBuf>,
    /// Go on listening afterwards, and print how to ask with curl
    #[arg(long)]
    pub(super) keep: bool,
}

/// A mode, as words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum ModeArg {
    /// Findings go to the audit log only
    Audit,
    /// Findings are shown
    Warn,
    /// What can be mended is mended, the rest is shown
    Fix,
    /// What cannot be mended and cannot work is refused
    Enforce,
}

impl From<ModeArg> for Mode {
    fn from(mode: ModeArg) -> Self {
        match mode {
            ModeArg::Audit => Self::Audit,
            ModeArg::Enforce => Self::Enforce,
            ModeArg::Fix => Self::Fix,
            ModeArg::Warn => Self::Warn,
        }
    }
}

/// An endpoint, as words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum EndpointArg {
    /// What should be changed?
    Mutate,
    /// May the final object be stored?
    Validate,
}

/// What fails a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum FailOn {
    /// An object that cannot work
    Deny,
    /// Any finding but notes
    Warn,
    /// Any finding
    Note,
}

impl From<FailOn> for Severity {
    fn from(limit: FailOn) -> Self {
        match limit {
            FailOn::Deny => Self::Deny,
            FailOn::Note => Self::Note,
            FailOn::Warn => Self::Warn,
        }
    }
}

/// How a report is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// For people
    Human,
    /// For programs: {"objects": [...], "errors": [...], "summary": {...}}
    Json,
}

/// How lines of the log look.
#[cfg(feature = "webhook")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum LogFormat {
    /// One JSON object a line
    Json,
    /// For people
    Text,
}

fn version(text: &str) -> Result<Version, String> {
    Version::parse(text).ok_or_else(|| "is no version: write 1.37".to_owned())
}

fn duration(text: &str) -> Result<Seconds, String> {
    Seconds::parse(text).map_err(|error| error.to_string())
}
