//! The two webhook configurations: whom the API server trusts, and who owns them.
//!
//! Both fields are written by server-side apply with a field manager of our own, so that neither an upgrade of the chart nor
//! a GitOps tool that leaves them out takes them away; where they are wiped or replaced all the same, the next look restores
//! them. The configurations belong to the controller's Namespace: when it is deleted, they go, also with no controller left.

use std::fmt::Debug;

use k8s_openapi::ByteString;
use k8s_openapi::api::admissionregistration::v1::{
    MutatingWebhookConfiguration, ValidatingWebhookConfiguration, WebhookClientConfig,
};
use k8s_openapi::api::core::v1::Namespace;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::api::{DeleteParams, Patch, PatchParams};
use kube::{Api, Client, Resource};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::api::{CallError, MANAGER, call};

/// A kind of webhook configuration.
pub(super) trait Configuration:
    Resource<DynamicType = ()> + Clone + Debug + DeserializeOwned
{
    /// Its entries: name, and how they are called.
    fn entries(&self) -> Vec<(&str, &WebhookClientConfig)>;
}

impl Configuration for MutatingWebhookConfiguration {
    fn entries(&self) -> Vec<(&str, &WebhookClientConfig)> {
        let entries = self.webhooks.iter().flatten();
        entries
            .map(|entry| (entry.name.as_str(), &entry.client_config))
            .collect()
    }
}

impl Configuration for ValidatingWebhookConfiguration {
    fn entries(&self) -> Vec<(&str, &WebhookClientConfig)> {
        let entries = self.webhooks.iter().flatten();
        entries
            .map(|entry| (entry.name.as_str(), &entry.client_config))
            .collect()
    }
}

/// Who says whom the API server trusts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Bundle {
    /// cert-manager's CA injector, in each entry.
    Injected,
    /// We, with this PEM.
    Ours(Vec<u8>),
    /// A user, or nobody: then the API server trusts whom its machine trusts.
    Theirs,
}

/// What has to stand in both configurations.
#[derive(Clone, Debug)]
pub(super) struct Wanted {
    pub(super) owner: OwnerReference,
    pub(super) bundle: Bundle,
}

/// Why a configuration is not as wanted.
#[derive(Debug, thiserror::Error)]
pub(super) enum KeepError {
    #[error(transparent)]
    Call(#[from] CallError),
    #[error("waiting for cert-manager's CA injector to write caBundle into {0}")]
    NotInjected(String),
}

/// The reference to the Namespace that owns the configurations.
pub(super) fn owner(namespace: &str, uid: &str) -> OwnerReference {
    OwnerReference {
        api_version: Namespace::api_version(&()).into_owned(),
        kind: Namespace::kind(&()).into_owned(),
        name: namespace.to_owned(),
        uid: uid.to_owned(),
        ..OwnerReference::default()
    }
}

/// Whom an entry trusts, as PEM.
fn trusts(client: &WebhookClientConfig) -> &[u8] {
    let bundle = client.ca_bundle.as_ref();
    bundle.map_or(&[][..], |bundle| bundle.0.as_slice())
}

/// What has to be applied to a configuration, or nothing where it is as wanted.
fn mend<K: Configuration>(found: &K, wanted: &Wanted) -> Option<Value> {
    let owners = found.meta().owner_references.iter().flatten();
    let owned = { owners }.any(|owner| owner.uid == wanted.owner.uid);
    let entries = found.entries();
    let trusted = match &wanted.bundle {
        Bundle::Ours(bundle) => entries.iter().all(|(_, client)| trusts(client) == *bundle),
        Bundle::Injected | Bundle::Theirs => true,
    };
    if owned && trusted {
        return None;
    }
    let mut apply = json!({
        "apiVersion": K::api_version(&()),
        "kind": K::kind(&()),
        "metadata": {"name": found.meta().name, "ownerReferences": [wanted.owner]},
    });
    if let Bundle::Ours(bundle) = &wanted.bundle {
        let bundle = ByteString(bundle.clone());
        let trusting =
            |(name, _): &(&str, _)| json!({"name": name, "clientConfig": {"caBundle": bundle}});
        apply["webhooks"] = entries.iter().map(trusting).collect();
    }
    Some(apply)
}

/// How a configuration was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// It is not there: nobody is called.
    Absent,
    /// As wanted.
    Right,
    /// Otherwise, and mended.
    Mended,
}

