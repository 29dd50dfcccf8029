//! Two clusters at once: neither knows of the other.

use std::time::Duration;

use crate::harness::cluster::{Cluster, Options};
use crate::harness::namespace::{Namespace, restarts};
use crate::harness::versions;

const DEADLINE: Duration = Duration::from_secs(120);

/// It says so when the kubelet has ended it, and takes long enough to be killed by a foreign kubelet's cleaning.
const POD: &str = r#"
apiVersion: v1
kind: Pod
metadata:
  name: waits
spec:
  terminationGracePeriodSeconds: 1
  containers:
  - name: waits
    image: busybox:local
    command: [sleep, "3600"]
"#;

/// A pod runs in each, with the same name and the same address; both live on, and each cluster sees its own only.
pub(super) fn do_not_disturb(cluster: &Cluster, namespace: &Namespace<'_>) {
    namespace.apply(POD);
    let here = namespace.ready("waits", DEADLINE);
    let kubernetes = versions::chosen().unwrap_or_else(|why| panic!("{why}"));
    let second = Options {
        kubernetes,
        name: "second",
        kubelet: "",
    };
    let second = Cluster::start(&second).unwrap_or_else(|fault| panic!("{fault}"));
    let there = second.namespace("two-clusters", &[]);
    there.apply(POD);
    there.ready("waits", DEADLINE);
    assert_eq!(
        cluster.get(&format!("/api/v1/namespaces/{}", there.name())),
        None
    );
    // Both kubelets have cleaned up after pods they do not know (every 2 s) once a pod that came later has gone.
    for (cluster, namespace) in [(cluster, namespace), (&second, &there)] {
        namespace.apply(&POD.replace("waits", "passes"));
        namespace.ready("passes", DEADLINE);
        namespace.kubectl(&["delete", "pod", "passes"], None).must();
        let nodes = cluster.get("/api/v1/nodes").unwrap_or_default();
        assert_eq!(nodes["items"].as_array().map(Vec::len), Some(1));
    }
    let still = namespace.ready("waits", DEADLINE);
    assert_eq!(still["metadata"]["uid"], here["metadata"]["uid"]);
    assert_eq!(
        (restarts(&still), restarts(&there.ready("waits", DEADLINE))),
        (0, 0)
    );
    drop(there);
    second.end().unwrap_or_else(|fault| panic!("{fault}"));
    // The end of one is not the end of the other.
    assert_eq!(restarts(&namespace.ready("waits", DEADLINE)), 0);
}
