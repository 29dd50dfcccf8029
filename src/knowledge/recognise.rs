//! Which server a container runs, if it runs one.

use super::commands;
use super::env::{self, Env, EnvValue};
use super::image::Image;
use super::inputs::Inputs;
use super::pattern;
use super::preset::Preset;
use super::rows::{Entry, ImageRow};
use super::script::Word;
use super::server::{Evidence, Group, Server};
use super::servers::Servers;
use super::settle::{Settled, Start};
use super::steps::{self, Step};

/// How a container is started.
#[derive(Clone, Copy, Debug)]
pub struct Launch<'a> {
    /// Its image.
    pub image: Option<&'a str>,
    /// Its `command`: replaces the entry point of the image.
    pub command: &'a [String],
    /// Its `args`.
    pub args: &'a [String],
    /// Its variables, in order.
    pub env: &'a [(String, EnvValue)],
}

/// What a container runs.
#[derive(Clone, Debug)]
pub enum Recognition<'k> {
    /// A known model server.
    Server(Box<Server<'k>>),
    /// A part of a group that another pod serves for; why it is taken for one.
    Follower(String),
    /// Something that a person works in; what.
    Interactive(String),
    /// Something that waits for ever and does nothing else; what.
    Idle(String),
    /// Something that belongs to the node, not to a model; what.
    Infrastructure(String),
    /// Nothing that is known.
    Unknown,
}

