//! The webhook that is built on controller-runtime, from its module in `benches/controller-runtime`.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::common::machine;

/// Where it is built.
pub(crate) const PROGRAM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/target/controller-runtime");

const MODULE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/controller-runtime");

/// Builds it, and says with what; `None` where there is no Go.
pub(crate) fn build() -> Result<Option<String>, String> {
    let Some(version) = machine::first_line("go", "version") else {
        return Ok(None);
    };
    // Cargo may build elsewhere.
    if let Some(folder) = Path::new(PROGRAM).parent() {
        fs::create_dir_all(folder).map_err(|error| error.to_string())?;
    }
    let built = Command::new("go")
        .args(["build", "-mod=readonly", "-trimpath", "-o", PROGRAM, "."])
        .current_dir(MODULE)
        .env("CGO_ENABLED", "0")
        .status()
        .map_err(|error| error.to_string())?;
    if !built.success() {
        return Err(format!("{MODULE} cannot be built"));
    }
    let module = fs::read_to_string(format!("{MODULE}/go.mod"));
    let module = module.map_err(|error| error.to_string())?;
    let runtime = module
        .lines()
        .find_map(|line| line.trim().strip_prefix("sigs.k8s.io/controller-runtime "));
    let runtime = runtime.unwrap_or_default();
    let version = version.strip_prefix("go version ").unwrap_or(&version);
    Ok(Some(format!("controller-runtime {runtime}, {version}")))
}
