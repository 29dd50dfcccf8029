//! What is counted. No label takes a value that the program does not know.

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::{Registry, Unit};

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

/// A part of the work.
#[derive(Clone, Copy, Debug)]
pub(super) enum Part {
    Certificates,
    Configurations,
    Contents,
    Events,
    Facts,
    Namespace,
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
    namespaces: Gauge,
    left_out: Gauge,
    malformed: Gauge,
}

impl Metrics {
    pub(super) fn new() -> Self {
        let mut metrics = Self {
            registry: Registry::with_prefix("warmgate"),
            leads: Gauge::default(),
            passes: Family::default(),
            mended: Counter::default(),
            expiries: Family::default(),
            namespaces: Gauge::default(),
            left_out: Gauge::default(),
            malformed: Gauge::default(),
        };
        metrics.register_work();
        metrics.register_facts();
        metrics
    }

    fn register_work(&mut self) {
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
        registry.register_collector(Box::new(DroppedLines));
    }

    fn register_facts(&mut self) {
        let registry = &mut self.registry;
        registry.register(
            "facts_namespaces",
            "Namespaces whose defaults are in the facts",
            self.namespaces.clone(),
        );
        registry.register(
            "facts_left_out",
            "Namespaces whose defaults had no room in the facts",
            self.left_out.clone(),
        );
        registry.register(
            "facts_malformed",
            "Namespace defaults that cannot be read",
            self.malformed.clone(),
        );
    }

    /// Everything as OpenMetrics text.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        encode(&mut text, &self.registry).expect("a String takes every write");
        text
    }

    /// This instance leads from now on, or no more.
    pub(super) fn leads(&self, leads: bool) {
        self.leads.set(i64::from(leads));
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
            if let Some(life) = life {
                let labels = CertificateLabels { certificate };
                let expiry = life.not_after.as_second();
                self.expiries.get_or_create(&labels).set(expiry);
            }
        }
    }

    /// This is in the facts, and this is not.
    pub(super) fn facts(&self, namespaces: usize, left_out: usize, malformed: usize) {
        let set = |gauge: &Gauge, count| gauge.set(i64::try_from(count).unwrap_or(i64::MAX));
        set(&self.namespaces, namespaces);
        set(&self.left_out, left_out);
        set(&self.malformed, malformed);
    }
}
