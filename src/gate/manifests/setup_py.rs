//! setup.py: a program, of which only literal lists are read, and names that it gives to such.

use std::collections::{HashMap, HashSet};

use super::code::{Language, Placed, Token, statement, tokens};
use super::declared::{Computed, Declared, Dependency};
use super::python::requirement;

/// Strings that one name may stand for: names that double each other would take all memory.
const MAX_NAMES: usize = 10_000;

/// Arguments of `setup()` that name requirements.
const KEYS: &[&str] = &[
    "install_requires",
    "setup_requires",
    "tests_require",
    "extras_require",
    "requires",
    "dependency_links",
];

/// What a name of the file stands for: all strings that are ever put into it, and whether they are all of it.
#[derive(Clone)]
struct Constant {
    found: Vec<Dependency>,
    is_literal: bool,
}

type Constants<'a> = HashMap<&'a str, Constant>;

/// The names that statements of the file make of strings, lists and each other (`X = ["a"]`, `X += [Y]`,
/// `X.append("b")`).
fn constants<'a>(tokens: &[Placed<'a>]) -> Constants<'a> {
    let mut constants = Constants::new();
    for (index, (token, _)) in tokens.iter().enumerate() {
        let Token::Word(name) = token else { continue };
        let is_statement = matches!(
            index.checked_sub(1).and_then(|before| tokens.get(before)),
            None | Some((Token::Line | Token::Mark(';' | ':'), _))
        );
        if !is_statement {
            continue;
        }
        let value = match &tokens[index + 1..] {
            [(Token::Mark('='), _), (Token::Mark('='), _), ..] => continue,
            [(Token::Mark('='), _), value @ ..] => value,
            [(Token::Mark('+'), _), (Token::Mark('='), _), value @ ..] => value,
            [
                (Token::Mark('.'), _),
                (Token::Word("append" | "extend"), _),
                (Token::Mark('('), _),
                ..,
            ] => &tokens[index + 3..],
            [(Token::Mark('.'), _), (Token::Word("insert" | "update" | "add"), _), ..] => {
                if let Some(constant) = constants.get_mut(name) {
                    constant.is_literal = false;
                }
                continue;
            }
            _ => continue,
        };
        let mut found = Vec::new();
        let (is_literal, _) = literals(value, &constants, &mut found);
        let constant = constants.entry(name).or_insert(Constant {
            found: Vec::new(),
            is_literal: true,
        });
        constant.is_literal &= is_literal;
        constant.found.extend(found);
        constant.found.truncate(MAX_NAMES);
    }
    let touched = touched(tokens);
    for (name, constant) in &mut constants {
        constant.is_literal &= !touched.contains(name) && !touched.contains(ALL);
    }
    constants
}

/// In place of a name: any of the file.
const ALL: &str = "*";

/// Functions that look at a list and leave it as it is.
const READERS: &[&str] = &[
    "print", "len", "sorted", "list", "set", "tuple", "str", "repr", "extend",
];

/// Names that are used in a way which may put something else into them: of a list whoever gets hold of it can do so.
/// Known to be harmless are the statements that [`constants`] reads, and places where the list is only read.
fn touched<'a>(tokens: &[Placed<'a>]) -> HashSet<&'a str> {
    let mut touched = HashSet::new();
    // Of each open bracket what it is.
    let mut open: Vec<Bracket> = Vec::new();
    let code: Vec<&Token<'a>> = tokens.iter().map(|(token, _)| token).collect();
    // The tokens before, without line breaks in brackets.
    let mut before: [Option<&Token>; 3] = [None; 3];
    for (index, token) in code.iter().copied().enumerate() {
        let next = |ahead: usize| code.get(index + ahead).copied();
        match token {
            Token::Line if !open.is_empty() => continue,
            Token::Mark('(') => open.push(match before {
                [Some(Token::Word(_)), Some(Token::Word("def")), _] => Bracket::Parameters,
                [Some(Token::Word(name)), ..] if READERS.contains(name) => Bracket::Reads,
                _ => Bracket::Call,
            }),
            Token::Mark('[') => open.push(match before[0] {
                Some(Token::Word(_) | Token::Text { .. } | Token::Mark(']' | ')')) => Bracket::Index,
                _ => Bracket::List,
            }),
            Token::Mark('{') => open.push(Bracket::Table),
            Token::Mark(')' | ']' | '}') => {
                open.pop();
            }
            Token::Mark('*') if before[0] == Some(&Token::Word("import")) => {
                touched.insert(ALL);
            }
            Token::Word("exec" | "eval" | "globals" | "locals" | "vars" | "setattr") => {
                touched.insert(ALL);
            }
            Token::Word(name) => {
                let is_assigned = next(1) == Some(&Token::Mark('=')) && next(2) != Some(&Token::Mark('='));
                let is_harmless = match (open.last(), before) {
                    (_, [Some(Token::Mark('.')), ..]) => true,
                    (Some(Bracket::Parameters), _) => false,
                    // The name of an argument.
                    (Some(Bracket::Call | Bracket::Reads), [Some(Token::Mark('(' | ',')), ..]) if is_assigned => true,
                    (Some(Bracket::Reads), [Some(Token::Mark('(')), ..]) => next(1) == Some(&Token::Mark(')')),
                    (Some(Bracket::List), [Some(Token::Mark('[' | ',')), ..]) => {
                        matches!(next(1), Some(Token::Mark(']' | ',') | Token::Line))
                    }
                    (Some(Bracket::Table), [Some(Token::Mark(':')), Some(Token::Text { .. }), ..]) => {
                        matches!(next(1), Some(Token::Mark('}' | ',' | '+') | Token::Line))
                    }
                    // `install_requires=X`
                    (Some(Bracket::Call), [Some(Token::Mark('=')), Some(Token::Word(key)), ..])
                        if KEYS.contains(key) =>
                    {
                        true
                    }
                    (_, [Some(Token::Word("in" | "if" | "not" | "and" | "or")), ..]) => {
                        !matches!(next(1), Some(Token::Mark('.' | '[' | '(')))
                    }
                    // `Y = X + [...]`, `Y += X`
                    (_, [Some(Token::Mark('+')), ..]) => !matches!(next(1), Some(Token::Mark('.' | '[' | '('))),
                    (_, [Some(Token::Mark('=')), Some(Token::Mark('+')), ..]) => {
                        matches!(next(1), None | Some(Token::Line | Token::Mark(';' | '+')))
                    }
                    (_, [Some(Token::Mark('=')), ..]) => next(1) == Some(&Token::Mark('+')),
                    (None, [None | Some(Token::Line | Token::Mark(';' | ':')), ..]) => {
                        let is_added = [next(1), next(2)] == [Some(&Token::Mark('+')), Some(&Token::Mark('='))];
                        let is_called = matches!(
                            [next(1), next(2), next(3)],
                            [
                                Some(Token::Mark('.')),
                                Some(Token::Word("append" | "extend" | "insert" | "update" | "add")),
                                Some(Token::Mark('('))
                            ]
                        );
                        is_assigned || is_added || is_called
                    }
                    _ => false,
                };
                if !is_harmless {
                    touched.insert(name);
                }
            }
            _ => {}
        }
        before = [Some(token), before[0], before[1]];
    }
    touched
}

