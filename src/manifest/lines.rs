//! Byte offsets as lines and columns.

/// How many bytes are counted at once: a line of JSON can be as long as the text, and is not counted through for each field.
const BLOCK: usize = 4096;

/// So many bytes of a manifest make a line, more or less.
const BYTES_A_LINE: usize = 24;

/// Where the lines of a text begin, and how many characters stand before a byte.
#[derive(Clone, Debug)]
pub(super) struct Lines {
    starts: Vec<u32>,
    /// How many bytes before each block do not begin a character.
    inner: Vec<u32>,
}

impl Lines {
    /// The lines of `text`. As in YAML, a line ends with LF, CRLF or a lone CR.
    pub(super) fn of(text: &str) -> Self {
        let bytes = text.as_bytes();
        let breaks = bytes.iter().enumerate().filter(|&(at, &byte)| {
            byte == b'\n' || (byte == b'\r' && bytes.get(at + 1) != Some(&b'\n'))
        });
        let mut starts = Vec::with_capacity(1 + bytes.len() / BYTES_A_LINE);
        starts.push(0);
        starts.extend(breaks.map(|(at, _)| at as u32 + 1));
        let mut count = 0;
        // One more than there are blocks, for the end of the text.
        let mut inner = vec![0];
        for block in bytes.chunks(BLOCK) {
            count += inner_bytes(block);
            inner.push(count);
        }
        Self { starts, inner }
    }

    /// The line and the column (in characters) of a byte offset, both from 1. A byte-order mark takes no column.
    pub(super) fn position(&self, text: &str, offset: usize) -> (usize, usize) {
        let line = self
            .starts
            .partition_point(|&start| start as usize <= offset);
        let start = self.starts[line - 1] as usize;
        let column = self.characters(text, offset) - self.characters(text, start);
        let mark = start == 0 && offset > 0 && text.starts_with('\u{feff}');
        (line, column + 1 - usize::from(mark))
    }

    fn characters(&self, text: &str, offset: usize) -> usize {
        if self.inner.last() == Some(&0) {
            return offset;
        }
        let block = offset / BLOCK;
        let before = self.inner[block] as usize;
        let rest = &text.as_bytes()[block * BLOCK..offset];
        offset - before - inner_bytes(rest) as usize
    }
}

fn inner_bytes(bytes: &[u8]) -> u32 {
    bytes
        .iter()
        .map(|byte| u32::from(byte & 0xc0 == 0x80))
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_every_line_break_once() {
        let text = "\u{feff}a\r\nbé\rc\n\nd";
        let lines = Lines::of(text);
        for (mark, position) in [
            ('a', (1, 1)),
            ('b', (2, 1)),
            ('é', (2, 2)),
            ('c', (3, 1)),
            ('d', (5, 1)),
        ] {
            let offset = text.find(mark).unwrap();
            assert_eq!(lines.position(text, offset), position, "{mark}");
        }
        assert_eq!(lines.position(text, text.len()), (5, 2));
    }

    #[test]
    fn counts_characters_through_long_lines() {
        let text = "aé€😀\n".repeat(3) + &"aé€😀".repeat(5000);
        let lines = Lines::of(&text);
        for (column, (offset, _)) in text.char_indices().skip(15).enumerate() {
            assert_eq!(lines.position(&text, offset), (4, column + 1));
        }
        assert_eq!(lines.position(&text, text.len()), (4, 20_001));
    }
}
