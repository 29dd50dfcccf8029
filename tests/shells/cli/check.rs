//! `warmgate check`.

use serde_json::{Value, json};

use super::{CONFIG_MAP, Folder, denied, run, run_with};

#[test]
fn the_exit_code_goes_by_the_outcome() {
    let warned = denied("a").replace(
        "max-startup-time: 15m",
        "max-startup-time: 15m, warmgate.io/mode: warn",
    );
    let owned = denied("a").replace(
        "  namespace: ml\n",
        "  namespace: ml\n  ownerReferences: [{apiVersion: x/v1, kind: X, name: x, uid: u, controller: true}]\n",
    );
    for (text, fail_on, code) in [
        (denied("a"), "deny", 1),
        (denied("a"), "note", 1),
        (CONFIG_MAP.to_owned(), "note", 0),
        (warned.clone(), "deny", 0),
        (warned, "warn", 1),
        (owned.clone(), "deny", 0),
        (owned, "warn", 1),
    ] {
        let ran = run_with(&["check", "--fail-on", fail_on], &text);
        assert_eq!(ran.code, code, "--fail-on {fail_on}\n{text}\n{}", ran.out);
    }
}

#[test]
fn a_report_for_people_names_line_field_rule_and_cure() {
    let ran = run(&["check", "examples/vllm-crash-loop.yaml"]);
    assert_eq!(ran.code, 1);
    for part in [
        "examples/vllm-crash-loop.yaml:7 Deployment ml/llama-70b: denied",
        "examples/vllm-crash-loop.yaml:34:11 deny: containers[engine].livenessProbe",
        "900 s",
        "[liveness-kills-startup]",
        "spec.template.spec.containers[0].livenessProbe",
        "fix would change",
        "add spec.template.spec.containers[0].startupProbe",
        "1 object judged; 1 denied, 0 allowed",
    ] {
        assert!(ran.out.contains(part), "{part}\n{}", ran.out);
    }
}

#[test]
fn what_is_not_judged_is_told_with_its_reason() {
    let input = [
        "apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: t}\n",
        "replicas: 3\nimage: x\n",
        CONFIG_MAP,
        "apiVersion: admission.k8s.io/v1\nkind: AdmissionReview\nrequest: {uid: u}\n",
    ]
    .join("---\n");
    let ran = run_with(&["check", "-"], &input);
    assert_eq!(ran.code, 0, "{}", ran.err);
    for part in [
        "Thing",
        "ConfigMap",
        "not a Kubernetes object",
        "warmgate admit",
        "0 objects judged",
    ] {
        assert!(ran.out.contains(part), "{part}\n{}", ran.out);
    }
    let ran = run(&["check", "examples/slowboot.yaml"]);
    assert_eq!(ran.code, 0);
    assert!(ran.out.contains("skipped: Pod slowboot"), "{}", ran.out);
    assert!(ran.out.contains("[not-ours]"), "{}", ran.out);
}

#[test]
fn a_report_for_programs_has_its_form() {
    let ran = run_with(
        &["check", "--format", "json", "-"],
        &[CONFIG_MAP, &denied("a")].join("---\n"),
    );
    assert_eq!(ran.code, 1);
    let report = ran.json();
    let objects = report["objects"].as_array().expect("objects is a list");
    assert_eq!(objects.len(), 2);
    assert_eq!(objects[0]["outcome"], "not-checked");
    let object = &objects[1];
    assert_eq!(object["file"], "<stdin>");
    assert_eq!(object["document"], 1);
    assert_eq!(object["line"], 8);
    assert_eq!(object["kind"], "Deployment");
    assert_eq!(object["name"], "a");
    assert_eq!(object["namespace"], "ml");
    assert_eq!(object["outcome"], "denied");
    assert_eq!(object["reason"], Value::Null);
    let finding = &object["findings"][0];
    assert_eq!(finding["rule"], "liveness-kills-startup");
    assert_eq!(finding["severity"], "deny");
    assert_eq!(finding["container"], "engine");
    assert_eq!(
        finding["path"],
        "spec.template.spec.containers[0].livenessProbe"
    );
    assert_eq!(
        finding["pointer"],
        "/spec/template/spec/containers/0/livenessProbe"
    );
    assert_eq!(
        (&finding["line"], &finding["column"]),
        (&json!(24), &json!(11))
    );
    assert!(
        finding["message"]
            .as_str()
            .is_some_and(|text| text.contains("900 s"))
    );
    let patch = object["patch"].as_array().expect("the patch is a list");
    assert!(patch.iter().all(|step| step["op"] == "add"), "{patch:?}");
    assert_eq!(report["errors"], json!([]));
    assert_eq!(report["summary"]["denied"], 1);
    assert_eq!(report["summary"]["not_checked"], 1);
}

