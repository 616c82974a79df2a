//! The lines of a task file: which are keys, which belong to them, which are prose, and which look
//! so much like a key that reading them as prose would drop a limit.

use super::values::{Value, single, values};
use super::{BadTask, bad, duration, near, non_goals};

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
    pub(super) const ALL: [Key; 5] = [Key::Goal, Key::AllowedFiles, Key::Areas, Key::NonGoals, Key::Timeout];

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
    /// What a label or heading such as `## Goal` or `**Goal:** ...` gives.
    pub(super) labelled_goal: Option<String>,
    /// The first line with letters or digits that belongs to no key.
    pub(super) first_prose: Option<String>,
    /// What sounds like a limit and is none, each a sentence.
    pub(super) unread: Vec<String>,
}

/// Most sentences about what is not read; more would hide the scope itself.
const MAX_UNREAD: usize = 5;

pub(super) fn read(text: &str) -> Result<Read, BadTask> {
    let lines: Vec<&str> = text.lines().collect();
    let mut read = Read {
        blocks: Vec::new(),
        labelled_goal: None,
        first_prose: None,
        unread: Vec::new(),
    };
    let mut fence: Option<(u32, &str)> = None;
    let mut next = 0;
    while let Some(line) = lines.get(next) {
        let number = next as u32 + 1;
        next += 1;
        if let Some((_, open)) = fence {
            if closes(line, open) {
                fence = None;
            } else if let Some((key, _)) = key(line).filter(|(key, _)| *key != Key::Goal) {
                let message = format!(
                    "`{}:` on line {number} stands in a code block and is not read",
                    key.name()
                );
                read.unread.push(message);
            }
            continue;
        }
        if let Some(open) = opens(line) {
            fence = Some((number, open));
            continue;
        }
        let Some((key, rest)) = key(line) else {
            let underlined = lines.get(next).is_some_and(|line| is_underline(line));
            let below = lines[next..].iter().find(|line| !line.trim().is_empty());
            let above_list = below.is_some_and(|line| item(line).is_some());
            near::refuse(line, number, above_list || underlined)?;
            read.unread.extend(near::unread(line, underlined));
            if let Some(text) = near::goal(line, underlined) {
                let goal = match text.contains(char::is_alphanumeric) {
                    true => Some(without_marks(text)),
                    false => following(&lines, next + usize::from(underlined)).map(|(text, _)| text),
                };
                read.labelled_goal = read.labelled_goal.or(goal);
            } else if read.first_prose.is_none() && line.contains(char::is_alphanumeric) {
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
            next = continued(&mut block, rest, &lines, next)?;
            next = items(&mut block, &lines, next)?;
        } else if block.values.is_empty() {
            // The line stays where it is: if it is a misspelt key, it is still refused.
            block
                .values
                .extend(following(&lines, next).map(|(text, line)| Value { text, line }));
        }
        read.blocks.push(block);
    }
    match fence {
        Some((line, open)) => {
            let message = "a code block is never closed, so what follows would be prose";
            bad(line, message, format!("add a line {open} where it ends"))
        }
        None => {
            read.unread.truncate(MAX_UNREAD);
            Ok(read)
        }
    }
}

/// The next line with letters or digits, without marks, and its number; `None` where a key or a
/// code block comes first.
fn following(lines: &[&str], next: usize) -> Option<(String, u32)> {
    let rest = lines.iter().enumerate().skip(next);
    let (at, line) = rest
        .into_iter()
        .find(|(_, line)| line.contains(char::is_alphanumeric) || opens(line).is_some())?;
    (key(line).is_none() && opens(line).is_none()).then(|| (without_marks(line), at as u32 + 1))
}

/// Reads the lines that go on with the value on a key's own line: indented ones, which a person
/// takes for part of it. Paths and names go on behind a comma only, since half a path is another.
fn continued(block: &mut Block, rest: &str, lines: &[&str], mut next: usize) -> Result<usize, BadTask> {
    if block.key == Key::Timeout || block.values.is_empty() {
        return Ok(next);
    }
    let mut before = rest;
    while let Some(line) = lines.get(next).filter(|line| !line.trim().is_empty()) {
        let number = next as u32 + 1;
        let after_comma = before.trim_end().ends_with(',');
        if item(line).is_some() {
            break;
        }
        if !line.starts_with([' ', '\t']) {
            if after_comma && key(line).is_none() {
                let message = format!("`{}:` on the line above ends in a comma", block.key.name());
                return bad(
                    number,
                    message,
                    "indent the line that goes on with it, or remove the comma",
                );
            }
            break;
        }
        match (after_comma, block.key, block.values.last_mut()) {
            (false, Key::NonGoals, Some(last)) => {
                last.text.push(' ');
                last.text.push_str(line.trim());
            }
            (false, ..) => {
                return bad(
                    number,
                    "an entry over several lines",
                    "end the line above with a comma, or give one entry a line, each with a `-`",
                );
            }
            (true, key, _) => block.values.extend(values(key, line.trim(), number)?),
        }
        before = line;
        next += 1;
    }
    apart(block, lines, next)?;
    Ok(next)
}

/// Refuses a list that stands below a value on the key's own line with a blank line between, if
/// its items could be meant for the key: the list would be dropped.
fn apart(block: &Block, lines: &[&str], next: usize) -> Result<(), BadTask> {
    if lines.get(next).is_none_or(|line| !line.trim().is_empty()) {
        return Ok(());
    }
    let rest = lines.iter().enumerate().skip(next);
    let mut list = rest
        .skip_while(|(_, line)| line.trim().is_empty())
        .map_while(|(at, line)| {
            let text = item(line);
            (text.is_some() || line.trim().is_empty()).then_some((at, text.unwrap_or_default()))
        });
    let is_meant = |text: &str| match block.key {
        Key::NonGoals => non_goals::limits(text) != non_goals::Limits::default(),
        // A sentence is no entry: such a list says what to do.
        _ => !text.is_empty() && (text.starts_with(['`', '"', '\'', '[']) || !text.contains(char::is_whitespace)),
    };
    match list.find(|(_, text)| is_meant(text)) {
        Some((at, _)) => bad(
            at as u32 + 1,
            format!("a list below a value of `{}:` on its own line", block.key.name()),
            "give either the line or the list; put a line of text before a list that is not meant for it",
        ),
        None => Ok(()),
    }
}

/// Reads list items below a key; gives the next line to look at. Blank lines may stand between
/// items, and before the first if the key's own line has no value.
fn items(block: &mut Block, lines: &[&str], mut next: usize) -> Result<usize, BadTask> {
    let loose = block.values.is_empty();
    let mut any = false;
    loop {
        let mut at = next;
        while (loose || any) && lines.get(at).is_some_and(|line| line.trim().is_empty()) {
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

/// Whether the line makes a heading of the one above it.
fn is_underline(line: &str) -> bool {
    let text = line.trim();
    text.len() > 1 && ['=', '-'].iter().any(|mark| text.chars().all(|c| c == *mark))
}

/// The text of a `- item` line.
pub(super) fn item(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix(['-', '*', '+'])?;
    rest.starts_with([' ', '\t']).then(|| rest.trim())
}

/// A known key at the start of a line, and what follows its colon.
fn key(line: &str) -> Option<(Key, &str)> {
    let (word, rest) = line.split_once(':')?;
    let key = Key::ALL
        .into_iter()
        .find(|key| key.name().eq_ignore_ascii_case(word.trim_end()))?;
    let rest = rest.trim();
    // Logs and reports say `Timeout: 30000ms exceeded`: only one word, or what is a duration in
    // several, is a limit.
    let is_limit = rest.is_empty()
        || rest.starts_with(|c: char| c.is_ascii_digit())
            && (!rest.contains(char::is_whitespace) || duration::suggested(rest).is_some());
    (key != Key::Timeout || is_limit).then_some((key, rest))
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
    let text = item(line).unwrap_or(line).trim().trim_start_matches(['#', '>', ' ']);
    // Closing hashes are marks only behind a blank: `C#` is a name.
    let closed = text.trim_end_matches('#');
    let text = if closed.ends_with(' ') { closed.trim_end() } else { text };
    let bold = text.strip_prefix("**").and_then(|rest| rest.strip_suffix("**"));
    bold.unwrap_or(text).trim().to_owned()
}
