//! The lines of a task file: which are keys, which belong to them, which are prose, and which look
//! so much like a key that reading them as prose would drop a limit.

use super::{BadTask, bad};

/// A known key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    Goal,
    AllowedFiles,
    Areas,
    NonGoals,
    Timeout,
}

impl Key {
    const ALL: [Key; 5] = [Key::Goal, Key::AllowedFiles, Key::Areas, Key::NonGoals, Key::Timeout];

    /// As documented, without the colon.
    pub(super) fn name(self) -> &'static str {
        match self {
            Key::Goal => "Goal",
            Key::AllowedFiles => "Allowed files",
            Key::Areas => "Areas",
            Key::NonGoals => "Non-goals",
            Key::Timeout => "Timeout",
        }
    }

    /// What to write, for hints.
    pub(super) fn usage(self) -> &'static str {
        match self {
            Key::Goal => "write `Goal: ...` on one line",
            Key::AllowedFiles => "write `Allowed files: payments/retry.ts, test/**`, or one `- path` a line below it",
            Key::Areas => "write `Areas: payments`, with names from the policy",
            Key::NonGoals => "write `Non-goals: new dependencies, new directories`, or one `- item` a line below it",
            Key::Timeout => "write `Timeout: 30m`",
        }
    }
}

/// One value with its 1-based line.
#[derive(Debug)]
pub(super) struct Value {
    pub(super) text: String,
    pub(super) line: u32,
}

/// A key with everything that was given for it.
#[derive(Debug)]
pub(super) struct Block {
    pub(super) key: Key,
    pub(super) line: u32,
    pub(super) values: Vec<Value>,
}

/// What the lines hold.
#[derive(Debug)]
pub(super) struct Read {
    pub(super) blocks: Vec<Block>,
    /// The first line with letters or digits that belongs to no key.
    pub(super) first_prose: Option<String>,
}

pub(super) fn read(text: &str) -> Result<Read, BadTask> {
    let lines: Vec<&str> = text.lines().collect();
    let mut read = Read {
        blocks: Vec::new(),
        first_prose: None,
    };
    let mut fence: Option<(u32, &str)> = None;
    let mut next = 0;
    while let Some(line) = lines.get(next) {
        let number = next as u32 + 1;
        next += 1;
        if let Some((_, open)) = fence {
            if closes(line, open) {
                fence = None;
            }
            continue;
        }
        if let Some(open) = opens(line) {
            fence = Some((number, open));
            continue;
        }
        let Some((key, rest)) = key(line) else {
            near_miss(line, number)?;
            if read.first_prose.is_none() && line.contains(char::is_alphanumeric) {
                read.first_prose = Some(without_marks(line));
            }
            continue;
        };
        if let Some(first) = read.blocks.iter().find(|block| block.key == key) {
            let message = format!("`{}:` stands twice, first on line {}", key.name(), first.line);
            return bad(number, message, "join the two");
        }
        let mut block = Block {
            key,
            line: number,
            values: values(key, rest, number)?,
        };
        if key != Key::Goal {
            next = items(&mut block, &lines, next)?;
        }
        read.blocks.push(block);
    }
    match fence {
        Some((line, open)) => {
            let message = "a code block is never closed, so what follows would be prose";
            bad(line, message, format!("add a line {open} where it ends"))
        }
        None => Ok(read),
    }
}

/// Reads list items below a key; gives the next line to look at. Blank lines may stand between
/// items, and one before the first if the key's own line has no value.
fn items(block: &mut Block, lines: &[&str], mut next: usize) -> Result<usize, BadTask> {
    let loose = block.values.is_empty();
    let mut any = false;
    loop {
        let mut at = next;
        if (loose || any) && lines.get(at).is_some_and(|line| line.trim().is_empty()) {
            at += 1;
        }
        let Some(line) = lines.get(at) else {
            return Ok(next);
        };
        let number = at as u32 + 1;
        if let Some(text) = item(line) {
            any = true;
            block.values.extend(match block.key {
                Key::NonGoals => single(text, number)?,
                key => values(key, text, number)?,
            });
        } else if any && at == next && line.starts_with([' ', '\t']) && !line.trim().is_empty() {
            // A wrapped item. Prose goes on; a path that goes on would be half a path.
            match (block.key, block.values.last_mut()) {
                (Key::NonGoals, Some(last)) => {
                    last.text.push(' ');
                    last.text.push_str(line.trim());
                }
                _ => {
                    return bad(
                        number,
                        "an entry over several lines",
                        "one entry a line, each with a `-`",
                    );
                }
            }
        } else {
            return Ok(next);
        }
        next = at + 1;
    }
}

/// The text of a `- item` line.
fn item(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix(['-', '*', '+'])?;
    rest.starts_with([' ', '\t']).then(|| rest.trim())
}

fn values(key: Key, text: &str, line: u32) -> Result<Vec<Value>, BadTask> {
    match key {
        Key::Goal | Key::Timeout => single(text, line),
        _ => {
            let mut values = Vec::new();
            for part in split(text) {
                values.extend(match key {
                    Key::NonGoals => single(part, line)?,
                    _ => unquoted(part, line)?,
                });
            }
            Ok(values)
        }
    }
}

fn single(text: &str, line: u32) -> Result<Vec<Value>, BadTask> {
    let text = text.trim();
    Ok(match text.is_empty() {
        true => Vec::new(),
        false => vec![Value {
            text: text.to_owned(),
            line,
        }],
    })
}

