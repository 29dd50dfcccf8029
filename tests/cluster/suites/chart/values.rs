//! What becomes of the values that are for the judgement, for certificates, and for metrics.

use serde_json::{Value, json};
use warmgate::facts::{Facts, Mode, Origin};

use super::{NAMESPACE, VARIATIONS, find, of_kind, render};

/// The facts with the configuration that the chart makes of these values.
pub(in crate::suites) fn configured(name: &str, values: &str) -> Facts {
    let objects = render(values);
    let maps = of_kind(&objects, "ConfigMap");
    let files: Vec<_> = maps
        .iter()
        .filter_map(|map| map["data"]["config.yaml"].as_str())
        .collect();
    let [file] = files[..] else {
        panic!("{name}: {} files", files.len())
    };
    let facts = Facts::new(Mode::Fix, Origin::Admission);
    let read = facts.with_config_file("config", file.as_bytes());
    read.unwrap_or_else(|error| panic!("{name}: {error}: {:?}", std::error::Error::source(&error)))
}

/// The webhook reads the configuration, and every value is in it.
pub(in crate::suites) fn reach_the_judgement() {
    for (name, values) in VARIATIONS {
        let facts = configured(name, values);
        assert_eq!(
            facts.config.own_namespace.as_deref(),
            Some(NAMESPACE),
            "{name}"
        );
        let extra = ["registration", "knowledge"].contains(&name);
        for resource in ["example.com/npu", "example.com/npu-2"] {
            assert_eq!(facts.knowledge.accelerator(resource), extra, "{name}");
        }
        assert!(facts.knowledge.accelerator("nvidia.com/gpu"), "{name}");
    }
    let (name, values) = VARIATIONS[6];
    let config = configured(name, values).config;
    let edits = &config.edits;
    let edited = [
        edits.startup_probe,
        edits.probe_timeouts,
        edits.pre_stop,
        edits.grace_period,
        edits.progress_deadline,
        edits.rollout,
    ];
    assert_eq!(edited, [false; 6]);
    let defaults = &config.defaults;
    assert_eq!(
        [
            defaults.startup_window,
            defaults.probe_timeout,
            defaults.prestop_sleep,
            defaults.drain_time
        ],
        [1, 2, 3, 4]
    );
    assert_eq!(
        [config.limits.max_startup_time, config.limits.max_grace],
        [5, 6]
    );
    let enforced = config.overrides(Mode::Enforce);
    assert!(!enforced.skip && !enforced.step_down && enforced.allow.len() == 2);
    let fixed = config.overrides(Mode::Fix);
    assert!(!fixed.skip && fixed.step_down && fixed.allow.len() == 3);
}

/// A changed configuration makes new pods, so that an upgrade is over when it holds; another value does not.
pub(in crate::suites) fn restart_the_webhook_where_they_must() {
    let pod = |values: &str| {
        let objects = render(values);
        let deployment = find(&objects, "Deployment", "warmgate-webhook");
        deployment["spec"]["template"].clone()
    };
    assert_ne!(pod(""), pod("edits: {preStop: false}"));
    assert_eq!(pod(""), pod("validating: {failurePolicy: Fail}"));
}

