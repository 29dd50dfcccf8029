//! What a server is told: its flags, its variables and the tag of its image.

use super::env::{self, Env, shown};
use super::pattern;
use super::rows::Switch;
use super::script::Word;

/// What a server is told, and what stays hidden.
#[derive(Debug)]
pub(super) struct Inputs<'a> {
    args: &'a [Word],
    env: &'a Env,
    tag: Option<&'a str>,
    hidden: bool,
}

/// What was found for a setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Told {
    /// This value, and where it stands: `--port 8000`, `env PORT`.
    Literal { value: String, place: String },
    /// Nothing.
    Nothing,
    /// Something that only the run will tell.
    Unknown(String),
}

/// Whether a switch holds, and where that stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Held {
    No,
    Unknown(String),
    Yes(String),
}

impl<'a> Inputs<'a> {
    /// The inputs of a server that runs with these arguments and variables.
    pub(super) fn new(args: &'a [Word], env: &'a Env, tag: Option<&'a str>) -> Self {
        Self {
            args,
            env,
            tag,
            hidden: hides(args),
        }
    }

    /// Whether flags may stand in what is unknown, so that defaults are not certain.
    pub(super) fn hidden(&self) -> bool {
        self.hidden
    }

    /// Whether there may be other variables than the manifest shows.
    pub(super) fn doubtful_env(&self) -> bool {
        self.env.is_doubtful()
    }

    /// The first argument, where it is no flag.
    pub(super) fn positional(&self) -> Option<&'a str> {
        let first = self.args.first()?;
        (!first.text.starts_with('-')).then_some(first.text.as_str())
    }

    /// What is told about a setting: a flag counts more than a variable, the last of several flags counts, and variables count
    /// in the order of the data.
    pub(super) fn told(&self, flags: &[String], env: &[String]) -> Told {
        if let Some((flag, value)) = self.flag(flags) {
            let value = value.unwrap_or_default();
            return told(value, format!("{flag} {}", shown(value)).trim_end().into());
        }
        let variable = |name: &String| {
            let value = self.env.get(name)?;
            Some(told(value, format!("env {name}")))
        };
        env.iter().find_map(variable).unwrap_or(Told::Nothing)
    }

    /// Whether a variable that the manifest does not show could still decide a setting: no flag does, and no variable that
    /// counts more than all others.
    pub(super) fn open(&self, flags: &[String], env: &[String]) -> bool {
        let counts_most = env.first();
        // A file that a script reads may set what the manifest sets as well.
        let may_be_set = |name| self.env.is_doubtful() || self.env.get(name).is_none();
        self.flag(flags).is_none() && counts_most.is_some_and(|name| may_be_set(name))
    }

    /// The same of what switches say, where they hold for this tag or may do so.
    pub(super) fn any_open(&self, switches: &[Switch]) -> bool {
        let open = |switch: &Switch| {
            self.by_tag(switch) != Some(false) && self.open(&switch.flags, &switch.env)
        };
        switches.iter().any(open)
    }

    /// The first switch that holds or may hold.
    pub(super) fn first(&self, switches: &[Switch]) -> Held {
        let mut doubt = Held::No;
        for switch in switches {
            match self.holds(switch) {
                held @ Held::Yes(_) => return held,
                held @ Held::Unknown(_) => doubt = held,
                Held::No => {}
            }
        }
        doubt
    }

    /// Whether a switch is one for this tag; `None` where there is no tag to tell.
    fn by_tag(&self, switch: &Switch) -> Option<bool> {
        if switch.tags.is_empty() {
            return Some(true);
        }
        self.tag.map(|tag| pattern::any(&switch.tags, tag))
    }

    fn holds(&self, switch: &Switch) -> Held {
        let by_tag = self.by_tag(switch);
        if by_tag == Some(false) || self.number(&switch.unless_one) == Some(1) {
            return Held::No;
        }
        if switch.flags.is_empty() && switch.env.is_empty() {
            return match (by_tag, self.tag) {
                (Some(true), Some(tag)) => Held::Yes(format!("tag {tag}")),
                _ => Held::No,
            };
        }
        match (self.by_value(switch), by_tag) {
            (Held::Yes(place), None) => Held::Unknown(place),
            (held, _) => held,
        }
    }

    fn by_value(&self, switch: &Switch) -> Held {
        let (value, place) = match self.told(&switch.flags, &switch.env) {
            Told::Nothing => return Held::No,
            Told::Unknown(place) if switch.asks_for_a_value() => return Held::Unknown(place),
            Told::Unknown(place) => return Held::Yes(place),
            Told::Literal { value, place } => (value.to_ascii_lowercase(), place),
        };
        if pattern::any(&switch.not_values, &value) {
            return Held::No;
        }
        if !switch.below.is_empty() {
            return self.is_below(&switch.below, &value, place);
        }
        let holds = match switch.above {
            Some(bound) => value.parse::<i64>().is_ok_and(|number| number > bound),
            None if switch.values.is_empty() => {
                let of_env = place.starts_with("env ") && value.is_empty();
                !of_env && !matches!(value.as_str(), "false" | "0" | "no" | "off")
            }
            None => pattern::any(&switch.values, &value),
        };
        if holds { Held::Yes(place) } else { Held::No }
    }

    /// Whether a number is smaller than that of flags, which is 1 where none is given.
    fn is_below(&self, flags: &[String], value: &str, place: String) -> Held {
        let whole = match self.told(flags, &[]) {
            Told::Nothing => Some(1),
            _ => self.number(flags),
        };
        match (value.parse::<i64>(), whole) {
            (Ok(part), Some(whole)) if part < whole => Held::Yes(place),
            (Ok(_), Some(_)) => Held::No,
            _ => Held::Unknown(place),
        }
    }

    /// The number that one of these flags gives, where it is written down.
    fn number(&self, flags: &[String]) -> Option<i64> {
        match self.told(flags, &[]) {
            Told::Literal { value, .. } => value.parse().ok(),
            Told::Nothing | Told::Unknown(_) => None,
        }
    }

    /// The last of these flags: how it is spelled, and its value.
    fn flag(&self, names: &[String]) -> Option<(&'a str, Option<&'a str>)> {
        let words = self.args.iter().enumerate().rev();
        words.into_iter().find_map(|(at, word)| {
            let (spelled, value) = match word.text.split_once('=') {
                Some((flag, value)) => (flag, Some(value)),
                None => (word.text.as_str(), None),
            };
            if names.iter().any(|name| same_flag(name, spelled)) {
                let next = self.args.get(at + 1).map(|next| next.text.as_str());
                return Some((spelled, value.or(next.filter(|next| !is_flag(next)))));
            }
            // `-p8000`, as argument parsers of short options allow it.
            let (short, number) = word.text.split_at_checked(2)?;
            let digits = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
            (digits && names.iter().any(|name| name == short)).then_some((short, Some(number)))
        })
    }
}

