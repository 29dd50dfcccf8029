//! Shell scripts, read as far as it takes to see which commands they run.
//!
//! This follows the Shell Command Language of POSIX (token recognition, quoting, parameter expansion, redirection) without
//! running anything: where only the run can tell, a hole is left in the word.

use std::iter::Peekable;
use std::mem;
use std::rc::Rc;
use std::str::Chars;

use super::env::{Env, HOLE};
use super::redirection::Redirection;
use super::variables;

/// A word of a command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Word {
    /// Its text, with holes.
    pub(super) text: String,
    /// Whether a hole in it is unquoted, so that it may become several words or none.
    pub(super) splits: bool,
}

impl Word {
    /// A word that no shell touches.
    pub(super) fn of(text: String) -> Self {
        Self {
            text,
            splits: false,
        }
    }
}

/// A simple command of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Command {
    /// The command and its arguments.
    pub(super) words: Vec<Word>,
    /// Whether a condition decides if it runs.
    pub(super) conditional: bool,
    /// Whether it runs again and again.
    pub(super) repeated: bool,
}

/// A quote or a bracket stays open: a shell would refuse the script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unclosed;

/// The commands of a script in the order in which they stand there. `env` is what its variables begin with and, afterwards,
/// what the script has made of them; `parameters` are `$0`, `$1` and so on.
pub(super) fn commands(
    script: &str,
    env: &mut Env,
    parameters: &[Word],
) -> Result<Vec<Command>, Unclosed> {
    let mut reader = Reader {
        chars: script.chars().peekable(),
        env,
        parameters: Some(Rc::from(parameters)),
        commands: Vec::new(),
        words: Vec::new(),
        word: None,
        redirection: None,
        documents: Vec::new(),
        conditions: 0,
        loops: 0,
        alternative: false,
        tested: false,
        left: false,
        leaves: Vec::new(),
    };
    reader.read()?;
    let mut commands = reader.commands;
    for at in reader.leaves {
        // Where nothing follows, a test that fails leaves nothing running.
        commands[at].conditional |= at + 1 < commands.len();
    }
    Ok(commands)
}

/// Reads a script. Expansions, redirections and what sets variables stand in the files of these names.
pub(super) struct Reader<'a> {
    pub(super) chars: Peekable<Chars<'a>>,
    pub(super) env: &'a mut Env,
    /// `$0`, `$1` and so on; `None` where only the run can tell.
    pub(super) parameters: Option<Rc<[Word]>>,
    commands: Vec<Command>,
    pub(super) words: Vec<Word>,
    pub(super) word: Option<Word>,
    pub(super) redirection: Option<Redirection>,
    /// The delimiters of here-documents that begin behind this line.
    pub(super) documents: Vec<String>,
    conditions: usize,
    pub(super) loops: usize,
    /// Whether the next command stands behind `||`.
    alternative: bool,
    /// Whether the next command stands behind a test and `&&`.
    tested: bool,
    /// Whether a command that may not have run replaces the shell, so that no later one is certain.
    left: bool,
    /// Those of the commands that do, behind a test.
    leaves: Vec<usize>,
}

