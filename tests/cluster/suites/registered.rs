//! A mutating webhook of somebody else: slowserver, which answers as it is told, and its registration.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::harness::certificates::ForServer;
use crate::harness::cluster::Cluster;
use crate::harness::namespace::Namespace;

const DEADLINE: Duration = Duration::from_secs(120);
const SERVER: &str = "injector";
const CONFIGURATIONS: &str = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations";

/// A registration of that webhook. It ends when this is dropped.
pub(super) struct Registered<'c> {
    cluster: &'c Cluster,
    name: String,
}

impl<'c> Registered<'c> {
    /// Has the server in the namespace `home` asked about pods that are made in `namespace`. The `entry` holds what is the webhook's
    /// own, such as its failure policy.
    pub(super) fn make(
        cluster: &'c Cluster,
        name: String,
        home: &Namespace<'_>,
        authority: &str,
        namespace: &Namespace<'_>,
        mut entry: Value,
    ) -> Self {
        entry["admissionReviewVersions"] = json!(["v1"]);
        entry["sideEffects"] = json!("None");
        entry["namespaceSelector"] =
            json!({"matchLabels": {"kubernetes.io/metadata.name": namespace.name()}});
        entry["rules"] = json!([{
            "operations": ["CREATE"],
            "apiGroups": [""],
            "apiVersions": ["v1"],
            "resources": ["pods"],
        }]);
        entry["clientConfig"] = json!({
            "caBundle": STANDARD.encode(authority),
            "service": {"namespace": home.name(), "name": SERVER},
        });
        let configuration = json!({
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": "MutatingWebhookConfiguration",
            "metadata": {"name": name},
            "webhooks": [entry],
        });
        let body = configuration.to_string();
        let made = cluster.api("POST", CONFIGURATIONS, "application/json", &body);
        assert_eq!(made.status, 201, "{}", made.body);
        Self { cluster, name }
    }
}

impl Drop for Registered<'_> {
    fn drop(&mut self) {
        self.cluster
            .forget(&format!("{CONFIGURATIONS}/{}", self.name));
    }
}

/// Starts slowserver as a webhook in `home`, and gives the authority that vouches for it.
pub(super) fn serve(cluster: &Cluster, home: &Namespace<'_>) -> String {
    let host = format!("{SERVER}.{}.svc", home.name());
    let made = ForServer::make(&host).unwrap_or_else(|fault| panic!("{fault}"));
    let objects = [
        (
            "secrets",
            json!({
                "apiVersion": "v1",
                "kind": "Secret",
                "metadata": {"name": SERVER},
                "stringData": {"tls.crt": made.certificate, "tls.key": made.key},
            }),
        ),
        (
            "services",
            json!({
                "apiVersion": "v1",
                "kind": "Service",
                "metadata": {"name": SERVER},
                "spec": {"selector": {"app": SERVER}, "ports": [{"port": 443, "targetPort": 8443}]},
            }),
        ),
        (
            "pods",
            json!({
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {"name": SERVER, "labels": {"app": SERVER}},
                "spec": {
                    "containers": [{
                        "name": SERVER,
                        "image": "slowserver:local",
                        "args": ["--inject", "8443", "--tls", "/tls", "--on-term", "abort"],
                        "readinessProbe": {"tcpSocket": {"port": 8443}, "periodSeconds": 1},
                        "volumeMounts": [{"name": "tls", "mountPath": "/tls"}],
                    }],
                    "volumes": [{"name": "tls", "secret": {"secretName": SERVER}}],
                },
            }),
        ),
    ];
    for (resource, object) in &objects {
        let answer = home.create(resource, object);
        assert_eq!(answer.status, 201, "{}", answer.body);
    }
    home.ready(SERVER, DEADLINE);
    let path = format!(
        "/apis/discovery.k8s.io/v1/namespaces/{}/endpointslices",
        home.name()
    );
    cluster.wait_for("endpoint of the webhook", DEADLINE, || {
        let slices = cluster.get(&path).unwrap_or_default();
        let ready = &slices["items"][0]["endpoints"][0]["conditions"]["ready"];
        if ready == true {
            Ok(())
        } else {
            Err(slices.to_string())
        }
    });
    made.authority
}
