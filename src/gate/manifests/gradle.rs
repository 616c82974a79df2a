//! Gradle's scripts (*.gradle, *.gradle.kts): programs, of which only literals are read.
//!
//! A string of the form `group:artifact` counts wherever it stands outside of comments, since
//! scripts pass such strings through lists, maps and functions of their own. A name that the script gives to
//! one string, and to no other, stands for it, also inside of another (`"$group:jedis:5"`).

use super::code::{Language, Placed, Token, statement, tokens};
use super::declared::{Computed, Declared, Dependency, Named, Shelf};
use super::gradle_names::{Constants, constants, filled};

/// Functions whose string names a task or a project.
const NO_COORDINATE: &[&str] = &[
    "dependsOn",
    "finalizedBy",
    "mustRunAfter",
    "shouldRunAfter",
    "named",
    "register",
    "project",
    "include",
    "task",
    "getByName",
    "exclude",
];
/// Endings of configurations that take dependencies, in lower case.
const CONFIGURATIONS: &[&str] = &[
    "implementation",
    "api",
    "compileonly",
    "runtimeonly",
    "compileonlyapi",
    "annotationprocessor",
    "classpath",
    "testcompile",
    "kapt",
    "ksp",
    "developmentonly",
    "corelibrarydesugaring",
];
/// Calls that may stand for a dependency: those in the first list bring in no name by themselves,
/// the second have it in their argument. Any other one (`files`, `fileTree`, a function of the script)
/// brings in what no name tells.
const NAMELESS: &[&str] = &[
    "project",
    "projects",
    "gradleApi",
    "gradleTestKit",
    "localGroovy",
    "gradleKotlinDsl",
];
const WRAPPERS: &[&str] = &[
    "platform",
    "enforcedPlatform",
    "testFixtures",
    "dependencies",
    "create",
    "variantOf",
];

/// Reads a script.
pub(super) fn dependencies(text: &str, language: Language) -> Result<Declared, String> {
    let tokens: Vec<Placed> = tokens(text, language)?;
    let constants = constants(&tokens);
    let mut declared = Declared::default();
    for (index, (token, at)) in tokens.iter().enumerate() {
        let behind = &tokens[index + 1..];
        let before = &tokens[..index];
        match token {
            Token::Text { text, is_computed } => {
                if let Some(name) = coordinate(text, *is_computed)
                    && !matches!(called(before), Some(word) if NO_COORDINATE.contains(&word))
                {
                    declared.found.push(Dependency::new(name, name).at(Some(*at)));
                } else if *is_computed
                    && coordinate(text, true).is_none()
                    && let Some(whole) = filled(text, &constants)
                    && let Some(name) = coordinate(&whole, false)
                {
                    declared.found.push(Dependency::new(name, "").at(Some(*at)));
                }
            }
            Token::Word("libs") if !matches!(before.last(), Some((Token::Mark('.'), _))) => {
                if let Some(dependency) = accessor(behind) {
                    declared.found.push(dependency.at(Some(*at)));
                }
            }
            Token::Word("group") => match by_parts(behind, &constants) {
                Some(Ok((name, at))) => declared.found.push(Dependency::new(name, "").at(Some(at))),
                Some(Err(())) => declared.computed.push(computed(text, *at)),
                None => {}
            },
            Token::Word("id") => match plain(behind).as_slice() {
                // Plugins that come with Gradle have no dot.
                [
                    Token::Text {
                        text,
                        is_computed: false,
                    },
                    ..,
                ] if text.contains('.') => {
                    let name = format!("{text}:{text}.gradle.plugin");
                    declared.found.push(Dependency::new(name, *text).at(Some(*at)));
                }
                [Token::Text { is_computed: true, .. }, ..] => declared.computed.push(computed(text, *at)),
                _ => {}
            },
            Token::Word("kotlin") => {
                if let [
                    Token::Text {
                        text,
                        is_computed: false,
                    },
                    ..,
                ] = plain(behind).as_slice()
                {
                    let name = format!("org.jetbrains.kotlin:kotlin-{text}");
                    declared.found.push(Dependency::new(name, *text).at(Some(*at)));
                }
            }
            // A catalog that settings build: `library("alias", "group", "artifact")`.
            Token::Word("library") => match arguments(behind).as_slice() {
                [_, Token::Mark(','), second, rest @ ..] => match (second, rest) {
                    (Token::Text { text, is_computed }, _) if coordinate(text, *is_computed).is_some() => {}
                    (
                        Token::Text {
                            text: group,
                            is_computed: false,
                        },
                        [
                            Token::Mark(','),
                            Token::Text {
                                text: artifact,
                                is_computed: false,
                            },
                            ..,
                        ],
                    ) if !matches!(rest.get(2), Some(Token::Mark('+'))) => {
                        let name = format!("{group}:{artifact}");
                        declared.found.push(Dependency::new(name, *artifact).at(Some(*at)));
                    }
                    _ => declared.computed.push(computed(text, *at)),
                },
                [Token::Text { .. } | Token::Word(_), ..] if matches!(behind.first(), Some((Token::Mark('('), _))) => {
                    declared.computed.push(computed(text, *at));
                }
                _ => {}
            },
            Token::Word("plugin") => match arguments(behind).as_slice() {
                [
                    Token::Text { .. },
                    Token::Mark(','),
                    Token::Text {
                        text: id,
                        is_computed: false,
                    },
                    ..,
                ] => {
                    let name = format!("{id}:{id}.gradle.plugin");
                    declared.found.push(Dependency::new(name, *id).at(Some(*at)));
                }
                [Token::Text { .. }, Token::Mark(','), ..] => declared.computed.push(computed(text, *at)),
                _ => {}
            },
            // What the other script declares now counts for this one, too.
            Token::Word("apply") if applies_script(behind) => declared.computed.push(computed(text, *at)),
            Token::Word(word) if is_configuration(word) => match configured(behind, *at + word.len(), &constants) {
                Argument::Parts(name) => declared.found.push(Dependency::new(name, "").at(Some(*at))),
                Argument::Computed => declared.computed.push(computed(text, *at)),
                Argument::Other => {}
            },
            // Groovy decodes `\uXXXX` before it reads anything else.
            Token::Mark('\\') if matches!(behind.first(), Some((Token::Word(word), _)) if word.starts_with('u')) => {
                declared.computed.push(computed(text, *at));
            }
            _ => {}
        }
    }
    Ok(declared)
}

