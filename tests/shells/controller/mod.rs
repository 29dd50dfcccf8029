//! The controller in conversation with an API server in memory.

mod api;
mod certificates;
mod election;
mod facts;
mod settings;

use std::net::Ipv4Addr;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};
use warmgate::controller::{CertificateSource, Controller, ElectionTimes, Settings};
use warmgate::webhook::Listen;

use self::api::Api;

/// How long a test waits for what must come.
const PATIENCE: Duration = Duration::from_secs(30);

const MUTATING: &str =
    "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/00-warmgate";
const VALIDATING: &str =
    "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/warmgate";
const NAMESPACE: &str = "/api/v1/namespaces/serving";
const AUTHORITY: &str = "/api/v1/namespaces/serving/secrets/warmgate-ca";
const CERTIFICATE: &str = "/api/v1/namespaces/serving/secrets/warmgate-tls";
const FACTS: &str = "/api/v1/namespaces/serving/configmaps/warmgate-facts";
const LEASE: &str = "/apis/coordination.k8s.io/v1/namespaces/serving/leases/warmgate-controller";
const POD: &str = "/api/v1/namespaces/serving/pods/webhook-0";

/// A cluster into which the chart was installed.
fn cluster() -> Api {
    let api = Api::default();
    let entry = |name: &str| {
        json!({
            "name": name,
            "admissionReviewVersions": ["v1"],
            "sideEffects": "None",
            "timeoutSeconds": 2,
            "clientConfig": {"service": {"name": "warmgate", "namespace": "serving"}},
        })
    };
    let metadata = |name: &str| json!({"name": name});
    api.put(
        NAMESPACE,
        json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "serving", "uid": "uid of serving"}}),
    );
    api.put(
        MUTATING,
        json!({
            "apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingWebhookConfiguration",
            "metadata": metadata("00-warmgate"),
            "webhooks": [entry("fix.warmgate.io"), entry("enforce.warmgate.io")],
        }),
    );
    api.put(
        VALIDATING,
        json!({
            "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
            "metadata": metadata("warmgate"),
            "webhooks": [entry("audit.warmgate.io"), entry("unknown.warmgate.io")],
        }),
    );
    api.put(
        POD,
        json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "webhook-0", "namespace": "serving"}}),
    );
    api
}

/// Settings for a controller of a test: on loopback, and quick.
fn settings(identity: &str) -> Settings {
    let mut settings = Settings::new("serving", identity);
    settings.health = Listen::on(Ipv4Addr::LOCALHOST, 0);
    settings.interval = Duration::from_millis(20);
    settings.margin = Duration::from_millis(100);
    settings.election = ElectionTimes {
        duration: Duration::from_secs(1),
        renewal: Duration::from_millis(50),
        deadline: Duration::from_millis(500),
        retry: Duration::from_millis(50),
    };
    settings
}

fn start(api: &Api, settings: Settings) -> Controller {
    Controller::start(settings, api.client()).expect("the controller starts")
}

/// Waits until something is there.
async fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let found = async {
        loop {
            if let Some(found) = look() {
                return found;
            }
            sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(PATIENCE, found)
        .await
        .unwrap_or_else(|_| panic!("{what} does not come"))
}

/// A piece of a Secret, if it is there.
fn secret(api: &Api, path: &str, key: &str) -> Option<String> {
    api.get(path)?["data"][key].as_str().map(decoded)
}

fn decoded(base64: &str) -> String {
    let bytes = STANDARD.decode(base64).expect("it is base64");
    String::from_utf8(bytes).expect("it is text")
}

/// What all entries of both configurations trust, if it is the same.
fn trusted(api: &Api) -> Option<String> {
    let mut bundles = Vec::new();
    for path in [MUTATING, VALIDATING] {
        for entry in api.get(path)?["webhooks"].as_array()? {
            bundles.push(entry["clientConfig"]["caBundle"].as_str()?.to_owned());
        }
    }
    bundles.dedup();
    let [bundle] = <[String; 1]>::try_from(bundles).ok()?;
    Some(decoded(&bundle))
}

/// Waits until both configurations trust the authority that signs, and returns its certificate.
async fn settled(api: &Api) -> String {
    until("a trusted authority", || {
        let authority = secret(api, AUTHORITY, "ca.crt")?;
        secret(api, CERTIFICATE, "tls.crt")?;
        (trusted(api)? == authority).then_some(authority)
    })
    .await
}

async fn get(controller: &Controller, path: &str) -> String {
    let ask = async {
        let mut stream = TcpStream::connect(controller.health_address()).await?;
        let request = format!("GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await?;
        std::io::Result::Ok(answer)
    };
    ask.await.expect("the plain port answers")
}

/// Waits until the metrics are as wanted, and returns them.
async fn until_told(controller: &Controller, wanted: impl Fn(&str) -> bool) -> String {
    let told = async {
        loop {
            let told = get(controller, "/metrics").await;
            if wanted(&told) {
                return told;
            }
            sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(PATIENCE, told)
        .await
        .expect("the metrics become as wanted")
}

/// How often a part went so, by the metrics.
fn passes(told: &str, part: &str, result: &str) -> u64 {
    let line = format!("warmgate_controller_passes_total{{part=\"{part}\",result=\"{result}\"}} ");
    let count = told.lines().find_map(|found| found.strip_prefix(&line));
    count.map_or(0, |count| count.parse().expect("it is a number"))
}

/// Waits until a part has gone so once more.
async fn until_passed(controller: &Controller, part: &str, result: &str) -> String {
    let before = passes(&get(controller, "/metrics").await, part, result);
    until_told(controller, |told| passes(told, part, result) > before).await
}