impl Reader<'_> {
    fn read(&mut self) -> Result<(), Unclosed> {
        while let Some(c) = self.chars.next() {
            match c {
                ' ' | '\t' | '\r' => self.end_word(),
                '\n' => {
                    self.end_command();
                    self.skip_documents();
                }
                '#' if self.word.is_none() => self.skip_comment(),
                '(' if self.is_array() => self.array()?,
                '(' => {
                    if self.names_function() {
                        // Whoever calls it gives it parameters of its own.
                        self.parameters = None;
                        self.word = None;
                        self.words.clear();
                    }
                    self.end_command();
                }
                ';' | ')' => self.end_command(),
                '|' => {
                    self.end_command();
                    self.alternative = self.take('|');
                }
                '&' if self.chars.peek() == Some(&'>') => {}
                '&' => {
                    let tests = self.tested || variables::is_test(&self.words);
                    self.end_command();
                    self.tested = self.take('&') && tests;
                }
                '<' | '>' => self.redirect(c)?,
                '\\' => match self.chars.next() {
                    Some('\n') => {}
                    quoted => self.word().text.extend(quoted),
                },
                '\'' => self.single()?,
                '"' => self.double()?,
                '$' => self.dollar(false)?,
                '`' => self.backquote(false)?,
                HOLE => self.copy_hole(false),
                plain => self.word().text.push(plain),
            }
        }
        self.end_command();
        Ok(())
    }

    pub(super) fn take(&mut self, c: char) -> bool {
        self.chars.next_if_eq(&c).is_some()
    }

    pub(super) fn word(&mut self) -> &mut Word {
        self.word.get_or_insert_default()
    }

    pub(super) fn end_word(&mut self) {
        let Some(word) = self.word.take() else { return };
        match self.redirection.take() {
            None => self.words.push(word),
            Some(Redirection::Document) => self.documents.push(word.text),
            Some(Redirection::File) => {}
        }
    }

    fn skip_comment(&mut self) {
        while self.chars.next_if(|c| *c != '\n').is_some() {}
    }

    pub(super) fn single(&mut self) -> Result<(), Unclosed> {
        self.word();
        loop {
            match self.chars.next().ok_or(Unclosed)? {
                '\'' => return Ok(()),
                HOLE => self.copy_hole(true),
                c => self.word().text.push(c),
            }
        }
    }

    fn double(&mut self) -> Result<(), Unclosed> {
        self.word();
        loop {
            match self.chars.next().ok_or(Unclosed)? {
                '"' => return Ok(()),
                '$' => self.dollar(true)?,
                '`' => self.backquote(true)?,
                HOLE => self.copy_hole(true),
                '\\' => match self.chars.next().ok_or(Unclosed)? {
                    '\n' => {}
                    quoted @ ('$' | '`' | '"' | '\\') => self.word().text.push(quoted),
                    other => self.word().text.extend(['\\', other]),
                },
                c => self.word().text.push(c),
            }
        }
    }

    fn end_command(&mut self) {
        self.end_word();
        self.redirection = None;
        let words = mem::take(&mut self.words);
        let words = self.reserved(words);
        let alternative = mem::take(&mut self.alternative);
        let conditional = self.conditions > 0 || alternative;
        // A server behind a test that fails leaves nothing running; a variable behind it is merely not set.
        let tested = mem::take(&mut self.tested);
        let sets = !conditional && !tested;
        let words = self.assignments(words, !sets);
        self.positional(&words, !sets);
        if !words.is_empty() {
            let left = self.left;
            if words.len() > 1 && words[0].text == "exec" {
                self.left |= conditional || tested;
                if tested {
                    self.leaves.push(self.commands.len());
                }
            }
            self.commands.push(Command {
                words,
                conditional: conditional || left,
                repeated: self.loops > 0,
            });
        }
    }

    /// Takes the reserved words off the front, and everything where they introduce no command.
    fn reserved(&mut self, mut words: Vec<Word>) -> Vec<Word> {
        let mut taken = 0;
        for word in &words {
            match word.text.as_str() {
                "if" => self.conditions += 1,
                "fi" | "esac" => self.conditions = self.conditions.saturating_sub(1),
                "while" | "until" => self.loops += 1,
                "done" => self.loops = self.loops.saturating_sub(1),
                "then" | "else" | "elif" | "do" | "{" | "}" | "!" | "time" => {}
                "case" => {
                    self.conditions += 1;
                    return Vec::new();
                }
                "for" | "select" => {
                    self.loops += 1;
                    self.forget(&words[taken + 1..words.len().min(taken + 2)]);
                    return Vec::new();
                }
                "function" => {
                    self.parameters = None;
                    return Vec::new();
                }
                _ => break,
            }
            taken += 1;
        }
        words.split_off(taken)
    }
}

#[cfg(test)]
mod tests {
    use super::super::env::{EnvValue, shown};
    use super::*;

    fn lines(script: &str) -> Vec<String> {
        let literal = |text: &str| EnvValue::Literal(text.to_owned());
        let mut env = Env::of(&[
            ("PORT".to_owned(), literal("9000")),
            ("MORE".to_owned(), literal("--a  --b=1")),
            ("EMPTY".to_owned(), literal("")),
            ("KEY".to_owned(), EnvValue::Elsewhere),
        ]);
        let parameters = ["sh", "x y", "z"].map(|text| Word::of(text.to_owned()));
        let commands = commands(&env.expand(script), &mut env, &parameters).unwrap();
        commands
            .iter()
            .map(|command| {
                let words: Vec<String> = command
                    .words
                    .iter()
                    .map(|word| {
                        let open = if word.splits { "?" } else { "" };
                        shown(&word.text) + open
                    })
                    .collect();
                let when = if command.conditional { "maybe " } else { "" };
                let again = if command.repeated { "again " } else { "" };
                format!("{when}{again}{}", words.join("|"))
            })
            .collect()
    }

