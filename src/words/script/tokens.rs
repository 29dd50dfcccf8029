//! The words and operators of a shell script.

/// A word without its quotes. What would be expanded stands in it as it is written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Word {
    /// Its text.
    pub text: String,
    /// Whether the shell takes it as it stands: nothing in it is expanded.
    pub plain: bool,
}

/// What a script is made of. A line break is a `;`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    Operator(&'static str),
    Redirect(String),
    Word(Word),
}

/// The longer ones first.
const OPERATORS: [&str; 8] = ["&&", "||", "|&", ";;", ";", "|", "(", ")"];
const REDIRECTS: [&str; 12] = [
    "&>>", "<<-", "<<<", "&>", "<&", "<<", "<>", ">&", ">>", ">|", "<", ">",
];

/// Splits a script; `None` where a quote or an expansion stays open.
pub(super) fn scan(text: &str) -> Option<Vec<Token>> {
    let mut scanner = Scanner {
        rest: text,
        word: None,
        tokens: Vec::new(),
    };
    while let Some(c) = scanner.rest.chars().next() {
        scanner.step(c)?;
    }
    scanner.end_word();
    Some(scanner.tokens)
}

struct Scanner<'s> {
    rest: &'s str,
    /// Quotes make a word even where nothing stands between them.
    word: Option<Word>,
    tokens: Vec<Token>,
}

impl Scanner<'_> {
    fn step(&mut self, c: char) -> Option<()> {
        match c {
            '\n' => self.operator("\n", ";"),
            ' ' | '\t' | '\r' => {
                self.end_word();
                self.skip(1);
            }
            '#' if self.word.is_none() => self.comment(),
            '\\' => self.backslash()?,
            '\'' => {
                let (quoted, rest) = self.rest[1..].split_once('\'')?;
                let quoted = quoted.to_owned();
                self.rest = &self.rest[self.rest.len() - rest.len()..];
                self.word().text.push_str(&quoted);
            }
            '"' => self.double()?,
            '$' | '`' => self.expansion()?,
            _ => self.plain(c),
        }
        Some(())
    }

    fn plain(&mut self, c: char) {
        let starts = |operator: &&&str| self.rest.starts_with(**operator);
        if let Some(redirect) = REDIRECTS.iter().find(starts) {
            self.redirect(redirect);
        } else if let Some(operator) = OPERATORS.iter().find(starts) {
            self.operator(operator, operator);
        } else if c == '&' {
            self.operator("&", "&");
        } else {
            let word = self.word();
            word.text.push(c);
            word.plain &= !matches!(c, '*' | '?' | '~');
            self.skip(c.len_utf8());
        }
    }

    fn skip(&mut self, bytes: usize) {
        self.rest = self.rest.get(bytes..).unwrap_or_default();
    }

    fn word(&mut self) -> &mut Word {
        self.word.get_or_insert(Word {
            text: String::new(),
            plain: true,
        })
    }

    fn end_word(&mut self) {
        self.tokens.extend(self.word.take().map(Token::Word));
    }

    fn operator(&mut self, text: &str, operator: &'static str) {
        self.end_word();
        self.tokens.push(Token::Operator(operator));
        self.skip(text.len());
    }

    /// The number of a descriptor stands right in front of its redirection.
    fn redirect(&mut self, operator: &str) {
        let is_number = |word: &Word| word.text.parse::<u32>().is_ok();
        if self.word.as_ref().is_some_and(is_number) {
            self.word = None;
        }
        self.end_word();
        self.tokens.push(Token::Redirect(operator.to_owned()));
        self.skip(operator.len());
    }

    fn comment(&mut self) {
        let end = self.rest.find('\n').unwrap_or(self.rest.len());
        self.skip(end);
    }

    fn backslash(&mut self) -> Option<()> {
        let quoted = self.rest.chars().nth(1)?;
        self.skip(1 + quoted.len_utf8());
        if quoted != '\n' {
            self.word().text.push(quoted);
        }
        Some(())
    }

    fn double(&mut self) -> Option<()> {
        self.word();
        self.skip(1);
        loop {
            let c = self.rest.chars().next()?;
            match c {
                '"' => {
                    self.skip(1);
                    return Some(());
                }
                '\\' => self.backslash()?,
                '$' | '`' => self.expansion()?,
                plain => {
                    self.word().text.push(plain);
                    self.skip(plain.len_utf8());
                }
            }
        }
    }

    /// Takes `$x`, `$(...)`, `${...}` or a pair of backquotes as it stands.
    fn expansion(&mut self) -> Option<()> {
        let length = if self.rest.starts_with('`') {
            self.rest[1..].find('`')? + 2
        } else if self.rest.starts_with("$(") {
            1 + enclosed(&self.rest[1..], '(', ')')?
        } else if self.rest.starts_with("${") {
            1 + enclosed(&self.rest[1..], '{', '}')?
        } else {
            1
        };
        let text = self.rest[..length].to_owned();
        let word = self.word();
        word.text.push_str(&text);
        word.plain = false;
        self.skip(length);
        Some(())
    }
}

/// The length of the text from an opening bracket to the one that closes it. Brackets in quotes do not count.
fn enclosed(text: &str, opening: char, closing: char) -> Option<usize> {
    let mut depth = 0;
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => {
                chars.next()?;
            }
            '\'' => {
                chars.find(|(_, c)| *c == '\'')?;
            }
            c if c == opening => depth += 1,
            c if c == closing => {
                depth -= 1;
                if depth == 0 {
                    return Some(at + c.len_utf8());
                }
            }
            _ => {}
        }
    }
    None
}