fn computed(text: &str, at: usize) -> Computed {
    Computed {
        text: statement(text, at),
        at,
    }
}

/// `implementation`, `testImplementation`, but not `skapi`.
fn is_configuration(word: &str) -> bool {
    let lower = word.to_ascii_lowercase();
    CONFIGURATIONS.iter().any(|ending| match lower.strip_suffix(ending) {
        Some("") => true,
        Some(before) => word.as_bytes()[before.len()].is_ascii_uppercase(),
        None => false,
    })
}

/// `group:artifact` of a literal, whatever version and classifier stand behind it.
fn coordinate(text: &str, is_computed: bool) -> Option<&str> {
    let (group, rest) = text.split_once(':')?;
    let artifact = rest.split([':', '@']).next()?;
    let is_name = |name: &str| {
        name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-'))
    };
    // Something computed may stand in the version.
    let is_whole = !is_computed || rest.len() > artifact.len();
    (is_name(group) && is_name(artifact) && is_whole).then(|| &text[..group.len() + 1 + artifact.len()])
}

/// The function in whose argument, or behind whose name, this stands.
fn called<'a>(before: &[Placed<'a>]) -> Option<&'a str> {
    before
        .iter()
        .rev()
        .take(40)
        .take_while(|(token, _)| !matches!(token, Token::Line | Token::Mark('{' | '}' | ';')))
        .find_map(|(token, _)| match token {
            Token::Word(word) => Some(*word),
            _ => None,
        })
}

/// What follows a call's name, without brackets.
fn plain<'a>(behind: &[Placed<'a>]) -> Vec<Token<'a>> {
    behind
        .iter()
        .take(8)
        .map(|(token, _)| token.clone())
        .skip_while(|token| matches!(token, Token::Mark('(')))
        .collect()
}

/// The arguments of a call, which may stand on several lines if they are in brackets.
fn arguments<'a>(behind: &[Placed<'a>]) -> Vec<Token<'a>> {
    let is_called = matches!(behind.first(), Some((Token::Mark('('), _)));
    behind[usize::from(is_called)..]
        .iter()
        .take(24)
        .map(|(token, _)| token.clone())
        .take_while(|token| is_called || *token != Token::Line)
        .filter(|token| *token != Token::Line)
        .take(8)
        .collect()
}

/// `apply from: x`, `apply(from = x)`, `apply { from(x) }`.
fn applies_script(behind: &[Placed]) -> bool {
    let mut words = behind
        .iter()
        .take(24)
        .map(|(token, _)| token)
        .skip_while(|token| matches!(token, Token::Mark('(' | '{' | '[') | Token::Line));
    words.next() == Some(&Token::Word("from"))
}

/// `libs.a.b`, `libs.plugins.x`; `libs.versions.x` names no dependency.
fn accessor(behind: &[Placed]) -> Option<Dependency> {
    let mut words = Vec::new();
    let mut rest = behind;
    while let [(Token::Mark('.'), _), (Token::Word(word), _), after @ ..] = rest {
        if matches!(*word, "get" | "asProvider") && matches!(after.first(), Some((Token::Mark('('), _))) {
            break;
        }
        words.push(*word);
        rest = after;
    }
    let (shelf, words) = match words.split_first()? {
        (&"versions", _) => return None,
        (&"plugins", words) => (Shelf::Plugins, words),
        _ => (Shelf::Libraries, words.as_slice()),
    };
    let name = words.join(".").to_ascii_lowercase();
    (!name.is_empty()).then(|| Dependency::new(name.clone(), name).of_kind(Named::Elsewhere(shelf)))
}

