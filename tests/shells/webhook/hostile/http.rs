//! Requests that no API server sends.

use tokio::io::AsyncWriteExt;

use super::super::body;
use super::super::client::Service;
use super::super::limits::{JSON, head};

/// Bytes on a connection of their own.
pub(in crate::webhook) struct Bytes {
    pub(super) what: &'static str,
    pub(super) bytes: Vec<u8>,
    /// Whether the caller says that nothing follows.
    pub(super) ends: bool,
    /// What is answered until the connection ends.
    pub(super) statuses: &'static [u16],
}

impl Bytes {
    pub(super) async fn assert_told(&self, service: &Service) {
        let mut client = service.connect().await.expect("it shakes hands");
        client.send(&self.bytes).await;
        if self.ends {
            // A server that has heard enough may have hung up.
            let _ = client.stream.shutdown().await;
        }
        assert_eq!(client.statuses().await, self.statuses);
    }
}

/// A caller that is gone before it can be told anything more.
pub(in crate::webhook) struct Leaver {
    bytes: Vec<u8>,
    /// Whether it waits for a first answer.
    reads: bool,
}

impl Leaver {
    pub(super) async fn leave(&self, service: &Service) {
        let mut client = service.connect().await.expect("it shakes hands");
        client.send(&self.bytes).await;
        if self.reads {
            let answer = client.answer().await;
            assert_eq!(answer.expect("there is one").status, 200);
        }
    }
}

/// Callers that leave at every stage of a request, and in the middle of an answer that is longer than what is read of it.
pub(super) fn leavers() -> Vec<Leaver> {
    let request = good().into_bytes();
    let mut all: Vec<Leaver> = [0, 1, 40, request.len() - 1, request.len()]
        .into_iter()
        .map(|cut| Leaver {
            bytes: request[..cut].into(),
            reads: false,
        })
        .collect();
    all.push(Leaver {
        bytes: request.repeat(50),
        reads: true,
    });
    all
}

/// Bytes behind which nothing follows.
fn ended(what: &'static str, bytes: impl Into<Vec<u8>>, statuses: &'static [u16]) -> Bytes {
    Bytes {
        what,
        bytes: bytes.into(),
        ends: true,
        statuses,
    }
}

/// Bytes after which the caller waits.
fn waiting(what: &'static str, bytes: impl Into<Vec<u8>>, statuses: &'static [u16]) -> Bytes {
    Bytes {
        ends: false,
        ..ended(what, bytes, statuses)
    }
}

/// A request with these lines in its head besides those of the content.
fn with(lines: &str) -> String {
    let body = body("llm");
    let length = body.len();
    head(&format!("{lines}{JSON}content-length: {length}\r\n")) + &body
}

/// A request as it should be.
fn good() -> String {
    with("")
}

fn chunked(lines: &str, chunks: &str) -> String {
    head(&format!("{lines}{JSON}transfer-encoding: chunked\r\n")) + chunks
}

/// A review in one chunk.
fn chunk(extension: &str) -> String {
    let body = body("llm");
    format!("{:x}{extension}\r\n{body}\r\n0\r\n\r\n", body.len())
}

/// Everything.
pub(super) fn all() -> Vec<Bytes> {
    let mut all = starts();
    all.extend(heads());
    all.extend(lengths());
    all.extend(chunks());
    all.extend(waits());
    all
}

