//! However a cluster ends, nothing of it is left.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::harness::cluster::{Cluster, Options};
use crate::harness::leftovers::Trace;
use crate::harness::signals;
use crate::harness::state::State;
use crate::harness::versions;

const DEADLINE: Duration = Duration::from_secs(180);

/// It has every kind of mount, a network and a cgroup.
const POD: &str = r#"
apiVersion: v1
kind: Pod
metadata:
  name: clings
spec:
  containers:
  - name: clings
    image: busybox:local
    command: [sleep, "3600"]
    volumeMounts:
    - {name: memory, mountPath: /memory}
    - {name: disk, mountPath: /disk}
  volumes:
  - {name: memory, emptyDir: {medium: Memory}}
  - {name: disk, emptyDir: {}}
"#;

/// Folders of the host that a kubelet or containerd would write to.
const HOST: [&str; 8] = [
    "/etc/cni/net.d",
    "/opt/containerd",
    "/run/containerd",
    "/run/netns",
    "/var/lib/cni",
    "/var/lib/containerd",
    "/var/lib/kubelet",
    "/var/log/pods",
];

/// After a panic, after SIGTERM, and, but for files that the next start clears away, after SIGKILL.
pub(super) fn leaves_nothing() {
    let before = HOST.map(listing);
    after_a_panic();
    after_sigterm();
    after_sigkill();
    assert_eq!(HOST.map(listing), before);
}

fn after_a_panic() {
    let mut trace = None;
    let end = catch_unwind(AssertUnwindSafe(|| {
        let kubernetes = versions::chosen().unwrap_or_else(|why| panic!("{why}"));
        let options = Options {
            kubernetes,
            name: "panics",
            kubelet: "",
        };
        let cluster = Cluster::start(&options).unwrap_or_else(|fault| panic!("{fault}"));
        let own = cluster.own().map(|own| Trace::of(own.state(), own.pid()));
        assert!(
            !own.as_ref().is_some_and(|trace| trace.left().is_empty()),
            "nothing to see"
        );
        trace = own;
        let namespace = cluster.namespace("teardown", &[]);
        namespace.apply(POD);
        namespace.ready("clings", DEADLINE);
        std::panic::resume_unwind(Box::new("as meant"));
    }));
    let why = end.expect_err("it panics");
    assert_eq!(why.downcast_ref(), Some(&"as meant"));
    let trace = trace.expect("it started");
    assert_eq!(trace.left(), Vec::<String>::new());
}

fn after_sigterm() {
    let mut victim = Victim::start("terminated");
    signals::send(victim.child.id(), Signal::TERM).expect("it runs");
    let status = victim.child.wait().expect("it was started");
    assert_eq!(status.code(), Some(130));
    assert_eq!(victim.trace.left(), Vec::<String>::new());
}

fn after_sigkill() {
    let mut victim = Victim::start("killed");
    signals::send(victim.child.id(), Signal::KILL).expect("it runs");
    victim.child.wait().expect("it was started");
    // The kernel ends what is left, since the pipe from the harness has closed.
    let deadline = Instant::now() + DEADLINE;
    while victim.state.running().is_some() || !victim.trace.processes().is_empty() {
        assert!(Instant::now() < deadline, "{:?}", victim.trace.left());
        std::thread::sleep(Duration::from_millis(50));
    }
    let found = victim
        .state
        .take_down()
        .unwrap_or_else(|fault| panic!("{fault}"));
    assert!(found, "there were no files to clear away");
    assert_eq!(victim.trace.left(), Vec::<String>::new());
}

/// A harness of its own that can be killed.
struct Victim {
    child: Child,
    state: State,
    trace: Trace,
}

impl Victim {
    fn start(name: &str) -> Self {
        let own = std::env::current_exe().expect("this program has a path");
        let child = Command::new(own)
            .args(["--foreground", name])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .expect("this program can be started");
        let state = State::of(name);
        let deadline = Instant::now() + DEADLINE;
        // The socket of containerd comes with the last of what could be left behind.
        while !state.path().join("run/containerd/containerd.sock").exists() {
            assert!(Instant::now() < deadline, "{name} does not start");
            std::thread::sleep(Duration::from_millis(50));
        }
        let pid = state.running().expect("it runs");
        let trace = Trace::of(&state, pid);
        assert!(!trace.processes().is_empty());
        Self {
            child,
            state,
            trace,
        }
    }
}

impl Drop for Victim {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// The names in a folder, or nothing where there is none.
fn listing(folder: &str) -> Option<Vec<String>> {
    let entries = fs::read_dir(Path::new(folder)).ok()?;
    let mut names: Vec<_> = entries
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    Some(names)
}
