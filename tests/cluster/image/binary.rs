//! Programs of this package, built so that they run in an image with nothing else in it.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::harness::command::run;
use crate::harness::fault::Outcome;
use crate::harness::folders;

/// What images are made for.
const TARGET: &str = "x86_64-unknown-linux-gnu";

/// The profile of what is released.
const RELEASE: &str = "release";

/// The profile of what the suites load: the optimiser has done less, and a change is built in seconds.
const QUICK: &str = "image";

/// Builds warmgate as it is released, from the source in `package` into `target`, neither of which is mentioned in it.
///
/// # Errors
///
/// What cargo says.
pub(crate) fn release(package: &Path, target: &Path) -> Outcome<PathBuf> {
    build(package, target, RELEASE, &["--bin", "warmgate"])?;
    Ok(target.join(TARGET).join(RELEASE).join("warmgate"))
}

/// Builds what the suites load, and gives the path of `program`. All of it at once: cargo would otherwise build the
/// dependencies twice, with and without the features that only tests need.
///
/// # Errors
///
/// What cargo says.
pub(crate) fn quick(program: &str) -> Outcome<PathBuf> {
    let target = folders::target();
    build(folders::package(), target, QUICK, &["--bins", "--examples"])?;
    Ok(target.join(TARGET).join(QUICK).join(program))
}

fn build(package: &Path, target: &Path, profile: &str, what: &[&str]) -> Outcome<()> {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo
        .current_dir(package)
        .env("RUSTFLAGS", flags(package, target, profile))
        .env("CARGO_TARGET_DIR", target)
        .args([
            "build",
            "--quiet",
            "--locked",
            "--profile",
            profile,
            "--target",
            TARGET,
        ])
        .args(what);
    run(&mut cargo, None)?.checked().map(drop)
}

/// Linked whole, and what is released without a word of where it was built.
fn flags(package: &Path, target: &Path, profile: &str) -> String {
    let mut flags = vec!["-C target-feature=+crt-static".to_owned()];
    if profile != RELEASE {
        return flags.concat();
    }
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
