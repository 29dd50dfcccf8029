//! What is certain of the steps of a command that runs in a container, whatever its server does.

use super::probe::Handler;
use crate::words::{
    AndOr, Command, Junction, Redirect, Script, What, Word, inline_script, read_script,
};

/// A step of a list.
pub(super) enum Step<'s> {
    /// It is run if all steps before it have passed.
    Run(&'s Command),
    /// It runs beside others, or only if others fail; nothing behind it is certain.
    Unsure,
}

/// The steps of a list, up to the first that is not sure to be run.
pub(super) fn steps(list: &AndOr) -> impl Iterator<Item = Step<'_>> {
    list.pipelines
        .iter()
        .map(|(junction, pipeline)| match pipeline.commands.as_slice() {
            [command] if *junction == Junction::And && !pipeline.negated && !list.background => {
                Step::Run(command)
            }
            _ => Step::Unsure,
        })
}

/// The command that `env` runs, where it is told nothing else.
pub(super) fn unwrapped(command: &[String]) -> &[String] {
    match command {
        [env, rest @ ..] if env.rsplit('/').next() == Some("env") => rest,
        command => command,
    }
}

/// Whether a shell is told by its options to end with the first step that fails (`-e`, `-u`).
pub(super) fn is_strict(command: &[String]) -> bool {
    let options = command
        .iter()
        .skip(1)
        .take_while(|word| word.starts_with(['-', '+']) || is_option(word));
    options.into_iter().any(|word| {
        let short = word.starts_with('-') && !word.starts_with("--");
        short && word.contains(['e', 'u']) || matches!(word.as_str(), "errexit" | "nounset")
    })
}

/// Whether a word stands between a shell and its script: an applet, or the value of `-o`.
fn is_option(word: &str) -> bool {
    matches!(word, "errexit" | "nounset" | "pipefail") || crate::words::is_shell(word)
}

/// Whether a list sets options of the shell, by which it may end with the first step that fails.
pub(super) fn sets_options(list: &AndOr) -> bool {
    commands(list).any(|command| program(command) == Some("set"))
}

/// Whether a list may end the whole shell, so that what stands behind it is not run.
pub(super) fn may_end_shell(list: &AndOr) -> bool {
    commands(list).any(ends_shell)
}

fn ends_shell(command: &Command) -> bool {
    const ENDS: [&str; 7] = [".", "eval", "exec", "exit", "return", "source", "trap"];
    // `${X:?}` ends the shell where nothing is to be put in.
    let ends = |word: &Word| {
        ENDS.contains(&word.text.as_str()) || word.text.contains("${") && word.text.contains('?')
    };
    match &command.what {
        What::Compound(words) => words.iter().any(ends),
        What::Group(inner) => !inner.whole || inner.lists.iter().any(may_end_shell),
        What::Simple(words) => {
            let is_unknown = words.first().is_none_or(|first| !first.plain);
            is_unknown || words.iter().any(ends)
        }
    }
}

fn commands(list: &AndOr) -> impl Iterator<Item = &Command> {
    let pipelines = list.pipelines.iter();
    pipelines.flat_map(|(_, pipeline)| &pipeline.commands)
}

fn program(command: &Command) -> Option<&str> {
    match &command.what {
        What::Simple(words) => words.first().map(|word| word.text.as_str()),
        What::Compound(_) | What::Group(_) => None,
    }
}

/// Whether a command passes whatever the server does: `true`, `exit 0` and the like.
fn always_passes(command: &[String]) -> bool {
    let command = unwrapped(command);
    if let Some(script) = inline_script(command) {
        return script_passes(&read_script(script), is_strict(command));
    }
    let words = match command {
        [busybox, rest @ ..] if busybox.rsplit('/').next() == Some("busybox") => rest,
        words => words,
    };
    words
        .first()
        .is_some_and(|program| is_harmless(program) && program != ":")
}

/// Programs that never fail.
fn is_harmless(program: &str) -> bool {
    matches!(program.rsplit('/').next(), Some("true" | "echo" | ":"))
}

/// Whether a script always passes. Its status is that of its last list, unless it ends before; a strict shell ends with the
/// first list that fails.
fn script_passes(script: &Script, strict: bool) -> bool {
    let (mut strict, mut passes) = (strict, false);
    for list in &script.lists {
        if exits_well(list) {
            return true;
        }
        passes = list_passes(list, strict);
        strict |= sets_options(list);
        if !passes && (strict || may_fail_shell(list)) {
            return false;
        }
    }
    passes && script.whole
}

/// Whether a list is `exit 0`.
fn exits_well(list: &AndOr) -> bool {
    match list.pipelines.as_slice() {
        [(_, pipeline)] if !list.background && !pipeline.negated => {
            matches!(pipeline.commands.as_slice(), [command] if is_exit_0(command))
        }
        _ => false,
    }
}

fn is_exit_0(command: &Command) -> bool {
    match &command.what {
        What::Simple(words) => {
            matches!(words.as_slice(), [exit, code] if exit.text == "exit" && code.text == "0")
        }
        What::Compound(_) | What::Group(_) => false,
    }
}

/// Whether a list that may fail ends the shell in a way that fails too, or never comes to an end.
fn may_fail_shell(list: &AndOr) -> bool {
    let waits = |word: &Word| {
        let text = word.text.as_str();
        matches!(text, "until" | "wait" | "while") || text.starts_with("--retry")
    };
    let never_ends = |command: &Command| match &command.what {
        What::Simple(words) | What::Compound(words) => words.iter().any(waits),
        What::Group(_) => true,
    };
    let mut others = commands(list).filter(|command| !is_exit_0(command));
    list.background || others.any(|command| never_ends(command) || ends_shell(command))
}