/// Looks at the configuration of a name and mends it.
pub(super) async fn keep<K: Configuration>(
    client: &Client,
    name: &str,
    wanted: &Wanted,
) -> Result<Found, KeepError> {
    let api = Api::<K>::all(client.clone());
    let Some(found) = call(api.get_opt(name)).await? else {
        return Ok(Found::Absent);
    };
    let Some(apply) = mend(&found, wanted) else {
        let mut entries = found.entries().into_iter();
        return if wanted.bundle == Bundle::Injected
            && entries.any(|(_, client)| trusts(client).is_empty())
        {
            Err(KeepError::NotInjected(name.to_owned()))
        } else {
            Ok(Found::Right)
        };
    };
    let params = PatchParams::apply(MANAGER).force();
    call(api.patch(name, &params, &Patch::Apply(&apply))).await?;
    tracing::info!(configuration = name, "mended");
    Ok(Found::Mended)
}

/// Deletes the configuration of a name, if it is there.
pub(super) async fn remove<K: Configuration>(client: &Client, name: &str) -> Result<(), CallError> {
    let api = Api::<K>::all(client.clone());
    match call(api.delete(name, &DeleteParams::default())).await {
        Ok(_) => {
            tracing::info!(configuration = name, "deleted");
            Ok(())
        }
        Err(error) if error.is_not_found() => Ok(()),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn configuration(owner: &str, bundles: [Option<&str>; 2]) -> ValidatingWebhookConfiguration {
        let mut entries = Vec::new();
        for (number, bundle) in bundles.into_iter().enumerate() {
            let bundle = bundle.map(|bundle| ByteString(bundle.into()));
            entries.push(json!({
                "name": format!("entry-{number}"),
                "admissionReviewVersions": ["v1"],
                "sideEffects": "None",
                "clientConfig": {"caBundle": bundle, "service": {"name": "x", "namespace": "y"}},
            }));
        }
        serde_json::from_value(json!({
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": "ValidatingWebhookConfiguration",
            "metadata": {"name": "warmgate", "ownerReferences": [super::owner("serving", owner)]},
            "webhooks": entries,
        }))
        .unwrap()
    }

    fn wanted(bundle: Option<&str>) -> Wanted {
        Wanted {
            owner: owner("serving", "uid"),
            bundle: bundle.map_or(Bundle::Theirs, |bundle| Bundle::Ours(bundle.into())),
        }
    }

    #[test]
    fn what_is_as_wanted_is_left_alone() {
        let found = configuration("uid", [Some("good"), Some("good")]);
        assert_eq!(mend(&found, &wanted(Some("good"))), None);
        assert_eq!(mend(&found, &wanted(None)), None);
        let foreign = configuration("uid", [Some("another's"), None]);
        assert_eq!(mend(&foreign, &wanted(None)), None);
    }

    #[test]
    fn one_entry_that_is_wrong_applies_to_all() {
        for bundles in [
            [None, Some("good")],
            [Some("good"), Some("")],
            [Some("bad"), Some("good")],
        ] {
            let found = configuration("uid", bundles);
            let apply = mend(&found, &wanted(Some("good"))).unwrap();
            // What an apply leaves out is taken away, so everything of ours stands in each.
            assert_eq!(
                apply,
                json!({
                    "apiVersion": "admissionregistration.k8s.io/v1",
                    "kind": "ValidatingWebhookConfiguration",
                    "metadata": {"name": "warmgate", "ownerReferences": [
                        {"apiVersion": "v1", "kind": "Namespace", "name": "serving", "uid": "uid"},
                    ]},
                    "webhooks": [
                        {"name": "entry-0", "clientConfig": {"caBundle": "Z29vZA=="}},
                        {"name": "entry-1", "clientConfig": {"caBundle": "Z29vZA=="}},
                    ],
                })
            );
        }
    }

    #[test]
    fn a_namespace_made_anew_owns_anew() {
        let found = configuration("uid of the one before", [Some("good"), Some("good")]);
        let apply = mend(&found, &wanted(Some("good"))).unwrap();
        assert_eq!(apply["metadata"]["ownerReferences"][0]["uid"], "uid");
        assert_eq!(apply["webhooks"].as_array().map(Vec::len), Some(2));
        let apply = mend(&found, &wanted(None)).unwrap();
        assert_eq!(apply.get("webhooks"), None);
    }
}
