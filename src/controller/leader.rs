//! What the leader does, again and again: look at everything, and mend what is not as it should be.
//!
//! Nothing is remembered that could be wrong: each look reads the objects by name. Watching them would need rights on all
//! objects of their kinds, or a watch each; a dozen small reads every few seconds cost less than either.

use std::collections::BTreeMap;
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use k8s_openapi::api::admissionregistration::v1::{
    MutatingWebhookConfiguration, ValidatingWebhookConfiguration,
};
use k8s_openapi::api::core::v1::{ConfigMap, Namespace, Pod};
use kube::api::{PartialObjectMeta, Patch, PatchParams};
use kube::{Api, Client, ResourceExt};
use serde_json::json;
use tokio::time::{Instant, sleep};

use super::api::{CallError, MANAGER, call};
use super::certificates::{Certificates, Filler, Kept, Trust};
use super::configurations::{self, Bundle, Configuration, Found, KeepError, Wanted};
use super::contents::{self, hash};
use super::events::Events;
use super::metrics::{Metrics, Part};
use super::namespaces::Namespaces;
use super::settings::{CertificateSource, Settings};
use super::{certificates, facts};
use crate::facts::Version;
use crate::webhook::chain;

/// The key of the facts in their ConfigMap.
const FACTS: &str = "facts.json";

/// How long changes of namespaces are gathered.
const GATHER: Duration = Duration::from_millis(500);

/// How long the version of the API server is believed.
const VERSION_AGE: Duration = Duration::from_secs(300);

/// The one that does the work.
pub(super) struct Leader {
    client: Client,
    settings: Arc<Settings>,
    metrics: Arc<Metrics>,
    certificates: Certificates,
    trust: Trust,
    events: Events,
    version: Option<(Version, Instant)>,
    /// What was last said of a part that fails, so that it is said once.
    failures: BTreeMap<&'static str, String>,
}

impl Leader {
    pub(super) fn new(client: Client, settings: Arc<Settings>, metrics: Arc<Metrics>) -> Self {
        Self {
            certificates: Certificates {
                secrets: Api::namespaced(client.clone(), &settings.namespace),
                authority: settings.authority_secret.clone(),
                leaf: settings.certificate_secret.clone(),
                service: settings.service_name(),
                lifetimes: settings.lifetimes,
                margin: settings.margin,
            },
            trust: Trust::default(),
            events: Events::new(client.clone(), settings.identity.clone()),
            version: None,
            failures: BTreeMap::new(),
            client,
            settings,
            metrics,
        }
    }

    /// Works until it is dropped. That may be in the middle of a call: every write stands for itself.
    pub(super) async fn lead(mut self) {
        let (namespaces, watch) = Namespaces::watch(self.client.clone());
        let work = async {
            loop {
                self.look(&namespaces).await;
                tokio::select! {
                    () = namespaces.changed() => sleep(GATHER).await,
                    () = sleep(self.settings.interval) => {}
                }
            }
        };
        tokio::join!(watch, work);
    }

    async fn look(&mut self, namespaces: &Namespaces) {
        let owner = self.owner().await;
        let Some(owner) = self.note(Part::Namespace, owner) else {
            return;
        };
        let Some(uid) = owner else {
            let removed = self.leave().await;
            self.note(Part::Configurations, removed);
            return;
        };
        let mut hashes = BTreeMap::new();
        match self.keep_certificates().await {
            Ok(kept) => {
                self.note(Part::Certificates, kept.usable());
                self.metrics.certificates(&kept);
                let kept_configurations = self.keep_configurations(&uid, self.bundle(&kept)).await;
                self.note(Part::Configurations, kept_configurations);
                if let Some(shown) = &kept.shown {
                    hashes.insert(contents::CERTIFICATE, hash(&[shown]));
                }
            }
            Err(error) => {
                self.note::<(), _>(Part::Certificates, Err(error));
            }
        }
        self.note(Part::Watch, namespaces.watched());
        if let Some(namespaces) = namespaces.all() {
            let kept = self.keep_facts(namespaces).await;
            if let Some(text) = self.note(Part::Facts, kept) {
                hashes.insert(contents::FACTS, hash(&[text.as_bytes()]));
            }
        }
        let told = self.tell(&hashes).await;
        self.note(Part::Contents, told);
    }

    /// Counts how a part went, and says a failure once.
    fn note<T, E: Error>(&mut self, part: Part, result: Result<T, E>) -> Option<T> {
        self.metrics.passed(part, result.is_ok());
        match result {
            Ok(done) => {
                if self.failures.remove(part.word()).is_some() {
                    tracing::info!(part = part.word(), "works again");
                }
                Some(done)
            }
            Err(error) => {
                let error = chain(&error);
                if self.failures.get(part.word()) != Some(&error) {
                    tracing::error!(part = part.word(), error, "does not work");
                    self.failures.insert(part.word(), error);
                }
                None
            }
        }
    }

