//! A cluster of our own: how it starts, and how it ends.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use super::certificates::Certificates;
use super::client::Client;
use super::cluster::Options;
use super::command::run;
use super::components::{API_SOCKET, Components, NODE_NAME};
use super::fault::{Fault, Outcome};
use super::folders;
use super::interrupt;
use super::logs;
use super::sandbox::{Component, Paused, Sandbox};
use super::state::State;
use super::steps::Steps;
use super::tools::Tools;
use crate::image;

/// How long the API server, and then the node, may take to be ready, on a busy machine.
const READY: Duration = Duration::from_secs(180);

/// What the node pretends to have: nothing checks it but the scheduler.
const ACCELERATORS: &str = r#"[
  {"op": "add", "path": "/status/capacity/nvidia.com~1gpu", "value": "64"},
  {"op": "add", "path": "/status/allocatable/nvidia.com~1gpu", "value": "64"}
]"#;

/// Everything that runs, and ends with it.
#[derive(Debug)]
pub(crate) struct Own {
    state: State,
    sandbox: Sandbox,
    components: Mutex<Vec<Component>>,
    audit_log: PathBuf,
    stays: bool,
}

impl Own {
    /// Starts everything, and returns once the node is ready and the images of the tests are loaded.
    ///
    /// # Errors
    ///
    /// The step that failed; everything started before has ended.
    pub(crate) fn start(
        options: &Options<'_>,
        tools: &Tools,
        client: &Client,
        steps: &Steps,
    ) -> Outcome<Self> {
        let state = State::of(options.name);
        interrupt::watch(&state)?;
        let sandbox = steps.take("namespaces made", || {
            state.claim()?;
            Sandbox::open(&state).inspect_err(|_| drop(state.take_down()))
        });
        let sandbox = sandbox.inspect_err(|_| interrupt::forget(&state))?;
        let mut own = Self {
            audit_log: PathBuf::new(),
            components: Mutex::default(),
            sandbox,
            state,
            stays: false,
        };
        own.bring_up(options, tools, client, steps)?;
        Ok(own)
    }

    fn bring_up(
        &mut self,
        options: &Options<'_>,
        tools: &Tools,
        client: &Client,
        steps: &Steps,
    ) -> Outcome<()> {
        let certificates =
            Certificates::make(&self.state.path().join("pki"), &self.state.kubeconfig())?;
        let components = Components {
            state: &self.state,
            sandbox: &self.sandbox,
            tools,
            certificates: &certificates,
        };
        self.run("etcd", &mut components.etcd())?;
        self.run("kube-apiserver", &mut components.apiserver()?)?;
        self.run("containerd", &mut components.containerd()?)?;
        self.run("api-socket", &mut components.api_socket())?;
        let audit_log = components.audit_log();
        steps.take("test images loaded", || {
            self.until("containerd", || Ok(self.containerd(&["version"])?.ok))?;
            self.load(&image::pause()?)?;
            self.load(&image::shell()?)
        })?;
        steps.take("API server ready", || {
            self.until("the API server", || Ok(client.get("/readyz").is_ok()))
        })?;
        self.run(
            "kube-controller-manager",
            &mut components.controller_manager(),
        )?;
        self.run("kube-scheduler", &mut components.scheduler())?;
        self.run("kubelet", &mut components.kubelet(options.kubelet)?)?;
        self.run("kube-proxy", &mut components.proxy())?;
        steps.take("node ready", || {
            self.until("the node", || node_is_ready(client))?;
            self.pretend(client)
        })?;
        self.audit_log = audit_log;
        Ok(())
    }

    /// Starts one component.
    fn run(&self, name: &str, command: &mut Command) -> Outcome<()> {
        let component = Sandbox::start(&self.state, name, command)?;
        self.locked().push(component);
        Ok(())
    }

