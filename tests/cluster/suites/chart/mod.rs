//! What the chart makes of its values, rendered by both Helms without a cluster.

pub(super) mod entries;
pub(super) mod grants;
pub(super) mod knowledge;
pub(super) mod pods;
pub(super) mod refusals;
pub(super) mod values;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use serde_json::Value;
use warmgate::manifest::Manifest;

use crate::harness::command::{Done, run};
use crate::harness::folders;
use crate::harness::steps::Steps;
use crate::harness::tools::Tools;

/// The namespace and the name of the release.
const NAMESPACE: &str = "serving";
const RELEASE: &str = "warmgate";

/// Values that a user may give, one for each thing that changes what is rendered.
const VARIATIONS: [(&str, &str); 13] = [
    ("nothing", ""),
    ("names", "{fullnameOverride: gate, nameOverride: warm, commonLabels: {team: ml}, podLabels: {team: serving}}"),
    (
        "scheduling",
        "replicaCount: 3
imagePullSecrets: [{name: pull}]
nodeSelector: {pool: system}
tolerations: [{key: dedicated, operator: Exists}]
affinity: {nodeAffinity: {}}
topologySpreadConstraints: [{topologyKey: rack, maxSkew: 1, whenUnsatisfiable: DoNotSchedule}]
priorityClassName: system-cluster-critical
podDisruptionBudget: {maxUnavailable: null, minAvailable: 2}
podAnnotations: {a: b}
podLabels: {c: d}
controller: {replicaCount: 1}",
    ),
    ("hostNetwork", "{hostNetwork: true, port: 9443, healthPort: 9080}"),
    (
        "image",
        "image: {registry: registry.example.com, repository: team/warmgate, pullPolicy: Always, \
         digest: \"sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\"}",
    ),
    (
        "registration",
        "mutating: {name: 0-first, timeoutSeconds: 3}
validating: {name: gate, failurePolicy: Fail, timeoutSeconds: 4}
namespaceSelector: {matchLabels: {tier: gpu}, matchExpressions: [{key: team, operator: Exists}]}
objectSelector: {matchLabels: {a: b}}
extraAcceleratorResources: [example.com/npu, \"example.com/npu-*\"]",
    ),
    (
        "judgement",
        "edits: {startupProbe: false, probeTimeouts: false, preStop: false, gracePeriod: false, progressDeadline: false, rollout: false}
defaults: {startupWindow: 1, probeTimeout: 2, prestopSleep: 3, drainTime: 4}
limits: {maxStartupTime: 5, maxGrace: 6}
overrides: {enforce: {skip: false, allow: [warn, note], stepDown: false}, fix: {skip: false}}",
    ),
    ("cert-manager", "certificates: {source: cert-manager, tlsDays: 60}"),
    (
        "issuer",
        "certificates: {source: cert-manager, issuerRef: {name: vault, kind: ClusterIssuer, group: cert-manager.io}}",
    ),
    ("byo", "certificates: {source: byo, secretName: ours}"),
    (
        "monitor",
        "metrics: {serviceMonitor: {enabled: true, labels: {release: prometheus}, interval: 1m}}",
    ),
    ("bare", "{podDisruptionBudget: {enabled: false}, networkPolicy: {enabled: false}, logLevel: \"warn,kube=debug\"}"),
    (
        "knowledge",
        "extraAcceleratorResources: [example.com/tpu]
knowledge:
  accelerators: [{names: [example.com/npu, \"example.com/npu-*\"], source: ours}, {names: [\"*.example.org/*-npu\"], source: ours}]
  notAccelerators: [{names: [\"example.com/*-monitor\"], source: ours}]
  deviceClasses: [{names: [npu.example.com], source: ours}]
  otherDeviceClasses: [{names: [\"npu-*.example.com\"], source: ours}]
  fractions: [{annotations: [example.com/npu-share, npu-share], source: ours}]
  fractionContainers: [{annotations: [example.com/npu-holder], source: ours}]
  servers:
  - id: ours
    source: ours
    images: [{names: [our-server], entry: server, source: ours}]
    port: {default: 7000, source: ours}
    bind: {default: everywhere, source: ours}
    probes: {startup: /ready, source: ours}
    paths: [{path: /ready, loading: unavailable, source: ours}]
  followers: [{run: our-worker, source: ours}]
  clusters: [{run: our-cluster, source: ours}]
  interactive: [{images: [our-notebook], source: ours}]
  infrastructure: [{commands: [our-plugin], source: ours}]",
    ),
];

/// Renders the chart with these values, given as YAML.
fn template(helm: &Path, values: &str) -> Done {
    let scratch = folders::base().join("helm");
    let mut command = Command::new(helm);
    command
        .current_dir(folders::package())
        .env("HELM_CACHE_HOME", scratch.join("cache"))
        .env("HELM_CONFIG_HOME", scratch.join("config"))
        .env("HELM_DATA_HOME", scratch.join("data"))
        .args(["template", RELEASE, "charts/warmgate"])
        .args([
            "--namespace",
            NAMESPACE,
            "--kube-version",
            "1.30",
            "--values",
            "-",
        ]);
    run(&mut command, Some(values)).unwrap_or_else(|fault| panic!("{fault}"))
}

/// Helm 3 and 4.
fn helms() -> &'static [PathBuf; 2] {
    static HELMS: OnceLock<[PathBuf; 2]> = OnceLock::new();
    HELMS.get_or_init(|| {
        Tools::helms(&Steps::new("chart")).unwrap_or_else(|fault| panic!("{fault}"))
    })
}

/// The objects that the chart makes of these values. Many suites look at the same ones, so they are kept.
#[track_caller]
fn render(values: &str) -> Arc<[Value]> {
    static RENDERED: Mutex<BTreeMap<String, Arc<[Value]>>> = Mutex::new(BTreeMap::new());
    let kept = || RENDERED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(objects) = kept().get(values) {
        return Arc::clone(objects);
    }
    let objects = objects(&template(&helms()[1], values).must()).into();
    kept().insert(values.to_owned(), Arc::clone(&objects));
    objects
}

/// Why the chart refuses these values.
#[track_caller]
fn refusal(values: &str) -> String {
    template(&helms()[1], values).must_fail()
}

#[track_caller]
fn objects(text: &str) -> Vec<Value> {
    let manifest = Manifest::read("the chart", text);
    assert!(manifest.errors.is_empty(), "{:?}", manifest.errors);
    manifest
        .objects
        .into_iter()
        .map(|object| object.value)
        .collect()
}

/// The objects of a kind.
fn of_kind<'a>(objects: &'a [Value], kind: &str) -> Vec<&'a Value> {
    objects
        .iter()
        .filter(|object| object["kind"] == kind)
        .collect()
}

/// The object of a kind and name.
#[track_caller]
fn find<'a>(objects: &'a [Value], kind: &str, name: &str) -> &'a Value {
    let found = of_kind(objects, kind)
        .into_iter()
        .find(|object| object["metadata"]["name"] == name);
    found.unwrap_or_else(|| panic!("there is no {kind} {name}"))
}

/// The texts of a list.
fn texts(list: &Value) -> Vec<&str> {
    list.as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect()
}

/// Both Helms make the same of the same values, again and again.
pub(in crate::suites) fn is_the_same_every_time() {
    for (name, values) in VARIATIONS {
        let [helm3, helm4] = helms();
        let first = template(helm4, values).must();
        assert_eq!(first, template(helm4, values).must(), "{name}");
        let mut objects = [objects(&first), objects(&template(helm3, values).must())];
        for objects in &mut objects {
            objects
                .sort_by_key(|object| format!("{} {}", object["kind"], object["metadata"]["name"]));
        }
        assert_eq!(objects[0], objects[1], "{name}");
    }
}
