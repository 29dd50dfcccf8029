//! The shape of a shell script, as far as it can be read without running it.
//!
//! Lists, pipelines, groups and redirections are those of the Shell Command Language of POSIX (2.9, 2.7). What stands in loops
//! and branches is kept as words only, and nothing is expanded.

mod tokens;

use std::collections::VecDeque;

use tokens::Token;
pub use tokens::Word;

/// A script, or what stands in a group of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Script {
    /// What is run one after the other.
    pub lists: Vec<AndOr>,
    /// Whether all of it was understood; else the lists are those before the first that was not.
    pub whole: bool,
}

/// Pipelines joined by `&&` and `||`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AndOr {
    /// Each with what joins it to those before; the first is joined as by `&&`.
    pub pipelines: Vec<(Junction, Pipeline)>,
    /// Whether the shell goes on beside it (`&`).
    pub background: bool,
}

/// What joins two pipelines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Junction {
    /// `&&`
    And,
    /// `||`
    Or,
}

/// Commands joined by `|`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pipeline {
    /// Whether a `!` stands in front.
    pub negated: bool,
    /// The commands; at least one.
    pub commands: Vec<Command>,
}

/// A command with its redirections.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// What is run.
    pub what: What,
    /// What its descriptors are opened on.
    pub redirects: Vec<Redirect>,
}

/// What a command is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// `{ ...; }`, or `( ... )` in a shell of its own.
    Group(Script),
    /// A loop or a branch: all words in it.
    Compound(Vec<Word>),
    /// A program or a builtin, and its arguments.
    Simple(Vec<Word>),
}

/// A redirection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redirect {
    /// Its operator without the number in front, such as `>` or `>&`.
    pub operator: String,
    /// What stands behind it.
    pub target: Word,
}

/// Reads a script.
pub fn read_script(text: &str) -> Script {
    let Some(tokens) = tokens::scan(text) else {
        return Script::default();
    };
    let mut parser = Parser {
        tokens: tokens.into(),
        depth: 0,
    };
    let mut script = parser.lists();
    script.whole &= parser.tokens.is_empty();
    script
}

/// Groups in groups are read so deep: nobody writes more, and each takes a part of the stack.
const DEEPEST: usize = 16;

/// A part that is not understood.
struct Strange;

struct Parser {
    tokens: VecDeque<Token>,
    depth: usize,
}

impl Parser {
    /// Reads lists up to the end of the group or the script.
    fn lists(&mut self) -> Script {
        let mut script = Script {
            lists: Vec::new(),
            whole: true,
        };
        loop {
            while self.takes(&[";"]).is_some() {}
            if self.tokens.is_empty() || self.is_operator(")") || self.is_word("}") {
                return script;
            }
            match self.and_or() {
                Ok(list) => script.lists.push(list),
                Err(Strange) => {
                    script.whole = false;
                    return script;
                }
            }
        }
    }

    fn and_or(&mut self) -> Result<AndOr, Strange> {
        let mut pipelines = vec![(Junction::And, self.pipeline()?)];
        while let Some(operator) = self.takes(&["&&", "||"]) {
            let junction = if operator == "&&" {
                Junction::And
            } else {
                Junction::Or
            };
            self.skip_breaks();
            pipelines.push((junction, self.pipeline()?));
        }
        let background = self.takes(&["&"]).is_some();
        let ends =
            background || self.tokens.is_empty() || self.is_operator(";") || self.is_operator(")");
        if !ends {
            return Err(Strange);
        }
        Ok(AndOr {
            pipelines,
            background,
        })
    }

    fn pipeline(&mut self) -> Result<Pipeline, Strange> {
        let negated = self.takes_word("!");
        let mut commands = vec![self.command()?];
        while self.takes(&["|", "|&"]).is_some() {
            self.skip_breaks();
            commands.push(self.command()?);
        }
        Ok(Pipeline { negated, commands })
    }

    fn command(&mut self) -> Result<Command, Strange> {
        let what = if self.takes(&["("]).is_some() {
            // Two of them are arithmetic.
            if self.is_operator("(") {
                return Err(Strange);
            }
            What::Group(self.group(|parser| parser.takes(&[")"]).is_some())?)
        } else if self.takes_word("{") {
            What::Group(self.group(|parser| parser.takes_word("}"))?)
        } else if self.first_word().is_some_and(opens) {
            What::Compound(self.compound()?)
        } else {
            return self.simple();
        };
        let mut redirects = Vec::new();
        while let Some(redirect) = self.redirect()? {
            redirects.push(redirect);
        }
        Ok(Command { what, redirects })
    }

