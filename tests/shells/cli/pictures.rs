//! The pictures of `warmgate explain`: those that are stored are what is drawn, and what is drawn is well made.

use std::path::Path;
use std::sync::LazyLock;

use roxmltree::{Document, Node};

use super::{CONFIG_MAP, Folder, Ran, denied, example, hold_page, run, run_with};

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

/// What `explain` prints and draws.
struct Drawn {
    ran: Ran,
    svg: String,
}

/// Explains a text with these arguments.
fn drawn(args: &[&str], text: &str) -> Drawn {
    let folder = Folder::with(&[]);
    let file = folder.text("picture.svg");
    let args = [&["explain", "--svg", file.as_str()][..], args, &["-"]].concat();
    let ran = run_with(&args, text);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let svg = folder.read("picture.svg");
    Drawn { ran, svg }
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
    let slowboot = example("slowboot.yaml");
    let group = case("21-leader-and-bare-worker.yaml");
    for (name, args, text) in [
        ("slowboot", &["--load", "60"][..], slowboot.as_str()),
        ("group", &[][..], group.as_str()),
        ("long", &[][..], LONG),
    ] {
        let drawn = drawn(args, text);
        hold_page(&format!("tests/pictures/{name}.svg"), &drawn.svg);
        hold_page(
            &format!("tests/pictures/{name}.txt"),
            &in_words(&drawn.ran.out),
        );
    }
}

#[test]
fn the_readme_shows_what_is_drawn() {
    let drawn = drawn(&[], &example("vllm-crash-loop.yaml"));
    let (picture, command) = (
        "docs/pictures/vllm-crash-loop.svg",
        "warmgate explain --svg docs/pictures/vllm-crash-loop.svg examples/vllm-crash-loop.yaml",
    );
    hold_page(picture, &drawn.svg);
    hold_page(
        "tests/pictures/vllm-crash-loop.txt",
        &in_words(&drawn.ran.out),
    );
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let readme = std::fs::read_to_string(readme).expect("README.md can be read");
    assert!(readme.contains(&format!("]({picture})")));
    assert!(readme.contains(command));
}

/// A whole number of pixels, or half a one.
fn number(node: Node<'_, '_>, attribute: &str) -> f64 {
    let text = node.attribute(attribute).expect("it has this attribute");
    text.parse().expect("it is a number")
}

/// How many pixels wide a text is taken to be.
fn room(class: &str, text: &str) -> f64 {
    let character = if class == "title" { 9.4 } else { 6.0 };
    text.chars().count() as f64 * character
}

/// Every object of the cases on one sheet, and one with the longest names.
static EVERYTHING: LazyLock<Drawn> = LazyLock::new(|| {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let entries = std::fs::read_dir(folder).expect("the cases can be listed");
    let mut names: Vec<String> = entries
        .map(|entry| entry.expect("a case can be listed").file_name())
        .map(|name| name.to_string_lossy().into_owned())
        .filter(|name| name.ends_with(".yaml") && !name.ends_with(".expect.yaml"))
        .collect();
    names.sort();
    let mut cases: Vec<String> = names.iter().map(|name| case(name)).collect();
    let container = format!("name: {}", "e".repeat(63));
    cases.push(denied(&"n".repeat(253)).replace("name: engine", &container));
    drawn(&[], &cases.join("\n---\n"))
});

#[test]
fn every_picture_is_sound() {
    let document = Document::parse(&EVERYTHING.svg).expect("it is XML");
    let root = document.root_element();
    let (width, height) = (number(root, "width"), number(root, "height"));
    assert_eq!(root.attribute("role"), Some("img"));
    let text_of = |name: &str| {
        let node = root.children().find(|node| node.has_tag_name(name));
        node.and_then(|node| node.text()).unwrap_or_default()
    };
    assert!(text_of("title").contains("Deployment"));
    assert!(text_of("desc").contains("before the fix: "));
    assert!(text_of("style").contains("@media (prefers-color-scheme: dark)"));
    let mut texts = 0;
    for node in root.descendants().filter(Node::is_element) {
        match node.tag_name().name() {
            "text" => {
                let (x, y) = (number(node, "x"), number(node, "y"));
                let text = node.text().unwrap_or_default();
                let class = node.attribute("class").unwrap_or_default();
                let room = room(class, text);
                let middle = class.contains("middle");
                let begin = if middle { x - room / 2.0 } else { x };
                assert!(begin >= 0.0 && begin + room <= width, "{text}");
                assert!((10.0..height).contains(&y), "{text}");
                texts += 1;
            }
            "rect" => {
                assert!(number(node, "x") + number(node, "width") <= width);
                assert!(number(node, "y") + number(node, "height") <= height);
            }
            "desc" | "path" | "style" | "svg" | "title" => {}
            other => panic!("{other} is drawn"),
        }
        let attributes: Vec<&str> = node.attributes().map(|one| one.name()).collect();
        assert!(!attributes.iter().any(|name| name.contains("href")));
    }
    assert!(texts > 500, "{texts}");
}

