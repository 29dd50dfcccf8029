//! Programs that are built from Go modules, each of which a folder of the benches pins.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The folder of a module, by its place below `benches`.
pub(crate) fn module(place: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("benches")
        .join(place)
}

/// The version of a module that the `go.mod` of a folder pins.
///
/// # Errors
/// That the file cannot be read or does not name it.
pub(crate) fn pinned(folder: &Path, module: &str) -> Result<String, String> {
    let path = folder.join("go.mod");
    let said = |why: &dyn std::fmt::Display| format!("{}: {why}", path.display());
    let text = fs::read_to_string(&path).map_err(|error| said(&error))?;
    let version = text.lines().find_map(|line| {
        let line = line.trim().trim_start_matches("require ");
        let (name, version) = line.split_once(' ')?;
        (name == module).then(|| version.split(' ').next().unwrap_or(version).to_owned())
    });
    version.ok_or_else(|| said(&format_args!("it does not pin {module}")))
}

/// Builds a package of the module in a folder, from what Go has built before as far as that is the same.
///
/// # Errors
/// The last that Go says.
pub(crate) fn build(folder: &Path, package: &str, program: &Path) -> Result<(), String> {
    if let Some(programs) = program.parent() {
        fs::create_dir_all(programs).map_err(|error| error.to_string())?;
    }
    let built = Command::new("go")
        .current_dir(folder)
        .env("CGO_ENABLED", "0")
        .env("GOFLAGS", "-mod=readonly -buildvcs=false")
        .env("GOWORK", "off")
        .args(["build", "-trimpath", "-ldflags", "-s -w", "-o"])
        .arg(program)
        .arg(package)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("go: {error}"))?;
    if built.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&built.stderr);
    Err(said.lines().last().unwrap_or("go build failed").to_owned())
}
