//! The binary as a user runs it.

mod admit;
mod check;
mod completions;
#[cfg(feature = "webhook")]
mod demo;
mod explain;
mod fix;
mod pictures;
#[cfg(target_os = "linux")]
mod progress;
mod readme;
#[cfg(feature = "controller")]
mod reference;
mod rules;
mod undo;
#[cfg(feature = "webhook")]
mod webhook;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

/// A Deployment whose liveness probe kills it long before the 15 minutes that it declares; `{name}` is its name.
const DENIED: &str = "\
# kept
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {name}
  namespace: ml
spec:
  selector: {matchLabels: {app: a}}
  template:
    metadata:
      labels: {app: a}
      annotations: {warmgate.io/max-startup-time: 15m}
    spec:
      containers:
        - name: engine
          image: example.com/engine:1
          resources: {limits: {nvidia.com/gpu: 1}}
          livenessProbe: # half a minute
            httpGet: {path: /health, port: 8000}
";

/// An object that is none of our business.
const CONFIG_MAP: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\ndata: {}\n";

/// What a run came to.
struct Ran {
    code: i32,
    out: String,
    err: String,
}

impl Ran {
    fn json(&self) -> Value {
        serde_json::from_str(&self.out).expect("the output is JSON")
    }
}

fn warmgate(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_warmgate"));
    command
        .args(args)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env_remove("CLICOLOR_FORCE")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

fn run(args: &[&str]) -> Ran {
    let done = warmgate(args).output().expect("the binary runs");
    ran(&done)
}

fn run_with(args: &[&str], input: &str) -> Ran {
    let mut child = warmgate(args)
        .stdin(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    let mut stdin = child.stdin.take().expect("its input is a pipe");
    let input = input.to_owned();
    let writer = std::thread::spawn(move || {
        // A run that refuses its arguments does not wait for its input.
        let _ = stdin.write_all(input.as_bytes());
    });
    let done = child.wait_with_output().expect("the binary ends");
    writer.join().expect("the input is written");
    ran(&done)
}

fn ran(done: &std::process::Output) -> Ran {
    Ran {
        code: done.status.code().expect("no signal ended it"),
        out: String::from_utf8(done.stdout.clone()).expect("the output is UTF-8"),
        err: String::from_utf8(done.stderr.clone()).expect("the errors are UTF-8"),
    }
}

/// A folder with files, gone when it is dropped.
struct Folder(tempfile::TempDir);

impl Folder {
    fn with(files: &[(&str, &str)]) -> Self {
        let folder = Self(tempfile::tempdir().expect("there is room for a folder"));
        for (name, text) in files {
            let path = folder.path(name);
            std::fs::create_dir_all(path.parent().expect("it is in the folder"))
                .expect("a folder can be made");
            std::fs::write(path, text).expect("a file can be written");
        }
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        self.path(name).to_string_lossy().into_owned()
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).expect("the file can be read")
    }

    fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.path()).expect("the folder can be read");
        let mut names: Vec<String> = entries
            .map(|entry| entry.expect("it can be read").file_name())
            .map(|name| name.to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }
}

fn denied(name: &str) -> String {
    DENIED.replace("{name}", name)
}

fn example(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    std::fs::read_to_string(path.join(name)).expect("the example can be read")
}

/// Holds a page against what it should be, or writes it anew where `WARMGATE_BLESS=1` is set.
#[track_caller]
fn hold_page(page: &str, wanted: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(page);
    if std::env::var_os("WARMGATE_BLESS").is_some_and(|value| value == "1") {
        std::fs::write(&path, wanted).expect("the page can be written");
        return;
    }
    let found = std::fs::read_to_string(&path).expect("the page can be read");
    let diff = similar::TextDiff::from_lines(found.as_str(), wanted);
    assert!(
        found == wanted,
        "{page} is old: WARMGATE_BLESS=1 writes it anew\n{}",
        diff.unified_diff()
    );
}

#[test]
fn a_reader_that_stops_is_no_error() {
    let documents: Vec<String> = (0..400)
        .map(|number| denied(&format!("a{number}")))
        .collect();
    let folder = Folder::with(&[("a.yaml", &documents.join("---\n"))]);
    let file = folder.text("a.yaml");
    for args in [
        ["check", &file].as_slice(),
        &["check", "--format", "json", &file],
        &["fix", &file],
        &["fix", "--diff", &file],
        &["undo", &file],
        &["rules"],
        &["--help"],
    ] {
        let mut child = warmgate(args).spawn().expect("the binary runs");
        drop(child.stdout.take());
        let done = child.wait_with_output().expect("the binary ends");
        let errors = String::from_utf8_lossy(&done.stderr).into_owned();
        assert!(!errors.contains("panicked"), "{args:?}: {errors}");
        assert!(
            matches!(done.status.code(), Some(0 | 1)),
            "{args:?}: {errors}"
        );
    }
}

#[test]
fn usage_errors_exit_with_two() {
    for args in [
        ["check", "--mode", "strict", "x"].as_slice(),
        &["check", "--kubernetes-version", "2.0", "x"],
        &["explain", "--load", "soon", "x"],
        &["fix", "--write", "--diff", "x"],
        &["admit", "x"],
        &["nothing"],
        &[],
    ] {
        let ran = run(args);
        assert_eq!(ran.code, 2, "{args:?}");
        assert!(!ran.err.is_empty(), "{args:?}");
    }
}

#[test]
fn styles_are_for_terminals() {
    let file = "examples/vllm-crash-loop.yaml";
    for args in [["check", file], ["explain", file]] {
        assert!(!run(&args).out.contains('\u{1b}'), "{args:?}");
        let forced = warmgate(&args)
            .env("CLICOLOR_FORCE", "1")
            .output()
            .expect("the binary runs");
        assert!(ran(&forced).out.contains('\u{1b}'), "{args:?}");
    }
}
