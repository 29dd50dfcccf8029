//! The logs of a cluster's components.

use std::fs;

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

/// Prints where the logs of the cluster `name` are, and how each ends.
pub(crate) fn show(name: &str) {
    const LINES: usize = 12;
    let Ok(found) = fs::read_dir(folders::logs(name)) else {
        return;
    };
    let mut paths: Vec<_> = found.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        let text = fs::read(&path).context(path.display());
        println!("--- {}", path.display());
        match text {
            // The audit log is long, and no component's complaint.
            Ok(_) if path.ends_with("audit.log") => {}
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
