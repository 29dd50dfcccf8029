//! The handlers that `startup-probe` names.

use serde_json::{Value, json};

use crate::words::{clip, needs_shell, split_words};

use super::grammar::{self, Complaint};
use super::value::PerContainer;

/// The forms of a handler, for messages.
const FORMS: &str = "write http://:8000/health, https://:8443/ready, tcp://:8000, grpc://:9000, exec:COMMAND or none";

/// What `startup-probe` asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StartupProbe {
    /// `none`: inject no startup probe.
    None,
    /// The handler to inject.
    Handler(HandlerValue),
}

/// A handler as an annotation writes it. There is no host: the kubelet asks the pod's own address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HandlerValue {
    /// `exec:COMMAND`: runs a command in the container, without a shell.
    Exec {
        /// The command and its arguments; at least one.
        command: Vec<String>,
    },
    /// `grpc://:PORT/SERVICE`: calls `grpc.health.v1.Health/Check`.
    Grpc {
        /// The port; the API takes no name here.
        port: u16,
        /// The service asked for, empty if none is named.
        service: String,
    },
    /// `http://:PORT/PATH` or `https://:PORT/PATH`: sends a GET request.
    Http {
        /// The port.
        port: HandlerPort,
        /// The path with its query, `/` if none is written.
        path: String,
        /// Whether TLS is spoken.
        https: bool,
    },
    /// `tcp://:PORT`: opens a connection.
    Tcp {
        /// The port.
        port: HandlerPort,
    },
}

/// The port that a handler asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HandlerPort {
    /// The name of a port that the container declares.
    Name(String),
    /// 1 to 65535.
    Number(u16),
}

impl HandlerPort {
    /// The port as Kubernetes writes it: a number or a string.
    fn to_json(&self) -> Value {
        match self {
            Self::Name(name) => json!(name),
            Self::Number(number) => json!(number),
        }
    }
}

impl HandlerValue {
    /// The name of the port it asks, where it asks one by name.
    pub fn port_name(&self) -> Option<&str> {
        match self {
            Self::Http {
                port: HandlerPort::Name(name),
                ..
            }
            | Self::Tcp {
                port: HandlerPort::Name(name),
            } => Some(name),
            _ => None,
        }
    }

    /// The member of a probe that says the same, such as `{"tcpSocket": {"port": 8000}}`.
    pub fn to_json(&self) -> Value {
        match self {
            Self::Exec { command } => json!({"exec": {"command": command}}),
            Self::Grpc { port, service } if service.is_empty() => json!({"grpc": {"port": port}}),
            Self::Grpc { port, service } => json!({"grpc": {"port": port, "service": service}}),
            Self::Http { port, path, https } => {
                let mut get = json!({"path": path, "port": port.to_json()});
                if *https {
                    get["scheme"] = json!("HTTPS");
                }
                json!({"httpGet": get})
            }
            Self::Tcp { port } => json!({"tcpSocket": {"port": port.to_json()}}),
        }
    }
}

/// Reads one handler a line; lines without any are passed over, as YAML's block texts leave them.
pub(super) fn startup_probes(text: &str) -> Result<PerContainer<StartupProbe>, Complaint> {
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let probes = grammar::per_container(lines, startup_probe)?;
    if probes.is_empty() {
        return Err(Complaint::new(text, format!("is empty: {FORMS}")));
    }
    Ok(probes)
}

/// Reads one handler or `none`; an error is what is wrong with it.
fn startup_probe(text: &str) -> Result<StartupProbe, String> {
    if text == "none" {
        return Ok(StartupProbe::None);
    }
    let handler = if let Some(command) = text.strip_prefix("exec:") {
        exec(command)?
    } else {
        let (scheme, rest) = text
            .split_once("://")
            .ok_or_else(|| format!("is no handler: {FORMS}"))?;
        network(scheme, rest)?
    };
    Ok(StartupProbe::Handler(handler))
}

