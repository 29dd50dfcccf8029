//! What the commands of a container are: a server, a follower, something idle, or nothing that is known.

use super::commands::{
    self, HARMLESS, MPI, MPI_HOSTS, WRAPPERS, is_called, is_forever, name, row_matches, spoken,
};
use super::env::{self, Env};
use super::image::Image;
use super::preset::Preset;
use super::recognise::image_row;
use super::rows::CommandRow;
use super::script::{self, Word};
use super::servers::Servers;
use crate::words::is_shell;

/// How deep a shell may stand in a shell.
const DEPTH: usize = 4;

/// How many wrappers (`env`, `nohup`, ...) may stand before one command. Each is looked behind by a call of its own, and a caller
/// that writes `exec` a hundred thousand times must find no end of the stack.
const MOST_WRAPPERS: usize = 16;

/// How many words of one command are looked at: some looks go over all words for each word.
const MOST_WORDS: usize = 500;

/// One command of a launch.
#[derive(Clone, Debug)]
pub(super) enum Step<'k> {
    /// Starts a known server.
    Server {
        preset: &'k Preset,
        /// The words that name it.
        words: String,
        args: Vec<Word>,
        /// Whether it only starts the head of a cluster.
        head: bool,
        conditional: bool,
    },
    /// Joins the group of another pod.
    Follower { why: String, conditional: bool },
    /// Starts or awaits a group, before the server.
    Cluster(String),
    /// Waits, or does what leaves nothing running.
    Idle { words: String, endless: bool },
    /// Waits for a person.
    Interactive(String),
    /// Belongs to the node.
    Infrastructure(String),
    /// Not known.
    Other,
}

/// The commands that a launch runs in an image. `env` becomes what they make of it.
pub(super) fn of<'k>(
    servers: &'k Servers,
    image: Option<Image<'_>>,
    words: &[Word],
    env: &mut Env,
) -> Vec<Step<'k>> {
    let mut walk = Walk {
        servers,
        image,
        env,
        steps: Vec::new(),
    };
    if !words.is_empty() {
        walk.command(words, When::default(), Depth::default());
    }
    walk.steps
}

/// Whether a command runs for certain, and how often.
#[derive(Clone, Copy, Default)]
struct When {
    conditional: bool,
    repeated: bool,
}

/// How deep a command may still go.
#[derive(Clone, Copy)]
struct Depth {
    shells: usize,
    wrappers: usize,
}

impl Default for Depth {
    fn default() -> Self {
        Self {
            shells: DEPTH,
            wrappers: MOST_WRAPPERS,
        }
    }
}

impl Depth {
    /// The depth inside of a shell, where it may be entered.
    fn in_shell(self) -> Option<Self> {
        let shells = self.shells.checked_sub(1)?;
        Some(Self {
            shells,
            ..Self::default()
        })
    }

    /// The depth behind a wrapper, where it may be looked behind.
    fn behind_wrapper(self) -> Option<Self> {
        let wrappers = self.wrappers.checked_sub(1)?;
        Some(Self { wrappers, ..self })
    }
}

struct Walk<'k, 'e> {
    servers: &'k Servers,
    image: Option<Image<'e>>,
    env: &'e mut Env,
    steps: Vec<Step<'k>>,
}

