//! What sets variables and positional parameters in a script.

use std::rc::Rc;

use super::env::{self, hole};
use super::script::{Reader, Unclosed, Word};
use crate::words::is_variable_name;

/// Whether a command only tests something: what stands behind it and `&&` may not run, and the script goes on.
pub(super) fn is_test(words: &[Word]) -> bool {
    let first = words.iter().find(|word| word.text != "!");
    first.is_some_and(|word| matches!(word.text.as_str(), "[" | "[[" | "test"))
}

impl Reader<'_> {
    /// Whether the bracket just read begins the value of an array, as in `NAME=(` or `NAME+=(`.
    pub(super) fn is_array(&self) -> bool {
        let word = self.word.as_ref().map(|word| word.text.as_str());
        word.and_then(|text| text.strip_suffix('='))
            .is_some_and(|name| is_variable_name(name.strip_suffix('+').unwrap_or(name)))
    }

    /// Reads the elements of an array, which are not kept apart.
    pub(super) fn array(&mut self) -> Result<(), Unclosed> {
        self.skip_brackets('(', ')')?;
        let word = self.word();
        let name = word.text.trim_end_matches(['+', '=']).to_owned();
        word.text = format!("{name}={}", hole(&name));
        Ok(())
    }

    /// Whether the bracket just read stands behind the name of a function, and another closes it.
    pub(super) fn names_function(&self) -> bool {
        let mut ahead = self.chars.clone();
        let next = ahead.find(|c| !matches!(c, ' ' | '\t'));
        let words = self.words.iter().chain(&self.word);
        next == Some(')') && words.count() == 1
    }

    /// Takes assignments off the front. One that may not run leaves its variable unknown.
    pub(super) fn assignments(&mut self, words: Vec<Word>, conditional: bool) -> Vec<Word> {
        const DECLARE: [&str; 5] = ["declare", "export", "local", "readonly", "typeset"];
        let declares = words
            .first()
            .is_some_and(|word| DECLARE.contains(&word.text.as_str()));
        let is_option = |word: &&Word| word.text.starts_with('-');
        let before = match declares {
            true => 1 + words[1..].iter().take_while(is_option).count(),
            false => 0,
        };
        let mut taken = before;
        for word in &words[before..] {
            let Some((name, value)) = word.text.split_once('=') else {
                break;
            };
            let (name, adds) = match name.strip_suffix('+') {
                Some(name) => (name, true),
                None => (name, false),
            };
            if !is_variable_name(name) {
                break;
            }
            let value = match (conditional, adds) {
                (true, _) => hole(name),
                (false, true) => self.env.value(name) + value,
                (false, false) => value.to_owned(),
            };
            self.env.set(name, value);
            taken += 1;
        }
        if declares {
            // `export $(cat FILE)`
            let rest = &words[taken..];
            if rest.iter().any(|word| env::starts_unknown(&word.text)) {
                self.env.source();
            }
            return Vec::new();
        }
        words.into_iter().skip(taken).collect()
    }

    /// What a command makes of the positional parameters, and of the variables that it reads or unsets.
    pub(super) fn positional(&mut self, words: &[Word], conditional: bool) {
        let Some((command, args)) = words.split_first() else {
            return;
        };
        let sure = !conditional && self.loops == 0;
        match command.text.as_str() {
            "shift" => {
                let by = args.first().map_or(Some(1), |by| by.text.parse().ok());
                let known = self.parameters.take().zip(by.filter(|_| sure));
                self.parameters = known.and_then(|(all, by)| shifted(&all, by));
            }
            "set" => {
                let Some(at) = first_parameter(args) else {
                    return;
                };
                let known = self.parameters.take().filter(|_| sure);
                self.parameters = known.map(|all| {
                    let shell = all.first().cloned().unwrap_or_default();
                    let set = args[at..].iter().cloned();
                    [shell].into_iter().chain(set).collect()
                });
            }
            "unset" if sure => {
                let names = args.iter().filter(|word| is_variable_name(&word.text));
                names.for_each(|name| self.env.unset(&name.text));
            }
            "getopts" | "read" | "unset" => self.forget(args),
            "." | "source" if args.first().is_some_and(sets_more) => self.env.source(),
            _ => {}
        }
    }

    /// Leaves the variables of these names unknown.
    pub(super) fn forget(&mut self, names: &[Word]) {
        for name in names.iter().filter(|word| is_variable_name(&word.text)) {
            self.env.set(&name.text, hole(&name.text));
        }
    }
}

/// Files that are read into a shell and set paths only: what activates a Python environment, oneAPI and OpenVINO.
const SET_PATHS: [&str; 3] = ["activate", "setupvars.sh", "setvars.sh"];

/// Whether a file that is read into the shell may set what a server reads.
fn sets_more(file: &Word) -> bool {
    let name = file.text.rsplit('/').next().unwrap_or_default();
    !SET_PATHS.contains(&name)
}

/// The parameters without so many behind `$0`, or `None` where there are not as many.
fn shifted(all: &[Word], by: usize) -> Option<Rc<[Word]>> {
    let (shell, rest) = all.split_first()?;
    let rest = rest.get(by..)?;
    Some([shell].into_iter().chain(rest).cloned().collect())
}

/// Where the positional parameters begin that `set` is given: behind its options, of which one that ends in `o` has a value.
fn first_parameter(args: &[Word]) -> Option<usize> {
    let mut at = 0;
    while let Some(option) = args.get(at).map(|word| word.text.as_str()) {
        if option == "--" {
            return Some(at + 1);
        }
        if !option.starts_with(['-', '+']) {
            return Some(at);
        }
        at += 1 + usize::from(option.ends_with('o'));
    }
    None
}
