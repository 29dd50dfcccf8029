//! Certificate authorities: made, read, and signing.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use k8s_openapi::jiff::Timestamp;
use rcgen::{
    BasicConstraints, CertificateParams, CidrSubnet, DnType, ExtendedKeyUsagePurpose,
    GeneralSubtree, IsCa, Issuer, KeyPair, KeyUsagePurpose, NameConstraints,
};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use x509_parser::certificate::X509Certificate;
use x509_parser::extensions::GeneralName;
use x509_parser::parse_x509_certificate;
use x509_parser::x509::X509Version;

use super::flaw::Flaw;
use super::leaf::Leaf;
use super::validity::Validity;

/// Characters of base64 on a line of PEM.
const PEM_LINE: usize = 64;

/// A certificate that callers trust: that of an authority, or one that stands for itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::controller) struct CaCertificate {
    pub(in crate::controller) validity: Validity,
    pub(super) der: CertificateDer<'static>,
}

impl CaCertificate {
    /// The certificates of a PEM bundle that are those of authorities.
    pub(super) fn all(pem: &[u8]) -> Vec<Self> {
        let found = Self::trusted(pem).into_iter().flatten();
        found.filter(Self::signs).collect()
    }

    /// The certificates of a PEM bundle, whatever they are; `None` for each that cannot be read.
    pub(super) fn trusted(pem: &[u8]) -> Vec<Option<Self>> {
        CertificateDer::pem_slice_iter(pem)
            .map(|der| Self::from_der(der.ok()?))
            .collect()
    }

    fn from_der(der: CertificateDer<'static>) -> Option<Self> {
        let (_, certificate) = parse_x509_certificate(&der).ok()?;
        let validity = Validity::of(&certificate)?;
        Some(Self { validity, der })
    }

    /// Whether it may sign others, as Go sees it (`CheckSignatureFrom` in `crypto/x509`).
    pub(super) fn signs(&self) -> bool {
        let Ok((_, certificate)) = parse_x509_certificate(&self.der) else {
            return false;
        };
        let is_authority = match certificate.basic_constraints() {
            Ok(Some(constraints)) => constraints.value.ca,
            // Before version 3 there was no way to say it.
            Ok(None) => certificate.version() != X509Version::V3,
            Err(_) => false,
        };
        let usage = certificate.key_usage();
        is_authority
            && usage.is_ok_and(|usage| usage.is_none_or(|usage| usage.value.key_cert_sign()))
    }

    pub(super) fn pem(&self) -> String {
        let base64 = STANDARD.encode(&self.der);
        let mut pem = String::from("-----BEGIN CERTIFICATE-----\n");
        let mut rest = base64.as_str();
        while !rest.is_empty() {
            let (line, behind) = rest.split_at(rest.len().min(PEM_LINE));
            pem.push_str(line);
            pem.push('\n');
            rest = behind;
        }
        pem.push_str("-----END CERTIFICATE-----\n");
        pem
    }
}

/// Certificates as one PEM bundle: each once, the oldest first, so that the same certificates always make the same bytes.
pub(super) fn bundle<'a>(certificates: impl Iterator<Item = &'a CaCertificate>) -> Vec<u8> {
    let mut certificates: Vec<_> = certificates.collect();
    let order = |certificate: &CaCertificate| (certificate.validity, certificate.der.to_vec());
    certificates.sort_by_cached_key(|certificate| order(certificate));
    certificates.dedup();
    let pems: String = certificates.into_iter().map(CaCertificate::pem).collect();
    pems.into_bytes()
}

/// An authority that can sign.
#[derive(Clone)]
pub(super) struct Authority {
    pub(super) certificate: CaCertificate,
    /// PEM.
    pub(super) key: String,
}

impl fmt::Debug for Authority {
    /// Without the key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.certificate.fmt(f)
    }
}

