//! Namespaces, the facts of them, and the events about them.

use warmgate::facts::{Cluster, Version};

use super::*;

const TEAM: &str = "/api/v1/namespaces/team";

/// A namespace in which a start may take so long.
fn team(max_startup_time: &str) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {
            "name": "team",
            "uid": "uid of team",
            "labels": {"warmgate.io/mode": "fix", "team": "x"},
            "annotations": {"warmgate.io/max-startup-time": max_startup_time, "team": "x"},
        },
    })
}

fn written(api: &Api) -> Option<Cluster> {
    let text = api.get(FACTS)?["data"]["facts.json"].as_str()?.to_owned();
    Some(serde_json::from_str(&text).expect("the webhook can read it"))
}

fn declared(api: &Api) -> Option<String> {
    let cluster = written(api)?;
    let annotations = cluster.namespaces.get("team")?;
    assert_eq!(annotations.len(), 1);
    Some(
        annotations["warmgate.io/max-startup-time"]
            .as_str()?
            .to_owned(),
    )
}

fn events(api: &Api) -> Vec<Value> {
    api.below("/apis/events.k8s.io/v1/namespaces/team/events/")
}

#[tokio::test]
async fn defaults_follow_their_namespaces() {
    let api = cluster();
    api.put(TEAM, team("15m"));
    let _controller = start(&api, settings("one"));
    until("the default", || (declared(&api)? == "15m").then_some(())).await;
    let version = written(&api).unwrap().kubernetes_version;
    assert_eq!(version, Some(Version { minor: 36 }));
    api.put(TEAM, team("20m"));
    until("the new default", || {
        (declared(&api)? == "20m").then_some(())
    })
    .await;
    api.delete(TEAM);
    until("no default", || {
        written(&api)?.namespaces.is_empty().then_some(())
    })
    .await;
    api.put(TEAM, team("25m"));
    until("the default of the next", || {
        (declared(&api)? == "25m").then_some(())
    })
    .await;
    assert_eq!(events(&api), Vec::<Value>::new());
}

#[tokio::test]
async fn the_config_map_keeps_the_labels_of_the_chart() {
    let api = cluster();
    let labels = json!({"app.kubernetes.io/managed-by": "Helm"});
    let metadata = json!({"name": "warmgate-facts", "namespace": "serving", "labels": labels});
    let empty = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata});
    api.put(FACTS, empty);
    let _controller = start(&api, settings("one"));
    until("the facts", || written(&api)).await;
    assert_eq!(api.get(FACTS).unwrap()["metadata"]["labels"], labels);
}

#[tokio::test]
async fn what_has_not_changed_is_not_written() {
    let api = cluster();
    api.put(TEAM, team("15m"));
    let _controller = start(&api, settings("one"));
    until("the default", || declared(&api)).await;
    let looks = || {
        api.calls()
            .iter()
            .filter(|(method, path)| method == "GET" && path == FACTS)
            .count()
    };
    let before = looks();
    until("further looks", || (looks() > before + 3).then_some(())).await;
    let calls = api.calls();
    let writes = calls
        .iter()
        .filter(|(method, path)| method == "PATCH" && path == FACTS);
    assert_eq!(writes.count(), 1);
}

#[tokio::test]
async fn facts_that_somebody_changed_come_back() {
    let api = cluster();
    api.put(TEAM, team("15m"));
    let _controller = start(&api, settings("one"));
    until("the default", || declared(&api)).await;
    api.edit(FACTS, |facts| facts["data"]["facts.json"] = json!("{}"));
    until("the default", || declared(&api)).await;
    api.delete(FACTS);
    until("the default", || declared(&api)).await;
}

#[tokio::test]
async fn a_default_that_cannot_be_read_is_reported_once_and_counts_as_absent() {
    let api = cluster();
    api.put(TEAM, team("soon"));
    let one = start(&api, settings("one"));
    let event = until("the event", || events(&api).pop()).await;
    assert_eq!(event["type"], "Warning");
    assert_eq!(event["reason"], "MalformedDefault");
    assert_eq!(event["regarding"]["kind"], "Namespace");
    assert_eq!(event["regarding"]["name"], "team");
    let note = event["note"].as_str().unwrap();
    assert!(note.contains("\"soon\" is no duration"), "{note}");
    assert!(note.ends_with("; it counts as absent"), "{note}");
    until("facts", || {
        written(&api)?.namespaces.is_empty().then_some(())
    })
    .await;
    one.stop().await;
    // Another leader says nothing new.
    let _two = start(&api, settings("two"));
    let posts = || {
        let calls = api.calls();
        calls
            .iter()
            .filter(|(method, path)| method == "POST" && path.contains("/events"))
            .count()
    };
    until("another try", || (posts() == 2).then_some(())).await;
    assert_eq!(events(&api).len(), 1);
    // Another mistake is another event.
    api.put(TEAM, team("later"));
    until("the other event", || {
        (events(&api).len() == 2).then_some(())
    })
    .await;
    assert_eq!(posts(), 3);
}

#[tokio::test]
async fn namespaces_that_may_not_be_listed_are_told_of() {
    let api = cluster();
    api.put(TEAM, team("15m"));
    api.fail(|method, path| (method == "GET" && path == "/api/v1/namespaces").then_some(403));
    let controller = start(&api, settings("one"));
    let told = until_passed(&controller, "watch", "error").await;
    assert_eq!(passes(&told, "facts", "ok"), 0, "{told}");
    api.recover();
    until("the default", || declared(&api)).await;
    until_passed(&controller, "watch", "ok").await;
}

#[tokio::test]
async fn namespaces_that_cannot_be_watched_any_more_are_told_of() {
    let api = cluster();
    api.put(TEAM, team("15m"));
    let controller = start(&api, settings("one"));
    until("the default", || declared(&api)).await;
    let told = until_passed(&controller, "watch", "ok").await;
    assert_eq!(passes(&told, "watch", "error"), 0, "{told}");
    api.fail(|method, _| (method == "WATCH").then_some(403));
    api.hang_up();
    until_passed(&controller, "watch", "error").await;
    api.recover();
    api.put(TEAM, team("20m"));
    until("the new default", || {
        (declared(&api)? == "20m").then_some(())
    })
    .await;
    until_passed(&controller, "watch", "ok").await;
}

#[tokio::test]
async fn an_event_that_is_refused_is_told_of_and_keeps_no_other_from_being_said() {
    let api = cluster();
    api.put(TEAM, team("soon"));
    let mut other = team("soon");
    other["metadata"]["name"] = json!("tenant");
    api.put("/api/v1/namespaces/tenant", other);
    api.fail(|method, path| (method == "POST" && path.contains("/team/")).then_some(403));
    let controller = start(&api, settings("one"));
    until_passed(&controller, "events", "error").await;
    let others = || api.below("/apis/events.k8s.io/v1/namespaces/tenant/events/");
    until("the other event", || others().pop()).await;
    assert_eq!(events(&api), Vec::<Value>::new());
    api.recover();
    until("the event", || events(&api).pop()).await;
    until_passed(&controller, "events", "ok").await;
    assert_eq!((events(&api).len(), others().len()), (1, 1));
}
