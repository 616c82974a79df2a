//! Lines that are no key and would be taken for one.
//!
//! Invariant: what a person would take for one of the keys is refused, but for `Goal`, which limits
//! nothing, and `Timeout`, a word of many logs and settings, which is told; what merely sounds like a
//! limit is prose and is told, so that nobody relies on it.

use unicode_normalization::UnicodeNormalization;

use super::lines::Key;
use super::{BadTask, bad, is_invisible};

/// Longest text in front of a colon that can be a key, in characters.
const MAX_WORD: usize = 30;

/// What makes the beginning of a line look like a key.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sign {
    /// A colon behind it.
    Colon,
    /// Another separator, a heading, bold, or a list below it.
    Other,
}

/// Refuses a line that a person would take for one of the keys: misspelt, indented, as a heading,
/// a list item or in bold, with another sign for the colon, or without one above a list or an
/// underline (`stands_alone`).
pub(super) fn refuse(line: &str, number: u32, stands_alone: bool) -> Result<(), BadTask> {
    let near = beginnings(line, stands_alone).into_iter().find_map(|(word, sign)| {
        let letters = letters(word);
        Key::ALL
            .into_iter()
            .filter(|key| !matches!(key, Key::Goal | Key::Timeout))
            .find(|&key| is_near(&letters, key, sign, is_item(line)) && !is_sentence(line, &letters, key))
    });
    let Some(key) = near.or_else(|| names_a_path(line).then_some(Key::AllowedFiles)) else {
        return Ok(());
    };
    bad(
        number,
        format!("`{}` is not read as a key", shown(line)),
        format!("did you mean `{}:` at the start of the line?", key.name()),
    )
}

/// Whether the line says something about an area: `Area: the checkout flow is affected`.
fn is_sentence(line: &str, letters: &str, key: Key) -> bool {
    let text = line.split_once([':', '\u{ff1a}']).map_or("", |(_, text)| text);
    key == Key::Areas && letters != "areas" && !text.contains(',') && text.split_whitespace().count() > 4
}

/// What follows a label `Goal` in the line, which may be nothing; `None` for any other line.
pub(super) fn goal(line: &str, underlined: bool) -> Option<&str> {
    let visible = line.trim_start_matches(|c: char| c.is_whitespace() || is_invisible(c));
    let bare = visible.trim_start_matches(|c: char| c.is_whitespace() || is_invisible(c) || "-*+>#_`".contains(c));
    let end = bare.find(|c: char| !c.is_alphanumeric()).unwrap_or(bare.len());
    let (word, rest) = bare.split_at(end);
    if !matches!(letters(word).as_str(), "goal" | "goals") {
        return None;
    }
    // `Goal-driven` and `Goal of the work` are words of a sentence.
    let marked = rest.trim_start_matches(['*', '_', '`', ' ', '\t']);
    let text = marked.trim_start_matches([
        ':', '\u{ff1a}', '=', '-', '\u{2013}', '\u{2014}', '#', '*', '_', ' ', '\t',
    ]);
    let is_label = match marked.chars().next() {
        Some(':' | '\u{ff1a}' | '=') => true,
        Some('-' | '\u{2013}' | '\u{2014}') => rest.starts_with(char::is_whitespace),
        Some('#') | None => visible.starts_with(['#', '*', '_']) || underlined,
        _ => false,
    };
    is_label.then_some(text)
}

/// A sentence about a line that sounds like a limit and is not read as one.
pub(super) fn unread(line: &str, underlined: bool) -> Option<String> {
    beginnings(line, underlined).into_iter().find_map(|(word, sign)| {
        let letters = letters(word);
        let is_area = is_near(&letters, Key::Areas, sign, false) && is_sentence(line, &letters, Key::Areas);
        let missed = [
            (is_area, Key::Areas),
            (is_near(&letters, Key::Timeout, sign, false), Key::Timeout),
        ];
        if let Some((_, key)) = missed.into_iter().find(|(is_missed, _)| *is_missed) {
            return Some(format!("`{}` is not read as a limit; {}", shown(line), key.usage()));
        }
        let (_, instead) = SOUNDS_LIKE
            .iter()
            .find(|(words, _)| words.split_ascii_whitespace().any(|known| known == letters))?;
        Some(format!("`{}` is not read as a limit; {instead}", shown(line)))
    })
}

