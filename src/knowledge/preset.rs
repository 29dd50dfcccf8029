//! What the data says of one model server.

use serde::Deserialize;

use super::pattern;
use super::rows::{
    BindRow, CommandRow, EnvPrefix, ImageRow, ModelRow, Named, PortRow, Probes, SecondsRow,
    SettingRow, Source, Switch,
};

/// A model server as the data describes it.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Preset {
    pub(super) id: String,
    title: Option<String>,
    source: String,
    #[serde(default)]
    pub(super) images: Vec<ImageRow>,
    #[serde(default)]
    pub(super) commands: Vec<CommandRow>,
    pub(super) port: Option<PortRow>,
    pub(super) bind: Option<BindRow>,
    pub(super) address: Option<SettingRow>,
    #[serde(default)]
    pub(super) socket: Vec<Switch>,
    #[serde(default)]
    pub(super) not_http: Vec<Switch>,
    #[serde(default)]
    pub(super) tls: Vec<Switch>,
    #[serde(default)]
    pub(super) client_certificates: Vec<Switch>,
    #[serde(default)]
    pub(super) credentials: Vec<Switch>,
    #[serde(default)]
    pub(super) config_file: Vec<Switch>,
    pub(super) prefix: Option<SettingRow>,
    pub(super) probes: Option<Probes>,
    #[serde(default)]
    pub(super) paths: Vec<PathRow>,
    opens: Option<OpensRow>,
    #[serde(default)]
    busy_queries: Vec<Named>,
    pub(super) drain: Option<SecondsRow>,
    pub(super) start_limit: Option<SecondsRow>,
    #[serde(default)]
    pub(super) model: Vec<ModelRow>,
    #[serde(default)]
    pub(super) offline: Vec<Switch>,
    pub(super) rank: Option<SettingRow>,
    #[serde(default)]
    pub(super) members: Vec<Switch>,
    #[serde(default)]
    pub(super) spreads: Vec<Switch>,
    #[serde(default)]
    pub(super) followers: Vec<Switch>,
    env_prefix: Option<EnvPrefix>,
}

/// What a path answers while the model loads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum WhileLoading {
    /// 200, although nothing is loaded: passing proves nothing.
    Early,
    /// Nobody listens: the connection is refused.
    Refused,
    /// 503.
    Unavailable,
}

/// When a server begins to listen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Opens {
    /// When its weights are in.
    Loaded,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct OpensRow {
    when: Opens,
    #[serde(rename = "source")]
    _source: Source,
}

/// What is known of a path.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PathRow {
    /// The path, without prefix and query.
    pub path: String,
    /// The tags of the image under which this holds; none for all.
    #[serde(default)]
    pub(super) tags: Vec<String>,
    /// What it answers while the model loads.
    pub loading: WhileLoading,
    /// For how many seconds it is known to answer late under load.
    pub stall: Option<i64>,
    /// Whether it runs the model, so that a full queue looks like death.
    #[serde(default)]
    pub inference: bool,
    /// Why it turns false in normal work.
    pub unstable: Option<String>,
    /// What makes it refuse callers without a key, where the server's health paths stay open.
    #[serde(default)]
    pub(super) guarded: Vec<Switch>,
    /// Where all this comes from.
    pub source: String,
}

impl Preset {
    /// The id that the data knows the server by, e.g. `vllm`.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The name of the server as people write it, e.g. `vLLM`.
    pub fn title(&self) -> &str {
        self.title.as_deref().unwrap_or(&self.id)
    }

    /// Where the preset comes from.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// What is known of a path under a tag; its query does not matter.
    pub fn path(&self, asked: &str, tag: Option<&str>) -> Option<&PathRow> {
        let path = asked.split_once('?').map_or(asked, |(path, _query)| path);
        let path = match path.trim_end_matches('/') {
            "" => "/",
            trimmed => trimmed,
        };
        let holds = |row: &&PathRow| {
            let of_tag = || tag.is_some_and(|tag| pattern::any(&row.tags, tag));
            row.path == path && (row.tags.is_empty() || of_tag())
        };
        self.paths.iter().find(holds)
    }

    /// Whether the server accepts connections before its model is loaded, so that a bare TCP check passes too early.
    pub fn listens_early(&self) -> bool {
        self.paths
            .iter()
            .any(|row| row.loading != WhileLoading::Refused)
    }

    /// Whether nobody listens until the weights are in. What such a server answers early it answers while it warms up.
    pub fn listens_once_loaded(&self) -> bool {
        self.opens
            .as_ref()
            .is_some_and(|row| row.when == Opens::Loaded)
    }

    /// The parameter in the query of `asked` that makes a busy server answer as if it were dead.
    pub fn busy_query(&self, asked: &str) -> Option<&str> {
        let (_path, query) = asked.split_once('?')?;
        let named = |name: &str| {
            query
                .split('&')
                .any(|pair| pair.split_once('=').map_or(pair, |(key, _)| key) == name)
        };
        self.busy_queries
            .iter()
            .map(|row| row.name.as_str())
            .find(|name| named(name))
    }

    /// The variable or flag that moves the limit which the server sets to its own start.
    pub fn start_limit_setting(&self) -> Option<&str> {
        let row = self.start_limit.as_ref()?;
        let mut names = row.env.iter().chain(&row.flags);
        names.next().map(String::as_str)
    }

    /// The prefix of the variables that the server reads, where a Service's name is known to break it.
    pub fn env_prefix(&self) -> Option<&str> {
        self.env_prefix.as_ref().map(|row| row.value.as_str())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn queries_and_slashes_do_not_hide_a_path() {
        let preset: Preset = serde_json::from_value(json!({
            "id": "x", "source": "test",
            "paths": [
                {"path": "/", "loading": "early", "source": "test"},
                {"path": "/health", "loading": "refused", "stall": 40, "source": "test"},
            ],
            "busyQueries": [{"name": "fail_on_no_slot", "source": "test"}],
        }))
        .unwrap();
        assert_eq!(preset.title(), "x");
        let loading = |asked: &str| preset.path(asked, None).map(|row| row.loading);
        for asked in ["/health", "/health/", "/health?fail_on_no_slot=1&a"] {
            assert_eq!(loading(asked), Some(WhileLoading::Refused), "{asked}");
        }
        for asked in ["/", "", "/?a"] {
            assert_eq!(loading(asked), Some(WhileLoading::Early), "{asked}");
        }
        assert_eq!(loading("/healthz"), None);
        assert!(preset.listens_early());
        for asked in ["/health?fail_on_no_slot", "/x?a=b&fail_on_no_slot=true"] {
            assert_eq!(preset.busy_query(asked), Some("fail_on_no_slot"));
        }
        for asked in ["/fail_on_no_slot", "/health?a=fail_on_no_slot"] {
            assert_eq!(preset.busy_query(asked), None);
        }
    }

    #[test]
    fn a_path_may_have_meant_something_else_in_older_releases() {
        let preset: Preset = serde_json::from_value(json!({
            "id": "x", "source": "test",
            "paths": [
                {"path": "/health", "tags": ["v0.3.*"], "loading": "early", "source": "test"},
                {"path": "/health", "loading": "refused", "source": "test"},
            ],
        }))
        .unwrap();
        for (tag, loading) in [
            (Some("v0.3.6-cu124"), WhileLoading::Early),
            (Some("v0.5.0"), WhileLoading::Refused),
            (None, WhileLoading::Refused),
        ] {
            let row = preset.path("/health", tag);
            assert_eq!(row.map(|row| row.loading), Some(loading), "{tag:?}");
        }
    }
}
