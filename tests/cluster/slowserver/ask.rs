//! A command that asks a server, as an exec probe does that has no HTTP client but its own.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpStream};

/// Sends one GET to `port` on this host, waits for the whole answer however long that takes, and fails unless it is a 2xx.
///
/// # Errors
///
/// Nobody listens there, the connection broke, or the answer: another status, or one that was cut off.
pub(crate) fn ask(port: u16) -> io::Result<()> {
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
    stream.write_all(
        b"GET / HTTP/1.1\r\nHost: localhost\r\nUser-Agent: slowserver\r\nConnection: close\r\n\r\n",
    )?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    match judge(&answer) {
        None => Ok(()),
        Some(why) => Err(io::Error::other(why)),
    }
}

/// What is wrong with an answer.
fn judge(answer: &str) -> Option<String> {
    let Some((head, body)) = answer.split_once("\r\n\r\n") else {
        return Some("the server closed the connection".to_owned());
    };
    let mut lines = head.lines();
    let status = lines.next().unwrap_or_default();
    if !status.starts_with("HTTP/1.1 2") {
        return Some(status.to_owned());
    }
    let length = lines
        .filter_map(|line| line.split_once(':'))
        .find(|(name, _)| name.eq_ignore_ascii_case("content-length"))
        .and_then(|(_, length)| length.trim().parse::<usize>().ok());
    let whole = length.is_none_or(|length| length == body.len());
    (!whole).then(|| format!("the answer was cut off after {} bytes", body.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_passes_if_it_is_a_2xx_and_whole() {
        for passes in [
            "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok\n",
            "HTTP/1.1 204 No Content\r\n\r\n",
        ] {
            assert_eq!(judge(passes), None);
        }
        for (fails, why) in [
            ("", "closed"),
            ("HTTP/1.1 200 OK\r\nContent-Le", "closed"),
            ("HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\n", "0 bytes"),
            ("HTTP/1.1 302 Found\r\n\r\n", "302 Found"),
            ("HTTP/1.1 503 Service Unavailable\r\n\r\n", "503"),
        ] {
            let said = judge(fails).unwrap();
            assert!(said.contains(why), "{said}");
        }
    }
}
