//! A recognised server: where it listens, and what its own settings mean for probes.

use serde::Deserialize;

use super::preset::{PathRow, Preset};

/// A value, and where it comes from: `--port 8081`, `env PORT`, `default of vLLM`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Known<T> {
    /// The value.
    pub value: T,
    /// Where it comes from.
    pub source: String,
}

/// Why a container is taken for a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// Its command names the server; these words.
    Command(String),
    /// Its image starts the server; this tail of the repository.
    Image(String),
}

/// Which addresses a server listens on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Bind {
    /// All of them.
    Everywhere,
    /// 127.0.0.1 or ::1: the kubelet, which asks the pod's address, is refused for ever.
    Loopback,
    /// One that only the run will tell.
    Unknown,
}

/// Whether a server is one of several pods that serve together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Group {
    /// It serves alone.
    Alone,
    /// It is the pod of a group that serves; why this is so.
    Member(String),
    /// Only the run will tell whether it serves or follows; why.
    RankAtRunTime(String),
    /// It spreads over several devices, of one pod or of several; what says so.
    Spread(String),
}

/// What a preset asks for one kind of probe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PresetHandler {
    /// A GET of this path.
    Http(String),
    /// A connection.
    Tcp,
}

/// A recognised model server. All ports and paths are those of its health checks.
#[derive(Clone, Debug)]
pub struct Server<'k> {
    /// What the data says of it.
    pub preset: &'k Preset,
    /// Why it is taken for this server.
    pub evidence: Evidence,
    /// The tag of its image.
    pub tag: Option<String>,
    /// The port, where it can be told: no shell variable, no Unix socket.
    pub port: Option<Known<i64>>,
    /// Whether it speaks TLS, where it can be told.
    pub https: Option<Known<bool>>,
    /// Which addresses it listens on.
    pub bind: Known<Bind>,
    /// Whether it refuses callers without a client certificate: no probe of the kubelet can pass.
    pub client_certificates: bool,
    /// Whether its health paths refuse callers without a key.
    pub credentials: bool,
    /// The paths besides that refuse callers without a key, without prefix.
    pub(super) guarded: Vec<&'k str>,
    /// Whether it speaks HTTP at all.
    pub speaks_http: bool,
    /// Whether a variable that the manifest does not show could change where a probe must ask, or whether it is let in.
    pub follows_env: bool,
    /// Whether what starts it reads variables from a file, or takes those of the image away.
    pub doubtful_env: bool,
    /// Whether it is one of several pods.
    pub group: Group,
    /// Seconds from SIGTERM until the last request has ended, where the server itself limits them.
    pub drain: Option<Known<i64>>,
    /// Seconds after which the server itself gives up its start.
    pub start_limit: Option<Known<i64>>,
    /// The model it serves.
    pub model: Option<Known<String>>,
    /// Whether it fetches that model from a hub or a store, unless a volume has it already.
    pub fetches_model: bool,
    /// Whether its image has `sh` and `sleep`, where that is known.
    pub shell: Option<bool>,
    /// What comes before every path.
    pub prefix: Option<String>,
    /// What to ask in a startup probe; `None` where no answer proves that the model is loaded.
    pub startup: Option<PresetHandler>,
    /// What to ask in a readiness probe.
    pub readiness: Option<PresetHandler>,
    /// What to ask in a liveness probe.
    pub liveness: Option<PresetHandler>,
}

impl Server<'_> {
    /// What is known of a path as a probe asks it: with the prefix that this server has been given, with any query.
    pub fn path(&self, asked: &str) -> Option<&PathRow> {
        let path = asked.strip_prefix(self.prefix.as_deref().unwrap_or_default())?;
        self.preset.path(path, self.tag.as_deref())
    }

    /// Whether the path refuses callers without a key while the server's health paths stay open.
    pub fn guards(&self, asked: &str) -> bool {
        self.path(asked)
            .is_some_and(|row| self.guarded.contains(&row.path.as_str()))
    }

    /// Forgets what another server in the same container sets up differently: nothing tells which of them a probe means.
    pub(super) fn agree_with(&mut self, other: &Self) {
        let same = self.preset.id() == other.preset.id();
        let port = |server: &Self| server.port.as_ref().map(|port| port.value);
        if !same || port(self) != port(other) {
            self.port = None;
        }
        let https = |server: &Self| server.https.as_ref().map(|https| https.value);
        if https(self) != https(other) {
            self.https = None;
        }
    }
}
