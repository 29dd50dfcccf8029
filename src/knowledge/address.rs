//! Addresses that servers are told to listen on.

use super::server::Bind;

/// Host and port of `host:port`, `:port`, `host`, `[::1]:port`; a scheme and a path do not count.
pub(super) fn address(text: &str) -> (String, Option<i64>) {
    let text = text.split_once("://").map_or(text, |(_scheme, rest)| rest);
    let text = text.split_once('/').map_or(text, |(host, _path)| host);
    let port = |port: &str| port.parse().ok().filter(|port| (1..=65535).contains(port));
    match text.rsplit_once(':') {
        Some((host, number)) if !host.contains(':') || host.ends_with(']') => {
            // Without a host it listens everywhere, as Go's net.Listen does.
            let host = if host.is_empty() { "*" } else { host };
            (host.to_owned(), port(number))
        }
        _ => (text.to_owned(), None),
    }
}

/// Which addresses a host stands for, or `None` where it is empty and the default holds.
pub(super) fn reach(host: &str) -> Option<Bind> {
    match host.trim_start_matches('[').trim_end_matches(']') {
        "" => None,
        "0.0.0.0" | "::" | "*" | "0:0:0:0:0:0:0:0" => Some(Bind::Everywhere),
        "localhost" | "::1" => Some(Bind::Loopback),
        host if host.starts_with("127.") => Some(Bind::Loopback),
        _ => Some(Bind::Unknown),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_come_apart() {
        for (text, host, port) in [
            ("0.0.0.0:11434", "0.0.0.0", Some(11434)),
            ("http://0.0.0.0:80/x", "0.0.0.0", Some(80)),
            (":8080", "*", Some(8080)),
            ("0.0.0.0", "0.0.0.0", None),
            ("[::]:1", "[::]", Some(1)),
            ("::1", "::1", None),
            ("localhost:x", "localhost", None),
            ("", "", None),
        ] {
            assert_eq!(address(text), (host.to_owned(), port), "{text}");
        }
    }

    #[test]
    fn hosts_reach_what_they_name() {
        for (host, bind) in [
            ("", None),
            ("0.0.0.0", Some(Bind::Everywhere)),
            ("[::]", Some(Bind::Everywhere)),
            ("127.0.0.1", Some(Bind::Loopback)),
            ("127.1.2.3", Some(Bind::Loopback)),
            ("::1", Some(Bind::Loopback)),
            ("10.0.0.7", Some(Bind::Unknown)),
            ("engine.svc", Some(Bind::Unknown)),
        ] {
            assert_eq!(reach(host), bind, "{host}");
        }
    }
}
