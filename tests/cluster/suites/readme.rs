//! What the README shows of a cluster is what a cluster shows.

use std::fs;
use std::time::Duration;

use crate::harness::cluster::Cluster;
use crate::harness::folders;
use crate::harness::namespace::Namespace;
use crate::product::asks_for_an_accelerator;

/// How long what a controller does may take until a command shows it.
const DEADLINE: Duration = Duration::from_secs(60);

/// The variable that writes the output into the README instead of comparing it.
const BLESS: &str = "WARMGATE_BLESS";

/// Each command of kubectl, in order, prints what stands below it.
pub(super) fn shows_what_happens(cluster: &Cluster, _namespace: &Namespace<'_>) {
    let file = folders::package().join("README.md");
    let text = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{error}"));
    let bless = std::env::var_os(BLESS).is_some();
    let (mut shown, mut commands, mut labels) = (String::new(), 0, 0);
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        shown.push_str(line);
        shown.push('\n');
        let Some(command) = line
            .strip_prefix("$ ")
            .filter(|line| line.starts_with("kubectl"))
        else {
            continue;
        };
        let mut expected = String::new();
        while let Some(line) = lines.next_if(|line| !line.starts_with("$ ") && *line != "```") {
            expected.push_str(line);
            expected.push('\n');
        }
        let expected = (!bless).then_some(expected);
        let printed = wait_for(cluster, command, expected.as_deref());
        shown.push_str(&printed);
        commands += 1;
        if let Some((namespace, mode)) = labelled(command) {
            wait_until_asked(cluster, namespace, mode);
            labels += 1;
        }
    }
    assert!(commands > 5, "only {commands} commands");
    assert_eq!(labels, 2, "a mode, and a stricter one");
    cluster
        .kubectl(&["delete", "namespace", "ml", "--wait=false"], None)
        .must();
    if bless {
        fs::write(&file, shown).unwrap_or_else(|error| panic!("{error}"));
    }
}

/// What a command prints: what is `expected`, or, if that is to be found out, something. One that only reads is asked again
/// until it does.
fn wait_for(cluster: &Cluster, command: &str, expected: Option<&str>) -> String {
    let look = || {
        let printed = cluster.shell(command).out;
        let printed = format!("{}\n", printed.trim_end());
        let right = match expected {
            Some(expected) => printed == expected,
            None => printed != "\n",
        };
        if right {
            Ok(printed)
        } else {
            Err(format!("{command}\n{printed}"))
        }
    };
    if command.contains(" get ") {
        return cluster.wait_for(command, DEADLINE, look);
    }
    look().unwrap_or_else(|seen| panic!("{seen}is not\n{}", expected.unwrap_or_default()))
}

/// The namespace that a command labels, and the mode.
fn labelled(command: &str) -> Option<(&str, &str)> {
    let rest = command.strip_prefix("kubectl label namespace ")?;
    let (namespace, rest) = rest.split_once(' ')?;
    let label = rest.split(' ').next()?;
    Some((namespace, label.strip_prefix("warmgate.io/mode=")?))
}

/// Waits until the API server goes by the label: it knows a Namespace from its own cache, and who types is slower than that.
fn wait_until_asked(cluster: &Cluster, namespace: &str, mode: &str) {
    let path = format!("/api/v1/namespaces/{namespace}/pods?dryRun=All");
    let pod = asks_for_an_accelerator("dry").to_string();
    let entry = format!("{mode}.mutate.warmgate.io");
    cluster.wait_for(&entry, DEADLINE, || {
        let answer = cluster.api("POST", &path, "application/json", &pod);
        let records = cluster.audit();
        let id = answer.audit_id.as_str();
        let record = records.iter().find(|one| one.value()["auditID"] == id);
        let record = record.ok_or_else(|| answer.body.to_string())?;
        let annotations = &record.value()["annotations"];
        if annotations.to_string().contains(&entry) {
            Ok(())
        } else {
            Err(annotations.to_string())
        }
    });
}
