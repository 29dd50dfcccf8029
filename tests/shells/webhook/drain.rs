//! Leaving without losing a request.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::time::{sleep, timeout};
use warmgate::webhook::serve;

use super::certificates::Authority;
use super::client::{Client, Tls};
use super::{Fixture, body, settings};

const PATIENCE: Duration = Duration::from_secs(20);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn busy_callers_lose_nothing() {
    let Fixture { server, authority } = Fixture::start().await;
    let (address, authority) = (server.admission_address(), Arc::new(authority));
    let answered = Arc::new(AtomicUsize::new(0));
    let callers: Vec<_> = (0..8)
        .map(|_| {
            let (authority, answered) = (Arc::clone(&authority), Arc::clone(&answered));
            tokio::spawn(async move {
                let mut client = Tls::new(&authority).connect(address).await.unwrap();
                loop {
                    let answer = client.post("/validate/fix", body("llm")).await;
                    let answer = answer.expect("no request is lost");
                    assert_eq!(answer.status, 200);
                    answered.fetch_add(1, Ordering::Relaxed);
                    if answer.closes() {
                        assert!(client.ends().await);
                        return;
                    }
                }
            })
        })
        .collect();
    while answered.load(Ordering::Relaxed) < 100 {
        sleep(Duration::from_millis(1)).await;
    }
    timeout(PATIENCE, server.stop())
        .await
        .expect("it ends when all callers are gone");
    for caller in callers {
        caller.await.unwrap();
    }
}

#[tokio::test]
async fn an_idle_connection_is_waited_for_and_new_ones_are_taken() {
    let Fixture { server, authority } = Fixture::start().await;
    let (address, health) = (server.admission_address(), server.health_address());
    let mut idle = Tls::new(&authority).connect(address).await.unwrap();
    assert!(
        !idle
            .post("/validate/fix", body("llm"))
            .await
            .unwrap()
            .closes()
    );
    let leaving = tokio::spawn(server.stop());
    let mut probe = Client::plain(health).await;
    while probe.get("/readyz").await.unwrap().status == 200 {
        sleep(Duration::from_millis(1)).await;
    }
    assert_eq!(probe.get("/livez").await.unwrap().status, 200);
    // Long after the lame-duck time of 50 ms.
    sleep(Duration::from_millis(300)).await;
    let mut late = Tls::new(&authority).connect(address).await.unwrap();
    for client in [&mut late, &mut idle] {
        let answer = client.post("/validate/fix", body("llm")).await.unwrap();
        assert_eq!(answer.status, 200);
        assert!(answer.closes());
        assert!(client.ends().await);
    }
    timeout(PATIENCE, leaving).await.expect("it ends").unwrap();
    assert!(Tls::new(&authority).connect(address).await.is_err());
}

#[tokio::test]
async fn nobody_is_waited_for_for_ever() {
    let Fixture { server, authority } = Fixture::with(|settings| {
        settings.drain.limit = Duration::from_millis(100);
    })
    .await;
    let mut idle = Tls::new(&authority)
        .connect(server.admission_address())
        .await
        .unwrap();
    assert_eq!(
        idle.post("/validate/fix", body("llm"))
            .await
            .unwrap()
            .status,
        200
    );
    timeout(PATIENCE, server.stop())
        .await
        .expect("it ends at its limit");
    assert!(idle.ends().await);
}

#[tokio::test]
async fn serve_ends_with_its_signal() {
    let settings = settings(&Authority::new().pair("one"));
    let served = timeout(PATIENCE, serve(settings, async {})).await;
    served.expect("it ends").expect("it started");
}
