//! Who is talked to, and how.

use std::io::Write;

use rcgen::{KeyPair, PKCS_ECDSA_P384_SHA384, PKCS_ED25519};
use rustls::version;
use tempfile::NamedTempFile;
use warmgate::webhook::{Certificate, Error, Server};

use super::certificates::{Authority, Pair};
use super::client::{Client, Tls};
use super::{Fixture, body, judge, settings};

async fn fixture(authority: Authority, pair: &Pair) -> Fixture {
    let server = Server::start_with(settings(pair), judge).await;
    Fixture {
        server: server.expect("the server starts"),
        authority,
    }
}

#[tokio::test]
async fn chains_and_other_kinds_of_keys_are_taken() {
    let authority = Authority::new();
    let key = |algorithm| KeyPair::generate_for(algorithm).unwrap();
    let (longer, edwards) = (key(&PKCS_ECDSA_P384_SHA384), key(&PKCS_ED25519));
    for pair in [
        authority.chain("chained"),
        authority.sign("longer", &longer),
        authority.sign("edwards", &edwards),
    ] {
        let server = Server::start_with(settings(&pair), judge).await.unwrap();
        let client = Tls::new(&authority)
            .connect(server.admission_address())
            .await;
        let answer = client
            .unwrap()
            .post("/validate/fix", body("llm"))
            .await
            .unwrap();
        assert_eq!(answer.status, 200);
    }
}

#[tokio::test]
async fn both_versions_of_tls_are_spoken_and_http_1_1_only() {
    let fixture = Fixture::start().await;
    let address = fixture.server.admission_address();
    for version in [&version::TLS12, &version::TLS13] {
        let mut tls = Tls::new(&fixture.authority);
        tls.versions = vec![version];
        tls.alpn = &["h2", "http/1.1"];
        let mut client = tls.connect(address).await.unwrap();
        let (_, session) = client.stream.get_ref();
        assert_eq!(session.alpn_protocol(), Some(b"http/1.1".as_slice()));
        assert_eq!(session.protocol_version(), Some(version.version));
        assert_eq!(
            client
                .post("/validate/fix", body("llm"))
                .await
                .unwrap()
                .status,
            200
        );
    }
    let mut tls = Tls::new(&fixture.authority);
    tls.alpn = &["h2"];
    assert!(tls.connect(address).await.is_err());
}

#[tokio::test]
async fn plain_http_is_not_answered_on_the_admission_port() {
    let fixture = Fixture::start().await;
    let mut client = Client::plain(fixture.server.admission_address()).await;
    assert!(client.get("/livez").await.is_none());
}

#[tokio::test]
async fn with_a_client_ca_only_its_callers_are_answered() {
    let (callers, strangers) = (Authority::new(), Authority::new());
    let mut file = NamedTempFile::new().unwrap();
    file.write_all(callers.pem.as_bytes()).unwrap();
    let fixture = Fixture::with(|settings| settings.client_ca = Some(file.path().into())).await;
    let address = fixture.server.admission_address();
    for (identity, welcome) in [
        (None, false),
        (Some(strangers.pair("stranger")), false),
        (Some(callers.pair("kube-apiserver")), true),
    ] {
        let mut tls = Tls::new(&fixture.authority);
        tls.identity = identity;
        // In TLS 1.3 the client is done before the server has looked at its certificate.
        let answered = match tls.connect(address).await {
            Ok(mut client) => client.post("/validate/fix", body("llm")).await.is_some(),
            Err(_) => false,
        };
        assert_eq!(answered, welcome);
    }
}

#[tokio::test]
async fn a_client_ca_that_is_missing_lets_nobody_in() {
    let missing = tempfile::tempdir().unwrap().path().join("ca.crt");
    let fixture = Fixture::with(|settings| settings.client_ca = Some(missing)).await;
    let address = fixture.server.admission_address();
    assert!(Tls::new(&fixture.authority).connect(address).await.is_err());
    let mut health = Client::plain(fixture.server.health_address()).await;
    assert_eq!(health.get("/readyz").await.unwrap().status, 503);
}

#[tokio::test]
async fn a_certificate_that_was_given_must_be_good() {
    let authority = Authority::new();
    let (one, other) = (authority.pair("one"), authority.pair("other"));
    let mixed = Pair {
        chain: one.chain.clone(),
        key: other.key,
    };
    let empty = Pair {
        chain: String::new(),
        key: one.key.clone(),
    };
    let keyless = Pair {
        key: "none".to_owned(),
        ..one
    };
    for pair in [mixed, empty, keyless] {
        let started = Server::start_with(settings(&pair), judge).await;
        assert!(matches!(started.map(drop), Err(Error::Certificate(_))));
    }
}

#[test]
fn a_key_is_never_printed() {
    let pair = Authority::new().pair("one");
    let certificate = Certificate::Pem {
        chain: pair.chain.into(),
        key: pair.key.into(),
    };
    assert_eq!(format!("{certificate:?}"), "Pem { .. }");
}

#[tokio::test]
async fn a_chain_that_is_not_from_here_is_not_trusted() {
    let fixture = fixture(Authority::new(), &Authority::new().pair("other")).await;
    let address = fixture.server.admission_address();
    assert!(Tls::new(&fixture.authority).connect(address).await.is_err());
}
