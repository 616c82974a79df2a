//! setup.py: a program, of which only literal lists are read.

use super::code::{Language, Placed, Token, statement, tokens};
use super::declared::{Computed, Declared, Dependency};
use super::python::requirement;

/// Arguments of `setup()` that name requirements.
const KEYS: &[&str] = &[
    "install_requires",
    "setup_requires",
    "tests_require",
    "extras_require",
    "requires",
    "dependency_links",
];

/// Strings of the lists that follow such a key, as `key=` or `"key":`, and keys whose value is not
/// made of literals alone. Python joins strings that stand side by side.
pub(super) fn dependencies(text: &str) -> Result<Declared, String> {
    let tokens = tokens(text, Language::Python)?;
    let mut declared = Declared {
        computed: spreads(&tokens)
            .into_iter()
            .map(|at| Computed {
                text: statement(text, at),
                at,
            })
            .collect(),
        ..Declared::default()
    };
    let mut past = 0;
    for (index, (token, at)) in tokens.iter().enumerate() {
        // What stands in a value was read with it.
        if index < past {
            continue;
        }
        let is_key = match token {
            Token::Word(word) => KEYS.contains(word),
            Token::Text { text, .. } => KEYS.contains(text),
            _ => false,
        };
        // `key=[`, `"key": [`, `options["key"] = [`; `==` compares.
        let behind = tokens.get(index + 1..).unwrap_or_default();
        let behind = match behind {
            [(Token::Mark(']'), _), rest @ ..] if matches!(token, Token::Text { .. }) => rest,
            other => other,
        };
        let value = match (token, behind) {
            (Token::Word(_), [(Token::Mark('='), _), (Token::Mark('='), _), ..]) => continue,
            (_, [(Token::Mark('+'), _), (Token::Mark('='), _), value @ ..]) => value,
            (_, [(Token::Mark('=' | ':'), _), value @ ..]) => value,
            _ => continue,
        };
        if !is_key {
            continue;
        }
        let (is_literal, length) = literals(value, &mut declared.found);
        past = tokens.len() - value.len() + length;
        if !is_literal {
            declared.computed.push(Computed {
                text: statement(text, *at),
                at: *at,
            });
        }
    }
    Ok(declared)
}

/// Takes the strings of the value: whether it was made of nothing else, and of how many tokens.
fn literals(value: &[Placed], found: &mut Vec<Dependency>) -> (bool, usize) {
    let mut depth = 0usize;
    let mut is_literal = true;
    let mut open: Option<(String, usize)> = None;
    for (count, (token, at)) in value.iter().enumerate() {
        match token {
            Token::Text { text, is_computed } => {
                is_literal &= !is_computed;
                let (joined, _) = open.get_or_insert_with(|| (String::new(), *at));
                joined.push_str(text);
            }
            // The key of a table of extras.
            Token::Mark(':') if depth > 0 && open.is_some() => open = None,
            Token::Mark(mark) => {
                take(&mut open, found);
                match mark {
                    '[' | '{' | '(' => depth += 1,
                    ']' | '}' | ')' => depth = depth.saturating_sub(1),
                    ',' => {}
                    _ => is_literal = false,
                }
                // A value ends with its bracket, or at a comma where it has none. Behind the
                // bracket `+` would add to it.
                if depth == 0 {
                    let goes_on = matches!(value.get(count + 1), Some((Token::Mark('+' | '.' | '['), _)));
                    return (is_literal && !goes_on, count + 1);
                }
            }
            Token::Word("None") => {}
            // `r"x"`, but not the variable `r`.
            Token::Word("r" | "R" | "b" | "B" | "u" | "U") if is_prefix(value, count) => {}
            Token::Word(_) => is_literal = false,
            // Without brackets a line ends the value, unless a string goes on in the next.
            Token::Line if depth == 0 && open.is_some() => {
                let rest = value.get(count + 1..).unwrap_or_default();
                let next = rest.iter().find(|(token, _)| !matches!(token, Token::Line));
                if !matches!(next, Some((Token::Text { .. }, _))) {
                    take(&mut open, found);
                    return (is_literal, count + 1);
                }
            }
            Token::Line => {}
        }
    }
    take(&mut open, found);
    (is_literal, value.len())
}

/// The strings that were joined so far, one requirement a line.
fn take(open: &mut Option<(String, usize)>, found: &mut Vec<Dependency>) {
    if let Some((text, at)) = open.take() {
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        found.extend(lines.map(|line| requirement(line).at(Some(at))));
    }
}

/// Whether the word at this place belongs to the string behind it.
fn is_prefix(value: &[Placed], at: usize) -> bool {
    match value.get(at..) {
        Some([(Token::Word(word), begin), (Token::Text { .. }, string), ..]) => begin + word.len() == *string,
        _ => false,
    }
}

/// Places in a call of `setup` where arguments come from something that is not written there
/// (`**options`), whatever name the script gives to the function.
fn spreads(tokens: &[Placed]) -> Vec<usize> {
    let mut names = vec!["setup"];
    for around in tokens.windows(4) {
        match around {
            [
                (Token::Word("setup"), _),
                (Token::Word("as"), _),
                (Token::Word(name), _),
                _,
            ] => names.push(name),
            [
                (Token::Word(name), _),
                (Token::Mark('='), _),
                (Token::Word("setup"), _),
                (next, _),
            ] if *next != Token::Mark('(') => {
                names.push(name);
            }
            _ => {}
        }
    }
    let mut found = Vec::new();
    // For each open bracket whether keys in it are arguments of the call.
    let mut open: Vec<bool> = Vec::new();
    // The last token that is no line break, and the one before it.
    let mut last: [Option<&Token>; 2] = [None, None];
    for (index, (token, at)) in tokens.iter().enumerate() {
        let is_argument = open.last() == Some(&true);
        match token {
            Token::Line => continue,
            Token::Mark('(') => open.push(matches!(last[1], Some(Token::Word(word)) if names.contains(word))),
            Token::Mark('{') => open.push(is_argument && last == [Some(&Token::Mark('*')); 2]),
            Token::Mark('[') => open.push(false),
            Token::Mark(')' | ']' | '}') => {
                open.pop();
            }
            Token::Mark('*') if is_argument && matches!(last[1], Some(Token::Mark('(' | ',' | '{'))) => {
                let mut behind = tokens[index + 1..]
                    .iter()
                    .map(|(token, _)| token)
                    .filter(|token| **token != Token::Line);
                if behind.next() == Some(&Token::Mark('*')) && behind.next() != Some(&Token::Mark('{')) {
                    found.push(*at);
                }
            }
            _ => {}
        }
        last = [last[1], Some(token)];
    }
    found
}
