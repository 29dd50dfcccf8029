//! The first process inside a cluster's namespaces. Every process of the cluster lives in its process namespace, so the kernel
//! ends them all when it ends, and with them go the mounts and the network, which nothing outside refers to.

use std::fs::{self, File};
use std::io::{self, BufRead, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use rustix::io::Errno;
use rustix::mount::{MountFlags, UnmountFlags, mount, mount_bind, unmount};
use rustix::process::{WaitOptions, setsid, wait};

use super::fault::{Context, Fault, Outcome};
use super::folders;
use super::state::State;

/// What the harness writes to a holder that is to outlive it.
pub(crate) const STAY: &str = "stay";

/// Host folders that programs of Kubernetes write to wherever they are told to write, and what stands in for each.
const OWN: [(&str, &str); 3] = [("/var/lib", "lib"), ("/var/log", "log"), ("/run", "run")];

/// Holds the namespaces of the cluster of this `state` until standard input ends, or, once it said [`STAY`], until it is killed.
pub(crate) fn hold(state: &State) -> ExitCode {
    match prepare(state) {
        Ok(_lock) => reap(),
        Err(fault) => {
            eprintln!("the namespaces cannot be prepared: {fault}");
            ExitCode::FAILURE
        }
    }
}

/// Takes the lock, mounts, and prints this process' id in the host's numbers.
fn prepare(state: &State) -> Outcome<File> {
    // The old /proc still counts as the host does.
    let link = fs::read_link("/proc/self").context("reading /proc/self")?;
    let pid = link.display().to_string();
    // A terminal's Ctrl-C is for the harness alone.
    setsid().context("leaving the terminal")?;
    let lock = File::create(state.lock()).context("locking the state")?;
    if lock.try_lock().is_err() {
        return Err(Fault::new("a cluster of this name is running already"));
    }
    fs::write(state.pid(), &pid).context("writing the process id")?;
    mount("proc", "/proc", "proc", MountFlags::empty(), None).context("mounting /proc")?;
    // Where a version 2 stands beside version 1 crun makes no container. The kubelet takes version 1 then anyway.
    unmount("/sys/fs/cgroup/unified", UnmountFlags::DETACH).ok();
    cover(state)?;
    std::thread::spawn(obey);
    println!("{pid}");
    io::stdout().flush().context("reporting")?;
    Ok(lock)
}

/// Puts folders of our own over the host's, and ours back in sight where it was below one of them.
fn cover(state: &State) -> Outcome<()> {
    let base = folders::base();
    let open = File::open(&base).context(base.display())?;
    for (host, own) in OWN {
        let own = state.path().join(own);
        mount_bind(&own, host).context(format_args!("mounting over {host}"))?;
    }
    let seen = |path: &Path| {
        fs::metadata(path)
            .map(|found| (found.dev(), found.ino()))
            .ok()
    };
    if seen(&base) != seen(Path::new(&format!("/proc/self/fd/{}", open.as_raw_fd()))) {
        fs::create_dir_all(&base).context(base.display())?;
        mount_bind(format!("/proc/self/fd/{}", open.as_raw_fd()), &base)
            .context("mounting the target folder")?;
    }
    Ok(())
}

/// Ends this process, and so the cluster, when the harness is gone.
fn obey() {
    for line in io::stdin().lock().lines() {
        if line.is_ok_and(|line| line == STAY) {
            return;
        }
    }
    std::process::exit(0);
}

/// Collects the processes that lost their parent, as the first process must.
fn reap() -> ExitCode {
    loop {
        if wait(WaitOptions::empty()).err() == Some(Errno::CHILD) {
            std::thread::sleep(Duration::from_millis(200));
        }
    }
}
