//! `warmgate webhook`: what the server does is tested beside it; here it is started as an operator starts it.

use std::io::{BufRead, BufReader};
use std::net::{SocketAddr, TcpListener};
use std::process::Child;

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
    let mut child = warmgate(&args(&certificate, &key, "0"))
        .spawn()
        .expect("the binary runs");
    let log = BufReader::new(child.stdout.take().expect("its output is a pipe"));
    let _running = Running(child);
    let address: SocketAddr = log
        .lines()
        .map(|line| line.expect("a line is text"))
        .map(|line| serde_json::from_str::<Value>(&line).expect("a line is JSON"))
        .find_map(|line| line["admission"].as_str()?.parse().ok())
        .expect("it says where it listens");
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
