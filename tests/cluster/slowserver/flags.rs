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

    /// Once ready, take so many seconds for every answer
    #[arg(long, value_name = "SECONDS", default_value = "0", value_parser = seconds)]
    pub(crate) answers_in: Duration,

    /// On SIGTERM: abort, ignore, or drain=SECONDS (listen no more, end when nothing is in flight, at the latest then)
    #[arg(long, value_name = "HOW", default_value = "drain=30")]
    pub(crate) on_term: Ending,

    /// End after so many seconds
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) exits_after: Option<Duration>,

    /// The exit code of that end
    #[arg(long, value_name = "CODE", default_value = "1")]
    pub(crate) exit_code: u8,
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
    /// Nothing at all
    Hang,
    /// The head of a 200, and then nothing
    Stall,
}

/// What a server does when it is told to end.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Ending {
    /// It ends at once, as one without a handler does.
    Abort,
    /// It finishes what is in flight, for so long at the most.
    Drain(Duration),
    /// It goes on.
    Ignore,
}

impl FromStr for Ending {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match (text, text.strip_prefix("drain=")) {
            ("abort", _) => Ok(Self::Abort),
            ("ignore", _) => Ok(Self::Ignore),
            (_, Some(longest)) => seconds(longest).map(Self::Drain),
            _ => Err("it is abort, ignore or drain=SECONDS".to_owned()),
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
        for wrong in ["", "drain", "drain=", "drain=-1", "drain=soon", "stop"] {
            assert!(wrong.parse::<Ending>().is_err(), "{wrong}");
        }
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
