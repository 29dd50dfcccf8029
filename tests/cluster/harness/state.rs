//! A cluster's folder, who holds it, and what is done once nobody does.

use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use sha2::{Digest, Sha256};

use super::cgroups;
use super::fault::{Context, Fault, Outcome};
use super::folders;
use super::signals;

/// How long the kernel may take to end a killed cluster.
const END: Duration = Duration::from_secs(30);

/// The folder of one cluster, running or not.
#[derive(Clone, Debug)]
pub(crate) struct State {
    name: String,
    path: PathBuf,
}

impl State {
    /// The state of the cluster `name` of this source tree.
    pub(crate) fn of(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            path: folders::state(name),
        }
    }

    /// The cluster's name.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The folder.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The file whose lock the first process of the cluster holds as long as it lives.
    pub(crate) fn lock(&self) -> PathBuf {
        self.path.join("lock")
    }

    /// The file with the process id of the first process.
    pub(crate) fn pid(&self) -> PathBuf {
        self.path.join("pid")
    }

    /// What the user's kubectl is given.
    pub(crate) fn kubeconfig(&self) -> PathBuf {
        self.path.join("admin.conf")
    }

    /// The cgroup below which the kubelet puts every pod: another source tree's cluster of the same name has another.
    pub(crate) fn cgroup(&self) -> String {
        let digest = Sha256::digest(self.path.as_os_str().as_encoded_bytes());
        format!(
            "warmgate-{}-{:02x}{:02x}{:02x}{:02x}",
            self.name, digest[0], digest[1], digest[2], digest[3]
        )
    }

    /// The first process of the cluster, in the host's numbers, while the cluster runs.
    pub(crate) fn running(&self) -> Option<u32> {
        let lock = File::open(self.lock()).ok()?;
        if lock.try_lock().is_ok() {
            return None;
        }
        fs::read_to_string(self.pid()).ok()?.trim().parse().ok()
    }

    /// Makes the folder anew, after clearing what a dead run left.
    ///
    /// # Errors
    ///
    /// A cluster of this name is running; or what the file system says.
    pub(crate) fn claim(&self) -> Outcome<()> {
        if let Some(pid) = self.running() {
            return Err(Fault::new(format!(
                "the cluster {} is running already (process {pid})",
                self.name
            )));
        }
        self.clear()?;
        for own in ["lib", "log", "run", "pki", "etc"] {
            let folder = self.path.join(own);
            fs::create_dir_all(&folder).context(folder.display())?;
        }
        let logs = folders::logs(&self.name);
        match fs::remove_dir_all(&logs) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                return Err(error).context(logs.display());
            }
            _ => fs::create_dir_all(&logs).context(logs.display())?,
        }
        cgroups::make(&self.cgroup())
    }

    /// Ends the cluster if it runs, and leaves nothing of it but its logs and those of its pods. Whether there was anything.
    ///
    /// # Errors
    ///
    /// What could not be ended or removed.
    pub(crate) fn take_down(&self) -> Outcome<bool> {
        let found = self.path.exists();
        if let Some(pid) = self.running() {
            // Its lock is held, so the process is the one that wrote its id.
            signals::send(pid, Signal::KILL).context("ending the first process")?;
            let deadline = Instant::now() + END;
            while self.running().is_some() {
                if Instant::now() > deadline {
                    return Err(Fault::new(format!(
                        "the cluster {} does not end",
                        self.name
                    )));
                }
                std::thread::sleep(Duration::from_millis(20));
            }
        }
        self.keep_pod_logs();
        self.clear()?;
        Ok(found)
    }

    /// Puts what the pods said beside the logs of the components, which stay. Where it cannot be moved it goes with the rest.
    fn keep_pod_logs(&self) {
        let kept = folders::logs(&self.name).join("pods");
        fs::rename(folders::pod_logs(&self.name), kept).ok();
    }

    /// Removes the cgroups and the folder of a cluster that no process belongs to.
    fn clear(&self) -> Outcome<()> {
        cgroups::remove(&self.cgroup())?;
        match fs::remove_dir_all(&self.path) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                Err(error).context(self.path.display())
            }
            _ => Ok(()),
        }
    }
}

/// Every cluster of this source tree that runs or left something.
pub(crate) fn all() -> Vec<State> {
    let Ok(found) = fs::read_dir(folders::base().join("run")) else {
        return Vec::new();
    };
    found
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok())
        .map(|name| State::of(&name))
        .collect()
}
