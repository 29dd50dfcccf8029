//! A namespace of one suite's own, and what it does there.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

use super::client::Answer;
use super::cluster::Cluster;
use super::command::Done;

/// Tells the namespaces of one run from each other.
static MADE: AtomicU32 = AtomicU32::new(0);

/// A namespace. It is deleted when this is dropped, without waiting.
#[derive(Debug)]
pub(crate) struct Namespace<'a> {
    cluster: &'a Cluster,
    name: String,
}

impl<'a> Namespace<'a> {
    pub(super) fn make(cluster: &'a Cluster, name: &str, labels: &[(&str, &str)]) -> Self {
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        // A name has at most 63 characters.
        let short: String = name.replace('_', "-").chars().take(40).collect();
        let name = format!(
            "{}-{}-{number}",
            short.trim_end_matches('-'),
            std::process::id()
        );
        Self::named(cluster, name, labels)
    }

    /// The one with exactly this name.
    pub(super) fn named(cluster: &'a Cluster, name: String, labels: &[(&str, &str)]) -> Self {
        let labels: serde_json::Map<_, _> = labels
            .iter()
            .map(|(key, value)| ((*key).to_owned(), json!(value)))
            .collect();
        let body = json!({
            "apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels},
        });
        let answer = cluster.api(
            "POST",
            "/api/v1/namespaces",
            "application/json",
            &body.to_string(),
        );
        assert_eq!(answer.status, 201, "{}", answer.body);
        let namespace = Self { cluster, name };
        // No pod is admitted before its service account is there.
        let account = namespace.path("serviceaccounts", "default");
        cluster.wait_for("service account", Duration::from_secs(60), || {
            cluster.get(&account).ok_or_else(|| account.clone())
        });
        namespace
    }

    /// The name.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Runs kubectl here.
    ///
    /// # Panics
    ///
    /// When it cannot be started.
    #[track_caller]
    pub(crate) fn kubectl(&self, arguments: &[&str], input: Option<&str>) -> Done {
        let here = [&["--namespace", &self.name], arguments].concat();
        self.cluster.kubectl(&here, input)
    }

    /// Applies `yaml` as a user does, and gives what kubectl warned of.
    ///
    /// # Panics
    ///
    /// When it is refused.
    #[track_caller]
    pub(crate) fn apply(&self, yaml: &str) -> String {
        let done = self.kubectl(&["apply", "--filename=-"], Some(yaml));
        assert!(done.ok, "{}: {}\n{yaml}", done.line, done.err);
        done.err
    }

    /// Where the API has the object `name` of a `resource`; with an empty name, all of them. Resources of groups other than
    /// the core, `apps` and `batch` are written whole: `leaderworkerset.x-k8s.io/v1/leaderworkersets`.
    pub(crate) fn path(&self, resource: &str, name: &str) -> String {
        let (root, plural) = match resource.rsplit_once('/') {
            Some((group, plural)) => (format!("/apis/{group}"), plural),
            None => (root(resource).to_owned(), resource),
        };
        let path = format!("{root}/namespaces/{}/{plural}", self.name);
        if name.is_empty() {
            path
        } else {
            format!("{path}/{name}")
        }
    }

    /// Creates `object` as a client does that speaks to the API itself.
    ///
    /// # Panics
    ///
    /// When there is no answer.
    #[track_caller]
    pub(crate) fn create(&self, resource: &str, object: &Value) -> Answer {
        let path = self.path(resource, "");
        let body = object.to_string();
        self.cluster.api("POST", &path, "application/json", &body)
    }

    /// Deletes the object `name` of a `resource`, with these options. It may be gone already.
    ///
    /// # Panics
    ///
    /// When there is no answer.
    #[track_caller]
    pub(crate) fn delete(&self, resource: &str, name: &str, options: &Value) {
        let path = self.path(resource, name);
        let body = options.to_string();
        self.cluster.api("DELETE", &path, "application/json", &body);
    }

    /// The object `name` of a `resource`, or nothing.
    ///
    /// # Panics
    ///
    /// When the API server refuses.
    #[track_caller]
    pub(crate) fn get(&self, resource: &str, name: &str) -> Option<Value> {
        self.cluster.get(&self.path(resource, name))
    }

    /// Every object of a `resource`.
    ///
    /// # Panics
    ///
    /// When the API server refuses.
    #[track_caller]
    pub(crate) fn list(&self, resource: &str) -> Vec<Value> {
        let list = self.cluster.get(&self.path(resource, ""));
        let items = list.and_then(|mut list| match list["items"].take() {
            Value::Array(items) => Some(items),
            _ => None,
        });
        items.unwrap_or_default()
    }

    /// The events about the object `name`, oldest first.
    ///
    /// # Panics
    ///
    /// When the API server refuses.
    #[track_caller]
    pub(crate) fn events(&self, name: &str) -> Vec<Value> {
        let mut events = self.list("events");
        events.retain(|event| event["involvedObject"]["name"] == name);
        events.sort_by_key(|event| event["lastTimestamp"].as_str().map(str::to_owned));
        events
    }

    /// What the container of the pod `name` has written.
    ///
    /// # Panics
    ///
    /// When kubectl cannot get it.
    #[track_caller]
    pub(crate) fn logs(&self, name: &str) -> String {
        self.kubectl(&["logs", name], None).must()
    }

    /// Waits until the pod `name` is Ready, and gives it.
    ///
    /// # Panics
    ///
    /// When `deadline` has passed.
    #[track_caller]
    pub(crate) fn ready(&self, name: &str, deadline: Duration) -> Value {
        self.cluster
            .wait_for(&format!("ready {name}"), deadline, || {
                let pod = self.get("pods", name).ok_or("no such pod")?;
                if is_ready(&pod) {
                    Ok(pod)
                } else {
                    Err(pod["status"].to_string())
                }
            })
    }
}

impl Drop for Namespace<'_> {
    fn drop(&mut self) {
        // Nothing in here may fail: it may be a failure that ends the suite.
        let client = self.cluster.client();
        if std::thread::panicking()
            && let Ok(Some(events)) = client.get(&self.path("events", ""))
        {
            println!("--- events in {}", self.name);
            for event in events["items"].as_array().into_iter().flatten() {
                let word = |key: &str| event[key].as_str().unwrap_or_default().to_owned();
                let name = &event["involvedObject"]["name"];
                println!(
                    "{} {} {name} {}",
                    word("lastTimestamp"),
                    word("reason"),
                    word("message")
                );
            }
        }
        let path = format!("/api/v1/namespaces/{}", self.name);
        self.cluster.forget(&path);
    }
}

/// Whether a pod is Ready.
pub(crate) fn is_ready(pod: &Value) -> bool {
    let conditions = pod["status"]["conditions"].as_array();
    conditions.is_some_and(|conditions| {
        conditions
            .iter()
            .any(|one| one["type"] == "Ready" && one["status"] == "True")
    })
}

/// How often the first container of a pod has been restarted.
pub(crate) fn restarts(pod: &Value) -> u64 {
    pod["status"]["containerStatuses"][0]["restartCount"]
        .as_u64()
        .unwrap_or(0)
}

/// Where the API has the groups whose resources are named without theirs.
fn root(resource: &str) -> &'static str {
    match resource {
        "daemonsets" | "deployments" | "replicasets" | "statefulsets" => "/apis/apps/v1",
        "cronjobs" | "jobs" => "/apis/batch/v1",
        _ => "/api/v1",
    }
}
