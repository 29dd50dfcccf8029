//! The image that is written without a daemon, and the one that a Dockerfile makes.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use crate::harness::command::run;
use crate::harness::{folders, prerequisites};
use crate::image;
use crate::image::tar::{Entry, Tar};

/// Both have the same files, user and entry point. Where buildah is not installed, only the Dockerfile's words are compared.
pub(super) fn holds_what_the_dockerfile_says() {
    let folder = tempfile::tempdir().unwrap_or_else(|error| panic!("{error}"));
    let program = folder.path().join("warmgate");
    // What is in it does not matter here.
    fs::write(&program, "a program").unwrap_or_else(|error| panic!("{error}"));
    let ours = image::warmgate_from(&program).unwrap_or_else(|fault| panic!("{fault}"));
    let dockerfile = folders::package().join("Dockerfile");
    let words = fs::read_to_string(&dockerfile).unwrap_or_else(|error| panic!("{error}"));
    let says = |line: &str| words.lines().any(|found| found == line);
    assert!(says(&format!("USER {}", image::USER)), "{words}");
    assert!(
        says(&format!("ENTRYPOINT {:?}", ours.entrypoint)),
        "{words}"
    );
    if prerequisites::find("buildah").is_none() || !rustix::process::geteuid().is_root() {
        println!("skipped: no buildah or not root, so the Dockerfile is read and not built");
        return;
    }
    let scratch = tempfile::tempdir().unwrap_or_else(|error| panic!("{error}"));
    let buildah = |arguments: &[&str]| buildah(&scratch, arguments);
    let dockerfile = dockerfile.display().to_string();
    let context = folder.path().display().to_string();
    buildah(&[
        "build",
        "--quiet",
        "--file",
        &dockerfile,
        "--tag",
        "warmgate",
        &context,
    ]);
    let container = buildah(&["from", "--pull-never", "warmgate"]);
    let root = buildah(&["mount", &container]);
    let mut theirs = Tar::default();
    collect(Path::new(&root), "", &mut theirs);
    buildah(&["umount", &container]);
    assert_eq!(theirs.entries(), ours.files.entries());
}

/// Clusters that start at the same time write the same archives: whoever reads one finds it whole.
pub(super) fn is_whole_while_it_is_written() {
    let folder = tempfile::tempdir().unwrap_or_else(|error| panic!("{error}"));
    let program = folder.path().join("warmgate");
    fs::write(&program, vec![b'x'; 1 << 20]).unwrap_or_else(|error| panic!("{error}"));
    let image = image::warmgate_from(&program).unwrap_or_else(|fault| panic!("{fault}"));
    let file = folder.path().join("warmgate.tar");
    let write = || {
        let written = image.write(&file);
        written.unwrap_or_else(|fault| panic!("{fault}"));
    };
    let read = || fs::read(&file).unwrap_or_else(|error| panic!("{error}"));
    write();
    let whole = read();
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| (0..8).for_each(|_| write()));
        while !writer.is_finished() {
            assert!(read() == whole, "a part of it");
        }
    });
}

/// Runs buildah with storage of its own, and gives the one line that it prints.
fn buildah(scratch: &TempDir, arguments: &[&str]) -> String {
    let mut buildah = Command::new("buildah");
    buildah
        .args(["--storage-driver=vfs", "--root"])
        .arg(scratch.path().join("storage"))
        .arg("--runroot")
        .arg(scratch.path().join("run"))
        .args(arguments);
    let done = run(&mut buildah, None).unwrap_or_else(|fault| panic!("{fault}"));
    done.must().trim().to_owned()
}

/// Reads the files below `folder`, whose path in the image is `path`.
fn collect(folder: &Path, path: &str, into: &mut Tar) {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{error}"));
    for entry in entries {
        let entry = entry.unwrap_or_else(|error| panic!("{error}"));
        let name = format!("{path}{}", entry.file_name().display());
        let found = entry.metadata().unwrap_or_else(|error| panic!("{error}"));
        let mode = found.mode() & 0o7777;
        if found.is_dir() {
            into.add(&name, Entry::Folder(mode));
            collect(&entry.path(), &format!("{name}/"), into);
        } else {
            let bytes = fs::read(entry.path()).unwrap_or_else(|error| panic!("{error}"));
            into.add(&name, Entry::File(mode, bytes));
        }
    }
}
