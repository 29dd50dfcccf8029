//! Environment variables, and texts of which a part is known only when the container runs.

use std::cell::Cell;
use std::collections::BTreeMap;

use crate::words::is_variable_name;

/// Stands on both sides of the name of what is unknown. No argument and no variable can hold it.
pub(super) const HOLE: char = '\0';

/// The most bytes that expansions may add to one launch. Variables that are made of variables double with every line, so that a
/// kilobyte of them could ask for all memory there is; command lines of servers have some hundred bytes.
const MOST_EXPANDED: usize = 16 << 10;

/// The value of an environment variable, as a manifest shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EnvValue {
    /// Comes from a Secret, a ConfigMap, a field or a resource.
    Elsewhere,
    /// Is written down. References `$(NAME)` are expanded as the kubelet does it.
    Literal(String),
}

/// What stands for the unknown value of `name` (which may be empty) in a text.
pub(super) fn hole(name: &str) -> String {
    format!("{HOLE}{name}{HOLE}")
}

/// Whether everything in this text is known.
pub(super) fn is_known(text: &str) -> bool {
    !text.contains(HOLE)
}

/// Whether this text begins with something unknown.
pub(super) fn starts_unknown(text: &str) -> bool {
    text.starts_with(HOLE)
}

/// The hole that begins `text`, and what stands behind it.
pub(super) fn split_hole(text: &str) -> Option<(&str, &str)> {
    let inner = text.strip_prefix(HOLE)?;
    let end = inner.find(HOLE)?;
    let behind = HOLE.len_utf8();
    Some(text.split_at(behind + end + behind))
}

/// `text` as a person reads it: what is unknown stands there as `$NAME`.
pub(super) fn shown(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for (number, part) in text.split(HOLE).enumerate() {
        if number % 2 == 1 {
            shown.push('$');
            shown.push_str(if part.is_empty() { "(...)" } else { part });
        } else {
            shown.push_str(part);
        }
    }
    shown
}

/// The variables of a container, resolved in the order in which the kubelet resolves them.
#[derive(Clone, Debug)]
pub(super) struct Env {
    vars: BTreeMap<String, String>,
    /// Whether they may be others than these: some stand in a file, or what the image sets is gone.
    doubtful: bool,
    /// What is left of [`MOST_EXPANDED`].
    left: Cell<usize>,
}

impl Default for Env {
    fn default() -> Self {
        Self {
            vars: BTreeMap::new(),
            doubtful: false,
            left: Cell::new(MOST_EXPANDED),
        }
    }
}

impl Env {
    /// The variables that a manifest gives.
    pub(super) fn of(given: &[(String, EnvValue)]) -> Self {
        let mut env = Self::default();
        for (name, value) in given {
            let value = match value {
                EnvValue::Elsewhere => hole(name),
                EnvValue::Literal(text) => env.expand(text),
            };
            env.set(name, value);
        }
        env
    }

    /// Sets a variable; a later value replaces an earlier one.
    pub(super) fn set(&mut self, name: &str, value: String) {
        self.vars.insert(name.to_owned(), value);
    }

    /// Adds variables that stand in a file.
    pub(super) fn source(&mut self) {
        self.doubtful = true;
    }

    /// Takes a variable away, also where the image sets it.
    pub(super) fn unset(&mut self, name: &str) {
        self.vars.remove(name);
        self.doubtful = true;
    }

    /// Takes all variables away, also those that the image sets.
    pub(super) fn clear(&mut self) {
        self.vars.clear();
        self.doubtful = true;
    }

    /// Whether there may be other variables than these.
    pub(super) fn is_doubtful(&self) -> bool {
        self.doubtful
    }

