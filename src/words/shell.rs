//! Splitting a command line into words, as a POSIX shell quotes them.

/// Why a text cannot be split into words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SplitWordsError {
    /// The text ends behind a backslash, which quotes nothing then.
    #[error("ends with a backslash that quotes nothing")]
    Backslash,
    /// A quote is opened and never closed.
    #[error("opens a {0} quote and never closes it")]
    Quote(char),
}

/// Splits a line at blanks into words. Single quotes, double quotes and backslashes quote as in a POSIX shell (Shell
/// Command Language, 2.2); nothing is expanded, and operators such as `;` or `|` mean nothing: no shell runs the words.
///
/// # Errors
/// [`SplitWordsError`] where a quote stays open.
pub fn split_words(line: &str) -> Result<Vec<String>, SplitWordsError> {
    let mut words = Vec::new();
    // Quotes make a word even where nothing stands between them.
    let mut word: Option<String> = None;
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match c {
            ' ' | '\t' | '\n' | '\r' => words.extend(word.take()),
            '\\' => match chars.next() {
                None => return Err(SplitWordsError::Backslash),
                Some('\n') => {}
                Some(quoted) => word.get_or_insert_default().push(quoted),
            },
            '\'' => single(&mut chars, word.get_or_insert_default())?,
            '"' => double(&mut chars, word.get_or_insert_default())?,
            plain => word.get_or_insert_default().push(plain),
        }
    }
    words.extend(word);
    Ok(words)
}

/// Reads up to the closing single quote: everything before it is literal.
fn single(chars: &mut std::str::Chars<'_>, word: &mut String) -> Result<(), SplitWordsError> {
    for c in chars {
        if c == '\'' {
            return Ok(());
        }
        word.push(c);
    }
    Err(SplitWordsError::Quote('\''))
}

/// Reads up to the closing double quote: a backslash quotes only what is special inside, and a line break after it
/// vanishes with it.
fn double(chars: &mut std::str::Chars<'_>, word: &mut String) -> Result<(), SplitWordsError> {
    while let Some(c) = chars.next() {
        match c {
            '"' => return Ok(()),
            '\\' => match chars.next() {
                None => break,
                Some('\n') => {}
                Some(quoted @ ('$' | '`' | '"' | '\\')) => word.push(quoted),
                Some(other) => word.extend(['\\', other]),
            },
            plain => word.push(plain),
        }
    }
    Err(SplitWordsError::Quote('"'))
}

/// The first word of a line that says something else to a shell than to a program which gets it as it is: an operator, an
/// expansion, a pattern of file names, `~`, and in front of the program `!` or an assignment (Shell Command Language, 2.2
/// to 2.10). What is quoted says the same to both.
pub fn needs_shell(line: &str) -> Option<&str> {
    let mut word = 0;
    let mut program = true;
    let mut quote = None;
    let mut chars = line.char_indices();
    let up_to_blank = |from: usize| line[from..].split_whitespace().next();
    while let Some((at, c)) = chars.next() {
        let first = at == word;
        let assigns = || {
            let name = &line[word..at];
            let mut bytes = name.bytes();
            bytes
                .next()
                .is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_')
                && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        };
        match (quote, c) {
            (Some('\''), '\'') | (Some('"'), '"') => quote = None,
            (Some('\''), _) => {}
            (None, '\'' | '"') => quote = Some(c),
            (_, '\\') => drop(chars.next()),
            (_, '`') => return up_to_blank(word),
            (_, '$') if expands(&line[at + 1..]) => return up_to_blank(word),
            (Some(_), _) => {}
            (None, ' ' | '\t' | '\n' | '\r') => {
                program &= word == at;
                word = at + 1;
            }
            (None, '|' | '&' | ';' | '<' | '>' | '(' | ')' | '*' | '?') => {
                return up_to_blank(word);
            }
            (None, '~' | '#') if first => return up_to_blank(word),
            (None, '!') if first && program && line[at + 1..].starts_with(char::is_whitespace) => {
                return up_to_blank(word);
            }
            (None, '=') if program && assigns() => return up_to_blank(word),
            (None, _) => {}
        }
    }
    None
}

/// Whether a `$` before this text begins an expansion.
fn expands(behind: &str) -> bool {
    behind.starts_with(|c: char| c.is_ascii_alphanumeric() || "_{(@*#?$!-".contains(c))
}

/// Whether a program of this name, without its folder, is a shell.
pub fn is_shell(name: &str) -> bool {
    matches!(name, "ash" | "bash" | "dash" | "ksh" | "sh" | "zsh")
}

