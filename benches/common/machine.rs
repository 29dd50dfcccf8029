//! The machine that the figures are from.

use std::fs;
use std::process::Command;

/// One line: processor, cores, memory, kernel and compiler.
pub(crate) fn line() -> String {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    format!(
        "{}, {cores} cores, {:.0} GiB, Linux {}, {}",
        field("/proc/cpuinfo", "model name").unwrap_or_else(|| "unknown processor".to_owned()),
        memory().unwrap_or_default(),
        read("/proc/sys/kernel/osrelease").unwrap_or_default(),
        first_line("rustc", "--version").unwrap_or_default(),
    )
}

/// The first line that a program prints about itself, if it is there.
pub(crate) fn first_line(program: &str, flag: &str) -> Option<String> {
    let output = Command::new(program).arg(flag).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    text.lines().next().map(str::to_owned)
}

/// The value of the first line `NAME: VALUE` of a file under `/proc`.
pub(crate) fn field(path: &str, name: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    text.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        (key.trim() == name).then(|| value.trim().to_owned())
    })
}

/// GiB of memory.
fn memory() -> Option<f64> {
    let total = field("/proc/meminfo", "MemTotal")?;
    let kib: f64 = total.strip_suffix(" kB")?.trim().parse().ok()?;
    Some(kib / f64::from(1 << 20))
}

fn read(path: &str) -> Option<String> {
    fs::read_to_string(path)
        .ok()
        .map(|text| text.trim().to_owned())
}
