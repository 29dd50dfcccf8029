//! What would show that a cluster has run here.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::cgroups;
use super::state::State;

/// What only this cluster has while it runs.
#[derive(Clone, Debug)]
pub(crate) struct Trace {
    state: State,
    /// The names the kernel has for its network and process namespaces; every process of the cluster is in one of them. They are
    /// held open: the kernel gives the name of one that is gone to the next that is made, and that may be another cluster's.
    namespaces: Vec<(PathBuf, Arc<File>)>,
}

/// The kinds of these namespaces.
const KINDS: [&str; 2] = ["net", "pid"];

impl Trace {
    /// The trace of a cluster whose first process is `pid`.
    pub(crate) fn of(state: &State, pid: u32) -> Self {
        let namespaces = KINDS.iter().filter_map(|kind| {
            let path = format!("/proc/{pid}/ns/{kind}");
            let file = File::open(&path).ok()?;
            Some((fs::read_link(path).ok()?, Arc::new(file)))
        });
        Self {
            state: state.clone(),
            namespaces: namespaces.collect(),
        }
    }

    /// What is still there: processes, mounts, cgroups, files. A namespace goes with its last process and its last mount.
    pub(crate) fn left(&self) -> Vec<String> {
        let mut left = self.processes();
        let folder = self.state.path().display().to_string();
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
        let ours = mounts
            .lines()
            .filter(|line| line.contains(&folder) || line.contains("nsfs"));
        left.extend(
            ours.filter(|line| self.is_ours(line, &folder))
                .map(|line| format!("mount {line}")),
        );
        let cgroups = cgroups::found(&self.state.cgroup());
        left.extend(
            cgroups
                .iter()
                .map(|cgroup| format!("cgroup {}", cgroup.display())),
        );
        if self.state.path().exists() {
            left.push(format!("folder {folder}"));
        }
        left
    }

    /// A mount in our folder, or one that keeps a namespace of ours.
    fn is_ours(&self, mount: &str, folder: &str) -> bool {
        let names = |(namespace, _): &(PathBuf, _)| mount.contains(&*namespace.to_string_lossy());
        mount.contains(folder) || self.namespaces.iter().any(names)
    }

    /// The processes that are in one of its namespaces.
    pub(crate) fn processes(&self) -> Vec<String> {
        let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
        processes
            .map(|entry| entry.path())
            .filter(|process| self.is_in(process))
            .map(|process| {
                let line = fs::read_to_string(process.join("cmdline")).unwrap_or_default();
                format!("process {} {}", process.display(), line.replace('\0', " "))
            })
            .collect()
    }

    /// Whether a process is in one of the namespaces.
    fn is_in(&self, process: &Path) -> bool {
        KINDS.iter().any(|kind| {
            let found = fs::read_link(process.join("ns").join(kind));
            let is = |(namespace, _): &(PathBuf, _)| found.as_ref().is_ok_and(|it| it == namespace);
            self.namespaces.iter().any(is)
        })
    }
}
