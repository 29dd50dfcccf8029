//! How long the command of a probe is told to wait.

use crate::words::{clip, inline_script, split_words};

/// The longest wait that a command is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Inner {
    /// How long, rounded up to whole seconds.
    pub(super) seconds: i64,
    /// What says so, `curl -m 10`.
    pub(super) option: String,
}

/// Words that stand before the program of a command.
const PREFIXES: [&str; 10] = [
    "!", "do", "elif", "else", "exec", "if", "then", "time", "until", "while",
];

/// A bare number that is no smaller is meant as milliseconds: no probe waits a quarter of an hour.
const MILLISECONDS_FROM: f64 = 1000.0;

/// The longest literal wait in a probe's command: `timeout 10 program`, `--timeout 10`, `--max-time 10`, `curl -m 10`,
/// `wget -T 10`, `nc -w 10`, `grpc_health_probe -rpc-timeout=10s`. Short options mean something else to other programs, so
/// only those are read.
pub(super) fn inner_timeout(command: &[String]) -> Option<Inner> {
    let script = match inline_script(command) {
        Some(script) => {
            let spaced = script.replace([';', '|', '&', '(', ')', '`', '\n'], " ; ");
            split_words(&spaced).ok()?
        }
        None => command.to_vec(),
    };
    script
        .split(|word| word == ";")
        .flat_map(of_command)
        .max_by_key(|inner| inner.seconds)
}

fn base(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}

/// The waits of one command, without the shell around it.
fn of_command(words: &[String]) -> Vec<Inner> {
    let is_prefix = |word: &&String| {
        let assigns = word.split_once('=').is_some_and(|(name, _)| {
            !name.starts_with('-') && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        });
        assigns || PREFIXES.contains(&word.as_str())
    };
    let skipped = words.iter().take_while(is_prefix).count();
    let Some((program, args)) = words[skipped..].split_first() else {
        return Vec::new();
    };
    let program = base(program);
    if program == "timeout" {
        return of_timeout(args);
    }
    let mut found = Vec::new();
    let mut args = args.iter().map(String::as_str).peekable();
    while let Some(arg) = args.next() {
        let Some((option, attached)) = option(program, arg) else {
            continue;
        };
        let value = attached.or_else(|| args.peek().copied());
        let seconds = value.and_then(|value| seconds(value, is_in_seconds(program)));
        found.extend(seconds.map(|seconds| Inner {
            seconds,
            option: clip(
                &format!("{program} {option} {}", value.unwrap_or_default()),
                40,
            ),
        }));
    }
    found
}

/// Whether bare numbers of the program are seconds, as its manual says.
fn is_in_seconds(program: &str) -> bool {
    matches!(
        program,
        "curl" | "nc" | "ncat" | "netcat" | "timeout" | "wget"
    )
}

/// The option that bounds the wait, with its value where that is attached.
fn option<'w>(program: &str, arg: &'w str) -> Option<(&'w str, Option<&'w str>)> {
    // A flag of a Go program has one dash or two.
    let is_go =
        program.starts_with("grpc_health_probe") || program.starts_with("grpc-health-probe");
    let long = arg.strip_prefix("--");
    if let Some(long) = long.or_else(|| arg.strip_prefix('-').filter(|_| is_go)) {
        let (name, value) = match long.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (long, None),
        };
        let bounds = match name {
            "max-time" | "timeout" => true,
            "connect-timeout" | "rpc-timeout" => is_go,
            _ => false,
        };
        let dashes = arg.len() - long.len();
        return bounds.then_some((&arg[..dashes + name.len()], value));
    }
    // Letters of one word are options of their own up to the first that takes a value.
    let (letter, valued) = match program {
        "curl" => ('m', "ACDEFHKPQTUXYbcdehoruwxyz"),
        "nc" | "ncat" | "netcat" => ('w', "GIMOPTVWXcegimopqsx"),
        "wget" => ('T', "ABDIOPQRUXaeilotw"),
        _ => return None,
    };
    let letters = arg.strip_prefix('-')?;
    let at = letters.find(|c: char| c == letter || valued.contains(c))?;
    let behind = &letters[at + 1..];
    let option = match letter {
        'm' => "-m",
        'w' => "-w",
        _ => "-T",
    };
    letters[at..]
        .starts_with(letter)
        .then_some((option, (!behind.is_empty()).then_some(behind)))
}