/// An entry without the backticks or quotes around it. Words behind the closing one would be lost
/// or would make the path another one.
fn unquoted(text: &str, line: u32) -> Result<Vec<Value>, BadTask> {
    let text = text.trim();
    for mark in ['`', '"', '\''] {
        let Some(inner) = text.strip_prefix(mark) else {
            continue;
        };
        return match inner.split_once(mark) {
            Some((entry, "")) => single(entry, line),
            Some((entry, _)) => {
                let hint = format!("write `{}` alone, and prose on a line of its own", entry.escape_debug());
                bad(
                    line,
                    format!("words after the entry {mark}{}{mark}", entry.escape_debug()),
                    hint,
                )
            }
            None => bad(line, format!("a {mark} that is never closed"), "close it or remove it"),
        };
    }
    single(text, line)
}

/// At commas that stand neither in quotes nor in the braces or brackets of a glob.
fn split(text: &str) -> Vec<&str> {
    let (mut parts, mut start, mut depth, mut quote) = (Vec::new(), 0, 0_u32, None);
    for (index, c) in text.char_indices() {
        match (quote, c) {
            (Some(open), _) if c == open => quote = None,
            (Some(_), _) => {}
            // A quote opens at the start of an entry only: `don't` has none.
            (None, '`' | '"' | '\'') if text[start..index].trim().is_empty() => quote = Some(c),
            (None, '{' | '[') => depth += 1,
            (None, '}' | ']') => depth = depth.saturating_sub(1),
            (None, ',') if depth == 0 => {
                parts.push(&text[start..index]);
                start = index + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

/// A known key at the start of a line, and what follows its colon.
fn key(line: &str) -> Option<(Key, &str)> {
    let (word, rest) = line.split_once(':')?;
    let key = Key::ALL
        .into_iter()
        .find(|key| key.name().eq_ignore_ascii_case(word.trim_end()))?;
    Some((key, rest.trim()))
}

/// Refuses a line that a person would take for one of the keys: misspelt, indented, as a heading,
/// a list item or in bold.
fn near_miss(line: &str, number: u32) -> Result<(), BadTask> {
    let bare = line.trim_start_matches(|c: char| c.is_whitespace() || "-*+>#_`|".contains(c));
    let is_heading = line.trim_start().starts_with('#');
    let (word, has_colon) = match bare.split_once([':', '\u{ff1a}']) {
        Some((word, _)) => (word, true),
        None => (bare, false),
    };
    let is_label = line.trim_start().starts_with("**") && line.trim_end().ends_with("**");
    if !(has_colon || is_heading || is_label) || word.chars().count() > 30 {
        return Ok(());
    }
    let letters: String = word
        .chars()
        .filter(|c| c.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect();
    let Some(key) = Key::ALL.into_iter().find(|&key| is_near(&letters, key, has_colon)) else {
        return Ok(());
    };
    let shown = line.trim().chars().take(40).collect::<String>();
    bad(
        number,
        format!("`{}` is not read as a key", shown.escape_debug()),
        format!("did you mean `{}:` at the start of the line?", key.name()),
    )
}

fn is_near(letters: &str, key: Key, has_colon: bool) -> bool {
    let name: String = key
        .name()
        .to_lowercase()
        .chars()
        .filter(char::is_ascii_alphabetic)
        .collect();
    if letters == name {
        return true;
    }
    let distance = strsim::damerau_levenshtein(letters, &name);
    match key {
        Key::AllowedFiles => {
            let others = [
                "paths",
                "path",
                "folders",
                "folder",
                "dirs",
                "dir",
                "directories",
                "directory",
            ];
            distance <= 2
                || letters
                    .strip_prefix("allowed")
                    .is_some_and(|what| others.contains(&what))
        }
        Key::NonGoals => distance <= 2,
        // Short words have too many neighbours (`coal`, `goat`), and a heading without a colon may
        // well be about timeouts.
        Key::Areas | Key::Timeout => has_colon && distance <= 1,
        Key::Goal => has_colon && distance <= 1 && letters.starts_with('g') && !matches!(letters, "goat" | "goad"),
    }
}

/// The fence that a line opens: at least three backticks or tildes.
fn opens(line: &str) -> Option<&str> {
    let text = line.trim_start();
    if line.len() - text.len() > 3 {
        return None;
    }
    let mark = text.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let fence = &text[..text.len() - text.trim_start_matches(mark).len()];
    // Backticks behind backticks are code within a line.
    let info = &text[fence.len()..];
    (fence.len() >= 3 && (mark == '~' || !info.contains('`'))).then_some(fence)
}

fn closes(line: &str, open: &str) -> bool {
    let text = line.trim();
    text.len() >= open.len() && text.starts_with(open) && text.chars().all(|c| open.starts_with(c))
}

/// A line without Markdown's marks for headings and bold.
fn without_marks(line: &str) -> String {
    let text = line.trim().trim_start_matches(['#', '>', ' ']);
    // Closing hashes are marks only behind a blank: `C#` is a name.
    let closed = text.trim_end_matches('#');
    let text = if closed.ends_with(' ') { closed.trim_end() } else { text };
    let bold = text.strip_prefix("**").and_then(|rest| rest.strip_suffix("**"));
    bold.unwrap_or(text).trim().to_owned()
}
