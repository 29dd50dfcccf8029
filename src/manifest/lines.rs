//! Byte offsets as lines and columns.

/// Where the lines of a text begin.
#[derive(Clone, Debug)]
pub(super) struct Lines {
    starts: Vec<u32>,
}

impl Lines {
    /// The lines of `text`. As in YAML, a line ends with LF, CRLF or a lone CR.
    pub(super) fn of(text: &str) -> Self {
        let bytes = text.as_bytes();
        let breaks = bytes.iter().enumerate().filter(|&(at, &byte)| {
            byte == b'\n' || (byte == b'\r' && bytes.get(at + 1) != Some(&b'\n'))
        });
        let starts = std::iter::once(0)
            .chain(breaks.map(|(at, _)| at as u32 + 1))
            .collect();
        Self { starts }
    }

    /// The line and the column (in characters) of a byte offset, both from 1. A byte-order mark takes no column.
    pub(super) fn position(&self, text: &str, offset: usize) -> (usize, usize) {
        let line = self
            .starts
            .partition_point(|&start| start as usize <= offset);
        let start = self.starts[line - 1] as usize;
        let before = text.get(start..offset).unwrap_or_default();
        let before = before.strip_prefix('\u{feff}').unwrap_or(before);
        (line, before.chars().count() + 1)
    }
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
}
