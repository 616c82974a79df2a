//! Objects of a class whose name is in a variable: `$class = 'Predis\Client'; new $class`.
//!
//! What a variable holds nobody can tell without running the file. So `new $x` and `new ($x)` are one opaque
//! import of the file, and in a file that has one, or `$x::`, each string that is written like a qualified
//! name (`Predis\Client`) counts as an import; in any other it is an [`ImportKind::Text`]. A string of one word (`'Redis'`) is nearly always something
//! else: it counts where it is assigned to a variable of which the file makes an object.

use std::collections::HashSet;

use super::super::ImportKind;
use super::super::literal_cursor::{Kind, Token};
use super::Scanner;

/// What the file has to do with names of classes in variables.
#[derive(Debug, Default)]
pub(super) struct Made {
    /// Where the first object is made of a variable.
    at: Option<usize>,
    /// Whether a variable stands for a class, of whatever kind.
    is_used: bool,
    /// The variables that stand for one.
    variables: HashSet<Vec<u8>>,
    /// Strings with a backslash in them.
    qualified: Vec<Token>,
    /// Other strings that are assigned, with the variable.
    assigned: Vec<(Token, Token)>,
}

impl Scanner<'_> {
    /// After `new`.
    pub(super) fn made_of_variable(&mut self, new: Token) {
        let mut ahead = self.cursor.clone();
        let mut token = ahead.next_over_lines();
        if token.is(b'(') {
            token = ahead.next_over_lines();
        }
        if !token.is(b'$') {
            return;
        }
        self.made.at.get_or_insert(new.start);
        self.made.is_used = true;
        let name = ahead.next();
        if name.kind == Kind::Word {
            self.made.variables.insert(self.cursor.bytes(name).to_vec());
        }
    }

    /// At `:`: of `$x::` the variable stands for a class or an object.
    pub(super) fn member_of_variable(&mut self) {
        let [name, dollar, _] = self.before;
        if name.kind == Kind::Word && dollar.is(b'$') && dollar.end == name.start && self.cursor.peek().is(b':') {
            self.made.is_used = true;
            self.made.variables.insert(self.cursor.bytes(name).to_vec());
        }
    }

    /// At any string.
    pub(super) fn class_text(&mut self, token: Token) {
        let [equals, name, dollar] = self.before;
        if memchr::memchr(b'\\', &self.source[token.start..token.end]).is_some() {
            self.made.qualified.push(token);
        } else if equals.is(b'=') && name.kind == Kind::Word && dollar.is(b'$') {
            self.made.assigned.push((token, name));
        }
    }

    /// After the last token.
    pub(super) fn settle_made(&mut self) {
        let made = std::mem::take(&mut self.made);
        if let Some(at) = made.at {
            self.opaque(at);
        }
        let kind = match made.is_used {
            true => ImportKind::Dynamic,
            false => ImportKind::Text,
        };
        for token in made.qualified {
            let is_name = self.class_literal(token).is_some_and(|text| match made.is_used {
                true => text.trim_start_matches('\\').contains('\\'),
                false => is_qualified(&text),
            });
            if is_name {
                self.class_name(token, kind);
            }
        }
        for (token, name) in made.assigned {
            if made.variables.contains(self.cursor.bytes(name)) {
                self.class_name(token, ImportKind::Dynamic);
            }
        }
    }

    /// What a literal says where it names a class. Between double quotes a backslash before a letter that is
    /// no escape is itself: `"Predis\Client"`.
    pub(super) fn class_literal(&self, token: Token) -> Option<String> {
        let [b'"', body @ .., b'"'] = &self.source[token.start..token.end] else {
            return self.literal(token);
        };
        let mut text = Vec::with_capacity(body.len());
        let mut bytes = body.iter().copied().peekable();
        while let Some(byte) = bytes.next() {
            let is_escape = |next: &u8| {
                matches!(
                    next,
                    b'\\' | b'$' | b'"' | b'0'..=b'7' | b'x' | b'u' | b'n' | b't' | b'r' | b'v' | b'e' | b'f'
                )
            };
            match bytes.peek() {
                Some(b'\\' | b'$' | b'"') if byte == b'\\' => text.extend(bytes.next()),
                // With other escapes in it, it is what it is.
                Some(next) if byte == b'\\' && is_escape(next) => return self.literal(token),
                _ => text.push(byte),
            }
        }
        String::from_utf8(text).ok()
    }
}

/// Whether a text alone looks like a qualified name, where nothing in the file takes one for a class. It is none
/// where all that follows a backslash is one letter (`'Redis\n'`), which is an escape between the wrong quotes, nor,
/// without `::`, where all of it is in lower case, as keys of messages are: what loads classes tells cases apart,
/// and hardly a library's are in lower case.
fn is_qualified(text: &str) -> bool {
    let (name, has_member) = match text.split_once("::") {
        Some((name, _)) => (name, true),
        None => (text, false),
    };
    let name = name.strip_prefix('\\').unwrap_or(name);
    let mut segments = name.split('\\');
    let is_segment = |segment: &str| {
        let mut letters = segment.chars();
        letters.next().is_some_and(|c| c.is_alphabetic() || c == '_')
            && letters.all(|c| c.is_alphanumeric() || c == '_')
    };
    let first = segments.next().unwrap_or_default();
    let mut is_long = false;
    let is_whole = is_segment(first)
        && segments.all(|segment| {
            is_long |= segment.chars().nth(1).is_some();
            is_segment(segment)
        });
    is_whole && is_long && (has_member || name.chars().any(char::is_uppercase))
}
