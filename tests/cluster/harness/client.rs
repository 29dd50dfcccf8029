//! The API over a socket, without keys and without starting a program for every look.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;

use super::fault::{Context, Fault, Outcome};

/// The longest the API server may take for one answer.
const ANSWER: Duration = Duration::from_secs(60);

/// Speaks to one `kubectl proxy`.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    socket: PathBuf,
}

/// An answer of the API server.
#[derive(Debug)]
pub(crate) struct Answer {
    /// The HTTP status.
    pub(crate) status: u16,
    /// The body; null where it was no JSON.
    pub(crate) body: Value,
    /// What the answer warned of, in order.
    pub(crate) warnings: Vec<String>,
    /// By what its record in the audit log is known.
    pub(crate) audit_id: String,
}

impl Client {
    /// A client of the API served at `socket`.
    pub(crate) fn new(socket: PathBuf) -> Self {
        Self { socket }
    }

    /// Sends one request. `kind` is the media type of the `body`.
    ///
    /// # Errors
    ///
    /// Nobody listens, or the answer cannot be read.
    pub(crate) fn send(&self, method: &str, path: &str, kind: &str, body: &str) -> Outcome<Answer> {
        let line = format!("{method} {path}");
        let mut stream = UnixStream::connect(&self.socket).context(&line)?;
        stream.set_read_timeout(Some(ANSWER)).context(&line)?;
        // HTTP/1.0: the answer comes in one piece and ends with the connection.
        write!(
            stream,
            "{line} HTTP/1.0\r\nHost: localhost\r\nAccept: application/json\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        )
        .context(&line)?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).context(&line)?;
        Answer::read(&String::from_utf8_lossy(&answer)).context(&line)
    }

    /// What is at `path`, or nothing where there is nothing.
    ///
    /// # Errors
    ///
    /// Any other answer.
    pub(crate) fn get(&self, path: &str) -> Outcome<Option<Value>> {
        let answer = self.send("GET", path, "application/json", "")?;
        match answer.status {
            200 => Ok(Some(answer.body)),
            404 => Ok(None),
            status => Err(Fault::new(format!("GET {path}: {status} {}", answer.body))),
        }
    }
}

impl Answer {
    fn read(text: &str) -> Outcome<Self> {
        let (head, body) = text
            .split_once("\r\n\r\n")
            .ok_or_else(|| Fault::new("no answer"))?;
        let status = head.split(' ').nth(1).unwrap_or_default();
        let headers = |name: &'static str| {
            head.lines()
                .filter_map(|line| line.split_once(": "))
                .filter(move |(found, _)| found.eq_ignore_ascii_case(name))
                .map(|(_, value)| value)
        };
        Ok(Self {
            status: status.parse().context(head)?,
            body: serde_json::from_str(body).unwrap_or_default(),
            warnings: headers("warning").map(warning).collect(),
            audit_id: headers("audit-id").next().unwrap_or_default().to_owned(),
        })
    }
}

/// The text of a warning: `299 - "text"`.
fn warning(value: &str) -> String {
    let text = value.splitn(3, ' ').nth(2).unwrap_or(value);
    let inner = text
        .strip_prefix('"')
        .and_then(|text| text.strip_suffix('"'));
    inner.unwrap_or(text).replace("\\\"", "\"")
}
