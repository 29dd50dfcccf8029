//! `warmgate rules`.

use super::args::RulesArgs;
use super::{CliError, Exit, output};
use crate::rules::{self, RULES};

/// How alike a wrong id must be to a real one to be meant, from 0 to 1.
const ALIKE: f64 = 0.7;

pub(super) fn run(args: &RulesArgs) -> Result<Exit, CliError> {
    match &args.id {
        None => output::raw(&list())?,
        Some(id) => {
            let rule = rules::find(id).ok_or_else(|| CliError::Rule {
                id: id.clone(),
                nearest: nearest(id),
            })?;
            output::raw(rule.page)?;
        }
    }
    Ok(Exit::Clean)
}

fn list() -> String {
    let widest = RULES.iter().map(|rule| rule.id.len()).max().unwrap_or(0);
    let line = |rule: &&rules::Rule| {
        let severity = rule.severity.word();
        format!("{:widest$}  {severity}  {}\n", rule.id, rule.summary)
    };
    RULES.iter().map(line).collect()
}

/// The rule that was probably meant: the first that begins with what was said, the graver before the others, else the most alike.
fn nearest(id: &str) -> Option<&'static str> {
    let likeness = |rule: &&&rules::Rule| strsim::jaro_winkler(id, rule.id);
    let begins = |rule: &&&rules::Rule| !id.is_empty() && rule.id.starts_with(id);
    let alike = || {
        RULES
            .iter()
            .max_by(|one, other| likeness(one).total_cmp(&likeness(other)))
            .filter(|rule| likeness(rule) >= ALIKE)
    };
    RULES.iter().find(begins).or_else(alike).map(|rule| rule.id)
}
