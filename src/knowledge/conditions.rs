//! Expressions in CEL by which the API server tells what concerns us.
//!
//! One that errs hides the object, or refuses it where the failure policy is Fail. So every step asks what it stands on: a member
//! that is absent, and one of another type than it should have, are nothing. Objects of custom resources come here before their schema
//! has been looked at.

use super::Knowledge;
use super::accelerators::Accelerators;
use super::workloads::Workload;
use crate::annotations::PREFIX;
use crate::words::{FieldPath, Segment};

/// The object is not on its way out.
pub(super) fn not_being_deleted() -> String {
    let at = member("[object]", &["metadata", "deletionTimestamp"]);
    format!("{at}\n  .all(x, x == null)")
}

/// The object is no mirror of a static pod, which runs whatever is said.
pub(super) fn not_a_mirror(pods: &[&Workload]) -> String {
    let annotations = member("[object]", &["metadata", "annotations"]);
    format!(
        "!({}) ||\n{annotations}\n  .all(x, type(x) != map || !('kubernetes.io/config.mirror' in x))",
        of_kinds(pods)
    )
}

/// The object is of one of these kinds.
pub(super) fn of_kinds(workloads: &[&Workload]) -> String {
    let kind = |one: &&Workload| {
        let Workload { group, kind, .. } = one;
        format!("request.kind.group == '{group}' && request.kind.kind == '{kind}'")
    };
    let kinds: Vec<_> = workloads.iter().map(kind).collect();
    kinds.join(" || ")
}

/// A controller owns the object.
pub(super) fn owned() -> String {
    let owners = member("[object]", &["metadata", "ownerReferences"]);
    let controls = "type(x) == map && x.?controller.orValue(false) == true";
    format!("{owners}\n  .exists(l, type(l) == list && l.exists(x, {controls}))")
}

/// Templates of the chart that make lists of what its values add to the tables.
pub(super) struct More<'t> {
    /// Names of resources that mean an accelerator, a `*` standing for any run of characters.
    pub(super) resources: &'t str,
    /// Those that mean none although they look like one.
    pub(super) other_resources: &'t str,
    /// Annotations that ask for a part of one.
    pub(super) fractions: &'t str,
}

/// The object, or a pod template in it, asks for an accelerator or a device, or has a key of ours.
pub(super) fn ours(knowledge: &Knowledge, more: &More<'_>) -> String {
    let mut places = vec!["[object]".to_owned()];
    for workload in knowledge.workloads() {
        for template in &workload.templates {
            let place = member("[object]", &keys(&template.path));
            if !places.contains(&place) {
                places.push(place);
            }
        }
    }
    let accelerators = &knowledge.accelerators;
    let says = [
        key_of_ours(),
        fraction(&accelerators.fractions, more.fractions),
        claim(),
        resource(accelerators, more),
    ];
    format!(
        "(\n  {}\n).exists(t,\n{}\n)",
        places.join(" +\n  "),
        indent(&says.join(" ||\n"), 2)
    )
}

/// A key of ours among the annotations or labels of `t`, readable or not.
fn key_of_ours() -> String {
    let domain = dotted(PREFIX.trim_end_matches('/'));
    format!(
        "(\n  {} +\n  {}\n).exists(m, type(m) == map && m.exists(k, k.matches('^([^/]*[.])?{domain}/')))",
        member("[t]", &["metadata", "annotations"]),
        member("[t]", &["metadata", "labels"])
    )
}

/// An annotation of the pod template `t` that asks for a part of a device.
fn fraction(annotations: &[String], more: &str) -> String {
    let annotations: Vec<_> = annotations.iter().map(|key| format!("'{key}'")).collect();
    format!(
        "{}\n  .exists(m, type(m) == map && m.exists(k, k in [{}{{{{ range {more} }}}}, '{{{{ . }}}}'{{{{ end }}}}] && m[k] != '0'))",
        member("[t]", &["metadata", "annotations"]),
        annotations.join(", ")
    )
}

/// A device claim of the pod template `t`, of whatever class.
fn claim() -> String {
    let claims = member("[t]", &["spec", "resourceClaims"]);
    format!("{claims}\n  .exists(l, type(l) == list && l.size() > 0)")
}

