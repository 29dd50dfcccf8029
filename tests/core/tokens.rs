//! Rust source as words and signs: enough to find paths and attributes without being misled by comments and texts.

/// One word or sign, and the line it stands on, from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    /// A name, a keyword, a number, or one sign. A text literal is `"`.
    pub(crate) text: String,
    /// The line.
    pub(crate) line: usize,
}

impl Token {
    /// Whether it is a name, a keyword or a number.
    pub(crate) fn is_word(&self) -> bool {
        self.text.starts_with(is_word_char)
    }
}

fn is_word_char(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The words and signs of `source`, without comments.
pub(crate) fn tokens(source: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = source;
    while let Some(c) = rest.chars().next() {
        let length = length_at(rest, c);
        let (text, behind) = rest.split_at(length);
        let shown = match c {
            _ if c.is_whitespace() || text.starts_with("//") || text.starts_with("/*") => None,
            _ if text.len() > 1 && text.ends_with(['"', '#', '\'']) => Some("\""),
            _ => Some(text),
        };
        if let Some(shown) = shown {
            let line = 1 + source[..source.len() - rest.len()].matches('\n').count();
            let text = shown.to_owned();
            tokens.push(Token { text, line });
        }
        rest = behind;
    }
    tokens
}

/// The length in bytes of the token, comment or blank that `rest` begins with.
fn length_at(rest: &str, c: char) -> usize {
    if rest.starts_with("//") {
        return rest.find('\n').unwrap_or(rest.len());
    }
    if rest.starts_with("/*") {
        return block_comment(rest);
    }
    if let Some(length) = raw_text(rest) {
        return length;
    }
    let prefix = usize::from(matches!(rest.as_bytes(), [b'b' | b'c', b'"' | b'\'', ..]));
    match rest.as_bytes()[prefix] {
        b'"' => prefix + quoted(&rest[prefix..], '"'),
        b'\'' if is_char(&rest[prefix..]) => prefix + quoted(&rest[prefix..], '\''),
        _ if is_word_char(c) => rest.find(|c| !is_word_char(c)).unwrap_or(rest.len()),
        _ => c.len_utf8(),
    }
}

/// Block comments nest.
fn block_comment(rest: &str) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while at < rest.len() {
        if rest[at..].starts_with("/*") {
            depth += 1;
            at += 2;
        } else if rest[at..].starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += rest[at..].chars().next().map_or(1, char::len_utf8);
        }
    }
    rest.len()
}

/// `r"..."`, `r#"..."#`, `br"..."`.
fn raw_text(rest: &str) -> Option<usize> {
    let behind = ["r", "br", "cr"]
        .iter()
        .find_map(|prefix| rest.strip_prefix(prefix))?;
    let hashes = behind.bytes().take_while(|byte| *byte == b'#').count();
    let inner = behind[hashes..].strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(hashes));
    let closed = inner.find(&end).map_or(inner.len(), |at| at + end.len());
    Some(rest.len() - inner.len() + closed)
}

/// Whether a quote opens a character, not a lifetime.
fn is_char(rest: &str) -> bool {
    let mut chars = rest.chars().skip(1);
    match (chars.next(), chars.next()) {
        (Some('\\'), _) => true,
        (Some(_), Some(next)) => next == '\'',
        _ => false,
    }
}

/// The length up to the closing quote.
fn quoted(rest: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if c == quote => return at + c.len_utf8(),
            _ => {}
        }
    }
    rest.len()
}

#[test]
fn comments_and_texts_hide_nothing_and_show_nothing() {
    let source = r##"a /* b /* c */ d */ e // f
        "g \" h" 'i' '\'' 'static r#"j " k"# br"l" b'm' '"' n::o // p"##;
    let words: Vec<_> = tokens(source).into_iter().map(|token| token.text).collect();
    assert_eq!(
        words,
        [
            "a", "e", "\"", "\"", "\"", "'", "static", "\"", "\"", "\"", "\"", "n", ":", ":", "o"
        ]
    );
    assert_eq!(
        tokens("a\n\n\"b\nc\" d").last().map(|token| token.line),
        Some(4)
    );
}
