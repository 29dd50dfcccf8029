//! What dollar signs and backquotes stand for in a script.

use super::env::{self, HOLE, hole};
use super::script::{Reader, Unclosed, Word};
use crate::words::is_variable_name;

impl Reader<'_> {
    /// Copies a hole that the kubelet's expansion has left.
    pub(super) fn copy_hole(&mut self, quoted: bool) {
        let mut name = String::new();
        while let Some(c) = self.chars.next_if(|c| *c != HOLE) {
            name.push(c);
        }
        self.chars.next();
        self.push_value(&hole(&name), quoted);
    }

    pub(super) fn backquote(&mut self, quoted: bool) -> Result<(), Unclosed> {
        while self.chars.next().ok_or(Unclosed)? != '`' {}
        self.push_value(&hole(""), quoted);
        Ok(())
    }

    /// Reads what a dollar sign begins.
    pub(super) fn dollar(&mut self, quoted: bool) -> Result<(), Unclosed> {
        match self.chars.peek().copied() {
            Some('(') => {
                self.chars.next();
                self.skip_brackets('(', ')')?;
                self.push_value(&hole(""), quoted);
            }
            Some('{') => {
                self.chars.next();
                let inner = self.skip_brackets('{', '}')?;
                self.braced(&inner, quoted);
            }
            Some('\'') if !quoted => {
                self.chars.next();
                self.single()?;
            }
            Some(c) if c.is_ascii_alphabetic() || c == '_' => {
                let mut name = String::new();
                while let Some(c) = self
                    .chars
                    .next_if(|c| c.is_ascii_alphanumeric() || *c == '_')
                {
                    name.push(c);
                }
                let value = self.env.value(&name);
                self.push_value(&value, quoted);
            }
            Some(c @ ('0'..='9' | '@' | '*' | '#' | '?' | '$' | '!' | '-')) => {
                self.chars.next();
                self.parameter(&c.to_string(), quoted);
            }
            _ => self.word().text.push('$'),
        }
        Ok(())
    }

    /// Expands `${...}`. A default is taken only where it is certain that it is not needed.
    fn braced(&mut self, inner: &str, quoted: bool) {
        let end = inner
            .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
            .unwrap_or(inner.len());
        let (name, modifier) = inner.split_at(end);
        if !is_variable_name(name) {
            return self.parameter(inner, quoted);
        }
        if modifier.starts_with('[') {
            // All elements of an array are words of their own, also between quotes.
            let several = modifier.starts_with("[@]");
            return self.push_hole(name, quoted, several);
        }
        let known = |value: &&str| env::is_known(value) && !value.is_empty();
        let value = match modifier.trim_start_matches(':').chars().next() {
            None => self.env.value(name),
            Some('-' | '=' | '?') => match self.env.get(name).filter(known) {
                Some(_) => self.env.value(name),
                None => hole(name),
            },
            Some(_) => hole(name),
        };
        self.push_value(&value, quoted);
    }

    /// Expands a positional or special parameter.
    fn parameter(&mut self, name: &str, quoted: bool) {
        let all = name.starts_with(['@', '*']);
        let parameters = self.parameters.clone();
        let parameters = parameters.as_deref();
        let taken = match name.parse::<usize>() {
            _ if matches!(name, "@" | "*") => {
                parameters.map(|all| all.get(1..).unwrap_or_default())
            }
            Ok(at) => parameters.and_then(|all| all.get(at..=at)),
            Err(_) => None,
        };
        // A word takes room as well, even an empty one.
        let bytes = |words: &[Word]| words.iter().map(|word| word.text.len() + 1).sum();
        let Some(words) = taken.filter(|words| self.env.spend(bytes(words))) else {
            return self.push_hole("", quoted, all);
        };
        for (number, word) in words.iter().enumerate() {
            if number > 0 {
                self.end_word();
            }
            self.push_value(&word.text, quoted);
            if word.splits {
                self.word().splits = true;
            }
        }
    }

    /// Adds a hole, which may become several words or none where nothing quotes it, or where it is `several` at once.
    fn push_hole(&mut self, name: &str, quoted: bool, several: bool) {
        self.push_value(&hole(name), quoted);
        self.word().splits |= several;
    }

    /// Adds the value of an expansion to the word; an unquoted one is split at blanks.
    pub(super) fn push_value(&mut self, value: &str, quoted: bool) {
        if quoted {
            self.word().text.push_str(value);
            return;
        }
        let mut rest = value;
        while let Some(c) = rest.chars().next() {
            if let Some((hole, behind)) = env::split_hole(rest) {
                let word = self.word();
                word.text.push_str(hole);
                word.splits = true;
                rest = behind;
            } else {
                if c.is_ascii_whitespace() {
                    self.end_word();
                } else {
                    self.word().text.push(c);
                }
                rest = &rest[c.len_utf8()..];
            }
        }
    }

    /// Reads up to the bracket that closes the one just read, and gives what stands between them.
    pub(super) fn skip_brackets(&mut self, open: char, close: char) -> Result<String, Unclosed> {
        let mut inner = String::new();
        let mut depth = 0;
        let mut quote = None;
        loop {
            let c = self.chars.next().ok_or(Unclosed)?;
            match quote {
                Some(quoted) if c == quoted => quote = None,
                Some(_) => {}
                None if c == '\'' || c == '"' => quote = Some(c),
                None if c == open => depth += 1,
                None if c == close && depth == 0 => return Ok(inner),
                None if c == close => depth -= 1,
                None => {}
            }
            inner.push(c);
            if c == '\\' && quote != Some('\'') {
                inner.push(self.chars.next().ok_or(Unclosed)?);
            }
        }
    }
}
