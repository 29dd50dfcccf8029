//! Jobs and CronJobs end by themselves: they are left alone, unless they ask.

use std::time::Duration;

use serde_json::{Value, json};

use super::engine::{ENGINE, mended, template, untouched, written};
use super::stored::{CHANGED, in_template, the_pod};
use crate::harness::cluster::Cluster;
use crate::harness::namespace::Namespace;
use crate::product::{MODE, changes};

/// A Job that runs until somebody ends it, with a liveness probe.
fn job() -> Value {
    let mut template = template();
    template["metadata"]["annotations"].take();
    let spec = &mut template["spec"];
    spec["schedulerName"] = json!("default-scheduler");
    spec["restartPolicy"] = json!("Never");
    let container = &mut spec["containers"][0];
    container["image"] = json!("busybox:local");
    container["args"] = json!(["sh", "-c", "trap exit TERM; sleep 3600 & wait"]);
    container["livenessProbe"] = json!({"exec": {"command": ["true"]}});
    json!({
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": ENGINE},
        "spec": {"template": template},
    })
}

fn create(namespace: &Namespace<'_>, object: &Value) -> String {
    let done = namespace.kubectl(&["create", "--filename=-"], Some(&object.to_string()));
    assert!(done.ok, "{}", done.err);
    done.err
}

/// Declares, on the object's own metadata, how long a start takes. That must give no error.
fn annotate(namespace: &Namespace<'_>, kind: &str) -> Value {
    let annotation = "warmgate.io/max-startup-time=30m";
    let done = namespace.kubectl(&["annotate", kind, ENGINE, annotation], None);
    assert!(done.ok, "{}", done.err);
    assert!(!done.err.contains(CHANGED), "{}", done.err);
    let object = namespace
        .get(&format!("{kind}s"), ENGINE)
        .unwrap_or_default();
    assert_eq!(
        object["metadata"]["annotations"]["warmgate.io/max-startup-time"],
        "30m"
    );
    object
}

/// A Job and its pod stay as they are; annotating it while it runs, when nothing in it can change any more, gives no error.
pub(super) fn leaves_jobs_alone(cluster: &Cluster, _unlabelled: &Namespace<'_>) {
    let namespace = cluster.namespace("job", &[(MODE, "fix")]);
    let said = create(&namespace, &job());
    assert!(said.contains("[job-liveness]"), "{said}");
    assert!(!said.contains(CHANGED), "{said}");
    let running = cluster.wait_for("running Job", Duration::from_secs(120), || {
        let job = namespace.get("jobs", ENGINE).unwrap_or_default();
        if job["status"]["ready"] == 1 {
            Ok(job)
        } else {
            Err(job["status"].to_string())
        }
    });
    assert_eq!(in_template(&running), untouched());
    assert_eq!(changes(&running), None);
    let pod = the_pod(cluster, &namespace);
    assert_eq!(written(&pod["spec"]), untouched());
    assert_eq!(changes(&pod), None);
    let annotated = annotate(&namespace, "job");
    assert_eq!(annotated["spec"], running["spec"]);
}

/// One whose template is annotated is mended when it is made, once: then its template cannot change any more.
pub(super) fn mends_jobs_that_ask(cluster: &Cluster, _unlabelled: &Namespace<'_>) {
    let namespace = cluster.namespace("job-asks", &[(MODE, "fix")]);
    let mut job = job();
    job["spec"]["template"] = template();
    job["spec"]["template"]["spec"]["restartPolicy"] = json!("Never");
    let said = create(&namespace, &job);
    assert!(said.contains(CHANGED), "{said}");
    let made = namespace.get("jobs", ENGINE).unwrap_or_default();
    assert_eq!(in_template(&made), mended());
    let pod = the_pod(cluster, &namespace);
    assert_eq!(written(&pod["spec"]), mended());
    assert_eq!(changes(&pod), None, "its template was mended already");
    let annotated = annotate(&namespace, "job");
    assert_eq!(in_template(&annotated), mended());
    assert_eq!(changes(&annotated), changes(&made));
}

/// A CronJob stays as it is, and so do the Job and the pod that it makes.
pub(super) fn leaves_cron_jobs_alone(cluster: &Cluster, _unlabelled: &Namespace<'_>) {
    let namespace = cluster.namespace("cron-job", &[(MODE, "fix")]);
    let cron_job = json!({
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": {"name": ENGINE},
        "spec": {"schedule": "0 0 1 1 *", "jobTemplate": {"spec": job()["spec"]}},
    });
    let said = create(&namespace, &cron_job);
    assert!(said.contains("[job-liveness]"), "{said}");
    assert!(!said.contains(CHANGED), "{said}");
    let made = namespace.get("cronjobs", ENGINE).unwrap_or_default();
    assert_eq!(in_template(&made["spec"]["jobTemplate"]), untouched());
    assert_eq!(changes(&made), None);

    let from = format!("--from=cronjob/{ENGINE}");
    namespace
        .kubectl(&["create", "job", "now", &from], None)
        .must();
    let job = namespace.get("jobs", "now").unwrap_or_default();
    assert_eq!(in_template(&job), untouched());
    assert_eq!(changes(&job), None);
    let pod = the_pod(cluster, &namespace);
    assert_eq!(written(&pod["spec"]), untouched());
    assert_eq!(changes(&pod), None);

    let annotated = annotate(&namespace, "cronjob");
    assert_eq!(annotated["spec"], made["spec"]);
}