    fn locked(&self) -> std::sync::MutexGuard<'_, Vec<Component>> {
        self.components
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Waits until `ready`, or until a component has ended, which none may.
    fn until(&self, what: &str, ready: impl Fn() -> Outcome<bool>) -> Outcome<()> {
        let deadline = Instant::now() + READY;
        loop {
            if ready()? {
                return Ok(());
            }
            if let Some(ended) = self
                .locked()
                .iter_mut()
                .find_map(|one| one.ended().then(|| one.name.clone()))
            {
                return Err(Fault::new(format!("{ended} has ended")));
            }
            if interrupt::interrupted() {
                return Err(Fault::new("interrupted"));
            }
            if Instant::now() > deadline {
                return Err(Fault::new(format!(
                    "{what} is not ready after {} s",
                    READY.as_secs()
                )));
            }
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    fn pretend(&self, client: &Client) -> Outcome<()> {
        let path = format!("/api/v1/nodes/{NODE_NAME}/status");
        let answer = client.send("PATCH", &path, "application/json-patch+json", ACCELERATORS)?;
        if answer.status == 200 {
            return Ok(());
        }
        Err(Fault::new(answer.body))
    }

    fn containerd(&self, arguments: &[&str]) -> Outcome<super::command::Done> {
        let mut ctr = self.sandbox.command("ctr");
        run(ctr.args(["--namespace", "k8s.io"]).args(arguments), None)
    }

    /// Loads the image in the archive `tar` into the node.
    ///
    /// # Errors
    ///
    /// What containerd says.
    pub(crate) fn load(&self, tar: &Path) -> Outcome<()> {
        let tar = tar.display().to_string();
        self.containerd(&["images", "import", &tar])?
            .checked()
            .map(drop)
    }

    /// `program` in the cluster's network.
    pub(crate) fn connected(&self, program: &Path) -> Command {
        self.sandbox.connected(program)
    }

    /// `program` inside all of the cluster's namespaces.
    pub(crate) fn inside(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        self.sandbox.command(program)
    }

    /// The first process, in the host's numbers.
    pub(crate) fn pid(&self) -> u32 {
        self.sandbox.pid()
    }

    /// The folder and the lock.
    pub(crate) fn state(&self) -> &State {
        &self.state
    }

    /// Where the API server writes what it was asked.
    pub(crate) fn audit_log(&self) -> &Path {
        &self.audit_log
    }

    /// Stops a component where it is, as on a node that hangs, until the result is dropped.
    ///
    /// # Errors
    ///
    /// It is not there, or has ended.
    pub(crate) fn pause(&self, component: &str) -> Outcome<Paused> {
        let components = self.locked();
        let found = components.iter().find(|one| one.name == component);
        found
            .ok_or_else(|| Fault::new(format!("no component {component}")))?
            .pause()
    }

    /// Ends the first process of a container without asking it. `id` is what the API calls the container.
    ///
    /// # Errors
    ///
    /// What containerd says.
    pub(crate) fn kill(&self, id: &str) -> Outcome<()> {
        let id = id.trim_start_matches("containerd://");
        self.containerd(&["tasks", "kill", "--signal", "SIGKILL", id])?
            .checked()
            .map(drop)
    }

    /// Stops all processes of a container where they are, as on a node that hangs, until the result is dropped. `id` is what the
    /// API calls the container.
    ///
    /// # Errors
    ///
    /// What containerd says.
    pub(crate) fn freeze(&self, id: &str) -> Outcome<Frozen<'_>> {
        let id = id.trim_start_matches("containerd://").to_owned();
        self.containerd(&["tasks", "pause", &id])?.checked()?;
        Ok(Frozen { own: self, id })
    }

    /// Lets the cluster outlive this process.
    ///
    /// # Errors
    ///
    /// It has ended already.
    pub(crate) fn stay(mut self) -> Outcome<()> {
        self.sandbox.stay()?;
        self.stays = true;
        interrupt::forget(&self.state);
        Ok(())
    }

    /// Ends everything. Whoever asks twice is told that nothing is left.
    ///
    /// # Errors
    ///
    /// What could not be removed.
    pub(crate) fn end(&mut self) -> Outcome<()> {
        if self.stays {
            return Ok(());
        }
        self.stays = true;
        let down = self.state.take_down().map(drop);
        self.sandbox.wait();
        for component in self.locked().iter_mut() {
            component.wait();
        }
        interrupt::forget(&self.state);
        down
    }
}

/// A container that is stopped where it is.
#[derive(Debug)]
pub(crate) struct Frozen<'a> {
    own: &'a Own,
    id: String,
}

impl Drop for Frozen<'_> {
    fn drop(&mut self) {
        self.own.containerd(&["tasks", "resume", &self.id]).ok();
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        // Whatever panicked did so because of something that the cluster did.
        if std::thread::panicking() && !self.stays {
            logs::show(self.state.name());
        }
        if let Err(fault) = self.end() {
            eprintln!(
                "{}: not everything could be taken down: {fault}",
                self.state.name()
            );
        }
    }
}

/// The socket on which the cluster `name` serves its API.
pub(crate) fn socket(name: &str) -> PathBuf {
    folders::state(name).join(API_SOCKET)
}

fn node_is_ready(client: &Client) -> Outcome<bool> {
    let node = client.get(&format!("/api/v1/nodes/{NODE_NAME}"))?;
    let account = client.get("/api/v1/namespaces/default/serviceaccounts/default")?;
    let conditions = node
        .as_ref()
        .and_then(|node| node["status"]["conditions"].as_array());
    let ready = conditions.is_some_and(|conditions| {
        conditions
            .iter()
            .any(|one| one["type"] == "Ready" && one["status"] == "True")
    });
    Ok(ready && account.is_some())
}
