//! From a declaration to its line.

use super::declared::Dependency;

/// Names that are looked for in the text, where their reader does not know the place. Each search
/// reads the whole manifest, and an agent can write a hundred thousand of them.
const MAX_SEARCHES: usize = 200;

/// The lines of one text.
pub(super) struct Lines<'a> {
    text: &'a str,
    /// Offsets at which lines begin; made when first needed.
    starts: Vec<usize>,
    searches: usize,
}

impl<'a> Lines<'a> {
    pub(super) fn of(text: &'a str) -> Lines<'a> {
        Lines {
            text,
            starts: Vec::new(),
            searches: 0,
        }
    }

    /// The 1-based line of a byte offset.
    pub(super) fn at(&mut self, offset: usize) -> Option<u32> {
        if self.starts.is_empty() {
            let breaks = self.text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
            self.starts = std::iter::once(0).chain(breaks.map(|(at, _)| at + 1)).collect();
        }
        u32::try_from(self.starts.partition_point(|start| *start <= offset)).ok()
    }

    /// The line of a declaration: by its place, or the first that has its name.
    pub(super) fn of_dependency(&mut self, dependency: &Dependency) -> Option<u32> {
        if let Some(at) = dependency.at {
            return self.at(at);
        }
        self.searches += 1;
        match self.searches > MAX_SEARCHES {
            true => None,
            false => line_of(self.text.as_bytes(), &dependency.written),
        }
    }
}

/// The first line that has the name as a whole word; without one, the first that has it at all.
pub(super) fn line_of(text: &[u8], written: &str) -> Option<u32> {
    if written.is_empty() {
        return None;
    }
    let name = written.as_bytes();
    let part =
        |byte: Option<&u8>| byte.is_some_and(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'/' | b'@'));
    let mut anywhere = None;
    for (number, line) in (1u32..).zip(text.split(|&byte| byte == b'\n')) {
        for at in line
            .windows(name.len())
            .enumerate()
            .filter(|(_, window)| *window == name)
            .map(|(at, _)| at)
        {
            anywhere = anywhere.or(Some(number));
            let before = at.checked_sub(1).and_then(|before| line.get(before));
            if !part(before) && !part(line.get(at + name.len()).filter(|byte| **byte != b'@')) {
                return Some(number);
            }
        }
    }
    anywhere
}
