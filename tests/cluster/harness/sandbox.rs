//! Network, mount and process namespaces of a cluster's own.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

use rustix::process::Signal;

use super::command::run;
use super::fault::{Context, Fault, Outcome};
use super::folders;
use super::holder::STAY;
use super::signals;
use super::state::State;

/// The address of the node, in its own network: every cluster has the same.
pub(crate) const NODE: &str = "192.168.77.1";

/// The namespaces, held by a first process that ends when this is dropped, however that comes.
#[derive(Debug)]
pub(crate) struct Sandbox {
    unshare: Child,
    pid: u32,
}

impl Sandbox {
    /// Makes the namespaces, with a network in which the node has an address.
    ///
    /// # Errors
    ///
    /// What `unshare` or the holder says.
    pub(crate) fn open(state: &State) -> Outcome<Self> {
        let own = std::env::current_exe().context("finding this program")?;
        let mut unshare = Command::new("unshare")
            .args([
                "--net",
                "--mount",
                "--propagation",
                "private",
                "--pid",
                "--kill-child",
            ])
            .arg(own)
            .args(["--hold", state.name()])
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .context("unshare")?;
        let mut line = String::new();
        if let Some(out) = unshare.stdout.take() {
            BufReader::new(out)
                .read_line(&mut line)
                .context("the first process")?;
        }
        let Ok(pid) = line.trim().parse() else {
            let mut why = String::new();
            if let Some(mut error) = unshare.stderr.take() {
                error.read_to_string(&mut why).ok();
            }
            unshare.wait().context("unshare")?;
            return Err(Fault::new(why.trim()));
        };
        let sandbox = Self { unshare, pid };
        sandbox.network()?;
        Ok(sandbox)
    }

    /// A bridge with the node's address, behind which nothing is: no packet leaves.
    fn network(&self) -> Outcome<()> {
        let address = format!("{NODE}/24");
        for line in [
            ["link", "set", "lo", "up"].as_slice(),
            &["link", "add", "node0", "type", "bridge"],
            &["addr", "add", &address, "dev", "node0"],
            &["link", "set", "node0", "up"],
            // Without a default route Kubernetes finds no address for its node.
            &["route", "add", "default", "dev", "node0"],
        ] {
            run(self.command("ip").args(line), None)?.checked()?;
        }
        let forward = "echo 1 > /proc/sys/net/ipv4/ip_forward";
        run(self.command("sh").args(["-c", forward]), None)?
            .checked()
            .map(drop)
    }

    /// The first process, in the host's numbers.
    pub(crate) fn pid(&self) -> u32 {
        self.pid
    }

    /// `program` inside all of the namespaces.
    pub(crate) fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new("nsenter");
        command
            .args([
                "--target",
                &self.pid.to_string(),
                "--net",
                "--mount",
                "--pid",
                "--",
            ])
            .arg(program)
            .process_group(0);
        command
    }

    /// `program` in the cluster's network, with everything else as it is outside.
    pub(crate) fn connected(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new("nsenter");
        command
            .args(["--target", &self.pid.to_string(), "--net", "--"])
            .arg(program)
            .process_group(0);
        command
    }

    /// Starts `command` as the component `name`, with a log of its own.
    ///
    /// # Errors
    ///
    /// That it cannot be started.
    pub(crate) fn start(state: &State, name: &str, command: &mut Command) -> Outcome<Component> {
        let path = folders::logs(state.name()).join(format!("{name}.log"));
        let log = File::create(&path).context(path.display())?;
        let child = command
            .stdin(Stdio::null())
            .stdout(log.try_clone().context(path.display())?)
            .stderr(log)
            .spawn()
            .context(name)?;
        Ok(Component {
            name: name.to_owned(),
            child,
        })
    }

    /// Lets the cluster outlive this process.
    ///
    /// # Errors
    ///
    /// That the first process is gone.
    pub(crate) fn stay(&mut self) -> Outcome<()> {
        let mut pipe = self.unshare.stdin.as_ref();
        let pipe = pipe
            .as_mut()
            .ok_or_else(|| Fault::new("the first process does not listen"))?;
        writeln!(pipe, "{STAY}").context("the first process")
    }

    /// Waits for the end of the first process, which has been killed or has lost its standard input.
    pub(crate) fn wait(&mut self) {
        drop(self.unshare.stdin.take());
        self.unshare.wait().ok();
    }
}

/// A program of Kubernetes, or under it.
#[derive(Debug)]
pub(crate) struct Component {
    /// The name of its log.
    pub(crate) name: String,
    child: Child,
}

impl Component {
    /// Whether it has ended, which none should.
    pub(crate) fn ended(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }

    /// Waits for it, after the namespaces have ended.
    pub(crate) fn wait(&mut self) {
        self.child.wait().ok();
    }

    /// Stops it until the result is dropped.
    ///
    /// # Errors
    ///
    /// It has ended.
    pub(crate) fn pause(&self) -> Outcome<Paused> {
        // What was started is nsenter, and the program its child.
        let nsenter = self.child.id();
        let path = format!("/proc/{nsenter}/task/{nsenter}/children");
        let children = fs::read_to_string(&path).context(&path)?;
        let program = children.split_whitespace().next();
        let program = program.and_then(|pid| pid.parse().ok());
        let program = program.ok_or_else(|| Fault::new(format!("{} has ended", self.name)))?;
        signals::send(program, Signal::STOP)?;
        Ok(Paused { nsenter, program })
    }
}

/// A component that does nothing until this is dropped.
#[derive(Debug)]
pub(crate) struct Paused {
    nsenter: u32,
    program: u32,
}

impl Drop for Paused {
    fn drop(&mut self) {
        // Where its child stops, nsenter stops itself.
        for pid in [self.nsenter, self.program] {
            signals::send(pid, Signal::CONT).ok();
        }
    }
}
