//! The webhook that is built on controller-runtime, from its module in `benches/controller-runtime`.

use std::path::Path;

use crate::common::{go, machine};

/// Where it is built.
pub(crate) const PROGRAM: &str =
    concat!(env!("CARGO_TARGET_TMPDIR"), "/webhook/controller-runtime");

/// Builds it, and says with what; `None` where there is no Go.
pub(crate) fn build() -> Result<Option<String>, String> {
    let Some(version) = machine::first_line("go", "version") else {
        return Ok(None);
    };
    let module = go::module("controller-runtime");
    go::build(&module, ".", Path::new(PROGRAM))?;
    let runtime = go::pinned(&module, "sigs.k8s.io/controller-runtime")?;
    let version = version.strip_prefix("go version ").unwrap_or(&version);
    Ok(Some(format!("controller-runtime {runtime}, {version}")))
}
