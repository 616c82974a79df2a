//! Blade templates: PHP between `{{ }}` and `{!! !!}`, in `@php` blocks, in the arguments of directives, in the bound
//! attributes of components and between PHP's own tags.
//!
//! Invariant: what Blade certainly makes PHP of is read, or the file is refused: a piece that does not end by itself
//! (`{{ 'a }}`) would take what follows for code or text. The arguments of a directive that Blade does not bring may be
//! prose or a stylesheet's, and count where they can be read. `@use` and `@inject` name classes in strings.

use super::super::ImportKind;
use super::super::source::{Fault, Found};

/// Directives that Blade brings, and whose arguments are PHP.
const DIRECTIVES: &[&str] = &[
    "auth",
    "aware",
    "bool",
    "can",
    "canany",
    "cannot",
    "case",
    "checked",
    "choice",
    "class",
    "component",
    "componentfirst",
    "continue",
    "break",
    "dd",
    "disabled",
    "dump",
    "each",
    "elsecan",
    "elsecanany",
    "elsecannot",
    "elseif",
    "empty",
    "env",
    "error",
    "extends",
    "extendsfirst",
    "for",
    "foreach",
    "forelse",
    "guest",
    "hassection",
    "haspush",
    "if",
    "include",
    "includefirst",
    "includeif",
    "includeunless",
    "includewhen",
    "inject",
    "isset",
    "js",
    "json",
    "lang",
    "livewire",
    "method",
    "php",
    "prepend",
    "prependonce",
    "props",
    "push",
    "pushif",
    "pushonce",
    "readonly",
    "required",
    "section",
    "sectionmissing",
    "selected",
    "session",
    "slot",
    "stack",
    "style",
    "switch",
    "unless",
    "unset",
    "use",
    "vite",
    "while",
    "yield",
];
/// Longest argument, in bytes, whose end is looked for.
const MAX_ARGUMENT: usize = 64 * 1024;

/// One piece of PHP.
struct Piece {
    from: usize,
    end: usize,
    /// Whether Blade certainly takes it for PHP.
    is_sure: bool,
    /// The directive whose arguments it is, in lower case.
    directive: Option<String>,
}

/// Every import, in no particular order.
pub(in crate::gate::imports) fn scan(source: &[u8]) -> Result<Vec<Found>, Fault> {
    let pieces = Reader::new(source).pieces()?;
    let mut found = Vec::new();
    let mut sound = Vec::new();
    for piece in &pieces {
        let alone = Piece {
            from: 0,
            end: piece.end - piece.from,
            directive: None,
            ..*piece
        };
        match super::mask::mask_code(&code(&source[piece.from..piece.end], &[alone])) {
            Ok(_) => sound.push(Piece {
                directive: None,
                ..*piece
            }),
            Err(fault) if piece.is_sure => {
                return Err(Fault {
                    at: piece.from + fault.at,
                    ..fault
                });
            }
            Err(_) => {}
        }
        match piece.directive.as_deref() {
            Some("use") => named(source, piece, 0, &mut found),
            Some("inject") => named(source, piece, 1, &mut found),
            _ => {}
        }
    }
    // Together, so that an alias of one holds in the others.
    let whole = code(source, &sound);
    let masked = super::mask::mask_code(&whole)?;
    found.extend(super::scan_mask(&whole, &masked)?);
    Ok(found)
}

/// The pieces with nothing around them, each byte where it was; each ends its line and its statement.
fn code(source: &[u8], pieces: &[Piece]) -> Vec<u8> {
    let blank = |byte: &u8| match byte {
        b'\n' | b'\r' => *byte,
        _ => b' ',
    };
    let Some(last) = pieces.last() else {
        return Vec::new();
    };
    let mut out: Vec<u8> = source[..(last.end + 2).min(source.len())].iter().map(blank).collect();
    for piece in pieces {
        out[piece.from..piece.end].copy_from_slice(&source[piece.from..piece.end]);
        // PHP's own end tag is no end here: what follows a piece is decided by Blade.
        for at in memchr::memmem::find_iter(&source[piece.from..piece.end], b"?>") {
            out[piece.from + at..piece.from + at + 2].copy_from_slice(b"; ");
        }
        for (at, byte) in [(piece.end, b'\n'), (piece.end + 1, b';')] {
            if let Some(out) = out.get_mut(at) {
                *out = byte;
            }
        }
    }
    out
}

