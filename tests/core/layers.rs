//! The rooms of the house: who may import whom, and what stands only at a door.

use std::path::{Path, PathBuf};

use super::tokens::{Token, tokens};

/// Where the shells let the outside in.
const DOORS: [&str; 3] = [
    "src/cli/mod.rs",
    "src/controller/mod.rs",
    "src/webhook/mod.rs",
];

/// Rooms that may wait: everything else decides, and what decides is not async.
const SHELLS: [&str; 3] = ["cli", "controller", "webhook"];

/// A source file as the checks see it.
struct Source<'a> {
    /// The path from the root of the package, with `/`.
    path: &'a str,
    text: &'a str,
    tokens: Vec<Token>,
}

impl<'a> Source<'a> {
    fn new(path: &'a str, text: &'a str) -> Self {
        let tokens = tokens(text);
        Self { path, text, tokens }
    }

    /// The names of the modules from the root of the crate to this file.
    fn modules(&self) -> Vec<&'a str> {
        let inner = self.path.trim_start_matches("src/").trim_end_matches(".rs");
        inner
            .split('/')
            .filter(|name| !matches!(*name, "lib" | "main" | "mod"))
            .collect()
    }

    /// Whether `signs` stand from `at` on.
    fn follows(&self, at: usize, signs: &[&str]) -> bool {
        signs
            .iter()
            .enumerate()
            .all(|(offset, sign)| self.text_at(at + offset) == *sign)
    }

    fn text_at(&self, at: usize) -> &str {
        self.tokens.get(at).map_or("", |token| &token.text)
    }

    fn at(&self, at: usize, what: &str) -> String {
        let line = self.tokens.get(at).map_or(0, |token| token.line);
        format!("{}:{line}: {what}", self.path)
    }
}

/// The rooms in reading order, as the module list has them.
fn rooms(lib: &str) -> Vec<String> {
    let source = Source::new("src/lib.rs", lib);
    (0..source.tokens.len())
        .filter(|at| source.follows(*at, &["pub", "mod"]) && source.text_at(at + 3) == ";")
        .map(|at| source.text_at(at + 2).to_owned())
        .collect()
}

/// Everything that `source` does and its room must not.
fn offences(source: &Source<'_>, rooms: &[String]) -> Vec<String> {
    let mut found = Vec::new();
    if !source.text.starts_with("//!") {
        found.push(source.at(0, "begins without a //! line that says what it is for"));
    }
    found.extend(imports(source, rooms));
    found.extend(attributes(source));
    found.extend(apart(source));
    let core = source
        .modules()
        .first()
        .is_some_and(|room| !SHELLS.contains(room));
    if core && let Some(at) = source.tokens.iter().position(|word| word.text == "async") {
        found.push(source.at(at, "is async, and nothing that decides may wait"));
    }
    found
}

/// Imports from rooms that do not exist or come later.
fn imports(source: &Source<'_>, rooms: &[String]) -> Vec<String> {
    let modules = source.modules();
    let Some(room) = modules.first() else {
        return Vec::new();
    };
    let place = |name: &str| rooms.iter().position(|room| room == name);
    let Some(own) = place(room) else {
        return vec![source.at(0, &format!("{room} is no room of src/lib.rs"))];
    };
    roots(source, modules.len())
        .into_iter()
        .filter_map(|at| {
            let name = source.text_at(at);
            match place(name) {
                Some(other) if other <= own => None,
                Some(_) => {
                    Some(source.at(at, &format!("{room} imports from {name}, a later room")))
                }
                None => Some(source.at(at, &format!("{room} imports {name}, which is no room"))),
            }
        })
        .collect()
}

/// Where names stand that are looked up in the root of the crate: behind `crate::`, and behind as many `super::` as the
/// file is deep.
fn roots(source: &Source<'_>, depth: usize) -> Vec<usize> {
    let mut found = Vec::new();
    // The brace depths at which inline modules opened: each makes a `super` lead one step less far.
    let mut braces = 0_usize;
    let mut inline = Vec::new();
    let mut at = 0;
    while at < source.tokens.len() {
        match source.text_at(at) {
            "{" => {
                braces += 1;
                if at >= 2 && source.text_at(at - 2) == "mod" {
                    inline.push(braces);
                }
            }
            "}" => {
                if inline.last() == Some(&braces) {
                    inline.pop();
                }
                braces -= 1;
            }
            "crate" if source.follows(at + 1, &[":", ":"]) => {
                found.extend(names(source, at + 3));
            }
            "crate" if source.text_at(at + 1) == "as" => found.push(at),
            "super" => {
                let mut steps = 1;
                while source.follows(at + 1, &[":", ":", "super"]) {
                    steps += 1;
                    at += 3;
                }
                if steps >= depth + inline.len() {
                    found.extend(names(source, at + 3));
                }
            }
            _ => {}
        }
        at += 1;
    }
    found
}