/// The script of a command that is a shell with `-c`, as in `sh -c SCRIPT` or `bash -eo pipefail -c SCRIPT`.
pub fn inline_script(command: &[String]) -> Option<&str> {
    let (program, mut rest) = command.split_first()?;
    let mut name = program.rsplit('/').next()?;
    if name == "busybox" {
        let (applet, behind) = rest.split_first()?;
        (name, rest) = (applet, behind);
    }
    if !is_shell(name) {
        return None;
    }
    let mut inline = false;
    while let Some((option, behind)) = rest.split_first() {
        if option == "--" {
            rest = behind;
            break;
        }
        if !option.starts_with(['-', '+']) {
            break;
        }
        let short = !option.starts_with("--");
        inline |= short && option.contains('c');
        let valued = short && option.contains(['o', 'O']);
        rest = behind.get(usize::from(valued)..).unwrap_or_default();
    }
    rest.first().filter(|_| inline).map(String::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_and_unquotes() {
        for (line, words) in [
            ("", &[][..]),
            ("  \t\n ", &[]),
            ("cat /tmp/ready", &["cat", "/tmp/ready"]),
            ("  a   b\tc\n", &["a", "b", "c"]),
            ("'a b' \"c d\"", &["a b", "c d"]),
            ("a'b'\"c\"d", &["abcd"]),
            ("'' \"\"", &["", ""]),
            (r"a\ b \'", &["a b", "'"]),
            ("a\\\nb", &["ab"]),
            (r"'a\b'", &[r"a\b"]),
            (r#""a\b\"\\\$\`""#, &["a\\b\"\\$`"]),
            ("\"a\\\nb\"", &["ab"]),
            ("a;b | c && $D", &["a;b", "|", "c", "&&", "$D"]),
            (
                "sh -c 'test -f \"/x y\"'",
                &["sh", "-c", "test -f \"/x y\""],
            ),
            ("größe ü", &["größe", "ü"]),
        ] {
            assert_eq!(split_words(line).unwrap(), words, "{line:?}");
        }
    }

    #[test]
    fn what_only_a_shell_understands_is_found() {
        for (line, word) in [
            ("cat /tmp/ready", None),
            ("sh -c 'cat /a; true > $B | c'", None),
            ("test -f \"/a b;c\"", None),
            (r"cat /a\;b \$C \*", None),
            ("[ -f /tmp/ready ]", None),
            ("curl -f http://localhost:8000/a#b", None),
            ("grep -q a=b /x!y 5$", None),
            ("cat /a 2>/dev/null", Some("2>/dev/null")),
            ("cat /a; true", Some("/a;")),
            ("cat /a && b", Some("&&")),
            ("test -f $READY", Some("$READY")),
            ("test -f \"${READY}\"", Some("\"${READY}\"")),
            ("cat $(pwd)/a", Some("$(pwd)/a")),
            ("cat `pwd`", Some("`pwd`")),
            ("ls /tmp/ready*", Some("/tmp/ready*")),
            ("cat ~/ready", Some("~/ready")),
            ("  FOO=1 python c.py", Some("FOO=1")),
            ("! test -f /a", Some("!")),
            (
                "curl http://localhost/a?b=c",
                Some("http://localhost/a?b=c"),
            ),
        ] {
            assert_eq!(needs_shell(line), word, "{line:?}");
        }
    }

    #[test]
    fn refuses_what_stays_open() {
        for (line, error) in [
            ("a 'b", SplitWordsError::Quote('\'')),
            ("a \"b", SplitWordsError::Quote('"')),
            ("a \"b\\", SplitWordsError::Quote('"')),
            ("a\\", SplitWordsError::Backslash),
        ] {
            assert_eq!(split_words(line), Err(error), "{line:?}");
        }
        assert_eq!(
            SplitWordsError::Quote('"').to_string(),
            "opens a \" quote and never closes it"
        );
    }

    #[test]
    fn the_script_of_a_shell_is_found() {
        for (command, script) in [
            (&["sh", "-c", "a b"][..], Some("a b")),
            (&["/bin/bash", "-euxo", "pipefail", "-c", "a"], Some("a")),
            (&["bash", "-l", "-c", "--", "a"], Some("a")),
            (&["bash", "--login", "-ce", "a", "b"], Some("a")),
            (&["busybox", "sh", "-c", "a"], Some("a")),
            (&["sh", "-e", "a.sh"], None),
            (&["sh", "--rcfile", "a"], None),
            (&["sh", "-c"], None),
            (&["bash", "-o"], None),
            (&["busybox"], None),
            (&["cat", "-c", "a"], None),
            (&[], None),
        ] {
            let words: Vec<String> = command.iter().map(|word| (*word).to_owned()).collect();
            assert_eq!(inline_script(&words), script, "{command:?}");
        }
    }
}
