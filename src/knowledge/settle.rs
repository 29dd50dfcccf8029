//! From what a server is told to what it does.

use super::address::{address, reach};
use super::env::{self, shown};
use super::image::Image;
use super::inputs::{Held, Inputs, Told};
use super::preset::{Preset, WhileLoading};
use super::rows::{From, ImageRow, ModelRow, SecondsRow};
use super::server::{Bind, Evidence, Group, Known, PresetHandler, Server};
use crate::words::Seconds;

/// A server that was found in a launch, before its settings are read.
pub(super) struct Start<'k, 'a> {
    pub(super) preset: &'k Preset,
    pub(super) evidence: Evidence,
    pub(super) image: Option<Image<'a>>,
    /// The row of this preset that the image matches.
    pub(super) row: Option<&'k ImageRow>,
    pub(super) inputs: Inputs<'a>,
    /// Whether it only starts the head of a cluster, and what it serves comes later.
    pub(super) head: bool,
    /// What the commands around it say of its group.
    pub(super) around: Group,
}

/// What a start amounts to.
pub(super) enum Settled<'k> {
    Follower(String),
    Server(Box<Server<'k>>),
}

impl<'k> Start<'k, '_> {
    /// Reads the settings.
    pub(super) fn settle(self) -> Settled<'k> {
        let group = match self.group() {
            Ok(group) => group,
            Err(why) => return Settled::Follower(why),
        };
        let preset = self.preset;
        let may = |switches| self.inputs.first(switches) != Held::No;
        let (model, fetches_model) = self.model();
        let prefix = self.prefix();
        let handler = |wanted: Option<&String>| {
            let wanted = wanted?;
            if wanted == "tcp" {
                return Some(PresetHandler::Tcp);
            }
            let path = match &model {
                Some(model) => wanted.replace("{model}", &model.value),
                None if wanted.contains("{model}") => return None,
                None => wanted.clone(),
            };
            Some(PresetHandler::Http(prefix.clone()? + &path))
        };
        let probes = preset.probes.as_ref();
        // What answers before the model is loaded proves nothing of its start.
        let tag = self.image.and_then(|image| image.tag);
        let early = |path: &String| {
            let row = preset.path(path, tag);
            row.is_some_and(|row| row.loading == WhileLoading::Early)
        };
        let startup = probes.and_then(|probes| probes.startup.as_ref());
        Settled::Server(Box::new(Server {
            port: self.port(),
            https: self.https(),
            bind: self.bind(),
            client_certificates: may(&preset.client_certificates),
            credentials: may(&preset.credentials),
            guarded: preset
                .paths
                .iter()
                .filter(|row| matches!(self.inputs.first(&row.guarded), Held::Yes(_)))
                .map(|row| row.path.as_str())
                .collect(),
            speaks_http: !may(&preset.not_http),
            follows_env: self.follows_env(),
            doubtful_env: self.inputs.doubtful_env(),
            drain: self.seconds(preset.drain.as_ref()),
            start_limit: self.seconds(preset.start_limit.as_ref()),
            startup: handler(startup.filter(|path| !early(path))),
            readiness: handler(probes.and_then(|probes| probes.readiness.as_ref())),
            liveness: handler(probes.and_then(|probes| probes.liveness.as_ref())),
            shell: self.row.and_then(|row| row.shell),
            tag: tag.map(str::to_owned),
            preset,
            evidence: self.evidence,
            group,
            model,
            fetches_model,
            prefix,
        }))
    }

    /// The group that the server is in, or why it follows another pod.
    fn group(&self) -> Result<Group, String> {
        let preset = self.preset;
        if let Some(rank) = &preset.rank {
            match self.inputs.told(&rank.flags, &rank.env) {
                Told::Literal { value, place } if value.parse().is_ok_and(|rank: i64| rank > 0) => {
                    return Err(place);
                }
                Told::Literal { .. } | Told::Nothing => {}
                Told::Unknown(place) => return Ok(Group::RankAtRunTime(place)),
            }
        }
        match self.inputs.first(&preset.followers) {
            Held::Yes(place) => return Err(place),
            Held::Unknown(place) => return Ok(Group::RankAtRunTime(place)),
            Held::No => {}
        }
        if self.around != Group::Alone {
            return Ok(self.around.clone());
        }
        if let Held::Yes(place) | Held::Unknown(place) = self.inputs.first(&preset.members) {
            return Ok(Group::Member(place));
        }
        Ok(match self.inputs.first(&preset.spreads) {
            Held::Yes(place) | Held::Unknown(place) => Group::Spread(place),
            Held::No => Group::Alone,
        })
    }

    /// Whether a variable that the manifest does not show could change where a probe must ask, or whether it is let in.
    fn follows_env(&self) -> bool {
        let preset = self.preset;
        let port = preset.port.as_ref().map(|row| (&row.flags, &row.env));
        let bind = preset.bind.as_ref().map(|row| (&row.flags, &row.env));
        let settings = [&preset.address, &preset.prefix];
        let settings = settings
            .into_iter()
            .flatten()
            .map(|row| (&row.flags, &row.env));
        let switches = [
            &preset.socket,
            &preset.tls,
            &preset.client_certificates,
            &preset.credentials,
        ];
        port.into_iter()
            .chain(bind)
            .chain(settings)
            .any(|(flags, env)| self.inputs.open(flags, env))
            || switches
                .iter()
                .any(|switches| self.inputs.any_open(switches))
    }

    /// Whether defaults hold where nothing was told: no flag is hidden and no file sets what no flag does.
    fn defaults_hold(&self) -> bool {
        !self.inputs.hidden() && self.inputs.first(&self.preset.config_file) == Held::No
    }

    fn default_source(&self) -> String {
        format!("default of {}", self.preset.title())
    }

    fn image_source(&self) -> String {
        format!("default of the {} image", self.preset.title())
    }

    fn port(&self) -> Option<Known<i64>> {
        let row = self.preset.port.as_ref()?;
        if self.head || self.on_socket() {
            return None;
        }
        match self.inputs.told(&row.flags, &row.env) {
            Told::Unknown(_) => return None,
            Told::Literal { value, place } => {
                let value = value
                    .parse()
                    .ok()
                    .filter(|port| (1..=65535).contains(port))?;
                let source = place;
                return Some(Known { value, source });
            }
            Told::Nothing => {}
        }
        match self.address() {
            Told::Unknown(_) => None,
            Told::Literal { value, place } => match address(&value).1 {
                Some(value) => Some(Known {
                    value,
                    source: place,
                }),
                None => self.default_port(row.default),
            },
            Told::Nothing => self.default_port(row.default),
        }
    }

    /// The port of a server that is told none. Where images set another port than the launcher's, an image that is not known
    /// may be made from one of those.
    fn default_port(&self, launcher: Option<i64>) -> Option<Known<i64>> {
        if !self.defaults_hold() {
            return None;
        }
        if let Some(value) = self.row.and_then(|row| row.port) {
            let source = self.image_source();
            return Some(Known { value, source });
        }
        let differs = |row: &ImageRow| row.port.is_some_and(|port| Some(port) != launcher);
        if self.preset.images.iter().any(differs) {
            return None;
        }
        let source = self.default_source();
        launcher.map(|value| Known { value, source })
    }

    fn address(&self) -> Told {
        match &self.preset.address {
            Some(row) => self.inputs.told(&row.flags, &row.env),
            None => Told::Nothing,
        }
    }

    /// Whether the server listens on a Unix socket, or may do so.
    fn on_socket(&self) -> bool {
        let host = self.preset.bind.as_ref();
        let host = host.map(|row| self.inputs.told(&row.flags, &row.env));
        let is_path = |value: &str| {
            value.starts_with(['/', '.']) || value.ends_with(".sock") || value.starts_with("unix:")
        };
        self.inputs.first(&self.preset.socket) != Held::No
            || matches!(host, Some(Told::Literal { value, .. }) if is_path(&value))
    }

    fn bind(&self) -> Known<Bind> {
        let unknown = |source| Known {
            value: Bind::Unknown,
            source,
        };
        let Some(row) = &self.preset.bind else {
            return unknown(self.default_source());
        };
        let told = match self.inputs.told(&row.flags, &row.env) {
            Told::Nothing => match self.address() {
                Told::Literal { value, place } => Told::Literal {
                    value: address(&value).0,
                    place,
                },
                told => told,
            },
            told => told,
        };
        match told {
            Told::Literal { value, place } => Known {
                value: reach(&value).unwrap_or(row.default),
                source: place,
            },
            Told::Unknown(place) => unknown(place),
            Told::Nothing if !self.defaults_hold() => unknown(self.default_source()),
            Told::Nothing => match self.row.and_then(|row| row.bind) {
                Some(value) => Known {
                    value,
                    source: self.image_source(),
                },
                None => Known {
                    value: row.default,
                    source: self.default_source(),
                },
            },
        }
    }

    fn https(&self) -> Option<Known<bool>> {
        match self.inputs.first(&self.preset.tls) {
            Held::Yes(source) => Some(Known {
                value: true,
                source,
            }),
            Held::Unknown(_) => None,
            Held::No => self.defaults_hold().then(|| Known {
                value: false,
                source: self.default_source(),
            }),
        }
    }

    fn prefix(&self) -> Option<String> {
        let Some(row) = &self.preset.prefix else {
            return Some(String::new());
        };
        match self.inputs.told(&row.flags, &row.env) {
            Told::Literal { value, .. } => Some(value.trim_end_matches('/').to_owned()),
            Told::Nothing => Some(String::new()),
            Told::Unknown(_) => None,
        }
    }

    /// A number of seconds; 0 is no time, so nothing is known then.
    fn seconds(&self, row: Option<&SecondsRow>) -> Option<Known<i64>> {
        let row = row?;
        let (seconds, source) = match self.inputs.told(&row.flags, &row.env) {
            Told::Literal { value, place } => (Seconds::parse(&value).ok()?.0, place),
            Told::Nothing if self.defaults_hold() => (row.default?, self.default_source()),
            Told::Nothing | Told::Unknown(_) => return None,
        };
        let value = seconds.saturating_mul(row.times).saturating_add(row.plus);
        Some(Known { value, source })
    }

    /// The model, and whether it is fetched at the start.
    fn model(&self) -> (Option<Known<String>>, bool) {
        let rows = self.preset.model.iter();
        let found = rows
            .into_iter()
            .find_map(|row| Some((row, self.named_by(row)?)));
        let Some((row, model)) = found else {
            return (None, false);
        };
        let fetches = match row.from {
            From::File => false,
            From::Hub => true,
            From::Either => comes_from_afar(&model.value),
        };
        let fetches = fetches && self.inputs.first(&self.preset.offline) == Held::No;
        (Some(model), fetches)
    }

    fn named_by(&self, row: &ModelRow) -> Option<Known<String>> {
        match self.inputs.told(&row.flags, &row.env) {
            Told::Literal { value, place } if !value.is_empty() => {
                return Some(Known {
                    value,
                    source: place,
                });
            }
            Told::Literal { .. } | Told::Unknown(_) => return None,
            Told::Nothing => {}
        }
        let positional = self.inputs.positional().filter(|_| row.positional);
        if let Some(value) = positional.filter(|value| env::is_known(value)) {
            return Some(Known {
                value: value.to_owned(),
                source: format!("argument {}", shown(value)),
            });
        }
        let image = self.image.filter(|_| row.image)?;
        Some(Known {
            value: image.name().to_owned(),
            source: "the image".to_owned(),
        })
    }
}

/// Whether a model's name is that of a repository on a hub or of an object store, not that of a file.
fn comes_from_afar(model: &str) -> bool {
    !(model.starts_with(['/', '.', '~']) || model.starts_with("file:"))
}