/// The first name at `at`, or the first names of the group that opens there.
fn names(source: &Source<'_>, at: usize) -> Vec<usize> {
    if source.text_at(at) != "{" {
        return vec![at];
    }
    let mut found = Vec::new();
    let mut depth = 0_usize;
    for inner in at..source.tokens.len() {
        match source.text_at(inner) {
            "{" => depth += 1,
            "}" if depth == 1 => break,
            "}" => depth -= 1,
            _ => {
                let first = matches!(source.text_at(inner - 1), "{" | ",");
                if depth == 1 && first {
                    found.push(inner);
                }
            }
        }
    }
    found
}

/// `allow` anywhere, and lints on the outside world that are lifted elsewhere than once at a door.
fn attributes(source: &Source<'_>) -> Vec<String> {
    let mut found = Vec::new();
    let mut lifted = 0;
    for at in 0..source.tokens.len() {
        if source.text_at(at) != "#" {
            continue;
        }
        let bang = usize::from(source.text_at(at + 1) == "!");
        if source.text_at(at + 1 + bang) != "[" {
            continue;
        }
        let attribute: Vec<_> = source.tokens[at..]
            .iter()
            .take_while(|token| token.text != "]")
            .filter(|token| token.is_word())
            .map(|token| token.text.as_str())
            .collect();
        if attribute.contains(&"allow") {
            found.push(source.at(at, "allows a lint: use expect, with a reason"));
        }
        if attribute.iter().any(|word| word.starts_with("disallowed_")) {
            lifted += 1;
            if !DOORS.contains(&source.path) || bang == 0 || lifted > 1 {
                found.push(source.at(
                    at,
                    "lets the outside in: that stands once, at the door of a shell",
                ));
            }
        }
    }
    found
}

/// The closed forms and the event simulation judge each other, so neither may know the other.
fn apart(source: &Source<'_>) -> Vec<String> {
    let Some(file) = source.path.strip_prefix("src/kubelet/") else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for at in 0..source.tokens.len() {
        let crossed = match file {
            "mod.rs" => false,
            "bounds.rs" => {
                source.follows(at, &["super", ":", ":"]) && source.text_at(at + 3) != "*"
                    || source.follows(at, &["kubelet", ":", ":"])
            }
            _ => source.text_at(at) == "bounds",
        };
        if crossed {
            found.push(source.at(
                at,
                "the bounds and the event simulation must not know each other",
            ));
        }
    }
    found
}

