//! Pages that name the tests that show what they say: every test that is named exists, and every claim has its row.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::tokens::{Token, tokens};

const THREATS: &str = "docs/threat-model.md";
const RELIABILITY: &str = "docs/reliability.md";

/// The threats of the "Admission Control Threat Model" of Kubernetes SIG Security.
const COUNT: usize = 18;

/// The targets that the page on reliability answers.
const TARGETS: [&str; 11] = [
    "R2", "R3", "R5", "R6", "R8", "R9", "R10", "R12", "R21", "R31", "R33",
];

fn package() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn text(file: &Path) -> String {
    fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

fn page(name: &str) -> String {
    text(&package().join(name))
}

/// Every Rust file below a folder.
fn sources(folder: &str) -> Vec<PathBuf> {
    let files = walkdir::WalkDir::new(package().join(folder)).into_iter();
    files
        .map(|entry| entry.expect("the folder can be walked").into_path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .collect()
}

/// The functions of a source that are tests: behind an attribute whose path ends in `test`.
fn tests_of(source: &str) -> Vec<String> {
    let tokens = tokens(source);
    let word = |at: usize| tokens.get(at).map_or("", |token: &Token| &token.text);
    let mut found = Vec::new();
    for at in 0..tokens.len() {
        let ends = matches!(word(at + 1), "]" | "(");
        if word(at) != "test" || !ends || !matches!(word(at.wrapping_sub(1)), "[" | ":") {
            continue;
        }
        // Other attributes may stand between.
        let name = (at..tokens.len())
            .take_while(|at| !matches!(word(*at), "{" | "mod" | "struct"))
            .find(|at| word(*at) == "fn");
        found.extend(name.map(|at| word(at + 1).to_owned()));
    }
    found
}

/// The suites of the cluster: the first text of every line that registers one.
fn suites_of(source: &str) -> Vec<String> {
    let list = source.split("Suite::").skip(1);
    list.filter_map(|entry| entry.split('"').nth(1).map(str::to_owned))
        .collect()
}

/// The properties: every line of the list is one.
fn properties_of(source: &str) -> Vec<String> {
    let list = source.split("\nproperties! {\n").nth(1);
    let list = list.and_then(|rest| rest.split("\n}").next());
    let names = list.into_iter().flat_map(str::lines);
    names
        .filter_map(|line| {
            Some(
                line.trim()
                    .strip_suffix(',')?
                    .split("::")
                    .nth(1)?
                    .to_owned(),
            )
        })
        .collect()
}

/// Everything that can be named.
fn names() -> BTreeSet<String> {
    let files = sources("src").into_iter().chain(sources("tests"));
    let mut names: BTreeSet<String> = files.flat_map(|file| tests_of(&text(&file))).collect();
    names.extend(suites_of(&page("tests/cluster/suites/mod.rs")));
    names.extend(properties_of(&page("tests/core/properties/mod.rs")));
    names
}

/// What stands in backquotes in a text and looks like the name of a test: lower case words with `_` between them.
fn named(text: &str) -> impl Iterator<Item = &str> {
    let quoted = text.split('`').skip(1).step_by(2);
    quoted.filter(|word| {
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        word.contains('_') && word.chars().all(plain)
    })
}

/// The names of a page that are no test.
fn unknown<'a>(page: &'a str, known: &BTreeSet<String>) -> Vec<&'a str> {
    named(page)
        // Metrics are named so as well.
        .filter(|name| !name.starts_with("warmgate_") && !name.starts_with("apiserver_"))
        .filter(|name| !known.contains(*name))
        .collect()
}

/// The sections of the page on threats, each from its number on.
fn sections(page: &str) -> Vec<&str> {
    page.split("\n## ")
        .skip(1)
        .filter(|section| section.starts_with(|c: char| c.is_ascii_digit()))
        .collect()
}

/// What is wrong with a section: it has an answer, and names a test or says whose part it is.
fn objections(section: &str) -> Vec<String> {
    let title = section.lines().next().unwrap_or_default();
    let has = |begin: &str| section.lines().any(|line| line.starts_with(begin));
    let mut found = Vec::new();
    for part in ["**Here.** ", "**Answer.** "] {
        if !has(part) {
            found.push(format!("{title}: has no {part}"));
        }
    }
    let shown = section
        .lines()
        .filter(|line| line.starts_with("- `"))
        .count();
    if shown == 0 && !has("**Yours.** ") {
        found.push(format!(
            "{title}: names no test, and does not say whose part it is"
        ));
    }
    found
}

#[test]
fn every_test_that_a_page_names_exists() {
    let known = names();
    assert!(known.len() > 300, "{}", known.len());
    for name in [THREATS, RELIABILITY] {
        let page = page(name);
        assert!(named(&page).count() > 20, "{name} names few tests");
        let unknown = unknown(&page, &known);
        assert!(unknown.is_empty(), "{name} names no test: {unknown:?}");
    }
}

#[test]
fn every_threat_has_its_answer() {
    let page = page(THREATS);
    let sections = sections(&page);
    for (number, section) in (1..).zip(&sections) {
        assert!(section.starts_with(&format!("{number} ")), "{section:.60}");
    }
    assert_eq!(sections.len(), COUNT);
    let objections: Vec<_> = sections.into_iter().flat_map(objections).collect();
    assert!(objections.is_empty(), "{objections:#?}");
}

#[test]
fn every_target_has_its_row() {
    let page = page(RELIABILITY);
    for target in TARGETS {
        let rows = page
            .lines()
            .filter(|line| line.starts_with(&format!("| {target} |")));
        assert!(rows.count() > 0, "{target} has no row");
    }
}

#[test]
fn links_of_the_pages_lead_somewhere() {
    for name in [THREATS, RELIABILITY] {
        let page = page(name);
        let links = page.split("](").skip(1);
        for link in links.filter_map(|rest| rest.split(')').next()) {
            let file = link.split('#').next().unwrap_or_default();
            if !link.starts_with("https://") && !file.is_empty() {
                let path = package().join("docs").join(file);
                assert!(path.exists(), "{name}: {link}");
            }
        }
    }
}

#[test]
fn what_is_missing_is_noticed() {
    let source = "#[test]\nfn one() {}\n#[tokio::test(flavor = \"x\")]\n#[cfg(unix)]\nasync fn two_of_them() {}\n\
                  // #[test] fn three() {}\n#[cfg(test)]\nmod tests { fn four() {} }\nproptest! { #[test] fn five_of(x in 0..9) {} }";
    assert_eq!(tests_of(source), ["one", "two_of_them", "five_of"]);
    let list = "Suite::shared(\"six_of\", six::of),\nSuite::tools(\n    \"seven_of\",\n";
    assert_eq!(suites_of(list), ["six_of", "seven_of"]);
    let list = "macro_rules! properties {}\n\nproperties! {\n    x::eight,\n    y::nine,\n}\n\nfn z() {}\n";
    assert_eq!(properties_of(list), ["eight", "nine"]);
    let known = tests_of(source).into_iter().collect();
    let text = "`two_of_them` and `eight_of` with `a.value`, `warmgate_panics_total` and `one`";
    assert_eq!(unknown(text, &known), ["eight_of"]);
    assert_eq!(sections("a\n## 1 x\n## Notes\n## 2 y"), ["1 x", "2 y"]);
    assert_eq!(objections("1 x\n\n**Here.** a\n").len(), 2);
    let whole = "1 x\n\n**Here.** a\n\n**Answer.** b\n\n- `c_d`\n";
    assert_eq!(objections(whole), Vec::<String>::new());
}
