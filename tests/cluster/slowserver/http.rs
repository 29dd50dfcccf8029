//! HTTP/1.1, one request a connection, as far as probes need it.

use std::io;
use std::time::Instant;

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt, Interest};
use tokio::net::TcpStream;

use crate::server::Server;

/// The longest head that is read.
const HEAD: usize = 16 * 1024;

/// Answers the one request on `stream`.
///
/// # Errors
///
/// The connection broke.
pub(crate) async fn serve(server: &Server, mut stream: TcpStream) -> io::Result<()> {
    let Some(head) = head(&mut stream).await? else {
        server
            .log
            .write("closed", json!({"port": stream.local_addr()?.port()}));
        return Ok(());
    };
    let start = Instant::now();
    let mut words = head.split([' ', '\r']);
    let (method, path) = (
        words.next().unwrap_or_default(),
        words.next().unwrap_or_default(),
    );
    let request = json!({
        "protocol": "http", "method": method, "path": path, "agent": header(&head, "user-agent"),
    });
    server.log.write("request", request);
    let reply = server.reply();
    let (status, text) = match reply.well {
        true => ("200 OK", "ok\n"),
        false => ("503 Service Unavailable", "loading\n"),
    };
    let mut answer = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        text.len()
    );
    if reply.head_first {
        stream.write_all(answer.as_bytes()).await?;
        server.log.write("head", json!({"path": path}));
        answer.clear();
    }
    answer.push_str(text);
    tokio::select! {
        () = server.until(reply.done) => {}
        gone = closed(&stream) => {
            gone?;
            let abandoned = json!({"path": path, "took_us": micros(start)});
            server.log.write("abandoned", abandoned);
            return Ok(());
        }
    }
    stream.write_all(answer.as_bytes()).await?;
    stream.shutdown().await?;
    let status: u16 = status[..3].parse().unwrap_or(0);
    server.log.write(
        "answer",
        json!({"path": path, "status": status, "took_us": micros(start)}),
    );
    Ok(())
}

/// The microseconds since `start`.
pub(crate) fn micros(start: Instant) -> u64 {
    u64::try_from(start.elapsed().as_micros()).unwrap_or(u64::MAX)
}

/// Waits until the other side has closed `stream`.
///
/// # Errors
///
/// It broke.
pub(crate) async fn closed(stream: &TcpStream) -> io::Result<()> {
    let mut scratch = [0; 1024];
    loop {
        stream.ready(Interest::READABLE).await?;
        match stream.try_read(&mut scratch) {
            Ok(0) => return Ok(()),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => return Ok(()),
            Err(error) => return Err(error),
        }
    }
}

/// The head of a request, or nothing where the other side only connected.
async fn head(stream: &mut TcpStream) -> io::Result<Option<String>> {
    let mut bytes = Vec::new();
    loop {
        if let Some(at) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            return Ok(Some(String::from_utf8_lossy(&bytes[..at]).into_owned()));
        }
        if bytes.len() > HEAD {
            return Err(io::Error::other("the head of a request is too long"));
        }
        match stream.read_buf(&mut bytes).await {
            Ok(0) => return Ok(None),
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => return Ok(None),
            read => read?,
        };
    }
}

fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    head.lines()
        .filter_map(|line| line.split_once(':'))
        .find(|(found, _)| found.eq_ignore_ascii_case(name))
        .map(|(_, value)| value.trim())
}