fn told(value: &str, place: String) -> Told {
    if env::is_known(value) {
        Told::Literal {
            value: value.to_owned(),
            place,
        }
    } else {
        Told::Unknown(place)
    }
}

/// Whether two flags are the same: Python servers take `_` for `-`.
fn same_flag(name: &str, spelled: &str) -> bool {
    name.len() == spelled.len()
        && spelled.starts_with('-')
        && name.bytes().zip(spelled.bytes()).all(|(a, b)| {
            let dash = |byte| if byte == b'_' { b'-' } else { byte };
            dash(a) == dash(b)
        })
}

/// Whether a word is a flag, not a value: a negative number is a value.
fn is_flag(word: &str) -> bool {
    word.strip_prefix('-')
        .and_then(|rest| rest.chars().next())
        .is_some_and(|c| !c.is_ascii_digit())
}

/// Whether flags may come out of an unquoted expansion: one that stands where neither the value of a flag nor the only
/// positional argument is expected, or whose name says that it holds arguments.
fn hides(args: &[Word]) -> bool {
    args.iter().enumerate().any(|(at, word)| {
        if !word.splits || !env::starts_unknown(&word.text) {
            return false;
        }
        let name = shown(&word.text).to_ascii_uppercase();
        let holds_arguments = ["ARG", "OPT", "EXTRA", "FLAG", "PARAM"]
            .iter()
            .any(|part| name.contains(part));
        let follows_flag = at
            .checked_sub(1)
            .is_some_and(|before| is_flag(&args[before].text) && !args[before].text.contains('='));
        let positional = at == 0 && args.len() > 1;
        holds_arguments || !(follows_flag || positional)
    })
}

#[cfg(test)]
mod tests {
    use super::super::env::{EnvValue, hole};
    use super::*;

    fn words(args: &[&str]) -> Vec<Word> {
        args.iter()
            .map(|text| Word::of((*text).to_owned()))
            .collect()
    }

    fn told(inputs: &Inputs<'_>) -> Told {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let flags: Vec<String> = owned(&["--port", "-p", "--rest_port"]);
        inputs.told(&flags, &["PORT".to_owned()])
    }

    fn literal(value: &str, place: &str) -> Told {
        Told::Literal {
            value: value.to_owned(),
            place: place.to_owned(),
        }
    }

    #[test]
    fn flags_in_every_spelling() {
        let env = Env::of(&[("PORT".to_owned(), EnvValue::Literal("7".to_owned()))]);
        for (args, found) in [
            (&["--port", "8000"][..], literal("8000", "--port 8000")),
            (&["--port=8000"], literal("8000", "--port 8000")),
            (&["-p", "8000"], literal("8000", "-p 8000")),
            (&["-p8000"], literal("8000", "-p 8000")),
            (&["--rest-port=1"], literal("1", "--rest-port 1")),
            (&["--port", "1", "--port", "2"], literal("2", "--port 2")),
            (&["--port", "--x"], literal("", "--port")),
            (&["--Port", "1", "--ports", "2"], literal("7", "env PORT")),
            (&[], literal("7", "env PORT")),
        ] {
            assert_eq!(told(&Inputs::new(&words(args), &env, None)), found);
        }
        let none = Env::default();
        assert_eq!(told(&Inputs::new(&[], &none, None)), Told::Nothing);
        let open = words(&["--port", &hole("P")]);
        let unknown = told(&Inputs::new(&open, &env, None));
        assert_eq!(unknown, Told::Unknown("--port $P".to_owned()));
    }

    #[test]
    fn an_expansion_may_hide_flags() {
        let open = |name: &str| Word {
            text: hole(name),
            splits: true,
        };
        let word = |text: &str| Word::of(text.to_owned());
        for (args, hidden) in [
            (vec![word("--model"), open("MODEL")], false),
            (vec![open("MODEL"), word("--port"), word("1")], false),
            (vec![Word::of(hole("A")), word("--port")], false),
            (vec![open("MODEL")], true),
            (vec![word("m"), open("X")], true),
            (vec![word("--trust-remote-code"), open("EXTRA_ARGS")], true),
            (vec![word("--a=b"), open("X")], true),
        ] {
            assert_eq!(hides(&args), hidden, "{args:?}");
        }
    }
}
