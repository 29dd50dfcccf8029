//! The images: warmgate's, as it is released, and those that only tests need.

pub(crate) mod binary;
pub(crate) mod layout;
pub(crate) mod reproducible;
pub(crate) mod tar;

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::harness::command::output;
use crate::harness::fault::{Context, Fault, Outcome};
use crate::harness::folders;
use crate::harness::prerequisites::find;
use layout::Image;
use tar::{Entry, Tar};

/// The tag of every image that tests load. It is none that a node would look for elsewhere.
pub(crate) const TAG: &str = "local";

/// Who warmgate runs as in its image.
pub(crate) const USER: &str = "65532:65532";

/// Writes the image of a sandbox: a process that waits.
///
/// # Errors
///
/// There is no busybox; or what the file system says.
pub(crate) fn pause() -> Outcome<PathBuf> {
    let mut files = Tar::default();
    files.add("bin/busybox", busybox()?);
    test_image("pause", &["/bin/busybox", "sleep", "infinity"], files)
}

/// Writes an image with a shell.
///
/// # Errors
///
/// There is no busybox; or what the file system says.
pub(crate) fn shell() -> Outcome<PathBuf> {
    let mut files = Tar::default();
    files.add("bin/busybox", busybox()?);
    for applet in output("busybox", &["--list"])?
        .lines()
        .filter(|applet| *applet != "busybox")
    {
        files.add(
            &format!("bin/{applet}"),
            Entry::Link("/bin/busybox".to_owned()),
        );
    }
    files.add("tmp", Entry::Folder(0o1777));
    test_image("busybox", &[], files)
}

/// Builds and writes the image of the slow server. It also holds busybox's `cat`, `sleep` and shell, for exec probes and hooks.
///
/// # Errors
///
/// What cargo or the file system says.
pub(crate) fn slowserver() -> Outcome<PathBuf> {
    let program = binary::quick("examples/slowserver")?;
    let mut files = Tar::default();
    files.add("slowserver", file(&program)?);
    files.add("bin/busybox", busybox()?);
    for applet in ["cat", "sh", "sleep", "test", "touch"] {
        files.add(
            &format!("bin/{applet}"),
            Entry::Link("/bin/busybox".to_owned()),
        );
    }
    files.add("tmp", Entry::Folder(0o1777));
    test_image("slowserver", &["/slowserver"], files)
}

/// Builds warmgate as it is released and writes its image to `out`. Gives the digest of the image.
///
/// # Errors
///
/// What cargo or the file system says.
pub(crate) fn warmgate(out: &Path) -> Outcome<String> {
    let program = binary::release(folders::package(), folders::target())?;
    warmgate_from(&program)?.write(out)
}

/// Builds and writes the image of warmgate that the suites install.
///
/// # Errors
///
/// What cargo or the file system says.
pub(crate) fn product() -> Outcome<PathBuf> {
    let program = binary::quick("warmgate")?;
    let path = folders::images().join("warmgate.tar");
    warmgate_from(&program)?.write(&path)?;
    Ok(path)
}

/// warmgate's image around a `program` that is built.
///
/// # Errors
///
/// The program cannot be read.
pub(crate) fn warmgate_from(program: &Path) -> Outcome<Image> {
    let mut files = Tar::default();
    files.add("warmgate", file(program)?);
    Ok(Image {
        name: format!("docker.io/library/warmgate:{TAG}"),
        entrypoint: vec!["/warmgate".to_owned()],
        user: Some(USER.to_owned()),
        labels: json!({
            "org.opencontainers.image.title": env!("CARGO_PKG_NAME"),
            "org.opencontainers.image.description": env!("CARGO_PKG_DESCRIPTION"),
            "org.opencontainers.image.licenses": env!("CARGO_PKG_LICENSE"),
            "org.opencontainers.image.version": env!("CARGO_PKG_VERSION"),
        }),
        files,
    })
}

fn test_image(name: &str, entrypoint: &[&str], files: Tar) -> Outcome<PathBuf> {
    let image = Image {
        name: format!("docker.io/library/{name}:{TAG}"),
        entrypoint: entrypoint.iter().map(ToString::to_string).collect(),
        user: None,
        labels: Value::Null,
        files,
    };
    let path = folders::images().join(format!("{name}.tar"));
    image.write(&path)?;
    Ok(path)
}

fn busybox() -> Outcome<Entry> {
    file(&find("busybox").ok_or_else(|| Fault::new("busybox is missing"))?)
}

fn file(path: &Path) -> Outcome<Entry> {
    Ok(Entry::File(
        0o755,
        std::fs::read(path).context(path.display())?,
    ))
}
