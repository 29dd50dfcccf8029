//! Every version the clusters are made of. etcd, crictl, both Helms and the definition of LeaderWorkerSets have theirs in the
//! `go.mod` of their folder under `tools`.

/// The Kubernetes releases whose modules are pinned under `tools/kubernetes`, newest first. The first is the default.
pub(crate) const KUBERNETES: [&str; 3] = ["1.37.2", "1.35.4", "1.34.4"];

/// The oldest Go that builds all of them.
pub(crate) const GO: (u32, u32) = (1, 26);

/// The variable that chooses another of [`KUBERNETES`].
pub(crate) const VARIABLE: &str = "KUBERNETES";

/// The release to run: the one that [`VARIABLE`] names, else the first of [`KUBERNETES`].
///
/// # Errors
///
/// The name of a release that is not pinned, and which ones are.
pub(crate) fn chosen() -> Result<&'static str, String> {
    let Some(asked) = std::env::var(VARIABLE)
        .ok()
        .filter(|asked| !asked.is_empty())
    else {
        return Ok(KUBERNETES[0]);
    };
    KUBERNETES
        .into_iter()
        .find(|pinned| *pinned == asked)
        .ok_or_else(|| {
            format!(
                "{VARIABLE}={asked} is not pinned: take one of {}, or pin it (tests/cluster/README.md)",
                KUBERNETES.join(", ")
            )
        })
}
