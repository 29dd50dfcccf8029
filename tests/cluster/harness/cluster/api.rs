//! The API of a cluster.

use std::time::{Duration, Instant};

use serde_json::Value;

use super::{Cluster, expect};
use crate::harness::audit::{self, Record};
use crate::harness::client::{Answer, Client};
use crate::harness::namespace::Namespace;

impl Cluster {
    /// Sends one request to the API server. `kind` is the media type of the `body`.
    ///
    /// # Panics
    ///
    /// When there is no answer.
    #[track_caller]
    pub(crate) fn api(&self, method: &str, path: &str, kind: &str, body: &str) -> Answer {
        expect(self.client.send(method, path, kind, body))
    }

    /// The same, for who is about to end and must not fail.
    pub(in crate::harness) fn client(&self) -> &Client {
        &self.client
    }

    /// Deletes what is at `path`, if it can: for who is about to end and must not fail.
    pub(crate) fn forget(&self, path: &str) {
        self.client
            .send("DELETE", path, "application/json", "")
            .ok();
    }

    /// What the API has at `path`, or nothing.
    ///
    /// # Panics
    ///
    /// When the API server refuses.
    #[track_caller]
    pub(crate) fn get(&self, path: &str) -> Option<Value> {
        expect(self.client.get(path))
    }

    /// Makes a namespace with these `labels`, whose name begins with `name` and is nobody else's.
    ///
    /// # Panics
    ///
    /// When it cannot be made.
    #[track_caller]
    pub(crate) fn namespace(&self, name: &str, labels: &[(&str, &str)]) -> Namespace<'_> {
        Namespace::make(self, name, labels)
    }

    /// What the API server was asked and answered, oldest first. Only a cluster of our own has it.
    ///
    /// # Panics
    ///
    /// When the log cannot be read.
    #[track_caller]
    pub(crate) fn audit(&self) -> Vec<Record> {
        let own = self
            .own()
            .expect("suites that read the audit log run on a cluster of our own");
        expect(audit::read(own.audit_log()))
    }

    /// Asks `look` four times a second until it gives something, and gives that. What it says otherwise is what has been seen.
    ///
    /// # Panics
    ///
    /// When `deadline` has passed; then it says what was seen last.
    #[track_caller]
    pub(crate) fn wait_for<T>(
        &self,
        what: &str,
        deadline: Duration,
        mut look: impl FnMut() -> Result<T, String>,
    ) -> T {
        let start = Instant::now();
        loop {
            match look() {
                Ok(found) => return found,
                Err(seen) => assert!(
                    start.elapsed() < deadline,
                    "no {what} within {} s: {seen}",
                    deadline.as_secs()
                ),
            }
            std::thread::sleep(Duration::from_millis(250));
        }
    }
}