    /// The value of a variable, if it is given here.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.vars.get(name).map(String::as_str)
    }

    /// The value of a variable for an expansion, or the hole that stands for it.
    pub(super) fn value(&self, name: &str) -> String {
        let value = self.get(name).filter(|value| self.spend(value.len()));
        value.map_or_else(|| hole(name), str::to_owned)
    }

    /// Whether an expansion may add so many bytes; then they are spent. What may not be added is unknown.
    pub(super) fn spend(&self, bytes: usize) -> bool {
        let left = self.left.get().checked_sub(bytes);
        if let Some(left) = left {
            self.left.set(left);
        }
        left.is_some()
    }

    /// Expands `$(NAME)` as the kubelet does it in commands, arguments and values
    /// (`third_party/forked/golang/expansion/expand.go` of Kubernetes): `$$` is a dollar sign. A name that is given nowhere may
    /// still come from `envFrom` or from a webhook, so it is unknown; what cannot be a name is left to the shell.
    pub(super) fn expand(&self, text: &str) -> String {
        let mut expanded = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find(['$', HOLE]) {
            expanded.push_str(&rest[..at]);
            let here = &rest[at..];
            rest = if let Some(behind) = here.strip_prefix("$$") {
                expanded.push('$');
                behind
            } else if let Some((name, behind)) = reference(here) {
                expanded.push_str(&self.value(name));
                behind
            } else {
                expanded.extend(here.chars().next().filter(|c| *c != HOLE));
                &here[1..]
            };
        }
        expanded.push_str(rest);
        expanded
    }
}

/// The variable that `$(NAME)` at the beginning of `text` names, and what stands behind it. Nothing is read beyond what may be a
/// name: of many open brackets each would be looked for the end of all others.
fn reference(text: &str) -> Option<(&str, &str)> {
    let inner = text.strip_prefix("$(")?;
    let end = inner.find(|c: char| !c.is_ascii_alphanumeric() && c != '_')?;
    let (name, behind) = inner.split_at(end);
    Some((
        name,
        behind
            .strip_prefix(')')
            .filter(|_| is_variable_name(name))?,
    ))
}
#[cfg(test)]
mod tests {
    use super::*;

    fn env() -> Env {
        let literal = |text: &str| EnvValue::Literal(text.to_owned());
        Env::of(&[
            ("PORT".to_owned(), literal("8000")),
            ("ARGS".to_owned(), literal("--port $(PORT)")),
            ("EARLY".to_owned(), literal("$(LATER)")),
            ("LATER".to_owned(), literal("x")),
            ("KEY".to_owned(), EnvValue::Elsewhere),
        ])
    }

    #[test]
    fn expands_as_the_kubelet_does() {
        let env = env();
        for (text, expanded) in [
            ("--port=$(PORT)", "--port=8000"),
            ("$(ARGS)", "--port 8000"),
            ("$$(PORT) $$", "$(PORT) $"),
            ("$PORT ${PORT} $", "$PORT ${PORT} $"),
            ("$(cat /port) $(", "$(cat /port) $("),
            ("größe\0", "größe"),
        ] {
            assert_eq!(env.expand(text), expanded, "{text}");
        }
    }

    #[test]
    fn what_is_not_written_down_is_unknown() {
        let env = env();
        for (text, seen) in [
            ("--key=$(KEY)", "--key=$KEY"),
            ("$(LWS_GROUP_SIZE)", "$LWS_GROUP_SIZE"),
            ("$(EARLY)", "$LATER"),
        ] {
            let expanded = env.expand(text);
            assert!(!is_known(&expanded), "{text}");
            assert_eq!(shown(&expanded), seen);
        }
        assert_eq!(split_hole(&(hole("A") + "b")), Some(("\0A\0", "b")));
        assert_eq!(split_hole("b"), None);
    }

    #[test]
    fn variables_that_double_become_unknown() {
        let mut given = vec![("V0".to_owned(), EnvValue::Literal("ab".to_owned()))];
        for number in 1..=64 {
            let before = number - 1;
            let doubled = format!("$(V{before})$(V{before})");
            given.push((format!("V{number}"), EnvValue::Literal(doubled)));
        }
        let env = Env::of(&given);
        assert_eq!(env.get("V3"), Some("abababababababab"));
        let written = given.iter().map(|(name, _)| name.len()).sum::<usize>();
        let kept = given.iter().filter_map(|(name, _)| env.get(name));
        let kept: usize = kept.map(str::len).sum();
        assert!(kept <= MOST_EXPANDED + 8 * written, "{kept}");
        assert!(!is_known(&env.expand("$(V64)")));
    }
}