    fn group(&mut self, closes: impl Fn(&mut Self) -> bool) -> Result<Script, Strange> {
        if self.depth == DEEPEST {
            return Err(Strange);
        }
        self.depth += 1;
        let inner = self.lists();
        self.depth -= 1;
        let closed = inner.whole && !inner.lists.is_empty() && closes(self);
        closed.then_some(inner).ok_or(Strange)
    }

    /// Reads a loop or a branch with all loops and branches in it.
    fn compound(&mut self) -> Result<Vec<Word>, Strange> {
        let (mut words, mut depth, mut begins) = (Vec::new(), 0usize, true);
        while let Some(token) = self.tokens.pop_front() {
            let Token::Word(word) = token else {
                begins = true;
                continue;
            };
            let keyword = begins && word.plain;
            depth += usize::from(keyword && opens(&word.text));
            depth -= usize::from(keyword && matches!(word.text.as_str(), "fi" | "done" | "esac"));
            begins = keyword && matches!(word.text.as_str(), "!" | "do" | "then" | "else" | "{");
            words.push(word);
            if depth == 0 {
                return Ok(words);
            }
        }
        Err(Strange)
    }

    fn simple(&mut self) -> Result<Command, Strange> {
        let (mut words, mut redirects) = (Vec::new(), Vec::new());
        loop {
            if let Some(redirect) = self.redirect()? {
                redirects.push(redirect);
            } else if let Some(Token::Word(_)) = self.tokens.front() {
                words.extend(self.word());
            } else {
                break;
            }
            if words.len() == 1 && self.is_test(&words) {
                words.extend(self.test()?);
            }
        }
        let first = words.first().ok_or(Strange)?;
        // A function is defined, or a word of the syntax stands where no command may begin.
        let strange = [
            "}", "coproc", "do", "done", "elif", "else", "esac", "fi", "function", "then", "time",
        ];
        if self.is_operator("(") || first.plain && strange.contains(&first.text.as_str()) {
            return Err(Strange);
        }
        Ok(Command {
            what: What::Simple(words),
            redirects,
        })
    }

    fn is_test(&self, words: &[Word]) -> bool {
        words.iter().any(|word| word.plain && word.text == "[[")
    }

    /// The words of `[[ ... ]]`, in which operators mean something else.
    fn test(&mut self) -> Result<Vec<Word>, Strange> {
        let mut words = Vec::new();
        while let Some(token) = self.tokens.pop_front() {
            if let Token::Word(word) = token {
                let closes = word.text == "]]";
                words.push(word);
                if closes {
                    return Ok(words);
                }
            }
        }
        Err(Strange)
    }

    fn redirect(&mut self) -> Result<Option<Redirect>, Strange> {
        let Some(Token::Redirect(operator)) = self.tokens.front() else {
            return Ok(None);
        };
        let operator = operator.clone();
        self.tokens.pop_front();
        // The text of a here-document stands in the lines below, where it would be read as commands; and `&>` sends a command to
        // the background in shells that do not know it.
        let document = operator.starts_with("<<") && operator != "<<<";
        if document || operator.starts_with('&') {
            return Err(Strange);
        }
        let target = self.word().ok_or(Strange)?;
        Ok(Some(Redirect { operator, target }))
    }

    fn word(&mut self) -> Option<Word> {
        match self.tokens.pop_front()? {
            Token::Word(word) => Some(word),
            _ => None,
        }
    }

    fn takes(&mut self, operators: &[&str]) -> Option<&'static str> {
        let Some(Token::Operator(operator)) = self.tokens.front() else {
            return None;
        };
        let operator = *operator;
        if !operators.contains(&operator) {
            return None;
        }
        self.tokens.pop_front();
        Some(operator)
    }

    fn takes_word(&mut self, text: &str) -> bool {
        let is = self.is_word(text);
        if is {
            self.tokens.pop_front();
        }
        is
    }

    /// Lines may be broken behind an operator.
    fn skip_breaks(&mut self) {
        while self.takes(&[";"]).is_some() {}
    }

    fn first_word(&self) -> Option<&str> {
        match self.tokens.front() {
            Some(Token::Word(word)) if word.plain => Some(&word.text),
            _ => None,
        }
    }

    fn is_word(&self, text: &str) -> bool {
        self.first_word() == Some(text)
    }

    fn is_operator(&self, wanted: &str) -> bool {
        matches!(self.tokens.front(), Some(Token::Operator(operator)) if *operator == wanted)
    }
}

