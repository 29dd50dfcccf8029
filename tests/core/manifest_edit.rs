//! Edits in place, shape by shape.

use json_patch::Patch;
use serde_json::{Value, json};
use warmgate::manifest::{EditError, Manifest};

/// One edit: what it shows, the text, the patches by object, the text after.
type Row = (&'static str, &'static str, Value, &'static str);

fn patch(steps: &Value) -> Patch {
    serde_json::from_value(steps.clone()).expect("the row holds a patch")
}

fn add(path: &str, value: Value) -> Value {
    json!({"op": "add", "path": path, "value": value})
}

fn remove(path: &str) -> Value {
    json!({"op": "remove", "path": path})
}

/// Makes the edits on the first object, or on each object named where the row holds a map.
fn edit(text: &str, steps: &Value) -> Result<String, EditError> {
    let patches: Vec<(usize, Patch)> = match steps {
        Value::Object(each) => each
            .iter()
            .map(|(index, steps)| {
                (
                    index.parse().expect("the row names an object"),
                    patch(steps),
                )
            })
            .collect(),
        steps => vec![(0, patch(steps))],
    };
    let patches: Vec<_> = patches
        .iter()
        .map(|(index, patch)| (*index, patch))
        .collect();
    Manifest::read("a.yaml", text).edit(&patches)
}

fn check(rows: &[Row]) {
    for (name, before, steps, after) in rows {
        let edited = edit(before, steps).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(&edited, after, "{name}");
        // What a patch took away it cannot take away again.
        if !steps.to_string().contains("remove") {
            let again = edit(&edited, steps).expect("what was edited can be edited");
            assert_eq!(&again, after, "{name}, once more");
        }
        let crlf = before.replace('\n', "\r\n");
        let edited = edit(&crlf, steps).unwrap_or_else(|error| panic!("{name}, CRLF: {error}"));
        assert_eq!(edited, after.replace('\n', "\r\n"), "{name}, CRLF");
    }
}

#[test]
fn scalars_are_replaced_where_they_stand() {
    check(&[
        (
            "a number keeps its comment",
            "a:\n  i: 1   # one\n  m: 2\n",
            json!([add("/a/i", json!(5))]),
            "a:\n  i: 5   # one\n  m: 2\n",
        ),
        (
            "quotes stay, and are single ones again",
            "a: \"x\"\nb: 'j' # c\nc: z\n",
            json!([
                add("/a", json!("it's \"x\"")),
                add("/b", json!("it's")),
                add("/c", json!("w"))
            ]),
            "a: \"it's \\\"x\\\"\"\nb: 'it''s' # c\nc: w\n",
        ),
        (
            "a quoted number becomes a number",
            "a: \"30\"\n",
            json!([add("/a", json!(75))]),
            "a: 75\n",
        ),
        (
            "a string that would be read as something else is quoted",
            "a: x\nb: x\nc: x\nd: x\n",
            json!([
                add("/a", json!("yes")),
                add("/b", json!("0755")),
                add("/c", json!("1:30")),
                add("/d", json!("a: b"))
            ]),
            "a: \"yes\"\nb: \"0755\"\nc: \"1:30\"\nd: \"a: b\"\n",
        ),
        (
            "a block scalar",
            "a: |-  # why\n  text\n   more\n\nb: 1\n",
            json!([add("/a", json!("short"))]),
            "a: short  # why\n\nb: 1\n",
        ),
        (
            "a scalar of several lines",
            "a: one\n  two\n\n  three # c\nb: \"x\n  j\"\n",
            json!([add("/a", json!(1)), add("/b", json!("z"))]),
            "a: 1 # c\nb: \"z\"\n",
        ),
        (
            "between brackets",
            "a: {i: 1, m: [1, x]} # c\n",
            json!([add("/a/i", json!("a,b")), add("/a/m", json!([1, "j"]))]),
            "a: {i: \"a,b\", m: [1, j]} # c\n",
        ),
        (
            "an explicit key",
            "? a\n: 1 # c\n? b\n: 2\n",
            json!([add("/a", json!(3)), add("/c", json!(4))]),
            "? a\n: 3 # c\n? b\n: 2\nc: 4\n",
        ),
        (
            "a tag that does not fit the new value goes, an anchor stays",
            "a: &x !!str 5 # c\nb: !!map\n  c: 1\nd: !!int \"5\"\n",
            json!([
                add("/a", json!(6)),
                add("/b", json!("t")),
                add("/d", json!("e"))
            ]),
            "a: &x 6 # c\nb: t\nd: \"e\"\n",
        ),
    ]);
}

#[test]
fn members_are_added_to_block_maps() {
    check(&[
        (
            "behind the last content, before comments of what follows",
            "a:\n  i: 1 # one\n\n# about b\nb: 2\n",
            json!([add("/a/m", json!(2))]),
            "a:\n  i: 1 # one\n  m: 2\n\n# about b\nb: 2\n",
        ),
        (
            "to maps that end on the same line, each at its own indent",
            "a:\n    b:\n        c: 1\n",
            json!([
                add("/d", json!(4)),
                add("/a/b/c2", json!(2)),
                add("/a/c", json!({"x": {"j": 1}}))
            ]),
            "a:\n    b:\n        c: 1\n        c2: 2\n    c:\n        x:\n            j: 1\nd: 4\n",
        ),
        (
            "without a line break at the end",
            "a:\n  i: 1",
            json!([add("/a/m", json!([])), add("/b", json!({}))]),
            "a:\n  i: 1\n  m: []\nb: {}",
        ),
        (
            "in a list whose dashes stand below the key's column",
            "l:\n- name: x\n  image: i\n# second\n- name: j\n",
            json!([
                add("/l/0/p", json!({"q": [1, {"r": 2, "s": 3}]})),
                add("/l/1/p", json!(true))
            ]),
            "l:\n- name: x\n  image: i\n  p:\n    q:\n    - 1\n    - r: 2\n      s: 3\n# second\n- name: j\n  p: true\n",
        ),
        (
            "in a list with wide dashes",
            "l:\n  -   name: x\n  -   name: j\n",
            json!([add("/l/0/p", json!({"q": ["a"]}))]),
            "l:\n  -   name: x\n      p:\n        q:\n          - a\n  -   name: j\n",
        ),
        (
            "under a value that is empty, with its comment",
            "a:\n  r:  # none yet\n  s: ~ # null\n  t: null\n",
            json!([
                add("/a/r", json!({"x": 1})),
                add("/a/s", json!({"j": 2})),
                add("/a/t", json!({"z": [3]}))
            ]),
            "a:\n  r:  # none yet\n    x: 1\n  s: # null\n    j: 2\n  t:\n    z:\n      - 3\n",
        ),
        (
            "under an anchor",
            "a: &x\n  i: 1\nb: &j # c\nc: &z\n",
            json!([
                add("/a/m", json!(2)),
                add("/b", json!({"i": 1})),
                add("/c", json!(3))
            ]),
            "a: &x\n  i: 1\n  m: 2\nb: &j # c\n  i: 1\nc: &z 3\n",
        ),
        (
            "behind a block scalar",
            "a:\n  s: |\n    text\n\n# b\nb:\n  s: >+\n    text\n\n\nc: 1\n",
            json!([add("/a/i", json!(1)), add("/b/i", json!(1))]),
            "a:\n  s: |\n    text\n  i: 1\n\n# b\nb:\n  s: >+\n    text\n\n\n  i: 1\nc: 1\n",
        ),
        (
            "before a block scalar that ends the text without a line break",
            "a:\n- s: |\n    text",
            json!([add("/a/0/i", json!({"m": 1})), add("/b", json!(2))]),
            "b: 2\na:\n- i:\n    m: 1\n  s: |\n    text",
        ),
        (
            "parents made by the same patch",
            "metadata:\n  name: x\nspec: {}\n",
            json!([
                add("/metadata/annotations", json!({})),
                add("/metadata/annotations/warmgate.io~1a", json!("900")),
                add("/metadata/annotations/b", json!("c"))
            ]),
            "metadata:\n  name: x\n  annotations:\n    warmgate.io/a: \"900\"\n    b: c\nspec: {}\n",
        ),
        (
            "a handler is readable",
            "c:\n- livenessProbe:\n    httpGet: {path: /, port: 1}\n",
            json!([add(
                "/c/0/startupProbe",
                json!({
                    "httpGet": {"path": "/health?a=b", "port": "http", "httpHeaders": [{"name": "A", "value": "b: c"}]},
                    "exec": {"command": ["sh", "-c", "a && b\nc", "--flag", "-"]},
                    "failureThreshold": 114
                })
            )]),
            "c:\n- livenessProbe:\n    httpGet: {path: /, port: 1}\n  startupProbe:\n    httpGet:\n      path: /health?a=b\n      port: http\n      httpHeaders:\n      - name: A\n        value: \"b: c\"\n    exec:\n      command:\n      - sh\n      - -c\n      - \"a && b\\nc\"\n      - --flag\n      - \"-\"\n    failureThreshold: 114\n",
        ),
        (
            "in place of an element that is empty",
            "l:\n- # c\n-\n- x\n",
            json!([add("/l", json!([{"a": 1, "b": 2}, {"a": 1, "b": 2}, 5]))]),
            "l:\n- a: 1 # c\n  b: 2\n- a: 1\n  b: 2\n- 5\n",
        ),
        (
            "a list that changes its length",
            "a:\n  l: # c\n  - 1\n  - 2\nb: 1\n",
            json!([add("/a/l", json!([1, 2, {"c": 3}]))]),
            "a:\n  l: # c\n  - 1\n  - 2\n  - c: 3\nb: 1\n",
        ),
        (
            "a map in place of a scalar, a scalar in place of a map",
            "a: 1 # c\nb: # d\n  x: 1\n  j: 2\nc: 3\n",
            json!([add("/a", json!({"x": 1})), add("/b", json!(5))]),
            "a: # c\n  x: 1\nb: 5 # d\nc: 3\n",
        ),
    ]);
}

#[test]
fn members_are_taken_out_of_maps() {
    check(&[
        (
            "with their lines",
            "a:\n  x: 1\n  j: # c\n    z: 1\n  # keep\n  w: 2\n",
            json!([remove("/a/j")]),
            "a:\n  x: 1\n  # keep\n  w: 2\n",
        ),
        (
            "the first behind a dash",
            "l:\n- a: 1\n  b: 2\n  c: 3\n- a: 1\n  b: 2\n",
            json!([remove("/l/0/a"), remove("/l/0/b"), remove("/l/1/b")]),
            "l:\n- c: 3\n- a: 1\n",
        ),
        (
            "all of them",
            "a: # c\n  x: 1\nb: {x: 1}\nc: 1\n",
            json!([remove("/a/x"), remove("/b/x")]),
            "a: {} # c\nb: {}\nc: 1\n",
        ),
        (
            "the last, while others come",
            "a:\n  x: 1\n  j: 2",
            json!([remove("/a/j"), add("/a/z", json!(3))]),
            "a:\n  x: 1\n  z: 3",
        ),
        (
            "between brackets",
            "a: {x: 1, j: 2, z: 3}\nb: {x: 1, j: 2}\nc: {x: 1, j: 2}\n",
            json!([
                remove("/a/j"),
                remove("/b/x"),
                remove("/c/j"),
                add("/c/z", json!(1))
            ]),
            "a: {x: 1, z: 3}\nb: {j: 2}\nc: {x: 1, z: 1}\n",
        ),
    ]);
}

#[test]
fn members_are_added_between_brackets() {
    check(&[
        (
            "on one line",
            "a: {i: 1}\nb: {}\nc: { x: 1 } # c\nd: {x: 1,}\ne: [p: 1]\nf: {g, h: }\n",
            json!([
                add("/a/m", json!({"x": [1, "b,c"]})),
                add("/b/k", json!("v")),
                add("/c/j", json!(2)),
                add("/d/j", json!(2)),
                add("/e/0/q", json!(2)),
                add("/f/g", json!({"x": 1})),
                add("/f/h", json!(2)),
                add("/f/i", json!(3))
            ]),
            "a: {i: 1, m: {x: [1, \"b,c\"]}}\nb: {k: v}\nc: { x: 1, j: 2 } # c\nd: {x: 1, j: 2,}\ne: [{p: 1, q: 2}]\nf: {g: {x: 1}, h: 2, i: 3 }\n",
        ),
        (
            "on several lines",
            "a: {\n    i: 1, # one\n    m: 2 # two\n  }\nb: {\n  x: 1,\n  j: 2, # c\n}\nc: {x: 1,\n    j: 2}\nd: {x: 1,\n    j: 2, z: 3}\n",
            json!([
                add("/a/k", json!({"x": 1})),
                add("/b/z", json!(3)),
                add("/c/z", json!(3)),
                add("/d/w", json!(4))
            ]),
            "a: {\n    i: 1, # one\n    m: 2, # two\n    k: {x: 1}\n  }\nb: {\n  x: 1,\n  j: 2, # c\n  z: 3,\n}\nc: {x: 1,\n    j: 2,\n    z: 3}\nd: {x: 1,\n    j: 2, z: 3, w: 4}\n",
        ),
        (
            "compact JSON",
            "{\"a\":{\"i\":1,\"l\":[{\"x\":\"j\"}]},\"b\":{}}",
            json!([
                add("/a/m", json!({"x": "j", "z": [1, 2]})),
                add("/a/l/0/z", json!("w")),
                add("/a/i", json!("t")),
                add("/b/k", json!(null))
            ]),
            "{\"a\":{\"i\":\"t\",\"l\":[{\"x\":\"j\",\"z\":\"w\"}],\"m\":{\"x\":\"j\",\"z\":[1,2]}},\"b\":{\"k\":null}}",
        ),
        (
            "JSON on several lines",
            "{\n  \"a\": {\n    \"i\": 1\n  },\n  \"b\": {},\n  \"l\": [\n    {\n      \"x\": 1\n    }\n  ]\n}\n",
            json!([
                add("/a/m", json!({"x": "j", "z": [1, {"w": 2}]})),
                add("/b/k", json!({"v": {}})),
                add("/l/0/j", json!(2))
            ]),
            "{\n  \"a\": {\n    \"i\": 1,\n    \"m\": {\n      \"x\": \"j\",\n      \"z\": [\n        1,\n        {\n          \"w\": 2\n        }\n      ]\n    }\n  },\n  \"b\": {\n    \"k\": {\n      \"v\": {}\n    }\n  },\n  \"l\": [\n    {\n      \"x\": 1,\n      \"j\": 2\n    }\n  ]\n}\n",
        ),
        (
            "JSON indented by tabs",
            "{\n\t\"a\": {\n\t\t\"i\": 1\n\t}\n}\n",
            json!([add("/a/m", json!({"x": 1}))]),
            "{\n\t\"a\": {\n\t\t\"i\": 1,\n\t\t\"m\": {\n\t\t\t\"x\": 1\n\t\t}\n\t}\n}\n",
        ),
    ]);
}

#[test]
fn aliases_and_merges_get_copies() {
    check(&[
        (
            "at the alias",
            "a: &x # c\n  i: 1 # one\n  m: [1]\nb: *x # d\nc: *x\n",
            json!([add("/b/i", json!(2))]),
            "a: &x # c\n  i: 1 # one\n  m: [1]\nb: # d\n  i: 2\n  m:\n    - 1\nc: *x\n",
        ),
        (
            "at the alias, when the anchor's own node changes",
            "a: &x\n  i: 1 # one\nb: *x\nc:\n- *x # d\n- j: *x\n",
            json!([add("/a/i", json!(2))]),
            "a: &x\n  i: 2 # one\nb:\n  i: 1\nc:\n- i: 1 # d\n- j:\n    i: 1\n",
        ),
        (
            "none, when all change alike",
            "a: &x\n  i: 1\nb: *x\n",
            json!([add("/a/i", json!(2)), add("/b/i", json!(2))]),
            "a: &x\n  i: 2\nb: *x\n",
        ),
        (
            "of a block scalar",
            "c: # c\n  a: &x |+\n   one\n\n\n  b: *x\nd: 1\n",
            json!([add("/c/a", json!({}))]),
            "c: # c\n  a: &x {}\n  b: \"one\\n\\n\\n\"\nd: 1\n",
        ),
        (
            "when what holds the anchor goes",
            "a: &x\n  i: &j 1\nb: *j\nc: [*j, *x]\n",
            json!([add("/a", json!(2))]),
            "a: &x 2\nb: 1\nc: [1, {i: 1}]\n",
        ),
        (
            "at a merge",
            "a: &x {i: 1, m: {k: 1}}\nb:\n  <<: *x\n  o: 1\n",
            json!([add("/b/m/l", json!(2)), add("/b/i", json!(3))]),
            "a: &x {i: 1, m: {k: 1}}\nb:\n  <<: *x\n  o: 1\n  i: 3\n  m:\n    k: 1\n    l: 2\n",
        ),
        (
            "at a merge, when the merged map changes",
            "a: &x\n  i: 1\nb:\n  <<: *x\n",
            json!([add("/a/i", json!(2))]),
            "a: &x\n  i: 2\nb:\n  <<: *x\n  i: 1\n",
        ),
        (
            "instead of a merge, when the merged map grows",
            "a: &x\n  i: 1\nb:\n  o: 1\n  <<: [*x, {p: 1}] # c\n  q: 1\nc: {<<: *x, p: 1}\n",
            json!([add("/a/m", json!(2))]),
            "a: &x\n  i: 1\n  m: 2\nb:\n  o: 1\n  i: 1 # c\n  p: 1\n  q: 1\nc: {i: 1, p: 1}\n",
        ),
        (
            "of a template that two objects of a List share",
            "kind: List\nitems:\n- kind: A\n  spec: &s\n    replicas: 1 # c\n- kind: B\n  spec: *s\n",
            json!({"1": [add("/spec/replicas", json!(2))]}),
            "kind: List\nitems:\n- kind: A\n  spec: &s\n    replicas: 1 # c\n- kind: B\n  spec:\n    replicas: 2\n",
        ),
    ]);
}

#[test]
fn every_document_and_item_can_be_edited() {
    check(&[(
        "all at once",
        "# head\n---\nkind: A # a\n---\n---\nkind: List\nitems:\n  - kind: B\n    x: {j: 1}\n  - kind: List\n    items:\n      - kind: C\n...\n# between\n---\n{\"kind\": \"D\"}\n",
        json!({
            "0": [add("/m", json!(0))],
            "1": [add("/x/z", json!(1))],
            "2": [add("/m", json!(2))],
            "3": [add("/m", json!(3))]
        }),
        "# head\n---\nkind: A # a\nm: 0\n---\n---\nkind: List\nitems:\n  - kind: B\n    x: {j: 1, z: 1}\n  - kind: List\n    items:\n      - kind: C\n        m: 2\n...\n# between\n---\n{\"kind\": \"D\", \"m\": 3}\n",
    )]);
    let text = "apiVersion: apps/v1\nkind: DeploymentList\nitems:\n- metadata:\n    name: x\n";
    let edited = edit(text, &json!([add("/metadata/a", json!(1))])).unwrap();
    assert_eq!(edited, format!("{text}    a: 1\n"));
}

#[test]
fn a_text_with_a_byte_order_mark_or_broken_documents_is_edited_too() {
    let text = "\u{feff}a: 1\n---\nb: [\n---\nc: 1\n";
    let edited = edit(
        text,
        &json!({"0": [add("/x", json!({"j": 1}))], "1": [add("/c", json!(2))]}),
    );
    assert_eq!(
        edited.unwrap(),
        "\u{feff}a: 1\nx:\n  j: 1\n---\nb: [\n---\nc: 2\n"
    );
}

#[test]
fn a_patch_that_changes_nothing_changes_no_byte() {
    let text = "a:   1   \n\n\nb: {x : 'j',}\r\nc: &d [ 1 ]\ne: *d";
    let steps = json!([add("/a", json!(1)), add("/z", json!(1)), remove("/z")]);
    assert_eq!(edit(text, &steps).unwrap(), text);
    assert_eq!(edit(text, &json!([])).unwrap(), text);
}

#[test]
fn what_does_not_apply_is_refused() {
    let refused = edit("a: 1\n", &json!([add("/b/c", json!(1))]));
    assert!(matches!(refused, Err(EditError::Patch { index: 0, .. })));
    let refused = edit("a: 1\n", &json!({"3": []}));
    assert!(matches!(refused, Err(EditError::NoObject(3))));
}
