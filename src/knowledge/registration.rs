//! What the API server is told to ask us about: rules and match conditions of the webhook configurations, as templates of the
//! chart. They are made from the tables that the judgement rests on, so that both always speak of the same objects.

use std::fmt::Write as _;

use super::Knowledge;
use super::conditions::{self, More};
use super::workloads::Workload;

/// What stands before the templates.
const HEAD: &str = "\
{{/* Made from the tables in knowledge/: `WARMGATE_BLESS=1 cargo test --test core registration` writes it anew. */}}
";

/// What the chart's own values add.
const MORE: More<'_> = More {
    resources: "include \"warmgate.moreAccelerators\" . | fromYamlArray",
    other_resources: "include \"warmgate.moreNotAccelerators\" . | fromYamlArray",
    fractions: "include \"warmgate.moreFractions\" . | fromYamlArray",
};

/// The file `templates/_registration.tpl` of the chart.
pub(super) fn registration(knowledge: &Knowledge) -> String {
    let (pods, workloads): (Vec<_>, Vec<_>) =
        knowledge.workloads().iter().partition(|one| one.is_pod());
    let (judged, edited): (Vec<_>, Vec<_>) = workloads.into_iter().partition(|one| one.check_only);
    let templates = [
        template(
            "rules.pods",
            "Pods: nothing that we judge changes once they are made.",
            &[rules(&pods, "[CREATE]")],
        ),
        template(
            "rules.edited",
            "Workloads that are edited and judged.",
            &[rules(&edited, "[CREATE, UPDATE]")],
        ),
        template(
            "rules.judged",
            "Workloads that are judged only.",
            &[rules(&judged, "[CREATE, UPDATE]")],
        ),
        template(
            "conditions",
            "What concerns us.",
            &[
                condition("not-being-deleted", &conditions::not_being_deleted()),
                condition("not-a-mirror", &conditions::not_a_mirror(&pods)),
                condition("ours", &conditions::ours(knowledge, &MORE)),
            ],
        ),
        template(
            "conditions.judged",
            "What is judged only, and owned, was judged at its owner.",
            &[condition(
                "not-judged-at-its-owner",
                &format!(
                    "!({}) ||\n!{}",
                    conditions::of_kinds(&judged),
                    conditions::owned()
                ),
            )],
        ),
        template(
            "conditions.unowned",
            "What a person wrote.",
            &[condition("not-owned", &format!("!{}", conditions::owned()))],
        ),
        template(
            "conditions.podOrOwned",
            "Pods, and what a controller wrote.",
            &[condition(
                "a-pod-or-owned",
                &format!(
                    "{} ||\n{}",
                    conditions::of_kinds(&pods),
                    conditions::owned()
                ),
            )],
        ),
    ];
    format!("{HEAD}{}", templates.concat())
}

fn template(name: &str, comment: &str, items: &[String]) -> String {
    let items = items.concat();
    format!(
        "\n{{{{/* {comment} */}}}}\n{{{{- define \"warmgate.{name}\" -}}}}\n{items}{{{{- end }}}}\n"
    )
}

/// One rule for each API group. The version does not matter: a kind has its templates in the same place in all of them.
fn rules(workloads: &[&Workload], operations: &str) -> String {
    let mut rules = String::new();
    for group in workloads.chunk_by(|one, next| one.group == next.group) {
        let resources: Vec<_> = group.iter().map(|one| resource(one)).collect();
        write!(
            rules,
            "- operations: {operations}\n  apiGroups: [{:?}]\n  apiVersions: [\"*\"]\n  resources: [{}]\n  scope: Namespaced\n",
            group[0].group,
            resources.join(", ")
        )
        .expect("a String takes every write");
    }
    rules
}

/// The resource of a kind: every kind of the table has a regular plural.
fn resource(workload: &Workload) -> String {
    format!("{}s", workload.kind.to_lowercase())
}

fn condition(name: &str, expression: &str) -> String {
    let expression = conditions::indent(expression, 4);
    format!("- name: {name}\n  expression: |-\n{expression}\n")
}