/// Methods, targets and versions.
fn starts() -> Vec<Bytes> {
    let methods = [
        "GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW",
    ];
    let line = |method: &str| format!("{method} /validate/fix HTTP/1.1\r\nhost: x\r\n\r\n");
    let mut all: Vec<Bytes> = methods
        .into_iter()
        .map(|method| ended(method, line(method), &[405]))
        .collect();
    let nowhere = [
        "/",
        "/validate",
        "/validate/fix/",
        "//validate/fix",
        "/validate/../validate/fix",
        "/validate/fix%00",
        "/validate/fix%2f",
        "/livez",
    ];
    let to = |target: &str| good().replacen("/validate/fix", target, 1);
    all.extend(nowhere.map(|target| ended(target, to(target), &[404])));
    let timeouts = [
        "",
        "0",
        "-1s",
        "9999999h",
        "soon",
        "1e400s",
        "%00",
        "2s&timeout=0",
    ];
    all.extend(timeouts.map(|timeout| {
        let target = format!("/validate/fix?timeout={timeout}");
        ended("a strange timeout", to(&target), &[200])
    }));
    all.extend([
        ended("an escaped path", to("/validate/%66ix"), &[200]),
        ended("a path that is no text", to("/validate/%ff"), &[400]),
        ended(
            "an absolute target",
            to("http://example.org/validate/fix"),
            &[200],
        ),
        ended(
            "CONNECT",
            "CONNECT example.org:443 HTTP/1.1\r\nhost: x\r\n\r\n",
            &[404],
        ),
        ended("a star", "OPTIONS * HTTP/1.1\r\nhost: x\r\n\r\n", &[404]),
        ended("HTTP/1.0", good().replacen("1.1", "1.0", 1), &[200]),
        ended("HTTP/3", good().replacen("HTTP/1.1", "HTTP/3.0", 1), &[400]),
        ended("HTTP/0.9", "GET /\r\n\r\n", &[400]),
        ended(
            "the preface of HTTP/2",
            "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
            &[],
        ),
        ended(
            "TLS in TLS",
            "\u{16}\u{3}\u{1}\u{0}\u{5}hello\r\n\r\n",
            &[400],
        ),
        ended("no word", "\r\n\r\n\r\n", &[]),
        ended(
            "a long target",
            to(&format!("/{}", "a".repeat(200_000))),
            &[431],
        ),
    ]);
    all
}

/// Header lines.
fn heads() -> Vec<Bytes> {
    let many: String = (0..10_000)
        .map(|number| format!("x-{number}: y\r\n"))
        .collect();
    let encoded = ["gzip", "br", "deflate", "identity", "gzip, gzip"].map(|encoding| {
        let lines = format!("content-encoding: {encoding}\r\n");
        ended("an encoded body", with(&lines), &[415])
    });
    let mut all = Vec::from(encoded);
    all.extend([
        ended(
            "a long line",
            with(&format!("x: {}\r\n", "y".repeat(200_000))),
            &[431],
        ),
        ended("many lines", with(&many), &[431]),
        ended("a line that goes on", with("x: y\r\n z\r\n"), &[400]),
        ended("a name with a blank", with("x y: z\r\n"), &[400]),
        ended("a NUL", with("x: \0\r\n"), &[400]),
        ended("a line without a colon", with("x\r\n"), &[400]),
        ended("no type", with("").replacen(JSON, "", 1), &[415]),
        ended(
            "another type",
            with("").replacen("application/json", "text/plain", 1),
            &[415],
        ),
        ended("two types", with(JSON), &[415]),
        ended(
            "another charset",
            with("").replacen("json", "json; charset=utf-16", 1),
            &[415],
        ),
        ended(
            "an upgrade",
            with("connection: upgrade\r\nupgrade: h2c\r\n"),
            &[200],
        ),
        ended(
            "an unknown expectation",
            with("expect: miracles\r\n"),
            &[200],
        ),
        ended(
            "an expectation",
            with("expect: 100-continue\r\n"),
            &[100, 200],
        ),
    ]);
    all
}