/// Whether the pipelines of a list pass in the end, whichever of them are run.
pub(super) fn list_passes(list: &AndOr, strict: bool) -> bool {
    let mut passes = true;
    for (index, (junction, pipeline)) in list.pipelines.iter().enumerate() {
        let this = match pipeline.commands.as_slice() {
            [command] if !pipeline.negated => command_passes(command, strict),
            _ => false,
        };
        passes = match junction {
            _ if index == 0 => this,
            Junction::And => passes && this,
            Junction::Or => passes || this,
        };
    }
    passes && !list.background
}

fn command_passes(command: &Command, strict: bool) -> bool {
    if !command.redirects.iter().all(opens) {
        return false;
    }
    match &command.what {
        What::Compound(_) => false,
        What::Group(inner) => script_passes(inner, strict),
        What::Simple(words) => {
            let program = words.first().map(|word| word.text.as_str());
            let harmless = program.is_some_and(|name| is_harmless(name) || name == "set");
            is_exit_0(command) || harmless && words.iter().all(|word| word.plain)
        }
    }
}

/// Whether a redirection does not ask anybody: bash opens connections by the names of files, and a file that is read may not
/// be there.
fn opens(redirect: &Redirect) -> bool {
    let target = redirect.target.text.as_str();
    let network = target.starts_with("/dev/tcp/") || target.starts_with("/dev/udp/");
    let writes = matches!(redirect.operator.as_str(), ">" | ">&" | ">>" | ">|");
    redirect.target.plain && !network && (writes || target == "/dev/null")
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

    fn passes(command: &[&str]) -> bool {
        let words: Vec<String> = command.iter().map(|word| (*word).to_owned()).collect();
        always_passes(&words)
    }

    #[test]
    fn a_command_that_tells_nothing() {
        for command in [
            &["true"][..],
            &["/bin/true"],
            &["echo", "ok"],
            &["busybox", "true"],
            &["/usr/bin/env", "echo", "ok"],
        ] {
            assert!(passes(command), "{command:?}");
        }
        for command in [
            &["cat", "/tmp/ready"][..],
            &["env"],
            &["busybox", "sh", "-c", "cat x"],
            &[":"],
            &[],
        ] {
            assert!(!passes(command), "{command:?}");
        }
    }

    #[test]
    fn a_script_that_tells_nothing() {
        for script in [
            "exit 0",
            ":",
            "true;",
            "echo a; echo b",
            "echo a\ntrue\n",
            "echo 'a | b $c' && true",
            "echo ok > /tmp/alive",
            "echo ok >&2",
            "(true)",
            "curl -sf localhost; true",
            "curl -sf localhost; exit 0",
            "curl -sf localhost || true",
            "curl -sf localhost || exit 0",
            "curl -sf localhost && echo up || echo down",
            "curl $URL | grep ok; true",
            "exit 0; curl localhost",
            "test -f /x && exit 0; true",
            "if [ -f /x ]; then echo x; fi; true",
            "set -e; curl localhost || true; echo b",
        ] {
            assert!(passes(&["sh", "-c", script]), "{script}");
        }
    }

    #[test]
    fn a_script_whose_last_word_is_not_harmless() {
        for script in [
            "",
            "exit 1",
            "exit",
            "exit $?",
            "echo probing; curl -sf http://localhost:8000/health",
            "echo probing\ncurl -sf http://localhost:8000/health\n",
            "true; test -f /tmp/ok",
            "true\ntest -f /tmp/ok",
            "echo hi ; grpc_health_probe -addr=:8000",
            "true && curl localhost",
            "curl localhost && true",
            "curl localhost && exit 0",
            "test -f /x && exit 0; exit 1",
            "echo ruok | nc localhost 1",
            "curl localhost || exit 1; true",
            "[ -f /x ] || exit; true",
            "curl localhost || { echo down; exit 1; }; true",
            "if ! curl localhost; then exit 1; fi; true",
            "until curl localhost; do sleep 1; done; true",
            "curl --retry-connrefused --retry 99 localhost; true",
            "exec curl localhost; true",
            "trap 'exit 1' EXIT; true",
            "$CHECK; true",
            "ls ${X:?}; true",
            "set -e; curl localhost; true",
            "set -e; curl localhost && true; true",
            "true &",
            "curl localhost & true",
            "! true",
            "echo $(curl localhost)",
            "echo `curl localhost`",
            "echo > /dev/tcp/127.0.0.1/8000",
            "true < /tmp/ready",
            "true 'x",
            "true; f() { false; }",
            "(curl localhost)",
        ] {
            assert!(!passes(&["bash", "-c", script]), "{script}");
        }
        assert!(!passes(&["sh", "-ec", "curl localhost; true"]));
        assert!(!passes(&[
            "bash",
            "-euo",
            "pipefail",
            "-c",
            "curl localhost; true"
        ]));
        assert!(!passes(&[
            "bash",
            "-o",
            "errexit",
            "-c",
            "curl localhost; true"
        ]));
        assert!(passes(&[
            "bash",
            "-o",
            "pipefail",
            "-c",
            "curl localhost; true"
        ]));
    }
}
