//! What is read from a text, and where it stands.

use serde_json::{Value, json};
use warmgate::manifest::Manifest;
use warmgate::words::FieldPath;

fn read(text: &str) -> Manifest {
    Manifest::read("a.yaml", text)
}

fn values(manifest: &Manifest) -> Vec<Value> {
    let values = manifest.objects.iter().map(|object| object.value.clone());
    values.collect()
}

fn errors(manifest: &Manifest) -> Vec<String> {
    manifest.errors.iter().map(ToString::to_string).collect()
}

fn path(pointer: &str, root: &Value) -> FieldPath {
    FieldPath::from_pointer(pointer, root)
}

#[test]
fn documents_are_numbered_as_a_yaml_loader_numbers_them() {
    for (text, numbers) in [
        ("", vec![]),
        ("# only a comment\n", vec![]),
        ("a: 1", vec![0]),
        ("---\na: 1\n---\n", vec![0]),
        ("# head\n---\na: 1\n", vec![0]),
        ("---\n---\na: 1\n", vec![1]),
        ("a: 1\n---\n# none\n---\n\n---\nb: 1\n", vec![0, 3]),
        ("a: 1\n...\n---\nb: 1\n...\n", vec![0, 1]),
        (
            "%YAML 1.1\n---\na: 1\n...\n%YAML 1.1\n---\nb: 1\n",
            vec![0, 1],
        ),
        ("\u{feff}# c\r\n---\r\na: 1\r\n---\r\nb: 1\r\n", vec![0, 1]),
        ("a: [\n---\nb: 1\n", vec![1]),
        ("a: 1\na: 2\n---\nb: 1\n---\n@x\n---\nc: 1\n", vec![1, 3]),
        ("@x\n---\nc: 1\n", vec![1]),
        ("a: \"x\n---\nb: 1\n", vec![1]),
        ("a: 1\n  b: 2\n---\nb: 1\n", vec![1]),
        ("--- {a: 1}\n---\nb: *x\nc: 1\n---\nd: 1", vec![0, 2]),
        ("{\"a\": 1}\n{\"b\": 2}\n\n{\n\t\"c\": 3\n}", vec![0, 1, 2]),
        ("{\"a\":1}{\"b\":2}", vec![0, 1]),
    ] {
        let manifest = read(text);
        let found: Vec<usize> = manifest.objects.iter().map(|it| it.document).collect();
        assert_eq!(found, numbers, "{text:?}: {:?}", manifest.errors);
    }
}

#[test]
fn lists_are_unrolled() {
    let text = "\
kind: Service
---
apiVersion: v1
kind: List
items:
- kind: A
- apiVersion: apps/v1
  kind: DeploymentList
  items:
  - metadata: {name: x}
  - kind: B
- 5
---
kind: AllowList
items: [a, b]
";
    let manifest = read(text);
    let found: Vec<_> = manifest
        .objects
        .iter()
        .map(|it| {
            (
                it.document,
                it.item,
                it.line,
                it.column,
                it.base.to_string(),
            )
        })
        .collect();
    assert_eq!(
        found,
        [
            (0, None, 1, 1, String::new()),
            (1, Some(0), 6, 3, "items[0]".to_owned()),
            (1, Some(0), 10, 5, "items[1].items[0]".to_owned()),
            (1, Some(1), 11, 5, "items[1].items[1]".to_owned()),
            (2, None, 14, 1, String::new()),
        ]
    );
    assert_eq!(
        manifest.objects[2].value,
        json!({"metadata": {"name": "x"}, "apiVersion": "apps/v1", "kind": "Deployment"})
    );
    assert_eq!(
        errors(&manifest),
        ["a.yaml:12:3: expected an object, found a number"]
    );
}

