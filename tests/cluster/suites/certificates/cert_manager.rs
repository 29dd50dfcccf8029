//! cert-manager's part: it issues what Certificates ask for into their Secrets, and injects whom to trust.

use std::collections::BTreeMap;

use serde_json::Value;

use super::authority::{self, Authority, Leaf};
use super::{
    CONFIGURATIONS, GATE, MORE, RATE, SERVED, fill, helm, trust, wait_until_served, writers,
};
use crate::harness::cluster::Cluster;
use crate::product::MODE;
use crate::suites::creations::{self, assert_all_asked, assert_all_mended, assert_none_failed};
use crate::suites::definitions::define;

const MODULE: &str = "github.com/cert-manager/cert-manager";

/// What cert-manager calls itself when it writes.
const CONTROLLER: &str = "cert-manager-certificates-issuing";
const INJECTOR: &str = "cert-manager-cainjector";

/// What it looks for on webhook configurations.
const INJECT: &str = "cert-manager.io/inject-ca-from";

const VALUES: [&str; 2] = ["--set", "certificates.source=cert-manager"];

/// The chart asks for the certificate in cert-manager's own words, and what is issued is served. It may be renewed, and its authority.
pub(super) fn issues(cluster: &Cluster) {
    for kind in ["certificates", "issuers"] {
        let file = format!("deploy/crds/cert-manager.io_{kind}.yaml");
        let resource = format!("cert-manager.io/v1/{kind}");
        define(cluster, "cert-manager", MODULE, &file, &resource);
    }
    cluster
        .kubectl(&["create", "namespace", GATE.namespace], None)
        .must();
    let rendered = cluster.helm4(&helm("template", &VALUES)).must();
    let create = [
        "create",
        "--dry-run=server",
        "--validate=strict",
        "--filename=-",
    ];
    cluster.kubectl(&create, Some(&rendered)).must();

    cluster.helm4(&helm("install", &VALUES)).must();
    let mut played = CertManager {
        cluster,
        authorities: BTreeMap::new(),
    };
    played.found("gate-warmgate-ca");
    let first = played.issue("gate-warmgate-tls", 2042);
    played.inject();
    GATE.wait_until_mending(cluster);
    wait_until_served(cluster, &first);

    let namespaces = [cluster.namespace("issued", &[(MODE, "fix")])];
    let created = creations::during(cluster, &namespaces, RATE, |creations| {
        let renewed = played.issue("gate-warmgate-tls", 2043);
        wait_until_served(cluster, &renewed);
        // Whom the API server trusts is replaced at once.
        played.found("gate-warmgate-ca");
        played.inject();
        creations.wait_until(creations.begun() + MORE);
        let renewed = played.issue("gate-warmgate-tls", 2044);
        wait_until_served(cluster, &renewed);
        creations.wait_until(creations.begun() + MORE);
    });
    assert_none_failed(&created);
    assert_all_mended(cluster, &created);
    assert_all_asked(cluster, &namespaces);
    assert_eq!(writers(cluster), [INJECTOR.to_owned()].into());
}

struct CertManager<'a> {
    cluster: &'a Cluster,
    /// By the Secret that holds them.
    authorities: BTreeMap<String, Authority>,
}

impl CertManager<'_> {
    /// Makes the authority that the Certificate `name` asks for, or renews it.
    fn found(&mut self, name: &str) {
        let (spec, issuer) = self.asked(name);
        assert!(issuer["selfSigned"].is_object(), "{issuer}");
        assert_eq!(spec["isCA"], true, "{spec}");
        let secret = text(&spec["secretName"]);
        let keeps = spec["privateKey"]["rotationPolicy"] == "Never";
        let authority = match self.authorities.get(secret) {
            Some(before) if keeps => before.renewed(),
            _ => Authority::make(),
        };
        let pem = authority.certificate();
        let pair = [&*pem, &*authority.key()];
        fill(self.cluster, CONTROLLER, secret, pair, Some(&pem));
        self.authorities.insert(secret.to_owned(), authority);
    }

    /// Issues what the Certificate `name` asks for, valid until the first day of `year`.
    fn issue(&self, name: &str, year: i32) -> Leaf {
        let (spec, issuer) = self.asked(name);
        let names = spec["dnsNames"].as_array().into_iter().flatten();
        let names: Vec<_> = names.map(text).collect();
        let authority = &self.authorities[text(&issuer["ca"]["secretName"])];
        let leaf = authority.sign(&names, year);
        let (secret, trusted) = (text(&spec["secretName"]), authority.certificate());
        fill(
            self.cluster,
            CONTROLLER,
            secret,
            leaf.pair(),
            Some(&trusted),
        );
        leaf
    }

    /// What the Certificate `name` says, and what its issuer does.
    fn asked(&self, name: &str) -> (Value, Value) {
        let spec = self.find("certificates", name)["spec"].take();
        let issuer = text(&spec["issuerRef"]["name"]);
        let issuer = self.find("issuers", issuer)["spec"].take();
        (spec, issuer)
    }

    /// Writes into each configuration that asks for it the authority of the Certificate it names.
    fn inject(&self) {
        for path in CONFIGURATIONS {
            let found = self.cluster.get(path).unwrap_or_default();
            let asked = text(&found["metadata"]["annotations"][INJECT]);
            let (namespace, name) = asked.split_once('/').unwrap_or_default();
            assert_eq!(namespace, GATE.namespace, "{found}");
            let certificate = self.find("certificates", name);
            let secret = text(&certificate["spec"]["secretName"]);
            let secret = format!("/api/v1/namespaces/{namespace}/secrets/{secret}");
            let secret = self.cluster.get(&secret).unwrap_or_default();
            let bundle = authority::text(text(&secret["data"]["ca.crt"]));
            trust(self.cluster, INJECTOR, path, &bundle);
        }
    }

    fn find(&self, resource: &str, name: &str) -> Value {
        let namespace = GATE.namespace;
        let path = format!("/apis/cert-manager.io/v1/namespaces/{namespace}/{resource}/{name}");
        self.cluster.wait_for(name, SERVED, || {
            self.cluster.get(&path).ok_or_else(|| "nothing".to_owned())
        })
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
