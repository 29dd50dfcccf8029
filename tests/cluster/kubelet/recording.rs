//! Everything that is written about the pods of a namespace, from now on.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::observe::Evidence;
use super::runtime::Listener;
use super::server_logs::Reader;
use crate::conformance::{Line, days_since_epoch};
use crate::harness::cluster::Cluster;
use crate::harness::fault::{Context, Fault, Outcome};
use crate::harness::folders;
use crate::harness::namespace::Namespace;

/// Listens to the runtime and reads the servers' logs until it is dropped.
#[derive(Debug)]
pub(crate) struct Recording {
    log: PathBuf,
    from: usize,
    listener: Listener,
    reader: Reader,
}

impl Recording {
    /// Begins to listen.
    ///
    /// # Errors
    ///
    /// The cluster is not ours, or cannot be listened to.
    pub(crate) fn start(cluster: &Cluster, namespace: &Namespace<'_>) -> Outcome<Self> {
        let own = cluster
            .own()
            .ok_or_else(|| Fault::new("a kubelet can be read only where it is ours"))?;
        let log = folders::logs(own.state().name()).join("kubelet.log");
        settle(&log)?;
        let length = fs::metadata(&log).context(log.display())?.len();
        Ok(Self {
            from: usize::try_from(length).context(log.display())?,
            log,
            listener: Listener::start(own)?,
            reader: Reader::start(own.state().path().join("log/pods"), namespace.name()),
        })
    }

    /// What was written until now.
    ///
    /// # Errors
    ///
    /// The kubelet's log cannot be read.
    pub(crate) fn evidence(&self) -> Outcome<Evidence> {
        let text = fs::read(&self.log).context(self.log.display())?;
        let text = String::from_utf8_lossy(&text[self.from.min(text.len())..]);
        let (tasks, logs) = (self.listener.tasks(), self.reader.logs());
        Ok(Evidence::new(&text, this_year(), tasks, logs))
    }
}

/// Waits until the kubelet has been up for longer than any period: before that it delays every worker by chance.
fn settle(log: &Path) -> Outcome<()> {
    const LONGEST_PERIOD: i64 = 10;
    // It begins with its flags; no line of a log is longer than that.
    const BEGINNING: u64 = 1 << 16;
    let mut text = Vec::new();
    let file = fs::File::open(log).context(log.display())?;
    file.take(BEGINNING)
        .read_to_end(&mut text)
        .context(log.display())?;
    let year = this_year();
    let text = String::from_utf8_lossy(&text);
    let started = text.lines().find_map(|line| Line::read(line, year));
    let settled = started.map_or(0, |line| line.at.whole_seconds() + LONGEST_PERIOD);
    while now() < settled {
        std::thread::sleep(Duration::from_millis(200));
    }
    Ok(())
}

/// The seconds since the epoch.
fn now() -> i64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs().cast_signed())
}

/// The year in UTC, which the kubelet's log leaves out.
fn this_year() -> i64 {
    let days = now() / 86_400;
    let begun = |year: &i64| days_since_epoch(*year, 1, 1) <= days;
    (1970..).take_while(begun).last().unwrap_or(1970)
}
