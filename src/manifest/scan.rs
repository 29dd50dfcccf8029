//! Looks into the text where the events of the parser do not tell enough.

/// The first of these indicators behind the token that ends at `from`, not counting what comments, anchors and tags hold.
pub(super) fn indicator(text: &str, from: usize, wanted: &[u8]) -> Option<usize> {
    let mut at = from;
    loop {
        let rest = text.get(at..)?;
        at += match rest.bytes().next()? {
            byte if wanted.contains(&byte) => return Some(at),
            b'#' => rest.find(['\n', '\r'])?,
            b'&' | b'!' => rest.find([' ', '\t', '\n', '\r'])?,
            _ => rest.chars().next()?.len_utf8(),
        };
    }
}

/// Where the last line of a block scalar ends, before its line break. Blank lines behind it are part of it only if its value
/// ends in more than one line break, or in a line of blanks.
pub(super) fn block_end(text: &str, value: &str) -> usize {
    let lines = value.trim_end_matches('\n');
    let keeps = value.len() - lines.len() > 1 || lines.is_empty() && !value.is_empty();
    if keeps || lines.ends_with([' ', '\t']) {
        // The indentation of the line that follows may be counted to it.
        let text = text.trim_end_matches([' ', '\t']);
        let text = text.strip_suffix('\n').unwrap_or(text);
        text.strip_suffix('\r').unwrap_or(text).len()
    } else {
        text.trim_end_matches([' ', '\t', '\n', '\r']).len()
    }
}

/// Where the line of this offset begins.
pub(super) fn line_start(text: &str, offset: usize) -> usize {
    let start = text[..offset].rfind(['\n', '\r']).map_or(0, |at| at + 1);
    let mark = text[start..offset].starts_with('\u{feff}');
    start + if mark { '\u{feff}'.len_utf8() } else { 0 }
}

/// Where the line of this offset ends, before its line break.
pub(super) fn line_end(text: &str, offset: usize) -> usize {
    let rest = &text[offset..];
    offset + rest.find(['\n', '\r']).unwrap_or(rest.len())
}

/// Where the blank lines end that follow the line that ends here.
pub(super) fn blank_lines_end(text: &str, mut end: usize) -> usize {
    loop {
        let rest = &text[end..];
        let eol = ["\r\n", "\n", "\r"]
            .into_iter()
            .find(|eol| rest.starts_with(eol));
        let Some(eol) = eol else {
            return end;
        };
        let next = line_end(text, end + eol.len());
        if !text[end..next].trim().is_empty() || next == text.len() {
            return end;
        }
        end = next;
    }
}

/// The line break that stands at this offset, or the first one of the text.
pub(super) fn line_break(text: &str, offset: usize) -> &'static str {
    let from = [offset, 0].into_iter().find_map(|from| {
        let at = from + text[from..].find(['\n', '\r'])?;
        Some(&text[at..])
    });
    match from {
        Some(rest) if rest.starts_with("\r\n") => "\r\n",
        Some(rest) if rest.starts_with('\r') => "\r",
        _ => "\n",
    }
}

/// How many bytes of its line stand before this offset.
pub(super) fn column(text: &str, offset: usize) -> usize {
    offset - line_start(text, offset)
}

/// The blanks that the line of this offset begins with.
pub(super) fn indentation(text: &str, offset: usize) -> &str {
    let line = &text[line_start(text, offset)..];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// Whether nothing but blanks stands before this offset on its line.
pub(super) fn is_first(text: &str, offset: usize) -> bool {
    text[line_start(text, offset)..offset]
        .trim_matches([' ', '\t'])
        .is_empty()
}

/// The first offset from here on where neither blanks, line breaks nor comments stand.
pub(super) fn skip_blanks(text: &str, mut offset: usize) -> usize {
    loop {
        let rest = &text[offset..];
        let blanks = rest.len() - rest.trim_start_matches([' ', '\t', '\n', '\r']).len();
        offset += blanks;
        if !text[offset..].starts_with('#') {
            return offset;
        }
        offset = line_end(text, offset);
    }
}
