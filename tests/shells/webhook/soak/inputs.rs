//! Every hostile input, often.

use std::sync::Arc;

use tokio::task::JoinSet;

use super::super::client::Service;
use super::super::hostile::{Input, Told, inputs, send};
use super::{Run, millis, said};

/// How often each input is sent.
const TIMES: usize = 100;

/// Callers that send them, each its share of the times.
const CALLERS: usize = 4;

/// Sends inputs a hundred times.
pub(super) async fn send_all(service: &Service, inputs: &Arc<[Input]>) -> Told {
    let mut callers = JoinSet::new();
    for _ in 0..CALLERS {
        callers.spawn(send(service.clone(), Arc::clone(inputs), TIMES / CALLERS));
    }
    let mut told = Told::default();
    while let Some(sent) = callers.join_next().await {
        told.add(sent.expect("a caller only counts"));
    }
    assert_eq!(told.right + told.otherwise.len(), TIMES * inputs.len());
    told
}

pub(super) fn said_of(inputs: &[Input], told: &Told) -> String {
    let (all, wrong) = (inputs.len(), told.otherwise.len());
    let (time, what) = (millis(told.slowest.0), &told.slowest.1);
    let right = told.right;
    format!(
        "{all} x {TIMES} sent, {right} told what they should be, {wrong} otherwise, slowest {time} ms ({what:.60})"
    )
}

async fn send_each_kind(run: &Run) {
    let mut wrong = Vec::new();
    for (kind, inputs) in inputs() {
        let told = send_all(&run.service, &inputs).await;
        run.say(format!("{kind}: {}", said_of(&inputs, &told)));
        wrong.extend(told.otherwise);
    }
    assert!(
        wrong.is_empty(),
        "{} of them: {:#?}",
        wrong.len(),
        &wrong[..wrong.len().min(5)]
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "make soak"]
async fn soak_hostile_inputs_alone() {
    let run = Run::start("hostile inputs alone", &[]);
    send_each_kind(&run).await;
    run.assert_unharmed().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "make soak"]
async fn soak_hostile_inputs_beside_good_requests() {
    let run = Run::start("hostile inputs beside good requests", &[]);
    let good = run.good();
    send_each_kind(&run).await;
    let good = good.end().await;
    run.say(said(&good));
    good.assert_none_lost();
    run.assert_unharmed().await;
}
