//! What runs in a container besides its main process: hooks, and commands that probes run.

use super::probe::Handler;
use crate::words::{inline_script, split_words};

/// A hook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hook {
    /// A command; `seconds` where it is a literal `sleep N`.
    Exec {
        /// The command.
        command: Vec<String>,
        /// How long it takes, where that can be read off.
        seconds: Option<i64>,
    },
    /// A request, or anything else whose length cannot be seen.
    Other,
    /// The native sleep action, in seconds.
    Sleep(i64),
}

impl Hook {
    /// How long the hook takes in seconds, where that can be read off.
    pub fn literal(&self) -> Option<i64> {
        match self {
            Self::Exec { seconds, .. } => *seconds,
            Self::Other => None,
            Self::Sleep(seconds) => Some(*seconds),
        }
    }
}

/// Programs that take no time worth counting.
const INSTANT: [&str; 14] = [
    ":", "date", "echo", "exit", "export", "kill", "logger", "nginx", "pkill", "printf", "rm",
    "set", "touch", "true",
];

/// The seconds of a command that sleeps and does nothing else that takes time: `sleep 15`, or a shell that is told to.
pub(super) fn literal_sleep(command: &[String]) -> Option<i64> {
    let Some(script) = inline_script(command) else {
        let words: Vec<&str> = command.iter().map(String::as_str).collect();
        return sleep_of(&words);
    };
    let chained = script.replace("&&", ";").replace('\n', ";");
    // Only a list of commands, one after the other, can be added up.
    if chained.contains(['&', '|', '(', '`', '{', '<']) {
        return None;
    }
    let words = split_words(&chained.replace(';', " ; ")).ok()?;
    let mut seconds = None;
    for step in words.split(|word| word == ";") {
        let step: Vec<&str> = step.iter().map(String::as_str).collect();
        if let Some(sleeps) = sleep_of(&step) {
            seconds = seconds.unwrap_or(0i64).checked_add(sleeps);
        } else if step
            .first()
            .is_some_and(|program| !INSTANT.contains(program))
        {
            return None;
        }
    }
    seconds
}

/// The seconds of `sleep N`, with `exec` in front or not.
fn sleep_of(words: &[&str]) -> Option<i64> {
    let words = words.strip_prefix(&["exec"]).unwrap_or(words);
    let [program, length] = words else {
        return None;
    };
    if program.rsplit('/').next() != Some("sleep") {
        return None;
    }
    let (number, unit) = length.split_at(length.bytes().take_while(u8::is_ascii_digit).count());
    let unit = match unit {
        "" | "s" => 1,
        "m" => 60,
        "h" => 3600,
        _ => return None,
    };
    number.parse::<i64>().ok()?.checked_mul(unit)
}

/// Whether a handler passes whatever the server does: `true`, `exit 0` and the like.
fn always_passes(command: &[String]) -> bool {
    let words = match inline_script(command) {
        Some(script) => split_words(script).unwrap_or_default(),
        None => command.to_vec(),
    };
    let words: Vec<&str> = words
        .iter()
        .map(|word| word.trim_end_matches(';'))
        .collect();
    match words.as_slice() {
        ["exit", "0"] | [":"] => true,
        [program, ..] => {
            matches!(program.rsplit('/').next(), Some("true" | "echo"))
                && !words.iter().any(|word| word.contains(['|', '&', '$', '`']))
        }
        [] => false,
    }
}

impl Handler {
    /// Whether the handler passes whatever the server does, so that it tells nothing.
    pub fn always_passes(&self) -> bool {
        matches!(self, Self::Exec { command } if always_passes(command))
    }
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
            (&["sleep", "15"][..], Some(15)),
            (&["/bin/sleep", "20s"], Some(20)),
            (&["sh", "-c", "sleep 60"], Some(60)),
            (&["/bin/bash", "-ec", "exec sleep 2m"], Some(120)),
            (&["/bin/bash", "-l", "-c", "sleep 30"], Some(30)),
            (&["sh", "-c", "sleep 5; nginx -s quit"], Some(5)),
            (
                &["sh", "-c", "echo \"bye; all\" && sleep 5; sleep 1m;"],
                Some(65),
            ),
            (&["sh", "-c", "kill -TERM 1\nsleep 40"], Some(40)),
            (&["sh", "-c", "sleep 5; /drain.sh"], None),
            (&["sh", "-c", "sleep 5 || sleep 60"], None),
            (&["sh", "-c", "sleep 60 & wait"], None),
            (&["sh", "-c", "for i in 1 2; do sleep 5; done"], None),
            (&["sh", "-c", "echo bye"], None),
            (&["sh", "-c", "sleep $N"], None),
            (&["drain", "30"], None),
            (&[], None),
        ] {
            assert_eq!(literal_sleep(&words(command)), seconds, "{command:?}");
        }
    }

    #[test]
    fn a_handler_that_tells_nothing() {
        for command in [
            &["true"][..],
            &["/bin/true"],
            &["sh", "-c", "exit 0"],
            &["echo", "ok"],
        ] {
            assert!(always_passes(&words(command)), "{command:?}");
        }
        for command in [
            &["cat", "/tmp/ready"][..],
            &["sh", "-c", "exit 1"],
            &["sh", "-c", "echo ruok | nc localhost 1"],
            &[],
        ] {
            assert!(!always_passes(&words(command)), "{command:?}");
        }
    }
}
