//! What an operator can set: mostly how things are called.

use std::time::Duration;

use super::certificates::Lifetimes;
use super::lease::ElectionTimes;
use crate::webhook::Listen;

/// Who fills the Secret that the webhook shows, and who says whom to trust.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CertificateSource {
    /// cert-manager issues, and its CA injector writes `caBundle`.
    CertManager,
    /// Somebody fills the Secret. Where it has a `ca.crt`, the controller writes that as `caBundle`; else nobody does.
    Provided,
    /// The controller has an authority of its own.
    SelfSigned,
}

/// Everything that the controller is started with.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The namespace that it runs in: of the Secrets, the ConfigMap, the Lease and the webhook's pods. It owns the webhook
    /// configurations.
    pub namespace: String,
    /// Who this instance is among the candidates: the name of its pod.
    pub identity: String,
    /// The name of the Lease.
    pub lease: String,
    /// The name of the Service that the configurations call.
    pub service: String,
    /// Where certificates come from.
    pub certificates: CertificateSource,
    /// The name of the Secret with the authority.
    pub authority_secret: String,
    /// The name of the Secret with the certificate that the webhook shows.
    pub certificate_secret: String,
    /// The name of the ConfigMap with the facts, under `facts.json`.
    pub facts_config_map: String,
    /// The name of the mutating configuration.
    pub mutating_configuration: String,
    /// The name of the validating configuration.
    pub validating_configuration: String,
    /// The label selector of the webhook's pods.
    pub webhook_pods: String,
    /// Where `/livez`, `/readyz` and `/metrics` are answered, over plain HTTP.
    pub health: Listen,
    /// How often everything is looked at. What was wiped is back within this and a moment.
    pub interval: Duration,
    /// How long a new authority must have been seen in both configurations before it signs: API servers that are behind
    /// hear of it meanwhile.
    pub margin: Duration,
    /// How long certificates live.
    pub lifetimes: Lifetimes,
    /// The times of the election.
    pub election: ElectionTimes,
}

impl Settings {
    /// What holds where nothing else is said, in a namespace: the names are those of the chart where its release is `warmgate`.
    pub fn new(namespace: impl Into<String>, identity: impl Into<String>) -> Self {
        Self {
            namespace: namespace.into(),
            identity: identity.into(),
            lease: "warmgate-controller".to_owned(),
            service: "warmgate".to_owned(),
            certificates: CertificateSource::SelfSigned,
            authority_secret: "warmgate-ca".to_owned(),
            certificate_secret: "warmgate-tls".to_owned(),
            facts_config_map: "warmgate-facts".to_owned(),
            mutating_configuration: "00-warmgate".to_owned(),
            validating_configuration: "warmgate".to_owned(),
            webhook_pods: "app.kubernetes.io/name=warmgate,app.kubernetes.io/component=webhook"
                .to_owned(),
            health: Listen::everywhere(8080),
            interval: Duration::from_secs(5),
            margin: Duration::from_secs(10),
            lifetimes: Lifetimes::default(),
            election: ElectionTimes::default(),
        }
    }

    /// The DNS name by which the API server calls the webhook.
    pub(super) fn service_name(&self) -> String {
        format!("{}.{}.svc", self.service, self.namespace)
    }
}
