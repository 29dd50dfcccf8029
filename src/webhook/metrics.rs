//! What is counted, in the field's style. No label takes a value that the program does not know.

use std::time::Duration;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::text::encode;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::counter::{ConstCounter, Counter};
use prometheus_client::metrics::family::{Family, MetricConstructor};
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};

use super::labels::{
    Answered, EndpointLabels, File, FindingLabels, KindLabels, ReasonLabels, Reload, ReloadLabels,
    RequestLabels, ResultLabels,
};
use super::log;
use super::routes::Entry;
use crate::admit::{Decision, Endpoint, Outcome};

/// Seconds. The API server's own histogram of webhooks begins at 5 ms, where ours should have ended.
const BUCKETS: [f64; 14] = [
    0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5,
];

#[derive(Clone, Copy)]
struct NewHistogram;

impl MetricConstructor<Histogram> for NewHistogram {
    fn new_metric(&self) -> Histogram {
        Histogram::new(BUCKETS)
    }
}

/// Log lines are dropped where no metrics are at hand, so they are asked for.
#[derive(Debug)]
pub(crate) struct DroppedLines;

impl Collector for DroppedLines {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), std::fmt::Error> {
        let dropped = ConstCounter::new(log::dropped_lines());
        // The registry puts its prefix before the name, and, unlike for other metrics, no full stop behind the help.
        let help = "Log lines that were dropped because nobody took them.";
        let name = "log_lines_dropped";
        let encoder = encoder.encode_descriptor(name, help, None, dropped.metric_type())?;
        dropped.encode(encoder)
    }
}

/// All metrics of the server.
pub(super) struct Metrics {
    registry: Registry,
    requests: Family<RequestLabels, Counter>,
    durations: Family<EndpointLabels, Histogram, NewHistogram>,
    findings: Family<FindingLabels, Counter>,
    skips: Family<ReasonLabels, Counter>,
    edits: Family<KindLabels, Counter>,
    rejections: Family<ReasonLabels, Counter>,
    reloads: Family<ReloadLabels, Counter>,
    handshakes: Family<ResultLabels, Counter>,
    expiry: Gauge,
    connections: Gauge,
    panics: Counter,
    not_understood: Counter,
}

impl Metrics {
    pub(super) fn new() -> Self {
        let mut metrics = Self {
            registry: Registry::with_prefix("warmgate"),
            requests: Family::default(),
            durations: Family::new_with_constructor(NewHistogram),
            findings: Family::default(),
            skips: Family::default(),
            edits: Family::default(),
            rejections: Family::default(),
            reloads: Family::default(),
            handshakes: Family::default(),
            expiry: Gauge::default(),
            connections: Gauge::default(),
            panics: Counter::default(),
            not_understood: Counter::default(),
        };
        metrics.register_reviews();
        metrics.register_server();
        metrics
    }

    fn register_reviews(&mut self) {
        let registry = &mut self.registry;
        registry.register(
            "admission_requests",
            "Reviews answered, by what became of them",
            self.requests.clone(),
        );
        registry.register_with_unit(
            "admission_duration",
            "Time from the head of a review to its answer",
            Unit::Seconds,
            self.durations.clone(),
        );
        registry.register(
            "findings",
            "Findings about objects under validation, dry runs apart",
            self.findings.clone(),
        );
        registry.register(
            "skips",
            "Objects under validation that were not judged, by reason, dry runs apart",
            self.skips.clone(),
        );
        registry.register(
            "edits",
            "Fields written by patches, dry runs apart",
            self.edits.clone(),
        );
        registry.register(
            "not_understood",
            "Reviews allowed because their shape was not understood",
            self.not_understood.clone(),
        );
        registry.register(
            "panics",
            "Judgements that failed by a bug of warmgate",
            self.panics.clone(),
        );
    }

    fn register_server(&mut self) {
        let registry = &mut self.registry;
        registry.register(
            "rejected_requests",
            "Requests answered without a judgement, by reason",
            self.rejections.clone(),
        );
        registry.register(
            "reloads",
            "Changes of watched files, by how taking them went",
            self.reloads.clone(),
        );
        registry.register(
            "handshakes",
            "TLS handshakes, by result",
            self.handshakes.clone(),
        );
        registry.register_with_unit(
            "certificate_expiry_timestamp",
            "When the certificate chain in use expires, in Unix time",
            Unit::Seconds,
            self.expiry.clone(),
        );
        registry.register(
            "connections",
            "Open connections of the admission port",
            self.connections.clone(),
        );
        registry.register_collector(Box::new(DroppedLines));
    }

    /// Everything as OpenMetrics text.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        encode(&mut text, &self.registry).expect("a String takes every write");
        text
    }

    /// A review was answered. `kind` is one that is known, or `other`.
    pub(super) fn answered(&self, entry: Entry, kind: &str, answered: Answered, took: Duration) {
        let endpoint = entry.endpoint.word();
        let labels = RequestLabels {
            endpoint,
            mode: entry.word(),
            kind: kind.to_owned(),
            outcome: answered.word(),
        };
        self.requests.get_or_create(&labels).inc();
        self.durations
            .get_or_create(&EndpointLabels { endpoint })
            .observe(took.as_secs_f64());
    }

    /// An object was judged. Each is reviewed by both endpoints in the modes that edit, so each thing is counted at one.
    pub(super) fn judged(&self, endpoint: Endpoint, decision: &Decision) {
        if endpoint == Endpoint::Mutate {
            for edit in &decision.edits {
                let kind = edit.kind.word();
                self.edits.get_or_create(&KindLabels { kind }).inc();
            }
            return;
        }
        for finding in &decision.findings {
            let labels = FindingLabels {
                rule: finding.rule,
                severity: finding.severity.word(),
            };
            self.findings.get_or_create(&labels).inc();
        }
        if let Outcome::Skipped(skip) = &decision.outcome {
            let reason = skip.reason.word();
            self.skips.get_or_create(&ReasonLabels { reason }).inc();
        }
    }

    /// A request was answered without a judgement.
    pub(super) fn rejected(&self, reason: &'static str) {
        self.rejections
            .get_or_create(&ReasonLabels { reason })
            .inc();
    }

    /// A review had a shape that is not understood.
    pub(super) fn not_understood(&self) {
        self.not_understood.inc();
    }

    /// A panic was caught.
    pub(super) fn panicked(&self) {
        self.panics.inc();
    }

    /// A watched file changed.
    pub(super) fn reloaded(&self, file: File, result: Reload) {
        let labels = ReloadLabels {
            file: file.name(),
            result: result.word(),
        };
        self.reloads.get_or_create(&labels).inc();
    }

    /// A TLS handshake ended.
    pub(super) fn shook_hands(&self, result: &'static str) {
        self.handshakes
            .get_or_create(&ResultLabels { result })
            .inc();
    }

    /// Another certificate is in use.
    pub(super) fn certificate_expires(&self, unix_seconds: i64) {
        self.expiry.set(unix_seconds);
    }

    /// A connection begins; it ends with the guard.
    pub(super) fn connection(&self) -> Connection<'_> {
        self.connections.inc();
        Connection(&self.connections)
    }
}

/// Counts a connection as open.
pub(super) struct Connection<'a>(&'a Gauge);

impl Drop for Connection<'_> {
    fn drop(&mut self) {
        self.0.dec();
    }
}
