//! What the server is told.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::{Parser, ValueEnum};

/// A server that loads slowly, for probes to look at.
#[derive(Clone, Debug, Parser)]
pub(crate) struct Flags {
    /// Serve HTTP/1.1 on this port, any path
    #[arg(long, value_name = "PORT")]
    pub(crate) http: Option<u16>,

    /// Serve grpc.health.v1 without TLS on this port, any service
    #[arg(long, value_name = "PORT")]
    pub(crate) grpc: Option<u16>,

    /// Accept connections on this port and say nothing
    #[arg(long, value_name = "PORT")]
    pub(crate) tcp: Option<u16>,

    /// Be a mutating webhook on this port, one that injects a proxy
    #[arg(long, value_name = "PORT", requires = "tls")]
    pub(crate) inject: Option<u16>,

    /// The folder with its tls.crt and tls.key
    #[arg(long, value_name = "FOLDER")]
    pub(crate) tls: Option<PathBuf>,

    /// Make this file when ready; a file of that name from an earlier run goes first
    #[arg(long, value_name = "FILE")]
    pub(crate) ready_file: Option<PathBuf>,

    /// Listen only after so many seconds
    #[arg(long, value_name = "SECONDS", default_value = "0", value_parser = seconds)]
    pub(crate) listens_after: Duration,

    /// Be ready only after so many seconds
    #[arg(long, value_name = "SECONDS", default_value = "0", value_parser = seconds)]
    pub(crate) ready_after: Duration,

    /// What is answered until then
    #[arg(long, value_enum, default_value = "503")]
    pub(crate) while_loading: Loading,

    /// Take so many seconds for every answer
    #[arg(long, value_name = "SECONDS", default_value = "0", value_parser = seconds)]
    pub(crate) answers_in: Duration,

    /// Answer nothing between these seconds, and then what has come; connections are taken all the same. May be repeated
    #[arg(long = "stall", value_name = "FROM=TO")]
    pub(crate) stalls: Vec<Stall>,

    /// On SIGTERM: abort, ignore, serve=SECONDS (go on, and end after so long with code 0), or drain=SECONDS (listen no more, end
    /// when nothing is in flight, at the latest then)
    #[arg(long, value_name = "HOW", default_value = "drain=30")]
    pub(crate) on_term: Ending,

    /// End after so many seconds
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) exits_after: Option<Duration>,

    /// The exit code of that end
    #[arg(long, value_name = "CODE", default_value = "1")]
    pub(crate) exit_code: u8,

    /// Be no server: ask the one on this port, wait for all of its answer, and fail unless that is a 2xx
    #[arg(long, value_name = "PORT", exclusive = true)]
    pub(crate) ask: Option<u16>,
}

/// What a server answers while it loads.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(crate) enum Loading {
    /// It listens only once it is ready
    Refused,
    /// 503, or NOT_SERVING
    #[value(name = "503")]
    Unavailable,
    /// 200, or SERVING, as if it were ready
    #[value(name = "200")]
    Ok,
    /// Nothing before it is ready, as one whose event loop is blocked: then 200, or SERVING
    Hang,
    /// The head of a 200 at once, and the rest when it is ready. Over gRPC the same as `hang`
    Stall,
}

/// A time in which nothing is answered, counted from the start.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Stall {
    /// Its first moment.
    pub(crate) from: Duration,
    /// The first moment after it.
    pub(crate) to: Duration,
}

impl FromStr for Stall {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (from, to) = text.split_once('=').ok_or("it is FROM=TO")?;
        let (from, to) = (seconds(from)?, seconds(to)?);
        if from < to {
            Ok(Self { from, to })
        } else {
            Err("it ends before it begins".to_owned())
        }
    }
}

/// What a server does when it is told to end.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Ending {
    /// It ends at once, as one without a handler does.
    Abort,
    /// It finishes what is in flight, for so long at the most.
    Drain(Duration),
    /// It goes on for so long, as if nothing had been said.
    Serve(Duration),
    /// It goes on.
    Ignore,
}

impl FromStr for Ending {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once('=') {
            None if text == "abort" => Ok(Self::Abort),
            None if text == "ignore" => Ok(Self::Ignore),
            Some(("drain", longest)) => seconds(longest).map(Self::Drain),
            Some(("serve", longer)) => seconds(longer).map(Self::Serve),
            _ => Err("it is abort, ignore, serve=SECONDS or drain=SECONDS".to_owned()),
        }
    }
}

impl Flags {
    /// When it begins to listen.
    pub(crate) fn listens_after(&self) -> Duration {
        if self.while_loading == Loading::Refused {
            self.listens_after.max(self.ready_after)
        } else {
            self.listens_after
        }
    }
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "it is a number of seconds")?;
    Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings_are_read() {
        assert_eq!("abort".parse(), Ok(Ending::Abort));
        assert_eq!("ignore".parse(), Ok(Ending::Ignore));
        assert_eq!(
            "drain=1.5".parse(),
            Ok(Ending::Drain(Duration::from_millis(1500)))
        );
        assert_eq!("serve=5".parse(), Ok(Ending::Serve(Duration::from_secs(5))));
        for wrong in [
            "",
            "drain",
            "drain=",
            "drain=-1",
            "serve=soon",
            "stop",
            "abort=1",
        ] {
            assert!(wrong.parse::<Ending>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn stalls_are_read() {
        let (from, to) = (Duration::from_millis(500), Duration::from_secs(2));
        assert_eq!("0.5=2".parse(), Ok(Stall { from, to }));
        for wrong in ["", "1", "=", "1=", "=2", "2=1", "2=2", "-1=2", "1=2=3"] {
            assert!(wrong.parse::<Stall>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn who_asks_is_no_server() {
        let parse = |line: &str| Flags::try_parse_from(line.split(' '));
        assert_eq!(parse("slowserver --ask 80").unwrap().ask, Some(80));
        parse("slowserver --ask 80 --http 80").unwrap_err();
    }

    #[test]
    fn a_server_that_refuses_listens_when_it_is_ready() {
        let flags = |line: &str| Flags::parse_from(line.split(' '));
        let refuses = flags("slowserver --ready-after 9 --listens-after 2 --while-loading refused");
        assert_eq!(refuses.listens_after(), Duration::from_secs(9));
        let hangs = flags("slowserver --ready-after 9 --listens-after 2 --while-loading hang");
        assert_eq!(hangs.listens_after(), Duration::from_secs(2));
    }
}
