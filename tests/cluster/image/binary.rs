//! Programs of this package, built so that they run in an image with nothing else in it.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::harness::command::run;
use crate::harness::fault::Outcome;
use crate::harness::folders;

/// What images are made for.
const TARGET: &str = "x86_64-unknown-linux-gnu";

/// Builds a program into the usual target folder.
///
/// # Errors
///
/// What cargo says.
pub(crate) fn build(what: &[&str], program: &str) -> Outcome<PathBuf> {
    build_in(folders::package(), folders::target(), what, program)
}

/// Builds a program from the source in `package` into `target`, which are not mentioned in it.
///
/// # Errors
///
/// What cargo says.
pub(crate) fn build_in(
    package: &Path,
    target: &Path,
    what: &[&str],
    program: &str,
) -> Outcome<PathBuf> {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo
        .current_dir(package)
        .env("RUSTFLAGS", flags(package, target))
        .env("CARGO_TARGET_DIR", target)
        .args([
            "build",
            "--quiet",
            "--locked",
            "--release",
            "--target",
            TARGET,
        ])
        .args(what);
    run(&mut cargo, None)?.checked()?;
    Ok(target.join(TARGET).join("release").join(program))
}

/// Linked whole, and without a word of where it was built.
fn flags(package: &Path, target: &Path) -> String {
    let mut flags = vec!["-C target-feature=+crt-static".to_owned()];
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| std::env::home_dir().map(|home| home.join(".cargo")));
    // The last match wins, and the target folder may lie below the package.
    let known = [
        (home.as_deref(), "/cargo"),
        (Some(package), "/warmgate"),
        (Some(target), "/target"),
    ];
    for (folder, name) in known {
        if let Some(folder) = folder {
            flags.push(format!("--remap-path-prefix={}={name}", folder.display()));
        }
    }
    flags.join(" ")
}
