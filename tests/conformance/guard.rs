//! The one probe that a load races against, and what the closed form says of the race.

use warmgate::kubelet::bounds::{self, Failing, Verdict};
use warmgate::subject::{Handler, Probe, Role};

use super::server::{Loading, Server, looks};

/// The probe that kills a container which takes too long, with all that the closed form asks for.
#[derive(Clone, Debug)]
pub(crate) struct Guard {
    /// Startup, or liveness where there is no startup probe.
    pub(crate) role: Role,
    probe: Probe,
    failing: Failing,
    /// From when on the probe can pass, in milliseconds from the start of the server's program.
    pub(crate) passes_from: i64,
}

impl Guard {
    /// The race between `probe` and `server`; nothing where the closed form does not speak of it: a probe whose errors are
    /// thrown away, or a server that never answers in time.
    pub(crate) fn of(role: Role, probe: &Probe, server: &Server) -> Option<Self> {
        let timeout = 1000 * probe.timeout;
        let accepts = match server.while_loading {
            Loading::Refused => server.listens_after.max(server.ready_after),
            _ => server.listens_after,
        };
        let answers_from = match server.while_loading {
            Loading::Ok => accepts,
            _ => accepts.max(server.ready_after),
        };
        let file = matches!(&probe.handler, Handler::Exec { command } if *command == looks());
        let command = matches!(&probe.handler, Handler::Exec { .. });
        let tcp = matches!(&probe.handler, Handler::Tcp { .. });
        let grpc = matches!(&probe.handler, Handler::Grpc { .. });
        let errs = match &probe.handler {
            Handler::Exec { command } => command
                .first()
                .is_some_and(|it| it == super::server::MISSING),
            Handler::Tcp { port, .. } => {
                matches!(port, warmgate::subject::Port::Name(name) if name != "http")
            }
            Handler::Http { .. } => {
                server.while_loading == Loading::Stall && accepts < answers_from
            }
            Handler::Grpc { .. } => false,
        };
        let answers = if tcp || file { 0 } else { server.answers_in };
        if errs || answers + 300 > timeout || server.exits.is_some() {
            return None;
        }
        let passes_from = match (file, tcp) {
            (true, _) => server.ready_after,
            (_, true) => accepts,
            _ => answers_from,
        };
        let stalled = server
            .stalls
            .iter()
            .any(|(from, to)| *from < passes_from + 1000 && *to > 0);
        if stalled && !tcp && !file {
            return None;
        }
        let refuses = accepts > 0;
        let hangs = matches!(server.while_loading, Loading::Hang | Loading::Stall) && !tcp && !file;
        let failing = match (hangs, refuses) {
            // A command takes its time.
            _ if answers > 0 || command => Failing::Unknown,
            (true, true) => Failing::Unknown,
            (true, false) => Failing::Hangs,
            // It refuses first and says so later.
            (false, true) if grpc && accepts < passes_from => Failing::Unknown,
            (false, true) => Failing::Refuses,
            (false, false) => Failing::AtOnce,
        };
        Some(Self {
            role,
            probe: probe.clone(),
            failing,
            passes_from,
        })
    }

    /// The same, as closely as the closed form can say it: how long a failure takes at most where the server is known, and nothing of one
    /// that is loaded and stalls before it is asked. (Pods are drawn by the looser one, for a seed is to draw the same pod for ever.)
    pub(crate) fn closely(role: Role, probe: &Probe, server: &Server) -> Option<Self> {
        let mut guard = Self::of(role, probe, server)?;
        let tcp = matches!(&probe.handler, Handler::Tcp { .. });
        let grpc = matches!(&probe.handler, Handler::Grpc { .. });
        let command = matches!(&probe.handler, Handler::Exec { .. });
        let file = matches!(&probe.handler, Handler::Exec { command } if *command == looks());
        let asked_by =
            guard.passes_from.max(1000 * probe.initial_delay) + 1000 * (probe.period + 1);
        let stalls = |(from, _): &(i64, i64)| *from < asked_by + server.answers_in;
        if server.stalls.iter().any(stalls) && !tcp && !file {
            return None;
        }
        let hangs = matches!(server.while_loading, Loading::Hang | Loading::Stall) && !tcp && !file;
        let refuses = server.listens_after > 0 || server.while_loading == Loading::Refused;
        if guard.failing == Failing::Unknown {
            match (hangs, command) {
                (true, false) if !refuses => guard.failing = Failing::Hangs,
                (true, _) => {}
                // A refusal takes gRPC the whole timeout.
                (false, false) if grpc && refuses => {}
                // An answer and a command take their time, but not much of it.
                (false, _) => {
                    let longest = if command { 2 } else { 1 };
                    guard.probe.timeout = guard.probe.timeout.min(longest);
                }
            }
        }
        Some(guard)
    }

    /// What becomes of a server that can pass so many seconds after its start.
    pub(crate) fn verdict(&self, load: i64) -> Verdict {
        bounds::verdict_when(&self.probe, load, self.failing)
    }

    /// The longest load in seconds that no phase turns into a kill.
    pub(crate) fn survived(&self) -> i64 {
        self.last(|verdict| verdict == Verdict::Survives)
    }

    /// The longest load in seconds that some phase does not turn into a kill.
    pub(crate) fn fatal(&self) -> i64 {
        self.last(|verdict| verdict != Verdict::Dies)
    }

    fn last(&self, holds: impl Fn(Verdict) -> bool) -> i64 {
        let loads = (0..).take_while(|load| holds(self.verdict(*load)));
        loads.last().unwrap_or(0)
    }

    /// How wide the band is in which the phase decides, in seconds.
    pub(crate) fn band(&self) -> i64 {
        self.fatal() - self.survived()
    }

    /// The widest band that is allowed: a period, a second for the start cut to the whole second, and where nobody knows how
    /// the server fails, the timeout, and of each failure what the timeout is above the period.
    pub(crate) fn widest(&self) -> i64 {
        let second = i64::from(self.probe.initial_delay > 0);
        let above = (self.probe.timeout - self.probe.period).max(0);
        let unknown = match self.failing {
            Failing::Unknown => self.probe.timeout + (self.probe.failure_threshold - 1) * above,
            // By the chance of the gRPC dialer.
            Failing::Refuses if matches!(self.probe.handler, Handler::Grpc { .. }) => {
                self.probe.timeout - 1
            }
            Failing::AtOnce | Failing::Hangs | Failing::Refuses => 0,
        };
        self.probe.period + second + unknown
    }
}
