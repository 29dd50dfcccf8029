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
    Ok(split(line)?.into_iter().map(|(word, _)| word).collect())
}

/// The words of a line, each with the text that it was written as.
fn split(line: &str) -> Result<Vec<(String, &str)>, SplitWordsError> {
    let mut words = Vec::new();
    // Quotes make a word even where nothing stands between them.
    let mut word: Option<String> = None;
    let mut begin = 0;
    let mut chars = line.chars();
    loop {
        let at = line.len() - chars.as_str().len();
        match chars.next() {
            None => {
                words.extend(word.map(|word| (word, &line[begin..])));
                return Ok(words);
            }
            Some(' ' | '\t' | '\n' | '\r') => {
                words.extend(word.take().map(|word| (word, &line[begin..at])));
                begin = at + 1;
            }
            Some('\\') => match chars.next() {
                None => return Err(SplitWordsError::Backslash),
                Some('\n') => {}
                Some(quoted) => word.get_or_insert_default().push(quoted),
            },
            Some('\'') => single(&mut chars, word.get_or_insert_default())?,
            Some('"') => double(&mut chars, word.get_or_insert_default())?,
            Some(plain) => word.get_or_insert_default().push(plain),
        }
    }
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

/// The first word of a line that is certainly meant for a shell, so that a program which gets it as it is does not do what was
/// meant (Shell Command Language, 2.2 to 2.10). What may be meant as it stands is none: the `?` and `&` of an address, the `|` and
/// `*` of a regular expression, and `$(NAME)`, which the kubelet expands itself.
///
/// # Errors
/// [`SplitWordsError`] where a quote stays open.
pub fn needs_shell(line: &str) -> Result<Option<&str>, SplitWordsError> {
    let words = split(line)?;
    let mut written = words.iter().map(|(_, written)| *written).enumerate();
    Ok(written
        .find(|(index, word)| is_for_a_shell(word, *index == 0))
        .map(|(_, word)| word))
}

fn is_for_a_shell(word: &str, is_program: bool) -> bool {
    if is_expanded(word) {
        return true;
    }
    // What is quoted is meant as it stands.
    if word.contains(['\'', '"', '\\']) {
        return false;
    }
    let behind_number = word.trim_start_matches(|c: char| c.is_ascii_digit() || c == '&');
    let is_path = word.starts_with('/') && !word.contains(".*");
    matches!(word, "&&" | "||" | "|" | "&" | "#" | "~")
        || word.ends_with(';')
        || word.starts_with("~/")
        || behind_number.starts_with(['<', '>'])
        || (is_path && word.contains('*'))
        || (is_program && (word == "!" || is_assignment(word)))
}

/// Whether a shell puts something else for a part of a word: `$NAME`, `${NAME}`, the output of a command.
fn is_expanded(word: &str) -> bool {
    let mut chars = word.chars();
    let mut is_literal = false;
    while let Some(c) = chars.next() {
        match c {
            '\'' => is_literal = !is_literal,
            _ if is_literal => {}
            '\\' => drop(chars.next()),
            '`' => return true,
            '$' => {
                let behind = chars.as_str();
                let names = |c: char| c.is_ascii_alphabetic() || c == '_' || c == '{';
                let kubelets = || {
                    behind
                        .split_once(')')
                        .is_some_and(|(name, _)| is_variable_name(&name[1..]))
                };
                if behind.starts_with(names) || (behind.starts_with('(') && !kubelets()) {
                    return true;
                }
            }
            _ => {}
        }
    }
    false
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=')
        .is_some_and(|(name, _)| is_variable_name(name))
}

/// Whether a variable of a shell can have this name.
pub fn is_variable_name(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes
        .next()
        .is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_')
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
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
            (r"find /a -exec true {} \; -name \$C", None),
            ("[ -f /tmp/ready ]", None),
            ("curl -f http://localhost:8000/a?b=c&d=1#e", None),
            ("grep -Eq (ready|warm).*a=b$ /x!y", None),
            ("sed -n /ready.*/p /a", None),
            ("cat $(READY_FILE)", None),
            ("cat /a 2>/dev/null", Some("2>/dev/null")),
            ("cat /a >/b", Some(">/b")),
            ("cat /a &> /b", Some("&>")),
            ("cat /a; true", Some("/a;")),
            ("cat /a && b", Some("&&")),
            ("cat /a | b", Some("|")),
            ("cat /a # ready", Some("#")),
            ("test -f $READY", Some("$READY")),
            ("test -f \"${READY} x\"", Some("\"${READY} x\"")),
            ("cat $(find /a)", Some("$(find")),
            ("cat `pwd`", Some("`pwd`")),
            ("ls /tmp/ready*", Some("/tmp/ready*")),
            ("cat ~/ready", Some("~/ready")),
            ("  FOO=1 python c.py", Some("FOO=1")),
            ("! test -f /a", Some("!")),
        ] {
            assert_eq!(needs_shell(line), Ok(word), "{line:?}");
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