impl Servers {
    /// Which server a launch starts. With a `command`, the command itself must name the server; without one the entry point of
    /// a known image counts.
    pub(super) fn recognise(&self, launch: &Launch<'_>) -> Recognition<'_> {
        let mut env = Env::of(launch.env);
        let words: Vec<Word> = launch
            .command
            .iter()
            .chain(launch.args)
            .map(|text| Word::of(env.expand(text)))
            .collect();
        let image = launch.image.map(Image::parse);
        let steps = steps::of(self, image, &words, &mut env);
        let look = Look {
            servers: self,
            image,
            env: &env,
        };
        if let Some(found) = look.by_command(&steps) {
            return found;
        }
        if let Some(why) = image.and_then(|image| others(&self.infrastructure_images, image)) {
            return Recognition::Infrastructure(why);
        }
        if launch.command.is_empty() {
            if let Some(found) = look.by_image(&words) {
                return found;
            }
            if let Some(why) = image.and_then(|image| others(&self.interactive_images, image)) {
                return Recognition::Interactive(why);
            }
        }
        Recognition::Unknown
    }
}

/// The pattern that an image matches.
fn others(patterns: &[String], image: Image<'_>) -> Option<String> {
    let matched = patterns.iter().find(|pattern| image.ends_with(pattern))?;
    Some(format!("image {} is {matched}", image.name()))
}

struct Look<'k, 'a> {
    servers: &'k Servers,
    image: Option<Image<'a>>,
    env: &'a Env,
}

impl<'k> Look<'k, '_> {
    /// What the commands say.
    fn by_command(&self, steps: &[Step<'k>]) -> Option<Recognition<'k>> {
        let follower = steps.iter().find_map(|step| match step {
            Step::Follower { why, conditional } => Some((why, *conditional)),
            _ => None,
        });
        let mut servers = steps
            .iter()
            .filter(|step| matches!(step, Step::Server { head: false, .. }));
        let heads = || {
            steps
                .iter()
                .find(|step| matches!(step, Step::Server { .. }))
        };
        if let Some(first) = servers.next().or_else(heads) {
            let more: Vec<&Step<'k>> = servers.collect();
            return self.server(first, &more, follower, steps);
        }
        if let Some((why, _)) = follower {
            return Some(Recognition::Follower(why.clone()));
        }
        let said = steps.iter().find_map(|step| match step {
            Step::Infrastructure(why) => Some(Recognition::Infrastructure(why.clone())),
            Step::Interactive(why) => Some(Recognition::Interactive(why.clone())),
            _ => None,
        });
        said.or_else(|| idles(steps).map(Recognition::Idle))
    }

    /// The first server of a script. Of what `more` servers in it set up differently, nothing is certain.
    fn server(
        &self,
        first: &Step<'k>,
        more: &[&Step<'k>],
        follower: Option<(&String, bool)>,
        steps: &[Step<'k>],
    ) -> Option<Recognition<'k>> {
        let Step::Server {
            words,
            head,
            conditional,
            ..
        } = first
        else {
            return None;
        };
        let around = match follower {
            Some((why, follows)) if follows || *conditional => {
                Group::RankAtRunTime(format!("the script decides between {words} and {why}"))
            }
            Some((why, _)) => Group::Member(why.clone()),
            None if *conditional && more.is_empty() => {
                Group::RankAtRunTime(format!("the script decides whether {words} runs"))
            }
            None => around(steps, *head),
        };
        let started = self.start(first, around)?;
        let others = more
            .iter()
            .filter_map(|step| self.start(step, Group::Alone));
        let all: Vec<_> = [started].into_iter().chain(others).collect();
        let joins = all.iter().find_map(joins).map(str::to_owned);
        let several = all.len() > 1;
        let (mut servers, followers): (Vec<_>, Vec<_>) = all
            .into_iter()
            .partition(|one| matches!(one, Recognition::Server(_)));
        if servers.is_empty() {
            return followers.into_iter().next();
        }
        let mut found = servers.remove(0);
        let Recognition::Server(server) = &mut found else {
            return Some(found);
        };
        for other in &servers {
            if let Recognition::Server(other) = other {
                server.agree_with(other);
            }
        }
        if let Some(why) = joins.filter(|_| several) {
            server.group =
                Group::RankAtRunTime(format!("the script decides between {words} and {why}"));
        }
        Some(found)
    }

    fn start(&self, step: &Step<'k>, around: Group) -> Option<Recognition<'k>> {
        let Step::Server {
            preset,
            words,
            args,
            head,
            ..
        } = step
        else {
            return None;
        };
        let evidence = Evidence::Command(words.clone());
        Some(self.settle(preset, evidence, args, *head, around))
    }

    /// What the entry point of the image does with the arguments.
    fn by_image(&self, args: &[Word]) -> Option<Recognition<'k>> {
        let image = self.image?;
        let (preset, row) = self.servers.by_image(image)?;
        let first = args.first();
        let named = first.is_some_and(|word| row.words.contains(&word.text));
        let flags = first.is_some_and(|word| word.text.starts_with('-'));
        let model = preset.model.iter().any(|row| row.positional);
        let starts = match (row.entry, first) {
            (Entry::Command, _) => flags,
            (Entry::Word, None) | (Entry::Server, None) => true,
            (Entry::Word, Some(_)) => named,
            (Entry::Server, Some(word)) => {
                named
                    || flags
                    || !env::is_known(&word.text)
                    || (model && !commands::runs_more(args))
            }
        };
        if !starts {
            return None;
        }
        let args = &args[usize::from(named)..];
        let evidence = Evidence::Image(image.name().to_owned());
        Some(self.settle(preset, evidence, args, false, Group::Alone))
    }

    fn settle(
        &self,
        preset: &'k Preset,
        evidence: Evidence,
        args: &[Word],
        head: bool,
        around: Group,
    ) -> Recognition<'k> {
        let row = self.image.and_then(|image| image_row(preset, image));
        let start = Start {
            preset,
            evidence,
            image: self.image,
            row,
            inputs: Inputs::new(args, self.env, self.image.and_then(|image| image.tag)),
            head,
            around,
        };
        match start.settle() {
            Settled::Follower(why) => Recognition::Follower(why),
            Settled::Server(server) => Recognition::Server(server),
        }
    }
}

/// The row of a preset that an image matches.
pub(super) fn image_row<'k>(preset: &'k Preset, image: Image<'_>) -> Option<&'k ImageRow> {
    let by_tag = |row: &ImageRow| match image.tag {
        Some(tag) => {
            (row.tags.is_empty() || pattern::any(&row.tags, tag))
                && !pattern::any(&row.not_tags, tag)
        }
        None => row.tags.is_empty(),
    };
    preset
        .images
        .iter()
        .find(|row| row.names.iter().any(|name| image.ends_with(name)) && by_tag(row))
}

/// Why a launch may be one that joins another pod and serves nothing.
fn joins<'f>(found: &'f Recognition<'_>) -> Option<&'f str> {
    match found {
        Recognition::Follower(why) => Some(why),
        Recognition::Server(server) => match &server.group {
            Group::RankAtRunTime(why) => Some(why),
            _ => None,
        },
        _ => None,
    }
}

/// What the commands beside a server say of its group.
fn around(steps: &[Step<'_>], head: bool) -> Group {
    steps
        .iter()
        .find_map(|step| match step {
            Step::Cluster(why) => Some(Group::Member(why.clone())),
            Step::Server {
                words, head: true, ..
            } => Some(Group::Member(if head {
                format!("{words} serves what is deployed later")
            } else {
                words.clone()
            })),
            _ => None,
        })
        .unwrap_or(Group::Alone)
}

/// What a launch waits in for ever, if it does nothing else.
fn idles(steps: &[Step<'_>]) -> Option<String> {
    let mut endless = None;
    for step in steps {
        match step {
            Step::Idle { words, endless: e } => {
                if *e {
                    endless = endless.or(Some(words.clone()));
                }
            }
            _ => return None,
        }
    }
    endless
}