/// Reads what stands behind `://`.
fn network(scheme: &str, rest: &str) -> Result<HandlerValue, String> {
    if !matches!(scheme, "grpc" | "http" | "https" | "tcp") {
        return Err(format!("is no handler: {FORMS}"));
    }
    if rest.contains(|c: char| c.is_whitespace() || c.is_control()) {
        return Err("has a blank in it: write it as %20".to_owned());
    }
    let (authority, path) = match rest.find('/') {
        Some(slash) => rest.split_at(slash),
        None => (rest, ""),
    };
    let port = match authority.strip_prefix(':') {
        Some(port) => read_port(port)?,
        None => {
            return Err(format!(
                "names a host or no port, the pod itself is asked: write {scheme}://:PORT"
            ));
        }
    };
    match (scheme, port) {
        ("grpc", HandlerPort::Number(port)) => Ok(HandlerValue::Grpc {
            port,
            service: path.strip_prefix('/').unwrap_or(path).to_owned(),
        }),
        ("grpc", HandlerPort::Name(_)) => {
            Err("names its port, and grpc takes only a number: write grpc://:9000".to_owned())
        }
        ("tcp", port) if path.is_empty() => Ok(HandlerValue::Tcp { port }),
        ("tcp", _) => Err("has a path, and tcp takes none: write tcp://:8000".to_owned()),
        (_, port) => Ok(HandlerValue::Http {
            port,
            path: if path.is_empty() { "/" } else { path }.to_owned(),
            https: scheme == "https",
        }),
    }
}

/// Reads a port's number or name.
fn read_port(text: &str) -> Result<HandlerPort, String> {
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        return match text.parse() {
            Ok(number) if number > 0 => Ok(HandlerPort::Number(number)),
            _ => Err("has no port from 1 to 65535".to_owned()),
        };
    }
    if is_port_name(text) {
        return Ok(HandlerPort::Name(text.to_owned()));
    }
    Err(
        "has no port: write its number or its declared name behind the colon, then a path from /"
            .to_owned(),
    )
}

/// Whether a container can declare a port of this name (`IsValidPortName` in
/// `staging/src/k8s.io/apimachinery/pkg/util/validation/validation.go`).
fn is_port_name(name: &str) -> bool {
    (1..=15).contains(&name.len())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
        && name.bytes().any(|byte| byte.is_ascii_lowercase())
        && !name.starts_with('-')
        && !name.ends_with('-')
        && !name.contains("--")
}

/// Reads a command: a JSON array as it is, else a line split as a shell splits it.
fn exec(text: &str) -> Result<HandlerValue, String> {
    let text = text.trim();
    let command = match json_command(text)? {
        Some(command) => command,
        None => shell_words(text)?,
    };
    match command.first() {
        Some(program) if !program.is_empty() => Ok(HandlerValue::Exec { command }),
        _ => Err("has no command: write exec:cat /tmp/ready".to_owned()),
    }
}

/// Reads a JSON array of words; `None` where the text is meant as a line. `[ -f /tmp/ready ]` is one: the program named `[`
/// has a blank behind it.
fn json_command(text: &str) -> Result<Option<Vec<String>>, String> {
    let Some(behind) = text.strip_prefix('[') else {
        return Ok(None);
    };
    match serde_json::from_str(text) {
        Ok(command) => Ok(Some(command)),
        Err(error) if error.is_data() || !behind.starts_with(char::is_whitespace) => {
            Err("is no list of words: write exec:[\"cat\", \"/tmp/ready\"]".to_owned())
        }
        Err(_) => Ok(None),
    }
}

