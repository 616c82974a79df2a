//! Globs over path bytes.
//!
//! globset compiles to a regex over bytes: its `?` and `[!a]` take one BYTE, so that `caf?` would
//! miss `café`, and a class takes the bytes of `é` one by one. Here each character outside of
//! printable ASCII is first replaced by one control byte, in the pattern and in the path alike,
//! so that a character is a byte.

use globset::{Candidate, GlobBuilder, GlobMatcher};

/// Stands for every character outside of printable ASCII that the pattern does not name.
const OTHER: u8 = 1;
/// What can stand for a character that the pattern names.
const SLOTS: std::ops::RangeInclusive<u8> = 2..=31;
/// globset panics on a pattern whose regex is too large or too deep, so both are bounded first.
const MAX_BYTES: usize = 4096;
const MAX_BRACES: usize = 32;

#[derive(Clone, Debug)]
pub(super) struct Glob {
    /// Characters outside of printable ASCII in the pattern; the first has slot 2.
    named: Vec<char>,
    matcher: GlobMatcher,
    /// For a pattern that means a folder: everything below it.
    below: Option<GlobMatcher>,
}

impl Glob {
    /// Compiles a pattern; with `folder` also what lies below is matched. The error is one line.
    pub(super) fn new(pattern: &str, folder: bool) -> Result<Glob, String> {
        if pattern.len() > MAX_BYTES {
            return Err(format!("longer than {MAX_BYTES} bytes"));
        }
        if pattern.matches('{').count() > MAX_BRACES {
            return Err(format!("more than {MAX_BRACES} pairs of braces"));
        }
        let mut named = Vec::new();
        for c in pattern.chars().filter(|&c| is_special(c)) {
            if !named.contains(&c) {
                named.push(c);
            }
        }
        if named.len() > SLOTS.count() {
            return Err("too many different non-ASCII characters in one glob".to_owned());
        }
        if ranges_over_special(pattern) {
            return Err("a range of non-ASCII characters; list them one by one".to_owned());
        }
        let mut ascii = String::with_capacity(pattern.len());
        ascii.extend(pattern.chars().map(|c| char::from(byte_of(c, &named))));
        let below = match folder {
            true => Some(compile(&format!("{ascii}/**"))?),
            false => None,
        };
        Ok(Glob {
            matcher: compile(&ascii)?,
            below,
            named,
        })
    }

    pub(super) fn matches(&self, path: &[u8]) -> bool {
        let mut bytes = Vec::with_capacity(path.len());
        for chunk in path.utf8_chunks() {
            bytes.extend(chunk.valid().chars().map(|c| byte_of(c, &self.named)));
            bytes.extend(chunk.invalid().iter().map(|_| OTHER));
        }
        let candidate = Candidate::from_bytes(&bytes);
        let hit = |glob: &GlobMatcher| glob.is_match_candidate(&candidate);
        hit(&self.matcher) || self.below.as_ref().is_some_and(hit)
    }
}

fn compile(pattern: &str) -> Result<GlobMatcher, String> {
    GlobBuilder::new(pattern)
        .literal_separator(true)
        .backslash_escape(false)
        .empty_alternates(true)
        .build()
        .map(|glob| glob.compile_matcher())
        .map_err(|error| error.kind().to_string())
}

fn is_special(c: char) -> bool {
    !matches!(c, ' '..='~')
}

fn byte_of(c: char, named: &[char]) -> u8 {
    if !is_special(c) {
        return c as u8;
    }
    match named.iter().position(|&n| n == c) {
        Some(index) => SLOTS.start() + index as u8,
        None => OTHER,
    }
}

/// Whether a `[a-b]` has an end outside of printable ASCII: slots have no order.
fn ranges_over_special(pattern: &str) -> bool {
    let chars: Vec<char> = pattern.chars().collect();
    let mut in_class = false;
    chars.iter().enumerate().any(|(i, &c)| {
        let special = |at: Option<usize>| at.and_then(|at| chars.get(at)).is_some_and(|&c| is_special(c));
        match c {
            '[' => in_class = true,
            ']' => in_class = false,
            '-' => return in_class && (special(i.checked_sub(1)) || special(Some(i + 1))),
            _ => {}
        }
        false
    })
}
