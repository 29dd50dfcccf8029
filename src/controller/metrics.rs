//! What is counted. No label takes a value that the program does not know.

use std::sync::Arc;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::text::encode;
use prometheus_client::encoding::{DescriptorEncoder, EncodeLabelSet, EncodeMetric};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::{ConstGauge, Gauge};
use prometheus_client::registry::{Registry, Unit};
use tokio::sync::watch;

use super::certificates::Kept;
use crate::webhook::DroppedLines;

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct PartLabels {
    part: &'static str,
    result: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct CertificateLabels {
    certificate: &'static str,
}

/// How many namespaces are in the facts, how many had no room there, and how many of their defaults cannot be read; nothing
/// where another instance writes them.
#[derive(Clone, Debug, Default)]
struct Facts(Arc<watch::Sender<Option<[usize; 3]>>>);

/// Their names and helps, the helps as the registry would write them.
const FACTS: [(&str, &str); 3] = [
    (
        "facts_namespaces",
        "Namespaces whose defaults are in the facts.",
    ),
    (
        "facts_left_out",
        "Namespaces whose defaults had no room in the facts.",
    ),
    ("facts_malformed", "Namespace defaults that cannot be read."),
];

impl Collector for Facts {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), std::fmt::Error> {
        let Some(counts) = *self.0.borrow() else {
            return Ok(());
        };
        for ((name, help), count) in FACTS.into_iter().zip(counts) {
            let gauge = ConstGauge::new(i64::try_from(count).unwrap_or(i64::MAX));
            let encoder = encoder.encode_descriptor(name, help, None, gauge.metric_type())?;
            gauge.encode(encoder)?;
        }
        Ok(())
    }
}

/// A part of the work.
#[derive(Clone, Copy, Debug)]
pub(super) enum Part {
    Certificates,
    Configurations,
    Contents,
    Events,
    Facts,
    Namespace,
    Watch,
}

impl Part {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Certificates => "certificates",
            Self::Configurations => "configurations",
            Self::Contents => "contents",
            Self::Events => "events",
            Self::Facts => "facts",
            Self::Namespace => "namespace",
            Self::Watch => "watch",
        }
    }
}

/// All metrics of the controller.
pub(super) struct Metrics {
    registry: Registry,
    leads: Gauge,
    passes: Family<PartLabels, Counter>,
    mended: Counter,
    expiries: Family<CertificateLabels, Gauge>,
    facts: Facts,
}

impl Metrics {
    pub(super) fn new() -> Self {
        let mut metrics = Self {
            registry: Registry::with_prefix("warmgate"),
            leads: Gauge::default(),
            passes: Family::default(),
            mended: Counter::default(),
            expiries: Family::default(),
            facts: Facts::default(),
        };
        metrics.register();
        metrics
    }

    fn register(&mut self) {
        let registry = &mut self.registry;
        registry.register(
            "controller_leads",
            "Whether this instance leads",
            self.leads.clone(),
        );
        registry.register(
            "controller_passes",
            "Looks at a part of the work, by how they went",
            self.passes.clone(),
        );
        registry.register(
            "configurations_mended",
            "Times that a webhook configuration was not as it should be and was mended",
            self.mended.clone(),
        );
        registry.register_with_unit(
            "controller_certificate_expiry_timestamp",
            "When a certificate in the Secrets expires, in Unix time",
            Unit::Seconds,
            self.expiries.clone(),
        );
        registry.register_collector(Box::new(self.facts.clone()));
        registry.register_collector(Box::new(DroppedLines));
    }

    /// Everything as OpenMetrics text.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        encode(&mut text, &self.registry).expect("a String takes every write");
        text
    }

    /// This instance leads from now on, or no more. What it has seen as the leader is then another's to tell.
    pub(super) fn leads(&self, leads: bool) {
        self.leads.set(i64::from(leads));
        if !leads {
            self.expiries.clear();
            self.facts.0.send_replace(None);
        }
    }

    /// A part was looked at.
    pub(super) fn passed(&self, part: Part, well: bool) {
        let labels = PartLabels {
            part: part.word(),
            result: if well { "ok" } else { "error" },
        };
        self.passes.get_or_create(&labels).inc();
    }

    /// A configuration was mended.
    pub(super) fn mended(&self) {
        self.mended.inc();
    }

    /// These certificates are in the Secrets.
    pub(super) fn certificates(&self, kept: &Kept) {
        for (certificate, life) in [("authority", kept.authority), ("leaf", kept.leaf)] {
            let labels = CertificateLabels { certificate };
            if let Some(life) = life {
                let expiry = life.not_after.as_second();
                self.expiries.get_or_create(&labels).set(expiry);
            } else {
                self.expiries.remove(&labels);
            }
        }
    }

    /// This is in the facts, and this is not.
    pub(super) fn facts(&self, namespaces: usize, left_out: usize, malformed: usize) {
        let counts = [namespaces, left_out, malformed];
        self.facts.0.send_replace(Some(counts));
    }
}