impl<'k> Walk<'k, '_> {
    fn command(&mut self, words: &[Word], when: When, depth: Depth) {
        if words.len() > MOST_WORDS {
            return self.steps.push(Step::Other);
        }
        if let Some(step) = self.server(words, when) {
            return self.steps.push(step);
        }
        if let Some((script, parameters)) = commands::users_script(words) {
            return match depth.in_shell() {
                Some(depth) => self.script(script, parameters, when, depth),
                None => self.steps.push(Step::Other),
            };
        }
        if let Some(inner) = self.behind_wrapper(words) {
            return match depth.behind_wrapper() {
                Some(depth) => self.command(&words[inner..], when, depth),
                None => self.steps.push(Step::Other),
            };
        }
        if let Some(step) = self.other(words, when) {
            return self.steps.push(step);
        }
        match depth.in_shell() {
            Some(depth) if name(words) == "eval" => {
                let texts: Vec<&str> = words[1..].iter().map(|word| word.text.as_str()).collect();
                self.script(&texts.join(" "), &[], when, depth);
            }
            Some(depth) if is_shell(name(words)) => self.shell(words, when, depth),
            _ => self.steps.push(idle(words, when).unwrap_or(Step::Other)),
        }
    }

    /// Follows a shell into its script. Of a script in a file only the name is known.
    fn shell(&mut self, words: &[Word], when: When, depth: Depth) {
        let mut at = 1;
        let mut inline = false;
        while let Some(option) = words.get(at).map(|word| word.text.as_str()) {
            if !option.starts_with(['-', '+']) || option.len() < 2 {
                break;
            }
            at += 1;
            if option == "--" {
                break;
            }
            if !option.starts_with("--") {
                inline |= option.contains('c');
                at += usize::from(option.contains('o') || option.contains('O'));
            }
        }
        match words.get(at) {
            Some(script) if inline => self.script(&script.text, &words[at + 1..], when, depth),
            Some(_) if !inline => self.command(&words[at..], when, depth),
            Some(_) => {}
            None => self.steps.push(Step::Idle {
                words: spoken(words),
                endless: !inline,
            }),
        }
    }

    fn script(&mut self, script: &str, parameters: &[Word], when: When, depth: Depth) {
        let Ok(commands) = script::commands(script, self.env, parameters) else {
            return self.steps.push(Step::Other);
        };
        for command in commands {
            let when = When {
                conditional: when.conditional || command.conditional,
                repeated: when.repeated || command.repeated,
            };
            self.command(&command.words, when, depth);
        }
    }

    /// The server that a command starts.
    fn server(&self, words: &[Word], when: When) -> Option<Step<'k>> {
        let servers = self.servers;
        servers.presets.iter().find_map(|preset| {
            let is_own = |image| image_row(preset, image).is_some();
            let rows = preset.commands.iter();
            let mut rows = rows.filter(|row| !row.own_image || self.image.is_some_and(is_own));
            let (row, taken) = rows.find_map(|row| Some((row, row_matches(row, words)?)))?;
            Some(Step::Server {
                preset,
                words: row.run.0.join(" "),
                args: words[taken..].to_vec(),
                head: row.cluster,
                conditional: when.conditional,
            })
        })
    }

    /// What else the data says of a command.
    fn other(&self, words: &[Word], when: When) -> Option<Step<'k>> {
        let named = |rows: &[CommandRow]| {
            let row = rows.iter().find(|row| row_matches(row, words).is_some())?;
            Some(row.run.0.join(" "))
        };
        if let Some(why) = named(&self.servers.followers) {
            let conditional = when.conditional;
            return Some(Step::Follower { why, conditional });
        }
        if let Some(why) = named(&self.servers.clusters) {
            return Some(Step::Cluster(why));
        }
        let called = |names: &[String]| names.iter().any(|name| is_called(words, name));
        if called(&self.servers.interactive_commands) {
            return Some(Step::Interactive(name(words).to_owned()));
        }
        if called(&self.servers.infrastructure_commands) {
            return Some(Step::Infrastructure(name(words).to_owned()));
        }
        None
    }

    /// Where the command begins that a wrapper (`env`, `nohup`, `tini --`, ...) runs. Its options and their values are passed
    /// over by looking for words that name something known; what names nothing must follow the options at once.
    fn behind_wrapper(&mut self, words: &[Word]) -> Option<usize> {
        let wrapper = name(words);
        if !WRAPPERS.contains(&wrapper) {
            return None;
        }
        let sure = When::default();
        let option = |word: &Word| {
            word.text.starts_with('-') || (wrapper == "env" && word.text.contains('='))
        };
        let next = 1 + words[1..].iter().take_while(|word| option(word)).count();
        let known = |at: &usize| {
            let inner = &words[*at..];
            self.server(inner, sure).is_some() || self.other(inner, sure).is_some()
        };
        let runs = |at: &usize| {
            let inner = &words[*at..];
            commands::runs_inline(inner)
                || WRAPPERS.contains(&name(inner))
                || *at == next && (is_shell(name(inner)) || idle(inner, sure).is_some())
        };
        let inner = (1..words.len()).find(|at| known(at) || runs(at))?;
        if wrapper == "env" {
            self.set_env(&words[1..inner]);
        }
        for word in &words[1..inner] {
            let flag = word.text.split('=').next().unwrap_or_default();
            if MPI_HOSTS.contains(&flag) && MPI.contains(&wrapper) {
                self.steps.push(Step::Cluster(format!("{wrapper} {flag}")));
            }
        }
        Some(inner)
    }

    /// What `env` makes of the variables before it runs a command (env(1) of the GNU coreutils).
    fn set_env(&mut self, words: &[Word]) {
        let mut words = words.iter().map(|word| word.text.as_str());
        while let Some(word) = words.next() {
            let joined = word.strip_prefix("--unset=").or(word.strip_prefix("-u"));
            match word {
                "-" | "-i" | "--ignore-environment" => self.env.clear(),
                "-u" | "--unset" => {
                    if let Some(name) = words.next() {
                        self.env.unset(name);
                    }
                }
                // `env $(cat FILE) COMMAND`
                _ if env::starts_unknown(word) => self.env.source(),
                _ => {
                    if let Some(name) = joined {
                        self.env.unset(name);
                    } else if let Some((name, value)) = word.split_once('=') {
                        self.env.set(name, value.to_owned());
                    }
                }
            }
        }
    }
}

/// A command that waits, or that leaves nothing running.
fn idle(words: &[Word], when: When) -> Option<Step<'static>> {
    let args = words.get(1..)?;
    let any = |test: fn(&str) -> bool| args.iter().any(|word| test(&word.text));
    let endless = match name(words) {
        "sleep" => when.repeated || any(is_forever),
        "tail" => any(|arg| {
            arg.starts_with("--follow") || (arg.starts_with('-') && arg.contains(['f', 'F']))
        }),
        harmless if HARMLESS.contains(&harmless) => false,
        _ => return None,
    };
    Some(Step::Idle {
        words: spoken(words),
        endless,
    })
}
