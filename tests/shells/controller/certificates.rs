//! Secrets and configurations, and what happens to them.

use super::*;

/// The calls that the chart's roles allow, besides reading namespaces and the version.
fn is_allowed(method: &str, path: &str) -> bool {
    let named = [MUTATING, VALIDATING, AUTHORITY, CERTIFICATE, FACTS, LEASE];
    let created = [
        "/api/v1/namespaces/serving/secrets",
        "/api/v1/namespaces/serving/configmaps",
        "/apis/coordination.k8s.io/v1/namespaces/serving/leases",
    ];
    match method {
        "GET" => {
            named.contains(&path)
                || ["/version", "/api/v1/namespaces", NAMESPACE].contains(&path)
                || path.starts_with("/api/v1/namespaces/serving/pods")
        }
        "POST" => created.contains(&path) || path.starts_with("/apis/events.k8s.io/v1/namespaces/"),
        "PATCH" => named.contains(&path) || path.starts_with("/api/v1/namespaces/serving/pods/"),
        "PUT" | "DELETE" => named.contains(&path),
        _ => false,
    }
}

#[tokio::test]
async fn an_installation_comes_to_trust_its_own_authority() {
    let api = cluster();
    let controller = start(&api, settings("one"));
    let authority = settled(&api).await;
    assert_eq!(secret(&api, CERTIFICATE, "ca.crt"), Some(authority));
    // As the chart makes them: an upgrade can change neither a type nor labels that somebody else has set.
    for path in [AUTHORITY, CERTIFICATE] {
        let secret = api.get(path).unwrap();
        assert_eq!(secret["type"], "Opaque");
        assert_eq!(secret["metadata"]["labels"], Value::Null);
    }
    let owner = json!([{"apiVersion": "v1", "kind": "Namespace", "name": "serving", "uid": "uid of serving"}]);
    for path in [MUTATING, VALIDATING] {
        let configuration = api.get(path).unwrap();
        assert_eq!(configuration["metadata"]["ownerReferences"], owner);
        assert_eq!(configuration["webhooks"].as_array().map(Vec::len), Some(2));
        assert_eq!(configuration["webhooks"][0]["timeoutSeconds"], 2);
    }
    until("the hashes on the pod", || {
        let pod = api.get(POD)?;
        let annotations = pod["metadata"]["annotations"].as_object()?;
        let has = |key| annotations.contains_key(key);
        (has("warmgate.io/content-hash-certificate") && has("warmgate.io/content-hash-facts"))
            .then_some(())
    })
    .await;
    controller.stop().await;
    let calls = api.calls();
    let refused: Vec<_> = calls
        .iter()
        .filter(|(method, path)| !is_allowed(method, path))
        .collect();
    assert!(refused.is_empty(), "{refused:?}");
}

