//! Certificates and keys: PEM as it may stand in a mounted file, and good certificates some bytes of which are others.

#![no_main]

use std::sync::LazyLock;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use libfuzzer_sys::fuzz_target;
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use warmgate::webhook::identity;
use warmgate_fuzz::within_limits;

fuzz_target!(|bytes: &[u8]| within_limits(|| {
    let files = match bytes.split_first() {
        Some((0, changes)) => damaged(changes),
        _ => bytes
            .splitn(3, |byte| *byte == 0)
            .map(<[u8]>::to_vec)
            .collect(),
    };
    let [chain, key, client_ca] = [0, 1, 2].map(|number| files.get(number));
    let (Some(chain), Some(key)) = (chain, key) else {
        return;
    };
    // Whatever is in them, they are taken or there is a reason.
    if let Err(error) = identity(chain, key, client_ca.map(Vec::as_slice)) {
        assert!(!error.to_string().is_empty());
    }
}));

/// Files that are good, with the bytes at some places changed: of each four bytes the first names the file, the next two the
/// place, and the last what stands there then.
fn damaged(changes: &[u8]) -> Vec<Vec<u8>> {
    let mut files = GOOD.clone();
    for change in changes.chunks_exact(4) {
        let (_, der) = &mut files[usize::from(change[0]) % 3];
        let place = usize::from(u16::from_be_bytes([change[1], change[2]])) % der.len();
        match change[0] / 64 {
            0 | 1 => der[place] = change[3],
            2 => der.insert(place, change[3]),
            _ => der.truncate(place.max(1)),
        }
    }
    files.iter().map(|(label, der)| pem(label, der)).collect()
}

fn pem(label: &str, der: &[u8]) -> Vec<u8> {
    let body = STANDARD.encode(der);
    format!("-----BEGIN {label}-----\n{body}\n-----END {label}-----\n").into_bytes()
}

/// A certificate, its key, and the authority that signed it, the same in every run: Ed25519 signs without chance.
static GOOD: LazyLock<Vec<(&str, Vec<u8>)>> = LazyLock::new(|| {
    let (authority, key) = (key_pair(1), key_pair(2));
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let ca = params.self_signed(&authority).expect("it can be signed");
    let issuer = Issuer::new(params, authority);
    let leaf = CertificateParams::new(vec!["warmgate.warmgate.svc".to_owned()])
        .and_then(|params| params.signed_by(&key, &issuer))
        .expect("it can be signed");
    vec![
        ("CERTIFICATE", leaf.der().to_vec()),
        ("PRIVATE KEY", key.serialize_der()),
        ("CERTIFICATE", ca.der().to_vec()),
    ]
});

/// The key that a byte makes (RFC 8410).
fn key_pair(seed: u8) -> KeyPair {
    const HEAD: [u8; 16] = [
        0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20,
    ];
    let der = [HEAD.as_slice(), &[seed; 32]].concat();
    KeyPair::try_from(der).expect("any 32 bytes are a key")
}