/// The wait of `timeout [options] DURATION program`, and those of the program.
fn of_timeout(args: &[String]) -> Vec<Inner> {
    let mut rest = args;
    while let Some((word, behind)) = rest.split_first() {
        if !word.starts_with('-') {
            break;
        }
        // busybox before 1.30 had the duration behind -t.
        let valued = matches!(word.as_str(), "-k" | "-s" | "--kill-after" | "--signal");
        rest = if valued {
            behind.get(1..).unwrap_or_default()
        } else {
            behind
        };
    }
    let Some((duration, program)) = rest.split_first() else {
        return Vec::new();
    };
    let own = seconds(duration, true).map(|seconds| Inner {
        seconds,
        option: clip(&format!("timeout {duration}"), 40),
    });
    // What the outer one cuts off waits no longer.
    let longest = own.as_ref().map_or(i64::MAX, |own| own.seconds);
    let inner = of_command(program).into_iter();
    own.into_iter()
        .chain(inner.filter(|inner| inner.seconds < longest))
        .collect()
}

/// Seconds of `5`, `5s`, `2m`, `500ms`, `1.5`, rounded up; 0 is no limit.
fn seconds(text: &str, in_seconds: bool) -> Option<i64> {
    let end = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let number: f64 = number.parse().ok()?;
    let scale = match unit {
        "" if !in_seconds && number >= MILLISECONDS_FROM => 0.001,
        "" | "s" => 1.0,
        "ms" => 0.001,
        "m" => 60.0,
        "h" => 3600.0,
        _ => return None,
    };
    let seconds = (number * scale).ceil();
    // A probe's numbers are 32 bits wide; more than that is no wait.
    (1.0..=f64::from(i32::MAX))
        .contains(&seconds)
        .then_some(seconds as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(command: &[&str]) -> Option<i64> {
        let words: Vec<String> = command.iter().map(|word| (*word).to_owned()).collect();
        inner_timeout(&words).map(|inner| inner.seconds)
    }

    #[test]
    fn literal_waits_are_read_off() {
        for (command, seconds) in [
            (&["shardctl", "ping", "--timeout", "5s"][..], 5),
            (&["shardctl", "ping", "--timeout=1500ms"], 2),
            (&["jina", "ping", "--timeout", "3000"], 3),
            (&["curl", "-m", "10", "http://localhost"], 10),
            (&["curl", "-sfm5", "http://localhost"], 5),
            (&["/usr/bin/curl", "--max-time", "2.5", "-f", "x"], 3),
            (
                &[
                    "bash",
                    "-c",
                    "wget --tries 1 -T 2 -q -O- http://localhost | grep success",
                ],
                2,
            ),
            (
                &["sh", "-ec", "A=1 timeout -k 5 -s KILL 20 curl -m 60 x"],
                20,
            ),
            (
                &["sh", "-c", "timeout 1m curl -m 7 x && curl -fsS -m 9 y"],
                60,
            ),
            (&["timeout", "2m", "python3", "check.py"], 120),
            (&["sh", "-c", "if ! wget -qT4 -O- x; then exit 1; fi"], 4),
            (&["bash", "-o", "pipefail", "-c", "curl -m 8 x | grep y"], 8),
            (&["nc", "-z", "-w", "7", "localhost", "9000"], 7),
            (&["nc", "-zw5", "localhost", "9000"], 5),
            (
                &["/bin/grpc_health_probe", "-addr=:9", "-rpc-timeout=10s"],
                10,
            ),
            (&["grpc_health_probe", "--connect-timeout", "90s"], 90),
        ] {
            assert_eq!(of(command), Some(seconds), "{command:?}");
        }
    }

    #[test]
    fn what_is_no_wait_is_not() {
        for command in [
            &[][..],
            &["cat", "/tmp/ready"],
            &["sh", "-c", "curl -s x | grep -m 1 ok"],
            &["mkdir", "-m", "755", "/x"],
            &["tar", "-T", "30"],
            &["curl", "-o", "m9", "-Hm:9", "x"],
            &["curl", "-m", "0", "x"],
            &["curl", "-m", "$WAIT", "x"],
            &["python3", "-m", "10"],
            &["tool", "--timeout"],
            &["tool", "--timeout-factor", "9"],
            &["tool", "--connect-timeout", "9"],
            &["tool", "-timeout", "9"],
            &["nc", "-z", "localhost", "9000"],
            &["nc", "-pw9", "localhost", "9000"],
            &["sh", "-c", "curl 'open"],
        ] {
            assert_eq!(of(command), None, "{command:?}");
        }
    }
}
