//! Names that a script of Gradle gives to strings.

use std::collections::HashMap;

use super::code::{Placed, Token};

/// Strings by the names that the script gives them; `None` for a name of several.
pub(super) type Constants<'a> = HashMap<&'a str, Option<&'a str>>;

/// `val x = "y"`, `def x = 'y'`, `x = "y"`, `ext.x = "y"`.
pub(super) fn constants<'a>(tokens: &[Placed<'a>]) -> Constants<'a> {
    let mut constants = Constants::new();
    for at in 0..tokens.len() {
        let (name, value) = match &tokens[at..] {
            [(Token::Word(name), _), (Token::Mark('='), _), value @ ..] => (name, value),
            // `val x: String = "y"`
            [
                (Token::Word(name), _),
                (Token::Mark(':'), _),
                (Token::Word("String"), _),
                (Token::Mark('='), _),
                value @ ..,
            ] => (name, value),
            _ => continue,
        };
        let text = match value {
            [(Token::Mark('='), _), ..] => continue,
            [
                (
                    Token::Text {
                        text,
                        is_computed: false,
                    },
                    _,
                ),
                rest @ ..,
            ] if matches!(rest.first(), None | Some((Token::Line | Token::Mark(';' | '}'), _))) => Some(*text),
            _ => None,
        };
        let known = constants.entry(name).or_insert(text);
        if *known != text {
            *known = None;
        }
    }
    constants
}

/// A string with what its names stand for in their places; `None` where one is not known.
pub(super) fn filled(text: &str, constants: &Constants) -> Option<String> {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        out.push_str(&rest[..at]);
        let behind = &rest[at + 1..];
        let (name, after) = match behind.strip_prefix('{') {
            Some(inner) => inner.split_once('}')?,
            None => {
                let end = behind
                    .find(|c: char| !(c.is_alphanumeric() || c == '_'))
                    .unwrap_or(behind.len());
                behind.split_at(end)
            }
        };
        let name = name.trim().rsplit('.').next().unwrap_or(name);
        out.push_str(constants.get(name).copied().flatten()?);
        rest = after;
    }
    out.push_str(rest);
    (!out.contains('\\')).then_some(out)
}
