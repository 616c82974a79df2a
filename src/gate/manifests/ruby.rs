//! Gemfile, gems.rb and gemspecs: programs, of which only literal calls are read.

use super::code::{Language, Placed, Token, statement, tokens};
use super::declared::{Computed, Declared, Dependency};

const CALLS: &[&str] = &[
    "gem",
    "add_dependency",
    "add_runtime_dependency",
    "add_development_dependency",
];

/// Calls that run code from elsewhere.
const INCLUDES: &[&str] = &["eval_gemfile", "instance_eval", "class_eval", "eval"];
/// Calls that call what their first argument names.
const SENDS: &[&str] = &["send", "public_send", "__send__", "method", "public_method"];

/// Gems that are named outright, and calls that name one by other means. Files that are evaluated
/// as part of this one (`eval_gemfile`) count as such: they may name anything.
pub(super) fn dependencies(text: &str) -> Result<Declared, String> {
    let tokens = tokens(text, Language::Ruby)?;
    let mut declared = Declared::default();
    for (index, (token, at)) in tokens.iter().enumerate() {
        let Token::Word(word) = token else { continue };
        let is_call = CALLS.contains(word);
        let is_include = INCLUDES.contains(word);
        if SENDS.contains(word) && !is_defined(&tokens[..index]) {
            match sent(&tokens[index + 1..]) {
                Argument::None => {}
                Argument::Computed => declared.computed.push(Computed {
                    text: statement(text, *at),
                    at: *at,
                }),
                Argument::Name(name, at) => {
                    declared
                        .found
                        .push(Dependency::new(name.to_ascii_lowercase(), name).at(Some(at)));
                }
            }
            continue;
        }
        if !is_call && !is_include || is_defined(&tokens[..index]) {
            continue;
        }
        let computed = || Computed {
            text: statement(text, *at),
            at: *at,
        };
        if is_include {
            declared.computed.push(computed());
            continue;
        }
        match argument(&tokens[index + 1..]) {
            Argument::None => {}
            Argument::Computed => declared.computed.push(computed()),
            Argument::Name(name, at) => {
                declared
                    .found
                    .push(Dependency::new(name.to_ascii_lowercase(), name).at(Some(at)));
            }
        }
    }
    Ok(declared)
}

/// The files that a Gemfile evaluates as parts of itself, where it writes out their paths.
pub(super) fn evaluated(text: &str) -> Vec<String> {
    let tokens = tokens(text, Language::Ruby).unwrap_or_default();
    let calls = tokens
        .iter()
        .enumerate()
        .filter(|(_, (token, _))| *token == Token::Word("eval_gemfile"));
    calls
        .filter_map(|(index, _)| match argument(&tokens[index + 1..]) {
            Argument::Name(path, _) => Some(path.to_owned()),
            Argument::None | Argument::Computed => None,
        })
        .collect()
}

/// `def gem`, `:gem` and the like are no calls; `:gem` behind `send` is read with that.
fn is_defined(before: &[Placed]) -> bool {
    match before.last() {
        Some((Token::Word("def"), _)) => true,
        Some((Token::Mark(':'), _)) => !matches!(before.iter().rev().nth(1), Some((Token::Mark(':' | '('), _))),
        _ => false,
    }
}

/// What `send :gem, "redis"` declares, behind its first word.
fn sent<'a>(behind: &[Placed<'a>]) -> Argument<'a> {
    let mut behind = behind;
    if let Some((Token::Mark('('), _)) = behind.first() {
        behind = &behind[1..];
        while let Some((Token::Line, _)) = behind.first() {
            behind = &behind[1..];
        }
    }
    let (called, rest) = match behind {
        [(Token::Mark(':'), _), (Token::Word(word), _), rest @ ..] => (*word, rest),
        [
            (Token::Mark(':'), _),
            (
                Token::Text {
                    text,
                    is_computed: false,
                },
                _,
            ),
            rest @ ..,
        ]
        | [
            (
                Token::Text {
                    text,
                    is_computed: false,
                },
                _,
            ),
            rest @ ..,
        ] if !goes_on(rest) => (*text, rest),
        []
        | [
            (Token::Line | Token::Mark('.' | '=' | ',' | ')' | ']' | '}' | '|' | ';'), _),
            ..,
        ] => return Argument::None,
        _ => return Argument::Computed,
    };
    if INCLUDES.contains(&called) || SENDS.contains(&called) {
        return Argument::Computed;
    }
    match rest {
        _ if !CALLS.contains(&called) => Argument::None,
        [(Token::Mark(','), _), argument @ ..] => {
            let lines = argument.iter().take_while(|(token, _)| *token == Token::Line).count();
            match self::argument(&argument[lines..]) {
                Argument::None => Argument::Computed,
                name => name,
            }
        }
        // `method(:gem).call "redis"`
        _ => Argument::Computed,
    }
}

enum Argument<'a> {
    None,
    Name(&'a str, usize),
    Computed,
}

fn argument<'a>(behind: &[Placed<'a>]) -> Argument<'a> {
    let mut behind = behind;
    // Line breaks may stand behind an opened bracket.
    if let Some((Token::Mark('('), _)) = behind.first() {
        behind = &behind[1..];
        while let Some((Token::Line, _)) = behind.first() {
            behind = &behind[1..];
        }
    }
    let Some(((token, at), next)) = behind.split_first() else {
        return Argument::None;
    };
    match token {
        Token::Text { text, is_computed } => match *is_computed || goes_on(next) {
            true => Argument::Computed,
            false => Argument::Name(text, *at),
        },
        Token::Line => Argument::None,
        // `gem.name`, `gem = 1`, `gem: 1`, `gem, x`: a name that is used, not called.
        Token::Mark('.' | '=' | ',' | ')' | ']' | '}' | '|' | '&' | ';' | '"' | '\'') => Argument::None,
        Token::Mark(':') if !matches!(next.first(), Some((Token::Word(_), _))) => Argument::None,
        Token::Word("do" | "if" | "unless" | "and" | "or" | "in" | "then" | "end") => Argument::None,
        _ => Argument::Computed,
    }
}

/// Whether what stands behind the literal is part of the name (`"re" + "dis"`, `"re" "dis"`).
/// `.freeze`, which gemspecs have everywhere, changes nothing.
fn goes_on(next: &[Placed]) -> bool {
    match next.first() {
        Some((Token::Text { .. }, _)) => true,
        Some((Token::Mark('.'), _)) => !matches!(next.get(1), Some((Token::Word("freeze"), _))),
        Some((Token::Mark(mark), _)) => matches!(mark, '+' | '%' | '*' | '<' | '[' | '?'),
        _ => false,
    }
}