/// What stands in a bracket.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Bracket {
    /// Names that a function gives to what it gets.
    Parameters,
    /// What a function gets that changes nothing.
    Reads,
    /// What another function gets, or a part of an expression.
    Call,
    Index,
    List,
    Table,
}

/// Strings of the lists that follow such a key, as `key=` or `"key":`, and keys whose value is not
/// made of literals alone. Python joins strings that stand side by side.
pub(super) fn dependencies(text: &str) -> Result<Declared, String> {
    let tokens = tokens(text, Language::Python)?;
    let constants = constants(&tokens);
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
        let (is_literal, length) = literals(value, &constants, &mut declared.found);
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

/// Takes the strings of the value, and what names in it stand for: whether it was made of nothing else, and of how
/// many tokens.
fn literals(value: &[Placed], constants: &Constants, found: &mut Vec<Dependency>) -> (bool, usize) {
    let mut depth = 0usize;
    let mut is_literal = true;
    let mut open: Option<(String, usize)> = None;
    // Behind a string, a name or a bracket a line may end the value.
    let mut is_whole = false;
    for (count, (token, at)) in value.iter().enumerate() {
        let behind = || value[count + 1..].iter().map(|(token, _)| token);
        match token {
            Token::Text { text, is_computed } => {
                is_literal &= !is_computed;
                let (joined, _) = open.get_or_insert_with(|| (String::new(), *at));
                joined.push_str(text);
            }
            // The key of a table of extras.
            Token::Mark(':') if depth > 0 && open.is_some() => open = None,
            Token::Mark(';') if depth == 0 => {
                take(&mut open, found);
                return (is_literal, count);
            }
            Token::Mark(mark) => {
                take(&mut open, found);
                match mark {
                    '[' | '{' | '(' => depth += 1,
                    ']' | '}' | ')' => depth = depth.saturating_sub(1),
                    ',' => {}
                    // Lists that are put together; strings would make another name.
                    '+' if count > 0 && is_list(value, count, constants) => {}
                    _ => is_literal = false,
                }
                // A value ends with its bracket, or at a comma where it has none. Behind the
                // bracket `+` would add to it.
                if depth == 0 && *mark != '+' {
                    let next = behind().next();
                    match next {
                        Some(Token::Mark('+')) => {}
                        next => {
                            let goes_on = matches!(next, Some(Token::Mark('.' | '[')));
                            return (is_literal && !goes_on, count + 1);
                        }
                    }
                }
            }
            Token::Word("None") => {}
            // `r"x"`, but not the variable `r`.
            Token::Word("r" | "R" | "b" | "B" | "u" | "U") if is_prefix(value, count) => {}
            Token::Word(name) => match constants.get(name) {
                Some(constant) => {
                    let is_used = matches!(behind().next(), Some(Token::Mark('.' | '(' | '[')));
                    is_literal &= constant.is_literal && !is_used;
                    found.extend(constant.found.iter().take(MAX_NAMES).cloned());
                }
                None => is_literal = false,
            },
            // Without brackets a line ends the value, unless a string goes on in the next.
            Token::Line if depth == 0 && is_whole => {
                let next = behind().find(|token| !matches!(token, Token::Line));
                let goes_on = match next {
                    Some(Token::Text { .. }) => open.is_some(),
                    Some(Token::Mark('+' | ')' | ']' | '}' | ',')) => true,
                    _ => false,
                };
                if !goes_on {
                    take(&mut open, found);
                    return (is_literal, count + 1);
                }
            }
            Token::Line => {}
        }
        if *token != Token::Line {
            is_whole = matches!(
                token,
                Token::Text { .. } | Token::Word(_) | Token::Mark(']' | ')' | '}')
            );
        }
    }
    take(&mut open, found);
    (is_literal, value.len())
}

/// Whether the `+` at this place stands between lists, or names of such.
fn is_list(value: &[Placed], at: usize, constants: &Constants) -> bool {
    let is = |token: Option<&Placed>, bracket: char| match token {
        Some((Token::Mark(mark), _)) => *mark == bracket,
        Some((Token::Word(name), _)) => constants.contains_key(name),
        _ => false,
    };
    is(value[..at].last(), ']') && is(value.get(at + 1), '[')
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
