//! Who is talked to, and how.

use std::io::Write;

use rcgen::{KeyPair, PKCS_ECDSA_P384_SHA384, PKCS_ED25519};
use rustls::version;
use tempfile::NamedTempFile;
use tokio::io::AsyncReadExt;
use warmgate::webhook::{Certificate, Error, Server};

use super::certificates::{Authority, Pair};
use super::client::{Client, Service, Tls};
use super::reload::until;
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

/// What callers show to a server that asks for certificates of an authority, and whether they are welcome.
pub(super) fn identities(callers: &Authority) -> [(Option<Pair>, bool); 5] {
    [
        (None, false),
        (Some(Authority::new().pair("stranger")), false),
        (Some(callers.pair_of("kube-apiserver", 2000..2001)), false),
        (Some(callers.pair_of("kube-apiserver", 4000..4001)), false),
        (Some(callers.pair("kube-apiserver")), true),
    ]
}

/// Whether somebody who connects so is answered. In TLS 1.3 a caller is done before the server has looked at its certificate.
pub(super) async fn is_answered(service: &Service) -> bool {
    match service.connect().await {
        Ok(mut client) => client.post("/validate/fix", body("llm")).await.is_some(),
        Err(_) => false,
    }
}

#[tokio::test]
async fn with_a_client_ca_only_its_callers_are_answered() {
    let callers = Authority::new();
    let mut file = NamedTempFile::new().unwrap();
    file.write_all(callers.pem.as_bytes()).unwrap();
    let fixture = Fixture::with(|settings| settings.client_ca = Some(file.path().into())).await;
    for (identity, welcome) in identities(&callers) {
        let mut tls = Tls::new(&fixture.authority);
        tls.identity = identity;
        let service = tls.service(fixture.server.admission_address());
        assert_eq!(is_answered(&service).await, welcome);
    }
    let metrics = fixture.metrics().await;
    let answered = r#"warmgate_admission_requests_total{endpoint="validate",mode="fix",kind="Pod",outcome="skipped"} 1"#;
    assert!(metrics.contains(answered), "{metrics}");
}

/// A ClientHello of a version before TLS 1.2.
fn old_hello(minor: u8) -> Vec<u8> {
    let ciphers = [0xc0, 0x09, 0xc0, 0x13, 0x00, 0x2f];
    let mut hello = vec![3, minor];
    hello.extend([7; 32]);
    hello.extend([0, 0, ciphers.len() as u8]);
    hello.extend(ciphers);
    hello.extend([1, 0]);
    let mut record = vec![
        22,
        3,
        1,
        0,
        hello.len() as u8 + 4,
        1,
        0,
        0,
        hello.len() as u8,
    ];
    record.extend(hello);
    record
}

/// The begin of a conversation that is none of TLS 1.2 or 1.3.
pub(super) struct Hello {
    pub(super) what: &'static str,
    bytes: Vec<u8>,
}

impl Hello {
    /// Sends it to a server that says nothing to it, or an alert, which ends the connection.
    pub(super) async fn assert_refused(&self, service: &Service) {
        let what = self.what;
        let mut client = Client::new(service.dial().await.expect("it connects"));
        client.send(&self.bytes).await;
        let mut said = Vec::new();
        // A reset is an end as well.
        let _ = client.stream.read_to_end(&mut said).await;
        let refused = said.is_empty() || said.starts_with(&[21]);
        assert!(refused, "{what}: {said:?}");
    }
}

pub(super) fn hellos() -> Vec<Hello> {
    let hellos: [(&str, Vec<u8>); 9] = [
        ("SSL 3.0", old_hello(0)),
        ("TLS 1.0", old_hello(1)),
        ("TLS 1.1", old_hello(2)),
        ("SSL 2.0", vec![0x80, 0x2e, 1, 0, 2, 0, 0x15, 0, 0, 0, 0x10]),
        (
            "plain HTTP",
            b"POST /validate/fix HTTP/1.1\r\nhost: x\r\n\r\n".to_vec(),
        ),
        (
            "the preface of HTTP/2",
            b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec(),
        ),
        (
            "a record that is too long",
            [&[22, 3, 1, 0xff, 0xff][..], &[1; 70_000]].concat(),
        ),
        ("data before the handshake", vec![23, 3, 3, 0, 1, 0]),
        ("noise", (0..=255).cycle().skip(40).take(5000).collect()),
    ];
    hellos
        .into_iter()
        .map(|(what, bytes)| Hello { what, bytes })
        .collect()
}

#[tokio::test]
async fn what_is_no_hello_of_today_is_refused() {
    let fixture = Fixture::start().await;
    let (service, hellos) = (fixture.service(), hellos());
    for hello in &hellos {
        hello.assert_refused(&service).await;
    }
    let count = hellos.len();
    let refused = format!(r#"warmgate_handshakes_total{{result="error"}} {count}"#);
    until(&refused, async || {
        fixture.metrics().await.contains(&refused)
    })
    .await;
    let metrics = fixture.metrics().await;
    assert!(
        !metrics.contains("warmgate_admission_requests_total"),
        "{metrics}"
    );
    service.assert_answers().await;
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
