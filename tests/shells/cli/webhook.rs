//! `warmgate webhook`: what the server does is tested beside it; here it is started as an operator starts it.

use std::io::{BufRead, BufReader};
use std::net::{SocketAddr, TcpListener};
use std::process::{Child, Command, Stdio};

use serde_json::Value;
use warmgate::cli::demo::{self, Identity};

use super::demo::{exchanges, is_the_cores};
use super::{Folder, ran, warmgate};

/// A process that ends with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.kill().expect("it runs");
        self.0.wait().expect("it ends");
    }
}

impl Running {
    /// Runs a command that becomes the webhook, and returns the line that says where it listens.
    fn start(command: &mut Command) -> (Self, Value) {
        let mut child = command.spawn().expect("the binary runs");
        let log = BufReader::new(child.stdout.take().expect("its output is a pipe"));
        let running = Self(child);
        let listening = log
            .lines()
            .map(|line| line.expect("a line is text"))
            .map(|line| serde_json::from_str::<Value>(&line).expect("a line is JSON"))
            .find(|line| line["admission"].is_string())
            .expect("it says where it listens");
        (running, listening)
    }
}

fn files(identity: &Identity) -> Folder {
    Folder::with(&[
        ("tls.crt", &identity.certificate),
        ("tls.key", &identity.key),
    ])
}

fn args<'a>(certificate: &'a str, key: &'a str, port: &'a str) -> [&'a str; 11] {
    let address = "127.0.0.1";
    [
        "webhook",
        "--tls-cert",
        certificate,
        "--tls-key",
        key,
        "--address",
        address,
        "--port",
        port,
        "--health-port",
        "0",
    ]
}

#[tokio::test]
async fn it_serves_with_the_files_that_it_is_given() {
    let identity = demo::identity().expect("a certificate can be made");
    let folder = files(&identity);
    let (certificate, key) = (folder.text("tls.crt"), folder.text("tls.key"));
    let (_running, listening) = Running::start(&mut warmgate(&args(&certificate, &key, "0")));
    let address = listening["admission"]
        .as_str()
        .map(str::parse::<SocketAddr>);
    let address = address.expect("it is text").expect("it is an address");
    let visits = demo::visit(address, &identity, &demo::bundled())
        .await
        .expect("it answers");
    assert!(exchanges(&visits).all(is_the_cores));
}

#[test]
fn a_port_that_is_taken_is_told() {
    let identity = demo::identity().expect("a certificate can be made");
    let folder = files(&identity);
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let address = taken.local_addr().expect("it has an address");
    let port = address.port().to_string();
    let (certificate, key) = (folder.text("tls.crt"), folder.text("tls.key"));
    let done = warmgate(&args(&certificate, &key, &port))
        .output()
        .expect("the binary runs");
    let ran = ran(&done);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains(&address.to_string()), "{}", ran.err);
}

#[test]
fn connections_are_as_many_as_descriptors_allow() {
    let identity = demo::identity().expect("a certificate can be made");
    let folder = files(&identity);
    let (certificate, key) = (folder.text("tls.crt"), folder.text("tls.key"));
    // Half of a hard limit is kept for everything else; a soft one is raised.
    for (limit, least, most) in [("-n 64", 32, 32), ("-S -n 64", 65, u64::MAX)] {
        let script = format!("ulimit {limit} && exec \"$0\" \"$@\"");
        let mut command = Command::new("sh");
        command.args(["-c", &script, env!("CARGO_BIN_EXE_warmgate")]);
        command
            .args(args(&certificate, &key, "0"))
            .stdout(Stdio::piped());
        let (_running, listening) = Running::start(&mut command);
        let connections = listening["connections"].as_u64().expect("it says how many");
        assert!(
            (least..=most).contains(&connections),
            "{limit}: {connections}"
        );
    }
}

#[test]
fn a_drain_that_ends_before_it_may_is_refused() {
    let identity = demo::identity().expect("a certificate can be made");
    let folder = files(&identity);
    let (certificate, key) = (folder.text("tls.crt"), folder.text("tls.key"));
    let mut all = args(&certificate, &key, "0").to_vec();
    all.extend(["--lame-duck", "10s", "--drain-limit", "9s"]);
    let done = warmgate(&all).output().expect("the binary runs");
    let ran = ran(&done);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("--drain-limit"), "{}", ran.err);
}
