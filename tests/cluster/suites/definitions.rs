//! Kinds that others define. Their definitions come out of their Go modules.

use std::time::Duration;

use crate::harness::cluster::Cluster;
use crate::harness::tools;

const DEADLINE: Duration = Duration::from_secs(60);

/// Makes the API server know a kind: `file` of the Go `module` that the folder `folder` pins defines it, and `resource` is how the API
/// names it, `GROUP/VERSION/PLURAL`.
#[track_caller]
pub(super) fn define(cluster: &Cluster, folder: &str, module: &str, file: &str, resource: &str) {
    let file = tools::file_of(folder, module, file);
    let file = file.unwrap_or_else(|fault| panic!("{fault}"));
    let file = file.display().to_string();
    // It is longer than the annotation of a client-side apply may be.
    let apply = ["apply", "--server-side", "--filename", &file];
    cluster.kubectl(&apply, None).must();
    let path = format!("/apis/{resource}");
    cluster.wait_for("definition that is served", DEADLINE, || {
        let answer = cluster.api("GET", &path, "application/json", "");
        match answer.status {
            200 => Ok(()),
            _ => Err(answer.body.to_string()),
        }
    });
}
