//! Redirections and here-documents: their words are no arguments.

use std::mem;

use super::env::hole;
use super::script::{Reader, Unclosed, Word};

/// What the next word is instead of an argument.
pub(super) enum Redirection {
    File,
    Document,
}

impl Reader<'_> {
    /// Passes over the here-documents that begin behind this line.
    pub(super) fn skip_documents(&mut self) {
        for delimiter in mem::take(&mut self.documents) {
            loop {
                let mut line = String::new();
                while let Some(c) = self.chars.next_if(|c| *c != '\n') {
                    line.push(c);
                }
                let more = self.take('\n');
                if !more || line.trim_start_matches('\t') == delimiter {
                    break;
                }
            }
        }
    }

    /// Reads a redirection operator; the file descriptor before it and the word behind it are no arguments.
    pub(super) fn redirect(&mut self, operator: char) -> Result<(), Unclosed> {
        let descriptor = |word: &Word| word.text.bytes().all(|byte| byte.is_ascii_digit());
        if self.word.as_ref().is_some_and(descriptor) {
            self.word = None;
        }
        self.end_word();
        if self.take('(') {
            self.skip_brackets('(', ')')?;
            self.push_value(&hole(""), true);
            return Ok(());
        }
        let mut kind = Redirection::File;
        if operator == '<' && self.take('<') && !self.take('<') {
            self.take('-');
            kind = Redirection::Document;
        }
        while self
            .chars
            .next_if(|c| matches!(c, '>' | '<' | '&' | '|'))
            .is_some()
        {}
        self.redirection = Some(kind);
        Ok(())
    }
}
