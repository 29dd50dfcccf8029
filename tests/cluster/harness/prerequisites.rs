//! What a machine must have before anything is built or started.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::command::{output, run};
use super::versions;
use crate::suite::Need;

/// The CNI plugins that the pods' network is made of.
const PLUGINS: [&str; 4] = ["bridge", "host-local", "loopback", "portmap"];

/// Programs, and Debian's package of each.
const PROGRAMS: [(&str, &str); 8] = [
    ("containerd", "containerd"),
    ("containerd-shim-runc-v2", "containerd"),
    ("ctr", "containerd"),
    ("runc", "runc"),
    ("busybox", "busybox-static"),
    ("iptables", "iptables"),
    ("conntrack", "conntrack"),
    ("ip", "iproute2"),
];

/// What is missing for `need`, one line each with how to get it.
pub(crate) fn missing(need: Need) -> Vec<String> {
    match need {
        Need::Cargo => Vec::new(),
        Need::Tools => go().into_iter().collect(),
        Need::Machine => go().into_iter().chain(machine()).collect(),
    }
}

/// What is missing for a cluster of our own, but for its programs.
fn machine() -> Vec<String> {
    let mut missing = Vec::new();
    for (program, package) in PROGRAMS {
        if find(program).is_none() {
            missing.push(format!("{program} is missing: apt-get install {package}"));
        }
    }
    if plugins().is_none() {
        missing.push(format!(
            "the CNI plugins {} are missing: apt-get install containernetworking-plugins",
            PLUGINS.join(", ")
        ));
    }
    if let Some(busybox) = find("busybox")
        && !is_static(&busybox)
    {
        missing.push("busybox is not static: apt-get install busybox-static".to_owned());
    }
    if !rustix::process::geteuid().is_root() {
        missing.push("only root may start one: run it with sudo -E".to_owned());
    } else if !namespaces() {
        missing.push(
            "no network, mount and process namespaces: they need util-linux (unshare, nsenter), and in a container --privileged"
                .to_owned(),
        );
    }
    missing
}

/// The folder of the CNI plugins.
pub(crate) fn plugins() -> Option<PathBuf> {
    ["/usr/lib/cni", "/opt/cni/bin", "/usr/libexec/cni"]
        .into_iter()
        .map(PathBuf::from)
        .find(|folder| PLUGINS.iter().all(|plugin| folder.join(plugin).is_file()))
}

/// Where `program` is, searched as a shell does.
pub(crate) fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|folder| folder.join(program))
        .find(|file| file.is_file())
}

/// What is wrong with Go.
fn go() -> Option<String> {
    let (major, minor) = versions::GO;
    let get = format!("install Go {major}.{minor} or later from https://go.dev/dl");
    let Ok(version) = output("go", &["env", "GOVERSION"]) else {
        return Some(format!("go is missing: {get}"));
    };
    let mut numbers = version
        .trim()
        .trim_start_matches("go")
        .split('.')
        .map(|number| number.parse::<u32>().unwrap_or(0));
    let found = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    (found < versions::GO).then(|| format!("go is too old ({}): {get}", version.trim()))
}

/// Whether the ELF file asks for no loader, which an image of it alone would not have.
fn is_static(file: &Path) -> bool {
    /// The type of the program header that names a loader.
    const INTERPRETER: u64 = 3;
    let bytes = std::fs::read(file).unwrap_or_default();
    let number = |at: usize, length: usize| {
        let bytes = bytes.get(at..at + length)?;
        let value = bytes.iter().rev();
        Some(value.fold(0, |value, byte| value << 8 | u64::from(*byte)))
    };
    let place = |at, length| number(at, length).and_then(|place| usize::try_from(place).ok());
    let (Some(table), Some(size), Some(count)) = (place(32, 8), place(54, 2), place(56, 2)) else {
        return false;
    };
    bytes.starts_with(b"\x7fELF")
        && (0..count).all(|header| number(table + header * size, 4) != Some(INTERPRETER))
}

/// Whether namespaces can be made here.
fn namespaces() -> bool {
    let mut command = Command::new("unshare");
    command.args([
        "--net",
        "--mount",
        "--pid",
        "--fork",
        "--kill-child",
        "nsenter",
        "--version",
    ]);
    run(&mut command, None).is_ok_and(|done| done.ok)
}