/// Splits a line. What only a shell understands would reach the program as an argument, and the probe would never pass.
fn shell_words(text: &str) -> Result<Vec<String>, String> {
    let words = split_words(text).map_err(|error| error.to_string())?;
    let for_a_shell = needs_shell(text).map_err(|error| error.to_string())?;
    match for_a_shell {
        Some(word) => Err(format!(
            "runs without a shell, and {} needs one: write exec:sh -c '...'",
            clip(word, 40)
        )),
        None => Ok(words),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_handler_becomes_its_member() {
        for (text, want) in [
            (
                "http://:8000/health",
                json!({"httpGet": {"path": "/health", "port": 8000}}),
            ),
            (
                "http://:http-api",
                json!({"httpGet": {"path": "/", "port": "http-api"}}),
            ),
            (
                "https://:8443/ready?a=b&c=d:e",
                json!({"httpGet": {"path": "/ready?a=b&c=d:e", "port": 8443, "scheme": "HTTPS"}}),
            ),
            ("tcp://:65535", json!({"tcpSocket": {"port": 65535}})),
            ("tcp://:nccl", json!({"tcpSocket": {"port": "nccl"}})),
            ("grpc://:9000", json!({"grpc": {"port": 9000}})),
            (
                "grpc://:9000/inference.Service",
                json!({"grpc": {"port": 9000, "service": "inference.Service"}}),
            ),
            (
                "exec:cat /tmp/ready",
                json!({"exec": {"command": ["cat", "/tmp/ready"]}}),
            ),
            (
                "exec:env A=b sh -c 'test -f /tmp/a && test -f \"$B\"'",
                json!({"exec": {"command": ["env", "A=b", "sh", "-c", "test -f /tmp/a && test -f \"$B\""]}}),
            ),
            (
                "exec:[ -f /tmp/ready ]",
                json!({"exec": {"command": ["[", "-f", "/tmp/ready", "]"]}}),
            ),
            (
                r#"exec: ["expr", "1", "|", "a b"]"#,
                json!({"exec": {"command": ["expr", "1", "|", "a b"]}}),
            ),
        ] {
            match startup_probe(text) {
                Ok(StartupProbe::Handler(handler)) => assert_eq!(handler.to_json(), want, "{text}"),
                other => panic!("{text}: {other:?}"),
            }
        }
        assert_eq!(startup_probe("none"), Ok(StartupProbe::None));
    }

    #[test]
    fn what_the_kubelet_could_not_ask_is_refused() {
        for text in [
            "",
            "off",
            "http",
            "http:/:8000/",
            "http://8000/health",
            "http://localhost:8000/health",
            "http://:/health",
            "http:///health",
            "http://:0/health",
            "http://:65536/health",
            "http://:+80/health",
            "http://:8000_health",
            "http://:8000?a=b",
            "http://:-http/",
            "http://:a--b/",
            "http://:sixteen-letters-x/",
            "http://:8000/a b",
            "HTTP://:8000/health",
            "ftp://:21",
            "tcp://:8000/",
            "tcp://8000",
            "grpc://:grpc",
            "exec:",
            "exec: ''",
            "exec:cat 'open",
            "exec:[]",
            "exec:[\"\"]",
            "exec:[\"cat\", 1]",
            "exec:[\"cat\"",
            "exec:test -f /a && test -f /b",
        ] {
            assert!(startup_probe(text).is_err(), "{text}");
        }
    }

    #[test]
    fn handlers_stand_one_a_line() {
        let probes = startup_probes("engine=http://:8000/a?b=c\n\n  exec:env A=b true\nx=none\n")
            .expect("reads");
        assert_eq!(probes.names().collect::<Vec<_>>(), ["engine", "x"]);
        assert_eq!(probes.get("x"), Some(&StartupProbe::None));
        let command = ["env", "A=b", "true"].map(str::to_owned).to_vec();
        let all = StartupProbe::Handler(HandlerValue::Exec { command });
        assert_eq!(probes.get("other"), Some(&all));
        for text in ["", " \n ", "none\nnone", "a=none\na=none", "A=none", "a="] {
            assert!(startup_probes(text).is_err(), "{text}");
        }
    }
}