#[test]
fn what_cannot_be_read_is_told_and_the_rest_is_reported() {
    let folder = Folder::with(&[
        (
            "a.yaml",
            &[&denied("good"), "a: [1\n", CONFIG_MAP].join("---\n"),
        ),
        ("b.yaml", "a: 1\na: 2\n"),
    ]);
    let missing = folder.text("missing.yaml");
    let latin = folder.path("latin.yaml");
    std::fs::write(&latin, b"a: \xe9\n").expect("a file can be written");
    let root = folder.text("");
    let ran = run(&["check", "--format", "json", &root, &missing]);
    assert_eq!(ran.code, 2);
    let report = ran.json();
    assert_eq!(report["objects"][0]["name"], "good");
    assert_eq!(report["objects"][0]["outcome"], "denied");
    let errors = report["errors"].as_array().expect("errors is a list");
    for file in ["a.yaml", "b.yaml", "latin.yaml", "missing.yaml"] {
        let about = |error: &&Value| {
            let name = error["file"].as_str().expect("a file is text");
            name.ends_with(file)
        };
        assert_eq!(errors.iter().filter(about).count(), 1, "{file}: {errors:?}");
    }
    let human = run(&["check", &root, &missing]);
    assert_eq!(human.code, 2);
    assert!(
        human.out.contains("Deployment ml/good: denied"),
        "{}",
        human.out
    );
    assert!(human.err.contains("b.yaml:2:1: "), "{}", human.err);
}

#[test]
fn folders_are_walked_in_a_stable_order() {
    let names: Vec<String> = (0..60)
        .map(|number| format!("d{}/f{number:02}.yaml", number % 7))
        .collect();
    let texts: Vec<String> = (0..60)
        .map(|number| denied(&format!("n{number:02}")))
        .collect();
    let mut files: Vec<(&str, &str)> = names
        .iter()
        .map(String::as_str)
        .zip(texts.iter().map(String::as_str))
        .collect();
    files.extend([
        (".hidden/a.yaml", "a: [\n"),
        ("d0/.hidden.yaml", "a: [\n"),
        ("d0/notes.txt", "a: [\n"),
        ("d0/x.yml", CONFIG_MAP),
        ("d0/x.json", "{}"),
    ]);
    let folder = Folder::with(&files);
    let root = folder.text("");
    let first = run(&["check", "--format", "json", &root]);
    assert_eq!(first.code, 1, "{}", first.err);
    let report = first.json();
    let seen: Vec<&str> = report["objects"]
        .as_array()
        .expect("objects is a list")
        .iter()
        .map(|object| object["file"].as_str().expect("a file is text"))
        .collect();
    assert_eq!(seen.len(), 62);
    assert!(seen.is_sorted(), "{seen:?}");
    for _ in 0..5 {
        assert_eq!(run(&["check", "--format", "json", &root]).out, first.out);
    }
    let twice = run(&["check", "--format", "json", &root, &root]);
    assert_eq!(
        twice.out, first.out,
        "a file that is named twice is read once"
    );
}

#[test]
fn links_are_followed_to_files_and_nowhere_else() {
    use std::os::unix::fs::symlink;

    let folder = Folder::with(&[("..data/a.yaml", &denied("mounted")), ("deep/b/c.yaml", "")]);
    symlink("..data/a.yaml", folder.path("a.yaml")).expect("a link can be made");
    symlink("missing.yaml", folder.path("b.yaml")).expect("a link can be made");
    symlink("..", folder.path("deep/round.yaml")).expect("a link can be made");
    let ran = run(&["check", &folder.text("")]);
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert!(ran.out.contains("ml/mounted: denied"), "{}", ran.out);
    assert_eq!(ran.err.matches("error: ").count(), 1, "{}", ran.err);
    assert!(ran.err.contains("b.yaml: No such file"), "{}", ran.err);
}

