//! What the kubelet is not told: what each container really does.

use super::time::Micros;
use crate::subject::Role;

/// The life of a container of which nothing is said.
pub(super) static AT_ONCE: Life = Life::AT_ONCE;

/// What one container does, a life for each of its instances.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scenario {
    /// The lives in the order of the restarts. The last one is that of every later instance; without any,
    /// [`Life::AT_ONCE`] is.
    pub lives: Vec<Life>,
}

impl Scenario {
    /// The same life every time.
    pub fn always(life: Life) -> Self {
        Self { lives: vec![life] }
    }

    /// The life of the instance after so many restarts.
    pub(super) fn life(&self, restarts: usize) -> &Life {
        let life = self.lives.get(restarts).or_else(|| self.lives.last());
        life.unwrap_or(&AT_ONCE)
    }
}

/// What one instance of a container does. All moments count from its start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Life {
    /// What its probes meet.
    pub endpoint: Endpoint,
    /// What the probes of a role meet, where that is something else.
    pub endpoints: Vec<(Role, Endpoint)>,
    /// Commands that the image does not have. The kubelet throws the error of such an exec probe away.
    pub missing_commands: Vec<String>,
    /// When and how it ends by itself.
    pub exits: Option<Exit>,
    /// What it does on SIGTERM.
    pub on_term: OnTerm,
}

impl Life {
    /// A server that is there at once, answers at once, and dies of SIGTERM at once.
    pub const AT_ONCE: Self = Self {
        endpoint: Endpoint::AT_ONCE,
        endpoints: Vec::new(),
        missing_commands: Vec::new(),
        exits: None,
        on_term: OnTerm::Exits {
            after: Micros::ZERO,
            code: 143,
        },
    };

    /// A server that can serve `load` after its start and until then does `while_loading`.
    pub fn loading(load: Micros, while_loading: Loading) -> Self {
        Self {
            endpoint: Endpoint {
                ready_at: load,
                while_loading,
                ..Endpoint::AT_ONCE
            },
            ..Self::AT_ONCE
        }
    }

    /// What the probes of `role` meet.
    pub(super) fn endpoint(&self, role: Role) -> &Endpoint {
        let own = self.endpoints.iter().find(|(of, _)| *of == role);
        own.map_or(&self.endpoint, |(_, endpoint)| endpoint)
    }
}

impl Default for Life {
    fn default() -> Self {
        Self::AT_ONCE
    }
}

/// How an instance ends by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exit {
    /// When.
    pub at: Micros,
    /// The exit code.
    pub code: i64,
}

impl Exit {
    /// It does not end.
    pub(super) const NEVER: Self = Self {
        at: Micros::NEVER,
        code: 0,
    };
}

/// What an instance does on SIGTERM. It serves until it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnTerm {
    /// It ends.
    Exits {
        /// So long after the signal.
        after: Micros,
        /// The exit code; 143 where the signal itself ends it.
        code: i64,
    },
    /// It does not notice, as a shell that is process 1 does not: SIGKILL ends it when the grace period is over.
    Ignores,
}

/// What a probe meets. All moments count from the start of the instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// Connections are refused before, and a command, which is taken to ask the server, fails as fast.
    pub listens_at: Micros,
    /// When the load is done; [`Micros::NEVER`] if never.
    pub ready_at: Micros,
    /// What happens between the two.
    pub while_loading: Loading,
    /// How long an answer takes, and so a command that gets one. Nothing answers faster than this, except a refusal.
    pub answers_in: Micros,
    /// Times in which nothing is answered, in order and apart. A connection is accepted all the same.
    pub stalls: Vec<Stall>,
}

impl Endpoint {
    /// There at once, and answers at once.
    pub const AT_ONCE: Self = Self {
        listens_at: Micros::ZERO,
        ready_at: Micros::ZERO,
        while_loading: Loading::Refused,
        answers_in: Micros::ZERO,
        stalls: Vec::new(),
    };

    /// A port on which nothing ever listens.
    pub const CLOSED: Self = Self {
        listens_at: Micros::NEVER,
        ready_at: Micros::NEVER,
        while_loading: Loading::Refused,
        answers_in: Micros::ZERO,
        stalls: Vec::new(),
    };

    /// From when on it takes connections.
    pub(super) fn accepts_at(&self) -> Micros {
        match self.while_loading {
            Loading::Refused => self.listens_at.max(self.ready_at),
            _ => self.listens_at,
        }
    }
}

impl Default for Endpoint {
    fn default() -> Self {
        Self::AT_ONCE
    }
}

/// What a server does while it loads. What a command does that asks such a server stands beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Loading {
    /// It does not listen yet. The command fails at once.
    Refused,
    /// It answers 503, or NOT_SERVING. The command fails.
    Status503,
    /// It answers 200, or SERVING: its health does not wait for the load. The command succeeds.
    Status200,
    /// It takes the connection and answers when the load is done. The command waits as long.
    Hang,
    /// It sends the headers of a 200 and the body when the load is done. For a command and for gRPC the same as `Hang`.
    HeadersThenStall,
}

/// A time in which nothing is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stall {
    /// Its first moment.
    pub from: Micros,
    /// The first moment after it.
    pub to: Micros,
}
