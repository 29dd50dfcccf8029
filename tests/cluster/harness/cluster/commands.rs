//! The programs of a cluster's users.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Backing, Cluster, expect};
use crate::harness::command::{Done, run};
use crate::harness::fault::{Context, Outcome};
use crate::harness::{folders, programs};

impl Cluster {
    fn program(&self, program: &Path) -> Command {
        let mut command = match &self.backing {
            Backing::Own(own) => own.connected(program),
            Backing::Foreign(_) => Command::new(program),
        };
        command.envs(self.environment());
        command
    }

    /// What kubectl and Helm go by, and where they write.
    fn environment(&self) -> Vec<(&'static str, PathBuf)> {
        vec![
            ("KUBECONFIG", self.kubeconfig.clone()),
            ("KUBERC", PathBuf::from("off")),
            ("KUBECACHEDIR", self.scratch.join("kubectl")),
            ("HELM_CACHE_HOME", self.scratch.join("helm-cache")),
            ("HELM_CONFIG_HOME", self.scratch.join("helm-config")),
            ("HELM_DATA_HOME", self.scratch.join("helm-data")),
        ]
    }

    /// Runs kubectl, with `input` as its standard input.
    ///
    /// # Panics
    ///
    /// When it cannot be started.
    #[track_caller]
    pub(crate) fn kubectl(&self, arguments: &[&str], input: Option<&str>) -> Done {
        expect(run(
            self.program(&self.tools.kubernetes("kubectl"))
                .args(arguments),
            input,
        ))
    }

    /// Runs Helm 3.
    ///
    /// # Panics
    ///
    /// When it cannot be started.
    #[track_caller]
    pub(crate) fn helm3(&self, arguments: &[&str]) -> Done {
        self.helm(&self.tools.helm3(), arguments)
    }

    /// Runs Helm 4.
    ///
    /// # Panics
    ///
    /// When it cannot be started.
    #[track_caller]
    pub(crate) fn helm4(&self, arguments: &[&str]) -> Done {
        self.helm(&self.tools.helm4(), arguments)
    }

    #[track_caller]
    fn helm(&self, helm: &Path, arguments: &[&str]) -> Done {
        let mut command = self.program(helm);
        expect(run(
            command.current_dir(folders::package()).args(arguments),
            None,
        ))
    }

    /// The folder of the programs.
    pub(super) fn programs(&self) -> PathBuf {
        self.scratch.join("bin")
    }

    /// Writes the programs of a user of this cluster.
    pub(super) fn write_programs(&self) -> Outcome<()> {
        let programs = [
            ("kubectl", self.tools.kubernetes("kubectl")),
            ("helm", self.tools.helm4()),
            ("helm3", self.tools.helm3()),
        ];
        programs.iter().try_for_each(|(name, program)| {
            programs::write(&self.programs().join(name), &self.program(program))
        })
    }

    /// Runs a line of a shell at the root of the package, as a user of the cluster does: with its programs in the path. What
    /// it writes to standard error stands among its output.
    ///
    /// # Panics
    ///
    /// When it cannot be started.
    #[track_caller]
    pub(crate) fn shell(&self, line: &str) -> Done {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path = std::iter::once(self.programs()).chain(std::env::split_paths(&path));
        let path = expect(std::env::join_paths(path).context("PATH"));
        let mut shell = Command::new("sh");
        shell
            .current_dir(folders::package())
            .env("PATH", path)
            .args(["-c", &format!("exec 2>&1\n{line}")]);
        expect(run(&mut shell, None))
    }
}
