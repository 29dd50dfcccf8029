//! What the servers in the pods wrote, kept although the kubelet removes the logs of all but the last two instances, and all of a
//! pod that goes.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::Value;
use warmgate::kubelet::Micros;

/// How often it is looked. An instance lives longer.
const PAUSE: Duration = Duration::from_millis(700);

/// An instance: pod, container, and how many instances there were before.
type Instance = (String, String, u32);

/// The logs of the instances. Each file stays open, so that the last words in it can be read once it is removed.
#[derive(Debug, Default)]
struct Logs {
    texts: BTreeMap<Instance, String>,
    open: BTreeMap<PathBuf, (Instance, File)>,
}

/// Reads along until it is dropped.
#[derive(Debug)]
pub(crate) struct Reader {
    logs: Arc<Mutex<Logs>>,
    folder: PathBuf,
    prefix: String,
    ends: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Reader {
    /// Begins to read the logs of the pods of `namespace` below `folder`.
    pub(crate) fn start(folder: PathBuf, namespace: &str) -> Self {
        let (logs, ends) = (Arc::default(), Arc::default());
        let prefix = format!("{namespace}_");
        let thread = {
            let (folder, prefix) = (folder.clone(), prefix.clone());
            let (logs, ends) = (Arc::clone(&logs), Arc::<AtomicBool>::clone(&ends));
            std::thread::spawn(move || {
                while !ends.load(Ordering::Relaxed) {
                    look(&folder, &prefix, &logs);
                    std::thread::sleep(PAUSE);
                }
            })
        };
        Self {
            logs,
            folder,
            prefix,
            ends,
            thread: Some(thread),
        }
    }

    /// What was written until now.
    pub(crate) fn logs(&self) -> ServerLogs {
        look(&self.folder, &self.prefix, &self.logs);
        ServerLogs(locked(&self.logs).texts.clone())
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.join().ok();
        }
    }
}

/// What the servers wrote.
#[derive(Clone, Debug)]
pub(crate) struct ServerLogs(BTreeMap<Instance, String>);

impl ServerLogs {
    /// Whether any instance in the pod wrote that `event` happened.
    pub(crate) fn says(&self, pod: &str, event: &str) -> bool {
        let word = format!("\"event\":\"{event}\"");
        let mut its = self.0.iter().filter(|((of, ..), _)| of == pod);
        its.any(|(_, text)| text.contains(&word))
    }

    /// When an instance first wrote that `event` happened, since the epoch.
    pub(crate) fn when(
        &self,
        pod: &str,
        container: &str,
        instance: u32,
        event: &str,
    ) -> Option<Micros> {
        let key = (pod.to_owned(), container.to_owned(), instance);
        let lines = self.0.get(&key)?.lines();
        // A line of the runtime's: when it came, from which stream, whether it is whole, and the line.
        let mut written = lines.filter_map(|line| {
            let line = line.splitn(4, ' ').nth(3)?;
            serde_json::from_str::<Value>(line).ok()
        });
        let found = written.find(|line| line["event"] == event)?;
        found["us"].as_i64().map(Micros)
    }
}

fn locked(logs: &Mutex<Logs>) -> std::sync::MutexGuard<'_, Logs> {
    logs.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reads what has come: `folder/NAMESPACE_POD_UID/CONTAINER/INSTANCE.log`.
fn look(folder: &Path, prefix: &str, logs: &Mutex<Logs>) {
    let mut logs = locked(logs);
    for (pod, path) in entries(folder) {
        let Some(pod) = pod
            .strip_prefix(prefix)
            .and_then(|pod| pod.split('_').next())
        else {
            continue;
        };
        for (container, path) in entries(&path) {
            for (file, path) in entries(&path) {
                let instance = file.strip_suffix(".log").and_then(|it| it.parse().ok());
                if let Some(instance) = instance {
                    logs.open(path, (pod.to_owned(), container.clone(), instance));
                }
            }
        }
    }
    logs.read_on();
}

impl Logs {
    fn open(&mut self, path: PathBuf, instance: Instance) {
        if !self.open.contains_key(&path)
            && let Ok(file) = File::open(&path)
        {
            self.open.insert(path, (instance, file));
        }
    }

    /// Reads what was written since. Nobody writes into a file any more that is removed.
    fn read_on(&mut self) {
        let texts = &mut self.texts;
        self.open.retain(|_, (instance, file)| {
            let read = |file: &mut File| -> io::Result<(String, bool)> {
                let removed = file.metadata()?.nlink() == 0;
                let mut bytes = Vec::new();
                file.read_to_end(&mut bytes)?;
                Ok((String::from_utf8_lossy(&bytes).into_owned(), removed))
            };
            let Ok((text, removed)) = read(file) else {
                return false;
            };
            texts.entry(instance.clone()).or_default().push_str(&text);
            !removed
        });
    }
}

fn entries(folder: &Path) -> Vec<(String, PathBuf)> {
    let found = fs::read_dir(folder).into_iter().flatten().flatten();
    found
        .map(|entry| {
            (
                entry.file_name().to_string_lossy().into_owned(),
                entry.path(),
            )
        })
        .collect()
}
