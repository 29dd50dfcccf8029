//! `warmgate rules`.

use warmgate::rules::RULES;

use super::run;

#[test]
fn all_rules_are_listed() {
    let ran = run(&["rules"]);
    assert_eq!(ran.code, 0);
    assert_eq!(ran.out.lines().count(), RULES.len());
    for rule in RULES {
        let line = ran
            .out
            .lines()
            .find(|line| line.split_whitespace().next() == Some(rule.id))
            .unwrap_or_else(|| panic!("{} is listed", rule.id));
        assert!(line.contains(rule.severity.word()), "{line}");
        assert!(line.ends_with(rule.summary), "{line}");
    }
}

#[test]
fn each_rule_has_its_page() {
    for rule in RULES {
        let ran = run(&["rules", rule.id]);
        assert_eq!((ran.code, ran.out.as_str()), (0, rule.page));
    }
}

#[test]
fn a_misspelt_rule_is_told_with_the_nearest() {
    let ran = run(&["rules", "liveness-kills-start"]);
    assert_eq!(ran.code, 2);
    assert!(
        ran.err.contains("did you mean liveness-kills-startup?"),
        "{}",
        ran.err
    );
    let ran = run(&["rules", "liveness"]);
    assert!(ran.err.contains("liveness-kills-startup?"), "{}", ran.err);
    let ran = run(&["rules", "x"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("warmgate rules lists them"), "{}", ran.err);
}
