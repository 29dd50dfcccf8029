//! The rules: every page's examples, the form of pages and messages, the index.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use warmgate::rules::{self, RULES, Rule};
use warmgate::words::{Finding, MESSAGE_LIMIT, Severity};

use super::rules_page::{Block, blocks, findings_of_file, is_known};

/// The sections of a page, in this order.
const SECTIONS: [&str; 6] = [
    "## What it sees",
    "## Why it hurts",
    "## Fails",
    "## Passes",
    "## Cure",
    "## When to allow it",
];

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn pages() -> impl Iterator<Item = (&'static Rule, Vec<Block>)> {
    RULES.iter().map(|rule| (*rule, blocks(rule.id, rule.page)))
}

fn yields(rule: &Rule, findings: &[Finding]) -> bool {
    findings.iter().any(|finding| finding.rule == rule.id)
}

fn lines(findings: &[Finding]) -> Vec<String> {
    let line = |finding: &Finding| format!("{} {}", finding.severity.word(), finding.line());
    findings.iter().map(line).collect()
}

#[test]
fn ids_are_kebab_case_and_stand_once() {
    let ids: BTreeSet<&str> = rules::ids().iter().copied().collect();
    assert_eq!(ids.len(), RULES.len());
    for rule in RULES {
        let id = rule.id;
        let plain = id.bytes().all(|b| b.is_ascii_lowercase() || b == b'-');
        assert!(plain && !id.contains("--"), "{id}");
        assert!(std::ptr::eq(*rule, rules::find(id).unwrap()), "{id}");
        assert!(is_phrase(rule.summary), "{id}: {}", rule.summary);
    }
    assert!(RULES.is_sorted_by_key(|rule| rule.severity));
    assert_eq!(RULES[0].severity, Severity::Deny);
}

#[test]
fn every_rule_has_its_page_and_every_page_its_rule() {
    let files = std::fs::read_dir(folder("docs/rules")).unwrap();
    let names: BTreeSet<String> = files
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect();
    let expected: BTreeSet<String> = rules::ids()
        .iter()
        .map(|id| format!("{id}.md"))
        .chain(["README.md".to_owned()])
        .collect();
    assert_eq!(names, expected);
    for rule in RULES {
        let path = format!("docs/rules/{}.md", rule.id);
        let page = std::fs::read_to_string(folder(&path)).unwrap();
        assert_eq!(page, rule.page, "{} shows another page", rule.id);
    }
}

#[test]
fn pages_have_one_form() {
    for rule in RULES {
        let id = rule.id;
        let head = format!("# {id}\n\nSeverity: {}\n\n", rule.severity.word());
        assert!(rule.page.starts_with(&head), "{id}: begins with {head:?}");
        let sections = rule.page.lines().filter(|line| line.starts_with("## "));
        assert_eq!(sections.collect::<Vec<_>>(), SECTIONS, "{id}");
        assert!(rule.page.ends_with('\n'), "{id}");
    }
}

#[test]
fn the_failing_examples_yield_the_rule_and_no_other_deny() {
    for (rule, blocks) in pages() {
        let failing: Vec<&Block> = blocks.iter().filter(|block| block.fails).collect();
        assert!(!failing.is_empty(), "{} shows no failing example", rule.id);
        let mut severities = BTreeSet::new();
        for block in failing {
            let findings = block.findings();
            let said = lines(&findings);
            assert!(yields(rule, &findings), "{}: {said:#?}", block.place);
            let (ours, others): (Vec<_>, Vec<_>) =
                findings.into_iter().partition(|one| one.rule == rule.id);
            let denied = others.iter().any(|one| one.severity == Severity::Deny);
            assert!(!denied, "{}: {said:#?}", block.place);
            assert!(block.decisions().iter().all(is_known), "{}", block.place);
            severities.extend(ours.into_iter().map(|finding| finding.severity));
        }
        let id = rule.id;
        assert!(severities.contains(&rule.severity), "{id}: {severities:?}");
    }
}

#[test]
fn the_passing_examples_do_not_yield_the_rule_and_no_deny() {
    for (rule, blocks) in pages() {
        let passing: Vec<&Block> = blocks.iter().filter(|block| !block.fails).collect();
        assert!(!passing.is_empty(), "{} shows no passing example", rule.id);
        for block in passing {
            let findings = block.findings();
            let said = lines(&findings);
            assert!(!yields(rule, &findings), "{}: {said:#?}", block.place);
            let denied = findings.iter().any(|one| one.severity == Severity::Deny);
            assert!(!denied, "{}: {said:#?}", block.place);
            assert!(block.decisions().iter().all(is_known), "{}", block.place);
        }
    }
}

#[test]
fn every_rule_can_be_silenced() {
    for (rule, blocks) in pages() {
        for block in blocks.iter().filter(|block| block.fails) {
            let key = format!("allow.warmgate.io/{}", rule.id);
            let findings = block.findings_with(&key, "the test wants it silent");
            let said = lines(&findings);
            assert!(!yields(rule, &findings), "{}: {said:#?}", block.place);
        }
    }
}

/// What a message and a summary have in common: one line, lower case, no full stop.
fn is_phrase(text: &str) -> bool {
    let first = text.chars().next();
    first.is_some_and(|first| !first.is_uppercase() && !first.is_whitespace())
        && !text.ends_with(['.', ' '])
        && !text.contains(char::is_control)
        && !text.contains("  ")
}

fn assert_form(place: &str, findings: &[Finding]) {
    for finding in findings {
        let line = finding.line();
        assert!(is_phrase(&finding.message), "{place}: {line}");
        assert!(line.ends_with(&format!(" [{}]", finding.rule)), "{line}");
        let whole = format!("{} [{}]", finding.message, finding.rule);
        assert!(whole.chars().count() <= MESSAGE_LIMIT, "{place}: {whole}");
        assert!(rules::find(finding.rule).is_some(), "{place}: {line}");
    }
}

#[test]
fn messages_have_one_form_in_every_example() {
    for (_, blocks) in pages() {
        for block in blocks {
            assert_form(&block.place, &block.findings());
        }
    }
}

/// The cases, or none where the folder is not there.
fn cases() -> Vec<PathBuf> {
    let Ok(files) = std::fs::read_dir(folder("tests/cases")) else {
        return Vec::new();
    };
    let is_case = |path: &PathBuf| {
        let name = path.to_string_lossy();
        name.ends_with(".yaml") && !name.ends_with(".expect.yaml")
    };
    let paths = files.map(|file| file.expect("a file of a folder").path());
    paths.filter(is_case).collect()
}

#[test]
fn messages_have_one_form_in_every_case() {
    for path in cases() {
        let place = path.display().to_string();
        let text = std::fs::read_to_string(&path).unwrap();
        assert_form(&place, &findings_of_file(&place, &text));
    }
}

#[test]
fn the_index_is_made_from_the_rules() {
    let path = folder("docs/rules/README.md");
    let index = rules::index();
    if std::env::var_os("WARMGATE_BLESS").is_some_and(|value| value == "1") {
        std::fs::write(&path, &index).expect("docs/rules/README.md can be written");
    }
    let page = std::fs::read_to_string(&path).expect("docs/rules/README.md can be read");
    assert_eq!(
        page, index,
        "docs/rules/README.md is old: WARMGATE_BLESS=1 writes it anew"
    );
}
