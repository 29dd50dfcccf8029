//! The keys of one cluster: made when it starts, gone with its folder.

use std::fs;
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};

use super::fault::{Context, Outcome};
use super::sandbox::NODE;

/// The address of the API server's Service.
const SERVICE: &str = "10.96.0.1";

/// The files that the components are started with.
#[derive(Debug)]
pub(crate) struct Certificates {
    folder: PathBuf,
}

impl Certificates {
    /// Makes an authority, the API server's certificate, a key for service accounts, and an administrator in `kubeconfig`.
    ///
    /// # Errors
    ///
    /// A file that cannot be written.
    pub(crate) fn make(folder: &Path, kubeconfig: &Path) -> Outcome<Self> {
        let made = Self {
            folder: folder.to_owned(),
        };
        let doing = "making certificates";
        let mut params = named("warmgate-test-ca", &[])?;
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().context(doing)?)
            .context(doing)?;
        made.write("ca.crt", &authority.pem())?;
        let key = KeyPair::generate().context(doing)?;
        made.write("service-accounts.key", &key.serialize_pem())?;
        // The API server takes no public key out of a private one in PKCS #8.
        made.write("service-accounts.pub", &key.public_key_pem())?;

        let server = named(
            "kube-apiserver",
            &[
                NODE,
                SERVICE,
                "127.0.0.1",
                "localhost",
                "kubernetes.default.svc",
                "kubernetes.default",
            ],
        )?;
        let key = KeyPair::generate().context(doing)?;
        let certificate = server.signed_by(&key, &authority).context(doing)?;
        made.write("apiserver.crt", &certificate.pem())?;
        made.write("apiserver.key", &key.serialize_pem())?;

        let mut administrator = named("admin", &[])?;
        administrator
            .distinguished_name
            .push(DnType::OrganizationName, "system:masters");
        let key = KeyPair::generate().context(doing)?;
        let certificate = administrator.signed_by(&key, &authority).context(doing)?;
        let text = user(&authority.pem(), &certificate.pem(), &key.serialize_pem());
        fs::write(kubeconfig, text).context(kubeconfig.display())?;
        Ok(made)
    }

    /// The path of one of the files.
    pub(crate) fn path(&self, file: &str) -> PathBuf {
        self.folder.join(file)
    }

    fn write(&self, file: &str, text: &str) -> Outcome<()> {
        let path = self.path(file);
        fs::write(&path, text).context(path.display())
    }
}

/// A certificate for one server, and who vouches for it, as PEM.
pub(crate) struct ForServer {
    pub(crate) authority: String,
    pub(crate) certificate: String,
    pub(crate) key: String,
}

impl ForServer {
    /// Makes an authority of its own and a certificate for the server `host`.
    ///
    /// # Errors
    ///
    /// `host` is no name.
    pub(crate) fn make(host: &str) -> Outcome<Self> {
        let mut params = named("a webhook's authority", &[])?;
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().context(host)?)
            .context(host)?;
        let key = KeyPair::generate().context(host)?;
        let certificate = named(host, &[host])?;
        let certificate = certificate.signed_by(&key, &authority).context(host)?;
        Ok(Self {
            authority: authority.pem(),
            certificate: certificate.pem(),
            key: key.serialize_pem(),
        })
    }
}

/// What a certificate for `name` says, valid at these `addresses`.
fn named(name: &str, addresses: &[&str]) -> Outcome<CertificateParams> {
    let addresses: Vec<_> = addresses.iter().map(ToString::to_string).collect();
    let mut params = CertificateParams::new(addresses).context(name)?;
    params.distinguished_name.push(DnType::CommonName, name);
    Ok(params)
}

/// A kubeconfig that needs no file beside it.
fn user(authority: &str, certificate: &str, key: &str) -> String {
    let [authority, certificate, key] =
        [authority, certificate, key].map(|pem| STANDARD.encode(pem));
    format!(
        "apiVersion: v1
kind: Config
clusters:
- name: warmgate
  cluster:
    server: https://{NODE}:6443
    certificate-authority-data: {authority}
users:
- name: admin
  user:
    client-certificate-data: {certificate}
    client-key-data: {key}
contexts:
- name: warmgate
  context:
    cluster: warmgate
    user: admin
current-context: warmgate
"
    )
}