struct Reader<'a> {
    source: &'a [u8],
    found: Vec<Piece>,
    /// Marks of which no more stand behind the reader.
    gone: Vec<&'static [u8]>,
    /// Bytes that may still be looked at for the ends of arguments and tags: each may begin before the last has ended.
    budget: usize,
}

impl<'a> Reader<'a> {
    fn new(source: &'a [u8]) -> Self {
        Reader {
            source,
            found: Vec::new(),
            gone: Vec::new(),
            budget: 16 * source.len() + MAX_ARGUMENT,
        }
    }

    fn pieces(mut self) -> Result<Vec<Piece>, Fault> {
        let source = self.source;
        let mut at = 0;
        while let Some(length) = memchr::memchr3(b'{', b'@', b'<', &source[at..]) {
            at += length;
            let rest = &source[at..];
            let is_escaped = at > 0 && source[at - 1] == b'@';
            let echo: [(&'static [u8], &'static [u8]); 3] = [(b"{!!", b"!!}"), (b"{{{", b"}}}"), (b"{{", b"}}")];
            if rest.starts_with(b"{{--") {
                at = self.find(at + 4, b"--}}").map_or(at + 4, |end| end + 4);
            } else if let Some((open, close)) = echo.into_iter().find(|(open, _)| rest.starts_with(open)) {
                let from = at + open.len();
                match self.find(from, close) {
                    Some(end) => {
                        if !is_escaped {
                            self.push(from, end, true);
                        }
                        at = end + close.len();
                    }
                    None => at = from,
                }
            } else if rest[0] == b'<' {
                let tag = [&b"<?php"[..], b"<?="]
                    .into_iter()
                    .find(|tag| rest.get(..tag.len()).is_some_and(|head| head.eq_ignore_ascii_case(tag)));
                if let Some(tag) = tag {
                    let from = at + tag.len();
                    let end = self.find(from, b"?>").unwrap_or(source.len());
                    self.push(from, end, true);
                    at = (end + 2).min(source.len());
                } else {
                    if rest.starts_with(b"<x-") || rest.starts_with(b"<x:") || rest.starts_with(b"<livewire:") {
                        self.bound(at + 3)?;
                    }
                    at += 1;
                }
            } else if rest[0] == b'@' {
                at = self.directive(at)?;
            } else {
                at += 1;
            }
        }
        // What is certain goes before what only may be code around it.
        self.found.sort_by_key(|piece| (!piece.is_sure, piece.from));
        let (sure, mut pieces): (Vec<Piece>, Vec<Piece>) = self.found.into_iter().partition(|piece| piece.is_sure);
        let mut end = 0;
        pieces.retain(|piece| {
            let next = sure.partition_point(|sure| sure.end + 2 <= piece.from);
            let is_apart = piece.from >= end && sure.get(next).is_none_or(|sure| piece.end + 2 <= sure.from);
            if is_apart {
                end = piece.end + 2;
            }
            is_apart
        });
        pieces.extend(sure);
        pieces.sort_by_key(|piece| piece.from);
        Ok(pieces)
    }

    fn push(&mut self, from: usize, end: usize, is_sure: bool) {
        self.found.push(Piece {
            from,
            end,
            is_sure,
            directive: None,
        });
    }

    fn find(&mut self, from: usize, mark: &'static [u8]) -> Option<usize> {
        if self.gone.contains(&mark) {
            return None;
        }
        let found = memchr::memmem::find(&self.source[from..], mark).map(|length| from + length);
        if found.is_none() {
            self.gone.push(mark);
        }
        found
    }

    fn spend(&mut self, bytes: usize, at: usize) -> Result<(), Fault> {
        self.budget = self.budget.checked_sub(bytes).ok_or(Fault {
            why: "has directives that do not end",
            at,
        })?;
        Ok(())
    }

