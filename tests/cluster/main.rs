//! Tests on a real Kubernetes that they start themselves: etcd, the API server, the controllers and the kubelet, built from
//! their own source, with Debian's containerd. `README.md` beside this file says what is needed and how to use it.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stderr,
    clippy::print_stdout,
    reason = "tests start programs, read files and say what they do"
)]

#[cfg(target_os = "linux")]
mod cases;
#[cfg(target_os = "linux")]
#[path = "../conformance/mod.rs"]
#[expect(
    dead_code,
    unused_imports,
    reason = "the tests of the core use more of it"
)]
mod conformance;
#[cfg(target_os = "linux")]
#[path = "../generate/mod.rs"]
#[expect(
    dead_code,
    unused_imports,
    reason = "the tests of the core use more of it"
)]
mod generate;
#[cfg(target_os = "linux")]
mod harness;
#[cfg(target_os = "linux")]
mod image;
#[cfg(target_os = "linux")]
mod kubelet;
#[cfg(target_os = "linux")]
mod product;
#[cfg(target_os = "linux")]
mod runner;
#[cfg(target_os = "linux")]
mod suite;
#[cfg(target_os = "linux")]
mod suites;
#[cfg(target_os = "linux")]
mod verbs;

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let code = verbs::run(&arguments);
    harness::interrupt::settle();
    code
}

#[cfg(not(target_os = "linux"))]
fn main() {
    eprintln!("skipped: a kubelet runs on Linux only");
    println!("test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out");
}