impl Authority {
    /// Makes one that can sign for `service` and the names below it, and for nothing else.
    pub(super) fn make(service: &str, validity: Validity) -> Result<Self, rcgen::Error> {
        let mut params = CertificateParams::default();
        params.distinguished_name = Default::default();
        params
            .distinguished_name
            .push(DnType::CommonName, "warmgate CA");
        params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        params.name_constraints = Some(NameConstraints {
            permitted_subtrees: vec![GeneralSubtree::DnsName(service.to_owned())],
            excluded_subtrees: vec![
                GeneralSubtree::IpAddress(CidrSubnet::V4([0; 4], [0; 4])),
                GeneralSubtree::IpAddress(CidrSubnet::V6([0; 16], [0; 16])),
            ],
        });
        validity.write(&mut params);
        let key = KeyPair::generate()?;
        let der = params.self_signed(&key)?.der().clone();
        Ok(Self {
            certificate: CaCertificate { validity, der },
            key: key.serialize_pem(),
        })
    }

    /// Reads one that can sign for `service` now. `names` are those of certificate and key, for what is said of them.
    pub(super) fn read(
        names: [&'static str; 2],
        certificate: Option<&[u8]>,
        key: Option<&[u8]>,
        service: &str,
        now: Timestamp,
    ) -> Result<Self, Flaw> {
        let pem = certificate.ok_or(Flaw::Missing(names[0]))?;
        let der = CertificateDer::from_pem_slice(pem).map_err(|_| Flaw::Unreadable(names[0]))?;
        let key = key.ok_or(Flaw::Missing(names[1]))?;
        let key = std::str::from_utf8(key).map_err(|_| Flaw::Unreadable(names[1]))?;
        let pair = KeyPair::from_pem(key).map_err(|_| Flaw::Unreadable(names[1]))?;
        let (_, parsed) = parse_x509_certificate(&der).map_err(|_| Flaw::Unreadable(names[0]))?;
        if *parsed.public_key().subject_public_key.data != *pair.public_key_raw() {
            return Err(Flaw::Mismatch(names[1]));
        }
        if !permits(&parsed, service) {
            return Err(Flaw::Constrained(names[0], service.to_owned()));
        }
        let certificate = CaCertificate::from_der(der)
            .filter(CaCertificate::signs)
            .ok_or(Flaw::NoAuthority(names[0]))?;
        certificate.validity.check(names[0], now)?;
        Ok(Self {
            certificate,
            key: key.to_owned(),
        })
    }

    /// Signs a new certificate for `service`, which lives no longer than this authority.
    pub(super) fn sign(&self, service: &str, validity: Validity) -> Result<Leaf, rcgen::Error> {
        let mut params = CertificateParams::new([service.to_owned()])?;
        params.distinguished_name = Default::default();
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        params.use_authority_key_identifier_extension = true;
        let validity = validity.within(self.certificate.validity);
        validity.write(&mut params);
        let issuer =
            Issuer::from_ca_cert_der(&self.certificate.der, KeyPair::from_pem(&self.key)?)?;
        let key = KeyPair::generate()?;
        let certificate = params.signed_by(&key, &issuer)?;
        Ok(Leaf::new(
            certificate.der().clone(),
            certificate.pem(),
            key.serialize_pem(),
            validity,
        ))
    }
}

/// Whether the constraints of an authority, if it has any, let it sign for a name (RFC 5280, 4.2.1.10).
fn permits(authority: &X509Certificate<'_>, name: &str) -> bool {
    let constraints = match authority.name_constraints() {
        Ok(None) => return true,
        Ok(Some(constraints)) => constraints,
        Err(_) => return false,
    };
    let Some(permitted) = &constraints.value.permitted_subtrees else {
        return true;
    };
    let mut names = permitted.iter().filter_map(|subtree| match subtree.base {
        GeneralName::DNSName(name) => Some(name),
        _ => None,
    });
    names.any(|above| {
        name.strip_suffix(above)
            .is_some_and(|below| below.is_empty() || below.ends_with('.'))
    })
}
