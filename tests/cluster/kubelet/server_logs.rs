//! What the servers in the pods wrote, kept although the kubelet removes the logs of all but the last two instances.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::Value;
use warmgate::kubelet::Micros;

/// How often it is looked. An instance lives longer, and its log outlives it.
const PAUSE: Duration = Duration::from_millis(700);

/// The logs of the instances: pod, container, and how many instances there were before.
type Logs = BTreeMap<(String, String, u32), String>;

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
        ServerLogs(locked(&self.logs).clone())
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
pub(crate) struct ServerLogs(Logs);

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

/// Reads what has come: `folder/NAMESPACE_POD_UID/CONTAINER/INSTANCE.log`. What has just been removed was read before.
fn look(folder: &Path, prefix: &str, logs: &Mutex<Logs>) {
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
                let (Some(instance), Ok(text)) = (instance, fs::read_to_string(&path)) else {
                    continue;
                };
                locked(logs).insert((pod.to_owned(), container.clone(), instance), text);
            }
        }
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
