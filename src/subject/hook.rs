//! What runs in a container besides its main process: hooks, and how long they take.

use super::script::{self, Step};
use crate::words::{AndOr, Command, Script, What, Word, inline_script, read_script};

/// A hook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hook {
    /// A command.
    Exec {
        /// The command.
        command: Vec<String>,
        /// How long it takes.
        length: Length,
    },
    /// A request, or anything else whose length cannot be seen.
    Other,
    /// The native sleep action, in seconds.
    Sleep(i64),
}

/// How long a command takes, as far as that can be read off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// So many seconds or more, since it sleeps so long in any case; 0 where nothing is known.
    AtLeast(i64),
    /// It never ends by itself.
    Endless,
    /// So many seconds: it sleeps, and does nothing else that takes time.
    Exactly(i64),
}

impl Hook {
    /// How long the hook takes in seconds, where that can be read off.
    pub fn literal(&self) -> Option<i64> {
        match self {
            Self::Exec {
                length: Length::Exactly(seconds),
                ..
            }
            | Self::Sleep(seconds) => Some(*seconds),
            Self::Exec { .. } | Self::Other => None,
        }
    }

    /// How many seconds the hook takes at least, where it sleeps in any case, whatever else it does.
    pub fn at_least(&self) -> Option<i64> {
        match self {
            Self::Exec {
                length: Length::AtLeast(seconds),
                ..
            } if *seconds > 0 => Some(*seconds),
            _ => self.literal(),
        }
    }

    /// Whether the hook never ends by itself.
    pub fn is_endless(&self) -> bool {
        matches!(
            self,
            Self::Exec {
                length: Length::Endless,
                ..
            }
        )
    }
}

/// Programs that take no time worth counting.
const INSTANT: [&str; 14] = [
    ":", "date", "echo", "exit", "export", "kill", "logger", "nginx", "pkill", "printf", "rm",
    "set", "touch", "true",
];

/// How long a command takes: `sleep 15`, or a shell that is told to sleep.
pub(super) fn length(command: &[String]) -> Length {
    let command = script::unwrapped(command);
    let mut taken = Taken::default();
    match inline_script(command) {
        Some(text) => taken.add_script(&read_script(text), script::is_strict(command)),
        None => {
            let words: Vec<&str> = command.iter().map(String::as_str).collect();
            match sleep_of(&words) {
                Some(sleep) => taken.sleep(sleep),
                None => taken.exact = false,
            }
        }
    }
    match taken {
        Taken { endless: true, .. } => Length::Endless,
        Taken {
            exact: true,
            slept: true,
            seconds,
            ..
        } => Length::Exactly(seconds),
        Taken { seconds, .. } => Length::AtLeast(seconds),
    }
}

/// Who sleeps longer than a day, the longest time that can be declared, means for ever.
const LONGEST: i64 = 24 * 60 * 60;

/// A `sleep`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sleep {
    Endless,
    For(i64),
}

/// What a script takes up to a step.
struct Taken {
    /// The sleeps that are slept in any case.
    seconds: i64,
    /// Whether there was one.
    slept: bool,
    endless: bool,
    /// Whether nothing else took time.
    exact: bool,
    /// Whether the next step may not be reached.
    over: bool,
}

impl Default for Taken {
    fn default() -> Self {
        Self {
            seconds: 0,
            slept: false,
            endless: false,
            exact: true,
            over: false,
        }
    }
}

impl Taken {
    fn sleep(&mut self, sleep: Sleep) {
        self.slept = true;
        match sleep {
            Sleep::Endless => (self.endless, self.over) = (true, true),
            Sleep::For(seconds) => self.seconds = self.seconds.saturating_add(seconds),
        }
    }

    /// Adds the steps of a script. A strict shell ends with the first one that fails.
    fn add_script(&mut self, script: &Script, strict: bool) {
        let mut strict = strict;
        for list in &script.lists {
            strict |= script::sets_options(list);
            let sure = self.add_list(list, strict);
            let fails = strict && !script::list_passes(list, strict);
            self.over |= !sure && (fails || script::may_end_shell(list));
            if self.over {
                break;
            }
        }
        self.exact &= script.whole;
    }

    /// Adds a list up to the first step that is not sure to be run; returns whether there is none and all of it was read off.
    fn add_list(&mut self, list: &AndOr, strict: bool) -> bool {
        for step in script::steps(list) {
            let Step::Run(command) = step else {
                self.exact = false;
                return false;
            };
            if !self.add_command(command, strict) {
                self.exact = false;
                return false;
            }
            if self.over {
                break;
            }
        }
        true
    }

    fn add_command(&mut self, command: &Command, strict: bool) -> bool {
        match &command.what {
            What::Compound(_) => false,
            What::Group(inner) => {
                let mut within = Self::default();
                within.add_script(inner, strict);
                self.seconds = self.seconds.saturating_add(within.seconds);
                self.slept |= within.slept;
                self.endless |= within.endless;
                self.over |= within.over;
                within.exact
            }
            What::Simple(words) => self.add_words(words),
        }
    }

    fn add_words(&mut self, words: &[Word]) -> bool {
        let words: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
        if let Some(sleep) = sleep_of(&words) {
            self.sleep(sleep);
            self.over |= words.first() == Some(&"exec");
            return true;
        }
        let program = words.first().copied().unwrap_or_default();
        self.over |= program == "exit";
        INSTANT.contains(&program)
    }
}