    #[test]
    fn finds_the_commands() {
        for (script, found) in [
            ("", &[][..]),
            (
                "a b;c&&d||e|f &\ng",
                &["a|b", "c", "d", "maybe e", "f", "g"],
            ),
            ("(cd /x; a) ; { b; }", &["cd|/x", "a", "b"]),
            ("a \\\n  --b # c; d\ne", &["a|--b", "e"]),
            ("a > /l 2>&1; b 2>/dev/null c &> f", &["a", "b|c"]),
            ("a < in >>out d; b <(c d) e", &["a|d", "b|$(...)|e"]),
            ("cat <<EOF >f\nx 'y\nEOF\na", &["cat", "a"]),
            ("cat <<-'E' | b\n\tx\n\tE\na <<< x", &["cat", "b", "a"]),
            (
                "if [ $A = 0 ]; then a; else b; fi; c",
                &["maybe [|$A?|=|0|]", "maybe a", "maybe b", "c"],
            ),
            (
                "[ $A = 0 ] && exec a; exec b",
                &["[|$A?|=|0|]", "maybe exec|a", "maybe exec|b"],
            ),
            ("[ $A = 0 ] && exec a", &["[|$A?|=|0|]", "exec|a"]),
            (
                "[ $A = 0 ] || exec a; b",
                &["[|$A?|=|0|]", "maybe exec|a", "maybe b"],
            ),
            (
                "if $A; then exec a; fi; b; c",
                &["maybe $A?", "maybe exec|a", "maybe b", "maybe c"],
            ),
            (
                "[ -f /a ] || exit 1; exec > /l; b",
                &["[|-f|/a|]", "maybe exit|1", "exec", "b"],
            ),
            (
                "case $A in 0) a ;; *) b ;; esac; c",
                &["maybe a", "maybe *", "maybe b", "c"],
            ),
            (
                "while true; do a; done; for i in 1 2; do b; done",
                &["again true", "again a", "again b"],
            ),
            ("export A=1; B=2 a; b A=1", &["a", "b|A=1"]),
            ("f() { a; }; f (x)", &["a", "f", "x"]),
            (
                "[ -n x ] && a; b && c || d",
                &["[|-n|x|]", "a", "b", "c", "maybe d"],
            ),
        ] {
            assert_eq!(lines(script), found, "{script}");
        }
    }

    #[test]
    fn expands_what_is_known() {
        for (script, found) in [
            (
                "a $PORT ${PORT} \"$PORT\" '$PORT' \\$PORT",
                &["a|9000|9000|9000|$PORT|$PORT"][..],
            ),
            ("a $(PORT) $$(PORT)", &["a|9000|$(...)?"]),
            (
                "a $MORE \"$MORE\" $EMPTY \"$EMPTY\"",
                &["a|--a|--b=1|--a  --b=1|"],
            ),
            (
                "a --k=$KEY \"$KEY\" $(date) `date` $((1+1))",
                &["a|--k=$KEY?|$KEY|$date?|$(...)?|$(...)?"],
            ),
            ("a $(KEY) '$(KEY)'", &["a|$KEY?|$KEY"]),
            (
                "a ${PORT:-1} ${NONE:-1} ${EMPTY:-1} ${PORT%0}",
                &["a|9000|$NONE?|$EMPTY?|$PORT?"],
            ),
            (
                "a \"$@\" $* $1 ${2} $9 $?",
                &["a|x y|z|x|y|z|x|y|z|$(...)?|$(...)?"],
            ),
            (
                "PORT=1; a $PORT; if b; then PORT=2; fi; c $PORT",
                &["a|1", "maybe b", "c|$PORT?"],
            ),
            ("a $'x y' $ \"a\\b\\$\"", &["a|x y|$|a\\b$"]),
            (
                "A=(--b 'c d'); A+=(e); a \"${A[@]}\" ${A[0]} \"${A[0]}\" \"${@:2}\"",
                &["a|$A?|$A?|$A|$(...)?"],
            ),
            (
                "A=b; A+=\" c\"; a $A $B; B+=d; a $B",
                &["a|b|c|$B?", "a|$Bd?"],
            ),
            (
                "set -eo pipefail; set -- b \"$@\"; shift 2; a \"$@\"",
                &["set|-eo|pipefail", "set|--|b|x y|z", "shift|2", "a|z"],
            ),
            ("f() { a \"$@\" $1; }", &["a|$(...)?|$(...)?"]),
            (
                "if b; then shift; fi; a \"$@\"",
                &["maybe b", "maybe shift", "a|$(...)?"],
            ),
            ("[ -z $B ] && PORT=1; a $PORT", &["[|-z|$B?|]", "a|$PORT?"]),
            ("read -r PORT; a $PORT", &["read|-r|PORT", "a|$PORT?"]),
            ("for PORT in 1 2; do a $PORT; done", &["again a|$PORT?"]),
            ("declare -r PORT=1; a $PORT", &["a|1"]),
        ] {
            assert_eq!(lines(script), found, "{script}");
        }
    }

    #[test]
    fn a_script_that_a_shell_refuses_says_nothing() {
        for script in ["a 'b", "a \"b", "a `b", "a $(b", "a ${b", "a \"\\"] {
            let read = commands(script, &mut Env::default(), &[]);
            assert_eq!(read, Err(Unclosed), "{script}");
        }
    }
}
