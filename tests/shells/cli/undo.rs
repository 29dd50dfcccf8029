//! `warmgate undo`.

use serde_json::json;

use super::{CONFIG_MAP, Folder, denied, run, run_with};

/// A mended Deployment as `kubectl get -o yaml` shows it, as far as it matters. Its owner has raised a timeout since.
const MENDED: &str = r##"apiVersion: apps/v1
kind: Deployment
metadata:
  annotations:
    warmgate.io/changes: '{"spec.progressDeadlineSeconds":{"set":4200,"was":600,"why":"w"},"spec.template.spec.containers[engine].lifecycle.preStop":{"set":{"sleep":{"seconds":15}},"why":"w"},"spec.template.spec.containers[engine].livenessProbe.timeoutSeconds":{"set":5,"was":1,"why":"w"},"spec.template.spec.containers[engine].readinessProbe.timeoutSeconds":{"set":5,"was":1,"why":"w"},"spec.template.spec.terminationGracePeriodSeconds":{"set":75,"was":30,"why":"w"}}'
  name: llama
  namespace: ml
spec:
  progressDeadlineSeconds: 4200
  template:
    spec:
      containers:
      - image: example.com/engine:1 # ours
        lifecycle:
          preStop:
            sleep:
              seconds: 15
        livenessProbe:
          httpGet:
            path: /health
            port: 8000
          timeoutSeconds: 5
        name: engine
        readinessProbe:
          tcpSocket:
            port: 8000
          timeoutSeconds: 20
      terminationGracePeriodSeconds: 75
"##;

const UNDONE: &str = "apiVersion: apps/v1
kind: Deployment
metadata:
  name: llama
  namespace: ml
spec:
  progressDeadlineSeconds: 600
  template:
    spec:
      containers:
      - image: example.com/engine:1 # ours
        livenessProbe:
          httpGet:
            path: /health
            port: 8000
          timeoutSeconds: 1
        name: engine
        readinessProbe:
          tcpSocket:
            port: 8000
          timeoutSeconds: 20
      terminationGracePeriodSeconds: 30
";

const KEPT: &str = "Deployment ml/llama: spec.template.spec.containers[engine].readinessProbe.timeoutSeconds is 20 and warmgate \
                    wrote 5, so it is the owner's: left as it is";

#[test]
fn what_is_still_ours_is_taken_back_and_the_rest_is_named() {
    for ran in [
        run_with(&["undo"], MENDED),
        run_with(&["undo", "-"], MENDED),
    ] {
        assert_eq!(ran.code, 0, "{}", ran.err);
        assert_eq!(ran.out, UNDONE);
        let lines: Vec<&str> = ran.err.lines().collect();
        let kept = format!("<stdin>:27:11: {KEPT}");
        assert_eq!(
            lines,
            ["<stdin>:1: Deployment ml/llama: 4 fields taken back", &kept]
        );
    }
    let again = run_with(&["undo"], UNDONE);
    assert_eq!((again.code, again.out.as_str()), (0, UNDONE));
    assert!(
        again.err.contains("1 object has no warmgate.io/changes"),
        "{}",
        again.err
    );
}

#[test]
fn files_are_shown_and_written() {
    let folder = Folder::with(&[("a.yaml", MENDED), ("b.yaml", &denied("b"))]);
    let shown = run(&["undo", "--diff", &folder.text("")]);
    assert_eq!(shown.code, 0, "{}", shown.err);
    assert!(
        shown.out.contains("\n-              seconds: 15\n"),
        "{}",
        shown.out
    );
    assert!(!shown.out.contains("b.yaml"), "{}", shown.out);
    assert_eq!(folder.read("a.yaml"), MENDED);
    assert_eq!(run(&["undo", &folder.text("")]).code, 2);
    let written = run(&["undo", "--write", &folder.text("")]);
    assert_eq!((written.code, written.out.as_str()), (0, ""));
    assert_eq!(folder.read("a.yaml"), UNDONE);
    assert_eq!(folder.read("b.yaml"), denied("b"));
    assert!(written.err.contains("Deployment ml/b"), "{}", written.err);
}

#[test]
fn lists_and_several_documents_are_looked_through() {
    let indented = MENDED.replace('\n', "\n  ");
    let list = format!(
        "apiVersion: v1\nitems:\n- {}\nkind: List\n",
        indented.trim_end()
    );
    let ran = run_with(&["undo"], &[&list, CONFIG_MAP, MENDED].join("---\n"));
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(!ran.out.contains("warmgate.io/changes"), "{}", ran.out);
    assert!(
        ran.out.ends_with(&[CONFIG_MAP, UNDONE].join("---\n")),
        "{}",
        ran.out
    );
    assert_eq!(
        ran.err.matches("4 fields taken back").count(),
        2,
        "{}",
        ran.err
    );
    assert_eq!(ran.err.matches(KEPT).count(), 2, "{}", ran.err);
    assert!(ran.err.contains(
        "1 object has no warmgate.io/changes, so there is nothing to take back: ConfigMap c"
    ));
}

#[test]
fn objects_without_a_record_are_counted() {
    let many: Vec<String> = (0..5).map(|number| denied(&format!("a{number}"))).collect();
    let ran = run_with(&["undo"], &many.join("---\n"));
    assert_eq!((ran.code, ran.out), (0, many.join("---\n")));
    assert_eq!(
        ran.err,
        "5 objects have no warmgate.io/changes, so there is nothing to take back: Deployment ml/a0, Deployment ml/a1, \
         Deployment ml/a2 and 2 more\n"
    );
}

#[test]
fn a_record_that_cannot_be_read_is_an_error_and_the_others_are_taken_back() {
    let broken = CONFIG_MAP.replace("ConfigMap", "Pod").replace(
        "  name: c\n",
        "  name: c\n  annotations: {warmgate.io/changes: '{'}\n",
    );
    let ran = run_with(&["undo"], &[&broken, MENDED].join("---\n"));
    assert_eq!(ran.code, 2);
    assert_eq!(ran.out, [&broken, UNDONE].join("---\n"));
    assert!(
        ran.err
            .contains("error: <stdin>:1:1: Pod c: warmgate.io/changes cannot be read"),
        "{}",
        ran.err
    );
}

#[test]
fn a_kind_may_be_named_in_the_configuration() {
    let rollout = MENDED
        .replace("apps/v1", "example.com/v1")
        .replace("kind: Deployment", "kind: Turn");
    let row = json!({
        "group": "example.com",
        "kind": "Turn",
        "templates": [{"path": "spec.template", "part": "main"}],
        "progressDeadline": "spec.progressDeadlineSeconds",
        "source": "ours",
    });
    let config = json!({"knowledge": {"workloads": [row]}});
    let folder = Folder::with(&[("config.json", &config.to_string())]);
    let unknown = run_with(&["undo"], &rollout);
    assert_eq!((unknown.code, unknown.out.as_str()), (0, rollout.as_str()));
    assert!(
        unknown
            .err
            .contains("left alone: the kind Turn is not known"),
        "{}",
        unknown.err
    );
    let known = run_with(&["undo", "--config", &folder.text("config.json")], &rollout);
    assert!(known.err.contains("4 fields taken back"), "{}", known.err);
}
