//! What containerd says of starts and ends, to the nanosecond.

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use serde_json::Value;
use warmgate::kubelet::Micros;

use crate::conformance::days_since_epoch;
use crate::harness::fault::{Context, Outcome};
use crate::harness::own::Own;

/// A container of the runtime starts or ends.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Task {
    /// When, since the epoch.
    pub(crate) at: Micros,
    /// The container's id.
    pub(crate) id: String,
    /// The exit code, where it ends.
    pub(crate) ended: Option<i64>,
}

/// Listens to containerd until it is dropped.
#[derive(Debug)]
pub(crate) struct Listener {
    child: Child,
    tasks: Arc<Mutex<Vec<Task>>>,
    reader: Option<JoinHandle<()>>,
}

impl Listener {
    /// Begins to listen.
    ///
    /// # Errors
    ///
    /// That `ctr` cannot be started.
    pub(crate) fn start(own: &Own) -> Outcome<Self> {
        let mut child = own
            .inside("ctr")
            .args(["--namespace", "k8s.io", "events"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .context("ctr events")?;
        let tasks = Arc::default();
        let reader = child.stdout.take().map(|out| {
            let tasks = Arc::clone(&tasks);
            std::thread::spawn(move || collect(BufReader::new(out), &tasks))
        });
        Ok(Self {
            child,
            tasks,
            reader,
        })
    }

    /// What has been heard so far, in order.
    pub(crate) fn tasks(&self) -> Vec<Task> {
        locked(&self.tasks).clone()
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        // It has entered the cluster's process namespace by a child of its own.
        rustix::process::kill_process_group(
            rustix::process::Pid::from_child(&self.child),
            rustix::process::Signal::KILL,
        )
        .ok();
        self.child.wait().ok();
        if let Some(reader) = self.reader.take() {
            reader.join().ok();
        }
    }
}

fn locked(tasks: &Mutex<Vec<Task>>) -> std::sync::MutexGuard<'_, Vec<Task>> {
    tasks
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}

fn collect(lines: impl BufRead, tasks: &Mutex<Vec<Task>>) {
    for line in lines.lines().map_while(Result::ok) {
        if let Some(task) = read(&line) {
            locked(tasks).push(task);
        }
    }
}

/// Reads a line such as `2026-01-31 12:00:00.123456789 +0000 UTC k8s.io /tasks/exit {"container_id":...}`. A command that ends
/// inside of a container has an id of its own.
fn read(line: &str) -> Option<Task> {
    let (head, body) = line.split_once(" /tasks/")?;
    let (topic, json) = body.split_once(' ')?;
    let event: Value = serde_json::from_str(json).ok()?;
    let id = event["container_id"].as_str()?.to_owned();
    let ended = match topic {
        "start" => None,
        "exit" if event["id"].as_str() == Some(&id) => {
            Some(event["exit_status"].as_i64().unwrap_or(0))
        }
        _ => return None,
    };
    let mut words = head.split(' ');
    let (date, time) = (words.next()?, words.next()?);
    Some(Task {
        at: moment(date, time)?,
        id,
        ended,
    })
}

/// The moment of a date `2026-01-31` and a time `12:00:00.123456789` in UTC, since the epoch.
pub(super) fn moment(date: &str, time: &str) -> Option<Micros> {
    let mut parts = date.split('-').map(|part| part.parse::<i64>().ok());
    let (year, month, day) = (parts.next()??, parts.next()??, parts.next()??);
    let (clock, fraction) = time.split_once('.').unwrap_or((time, "0"));
    let mut parts = clock.split(':').map(|part| part.parse::<i64>().ok());
    let (hours, minutes, seconds) = (parts.next()??, parts.next()??, parts.next()??);
    let micros: String = fraction.chars().chain("000000".chars()).take(6).collect();
    let whole = ((days_since_epoch(year, month, day) * 24 + hours) * 60 + minutes) * 60 + seconds;
    Some(Micros(whole * 1_000_000 + micros.parse::<i64>().ok()?))
}
