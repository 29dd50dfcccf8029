//! A server as a process.

use std::fs;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use super::certificates::Authority;
use super::cpu::{self, Cores};
use super::nothing;
use super::wire::{Caller, Connection};
use crate::common::machine;

/// How long a server that was told to end stays, so that its exit is soon.
pub(crate) const LAME_DUCK: Duration = Duration::from_secs(1);

/// How long a server may take to answer for the first time; under valgrind it takes seconds.
const PATIENCE: Duration = Duration::from_secs(60);

/// How often a port that is not open yet is tried.
const TRY: Duration = Duration::from_micros(100);

/// Which program serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Program {
    /// The [server that judges nothing](nothing).
    Nothing,
    /// `warmgate webhook`.
    Warmgate,
    /// The webhook that is built on controller-runtime.
    Go,
}

/// What all servers and their callers share: the certificate and the cores.
pub(crate) struct Place {
    pub(crate) caller: Caller,
    cores: Option<Cores>,
    folder: TempDir,
}

impl Place {
    pub(crate) fn new() -> Result<Self, String> {
        let authority = Authority::new();
        let pair = authority.pair("bench");
        let folder = TempDir::new().map_err(|error| error.to_string())?;
        for (name, text) in [("tls.crt", pair.chain), ("tls.key", pair.key)] {
            fs::write(folder.path().join(name), text).map_err(|error| error.to_string())?;
        }
        let cores = Cores::new();
        if let Some(cores) = &cores {
            cores.client();
        }
        Ok(Self {
            caller: Caller::new(&authority.pem),
            cores,
            folder,
        })
    }

    /// Whether client and server have a core each.
    pub(crate) fn has_two_cores(&self) -> bool {
        self.cores.is_some()
    }

    /// A file for the time of the bench.
    pub(crate) fn file(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().join(name)
    }

    /// Starts a server on its core.
    pub(crate) fn start(&self, program: Program) -> Result<Process, String> {
        self.on(Cores::server, || self.spawn(program, &[]))
    }

    /// Starts a server on any core under the program that `before` is the command line of.
    pub(crate) fn start_by(&self, before: &[String], program: Program) -> Result<Process, String> {
        self.on(Cores::all, || self.spawn(program, before))
    }

    /// Does something on other cores than the client's.
    fn on<T>(&self, there: impl Fn(&Cores), what: impl FnOnce() -> T) -> T {
        if let Some(cores) = &self.cores {
            there(cores);
        }
        let done = what();
        if let Some(cores) = &self.cores {
            cores.client();
        }
        done
    }

    fn spawn(&self, program: Program, before: &[String]) -> Result<Process, String> {
        let port = free_port()?;
        let (own, arguments) = self.command(program, port)?;
        let line = [before, &[own], &arguments].concat();
        let mut command = Command::new(&line[0]);
        command.args(&line[1..]).stdin(Stdio::null());
        // A log line is made and written for each review as ever, and goes nowhere.
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let begun = Instant::now();
        let child = command.spawn();
        Ok(Process {
            child: child.map_err(|error| format!("{}: {error}", line[0]))?,
            address: SocketAddr::from((Ipv4Addr::LOCALHOST, port)),
            begun,
        })
    }

    fn command(&self, program: Program, port: u16) -> Result<(String, Vec<String>), String> {
        let folder = self.folder.path();
        let text = |path: &Path| path.to_string_lossy().into_owned();
        Ok(match program {
            Program::Nothing => {
                let own = std::env::current_exe().map_err(|error| error.to_string())?;
                let arguments = vec![nothing::VERB.to_owned(), port.to_string(), text(folder)];
                (text(&own), arguments)
            }
            Program::Warmgate => {
                let lame_duck = format!("{}s", LAME_DUCK.as_secs());
                let flags = [
                    ("--address", "127.0.0.1".to_owned()),
                    ("--port", port.to_string()),
                    ("--health-port", "0".to_owned()),
                    ("--tls-cert", text(&folder.join("tls.crt"))),
                    ("--tls-key", text(&folder.join("tls.key"))),
                    ("--lame-duck", lame_duck),
                ];
                let flags = flags.map(|(flag, value)| [flag.to_owned(), value]).concat();
                let arguments = [vec!["webhook".to_owned()], flags].concat();
                (env!("CARGO_BIN_EXE_warmgate").to_owned(), arguments)
            }
            Program::Go => {
                let flags = [
                    format!("--port={port}"),
                    format!("--cert-dir={}", text(folder)),
                ];
                (super::go::PROGRAM.to_owned(), flags.to_vec())
            }
        })
    }
}

/// A port of loopback that was free just now.
fn free_port() -> Result<u16, String> {
    let listener =
        TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(|error| error.to_string())?;
    Ok(listener
        .local_addr()
        .map_err(|error| error.to_string())?
        .port())
}

/// A server that runs. It ends with this.
pub(crate) struct Process {
    child: Child,
    pub(crate) address: SocketAddr,
    /// When it was started.
    pub(crate) begun: Instant,
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Process {
    /// The first connection that it takes.
    pub(crate) async fn connect(&self, caller: &Caller) -> Result<Connection, String> {
        loop {
            match caller.connect(self.address).await {
                Ok(connection) => return Ok(connection),
                Err(error) if self.begun.elapsed() > PATIENCE => {
                    return Err(format!("a server does not answer: {error}"));
                }
                Err(_) => std::thread::sleep(TRY),
            }
        }
    }

    /// The time that it has been on a core.
    pub(crate) fn cpu(&self) -> Duration {
        cpu::time(self.child.id())
    }

    /// A figure of `/proc/PID/status`, in MiB.
    pub(crate) fn memory(&self, name: &str) -> f64 {
        let path = format!("/proc/{}/status", self.child.id());
        let text = machine::field(&path, name).unwrap_or_default();
        let kib = text
            .split(' ')
            .next()
            .and_then(|kib| kib.parse::<f64>().ok());
        kib.unwrap_or(f64::NAN) / 1024.0
    }

    /// Tells it to end, and waits until it has.
    pub(crate) fn stop(mut self) -> Result<ExitStatus, String> {
        let id = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        let id = id.ok_or("no process has this number")?;
        kill_process(id, Signal::TERM).map_err(|error| error.to_string())?;
        self.child.wait().map_err(|error| error.to_string())
    }
}
