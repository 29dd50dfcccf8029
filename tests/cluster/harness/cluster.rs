//! A cluster as a suite sees it: our own, or one that somebody else runs.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::audit::Record;
use super::client::{Answer, Client};
use super::command::{Done, run};
use super::fault::{Context, Outcome};
use super::folders;
use super::foreign::Foreign;
use super::namespace::Namespace;
use super::own::{self, Own};
use super::programs;
use super::steps::Steps;
use super::tools::Tools;

/// Which cluster to start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Options<'a> {
    /// The release of Kubernetes, one of [`super::versions::KUBERNETES`].
    pub(crate) kubernetes: &'a str,
    /// What tells it from other clusters of this source tree.
    pub(crate) name: &'a str,
}

/// A running cluster. Dropping it takes it down.
#[derive(Debug)]
pub(crate) struct Cluster {
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
        let own = Own::start(options.name, &tools, &client, &steps)
            .inspect_err(|_| own::show_logs(options.name))?;
        let cluster = Self {
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
            kubeconfig: kubeconfig.to_owned(),
            scratch: folders::base().join("home"),
            backing: Backing::Foreign(foreign),
            client,
            tools,
        };
        cluster.write_programs()?;
        Ok(cluster)
    }

    /// Our cluster, if it is one.
    pub(crate) fn own(&self) -> Option<&Own> {
        match &self.backing {
            Backing::Own(own) => Some(own),
            Backing::Foreign(_) => None,
        }
    }

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

    /// Sends one request to the API server. `kind` is the media type of the `body`.
    ///
    /// # Panics
    ///
    /// When there is no answer.
    #[track_caller]
    pub(crate) fn api(&self, method: &str, path: &str, kind: &str, body: &str) -> Answer {
        expect(self.client.send(method, path, kind, body))
    }

    /// The same, for who is about to end and must not fail.
    pub(super) fn client(&self) -> &Client {
        &self.client
    }

    /// Deletes what is at `path`, if it can: for who is about to end and must not fail.
    pub(crate) fn forget(&self, path: &str) {
        self.client
            .send("DELETE", path, "application/json", "")
            .ok();
    }

    /// What the API has at `path`, or nothing.
    ///
    /// # Panics
    ///
    /// When the API server refuses.
    #[track_caller]
    pub(crate) fn get(&self, path: &str) -> Option<Value> {
        expect(self.client.get(path))
    }

    /// Makes a namespace with these `labels`, whose name begins with `name` and is nobody else's.
    ///
    /// # Panics
    ///
    /// When it cannot be made.
    #[track_caller]
    pub(crate) fn namespace(&self, name: &str, labels: &[(&str, &str)]) -> Namespace<'_> {
        Namespace::make(self, name, labels)
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

    /// What the API server was asked and answered, oldest first. Only a cluster of our own has it.
    ///
    /// # Panics
    ///
    /// When the log cannot be read.
    #[track_caller]
    pub(crate) fn audit(&self) -> Vec<Record> {
        let own = self
            .own()
            .expect("suites that read the audit log run on a cluster of our own");
        expect(super::audit::read(own.audit_log()))
    }

    /// Asks `look` four times a second until it gives something, and gives that. What it says otherwise is what has been seen.
    ///
    /// # Panics
    ///
    /// When `deadline` has passed; then it says what was seen last.
    #[track_caller]
    pub(crate) fn wait_for<T>(
        &self,
        what: &str,
        deadline: Duration,
        mut look: impl FnMut() -> Result<T, String>,
    ) -> T {
        let start = Instant::now();
        loop {
            match look() {
                Ok(found) => return found,
                Err(seen) => assert!(
                    start.elapsed() < deadline,
                    "no {what} within {} s: {seen}",
                    deadline.as_secs()
                ),
            }
            std::thread::sleep(Duration::from_millis(250));
        }
    }

    /// Prints the logs of every component, and what containerd runs.
    pub(crate) fn show_logs(&self) {
        let Some(own) = self.own() else { return };
        own.show_logs();
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

    fn programs(&self) -> PathBuf {
        self.scratch.join("bin")
    }

    /// Writes the programs of a user of this cluster.
    fn write_programs(&self) -> Outcome<()> {
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