    /// The uid of our namespace, or nothing where it is being deleted.
    async fn owner(&self) -> Result<Option<String>, CallError> {
        let api = Api::<PartialObjectMeta<Namespace>>::all(self.client.clone());
        let namespace = call(api.get(&self.settings.namespace)).await?;
        let stays = namespace.metadata.deletion_timestamp.is_none();
        Ok(namespace.uid().filter(|_| stays))
    }

    /// With the namespace the webhook goes. The garbage collector deletes what the namespace owns only when it is gone; until
    /// then the API server would call nobody.
    async fn leave(&self) -> Result<(), CallError> {
        let (client, settings) = (&self.client, &self.settings);
        let mutating = &settings.mutating_configuration;
        configurations::remove::<MutatingWebhookConfiguration>(client, mutating).await?;
        let validating = &settings.validating_configuration;
        configurations::remove::<ValidatingWebhookConfiguration>(client, validating).await
    }

    async fn keep_certificates(&self) -> Result<Kept, certificates::Error> {
        match self.settings.certificates {
            CertificateSource::CertManager => self.certificates.look(Filler::CertManager).await,
            CertificateSource::Provided => self.certificates.look(Filler::User).await,
            CertificateSource::SelfSigned => self.certificates.keep(&self.trust).await,
        }
    }

    /// Whom the configurations have to trust.
    fn bundle(&self, kept: &Kept) -> Bundle {
        match self.settings.certificates {
            CertificateSource::CertManager => Bundle::Injected,
            _ if kept.bundle.is_empty() => Bundle::Theirs,
            _ => Bundle::Ours(kept.bundle.clone()),
        }
    }

    async fn keep_configurations(&mut self, uid: &str, bundle: Bundle) -> Result<(), KeepError> {
        let wanted = Wanted {
            owner: configurations::owner(&self.settings.namespace, uid),
            bundle,
        };
        let settings = Arc::clone(&self.settings);
        let mutating = self
            .keep_configuration::<MutatingWebhookConfiguration>(
                &settings.mutating_configuration,
                &wanted,
            )
            .await;
        let validating = self
            .keep_configuration::<ValidatingWebhookConfiguration>(
                &settings.validating_configuration,
                &wanted,
            )
            .await;
        let trusted = matches!((&mutating, &validating), (Ok(true), Ok(true)));
        if let Bundle::Ours(bundle) = &wanted.bundle {
            self.trust.saw(bundle, trusted, Instant::now());
        }
        mutating.and(validating).map(|_| ())
    }

    /// Whether the configuration was as wanted. One that was just mended has to be read back first.
    async fn keep_configuration<K: Configuration>(
        &self,
        name: &str,
        wanted: &Wanted,
    ) -> Result<bool, KeepError> {
        let found = configurations::keep::<K>(&self.client, name, wanted).await?;
        if found == Found::Mended {
            self.metrics.mended();
        }
        Ok(found != Found::Mended)
    }

    /// Writes the facts if they have changed, and returns them.
    async fn keep_facts(&mut self, namespaces: Vec<facts::Namespace>) -> Result<String, CallError> {
        let version = self.version().await?;
        let file = facts::write(version, namespaces);
        self.metrics
            .facts(file.namespaces, file.left_out, file.troubles.len());
        let said = self.events.say(&file.troubles).await;
        self.note(Part::Events, said);
        let (name, namespace) = (&self.settings.facts_config_map, &self.settings.namespace);
        let api = Api::<ConfigMap>::namespaced(self.client.clone(), namespace);
        let found = call(api.get_opt(name)).await?;
        let data = found.and_then(|found| found.data);
        if data.and_then(|mut data| data.remove(FACTS)).as_ref() != Some(&file.text) {
            let apply = json!({
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": {"name": name},
                "data": {FACTS: file.text},
            });
            let params = PatchParams::apply(MANAGER).force();
            call(api.patch(name, &params, &Patch::Apply(&apply))).await?;
            let (namespaces, left_out) = (file.namespaces, file.left_out);
            tracing::info!(namespaces, left_out, "facts written");
        }
        Ok(file.text)
    }

    /// The version of the API server.
    async fn version(&mut self) -> Result<Option<Version>, CallError> {
        let fresh = |(_, since): &(Version, Instant)| since.elapsed() < VERSION_AGE;
        if !self.version.as_ref().is_some_and(fresh) {
            let info = call(self.client.apiserver_version()).await?;
            self.version = Version::parse(&info.git_version).map(|found| (found, Instant::now()));
        }
        Ok(self.version.map(|(version, _)| version))
    }

    async fn tell(&self, hashes: &BTreeMap<&str, String>) -> Result<(), CallError> {
        let namespace = &self.settings.namespace;
        let pods = Api::<PartialObjectMeta<Pod>>::namespaced(self.client.clone(), namespace);
        contents::tell(&pods, &self.settings.webhook_pods, hashes).await
    }
}
