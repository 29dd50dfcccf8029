//! What would show that a cluster has run here.

use std::fs;
use std::path::PathBuf;

use super::cgroups;
use super::state::State;

/// What only this cluster has while it runs.
#[derive(Clone, Debug)]
pub(crate) struct Trace {
    state: State,
    /// The names the kernel has for its network, mount and process namespaces.
    namespaces: Vec<PathBuf>,
}

impl Trace {
    /// The trace of a cluster whose first process is `pid`.
    pub(crate) fn of(state: &State, pid: u32) -> Self {
        let namespaces = ["net", "mnt", "pid"]
            .iter()
            .filter_map(|kind| fs::read_link(format!("/proc/{pid}/ns/{kind}")).ok());
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
        let names = |namespace: &PathBuf| mount.contains(&*namespace.to_string_lossy());
        mount.contains(folder) || self.namespaces.iter().any(names)
    }

    /// The processes that are in one of its namespaces.
    pub(crate) fn processes(&self) -> Vec<String> {
        let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
        processes
            .map(|entry| entry.path())
            .filter(|process| {
                ["net", "mnt", "pid"].iter().any(|kind| {
                    let namespace = fs::read_link(process.join("ns").join(kind));
                    namespace.is_ok_and(|namespace| self.namespaces.contains(&namespace))
                })
            })
            .map(|process| {
                let line = fs::read_to_string(process.join("cmdline")).unwrap_or_default();
                format!("process {} {}", process.display(), line.replace('\0', " "))
            })
            .collect()
    }
}