/// Headings and labels that people use for limits, by what to write instead. Letters only.
const SOUNDS_LIKE: &[(&str, &str)] = &[
    (
        "scope inscope path paths folder folders directory directories dirs file files filestochange filestoedit \
         filestomodify filestotouch filesallowed allow allowlist whitelist only onlythese onlythesefiles editonly \
         changeonly touchonly onlychange onlyedit onlytouch",
        "write `Allowed files:`",
    ),
    (
        "donottouch donotchange donotedit donotmodify donttouch dontchange dontedit dontmodify mustnottouch \
         mustnotchange offlimits handsoff readonly protected protectedfiles forbidden forbiddenfiles disallowed \
         notallowed prohibited excluded",
        "write what may change as `Allowed files:`",
    ),
    (
        "outofscope notinscope nonobjectives antigoals constraint constraints restriction restrictions limit limits \
         limitations boundaries",
        "write `Allowed files:`, `Areas:`, `Non-goals:` or `Timeout:`",
    ),
    ("timelimit timebox timebudget maxtime deadline", "write `Timeout:`"),
];

fn shown(line: &str) -> String {
    let text: String = line.trim().chars().take(40).collect();
    text.escape_debug().to_string()
}

/// What may be a key at the beginning of the line, by each sign that would make it one.
fn beginnings(line: &str, stands_alone: bool) -> Vec<(&str, Sign)> {
    let visible = line.trim_start_matches(|c: char| c.is_whitespace() || is_invisible(c));
    let bare = visible.trim_start_matches(|c: char| c.is_whitespace() || is_invisible(c) || "-*+>#_`|".contains(c));
    let mut found = Vec::new();
    if let Some((word, _)) = bare.split_once([':', '\u{ff1a}']) {
        found.push((word, Sign::Colon));
    }
    let others = [
        "=",
        "|",
        "\t",
        "\u{2192}",
        "->",
        " - ",
        " -- ",
        " \u{2013} ",
        " \u{2014} ",
    ];
    let separated = others.iter().filter_map(|sign| bare.split_once(sign));
    found.extend(separated.map(|(word, _)| (word, Sign::Other)));
    for mark in ["**", "__"] {
        let bold = visible.strip_prefix(mark).and_then(|rest| rest.split_once(mark));
        found.extend(bold.map(|(word, _)| (word, Sign::Other)));
    }
    if visible.starts_with('#') || stands_alone {
        found.push((bare, Sign::Other));
    }
    found.retain(|(word, _)| word.chars().count() <= MAX_WORD);
    found
}

/// Lower-case letters and digits, whatever else is between them.
fn letters(word: &str) -> String {
    word.nfkc()
        .filter(|c| c.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect()
}

fn is_item(line: &str) -> bool {
    super::lines::item(line).is_some()
}

/// `Allowed files payments/a.ts`: the key, no sign, and something that is no word of a sentence.
fn names_a_path(line: &str) -> bool {
    let mut words = line.split_whitespace();
    let key = [words.next(), words.next()].map(|word| letters(word.unwrap_or_default()));
    let path = words.next().unwrap_or_default().trim_end_matches(['.', ',']);
    key == ["allowed", "files"] && path.contains(['/', '.', '*', '`'])
}

fn is_near(letters: &str, key: Key, sign: Sign, is_item: bool) -> bool {
    let name = self::letters(key.name());
    if letters == name {
        return true;
    }
    let has_colon = sign == Sign::Colon;
    let distance = strsim::damerau_levenshtein(letters, &name);
    match key {
        Key::AllowedFiles => {
            let others = [
                "",
                "paths",
                "path",
                "folders",
                "folder",
                "dirs",
                "dir",
                "directories",
                "directory",
            ];
            let is_short = matches!(letters, "file" | "files") && has_colon && !is_item;
            distance <= 2
                || is_short
                || letters
                    .strip_prefix("allowed")
                    .is_some_and(|what| others.contains(&what))
        }
        Key::NonGoals => distance <= 2,
        // Short words have too many neighbours (`coal`, `goat`), and a heading without a colon may
        // well be about timeouts.
        Key::Areas => has_colon && distance <= 1 || letters == "allowedareas",
        Key::Timeout => has_colon && distance <= 1,
        Key::Goal => false,
    }
}