#[test]
fn aliases_and_merges_are_resolved() {
    let text = "\
base: &b {x: 1, j: [1]}
other: &o {x: 2, z: 3}
copy: *b
one: {<<: *b, x: 9}
many: {<<: [*b, *o, {w: 4}]}
late: {x: 5, <<: *o}
quoted: {\"<<\": 1}
again: &b again
name: *b
";
    let manifest = read(text);
    assert_eq!(errors(&manifest), Vec::<String>::new());
    assert_eq!(
        values(&manifest),
        [json!({
            "base": {"x": 1, "j": [1]},
            "other": {"x": 2, "z": 3},
            "copy": {"x": 1, "j": [1]},
            "one": {"x": 9, "j": [1]},
            "many": {"x": 1, "j": [1], "z": 3, "w": 4},
            "late": {"x": 5, "z": 3},
            "quoted": {"<<": 1},
            "again": "again",
            "name": "again",
        })]
    );
}

#[test]
fn keys_become_member_names() {
    let text = "1: a\nyes: b\n1.5: c\n0x10: d\n\"y\": e\n2001-01-01: f\n? long\n: g\n!!str 2: h\n";
    assert_eq!(
        values(&read(text)),
        [json!({
            "1": "a", "true": "b", "1.5": "c", "16": "d", "y": "e", "2001-01-01": "f", "long": "g", "2": "h"
        })]
    );
    let manifest = read(text);
    for (name, line) in [("1", 1), ("true", 2), ("16", 4), ("y", 5), ("2", 9)] {
        let position = manifest.position(&manifest.objects[0], &FieldPath::of(&[name]));
        assert_eq!(position.0, line, "{name}");
    }
}

#[test]
fn each_error_has_its_place_and_the_rest_is_read() {
    let deep = |open: &str, close: &str| format!("a: {}{}", open.repeat(200), close.repeat(200));
    for (text, place) in [
        (
            "a: 1\nb:\n  c: 1\n  c: 2\n",
            "4:3: duplicate key \"c\", first 1 line above",
        ),
        (
            "{\"a\": 1, \"a\": 2}\n",
            "1:10: duplicate key \"a\", first on the same line",
        ),
        (
            "1: a\n\"1\": b\n",
            "2:1: duplicate key \"1\", first 1 line above",
        ),
        ("a: *b\n", "1:4: alias *b has no anchor"),
        (
            "a: &b [*b]\n",
            "1:8: this alias stands inside its own anchor",
        ),
        ("a: é [\n  b: }\n", "2:4: "),
        ("? [a]\n: b\n", "1:3: the key of a map must be a scalar"),
        (
            "~: b\n",
            "1:1: the key of a map must be a scalar, and not null",
        ),
        ("a: !!int x\n", "1:10: the value cannot be read as !!int"),
        ("a: .inf\n", "1:4: JSON has no number .inf"),
        (
            "<<: 1\n",
            "1:5: the value of << must be a map or a list of maps",
        ),
        ("- a\n", "1:1: expected an object, found a list"),
        ("text\n", "1:1: expected an object, found a string"),
        ("a:\n\t- b\n", "2:2: "),
        ("a: \"\\q\"\n", "1:"),
        (&deep("[", "]"), "1:132: nested deeper than 128"),
        (&deep("{a: ", "}"), "1:"),
        (&format!("a:\n{}", "- ".repeat(200)), "2:"),
        (&"[".repeat(100_000), "1:129: nested deeper than 128"),
        (&"{\"a\":".repeat(100_000), "1:"),
        (&"- ".repeat(100_000), "1:"),
    ] {
        let manifest = read(&format!("{text}\n---\nb: 1\n"));
        let found = errors(&manifest);
        let [error] = &found[..] else {
            panic!("{text:.60}: {found:?}")
        };
        assert!(
            error.starts_with(&format!("a.yaml:{place}")),
            "{text:.60}: {error}"
        );
        assert_eq!(values(&manifest), [json!({"b": 1})], "{text:.60}");
        assert_eq!(manifest.objects[0].document, 1, "{text:.60}");
    }
}

#[test]
fn depth_is_counted_through_aliases() {
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    let text = |inner, outer| {
        let inside = nested(outer).replacen("[]", "[*x]", 1);
        format!("a: &x {}\nb: {inside}\n", nested(inner))
    };
    assert_eq!(errors(&read(&text(100, 27))), Vec::<String>::new());
    assert_eq!(
        errors(&read(&text(100, 28))),
        ["a.yaml:2:32: nested deeper than 128"]
    );
}

#[test]
fn alias_bombs_are_stopped() {
    let mut laughs = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..10 {
        let inside = vec![format!("*a{}", level - 1); 9].join(", ");
        laughs.push_str(&format!("a{level}: &a{level} [{inside}]\n"));
    }
    let long = format!(
        "a: &a {}\nb: [{}]\n",
        "x".repeat(100_000),
        "*a, ".repeat(1000)
    );
    for text in [laughs, long] {
        let manifest = read(&format!("{text}---\nb: 1\n"));
        let [error] = &manifest.errors[..] else {
            panic!("{:?}", manifest.errors)
        };
        assert_eq!(
            error.message,
            "the anchors and aliases up to here expand to too much text"
        );
        assert_eq!(values(&manifest), [json!({"b": 1})]);
    }
}

/// Six lists that hold the one before nine times over are 600,000 nodes in 300 bytes: more than 64 MiB once they are read.
#[test]
fn aliases_take_little_memory() {
    let lists = |count: usize| {
        let mut text = "a0: &a0 [~, ~, ~, ~, ~, ~, ~, ~, ~]\n".to_owned();
        for level in 1..count {
            let inside = vec![format!("*a{}", level - 1); 9].join(", ");
            text.push_str(&format!("a{level}: &a{level} [{inside}]\n"));
        }
        // The last one is half as long, so that it would have been read.
        let inside = vec![format!("*a{}", count - 1); 5].join(", ");
        format!("{text}last: [{inside}]\n")
    };
    assert_eq!(read(&lists(4)).errors, []);
    assert_eq!(read(&lists(5)).errors.len(), 1);
}

#[test]
fn a_field_is_found_where_it_is_written() {
    let text = "\
# head
spec:
  \"a\\x62\": &x
    - name: one
    - image: two
      ports: {http: 1, é: 2, z: 3}
  copy: *x
  merged:
    <<: {deep: {down: 1}}
";
    let manifest = read(text);
    let object = &manifest.objects[0];
    for (pointer, position) in [
        ("", (2, 1)),
        ("/spec", (2, 1)),
        ("/spec/ab", (3, 3)),
        ("/spec/ab/1", (5, 7)),
        ("/spec/ab/1/ports/http", (6, 15)),
        ("/spec/ab/1/ports/z", (6, 30)),
        ("/spec/ab/1/absent/more", (5, 7)),
        ("/spec/ab/7", (3, 3)),
        ("/spec/copy", (7, 3)),
        ("/spec/copy/0/name", (4, 7)),
        ("/spec/merged/deep/down", (9, 17)),
        ("/nothing", (2, 1)),
    ] {
        let found = manifest.position(object, &path(pointer, &object.value));
        assert_eq!(found, position, "{pointer}");
    }
}

#[test]
fn of_what_nobody_wants_only_names_are_kept() {
    let text = "\
apiVersion: v1
kind: ConfigMap
metadata: {name: c, labels: &l {app: a}}
data:
  a: b
  c: |
    text
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: d}
spec: {replicas: 2}
---
apiVersion: v1
spec: {type: late}
kind: ConfigMap
---
apiVersion: v1
kind: ConfigMapList
items: [{metadata: {name: e}, data: {a: b}}]
---
apiVersion: v1
kind: ConfigMap
data: {a: &a {x: 1}, b: *a, c: {<<: *a}}
binaryData: *a
";
    let wanted = |group: &str, kind: &str| (group, kind) == ("apps", "Deployment");
    let manifest = Manifest::sift("a.yaml", text.to_owned(), &wanted);
    assert_eq!(manifest.errors, []);
    let values: Vec<_> = manifest.objects.iter().map(|one| &one.value).collect();
    assert_eq!(
        values,
        [
            &json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "labels": {"app": "a"}}, "data": null}),
            &json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"}, "spec": {"replicas": 2}}),
            &json!({"apiVersion": "v1", "spec": {"type": "late"}, "kind": "ConfigMap"}),
            &json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "e"}, "data": {"a": "b"}}),
            &json!({"apiVersion": "v1", "kind": "ConfigMap", "data": null, "binaryData": {"x": 1}}),
        ]
    );
}

