//! What a test server does, as the flags of `slowserver` and as the scenario of a simulation.

use serde::{Deserialize, Serialize};
use warmgate::kubelet::{self, Endpoint, Exit, Life, Micros, Stall};
use warmgate::subject::{Handler, Role};

/// What the server of one container does, the same in every life. All times are milliseconds from its start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Server {
    /// Connections are refused before.
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) listens_after: i64,
    /// When the load is done.
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) ready_after: i64,
    /// What happens between the two.
    pub(crate) while_loading: Loading,
    /// How long an answer takes.
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) answers_in: i64,
    /// Times in which nothing is answered, each from and to.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) stalls: Vec<(i64, i64)>,
    /// When it ends by itself, and with which code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) exits: Option<(i64, u8)>,
    /// What SIGTERM does.
    pub(crate) on_term: OnTerm,
}

/// What a server answers while it loads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Loading {
    /// It listens only once it is ready.
    #[serde(rename = "refused")]
    Refused,
    /// 503, or NOT_SERVING.
    #[serde(rename = "503")]
    Unavailable,
    /// 200, or SERVING.
    #[serde(rename = "200")]
    Ok,
    /// Nothing until the load is done.
    #[serde(rename = "hang")]
    Hang,
    /// The head of a 200, and the body when the load is done.
    #[serde(rename = "stall")]
    Stall,
}

impl Loading {
    /// All of them.
    pub(crate) const ALL: [Self; 5] = [
        Self::Refused,
        Self::Unavailable,
        Self::Ok,
        Self::Hang,
        Self::Stall,
    ];

    /// The word of the flag, which is that of the recordings.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Refused => "refused",
            Self::Unavailable => "503",
            Self::Ok => "200",
            Self::Hang => "hang",
            Self::Stall => "stall",
        }
    }
}

/// What a server does on SIGTERM.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum OnTerm {
    /// It ends at once with 143.
    Abort,
    /// It goes on.
    Ignore,
    /// It serves on for so many milliseconds and ends with 0.
    Serve(i64),
}

impl OnTerm {
    /// How the page calls it.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Abort => "ends at once",
            Self::Ignore => "goes on",
            Self::Serve(_) => "ends later",
        }
    }
}

impl Default for Server {
    /// A server that is there at once and dies of SIGTERM.
    fn default() -> Self {
        Self {
            listens_after: 0,
            ready_after: 0,
            while_loading: Loading::Refused,
            answers_in: 0,
            stalls: Vec::new(),
            exits: None,
            on_term: OnTerm::Abort,
        }
    }
}

/// The command of an exec probe that asks the server on `port`.
pub(crate) fn asks(port: u16) -> Vec<String> {
    ["/slowserver", "--ask", &port.to_string()]
        .map(str::to_owned)
        .into()
}

/// The command of an exec probe that looks for the file which the server makes when it is ready.
pub(crate) fn looks() -> Vec<String> {
    ["test", "-f", READY_FILE].map(str::to_owned).into()
}

/// A command that no image has.
pub(crate) const MISSING: &str = "/no-such-program";

/// The file that the server makes when it is ready.
const READY_FILE: &str = "/tmp/ready";

impl Server {
    /// The flags of a `slowserver` that serves HTTP on `port`, and gRPC and plain TCP on the two after it.
    pub(crate) fn flags(&self, port: u16) -> Vec<String> {
        let mut flags: Vec<String> = vec![
            format!("--http={port}"),
            format!("--grpc={}", port + 1),
            format!("--tcp={}", port + 2),
            format!("--ready-file={READY_FILE}"),
            format!("--listens-after={}", seconds(self.listens_after)),
            format!("--ready-after={}", seconds(self.ready_after)),
            format!("--while-loading={}", self.while_loading.word()),
            format!("--answers-in={}", seconds(self.answers_in)),
        ];
        flags.push(match self.on_term {
            OnTerm::Abort => "--on-term=abort".to_owned(),
            OnTerm::Ignore => "--on-term=ignore".to_owned(),
            OnTerm::Serve(length) => format!("--on-term=serve={}", seconds(length)),
        });
        for (from, to) in &self.stalls {
            flags.push(format!("--stall={}={}", seconds(*from), seconds(*to)));
        }
        if let Some((at, code)) = self.exits {
            flags.push(format!("--exits-after={}", seconds(at)));
            flags.push(format!("--exit-code={code}"));
        }
        flags
    }

    /// The life of an instance whose program begins to count `late` after the container's start; `probes` are those of its
    /// container.
    pub(crate) fn life(&self, late: Micros, probes: &[(Role, Handler)]) -> Life {
        let from_start = |millis: i64| Micros::millis(millis) + late;
        let endpoint = Endpoint {
            listens_at: from_start(self.listens_after),
            ready_at: from_start(self.ready_after),
            while_loading: match self.while_loading {
                Loading::Refused => kubelet::Loading::Refused,
                Loading::Unavailable => kubelet::Loading::Status503,
                Loading::Ok => kubelet::Loading::Status200,
                Loading::Hang => kubelet::Loading::Hang,
                Loading::Stall => kubelet::Loading::HeadersThenStall,
            },
            answers_in: Micros::millis(self.answers_in),
            stalls: self
                .stalls
                .iter()
                .map(|(from, to)| Stall {
                    from: from_start(*from),
                    to: from_start(*to),
                })
                .collect(),
        };
        // A command that looks for the file finds it or not; it does not wait for the server.
        let file = Endpoint {
            listens_at: Micros::ZERO,
            ready_at: endpoint.ready_at,
            while_loading: kubelet::Loading::Status503,
            answers_in: Micros::ZERO,
            stalls: Vec::new(),
        };
        let by_file = probes.iter().filter(
            |(_, handler)| matches!(handler, Handler::Exec { command } if *command == looks()),
        );
        Life {
            endpoints: by_file.map(|(role, _)| (*role, file.clone())).collect(),
            endpoint,
            missing_commands: vec![MISSING.to_owned()],
            exits: self.exits.map(|(at, code)| Exit {
                at: from_start(at),
                code: i64::from(code),
            }),
            on_term: match self.on_term {
                OnTerm::Abort => kubelet::OnTerm::Exits {
                    after: Micros::ZERO,
                    code: 143,
                },
                OnTerm::Ignore => kubelet::OnTerm::Ignores,
                OnTerm::Serve(length) => kubelet::OnTerm::Exits {
                    after: Micros::millis(length),
                    code: 0,
                },
            },
        }
    }
}

/// Milliseconds as the flags take them.
fn seconds(millis: i64) -> String {
    format!("{}.{:03}", millis / 1000, millis % 1000)
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes it so")]
fn is_zero(millis: &i64) -> bool {
    *millis == 0
}