/// Bodies that are not as long as they are said to be.
fn lengths() -> Vec<Bytes> {
    let said = |lines: &str| head(&format!("{JSON}{lines}")) + "12345";
    let invalid = ["5, 5", "-5", "+5", "0x5", "5.0", "", "99999999999999999999"];
    let mut all: Vec<Bytes> = invalid
        .map(|length| {
            let line = format!("content-length: {length}\r\n");
            ended("no number for a length", said(&line), &[400])
        })
        .into();
    let review = body("llm");
    let length = format!("content-length: {}\r\n", review.len());
    all.extend([
        ended("no length", head(JSON), &[400]),
        ended(
            "two lengths",
            said("content-length: 5\r\ncontent-length: 6\r\n"),
            &[400],
        ),
        ended("the same length twice", with(&length), &[200]),
        ended("a body that goes on", said("content-length: 3\r\n"), &[400]),
        ended(
            "a body that breaks off",
            said("content-length: 50\r\n"),
            &[400],
        ),
        ended(
            "a length that nobody has",
            said("content-length: 9223372036854775807\r\n"),
            &[413],
        ),
    ]);
    // A request that is hidden in the body of another is none.
    let hidden = chunk("") + &line_of_get();
    all.extend([
        ended(
            "a length before chunks",
            chunked("content-length: 5\r\n", &hidden),
            &[200],
        ),
        ended(
            "a length behind chunks",
            {
                let lines = format!("{JSON}transfer-encoding: chunked\r\ncontent-length: 5\r\n");
                head(&lines) + &hidden
            },
            &[200],
        ),
    ]);
    all
}

fn line_of_get() -> String {
    "GET /validate/fix HTTP/1.1\r\nhost: x\r\n\r\n".to_owned()
}

/// Bodies in chunks.
fn chunks() -> Vec<Bytes> {
    let trailers =
        |trailers: &str| chunk("").trim_end_matches("\r\n").to_owned() + "\r\n" + trailers + "\r\n";
    vec![
        ended("chunks", chunked("", &chunk("")), &[200]),
        ended("an extension", chunked("", &chunk(";a=b;c=\"d\"")), &[200]),
        ended(
            "a long extension",
            chunked("", &chunk(&format!(";{}", "a".repeat(50_000)))),
            &[400],
        ),
        ended("no size of a chunk", chunked("", "\r\n\r\n"), &[400]),
        ended("no number for a size", chunked("", "zz\r\n"), &[400]),
        ended(
            "a size beyond all numbers",
            chunked("", "fffffffffffffffff\r\n"),
            &[400],
        ),
        ended(
            "a chunk that goes on",
            chunked("", "1\r\nab\r\n0\r\n\r\n"),
            &[400],
        ),
        ended("a chunk that breaks off", chunked("", "64\r\n{"), &[400]),
        ended("a trailer", chunked("", &trailers("x: y\r\n")), &[200]),
        ended(
            "a long trailer",
            chunked("", &trailers(&format!("x: {}\r\n", "y".repeat(50_000)))),
            &[400],
        ),
        ended(
            "another coding behind chunks",
            head(&format!("{JSON}transfer-encoding: chunked, gzip\r\n")) + &chunk(""),
            &[400],
        ),
    ]
}

/// Callers that begin and then wait, and requests in one piece.
fn waits() -> Vec<Bytes> {
    let hurried =
        |request: String| request.replacen("/validate/fix", "/validate/fix?timeout=50ms", 1);
    let half = head(&format!("{JSON}content-length: 500\r\n")) + "{";
    let expecting = head(&format!(
        "{JSON}expect: 100-continue\r\ncontent-length: 500\r\n"
    ));
    vec![
        waiting("a body that does not come", hurried(half), &[408]),
        waiting(
            "an expectation without a body",
            hurried(expecting),
            &[100, 408],
        ),
        waiting("chunks that do not come", hurried(chunked("", "")), &[408]),
        ended("many requests at once", good().repeat(20), &[200; 20]),
        ended(
            "a bad one among good ones",
            good() + &with("x y: z\r\n") + &good(),
            &[200, 400],
        ),
        waiting(
            "a path of nobody, and a body that does not come",
            head(&format!("{JSON}content-length: 500\r\n")).replacen("/validate/fix", "/", 1),
            &[404],
        ),
    ]
}