#[test]
fn every_class_has_its_colour_in_light_and_dark() {
    let document = Document::parse(&EVERYTHING.svg).expect("it is XML");
    let style = document
        .descendants()
        .find(|node| node.has_tag_name("style"));
    let style = style
        .and_then(|style| style.text())
        .expect("there is a style");
    let (light, dark) = style.split_once("@media").expect("there are two");
    let mut classes: Vec<&str> = document
        .descendants()
        .filter_map(|node| node.attribute("class"))
        .flat_map(str::split_whitespace)
        .collect();
    classes.sort_unstable();
    classes.dedup();
    assert!(classes.contains(&"killed") && classes.contains(&"waits"));
    for class in classes {
        let names = |style: &str| {
            style.contains(&format!(".{class} ")) || style.contains(&format!(".{class},"))
        };
        let sized = ["heading", "middle", "name", "small", "title"].contains(&class);
        assert!(names(light), "{class}");
        assert_eq!(names(dark), !sized, "{class}");
    }
}

#[test]
fn thousands_of_probes_are_a_row_of_ticks() {
    let drawn = drawn(&[], LONG);
    let document = Document::parse(&drawn.svg).expect("it is XML");
    let paths = document
        .descendants()
        .filter(|node| node.has_tag_name("path"));
    let longest = paths
        .filter_map(|path| path.attribute("d"))
        .map(str::len)
        .max();
    // So many ticks as the row has columns, not as many as there are probes.
    assert!(
        longest.is_some_and(|longest| longest < 256 * 10),
        "{longest:?}"
    );
    assert!(
        drawn.svg.contains("startupProbe fails 3600 times"),
        "{}",
        drawn.svg
    );
    let words = in_words(&drawn.ran.out);
    assert!(words.contains('×') && words.contains('✓'), "{words}");
}

#[test]
fn names_are_no_markup() {
    let text = example("slowboot.yaml").replace("name: slowboot", "name: '<b>&\"'");
    let drawn = drawn(&[], &text);
    let document = Document::parse(&drawn.svg).expect("it is XML");
    let mut texts = document.descendants().filter_map(|node| node.text());
    assert!(texts.any(|text| text == "Pod <b>&\""));
}

#[test]
fn several_objects_stand_on_one_sheet() {
    let [first, last] = ["slowboot.yaml", "slowboot-declared.yaml"].map(example);
    let drawn = drawn(&[], &[first.as_str(), CONFIG_MAP, &last].join("---\n"));
    assert_eq!(drawn.svg.matches("class=\"title\"").count(), 2);
    assert_eq!(drawn.ran.out.matches("picture, in one of").count(), 2);
    let (_, second) = drawn
        .ran
        .out
        .split_once("[not-ours]")
        .expect("there is a second");
    assert!(second.contains("before the fix\n") && second.contains("after the fix\n"));
}

#[test]
fn what_a_fix_does_not_change_is_drawn_once() {
    let drawn = drawn(&[], &case("21-leader-and-bare-worker.yaml"));
    let words = in_words(&drawn.ran.out);
    assert_eq!(
        words.matches("before and after the fix\n").count(),
        2,
        "{words}"
    );
    assert!(
        words.contains("leader pods\n") && words.contains("worker pods\n"),
        "{words}"
    );
    assert!(drawn.svg.contains(", leader pods</text>"), "{}", drawn.svg);
}

#[test]
fn where_nothing_is_drawn_no_file_is_written() {
    let folder = Folder::with(&[]);
    let file = folder.text("picture.svg");
    let ran = run_with(&["explain", "--svg", &file, "-"], CONFIG_MAP);
    assert_eq!(ran.code, 2);
    assert!(ran.out.contains("not-checked"), "{}", ran.out);
    assert!(
        ran.err.contains("there is nothing to draw in <stdin>"),
        "{}",
        ran.err
    );
    assert!(folder.names().is_empty());
    let nowhere = folder.text("no/such/folder.svg");
    let ran = run(&["explain", "--svg", &nowhere, "examples/slowboot.yaml"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("cannot write"), "{}", ran.err);
    assert!(ran.out.contains("timeline, in one of"), "{}", ran.out);
}