/// Every source file, in a stable order.
fn files() -> Vec<PathBuf> {
    let mut files: Vec<_> = walkdir::WalkDir::new(package().join("src"))
        .into_iter()
        .map(|entry| entry.expect("src can be walked").into_path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .collect();
    files.sort();
    files
}

fn package() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn every_room_keeps_its_place() {
    let lib =
        std::fs::read_to_string(package().join("src/lib.rs")).expect("src/lib.rs can be read");
    let rooms = rooms(&lib);
    assert_eq!(rooms.first().map(String::as_str), Some("words"));
    let mut found = Vec::new();
    for file in files() {
        let text = std::fs::read_to_string(&file).expect("a source file can be read");
        let path = file
            .strip_prefix(package())
            .expect("every file stands in the package")
            .to_string_lossy()
            .replace('\\', "/");
        found.extend(offences(&Source::new(&path, &text), &rooms));
    }
    assert!(found.is_empty(), "\n{}", found.join("\n"));
}

mod tests {
    use super::*;

    const LIB: &str = "//! x\npub mod words;\n\n#[cfg(feature = \"y\")]\npub mod facts;\nmod hidden { }\npub mod kubelet;\npub mod cli;\n";

    const NOTHING: [usize; 0] = [];

    /// The lines on which `text`, standing at `path`, offends.
    fn lines(path: &str, text: &str) -> Vec<usize> {
        let text = format!("//! A file.\n{text}");
        offences(&Source::new(path, &text), &rooms(LIB))
            .iter()
            .map(|offence| {
                let line = offence.split(':').nth(1).expect("path:line: what");
                line.parse().expect("a number")
            })
            .collect()
    }

    #[test]
    fn rooms_stand_in_the_module_list() {
        assert_eq!(rooms(LIB), ["words", "facts", "kubelet", "cli"]);
    }

    #[test]
    fn imports_of_earlier_rooms_pass() {
        for text in [
            "use crate::words::{Seconds, clip};",
            "use crate::{words::clip, facts::{Facts, Mode}};",
            "use super::sibling; use super::*;",
            "// crate::cli\n/* crate::cli */ const X: &str = \"crate::cli\";",
            "pub(crate) fn f(x: &crate::words::Seconds) {}",
            "mod tests { use super::super::sibling; }",
            "fn f() { { } } mod tests { mod more { use super::super::super::sibling; } }",
            "#[expect(dead_code, reason = \"x\")] struct X;",
        ] {
            assert_eq!(lines("src/facts/read.rs", text), NOTHING, "{text}");
        }
        assert_eq!(
            lines("src/main.rs", "fn main() { warmgate::cli::main() }"),
            NOTHING
        );
    }

    #[test]
    fn imports_of_later_rooms_fail() {
        for text in [
            "use crate::cli;",
            "use crate::cli::main;",
            "fn f() { crate::cli::main() }",
            "use crate::{words::{clip, cli}, cli::main};",
            "use crate::{\nself};",
            "use crate::*;",
            "use crate::nowhere;",
            "use crate as root;",
            "use super::super::cli;",
            "use super::super::{words, cli};",
            "mod tests { use super::super::super::cli; }",
            "mod tests { } use super::super::cli;",
        ] {
            assert_eq!(lines("src/facts/read.rs", text).len(), 1, "{text}");
        }
        assert_eq!(lines("src/facts.rs", "\nuse super::cli;"), [3]);
        assert_eq!(lines("src/attic.rs", "use crate::words;"), [2]);
    }

    #[test]
    fn the_outside_comes_in_at_a_door_only() {
        let door = "#![expect(clippy::disallowed_methods, reason = \"x\")]\n";
        assert_eq!(lines("src/cli/mod.rs", door), NOTHING);
        assert_eq!(lines("src/cli/mod.rs", &format!("{door}{door}")), [3]);
        assert_eq!(lines("src/cli/read.rs", door), [2]);
        assert_eq!(lines("src/facts.rs", door), [2]);
        let inner = "#[expect(clippy::disallowed_methods)] fn f() {}";
        assert_eq!(lines("src/cli/mod.rs", inner), [2]);
        assert_eq!(
            lines("src/cli/mod.rs", "#[allow(dead_code)] fn f() {}"),
            [2]
        );
        assert_eq!(
            lines(
                "src/cli/mod.rs",
                "#[cfg_attr(test, allow(dead_code))] fn f() {}"
            ),
            [2]
        );
        assert_eq!(
            lines("src/cli/mod.rs", "fn allow() { allow(x[0]) }"),
            NOTHING
        );
    }

    #[test]
    fn the_simulation_and_the_bounds_do_not_meet() {
        assert_eq!(lines("src/kubelet/worker.rs", "use super::bounds;"), [2]);
        assert_eq!(
            lines("src/kubelet/worker.rs", "use super::result; // bounds"),
            NOTHING
        );
        assert_eq!(
            lines("src/kubelet/bounds.rs", "use super::worker::Worker;"),
            [2]
        );
        assert_eq!(
            lines("src/kubelet/bounds.rs", "use crate::kubelet::worker;"),
            [2]
        );
        assert_eq!(
            lines("src/kubelet/bounds.rs", "mod tests { use super::*; }"),
            NOTHING
        );
        assert_eq!(
            lines("src/kubelet/mod.rs", "mod bounds; mod worker;"),
            NOTHING
        );
    }

    #[test]
    fn what_decides_does_not_wait() {
        assert_eq!(lines("src/facts.rs", "async fn f() {}"), [2]);
        assert_eq!(lines("src/cli/mod.rs", "async fn f() {}"), NOTHING);
        let source = Source::new("src/facts.rs", "use std::fmt;\n");
        assert_eq!(offences(&source, &rooms(LIB)).len(), 1);
    }
}
