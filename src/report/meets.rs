//! What a probe is taken to meet while its server loads, for the simulation and in words.

use crate::intent::fault::{self, Fault};
use crate::intent::{ContainerIntent, TemplateIntent};
use crate::knowledge::WhileLoading;
use crate::kubelet::{Endpoint, Loading, Micros};
use crate::subject::{Handler, Probe};

/// What a probe meets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meets {
    /// Something that always answers: the command tells nothing.
    Always,
    /// A server that answers it before it has loaded.
    Early,
    /// It cannot be made, and the kubelet throws the result away.
    Errs,
    /// Nobody, however long the server runs.
    Never,
    /// A server that listens only once it has loaded.
    Refused,
    /// A server that says itself that it has not loaded.
    Unavailable,
}

impl Meets {
    /// What the probe of a container meets, as far as it is known; else it is refused until the load is done.
    pub(super) fn of(
        template: &TemplateIntent<'_>,
        one: &ContainerIntent<'_>,
        probe: &Probe,
    ) -> Self {
        let faults = fault::faults(template, one, &probe.handler);
        let is = |wanted: fn(&Fault) -> bool| faults.iter().any(wanted);
        if is(|fault| matches!(fault, Fault::Binary { .. } | Fault::PortName { .. })) {
            return Self::Errs;
        }
        if is(|fault| !matches!(fault, Fault::TellsNothing)) {
            return Self::Never;
        }
        if is(|_| true) {
            return Self::Always;
        }
        if fault::passes_while_loading(template, one, &probe.handler) {
            return Self::Early;
        }
        let path = fault::known_path(template, one, &probe.handler);
        if path.is_some_and(|path| path.loading == WhileLoading::Unavailable) {
            return Self::Unavailable;
        }
        Self::Refused
    }

    /// The same for the simulation, of a server that loads for so long.
    pub(super) fn endpoint(self, load: Micros) -> Endpoint {
        let loading = |while_loading| Endpoint {
            ready_at: load,
            while_loading,
            ..Endpoint::AT_ONCE
        };
        match self {
            Self::Always => Endpoint::AT_ONCE,
            Self::Early => loading(Loading::Status200),
            Self::Errs | Self::Refused => loading(Loading::Refused),
            Self::Never => Endpoint::CLOSED,
            Self::Unavailable => loading(Loading::Status503),
        }
    }

    /// The same in words, behind the name of the probe.
    pub(super) fn words(self, probe: &Probe) -> &'static str {
        match self {
            Self::Always => "always passes",
            Self::Early => "passes while it loads",
            Self::Errs => "errs each time",
            Self::Never => "never passes",
            Self::Refused if matches!(probe.handler, Handler::Exec { .. }) => {
                "fails at once until then"
            }
            Self::Refused => "is refused until then",
            Self::Unavailable => "is answered 503 until then",
        }
    }
}
