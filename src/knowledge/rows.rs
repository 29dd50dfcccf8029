//! The rows of the data files. `knowledge/servers.yaml` says what each member means.

use serde::{Deserialize, Deserializer, de};

use super::server::Bind;

/// Where a row comes from. It must be there, and it is for the readers of the file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source;

impl<'de> Deserialize<'de> for Source {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        if text.trim().is_empty() {
            return Err(de::Error::custom("a source is empty"));
        }
        Ok(Self)
    }
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ImageRow {
    pub(super) names: Vec<String>,
    #[serde(default)]
    pub(super) tags: Vec<String>,
    #[serde(default)]
    pub(super) not_tags: Vec<String>,
    pub(super) entry: Entry,
    #[serde(default)]
    pub(super) words: Vec<String>,
    pub(super) port: Option<i64>,
    pub(super) bind: Option<Bind>,
    pub(super) shell: Option<bool>,
    #[serde(rename = "source")]
    _source: Source,
}

/// What the entry point of an image does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Entry {
    Command,
    Server,
    Word,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct CommandRow {
    pub(super) run: Run,
    #[serde(default)]
    pub(super) needs: Vec<String>,
    #[serde(default)]
    pub(super) unless: Vec<String>,
    #[serde(default)]
    pub(super) cluster: bool,
    #[serde(default)]
    pub(super) own_image: bool,
    #[serde(rename = "source")]
    _source: Source,
}

/// The words that a command begins with.
#[derive(Clone, Debug)]
pub(super) struct Run(pub(super) Vec<String>);

impl<'de> Deserialize<'de> for Run {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        if words.is_empty() {
            return Err(de::Error::custom("`run` names no command"));
        }
        Ok(Self(words))
    }
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct PortRow {
    pub(super) default: Option<i64>,
    #[serde(default)]
    pub(super) flags: Vec<String>,
    #[serde(default)]
    pub(super) env: Vec<String>,
    #[serde(rename = "source")]
    _source: Source,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct BindRow {
    pub(super) default: Bind,
    #[serde(default)]
    pub(super) flags: Vec<String>,
    #[serde(default)]
    pub(super) env: Vec<String>,
    #[serde(rename = "source")]
    _source: Source,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct SettingRow {
    #[serde(default)]
    pub(super) flags: Vec<String>,
    #[serde(default)]
    pub(super) env: Vec<String>,
    #[serde(rename = "source")]
    _source: Source,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Switch {
    #[serde(default)]
    pub(super) flags: Vec<String>,
    #[serde(default)]
    pub(super) env: Vec<String>,
    #[serde(default)]
    pub(super) tags: Vec<String>,
    #[serde(default)]
    pub(super) values: Vec<String>,
    #[serde(default)]
    pub(super) not_values: Vec<String>,
    pub(super) above: Option<i64>,
    #[serde(default)]
    pub(super) below: Vec<String>,
    #[serde(default)]
    pub(super) unless_one: Vec<String>,
    #[serde(rename = "source")]
    _source: Source,
}

impl Switch {
    /// Whether its value decides, so that of one which is not known nothing can be said.
    pub(super) fn asks_for_a_value(&self) -> bool {
        self.above.is_some()
            || !(self.values.is_empty() && self.not_values.is_empty() && self.below.is_empty())
    }
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct SecondsRow {
    pub(super) default: Option<i64>,
    #[serde(default)]
    pub(super) flags: Vec<String>,
    #[serde(default)]
    pub(super) env: Vec<String>,
    #[serde(default = "once")]
    pub(super) times: i64,
    #[serde(default)]
    pub(super) plus: i64,
    #[serde(rename = "source")]
    _source: Source,
}

fn once() -> i64 {
    1
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ModelRow {
    #[serde(default)]
    pub(super) flags: Vec<String>,
    #[serde(default)]
    pub(super) env: Vec<String>,
    #[serde(default)]
    pub(super) positional: bool,
    #[serde(default)]
    pub(super) image: bool,
    pub(super) from: From,
    #[serde(rename = "source")]
    _source: Source,
}

/// Where a model comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum From {
    Either,
    File,
    Hub,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Probes {
    pub(super) startup: Option<String>,
    pub(super) readiness: Option<String>,
    pub(super) liveness: Option<String>,
    #[serde(rename = "source")]
    _source: Source,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Named {
    pub(super) name: String,
    #[serde(rename = "source")]
    _source: Source,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct EnvPrefix {
    pub(super) value: String,
    #[serde(rename = "source")]
    _source: Source,
}

/// Commands or images that are no servers.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct OthersRow {
    #[serde(default)]
    pub(super) commands: Vec<String>,
    #[serde(default)]
    pub(super) images: Vec<String>,
    #[serde(rename = "source")]
    _source: Source,
}
