//! The logs of a cluster's components and of its pods.

use std::fs;
use std::path::{Path, PathBuf};

use super::fault::Context;
use super::folders;

/// The last lines of a log of the cluster `name` that speak of something.
pub(crate) fn said(name: &str, component: &str, of: &str) -> Vec<String> {
    const LINES: usize = 20;
    let path = folders::logs(name).join(format!("{component}.log"));
    let text = fs::read_to_string(path).unwrap_or_default();
    let mut lines: Vec<_> = text.lines().filter(|line| line.contains(of)).collect();
    lines.drain(..lines.len().saturating_sub(LINES));
    lines.into_iter().map(str::to_owned).collect()
}

/// How much of a log is shown.
const LINES: usize = 12;

/// The most logs of pods that are shown, those that were written last.
const PODS: usize = 24;

/// Prints where the logs of the cluster `name` and of its pods are, and how each ends.
pub(crate) fn show(name: &str) {
    let mut components = files(&folders::logs(name));
    components.sort();
    // The audit log is long, and no component's complaint.
    components.retain(|path| !path.ends_with("audit.log"));
    let mut pods = Vec::new();
    for pod in entries(&folders::pod_logs(name)) {
        for container in entries(&pod) {
            pods.extend(files(&container));
        }
    }
    pods.sort_by_key(|path| fs::metadata(path).and_then(|found| found.modified()).ok());
    pods.drain(..pods.len().saturating_sub(PODS));
    for path in components.iter().chain(&pods) {
        println!("--- {}", path.display());
        match fs::read(path).context(path.display()) {
            Ok(text) => {
                let text = String::from_utf8_lossy(&text);
                let lines: Vec<_> = text.lines().collect();
                for line in &lines[lines.len().saturating_sub(LINES)..] {
                    println!("    {}", line.chars().take(400).collect::<String>());
                }
            }
            Err(fault) => println!("    {fault}"),
        }
    }
}

/// What is in a folder, or nothing where there is none.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let found = fs::read_dir(folder).into_iter().flatten().flatten();
    found.map(|entry| entry.path()).collect()
}

/// The files among them.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = entries(folder);
    found.retain(|path| path.is_file());
    found
}
