//! `warmgate demo`: what it prints has gone over the wire and is what the core says.

use serde_json::Value;
use warmgate::admit::{Endpoint, Outcome, admit};
use warmgate::cli::demo::{self, Exchange, MODE, Visit};
use warmgate::facts::{Facts, Origin};
use warmgate::review;
use warmgate::webhook::Server;

use super::{CONFIG_MAP, denied, run, run_with};

/// Whether the answer is byte for byte what the core says of the same review.
pub(super) fn is_the_cores(exchange: &Exchange) -> bool {
    let request = review::read(&exchange.review).expect("it is a review");
    let facts = Facts::new(MODE, Origin::Admission);
    let response = admit(&request, &facts).response(exchange.endpoint);
    exchange.status == 200 && exchange.answer == review::answer(&request.uid, &response)
}

pub(super) fn exchanges(visits: &[Visit]) -> impl Iterator<Item = &Exchange> {
    visits.iter().flat_map(|visit| &visit.exchanges)
}

#[tokio::test]
async fn the_answers_are_those_of_the_core() {
    let identity = demo::identity().expect("a certificate can be made");
    let server = Server::start(demo::settings(&identity))
        .await
        .expect("it starts");
    let visits = demo::visit(server.admission_address(), &identity, &demo::bundled())
        .await
        .expect("it answers");
    assert_eq!(visits.len(), 3);
    assert!(exchanges(&visits).all(is_the_cores));
    let responses: Vec<Value> = exchanges(&visits)
        .map(|exchange| exchange.response().expect("it is a review"))
        .collect();
    let any = |holds: fn(&Value) -> bool| responses.iter().any(holds);
    assert!(any(|response| response["patch"].is_string()));
    assert!(any(|response| response["warnings"].is_array()));
    assert!(any(|response| response["allowed"] == false));
    assert!(any(|response| response["allowed"] == true));
    for exchange in exchanges(&visits) {
        let path = format!("/{}/enforce?timeout=2s", exchange.endpoint.word());
        assert_eq!(exchange.target, path);
    }
}

#[tokio::test]
async fn a_webhook_that_allows_everything_is_found_out() {
    let identity = demo::identity().expect("a certificate can be made");
    let allow = |request: &review::Request, facts: &Facts| {
        let mut decision = admit(request, facts);
        decision.outcome = Outcome::Allowed;
        decision.refusal = None;
        decision.patch = Default::default();
        decision.edits.clear();
        decision.findings.clear();
        decision
    };
    let server = Server::start_with(demo::settings(&identity), allow)
        .await
        .expect("it starts");
    let visits = demo::visit(server.admission_address(), &identity, &demo::bundled())
        .await
        .expect("it answers");
    for visit in &visits {
        assert!(!visit.exchanges.iter().all(is_the_cores));
    }
}

#[test]
fn what_is_printed_is_what_came_back() {
    let ran = run(&["demo"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let facts = Facts::new(MODE, Origin::Admission);
    for subject in demo::bundled() {
        let request = review::Request {
            namespace: "ml".to_owned(),
            object: Some(subject.object.clone()),
            ..review::Request::default()
        };
        let decision = admit(&request, &facts);
        for warning in decision.response(Endpoint::Mutate).warnings {
            assert!(ran.out.contains(&warning), "{warning}\n{}", ran.out);
        }
        for operation in &decision.patch.0 {
            let pointer = operation.path().to_string();
            assert!(ran.out.contains(&pointer), "{pointer}\n{}", ran.out);
        }
        if let Some(refusal) = &decision.refusal {
            assert!(ran.out.contains(refusal.as_str()), "{refusal}\n{}", ran.out);
        }
    }
    assert!(ran.out.contains("refused"), "{}", ran.out);
    assert!(ran.out.contains("as it was:") && ran.out.contains("as patched:"));
}

#[test]
fn a_file_of_the_user_is_asked_about() {
    let ran = run_with(&["demo", "-"], &[CONFIG_MAP, &denied("mine")].join("---\n"));
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(
        ran.out.contains("Deployment ml/mine (<stdin>:8)"),
        "{}",
        ran.out
    );
    assert!(ran.out.contains("startupProbe"), "{}", ran.out);
    assert!(!ran.out.contains("llama"), "{}", ran.out);
    let ran = run_with(&["demo", "-"], "a: [1\n");
    assert_eq!(ran.code, 2);
    assert_eq!(run(&["demo", "missing.yaml"]).code, 2);
}
