//! Images of one compressed layer, written without a daemon. The archive is an OCI layout that also holds the `manifest.json` that older
//! Docker reads: `docker load`, `podman load`, `ctr images import` and `kind load image-archive` all take it.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::tar::{Entry, Tar};
use crate::harness::fault::{Context, Outcome};

/// What an image is made of.
#[derive(Debug)]
pub(crate) struct Image {
    /// The name it is loaded under, with registry and tag.
    pub(crate) name: String,
    /// The program that a container runs.
    pub(crate) entrypoint: Vec<String>,
    /// The user it runs as, where not root.
    pub(crate) user: Option<String>,
    /// The labels, by name.
    pub(crate) labels: Value,
    /// Its files.
    pub(crate) files: Tar,
}

/// A part of the archive, found by the digest of its bytes.
struct Blob {
    digest: String,
    size: usize,
}

impl Image {
    /// Writes the archive to `file`, and gives the digest of its manifest, which is what a registry would call it.
    ///
    /// # Errors
    ///
    /// What the file system says.
    pub(crate) fn write(&self, file: &Path) -> Outcome<String> {
        let mut archive = Tar::default();
        let files = self.files.bytes()?;
        let layer = blob(&mut archive, compressed(&files)?);
        let config = self.config(&digest(&files)).to_string();
        let config = blob(&mut archive, config.into_bytes());
        let manifest = json!({
            "schemaVersion": 2,
            "mediaType": "application/vnd.oci.image.manifest.v1+json",
            "config": config.descriptor("application/vnd.oci.image.config.v1+json"),
            "layers": [layer.descriptor("application/vnd.oci.image.layer.v1.tar+gzip")],
        });
        let manifest = blob(&mut archive, manifest.to_string().into_bytes());
        let mut entry = manifest.descriptor("application/vnd.oci.image.manifest.v1+json");
        let tag = self.name.rsplit_once(':').map_or("latest", |(_, tag)| tag);
        entry["annotations"] = json!({
            "io.containerd.image.name": self.name,
            "org.opencontainers.image.ref.name": tag,
        });
        for (path, text) in [
            ("oci-layout", json!({"imageLayoutVersion": "1.0.0"})),
            (
                "index.json",
                json!({
                    "schemaVersion": 2,
                    "mediaType": "application/vnd.oci.image.index.v1+json",
                    "manifests": [entry],
                }),
            ),
            (
                "manifest.json",
                json!([{
                    "Config": config.path(), "RepoTags": [self.name], "Layers": [layer.path()],
                }]),
            ),
        ] {
            archive.add(path, Entry::File(0o644, text.to_string().into_bytes()));
        }
        put(file, &archive.bytes()?).context(file.display())?;
        Ok(format!("sha256:{}", manifest.digest))
    }

    /// `files` is the digest of the layer before it was compressed.
    fn config(&self, files: &str) -> Value {
        let mut config = json!({
            "Entrypoint": self.entrypoint,
            "Env": ["PATH=/usr/bin:/bin"],
        });
        if let Some(user) = &self.user {
            config["User"] = json!(user);
        }
        if self.labels.is_object() {
            config["Labels"] = self.labels.clone();
        }
        json!({
            "created": "1970-01-01T00:00:00Z",
            "architecture": "amd64",
            "os": "linux",
            "config": config,
            "rootfs": {"type": "layers", "diff_ids": [format!("sha256:{files}")]},
            "history": [{"created": "1970-01-01T00:00:00Z"}],
        })
    }
}

impl Blob {
    fn path(&self) -> String {
        format!("blobs/sha256/{}", self.digest)
    }

    fn descriptor(&self, kind: &str) -> Value {
        json!({"mediaType": kind, "digest": format!("sha256:{}", self.digest), "size": self.size})
    }
}

/// Writes a file at once: somebody else may be reading it, or writing the same.
fn put(file: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = file.parent().unwrap_or(file);
    fs::create_dir_all(folder)?;
    let readable = fs::Permissions::from_mode(0o644);
    let mut half = tempfile::Builder::new()
        .permissions(readable)
        .tempfile_in(folder)?;
    half.write_all(bytes)?;
    half.persist(file)?;
    Ok(())
}

/// gzip without a time or a name in its head.
fn compressed(bytes: &[u8]) -> Outcome<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).context("compressing")?;
    encoder.finish().context("compressing")
}

fn digest(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn blob(archive: &mut Tar, bytes: Vec<u8>) -> Blob {
    let blob = Blob {
        digest: digest(&bytes),
        size: bytes.len(),
    };
    archive.add(&blob.path(), Entry::File(0o644, bytes));
    blob
}
