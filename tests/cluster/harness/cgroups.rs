//! The cgroup of a cluster, in every hierarchy that is mounted.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::fault::{Context, Outcome};

/// How long the last processes of a cgroup may take to go.
const EMPTY: Duration = Duration::from_secs(10);

/// Makes the cgroup `name`. The kubelet demands that its root exists.
///
/// # Errors
///
/// What the kernel says.
pub(crate) fn make(name: &str) -> Outcome<()> {
    for hierarchy in hierarchies() {
        let cgroup = hierarchy.join(name);
        fs::create_dir_all(&cgroup).context(cgroup.display())?;
    }
    Ok(())
}

/// Removes the cgroup `name` and everything below it.
///
/// # Errors
///
/// One that does not become empty.
pub(crate) fn remove(name: &str) -> Outcome<()> {
    let deadline = Instant::now() + EMPTY;
    for hierarchy in hierarchies() {
        let cgroup = hierarchy.join(name);
        loop {
            match remove_below(&cgroup) {
                Ok(()) => break,
                Err(error) if error.kind() == ErrorKind::NotFound => break,
                // The kernel takes a moment to forget a killed process.
                Err(_) if Instant::now() < deadline => {
                    std::thread::sleep(Duration::from_millis(20));
                }
                Err(error) => return Err(error).context(cgroup.display()),
            }
        }
    }
    Ok(())
}

/// The cgroups `name` that exist.
pub(crate) fn found(name: &str) -> Vec<PathBuf> {
    let cgroups = hierarchies()
        .into_iter()
        .map(|hierarchy| hierarchy.join(name));
    cgroups.filter(|cgroup| cgroup.exists()).collect()
}

/// A cgroup is removed by its folder alone, when it has no folder below it; its files are the kernel's.
fn remove_below(cgroup: &Path) -> std::io::Result<()> {
    for entry in fs::read_dir(cgroup)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            remove_below(&entry.path())?;
        }
    }
    fs::remove_dir(cgroup)
}

/// Where cgroup hierarchies are mounted, of both versions: some kernels mount version 1 beside 2.
fn hierarchies() -> Vec<PathBuf> {
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    let mut found: Vec<_> = mounts
        .lines()
        .filter_map(|line| {
            let mut words = line.split(' ').skip(1);
            let path = words.next()?;
            matches!(words.next()?, "cgroup" | "cgroup2").then(|| PathBuf::from(path))
        })
        .collect();
    found.dedup();
    found
}