#[tokio::test]
async fn what_the_chart_made_empty_is_filled() {
    let api = cluster();
    for (path, name) in [(AUTHORITY, "warmgate-ca"), (CERTIFICATE, "warmgate-tls")] {
        let metadata = json!({"name": name, "namespace": "serving", "labels": {"chart": "x"}});
        api.put(
            path,
            json!({"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "type": "Opaque"}),
        );
    }
    let _controller = start(&api, settings("one"));
    settled(&api).await;
    let secret = api.get(CERTIFICATE).unwrap();
    assert_eq!(secret["type"], "Opaque");
    assert_eq!(secret["metadata"]["labels"]["chart"], "x");
}

#[tokio::test]
async fn a_bundle_that_is_wiped_or_replaced_comes_back() {
    let api = cluster();
    let _controller = start(&api, settings("one"));
    let authority = settled(&api).await;
    type Harm = fn(&mut Value);
    let harms: [Harm; 4] = [
        |configuration| {
            let client = configuration["webhooks"][1]["clientConfig"].as_object_mut();
            client.unwrap().remove("caBundle");
        },
        |configuration| configuration["webhooks"][0]["clientConfig"]["caBundle"] = json!(""),
        |configuration| configuration["webhooks"][0]["clientConfig"]["caBundle"] = json!("eA=="),
        |configuration| {
            let metadata = configuration["metadata"].as_object_mut();
            metadata.unwrap().remove("ownerReferences");
        },
    ];
    for path in [MUTATING, VALIDATING] {
        let right = |api: &Api| {
            let mut configuration = api.get(path).unwrap();
            configuration["metadata"]
                .as_object_mut()
                .unwrap()
                .remove("resourceVersion");
            configuration
        };
        let before = right(&api);
        for harm in harms {
            api.edit(path, harm);
            until("the bundle", || (right(&api) == before).then_some(())).await;
        }
    }
    assert_eq!(settled(&api).await, authority);
}

#[tokio::test]
async fn a_configuration_that_is_installed_again_is_filled_again() {
    let api = cluster();
    let _controller = start(&api, settings("one"));
    settled(&api).await;
    api.delete(MUTATING);
    api.put(MUTATING, cluster().get(MUTATING).unwrap());
    settled(&api).await;
}

#[tokio::test]
async fn a_leaf_that_is_deleted_is_signed_by_the_same_authority() {
    let api = cluster();
    let _controller = start(&api, settings("one"));
    let authority = settled(&api).await;
    let leaf = secret(&api, CERTIFICATE, "tls.crt");
    let told = || {
        Some(
            api.get(POD)?["metadata"]["annotations"]["warmgate.io/content-hash-certificate"]
                .clone(),
        )
    };
    let before = until("the hash", || told().filter(|hash| !hash.is_null())).await;
    api.delete(CERTIFICATE);
    let new = until("a leaf", || secret(&api, CERTIFICATE, "tls.crt")).await;
    assert_ne!(Some(new), leaf);
    assert_eq!(settled(&api).await, authority);
    until("another hash", || told().filter(|hash| *hash != before)).await;
}

#[tokio::test]
async fn an_authority_that_is_deleted_stays_trusted_until_the_next_is() {
    let api = cluster();
    let mut settings = settings("one");
    // Long enough for the test to look, however slow the machine.
    settings.margin = Duration::from_secs(3600);
    let controller = start(&api, settings.clone());
    let old = settled(&api).await;
    let leaf = secret(&api, CERTIFICATE, "tls.crt");
    api.delete(AUTHORITY);
    let new = until("the next authority", || {
        let next = secret(&api, AUTHORITY, "next.crt")?;
        let bundle = trusted(&api)?;
        (bundle.contains(&next) && bundle.contains(&old)).then_some(next)
    })
    .await;
    assert_eq!(secret(&api, AUTHORITY, "ca.crt"), None);
    assert_eq!(secret(&api, CERTIFICATE, "tls.crt"), leaf);
    controller.stop().await;
    // The next leader goes on from there.
    settings.margin = Duration::from_millis(10);
    let _controller = start(&api, settings);
    until("a leaf of the new authority", || {
        (secret(&api, CERTIFICATE, "ca.crt")? == new).then_some(())
    })
    .await;
    let bundle = trusted(&api).unwrap();
    assert!(bundle.contains(&new) && bundle.contains(&old));
    assert_eq!(secret(&api, AUTHORITY, "previous.crt"), Some(old));
}

#[tokio::test]
async fn with_the_namespace_the_configurations_go() {
    let api = cluster();
    let _controller = start(&api, settings("one"));
    settled(&api).await;
    api.edit(NAMESPACE, |namespace| {
        namespace["metadata"]["deletionTimestamp"] = json!("2026-03-01T12:00:00Z");
    });
    until("the end of the configurations", || {
        (api.get(MUTATING).is_none() && api.get(VALIDATING).is_none()).then_some(())
    })
    .await;
    api.delete(AUTHORITY);
    let looks = || {
        api.calls()
            .iter()
            .filter(|(_, path)| path == NAMESPACE)
            .count()
    };
    let before = looks();
    until("further looks", || (looks() > before + 2).then_some(())).await;
    assert_eq!(api.get(AUTHORITY), None);
}

#[tokio::test]
async fn cert_manager_writes_its_own_bundle() {
    let api = cluster();
    api.edit(VALIDATING, |configuration| {
        configuration["webhooks"][0]["clientConfig"]["caBundle"] = json!("eA==");
    });
    let mut settings = settings("one");
    settings.certificates = CertificateSource::CertManager;
    let _controller = start(&api, settings);
    until("an owner", || {
        api.get(VALIDATING)?["metadata"]
            .get("ownerReferences")
            .cloned()
    })
    .await;
    until("facts", || api.get(FACTS)).await;
    let validating = api.get(VALIDATING).unwrap();
    assert_eq!(
        validating["webhooks"][0]["clientConfig"]["caBundle"],
        "eA=="
    );
    assert_eq!(
        validating["webhooks"][1]["clientConfig"].get("caBundle"),
        None
    );
    assert_eq!(api.get(AUTHORITY), None);
    assert_eq!(api.get(CERTIFICATE), None);
}

/// A good Secret as somebody else fills it, and whom it says to trust: another cluster made both.
async fn provided() -> (String, Value) {
    let api = cluster();
    let maker = start(&api, settings("one"));
    let authority = settled(&api).await;
    maker.stop().await;
    (authority, api.get(CERTIFICATE).expect("it was made"))
}

#[tokio::test]
async fn a_secret_that_was_provided_says_whom_to_trust() {
    let (authority, made) = provided().await;
    let api = cluster();
    let mut settings = settings("one");
    settings.certificates = CertificateSource::Provided;
    let _controller = start(&api, settings);
    until("an owner", || {
        api.get(VALIDATING)?["metadata"]
            .get("ownerReferences")
            .cloned()
    })
    .await;
    assert_eq!(trusted(&api), None);
    api.put(CERTIFICATE, made);
    until("trust", || (trusted(&api)? == authority).then_some(())).await;
    assert_eq!(api.get(AUTHORITY), None);
}

#[tokio::test]
async fn a_provided_secret_that_is_of_no_use_is_told_of_until_it_is_mended() {
    let (authority, made) = provided().await;
    let api = cluster();
    let mut settings = settings("one");
    settings.certificates = CertificateSource::Provided;
    let controller = start(&api, settings);
    let told = until_passed(&controller, "certificates", "error").await;
    assert_eq!(passes(&told, "certificates", "ok"), 0, "{told}");
    let mut secret = made;
    let good = secret["data"]["ca.crt"].take();
    secret["data"]["ca.crt"] = json!(STANDARD.encode("no certificate"));
    api.put(CERTIFICATE, secret);
    // What does not hang on it is done.
    until("the hash on the pod", || {
        let pod = api.get(POD)?;
        pod["metadata"]["annotations"]
            .get("warmgate.io/content-hash-certificate")
            .cloned()
    })
    .await;
    let told = until_passed(&controller, "certificates", "error").await;
    assert_eq!(passes(&told, "certificates", "ok"), 0, "{told}");
    assert_eq!(trusted(&api), None);
    api.edit(CERTIFICATE, |secret| secret["data"]["ca.crt"] = good);
    let told = until_passed(&controller, "certificates", "ok").await;
    for certificate in ["authority", "leaf"] {
        let label = format!("{{certificate=\"{certificate}\"}}");
        assert!(told.contains(&label), "{told}");
    }
    until("trust", || (trusted(&api)? == authority).then_some(())).await;
}

#[tokio::test]
async fn what_cert_manager_has_not_done_yet_is_told_of() {
    let (_, made) = provided().await;
    let api = cluster();
    let mut settings = settings("one");
    settings.certificates = CertificateSource::CertManager;
    let controller = start(&api, settings);
    let told = until_passed(&controller, "certificates", "error").await;
    assert_eq!(passes(&told, "certificates", "ok"), 0, "{told}");
    until_passed(&controller, "configurations", "error").await;
    let mut secret = made;
    let authority = secret["data"]["ca.crt"].take();
    // As an issuer does that does not know its own authority.
    secret["data"].as_object_mut().unwrap().remove("ca.crt");
    api.put(CERTIFICATE, secret);
    until_passed(&controller, "certificates", "error").await;
    api.edit(CERTIFICATE, |secret| {
        secret["data"]["ca.crt"] = authority.clone()
    });
    let told = until_passed(&controller, "certificates", "ok").await;
    // The CA injector has written nothing yet: only the pass that wrote the owners went well.
    assert!(passes(&told, "configurations", "ok") <= 1, "{told}");
    for path in [MUTATING, VALIDATING] {
        api.edit(path, |configuration| {
            for entry in configuration["webhooks"].as_array_mut().unwrap() {
                entry["clientConfig"]["caBundle"] = authority.clone();
            }
        });
    }
    until_passed(&controller, "configurations", "ok").await;
}

#[tokio::test]
async fn a_pod_that_cannot_be_told_keeps_no_other_from_being_told() {
    let api = cluster();
    let other = POD.replace("webhook-0", "webhook-1");
    let mut pod = api.get(POD).unwrap();
    pod["metadata"] = json!({"name": "webhook-1", "namespace": "serving"});
    api.put(&other, pod);
    api.fail(|method, path| (method == "PATCH" && path == POD).then_some(500));
    let controller = start(&api, settings("one"));
    until("the hash on the other pod", || {
        api.get(&other)?["metadata"].get("annotations").cloned()
    })
    .await;
    until_passed(&controller, "contents", "error").await;
    api.recover();
    until_passed(&controller, "contents", "ok").await;
    assert_ne!(api.get(POD).unwrap()["metadata"].get("annotations"), None);
}

#[tokio::test]
async fn one_thing_that_fails_keeps_nothing_else_from_being_done() {
    let api = cluster();
    api.fail(|_, path| (path == MUTATING).then_some(503));
    let _controller = start(&api, settings("one"));
    until("the other configuration", || {
        let validating = api.get(VALIDATING)?;
        validating["webhooks"][1]["clientConfig"]
            .get("caBundle")
            .cloned()
    })
    .await;
    until("facts", || api.get(FACTS)).await;
    api.recover();
    settled(&api).await;
}

#[tokio::test]
async fn a_server_that_was_away_is_asked_again() {
    let api = cluster();
    api.fail(|_, _| Some(503));
    let controller = start(&api, settings("one"));
    until("calls", || (api.calls().len() > 3).then_some(())).await;
    api.recover();
    settled(&api).await;
    controller.stop().await;
}
