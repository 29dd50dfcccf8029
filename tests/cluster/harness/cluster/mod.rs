//! A cluster as a suite sees it: our own, or one that somebody else runs.

mod api;
mod commands;

use std::path::{Path, PathBuf};

use super::client::Client;
use super::command::run;
use super::fault::Outcome;
use super::folders;
use super::foreign::Foreign;
use super::logs;
use super::own::{self, Own};
use super::steps::Steps;
use super::tools::Tools;

/// Which cluster to start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Options<'a> {
    /// The release of Kubernetes, one of [`super::versions::KUBERNETES`].
    pub(crate) kubernetes: &'a str,
    /// What tells it from other clusters of this source tree.
    pub(crate) name: &'a str,
    /// More lines of the kubelet's configuration, each with its end.
    pub(crate) kubelet: &'a str,
}

/// A running cluster. Dropping it takes it down.
#[derive(Debug)]
pub(crate) struct Cluster {
    kubernetes: String,
    client: Client,
    tools: Tools,
    kubeconfig: PathBuf,
    /// Where kubectl and Helm keep what they remember. Clusters have the same address, so they must not share it.
    scratch: PathBuf,
    backing: Backing,
}

/// What stands behind a cluster.
#[derive(Debug)]
enum Backing {
    Own(Box<Own>),
    /// Somebody else's.
    Foreign(#[expect(dead_code, reason = "our way to it ends with this")] Foreign),
}

impl Cluster {
    /// Builds what is missing and starts a cluster of our own.
    ///
    /// # Errors
    ///
    /// The step that failed. The logs have been shown, and everything that was started has ended.
    pub(crate) fn start(options: &Options<'_>) -> Outcome<Self> {
        let steps = Steps::new(options.name);
        let tools = Tools::build(options.kubernetes, &steps)?;
        let client = Client::new(own::socket(options.name));
        let own = Own::start(options, &tools, &client, &steps)
            .inspect_err(|_| logs::show(options.name))?;
        let cluster = Self {
            kubernetes: options.kubernetes.to_owned(),
            kubeconfig: own.state().kubeconfig(),
            scratch: own.state().path().join("home"),
            backing: Backing::Own(Box::new(own)),
            client,
            tools,
        };
        cluster.write_programs()?;
        Ok(cluster)
    }

    /// Takes somebody else's cluster, the one that `kubeconfig` names.
    ///
    /// # Errors
    ///
    /// Its API cannot be reached.
    pub(crate) fn foreign(kubernetes: &str, kubeconfig: &Path) -> Outcome<Self> {
        let tools = Tools::build(kubernetes, &Steps::new("foreign"))?;
        let (foreign, client) = Foreign::reach(&tools, kubeconfig)?;
        let cluster = Self {
            kubernetes: kubernetes.to_owned(),
            kubeconfig: kubeconfig.to_owned(),
            scratch: folders::base().join("home"),
            backing: Backing::Foreign(foreign),
            client,
            tools,
        };
        cluster.write_programs()?;
        Ok(cluster)
    }

    /// The release of Kubernetes whose programs it uses.
    pub(crate) fn kubernetes(&self) -> &str {
        &self.kubernetes
    }

    /// Our cluster, if it is one.
    pub(crate) fn own(&self) -> Option<&Own> {
        match &self.backing {
            Backing::Own(own) => Some(own),
            Backing::Foreign(_) => None,
        }
    }

    /// Loads the image in the archive `tar` into the node. In somebody else's cluster whoever runs it has done so.
    ///
    /// # Panics
    ///
    /// When it cannot be loaded.
    #[track_caller]
    pub(crate) fn load_image(&self, tar: &Path) {
        if let Some(own) = self.own() {
            expect(own.load(tar));
        }
    }

    /// Prints the logs of every component, and what containerd runs.
    pub(crate) fn show_logs(&self) {
        let Some(own) = self.own() else { return };
        logs::show(own.state().name());
        let mut crictl = own.inside(self.tools.crictl());
        crictl.args([
            "--config=/dev/null",
            "--runtime-endpoint=unix:///run/containerd/containerd.sock",
            "ps",
            "--all",
        ]);
        if let Ok(done) = run(&mut crictl, None) {
            println!("--- containers\n{}{}", done.out, done.err);
        }
    }

    /// Lets the cluster outlive this process, and gives the folder of the programs that use it.
    ///
    /// # Errors
    ///
    /// It has ended already.
    pub(crate) fn stay(self) -> Outcome<PathBuf> {
        let programs = self.programs();
        if let Backing::Own(own) = self.backing {
            own.stay()?;
        }
        Ok(programs)
    }

    /// Ends a cluster of our own.
    ///
    /// # Errors
    ///
    /// What could not be removed.
    pub(crate) fn end(mut self) -> Outcome<()> {
        match &mut self.backing {
            Backing::Own(own) => own.end(),
            Backing::Foreign(_) => Ok(()),
        }
    }
}

/// What a suite cannot go on without.
#[track_caller]
fn expect<T>(outcome: Outcome<T>) -> T {
    match outcome {
        Ok(done) => done,
        Err(fault) => panic!("{fault}"),
    }
}
