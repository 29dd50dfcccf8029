//! More than there is room for.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::sleep;

use super::super::good::{Good, Rate, Tally};
use super::super::hostile::model_server;
use super::{GOOD, Run, millis, said};

/// How many times more than the webhook can answer is asked, for how long, and on how many connections.
const TIMES: f64 = 5.0;
const LASTING: Duration = Duration::from_secs(20);
const CONNECTIONS: usize = 1000;

/// Connections that are tried to find out how much it can answer, and for how long each.
const TRIED: [usize; 3] = [2, 8, 32];
const TRYING: Duration = Duration::from_secs(3);

async fn load(run: &Run, review: &Value, rate: Rate, time: Duration) -> Tally {
    let good = Good::about(review, &run.service, rate);
    sleep(time).await;
    good.end().await
}

/// The most right answers a second to callers who ask again as soon as they are answered.
async fn knee(run: &Run, review: &Value) -> f64 {
    let mut knee: f64 = 0.0;
    for connections in TRIED {
        let rate = Rate {
            connections,
            per_second: None,
            ..GOOD
        };
        let tally = load(run, review, rate, TRYING).await;
        tally.assert_none_lost();
        knee = knee.max(tally.right as f64 / TRYING.as_secs_f64());
    }
    knee
}

/// Asks for more than can be answered, and then for less.
async fn overload(run: &Run, review: &Value) -> Tally {
    let knee = knee(run, review).await;
    let kb = review.to_string().len() / 1000;
    run.say(format!("{kb} kB: {knee:.0} a second is the knee"));
    let rate = Rate {
        connections: CONNECTIONS,
        per_second: Some(TIMES * knee),
        ..GOOD
    };
    let over = load(run, review, rate, LASTING).await;
    let knees = |count: usize| count as f64 / LASTING.as_secs_f64() / knee;
    run.say(format!(
        "{kb} kB, {:.1} times the knee: {} right, {} told to come again, {} lost; goodput {:.0} %, p50 {} ms, p99 {} ms",
        knees(over.sent()),
        over.right,
        over.busy,
        over.lost,
        100.0 * knees(over.right),
        millis(over.per_mille(500)),
        millis(over.per_mille(990)),
    ));
    let rate = Rate {
        per_second: Some(knee / 2.0),
        ..GOOD
    };
    let after = load(run, review, rate, Duration::from_secs(5)).await;
    run.say(format!(
        "{kb} kB, afterwards half of the knee: {}",
        said(&after)
    ));
    assert_eq!(over.lost, 0, "{:#?}", over.losses);
    assert!(over.right > 0);
    after.assert_none_lost();
    over
}

/// A model server with so many containers that all serve.
fn crowd(containers: usize) -> Value {
    let mut review = model_server();
    let template = &mut review["request"]["object"]["spec"]["template"];
    template["metadata"]["annotations"] = json!({"warmgate.io/max-startup-time": "15m"});
    let one = template["spec"]["containers"][0].clone();
    let all = (0..containers).map(|number| {
        let mut container = one.clone();
        container["name"] = json!(format!("engine-{number}"));
        container
    });
    template["spec"]["containers"] = all.collect();
    review
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "make soak"]
async fn soak_overload() {
    // These are judged as they come: as many wait as there are connections, and none for long.
    let run = Run::start("overload", &[]);
    overload(&run, &model_server()).await;
    run.assert_unharmed().await;
    // These wait for their turn.
    let run = Run::start("overload", &[]);
    let over = overload(&run, &crowd(100)).await;
    assert!(over.busy > 0);
    run.assert_unharmed().await;
}
