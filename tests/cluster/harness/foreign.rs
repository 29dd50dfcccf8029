//! The way to the API of a cluster that somebody else runs.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::client::Client;
use super::fault::{Context, Outcome};
use super::folders;
use super::tools::Tools;

/// How long its API server may take to answer for the first time.
const ANSWER: Duration = Duration::from_secs(30);

/// A `kubectl proxy` of ours, outside of the cluster.
#[derive(Debug)]
pub(crate) struct Foreign {
    process: Child,
    socket: PathBuf,
}

impl Foreign {
    /// Reaches the cluster that `kubeconfig` names.
    ///
    /// # Errors
    ///
    /// It does not answer.
    pub(crate) fn reach(tools: &Tools, kubeconfig: &Path) -> Outcome<(Self, Client)> {
        let socket = folders::base().join(format!("api-{}.sock", std::process::id()));
        let process = Command::new(tools.kubernetes("kubectl"))
            .arg(format!("--kubeconfig={}", kubeconfig.display()))
            .arg("proxy")
            .arg(format!("--unix-socket={}", socket.display()))
            .stdout(Stdio::null())
            .spawn()
            .context("kubectl proxy")?;
        let client = Client::new(socket.clone());
        let foreign = Self { process, socket };
        let deadline = Instant::now() + ANSWER;
        while let Err(fault) = client.get("/readyz") {
            if Instant::now() > deadline {
                return Err(fault).context(kubeconfig.display());
            }
            std::thread::sleep(Duration::from_millis(200));
        }
        Ok((foreign, client))
    }
}

impl Drop for Foreign {
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().ok();
        std::fs::remove_file(&self.socket).ok();
    }
}