/// Whether a word opens a loop or a branch.
fn opens(word: &str) -> bool {
    matches!(word, "case" | "for" | "if" | "select" | "until" | "while")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The script with all groups and words in brackets.
    fn shape(script: &Script) -> String {
        let lists = script.lists.iter().map(|list| {
            let pipelines =
                list.pipelines
                    .iter()
                    .enumerate()
                    .map(|(index, (junction, pipeline))| {
                        let joined = match (index, junction) {
                            (0, _) => "",
                            (_, Junction::And) => " && ",
                            (_, Junction::Or) => " || ",
                        };
                        let commands: Vec<String> = pipeline.commands.iter().map(command).collect();
                        let not = if pipeline.negated { "!" } else { "" };
                        format!("{joined}{not}{}", commands.join(" | "))
                    });
            let end = if list.background { " &" } else { "" };
            format!("{}{end}", pipelines.collect::<String>())
        });
        let end = if script.whole { "" } else { " ?" };
        format!("{}{end}", lists.collect::<Vec<_>>().join("; "))
    }

    fn command(command: &Command) -> String {
        let text = |words: &[Word]| {
            let words: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
            words.join(" ")
        };
        let what = match &command.what {
            What::Group(inner) => format!("({})", shape(inner)),
            What::Compound(words) => format!("<{}>", text(words)),
            What::Simple(words) => format!("[{}]", text(words)),
        };
        let redirects = command.redirects.iter();
        let redirects = redirects.map(|one| format!(" {}{}", one.operator, one.target.text));
        format!("{what}{}", redirects.collect::<String>())
    }

    #[test]
    fn scripts_have_a_shape() {
        for (text, expected) in [
            ("", ""),
            ("a b", "[a b]"),
            ("a;b\nc ;", "[a]; [b]; [c]"),
            ("a && b || c", "[a] && [b] || [c]"),
            ("a &&\n b |\n c", "[a] && [b] | [c]"),
            ("! a & b", "![a] &; [b]"),
            ("'a;b' \"c&&d\" e\\;f", "[a;b c&&d e;f]"),
            ("a # b; c\nd", "[a]; [d]"),
            ("a#b", "[a#b]"),
            ("a >/dev/null 2>&1 <b", "[a] >/dev/null >&1 <b"),
            ("a; b &>c", "[a] ?"),
            ("a 2 >b \"\" >c", "[a 2 ] >b >c"),
            ("(a; b) && { c; } >d", "([a]; [b]) && ([c]) >d"),
            (
                "a \"$(b; 'c)' (d) | e)\" `f;g`; h",
                "[a $(b; 'c)' (d) | e) `f;g`]; [h]",
            ),
            ("a ${b:-c d}; e", "[a ${b:-c d}]; [e]"),
            (
                "if a; then while b; do c; done; fi; d",
                "<if a then while b do c done fi>; [d]",
            ),
            ("case $a in b) c;; esac; d", "<case $a in b c esac>; [d]"),
            ("for fi in a; do b; done", "<for fi in a do b done>"),
            ("[[ a && b ]] || c", "[[[ a b ]]] || [c]"),
            ("a <<< b; c", "[a] <<<b; [c]"),
            ("a; f() { b; }", "[a] ?"),
            ("a; b <<X\nc\nX", "[a] ?"),
            ("a; (b", "[a] ?"),
            ("a; ((b > 1))", "[a] ?"),
            ("a; if b", "[a] ?"),
            ("a; then b", "[a] ?"),
            ("a; b <(c)", "[a] ?"),
            ("a)", "[a] ?"),
            ("a; ;; b", "[a] ?"),
            ("a 'b", " ?"),
            ("a \"b", " ?"),
            ("a $(b", " ?"),
            ("a `b", " ?"),
            ("a ${b", " ?"),
            ("a \\", " ?"),
        ] {
            assert_eq!(shape(&read_script(text)), expected, "{text:?}");
        }
    }

    #[test]
    fn no_depth_is_too_deep() {
        let deep =
            |depth: usize| read_script(&format!("{}a{}", "{ ".repeat(depth), "; }".repeat(depth)));
        assert!(deep(DEEPEST).whole);
        assert!(!deep(DEEPEST + 1).whole);
        assert!(!deep(1_000_000).whole);
    }

    #[test]
    fn words_tell_whether_they_are_plain() {
        for (text, plain) in [
            ("a", true),
            ("'$a'", true),
            ("\\$a", true),
            ("$a", false),
            ("\"$a\"", false),
            ("b`a`", false),
            ("*.txt", false),
            ("\"*\"", true),
        ] {
            let script = read_script(text);
            let What::Simple(words) = &script.lists[0].pipelines[0].1.commands[0].what else {
                panic!("{text}");
            };
            assert_eq!(words[0].plain, plain, "{text}");
        }
    }
}