/// `group: "g", name: "a"` and `group = "g", name = "a"`, without their first word. `None`: it is
/// something else, such as the group of the project itself.
fn by_parts(behind: &[Placed], constants: &Constants) -> Option<Result<(String, usize), ()>> {
    let rest = match behind {
        [(Token::Mark(':' | '='), _), rest @ ..] => rest,
        _ => return None,
    };
    let named = rest
        .iter()
        .take(12)
        .position(|(token, _)| matches!(token, Token::Word("name")))?;
    let before = rest[..named]
        .iter()
        .rev()
        .find(|(token, _)| !matches!(token, Token::Line));
    if !matches!(before, Some((Token::Mark(','), _))) {
        return None;
    }
    let rest_of_name = match rest.get(named + 1..)? {
        [(Token::Mark(':' | '='), _), rest @ ..] => rest,
        _ => return None,
    };
    let literal = |tokens: &[Placed]| match tokens {
        [
            (
                Token::Text {
                    text,
                    is_computed: false,
                },
                at,
            ),
            next,
            ..,
        ] if matches!(next.0, Token::Mark(',' | ')' | ']' | '}') | Token::Line) => Some(((*text).to_owned(), *at)),
        [
            (
                Token::Text {
                    text,
                    is_computed: false,
                },
                at,
            ),
        ] => Some(((*text).to_owned(), *at)),
        [(Token::Text { text, .. }, at), ..] => Some((filled(text, constants)?, *at)),
        [(Token::Word(name), at), rest @ ..] if !matches!(rest.first(), Some((Token::Mark('.' | '(' | '['), _))) => {
            Some(((*constants.get(name)?.as_ref()?).to_owned(), *at))
        }
        _ => None,
    };
    Some(match (literal(rest), literal(rest_of_name)) {
        (Some((group, _)), Some((name, at))) => Ok((format!("{group}:{name}"), at)),
        _ => Err(()),
    })
}

enum Argument {
    /// `implementation("g", "a", "v")`
    Parts(String),
    Computed,
    /// What is read elsewhere, and what is no dependency.
    Other,
}

/// `end`: where the name of the configuration ends.
fn configured(behind: &[Placed], end: usize, constants: &Constants) -> Argument {
    let is_called = matches!(behind.first(), Some((Token::Mark('('), _)));
    let mut rest = behind;
    loop {
        rest = match rest {
            [(Token::Mark('('), _), rest @ ..] => rest,
            [(Token::Line, _), after @ ..] if is_called => after,
            // `implementation platform(...)`
            [(Token::Word(word), _), (Token::Mark('('), _), rest @ ..] if WRAPPERS.contains(word) => rest,
            _ => break,
        };
    }
    match rest {
        [(Token::Text { text, is_computed }, _), after @ ..] => {
            let whole = filled(text, constants).filter(|_| *is_computed);
            if coordinate(text, *is_computed).is_some()
                || whole.is_some_and(|whole| coordinate(&whole, false).is_some())
            {
                return Argument::Other;
            }
            match after {
                [
                    (Token::Mark(','), _),
                    (
                        Token::Text {
                            text: second,
                            is_computed: false,
                        },
                        _,
                    ),
                    ..,
                ] if !is_computed => Argument::Parts(format!("{text}:{second}")),
                // `add("x", ...)`, `"x"()`
                _ if matches!(after.first(), Some((Token::Mark(')'), _))) && text.starts_with(':') => Argument::Other,
                _ => Argument::Computed,
            }
        }
        // A string between slashes that is no plain name, unless it is a part of one itself.
        [(Token::Mark('/' | '$'), at), ..] if is_called || *at > end => Argument::Computed,
        [(Token::Mark('['), _), (Token::Word(_), _), (next, _), ..] if is_called && *next != Token::Mark(':') => {
            Argument::Computed
        }
        // A name that is used as a value, a block, or the name of something else.
        [] | [(Token::Line | Token::Mark(_), _), ..] => Argument::Other,
        [(Token::Word(word), _), ..] if NAMELESS.contains(word) || *word == "libs" || *word == "kotlin" => {
            Argument::Other
        }
        [(Token::Word("group"), _), (Token::Mark(':' | '='), _), ..] => Argument::Other,
        // `api by configurations.creating`
        [(Token::Word("by" | "in" | "is" | "as"), _), ..] => Argument::Other,
        // Its string is read where it stands.
        [(Token::Word(name), _), rest @ ..]
            if constants
                .get(name)
                .copied()
                .flatten()
                .is_some_and(|text| coordinate(text, false).is_some())
                && matches!(
                    rest.first(),
                    None | Some((Token::Line | Token::Mark(')' | '}' | ';' | ','), _))
                ) =>
        {
            Argument::Other
        }
        [(Token::Word(_), _), ..] => Argument::Computed,
    }
}