    /// What stands at an `@`; the offset behind it.
    fn directive(&mut self, at: usize) -> Result<usize, Fault> {
        let source = self.source;
        let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        let is_text = at > 0 && (is_word(&source[at - 1]) || source[at - 1] == b'@');
        let start = at + 1;
        let end = start + source[start..].iter().take_while(|byte| is_word(byte)).count();
        if is_text || end == start {
            return Ok(end);
        }
        let name = String::from_utf8_lossy(&source[start..end]).to_ascii_lowercase();
        if name == "verbatim" {
            return Ok(self.find(end, b"@endverbatim").unwrap_or(end));
        }
        let blanks = source[end..]
            .iter()
            .take_while(|byte| matches!(byte, b' ' | b'\t'))
            .count();
        let open = end + blanks;
        if source.get(open) != Some(&b'(') {
            let close = match name.as_str() {
                "php" => self.find(end, b"@endphp"),
                _ => None,
            };
            if let Some(close) = close {
                self.push(end, close, true);
            }
            return Ok(close.unwrap_or(end));
        }
        let close = closing(source, open);
        self.spend(close.unwrap_or(open + MAX_ARGUMENT) - open, at)?;
        let Some(close) = close else { return Ok(open + 1) };
        let is_sure = DIRECTIVES.contains(&name.as_str());
        self.found.push(Piece {
            from: open + 1,
            end: close,
            is_sure,
            directive: Some(name),
        });
        // What is no directive is text, in which more may stand.
        Ok(match is_sure {
            true => close + 1,
            false => open + 1,
        })
    }

    /// The attributes of a component's tag whose values are PHP (`:items="..."`).
    fn bound(&mut self, from: usize) -> Result<(), Fault> {
        let source = self.source;
        let mut at = from;
        let end = (from + MAX_ARGUMENT).min(source.len());
        while at < end && source[at] != b'>' {
            let quote = source[at];
            if !matches!(quote, b'"' | b'\'') {
                at += 1;
                continue;
            }
            let Some(length) = memchr::memchr(quote, &source[at + 1..end]) else {
                return self.spend(end - from, from);
            };
            let name = source[from..at].strip_suffix(b"=");
            let name = name.and_then(|name| name.rsplit(u8::is_ascii_whitespace).next());
            // `::x` is left for scripts.
            if name.is_some_and(|name| name.starts_with(b":") && !name.starts_with(b"::")) {
                self.push(at + 1, at + 1 + length, false);
            }
            at += length + 2;
        }
        self.spend(at.min(end) - from, from)
    }
}

/// The offset of the bracket that closes the one at `open`, brackets in strings not counted.
fn closing(source: &[u8], open: usize) -> Option<usize> {
    let (mut depth, mut quote) = (0usize, None);
    let mut bytes = source[open..].iter().enumerate().take(MAX_ARGUMENT);
    while let Some((at, &byte)) = bytes.next() {
        match (quote, byte) {
            (Some(_), b'\\') => {
                bytes.next();
            }
            (Some(open), byte) if open == byte => quote = None,
            (None, b'"' | b'\'') => quote = Some(byte),
            (None, b'(') => depth += 1,
            (None, b')') => {
                depth -= 1;
                if depth == 0 {
                    return Some(open + at);
                }
            }
            _ => {}
        }
    }
    None
}

/// The class or classes that a string of a directive names: `@use('App\Models\{User, Role}')`.
fn named(source: &[u8], piece: &Piece, wanted: usize, found: &mut Vec<Found>) {
    let mut at = piece.from;
    let mut nth = 0;
    while let Some(open) = source[at..piece.end]
        .iter()
        .position(|byte| matches!(byte, b'"' | b'\''))
    {
        let start = at + open + 1;
        let Some(length) = memchr::memchr(source[start - 1], &source[start..piece.end]) else {
            return;
        };
        at = start + length + 1;
        nth += 1;
        if nth <= wanted {
            continue;
        }
        let text = String::from_utf8_lossy(&source[start..start + length]).replace("\\\\", "\\");
        let text = text.trim();
        let text = ["function ", "const "]
            .iter()
            .find_map(|word| text.strip_prefix(word))
            .unwrap_or(text);
        let (head, inner) = match text.split_once('{') {
            Some((head, inner)) => (head, inner.trim_end_matches('}')),
            None => ("", text),
        };
        for name in inner.split(',') {
            let name = name.trim().split(" as ").next().unwrap_or_default();
            let identity: Vec<String> = format!("{head}{name}")
                .split('\\')
                .filter(|part| !part.is_empty())
                .map(|part| part.trim().to_owned())
                .collect();
            if !identity.is_empty() {
                found.push(Found {
                    raw: identity.join("\\"),
                    identity,
                    kind: ImportKind::Static,
                    at: start,
                });
            }
        }
        return;
    }
}

#[cfg(test)]
mod tests;
