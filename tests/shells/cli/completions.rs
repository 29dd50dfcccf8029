//! `warmgate completions`.

use super::{run, warmgate};
use std::process::Command;

const SHELLS: [&str; 5] = ["bash", "elvish", "fish", "powershell", "zsh"];

#[test]
fn every_shell_learns_every_verb() {
    let help = run(&["--help"]).out;
    let verbs: Vec<&str> = help
        .lines()
        .skip_while(|line| *line != "Commands:")
        .skip(1)
        .map_while(|line| line.strip_prefix("  ")?.split_whitespace().next())
        .collect();
    assert!(verbs.contains(&"undo"), "{help}");
    for shell in SHELLS {
        let ran = run(&["completions", shell]);
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{shell}");
        for word in verbs.iter().chain(&["fail-on"]) {
            assert!(ran.out.contains(word), "{shell} does not know {word}");
        }
        // The scripts for the others complete no values.
        let values = matches!(shell, "bash" | "zsh");
        assert_eq!(
            ran.out.contains("liveness-kills-startup"),
            values,
            "{shell}"
        );
    }
    assert_eq!(run(&["completions", "cmd"]).code, 2);
}

#[test]
fn bash_completes() {
    let script = run(&["completions", "bash"]).out;
    let completed = |words: &[&str]| {
        let (last, count) = (words.last().copied().unwrap_or_default(), words.len() - 1);
        let ask = format!(
            "{script}\nCOMP_WORDS=({}) COMP_CWORD={count}\n_warmgate warmgate '{last}' ''\necho \"${{COMPREPLY[*]}}\"",
            words.join(" ")
        );
        let bash = Command::new("bash").args(["--norc", "-c", &ask]).output();
        let said = bash.expect("there is a bash").stdout;
        String::from_utf8_lossy(&said).trim().to_owned()
    };
    assert_eq!(completed(&["warmgate", "un"]), "undo");
    assert_eq!(completed(&["warmgate", "undo", "--di"]), "--diff");
    assert_eq!(completed(&["warmgate", "rules", "no-sp"]), "no-spread");
}

#[test]
fn a_reader_of_the_script_may_stop() {
    let mut child = warmgate(&["completions", "bash"])
        .spawn()
        .expect("the binary runs");
    drop(child.stdout.take());
    let done = child.wait_with_output().expect("the binary ends");
    assert_eq!(done.status.code(), Some(0));
    assert!(done.stderr.is_empty());
}
