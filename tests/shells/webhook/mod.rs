//! The webhook server over real TLS on loopback.

#![expect(
    clippy::disallowed_methods,
    reason = "tests write the files that the server reads"
)]

mod certificates;
mod client;
mod drain;
mod good;
mod hostile;
mod limits;
mod logs;
mod overload;
#[cfg(target_os = "linux")]
mod process;
mod reload;
mod reviews;
#[cfg(target_os = "linux")]
mod soak;
mod tls;

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use serde_json::{Value, json};
use warmgate::admit::{Decision, Outcome, admit};
use warmgate::facts::Facts;
use warmgate::intent::{Skip, SkipReason};
use warmgate::review::Request;
use warmgate::webhook::{Certificate, Listen, Server, Settings};
use warmgate::words::{FieldPath, Finding, Severity};

use self::certificates::{Authority, Pair};
use self::client::{Client, Service, Tls, TlsClient};

/// A server and the authority that its callers trust.
struct Fixture {
    server: Server,
    authority: Authority,
}

/// Settings for a server of a test: on loopback, with a certificate, and quick to leave.
fn settings(pair: &Pair) -> Settings {
    let certificate = Certificate::Pem {
        chain: pair.chain.clone().into(),
        key: pair.key.clone().into(),
    };
    on_loopback(certificate)
}

fn on_loopback(certificate: Certificate) -> Settings {
    let mut settings = Settings::new(certificate);
    settings.admission = Listen::on(Ipv4Addr::LOCALHOST, 0);
    settings.health = Listen::on(Ipv4Addr::LOCALHOST, 0);
    settings.poll_interval = Duration::from_millis(20);
    settings.drain.lame_duck = Duration::from_millis(50);
    settings
}

/// Decides by the name of the object.
fn judge(request: &Request, facts: &Facts) -> Decision {
    assert_ne!(request.name, "panic", "the test asks for it");
    let mut decision = admit(request, facts);
    match request.name.as_str() {
        "refuse" => decision.refusal = Some("it cannot work".to_owned()),
        "find" => decision.findings = vec![finding(Severity::Warn), finding(Severity::Note)],
        "skip" => decision.outcome = Outcome::Skipped(Skip::new(SkipReason::Batch, "it is a job")),
        _ => {}
    }
    decision
}

fn finding(severity: Severity) -> Finding {
    Finding {
        rule: "no-probes",
        severity,
        container: None,
        path: FieldPath::root(),
        message: "it has no probes".to_owned(),
        help: None,
    }
}

impl Fixture {
    async fn start() -> Self {
        Self::with(|_| ()).await
    }

    async fn with(change: impl FnOnce(&mut Settings)) -> Self {
        let authority = Authority::new();
        let mut settings = settings(&authority.pair("one"));
        change(&mut settings);
        let server = Server::start_with(settings, judge).await;
        Self {
            server: server.expect("the server starts"),
            authority,
        }
    }

    fn service(&self) -> Service {
        Tls::new(&self.authority).service(self.server.admission_address())
    }

    async fn connect(&self) -> TlsClient {
        let client = self.service().connect().await;
        client.expect("the server shakes hands")
    }

    async fn metrics(&self) -> String {
        metrics(self.server.health_address()).await
    }
}

/// The metrics of the server with this plain port.
async fn metrics(health: SocketAddr) -> String {
    let answer = Client::plain(health).await.get("/metrics").await;
    answer.expect("there is an answer").text()
}

/// The review of a Pod with this name.
fn review(name: &str) -> Value {
    json!({
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "request": {
            "uid": format!("uid of {name}"),
            "kind": {"group": "", "version": "v1", "kind": "Pod"},
            "name": name,
            "namespace": "serving",
            "operation": "CREATE",
            "object": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {}},
        }
    })
}

fn body(name: &str) -> String {
    review(name).to_string()
}
