//! The pictures of `warmgate explain`: those that are stored are what is drawn.

use std::path::Path;

use super::{example, hold_page, run_with};

/// A pod that loads for an hour under a probe that asks every second.
const LONG: &str = "\
apiVersion: v1
kind: Pod
metadata:
  name: long
  annotations: {warmgate.io/max-startup-time: 1h}
spec:
  containers:
    - name: engine
      image: example.com/engine:1
      startupProbe: {httpGet: {path: /health, port: 8000}, periodSeconds: 1, failureThreshold: 4000}
      livenessProbe: {httpGet: {path: /health, port: 8000}, periodSeconds: 1}
";

/// What is printed of a text.
fn explained(args: &[&str], text: &str) -> String {
    let ran = run_with(&[&["explain"], args, &["-"]].concat(), text);
    assert_eq!(ran.code, 0, "{}", ran.err);
    ran.out
}

/// The pictures between the words: the lines from the heading to the one before the next.
fn in_words(text: &str) -> String {
    let lines = text.lines();
    let lines = lines.skip_while(|line| !line.contains("picture, in one of"));
    let lines = lines.take_while(|line| !line.trim().is_empty());
    lines.map(|line| format!("{line}\n")).collect()
}

fn case(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    std::fs::read_to_string(path.join(name)).expect("the case can be read")
}

#[test]
fn the_stored_pictures_are_what_is_drawn() {
    let crash_loop = example("vllm-crash-loop.yaml");
    let slowboot = example("slowboot.yaml");
    let group = case("21-leader-and-bare-worker.yaml");
    for (name, args, text) in [
        ("vllm-crash-loop", &[][..], crash_loop.as_str()),
        ("slowboot", &["--load", "60"][..], slowboot.as_str()),
        ("group", &[][..], group.as_str()),
        ("long", &[][..], LONG),
    ] {
        let drawn = in_words(&explained(args, text));
        hold_page(&format!("tests/pictures/{name}.txt"), &drawn);
    }
}

#[test]
fn thousands_of_probes_are_a_row() {
    let words = in_words(&explained(&[], LONG));
    assert!(words.contains('×') && words.contains('✓'), "{words}");
}

#[test]
fn what_a_fix_does_not_change_is_drawn_once() {
    let words = in_words(&explained(&[], &case("21-leader-and-bare-worker.yaml")));
    assert_eq!(
        words.matches("before and after the fix\n").count(),
        2,
        "{words}"
    );
    assert!(
        words.contains("leader pods\n") && words.contains("worker pods\n"),
        "{words}"
    );
}
