//! `warmgate fix`.

use super::{CONFIG_MAP, Folder, denied, example, run, run_with};

#[test]
fn one_file_or_standard_input_is_printed() {
    let folder = Folder::with(&[("a.yaml", &denied("a"))]);
    let named = run(&["fix", &folder.text("a.yaml")]);
    let piped = run_with(&["fix"], &denied("a"));
    let dashed = run_with(&["fix", "-"], &denied("a"));
    assert_eq!((named.code, piped.code, dashed.code), (0, 0, 0));
    assert_eq!(named.out, piped.out);
    assert_eq!(named.out, dashed.out);
    assert!(named.out.starts_with("# kept\n"));
    assert!(named.out.contains("livenessProbe: # half a minute\n"));
    assert!(named.out.contains("startupProbe:"));
    assert!(!named.out.contains("warmgate.io/changes"));
    assert!(named.err.contains("Deployment ml/a: "), "{}", named.err);
    assert_eq!(folder.read("a.yaml"), denied("a"));
    let again = run_with(&["fix"], &named.out);
    assert_eq!(again.out, named.out);
    assert_eq!(run_with(&["check"], &named.out).code, 0);
}

#[test]
fn json_stays_json() {
    let text = r#"{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "annotations": {"warmgate.io/max-startup-time": "15m"}},
  "spec": {"containers": [{"name": "a", "image": "i", "livenessProbe": {"tcpSocket": {"port": 1}}}]}}
"#;
    let ran = run_with(&["fix"], text);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let fixed = ran.json();
    assert_eq!(
        fixed["spec"]["containers"][0]["startupProbe"]["tcpSocket"]["port"],
        1
    );
}

#[test]
fn several_files_are_not_printed() {
    let folder = Folder::with(&[("a.yaml", &denied("a")), ("b.yaml", CONFIG_MAP)]);
    let (a, b) = (folder.text("a.yaml"), folder.text("b.yaml"));
    for args in [["fix", &a, &b].as_slice(), &["fix", &folder.text("")]] {
        let ran = run(args);
        assert_eq!(ran.code, 2);
        assert_eq!(ran.out, "");
        assert!(ran.err.contains("--write"), "{}", ran.err);
    }
    let ran = run_with(&["fix", "--write", "-"], CONFIG_MAP);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("standard input"), "{}", ran.err);
}

#[test]
fn files_are_written_in_place() {
    let folder = Folder::with(&[("a.yaml", &denied("a")), ("b.yaml", CONFIG_MAP)]);
    let printed = run(&["fix", &folder.text("a.yaml")]).out;
    let ran = run(&["fix", "--write", &folder.text("")]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(ran.out, "");
    assert_eq!(folder.read("a.yaml"), printed);
    assert_eq!(folder.read("b.yaml"), CONFIG_MAP);
    assert_eq!(
        folder.names(),
        ["a.yaml", "b.yaml"],
        "nothing is left behind"
    );
    let again = run(&["fix", "--write", &folder.text("")]);
    assert_eq!(again.code, 0);
    assert_eq!(folder.read("a.yaml"), printed);
}

#[cfg(unix)]
#[test]
fn a_written_file_is_a_new_one_with_the_old_permissions() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

    let folder = Folder::with(&[("real/a.yaml", &denied("a"))]);
    let file = folder.path("real/a.yaml");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o640))
        .expect("permissions can be set");
    let link = folder.path("link.yaml");
    symlink(&file, &link).expect("a link can be made");
    let before = std::fs::metadata(&file).expect("it is there");
    let ran = run(&["fix", "--write", &folder.text("link.yaml")]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let after = std::fs::metadata(&file).expect("it is there");
    assert_eq!(after.permissions().mode() & 0o777, 0o640);
    // In one step: a reader that has the old file open reads it to its end.
    assert_ne!(before.ino(), after.ino());
    assert!(link.is_symlink());
    assert!(folder.read("real/a.yaml").contains("startupProbe:"));
    // What needs no change is not written at all.
    run(&["fix", "--write", &folder.text("link.yaml")]);
    let unchanged = std::fs::metadata(&file).expect("it is there");
    assert_eq!(after.ino(), unchanged.ino());
}

#[test]
fn a_diff_shows_what_would_change() {
    let folder = Folder::with(&[("a.yaml", &denied("a")), ("b.yaml", CONFIG_MAP)]);
    let ran = run(&["fix", "--diff", &folder.text("")]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.out.starts_with("--- a/"), "{}", ran.out);
    assert!(ran.out.contains("\n+++ b/"), "{}", ran.out);
    assert!(
        ran.out.contains("\n+          startupProbe:\n"),
        "{}",
        ran.out
    );
    assert!(!ran.out.contains("b.yaml"), "{}", ran.out);
    let taken = ran.out.lines().filter(|line| line.starts_with('-'));
    assert_eq!(taken.count(), 1, "{}", ran.out);
    assert_eq!(folder.read("a.yaml"), denied("a"));
}

#[test]
fn a_file_that_cannot_be_read_is_left_alone_and_the_others_are_mended() {
    let broken = [&denied("b"), "a: [1\n"].join("---\n");
    let folder = Folder::with(&[("a.yaml", &broken), ("b.yaml", &denied("b"))]);
    let ran = run(&["fix", "--write", &folder.text("")]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("a.yaml:"), "{}", ran.err);
    assert!(ran.err.contains("left as it is"), "{}", ran.err);
    assert_eq!(folder.read("a.yaml"), broken);
    assert!(folder.read("b.yaml").contains("startupProbe:"));
    let printed = run(&["fix", &folder.text("a.yaml")]);
    assert_eq!((printed.code, printed.out.as_str()), (2, ""));
}

#[test]
fn a_file_that_cannot_be_written_is_told() {
    // So long that no name beside it fits: this stops every user, as permissions would not.
    let long = format!("{}.yaml", "a".repeat(245));
    let folder = Folder::with(&[(&long, &denied("a")), ("b.yaml", &denied("b"))]);
    let ran = run(&["fix", "--write", &folder.text("")]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("cannot write"), "{}", ran.err);
    assert_eq!(folder.read(&long), denied("a"));
    assert!(folder.read("b.yaml").contains("startupProbe:"));
    assert_eq!(folder.names(), [long.as_str(), "b.yaml"]);
}

#[test]
fn the_slow_pod_gets_the_probe_that_lets_it_live() {
    let fixed = run_with(&["fix"], &example("slowboot-declared.yaml"));
    assert_eq!(fixed.code, 0);
    assert!(fixed.out.contains("periodSeconds: 5"), "{}", fixed.out);
    assert!(fixed.out.contains("failureThreshold: 16"), "{}", fixed.out);
    let plain = run_with(&["fix"], &example("slowboot.yaml"));
    assert_eq!(plain.out, example("slowboot.yaml"));
}
