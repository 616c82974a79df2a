//! What directives and `import` name.

use super::super::source::{Fault, Found};
use super::super::{ImportKind, identity};
use super::lexer::{Lexer, is_word_byte};

const AMBIGUOUS: &str = "has a header name in which a comment or string may begin";

/// In bytes; no file system has a longer path.
const LONGEST: usize = 4096;

impl Lexer<'_> {
    /// After the `#` that begins a line.
    pub(super) fn directive(&mut self, after: usize) -> Result<(), Fault> {
        self.begins_line = false;
        let at = self.blanks(after)?;
        let mut buffer = Vec::new();
        let (word, end) = self.word_at(at, &mut buffer);
        self.at = end.max(after);
        let is_data = word == b"embed";
        match word {
            b"include" | b"include_next" | b"import" | b"embed" => {
                let at = self.blanks(end)?;
                match self.byte(at) {
                    b'<' | b'"' => {
                        // What is embedded is data and no code.
                        let kind = match is_data {
                            true => ImportKind::Static,
                            false => ImportKind::Include,
                        };
                        if !self.header(at, kind)? {
                            self.opaque(at);
                        }
                    }
                    b'\n' | b'\r' => {}
                    b'/' if self.byte(self.joined(at + 1)) == b'/' => {}
                    _ => {
                        if !is_data {
                            self.include_macro(at);
                        }
                        self.opaque(at);
                    }
                }
            }
            b"if" | b"elif" => self.is_condition = true,
            b"pragma" => self.pragma(end)?,
            b"define" => self.define(end)?,
            _ => {}
        }
        Ok(())
    }

    /// `#pragma clang module import a.b`
    fn pragma(&mut self, end: usize) -> Result<(), Fault> {
        let mut at = end;
        for known in [&b"clang"[..], b"module", b"import"] {
            at = self.blanks(at)?;
            let mut buffer = Vec::new();
            let (word, end) = self.word_at(at, &mut buffer);
            if word != known {
                return Ok(());
            }
            at = end;
        }
        let at = self.blanks(at)?;
        if let Some((raw, _)) = self.module(at)? {
            self.push_module(raw, at);
        }
        Ok(())
    }

    /// The offset after blanks, block comments and joined lines, on this line.
    pub(super) fn blanks(&self, mut at: usize) -> Result<usize, Fault> {
        loop {
            at = self.joined(at);
            match self.byte(at) {
                b' ' | b'\t' | 0x0B | 0x0C => at += 1,
                b'/' if self.byte(self.joined(at + 1)) == b'*' => at = self.after_comment(at)?,
                _ => return Ok(at),
            }
        }
    }

    /// As [`Self::blanks`], over line breaks and comments of one line as well.
    fn gap(&self, mut at: usize) -> Result<usize, Fault> {
        loop {
            at = self.blanks(at)?;
            match self.source.get(at) {
                Some(b'\n' | b'\r') => at += 1,
                Some(b'/') if self.byte(self.joined(at + 1)) == b'/' => {
                    while self.source.get(at).is_some_and(|b| *b != b'\n') {
                        at = self.joined(at + 1);
                    }
                }
                _ => return Ok(at),
            }
        }
    }

    /// Reads `<x>` or `"x"` at `at` and moves behind it; false if its line does not end it.
    fn header(&mut self, at: usize, kind: ImportKind) -> Result<bool, Fault> {
        let Some((raw, end)) = self.delimited(at)? else {
            return Ok(false);
        };
        self.at = end;
        let path = raw[1..raw.len() - 1].trim();
        self.found.push(Found {
            identity: of_path(path, raw.starts_with('"')),
            raw,
            kind,
            at,
        });
        Ok(true)
    }

    /// As [`Self::delimited`], where no directive says that a header is named: what looks more like
    /// an expression is none. (Without it each of many such words would look at the rest of its line.)
    fn delimited_plain(&self, at: usize) -> Result<Option<(String, usize)>, Fault> {
        let expression = |b: &u8| matches!(*b, b'<' | b';' | b'(' | b'\n');
        let rest = &self.source[(at + 1).min(self.source.len())..];
        let length = rest
            .iter()
            .take(LONGEST)
            .take_while(|b| **b != b'>' && !expression(b))
            .count();
        if self.byte(at) == b'<' && (length == LONGEST || rest.get(length).is_none_or(expression)) {
            return Ok(None);
        }
        self.delimited(at)
    }

    /// A header name with its delimiters, and its end. It has no escapes.
    pub(super) fn delimited(&self, at: usize) -> Result<Option<(String, usize)>, Fault> {
        let close = if self.byte(at) == b'<' { b'>' } else { b'"' };
        let mut name = vec![self.byte(at)];
        let mut end = self.joined(at + 1);
        loop {
            let byte = self.byte(end);
            if matches!(byte, b'\n' | b'\r') {
                return Ok(None);
            }
            name.push(byte);
            if name.len() > LONGEST {
                return Ok(None);
            }
            if byte == close {
                break;
            }
            end = self.joined(end + 1);
        }
        // A compiler that skips this line reads it as other tokens.
        let is_unsure = match close {
            b'>' => {
                let has = |two: &[u8]| name.windows(2).any(|pair| pair == two);
                // `<a//b>`: to that compiler a comment, which ends where the line does, as this one.
                name.iter().any(|b| matches!(b, b'"' | b'\''))
                    || has(b"/*")
                    || (has(b"//") && !self.is_line_end(end + 1))
            }
            _ => name.ends_with(b"\\\""),
        };
        if is_unsure {
            return Err(self.fault(AMBIGUOUS, at));
        }
        Ok(String::from_utf8(name).ok().map(|name| (name, end + 1)))
    }

    /// After `__has_include` in a condition.
    pub(super) fn check_question(&mut self) -> Result<(), Fault> {
        let open = self.blanks(self.at)?;
        if self.byte(open) == b'(' {
            let at = self.blanks(open + 1)?;
            if self.byte(at) == b'<' && self.delimited_plain(at)?.is_none() {
                return Err(self.fault(AMBIGUOUS, at));
            }
        }
        Ok(())
    }

    /// After `import` where a statement begins.
    pub(super) fn import(&mut self, start: usize) -> Result<(), Fault> {
        let at = self.gap(self.at)?;
        match self.byte(at) {
            b'<' | b'"' => {
                let Some((_, end)) = self.delimited_plain(at)? else {
                    return Ok(());
                };
                if self.ends(end)? {
                    self.header(at, ImportKind::Static)?;
                }
            }
            _ => {
                if let Some((raw, end)) = self.module(at)?
                    && self.ends(end)?
                {
                    self.push_module(raw, at.max(start));
                }
            }
        }
        Ok(())
    }

    /// Whether the statement ends here, but for attributes.
    fn ends(&self, at: usize) -> Result<bool, Fault> {
        let at = self.gap(at)?;
        Ok(matches!(self.byte(at), b';' | b'[') && at < self.source.len())
    }

    /// A module's name, `a.b`, `a:part` or `:part`, and its end.
    fn module(&self, at: usize) -> Result<Option<(String, usize)>, Fault> {
        let mut name = Vec::new();
        let mut at = at;
        let mut end = at;
        loop {
            let byte = self.byte(at);
            if is_word_byte(byte) && matches!(name.last(), None | Some(b'.' | b':')) {
                let mut buffer = Vec::new();
                let (word, after) = self.word_at(at, &mut buffer);
                name.extend_from_slice(word);
                end = after;
            } else if matches!(byte, b'.' | b':') && !matches!(name.last(), Some(b'.' | b':')) {
                name.push(byte);
                end = at + 1;
            } else {
                break;
            }
            at = self.gap(end)?;
        }
        let is_name = name.last().is_some_and(|last| is_word_byte(*last));
        Ok(String::from_utf8(name).ok().filter(|_| is_name).map(|name| (name, end)))
    }

    fn push_module(&mut self, raw: String, at: usize) {
        let identity = match raw.starts_with(':') {
            true => Vec::new(),
            false => raw.split(['.', ':']).map(str::to_owned).collect(),
        };
        self.found.push(Found {
            raw,
            identity,
            kind: ImportKind::Static,
            at,
        });
    }

    fn opaque(&mut self, at: usize) {
        self.found.push(Found {
            raw: String::new(),
            identity: Vec::new(),
            kind: ImportKind::Opaque,
            at,
        });
    }
}

/// A path into a folder of copies names the package there; one that leaves its folder names what it finds below the last `include`.
pub(super) fn of_path(path: &str, is_quoted: bool) -> Vec<String> {
    let leads = |head: &str| {
        path.strip_prefix(head)
            .is_some_and(|rest| rest.starts_with(['/', '\\']))
    };
    if let Some(copy) = identity::vendored_c(path) {
        return identity::include(&copy.join("/"));
    }
    if is_quoted && (leads(".") || leads("..")) {
        return Vec::new();
    }
    let mut segments = identity::include(path);
    if path.starts_with(['/', '\\', '.']) || path.as_bytes().get(1) == Some(&b':') {
        let last = segments.len().saturating_sub(1);
        if let Some(at) = segments[..last].iter().rposition(|segment| segment == "include") {
            segments.drain(..=at);
        }
    }
    segments
}