/// What `sleep N ...` sleeps: the sum of its words.
fn sleep_of(words: &[&str]) -> Option<Sleep> {
    let mut words = words;
    while let [first, rest @ ..] = words
        && matches!(
            first.rsplit('/').next(),
            Some("busybox" | "command" | "env" | "exec")
        )
    {
        words = rest;
    }
    let [program, lengths @ ..] = words else {
        return None;
    };
    if program.rsplit('/').next() != Some("sleep") || lengths.is_empty() {
        return None;
    }
    if matches!(lengths, ["inf" | "infinity"]) {
        return Some(Sleep::Endless);
    }
    let slept = lengths
        .iter()
        .try_fold(0i64, |sum, length| sum.checked_add(seconds(length)?))?;
    Some(if slept > LONGEST {
        Sleep::Endless
    } else {
        Sleep::For(slept)
    })
}

fn seconds(length: &str) -> Option<i64> {
    let (number, unit) = length.split_at(length.bytes().take_while(u8::is_ascii_digit).count());
    let unit = match unit {
        "" | "s" => 1,
        "m" => 60,
        "h" => 3600,
        _ => return None,
    };
    number.parse::<i64>().ok()?.checked_mul(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(command: &[&str]) -> Vec<String> {
        command.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn a_literal_sleep_is_read_off() {
        for (command, seconds) in [
            (&["sleep", "15"][..], 15),
            (&["/bin/sleep", "20s"], 20),
            (&["sleep", "1m", "30s"], 90),
            (&["/usr/bin/env", "sleep", "12"], 12),
            (&["/bin/busybox", "sleep", "12"], 12),
            (&["sh", "-c", "sleep 60"], 60),
            (&["/usr/bin/env", "sh", "-c", "sleep 60"], 60),
            (&["sh", "-c", "(sleep 60)"], 60),
            (&["sh", "-c", "{ sleep 60; echo; } && sleep 5"], 65),
            (&["sh", "-c", "sleep 60 > /dev/null 2>&1 # all"], 60),
            (&["/bin/bash", "-ec", "exec sleep 2m"], 120),
            (&["/bin/bash", "-l", "-c", "sleep 30"], 30),
            (&["sh", "-c", "sleep 5; nginx -s quit"], 5),
            (&["sh", "-c", "set -e; sleep 5; sleep 6"], 11),
            (&["sh", "-c", "sleep 5; exit 0; sleep 60"], 5),
            (&["sh", "-c", "sleep 5; exec sleep 6; sleep 60"], 11),
            (&["sh", "-c", "echo \"bye; all\" && sleep 5; sleep 1m;"], 65),
            (&["sh", "-c", "kill -TERM 1\nsleep 40"], 40),
        ] {
            let length = length(&words(command));
            assert_eq!(length, Length::Exactly(seconds), "{command:?}");
        }
    }

    #[test]
    fn a_sleep_beside_what_cannot_be_read_is_the_least() {
        for (script, seconds) in [
            ("sleep 5; /drain.sh", 5),
            ("/drain.sh; sleep 5; /drain.sh; sleep 6", 11),
            ("curl -X POST localhost/drain || true; sleep 120", 120),
            ("echo \"$(date) ends\" | tee /proc/1/fd/1; sleep 7", 7),
            ("sleep 120 || true", 120),
            ("sleep 5 || sleep 60", 5),
            ("sleep 5 && /drain.sh && sleep 60", 5),
            ("(/drain.sh; sleep 8)", 8),
            ("(exit 1); sleep 8", 0),
            ("if [ -f /x ]; then sleep 9; fi; sleep 10", 10),
            ("if [ -f /x ]; then exit 0; fi; sleep 10", 0),
            ("[ -f /x ] || exit 0; sleep 10", 0),
            ("for i in 1 2; do sleep 5; done", 0),
            ("/drain.sh && sleep 60", 0),
            ("/drain.sh || sleep 60", 0),
            ("! /drain.sh || sleep 60", 0),
            ("set -e; sleep 3; /drain.sh; sleep 60", 3),
            ("set -e; sleep 3; /drain.sh || true; sleep 60", 63),
            ("sleep 60 & wait", 0),
            ("sleep 60 | true", 0),
            ("exec /drain.sh; sleep 60", 0),
            ("sleep 4; f() { sleep 60; }", 4),
            ("sleep 4; cat <<X\nsleep 60\nX", 4),
            ("sleep 60 'x", 0),
            ("echo bye", 0),
            ("sleep $N", 0),
            ("sleep 0.5", 0),
            ("", 0),
        ] {
            let length = length(&words(&["sh", "-c", script]));
            assert_eq!(length, Length::AtLeast(seconds), "{script}");
        }
        let strict = words(&["bash", "-eu", "-c", "sleep 3; /drain.sh; sleep 60"]);
        assert_eq!(length(&strict), Length::AtLeast(3));
        for command in [&["drain", "30"][..], &["sleep"], &["env", "drain"], &[]] {
            assert_eq!(length(&words(command)), Length::AtLeast(0), "{command:?}");
        }
    }

    #[test]
    fn some_hooks_never_end() {
        for command in [
            &["sleep", "infinity"][..],
            &["sleep", "99999999999"],
            &["sh", "-c", "/drain.sh; sleep 25h"],
            &["env", "sleep", "inf"],
            &["sh", "-c", "/drain.sh; sleep infinity"],
            &["sh", "-c", "(sleep infinity); echo"],
        ] {
            let length = length(&words(command));
            assert_eq!(length, Length::Endless, "{command:?}");
        }
        let maybe = words(&["sh", "-c", "/drain.sh || sleep infinity"]);
        assert_eq!(length(&maybe), Length::AtLeast(0));
    }
}
