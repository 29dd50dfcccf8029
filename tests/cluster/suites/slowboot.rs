//! The problem itself: a server that loads longer than its liveness probe waits, where nobody helps.

use std::time::Duration;

use crate::harness::cluster::Cluster;
use crate::harness::namespace::{Namespace, restarts};

/// Its load is shortened to what keeps the suite fast: the probe still kills it before the half of it.
pub(crate) const SLOWBOOT: &str = r#"
apiVersion: v1
kind: Pod
metadata:
  name: slowboot
spec:
  # A shell as process 1 ignores SIGTERM.
  terminationGracePeriodSeconds: 1
  containers:
  - name: model
    image: busybox:local
    command: [sh, -c, "rm -f /tmp/ready; sleep 10; touch /tmp/ready; sleep 3600"]
    livenessProbe:
      exec: {command: [cat, /tmp/ready]}
      periodSeconds: 2
      failureThreshold: 2
"#;

/// The kubelet kills it again and again, and it never becomes ready.
pub(super) fn crash_loops(cluster: &Cluster, namespace: &Namespace<'_>) {
    namespace.apply(SLOWBOOT);
    cluster.wait_for("second restart", Duration::from_secs(180), || {
        let pod = namespace.get("pods", "slowboot").ok_or("no pod")?;
        if restarts(&pod) >= 2 {
            Ok(())
        } else {
            Err(pod["status"].to_string())
        }
    });
    let events = namespace.events("slowboot");
    let killed: u64 = events
        .iter()
        .filter(|event| event["reason"] == "Killing")
        .inspect(|event| {
            let message = event["message"].as_str().unwrap_or_default();
            assert!(message.contains("failed liveness probe"), "{message}");
        })
        .map(|event| event["count"].as_u64().unwrap_or(1))
        .sum();
    assert!(killed >= 2, "{events:?}");
    let unhealthy = events.iter().any(|event| {
        event["reason"] == "Unhealthy"
            && event["message"]
                .as_str()
                .is_some_and(|text| text.contains("Liveness"))
    });
    assert!(unhealthy, "{events:?}");
}
