//! Command lines: what they are called, what runs inside them, and whether a row of the data means them.

use super::env::{self, shown};
use super::rows::{CommandRow, Run};
use super::script::Word;
use crate::words::is_shell;

/// Commands that run another command in their place or below them.
pub(super) const WRAPPERS: [&str; 38] = [
    "builtin",
    "busybox",
    "catatonit",
    "catchsegv",
    "chroot",
    "chrt",
    "command",
    "conda",
    "ddtrace-run",
    "dumb-init",
    "env",
    "exec",
    "gosu",
    "ionice",
    "micromamba",
    "mpiexec",
    "mpirun",
    "nice",
    "nohup",
    "nsys",
    "numactl",
    "opentelemetry-instrument",
    "poetry",
    "runuser",
    "s6-setuidgid",
    "setpriv",
    "setsid",
    "stdbuf",
    "su-exec",
    "sudo",
    "taskset",
    "time",
    "timeout",
    "tini",
    "trtllm-llmapi-launch",
    "unbuffer",
    "uv",
    "xvfb-run",
];

pub(super) const MPI: [&str; 2] = ["mpiexec", "mpirun"];

/// The options by which MPI is told of other pods.
pub(super) const MPI_HOSTS: [&str; 7] = [
    "--host",
    "--hostfile",
    "--machinefile",
    "-H",
    "-host",
    "-hostfile",
    "-machinefile",
];

/// Commands that leave nothing running: beside them a launch may still wait for a person.
pub(super) const HARMLESS: [&str; 27] = [
    ".",
    ":",
    "[",
    "[[",
    "apk",
    "apt",
    "apt-get",
    "cd",
    "chmod",
    "chown",
    "echo",
    "exit",
    "ls",
    "mkdir",
    "nvidia-smi",
    "pip",
    "pip3",
    "printenv",
    "printf",
    "set",
    "shopt",
    "source",
    "test",
    "trap",
    "true",
    "ulimit",
    "wait",
];

/// The name of a command without its folder; empty where it is not known.
pub(super) fn name(words: &[Word]) -> &str {
    let command = words.first().map_or("", |word| word.text.as_str());
    if env::is_known(command) {
        command.rsplit('/').next().unwrap_or_default()
    } else {
        ""
    }
}

/// Whether words begin with what runs another program, so that they are no model's name.
pub(super) fn runs_more(words: &[Word]) -> bool {
    let name = name(words);
    is_shell(name) || is_python(name) || WRAPPERS.contains(&name)
}

/// Whether words begin with a shell that is given a script inline.
pub(super) fn runs_inline(words: &[Word]) -> bool {
    let option = words.get(1).map_or("", |word| word.text.as_str());
    is_shell(name(words)) && option.starts_with('-') && option.contains('c')
        || users_script(words).is_some()
}

/// The script that the shell of another user is given, and the words behind it: `su app -c SCRIPT`. A login shell forgets the
/// environment and reads files instead, so nothing is known of it (su(1) and runuser(1) of util-linux).
pub(super) fn users_script(words: &[Word]) -> Option<(&str, &[Word])> {
    if !matches!(name(words), "runuser" | "su") {
        return None;
    }
    let is_login = |word: &Word| matches!(word.text.as_str(), "-" | "-l" | "--login");
    let is_option = |word: &Word| matches!(word.text.as_str(), "-c" | "--command");
    let at = words.iter().position(is_option)?;
    let script = words.get(at + 1)?;
    let login = words[..at].iter().chain(&words[at + 2..]).any(is_login);
    (!login).then(|| (script.text.as_str(), &words[at + 2..]))
}

pub(super) fn is_python(name: &str) -> bool {
    name.strip_prefix("python").is_some_and(|version| {
        version
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'.')
    })
}

/// Whether a command is called `name`, with its folder if `name` has one.
pub(super) fn is_called(words: &[Word], called: &str) -> bool {
    if called.contains('/') {
        words.first().is_some_and(|word| word.text == called)
    } else {
        name(words) == called
    }
}

/// How many words a row takes off the front, if it matches.
pub(super) fn row_matches(row: &CommandRow, words: &[Word]) -> Option<usize> {
    let taken = run_matches(&row.run, words)?;
    let args = &words[taken..];
    let given = |flag: &String| {
        args.iter()
            .any(|word| word.text.split('=').next() == Some(flag))
    };
    (row.needs.iter().all(given) && !row.unless.iter().any(given)).then_some(taken)
}

fn run_matches(run: &Run, words: &[Word]) -> Option<usize> {
    let (command, rest) = run.0.split_first()?;
    let python = is_python(name(words));
    let (at, rest) = if command == "python" {
        if !python {
            return None;
        }
        let at = behind_options(words);
        match rest.split_first()? {
            (dash_m, module) if dash_m == "-m" => {
                (words.get(at)?.text == "-m").then_some((at + 1, module))?
            }
            (script, rest) => is_called(words.get(at..)?, script).then_some((at + 1, rest))?,
        }
    } else {
        let at = usize::from(python);
        is_called(words.get(at..)?, command).then_some((at + 1, rest))?
    };
    let same =
        |(at, wanted): (usize, &String)| words.get(at).is_some_and(|word| word.text == *wanted);
    (at..).zip(rest).all(same).then_some(at + rest.len())
}

/// Where the options of a Python interpreter end; `-m` ends them.
fn behind_options(words: &[Word]) -> usize {
    let mut at = 1;
    while let Some(option) = words.get(at).map(|word| word.text.as_str()) {
        match option {
            "-m" => break,
            "-W" | "-X" => at += 2,
            _ if option.starts_with('-') => at += 1,
            _ => break,
        }
    }
    at
}

/// Whether a sleep is longer than anything that will be served: `infinity`, or a day and more.
pub(super) fn is_forever(time: &str) -> bool {
    let (number, unit) = match time.trim_end_matches(|c: char| c.is_ascii_alphabetic()) {
        "" => return matches!(time, "inf" | "infinity"),
        number => (number, &time[number.len()..]),
    };
    let seconds = match unit {
        "d" => 86400.0,
        "h" => 3600.0,
        "m" => 60.0,
        _ => 1.0,
    };
    number
        .parse::<f64>()
        .is_ok_and(|number| number * seconds >= 86400.0)
}

/// A command as a message shows it.
pub(super) fn spoken(words: &[Word]) -> String {
    let words: Vec<String> = words.iter().map(|word| shown(&word.text)).collect();
    words.join(" ")
}