#[test]
fn what_nobody_wants_has_its_errors_all_the_same() {
    for (body, message) in [
        (
            "a: {b: 1, b: 2}",
            "duplicate key \"b\", first on the same line",
        ),
        (
            "a: {0x1: 1, 1: 2}",
            "duplicate key \"1\", first on the same line",
        ),
        ("a: [.inf]", "JSON has no number .inf"),
        ("a: {b: !!int x}", "the value cannot be read as !!int"),
        ("a: *b", "alias *b has no anchor"),
        (
            "a: {<<: [1]}",
            "the value of << must be a map or a list of maps",
        ),
        (
            "a: {~: 1}",
            "the key of a map must be a scalar, and not null",
        ),
        ("a: {[1]: 1}", "the key of a map must be a scalar"),
    ] {
        let text = format!("apiVersion: v1\nkind: ConfigMap\ndata:\n  {body}\n");
        let manifest = Manifest::sift("a.yaml", text.clone(), &|_, _| false);
        let messages: Vec<_> = manifest
            .errors
            .iter()
            .map(|error| error.message.as_str())
            .collect();
        assert_eq!(messages, [message], "{text}");
        assert_eq!(manifest.errors, Manifest::read("a.yaml", &text).errors);
    }
}

#[test]
fn a_key_that_stands_twice_is_found_in_maps_of_any_size() {
    for members in [1, 15, 16, 17, 40] {
        for twice in [0, members - 1] {
            let lines: Vec<String> = (0..members).map(|key| format!("k{key}: {key}")).collect();
            let text = format!("a:\n  {}\n  k{twice}: x\n", lines.join("\n  "));
            let above = match members - twice {
                1 => "1 line above".to_owned(),
                lines => format!("{lines} lines above"),
            };
            let column = 3;
            let line = members + 2;
            assert_eq!(
                errors(&read(&text)),
                [format!(
                    "a.yaml:{line}:{column}: duplicate key \"k{twice}\", first {above}"
                )]
            );
            let values = values(&read(&text.replace(&format!("  k{twice}: x\n"), "")));
            assert_eq!(
                values[0]["a"].as_object().map(serde_json::Map::len),
                Some(members)
            );
        }
    }
}
