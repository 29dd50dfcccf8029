//! Two replicas, one leader.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use warmgate::controller::Error;

use super::api::Way;
use super::*;

fn holder(api: &Api) -> Option<String> {
    let lease = api.get(LEASE)?;
    Some(lease["spec"]["holderIdentity"].as_str()?.to_owned())
}

#[tokio::test]
async fn one_leads_and_the_other_follows_at_once_when_it_leaves() {
    let api = cluster();
    let mut patient = settings("one");
    // Only what is released is taken within the patience of a test.
    patient.election.duration = Duration::from_secs(3600);
    let one = start(&api, patient.clone());
    settled(&api).await;
    assert_eq!(holder(&api).as_deref(), Some("one"));
    patient.identity = "two".to_owned();
    let two = start(&api, patient);
    let ready = async {
        while !get(&two, "/readyz").await.starts_with("HTTP/1.1 200") {
            sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(PATIENCE, ready).await.expect("it becomes ready");
    assert!(
        get(&one, "/metrics")
            .await
            .contains("warmgate_controller_leads 1")
    );
    assert!(
        get(&two, "/metrics")
            .await
            .contains("warmgate_controller_leads 0")
    );
    one.stop().await;
    until("the other leader", || {
        (holder(&api)? == "two").then_some(())
    })
    .await;
    api.edit(MUTATING, |configuration| {
        configuration["webhooks"][0]["clientConfig"]["caBundle"] = json!("");
    });
    settled(&api).await;
    two.stop().await;
    assert_eq!(holder(&api), None);
}

#[tokio::test]
async fn a_leader_that_falls_silent_is_followed() {
    let api = cluster();
    let one = start(&api, settings("one"));
    settled(&api).await;
    let _two = start(&api, settings("two"));
    drop(one);
    until("the other leader", || {
        (holder(&api)? == "two").then_some(())
    })
    .await;
    let transitions = api.get(LEASE).unwrap()["spec"]["leaseTransitions"].clone();
    assert_eq!(transitions, 2);
}

#[tokio::test]
async fn a_leader_that_cannot_renew_stops_and_one_that_is_restarted_goes_on() {
    let api = cluster();
    let one = start(&api, settings("one"));
    settled(&api).await;
    let told = until_told(&one, |told| told.contains("warmgate_facts_namespaces ")).await;
    assert!(
        told.contains("_certificate_expiry_timestamp_seconds{"),
        "{told}"
    );
    api.fail(|method, path| (method == "PUT" && path == LEASE).then_some(500));
    let told = until_told(&one, |told| told.contains("warmgate_controller_leads 0")).await;
    // What it saw as the leader is not for it to tell any more.
    for gauge in [
        "_certificate_expiry_timestamp_seconds{",
        "_facts_namespaces ",
    ] {
        assert!(!told.contains(gauge), "{told}");
    }
    drop(one);
    api.recover();
    // Of the same name: the lease is its own.
    let again = start(&api, settings("one"));
    api.delete(CERTIFICATE);
    settled(&api).await;
    again.stop().await;
}

#[tokio::test]
async fn a_leader_whose_calls_are_not_answered_stops_before_another_leads() {
    let api = cluster();
    let silent = Arc::new(AtomicBool::new(false));
    let way = {
        let silent = Arc::clone(&silent);
        move || match silent.load(Ordering::Relaxed) {
            false => Way::Open,
            true => Way::Silence,
        }
    };
    let one = Controller::start(settings("one"), api.client_by(way)).expect("it starts");
    settled(&api).await;
    silent.store(true, Ordering::Relaxed);
    let _two = start(&api, settings("two"));
    until("the other leader", || {
        (holder(&api)? == "two").then_some(())
    })
    .await;
    let told = get(&one, "/metrics").await;
    assert!(told.contains("warmgate_controller_leads 0"), "{told}");
}

#[tokio::test]
async fn a_controller_with_a_part_that_panics_ends_and_lets_another_lead() {
    let api = cluster();
    let panics = Arc::new(AtomicBool::new(false));
    let way = {
        let panics = Arc::clone(&panics);
        move || match panics.swap(false, Ordering::Relaxed) {
            false => Way::Open,
            true => Way::Panic,
        }
    };
    let one = Controller::start(settings("one"), api.client_by(way)).expect("it starts");
    settled(&api).await;
    panics.store(true, Ordering::Relaxed);
    let ended = timeout(PATIENCE, one.run(std::future::pending())).await;
    let ended = ended.expect("it does not live on without that part");
    assert!(matches!(ended, Err(Error::Ended)), "{ended:?}");
    assert_eq!(holder(&api), None);
}

#[tokio::test]
async fn a_controller_that_is_told_to_end_ends_well() {
    let api = cluster();
    let one = start(&api, settings("one"));
    settled(&api).await;
    assert!(one.run(std::future::ready(())).await.is_ok());
    assert_eq!(holder(&api), None);
}

#[tokio::test]
async fn the_lease_belongs_to_the_pod_that_holds_it() {
    let api = cluster();
    for name in ["one", "two"] {
        let metadata =
            json!({"name": name, "namespace": "serving", "uid": format!("uid of {name}")});
        let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata});
        api.put(&format!("/api/v1/namespaces/serving/pods/{name}"), pod);
    }
    let owned = |name: &str| {
        let owners = &api.get(LEASE)?["metadata"]["ownerReferences"];
        let pod = json!([{"apiVersion": "v1", "kind": "Pod", "name": name, "uid": format!("uid of {name}")}]);
        (*owners == pod).then_some(())
    };
    let one = start(&api, settings("one"));
    until("the lease of one", || owned("one")).await;
    let two = start(&api, settings("two"));
    one.stop().await;
    until("the lease of two", || owned("two")).await;
    // As the garbage collector does where it is faster than the next candidate.
    api.delete(LEASE);
    until("a new lease", || owned("two")).await;
    two.stop().await;
}

#[tokio::test]
async fn the_lease_of_another_is_not_released() {
    let api = cluster();
    let one = start(&api, settings("one"));
    settled(&api).await;
    api.edit(LEASE, |lease| {
        lease["spec"]["holderIdentity"] = json!("another");
        lease["spec"]["leaseDurationSeconds"] = json!(3600);
    });
    one.stop().await;
    assert_eq!(holder(&api).as_deref(), Some("another"));
}

#[tokio::test]
async fn it_is_alive_and_not_ready_while_the_server_is_away() {
    let api = cluster();
    api.fail(|_, _| Some(503));
    let one = start(&api, settings("one"));
    until("calls", || (!api.calls().is_empty()).then_some(())).await;
    assert!(get(&one, "/livez").await.starts_with("HTTP/1.1 200"));
    assert!(get(&one, "/readyz").await.starts_with("HTTP/1.1 503"));
}
