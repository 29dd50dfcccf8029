//! What judges calls nobody: no code on the way from a review to its answer opens a connection, looks a name up or starts a program.

use std::path::Path;

use crate::tokens::tokens;

/// The shells that call somebody: the controller the API server, the command line the webhook of its demo.
const CALLERS: [&str; 2] = ["cli", "controller"];

/// Words of the standard library, of tokio and of the clients in the dependencies without which nobody can be called.
const WORDS: [&str; 11] = [
    "connect",
    "connect_timeout",
    "kube",
    "lookup_host",
    "send_to",
    "to_socket_addrs",
    "Connector",
    "TlsConnector",
    "ToSocketAddrs",
    "UdpSocket",
    "UnixStream",
];

/// The lines of a source on which somebody might be called, or a program started.
fn calls(source: &str) -> Vec<(usize, String)> {
    let tokens = tokens(source);
    let starts = |at: usize| {
        let behind = tokens[at + 1..].iter().map(|token| token.text.as_str());
        tokens[at].text == "Command" && behind.take(3).eq([":", ":", "new"])
    };
    let calls = (0..tokens.len())
        .filter(|at| starts(*at) || WORDS.contains(&tokens[*at].text.as_str()))
        .map(|at| (tokens[at].line, tokens[at].text.clone()));
    calls.collect()
}

#[test]
fn what_judges_calls_nobody() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut read = 0;
    for entry in walkdir::WalkDir::new(&source) {
        let path = entry.expect("src can be walked").into_path();
        let inner = path.strip_prefix(&source).expect("it stands in src");
        let room = inner.iter().next().and_then(|room| room.to_str());
        let rust = path.extension().is_some_and(|extension| extension == "rs");
        if !rust || room.is_none_or(|room| CALLERS.contains(&room)) {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("a source file can be read");
        let found = calls(&text);
        assert!(found.is_empty(), "{}: {found:?}", inner.display());
        read += 1;
    }
    assert!(read > 150, "{read}");
}

#[test]
fn a_call_is_noticed() {
    let source = "use tokio::net::TcpStream;\n// connect\nlet s = \"kube\";\nTcpStream::connect(address);\nstd::process::Command::new(x)";
    let found: Vec<_> = calls(source).into_iter().map(|(line, _)| line).collect();
    assert_eq!(found, [4, 5]);
}