/// A container of the pod template `t` that asks for an accelerator. A zero in another form than `0` passes, and is then judged.
fn resource(accelerators: &Accelerators, more: &More<'_>) -> String {
    let mut exact: Vec<_> = accelerators
        .exact
        .iter()
        .map(|name| format!("    '{name}'"))
        .collect();
    exact.sort();
    let any = |patterns: &[String], more: &str| {
        let patterns: Vec<_> = patterns.iter().map(|pattern| alike_to(pattern)).collect();
        format!("{}{}", patterns.join(" ||\n  "), or_alike_to(more))
    };
    let asks = format!(
        "(\n  k in [\n{}\n  ] ||\n  {}\n) && !(\n  {}\n)",
        exact.join(",\n"),
        any(&accelerators.patterns, more.resources),
        any(&accelerators.none, more.other_resources)
    );
    format!(
        "(\n  {} +\n  {}\n).exists(l, type(l) == list && l.exists(c, (\n  {} +\n  {}\n)\
         .exists(m, type(m) == map && m.exists(k, m[k] != '0' && m[k] != 0 && {asks}))))",
        member("[t]", &["spec", "initContainers"]),
        member("[t]", &["spec", "containers"]),
        member("[c]", &["resources", "limits"]),
        member("[c]", &["resources", "requests"]),
    )
}

/// `k` has the form of a pattern, in which `*` stands for any run of characters. Most need no regular expression, which costs
/// more of the budget that an expression has.
fn alike_to(pattern: &str) -> String {
    match pattern.split_once('*') {
        None => format!("k == '{pattern}'"),
        Some((prefix, "")) => format!("k.startsWith('{prefix}')"),
        Some((prefix, _)) => {
            let expression = dotted(pattern).replace('*', ".*");
            format!("k.startsWith('{prefix}') && k.matches('^{expression}$')")
        }
    }
}

/// The same for each pattern of a list that the chart makes.
fn or_alike_to(list: &str) -> String {
    format!(
        "{{{{- range {list} }}}} ||\n  {{{{ if contains \"*\" . }}}}k.startsWith('{{{{ splitList \"*\" . | first }}}}') && \
         k.matches('^{{{{ . | replace \".\" \"[.]\" | replace \"*\" \".*\" }}}}$'){{{{ else }}}}k == '{{{{ . }}}}'{{{{ end }}}}{{{{ end }}}}"
    )
}

/// Text in which a regular expression takes dots for dots.
fn dotted(text: &str) -> String {
    text.replace('.', "[.]")
}

/// What stands at a path below each element of a list, and is there.
fn member(of: &str, keys: &[&str]) -> String {
    let step = |key: &&str| format!(".map(x, type(x) == map, x.?{key}.orValue(null))");
    let steps: String = keys.iter().map(step).collect();
    format!("{of}{steps}")
}

fn keys(path: &FieldPath) -> Vec<&str> {
    let names = path.segments().iter().filter_map(|segment| match segment {
        Segment::Key(key) => Some(key.as_str()),
        Segment::Index(_) => None,
    });
    names.collect()
}

/// The lines of a text, further in.
pub(super) fn indent(text: &str, by: usize) -> String {
    let lines: Vec<_> = text
        .lines()
        .map(|line| format!("{:by$}{line}", ""))
        .collect();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_is_looked_for_as_cheaply_as_it_can_be() {
        for (pattern, expression) in [
            ("a.io/b", "k == 'a.io/b'"),
            ("a.io/b-*", "k.startsWith('a.io/b-')"),
            (
                "a.io/*-b*",
                "k.startsWith('a.io/') && k.matches('^a[.]io/.*-b.*$')",
            ),
            (
                "a.io/*b",
                "k.startsWith('a.io/') && k.matches('^a[.]io/.*b$')",
            ),
        ] {
            assert_eq!(alike_to(pattern), expression);
        }
    }

    #[test]
    fn every_step_asks_what_it_stands_on() {
        let walked = member("[t]", &["spec", "containers"]);
        let steps = [
            "[t]",
            ".map(x, type(x) == map, x.?spec.orValue(null))",
            ".map(x, type(x) == map, x.?containers.orValue(null))",
        ];
        assert_eq!(walked, steps.concat());
    }
}