#[test]
fn a_run_that_judges_nothing_can_be_a_failure() {
    let judged = run_with(&["check", "--require-subject"], &denied("a"));
    assert_eq!(judged.code, 1);
    for input in ["", CONFIG_MAP] {
        assert_eq!(run_with(&["check"], input).code, 0);
        let ran = run_with(&["check", "--require-subject"], input);
        assert_eq!(ran.code, 1);
        assert!(ran.err.contains("no object was judged"), "{}", ran.err);
    }
    let opted_out = denied("a").replace("max-startup-time: 15m", "accelerator: \"false\"");
    assert_eq!(
        run_with(&["check", "--require-subject"], &opted_out).code,
        1
    );
}

#[test]
fn what_stands_in_the_same_input_counts() {
    let declared = denied("a").replace(
        "      annotations: {warmgate.io/max-startup-time: 15m}\n",
        "",
    );
    let namespace = "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: ml\n  annotations: {warmgate.io/max-startup-time: 20m}\n";
    let folder = Folder::with(&[("a.yaml", &declared), ("z.yaml", namespace)]);
    let report = run(&["check", "--format", "json", &folder.text("")]).json();
    let why = report["objects"][0]["edits"].to_string();
    assert!(why.contains("20m declared"), "{why}");

    let claimed = declared.replace(
        "          resources: {limits: {nvidia.com/gpu: 1}}\n",
        "          resources: {claims: [{name: card}]}\n",
    ) + "      resourceClaims: [{name: card, resourceClaimTemplateName: one}]\n";
    let template = "apiVersion: resource.k8s.io/v1\nkind: ResourceClaimTemplate\nmetadata: {name: one, namespace: ml}\nspec:\n  spec:\n    devices:\n      requests: [{name: r, exactly: {deviceClassName: gpu.nvidia.com}}]\n";
    let patch = |input: &str| {
        let report = run_with(&["check", "--format", "json"], input).json();
        report["objects"][0]["patch"].as_array().map(Vec::len)
    };
    assert_eq!(patch(&claimed), Some(0));
    assert_ne!(patch(&[claimed.as_str(), template].join("---\n")), Some(0));
}

#[test]
fn a_default_that_cannot_be_read_is_told_of() {
    let namespace = "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: ml\n  annotations: {warmgate.io/max-startup-time: soon}\n";
    let report = run_with(&["check", "--format", "json"], namespace).json();
    let finding = &report["objects"][0]["findings"][0];
    assert_eq!(finding["rule"], "malformed-annotation", "{report}");
    assert_eq!(finding["severity"], "warn", "{report}");
    let ran = run_with(&["check"], namespace);
    assert_eq!(ran.code, 0, "{}", ran.out);
    assert!(ran.out.contains("max-startup-time \"soon\""), "{}", ran.out);
    assert_eq!(run_with(&["check", "--fail-on", "warn"], namespace).code, 1);
}

#[test]
fn facts_config_and_version_are_read() {
    let folder = Folder::with(&[
        (
            "facts.yaml",
            "kubernetesVersion: \"1.29\"\nstarts: {ml/a/engine: 8000}\n",
        ),
        ("config.json", r#"{"edits": {"gracePeriod": false}}"#),
        ("bad.yaml", "unknown: 1\n"),
        ("version.yaml", "kubernetesVersion: latest\n"),
    ]);
    let (facts, config) = (folder.text("facts.yaml"), folder.text("config.json"));
    let undeclared = denied("a").replace(
        "      annotations: {warmgate.io/max-startup-time: 15m}\n",
        "",
    );
    let edits = |args: &[&str]| {
        let args = [&["check", "--format", "json"], args].concat();
        let ran = run_with(&args, &undeclared);
        assert_eq!(ran.err, "");
        ran.json()["objects"][0]["edits"].to_string()
    };
    let plain = edits(&[]);
    assert!(plain.contains("preStop") && plain.contains("terminationGracePeriodSeconds"));
    let old = edits(&["--facts", &facts]);
    assert!(old.contains("8000") && !old.contains("lifecycle"), "{old}");
    let overruled = edits(&["--facts", &facts, "--kubernetes-version", "1.33"]);
    assert!(overruled.contains("lifecycle"), "{overruled}");
    let configured = edits(&["--config", &config]);
    assert!(!configured.contains("grace-period"), "{configured}");
    for name in ["bad.yaml", "version.yaml", "missing.yaml"] {
        let ran = run_with(&["check", "--facts", &folder.text(name)], &undeclared);
        assert_eq!(ran.code, 2, "{name}");
        assert!(ran.err.contains(name), "{}", ran.err);
    }
}