/// Only who fills the Secret differs.
pub(in crate::suites) fn choose_who_makes_the_certificate() {
    let injected = |objects: &[Value]| {
        [
            "MutatingWebhookConfiguration",
            "ValidatingWebhookConfiguration",
        ]
        .map(|kind| {
            of_kind(objects, kind)[0]["metadata"]["annotations"]["cert-manager.io/inject-ca-from"]
                .clone()
        })
    };
    let secret = |objects: &[Value]| {
        let webhook = find(objects, "Deployment", "warmgate-webhook");
        webhook["spec"]["template"]["spec"]["volumes"][0]["secret"]["secretName"].clone()
    };
    let own = render("");
    assert_eq!(injected(&own), [Value::Null, Value::Null]);
    assert_eq!(secret(&own), "warmgate-tls");
    assert!(of_kind(&own, "Certificate").is_empty());
    for name in ["warmgate-ca", "warmgate-tls"] {
        // Nothing random is rendered: the controller fills them.
        assert_eq!(find(&own, "Secret", name)["data"], Value::Null);
    }
    let provided = render("certificates: {source: byo, secretName: ours}");
    assert_eq!(injected(&provided), [Value::Null, Value::Null]);
    assert_eq!(secret(&provided), "ours");
    assert!(of_kind(&provided, "Secret").is_empty());
    let managed = render("certificates: {source: cert-manager, tlsDays: 60}");
    let from = json!(format!("{NAMESPACE}/warmgate-tls"));
    assert_eq!(injected(&managed), [from.clone(), from]);
    assert!(of_kind(&managed, "Secret").is_empty());
    let leaf = &find(&managed, "Certificate", "warmgate-tls")["spec"];
    assert_eq!(leaf["secretName"], secret(&managed));
    assert_eq!(
        leaf["dnsNames"],
        json!([format!("warmgate.{NAMESPACE}.svc")])
    );
    assert_eq!(
        (&leaf["duration"], &leaf["renewBefore"]),
        (&json!("1440h"), &json!("480h"))
    );
    let signer = find(
        &managed,
        "Issuer",
        leaf["issuerRef"]["name"].as_str().unwrap_or_default(),
    );
    let authority = &find(&managed, "Certificate", "warmgate-ca")["spec"];
    assert_eq!(signer["spec"]["ca"]["secretName"], authority["secretName"]);
    assert_eq!(authority["isCA"], true);
    let root = find(
        &managed,
        "Issuer",
        authority["issuerRef"]["name"].as_str().unwrap_or_default(),
    );
    assert_eq!(root["spec"]["selfSigned"], json!({}));
    let foreign = render(
        "certificates: {source: cert-manager, issuerRef: {name: vault, kind: ClusterIssuer}}",
    );
    assert!(of_kind(&foreign, "Issuer").is_empty());
    let leaf = &find(&foreign, "Certificate", "warmgate-tls")["spec"];
    assert_eq!(
        leaf["issuerRef"],
        json!({"name": "vault", "kind": "ClusterIssuer"})
    );
}

/// The monitor finds the Service, and the Service both processes.
pub(in crate::suites) fn tell_prometheus_where_to_scrape() {
    assert!(of_kind(&render(""), "ServiceMonitor").is_empty());
    let objects = render(
        "metrics: {serviceMonitor: {enabled: true, labels: {release: prometheus}, interval: 1m}}",
    );
    let monitor = find(&objects, "ServiceMonitor", "warmgate-metrics");
    assert_eq!(monitor["metadata"]["labels"]["release"], "prometheus");
    let endpoint = &monitor["spec"]["endpoints"][0];
    assert_eq!(
        (&endpoint["path"], &endpoint["interval"]),
        (&json!("/metrics"), &json!("1m"))
    );
    let matched: Vec<_> = of_kind(&objects, "Service")
        .into_iter()
        .filter(|service| {
            let wanted = monitor["spec"]["selector"]["matchLabels"]
                .as_object()
                .into_iter()
                .flatten();
            wanted
                .into_iter()
                .all(|(key, value)| service["metadata"]["labels"][key] == *value)
        })
        .collect();
    let [service] = matched[..] else {
        panic!("{matched:?}")
    };
    let port = &service["spec"]["ports"][0];
    assert_eq!(port["name"], endpoint["port"]);
    for deployment in of_kind(&objects, "Deployment") {
        let template = &deployment["spec"]["template"];
        for (key, value) in service["spec"]["selector"]
            .as_object()
            .into_iter()
            .flatten()
        {
            assert_eq!(&template["metadata"]["labels"][key], value);
        }
        let ports = template["spec"]["containers"][0]["ports"].as_array();
        assert!(ports.is_some_and(|ports| {
            ports
                .iter()
                .any(|declared| declared["name"] == port["targetPort"])
        }));
    }
}
