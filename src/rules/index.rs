//! The list of all rules, as the documentation shows it.

use std::fmt::Write as _;

use super::RULES;
use crate::words::Severity;

/// What stands before the tables.
const HEAD: &str = "\
<!-- Made from the list in src/rules/mod.rs; `WARMGATE_BLESS=1 cargo test --test core rules` writes it anew. -->

# Rules

A rule names one bad thing about an object. `warmgate rules ID` prints its page, `allow.warmgate.io/ID` with a reason silences it
on one object. Rules judge an object as it arrives, before any edit.
";

/// The severities in the order of the page, each with what it says.
const SECTIONS: [(Severity, &str, &str); 3] = [
    (
        Severity::Deny,
        "Deny",
        "As it stands, this cannot work in any phase of the kubelet's grid. `check` fails; the webhook refuses in mode `enforce` what no\nedit cures. The same rule warns where the outcome depends on the phase.",
    ),
    (
        Severity::Warn,
        "Warn",
        "This will hurt in some phase, under load, or at the next rollout. kubectl shows it from mode `warn` on.",
    ),
    (
        Severity::Note,
        "Note",
        "Worth knowing. Only `check` and the audit log show it.",
    ),
];

/// The page `docs/rules/README.md`.
pub fn index() -> String {
    let mut page = HEAD.to_owned();
    for (severity, title, meaning) in SECTIONS {
        let mut rules = RULES
            .iter()
            .filter(|rule| rule.severity == severity)
            .peekable();
        if rules.peek().is_none() {
            continue;
        }
        write!(
            page,
            "\n## {title}\n\n{meaning}\n\n| rule | what is wrong |\n| --- | --- |\n"
        )
        .expect("a String takes every write");
        for rule in rules {
            writeln!(page, "| [{0}]({0}.md) | {1} |", rule.id, rule.summary)
                .expect("a String takes every write");
        }
    }
    page
}
