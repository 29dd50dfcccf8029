//! Where everything lies: below `cluster` in cargo's target folder, and the pinned modules in the source.

use std::path::{Path, PathBuf};

/// The root of the package.
pub(crate) fn package() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The folders with the `go.mod` and `go.sum` of each tool.
pub(crate) fn modules() -> PathBuf {
    package().join("tests/cluster/tools")
}

/// Cargo's target folder.
pub(crate) fn target() -> &'static Path {
    let scratch = Path::new(env!("CARGO_TARGET_TMPDIR"));
    scratch.parent().unwrap_or(scratch)
}

/// What the harness builds, runs and leaves.
pub(crate) fn base() -> PathBuf {
    target().join("cluster")
}

/// The programs that were built, a folder for each tool and state of its module. It outlives every run.
pub(crate) fn programs() -> PathBuf {
    base().join("bin")
}

/// The images that were written.
pub(crate) fn images() -> PathBuf {
    base().join("images")
}

/// Everything a running cluster writes; gone when it has ended.
pub(crate) fn state(name: &str) -> PathBuf {
    base().join("run").join(name)
}

/// What the pods of a running cluster say: a folder a pod, in it a folder a container.
pub(crate) fn pod_logs(name: &str) -> PathBuf {
    state(name).join("log/pods")
}

/// The logs of a cluster's components, and once it has ended its pods'; they stay until the next cluster of that name starts.
pub(crate) fn logs(name: &str) -> PathBuf {
    base().join("logs").join(name)
}
