//! Patterns for the names that tools give to their files, for lists that are part of the program.
//!
//! Invariant: a pattern means what it would mean in a policy, less most of the syntax, so that what
//! a finding names can be copied into one. Policies compile their globs; a list of a hundred and
//! fifty would cost every run that, so these are compared part by part.

use super::paths::{Match, fold};

/// One pattern: `**/` in front for any depth (else from the root), at most one `*` in a part. It
/// is the path it describes and everything below it; a `/**` at its end only says that it is a
/// folder.
pub(super) struct Pattern {
    /// As written.
    pub(super) text: &'static str,
    anywhere: bool,
    parts: Vec<Part>,
    folded: Vec<Part>,
}

/// One part of a pattern: the name, or what stands before and after its `*`.
#[derive(PartialEq, Eq)]
struct Part {
    before: Vec<u8>,
    after: Option<Vec<u8>>,
}

impl Part {
    fn new(text: &str) -> Part {
        match text.split_once('*') {
            None => Part {
                before: text.into(),
                after: None,
            },
            Some((before, after)) => Part {
                before: before.into(),
                after: Some(after.into()),
            },
        }
    }

    fn fits(&self, name: &[u8]) -> bool {
        match &self.after {
            None => name == self.before,
            Some(after) => {
                name.len() >= self.before.len() + after.len() && name.starts_with(&self.before) && name.ends_with(after)
            }
        }
    }
}

/// Where a path stands to a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// It is what the pattern describes, or lies below it.
    Within,
    /// It is a folder on the way there: a link put there leads elsewhere.
    Above,
}

impl Pattern {
    pub(super) fn new(text: &'static str) -> Pattern {
        let rest = text.strip_suffix("/**").unwrap_or(text);
        let (anywhere, rest) = match rest.strip_prefix("**/") {
            Some(rest) => (true, rest),
            None => (false, rest),
        };
        Pattern {
            text,
            anywhere,
            folded: rest
                .split('/')
                .map(|part| Part::new(&part.to_ascii_lowercase()))
                .collect(),
            parts: rest.split('/').map(Part::new).collect(),
        }
    }

    /// The byte that a part of the path has to begin with.
    fn first(&self, is_twin: bool) -> Option<u8> {
        let parts = if is_twin { &self.folded } else { &self.parts };
        parts.first()?.before.first().copied()
    }

    fn place(&self, path: &[&[u8]], is_twin: bool) -> Option<Place> {
        let parts = if is_twin { &self.folded } else { &self.parts };
        let starts = if self.anywhere { path.len() } else { 1 };
        let mut above = None;
        for start in 0..starts {
            let here = &path[start..];
            if !here.iter().zip(parts).all(|(name, part)| part.fits(name)) {
                continue;
            }
            if here.len() >= parts.len() {
                return Some(Place::Within);
            }
            above = Some(Place::Above);
        }
        above
    }
}

/// The pattern that a path falls under: byte for byte before twins, and what is meant before what
/// only lies above it.
pub(super) fn find<'a, T>(known: &'a [(Pattern, T)], path: &[u8]) -> Option<(&'a (Pattern, T), Place, Match)> {
    let folded = fold(path);
    let spellings = [(path, Match::Exact), (folded.as_slice(), Match::Twin)]
        .map(|(path, how)| (path.split(|&byte| byte == b'/').collect::<Vec<_>>(), how));
    let mut above = None;
    for (parts, how) in &spellings {
        let is_twin = *how == Match::Twin;
        let mut firsts = [false; 256];
        for part in parts {
            if let Some(first) = part.first() {
                firsts[usize::from(*first)] = true;
            }
        }
        for entry in known {
            // Nearly all patterns begin with a letter that no part of the path begins with.
            if entry.0.first(is_twin).is_some_and(|first| !firsts[usize::from(first)]) {
                continue;
            }
            // Most paths and patterns are their own twins, and were compared already.
            if is_twin && folded == path && entry.0.folded == entry.0.parts {
                continue;
            }
            match entry.0.place(parts, is_twin) {
                Some(Place::Within) => return Some((entry, Place::Within, *how)),
                Some(Place::Above) => above = above.or(Some((entry, Place::Above, *how))),
                None => {}
            }
        }
    }
    above
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(patterns: &[&'static str], path: &str) -> Option<(&'static str, Place, Match)> {
        let known: Vec<(Pattern, ())> = patterns.iter().map(|text| (Pattern::new(text), ())).collect();
        find(&known, path.as_bytes()).map(|(entry, place, how)| (entry.0.text, place, how))
    }

    #[test]
    fn a_pattern_from_the_root_and_one_for_any_depth() {
        let within = |text| Some((text, Place::Within, Match::Exact));
        assert_eq!(found(&[".a/b/**"], ".a/b"), within(".a/b/**"));
        assert_eq!(found(&[".a/b/**"], ".a/b/c/d"), within(".a/b/**"));
        assert_eq!(found(&[".a/b/**"], "x/.a/b"), None);
        assert_eq!(found(&["**/.a/b"], "x/y/.a/b"), within("**/.a/b"));
        assert_eq!(found(&["**/.a/b"], ".a/b"), within("**/.a/b"));
        assert_eq!(found(&["**/.a/b"], "x.a/b"), None);
        assert_eq!(found(&["**/.a/b"], ".a/bc"), None);
    }

    #[test]
    fn a_star_stays_within_its_part() {
        for (path, hits) in [
            (".ab", true),
            (".a", true),
            (".a/x", true),
            ("x/.abc/d", true),
            ("a", false),
        ] {
            assert_eq!(found(&["**/.a*"], path).is_some(), hits, "{path}");
        }
        assert!(found(&["**/a.*.toml"], "a.b.toml").is_some());
        assert!(
            found(&["**/a.*.toml"], "a.toml").is_none(),
            "the two ends do not overlap"
        );
    }

    #[test]
    fn folders_on_the_way_are_told_apart() {
        assert_eq!(found(&[".a/b"], ".a"), Some((".a/b", Place::Above, Match::Exact)));
        assert_eq!(
            found(&["**/.a/b"], "x/.a"),
            Some(("**/.a/b", Place::Above, Match::Exact))
        );
        assert_eq!(found(&["**/.a/b"], "x"), None);
        assert_eq!(
            found(&[".a/b", ".a"], ".a"),
            Some((".a", Place::Within, Match::Exact)),
            "what is meant goes first"
        );
    }

    #[test]
    fn twins_are_found_after_exact_spellings() {
        assert_eq!(
            found(&["**/A.md"], "x/a.MD"),
            Some(("**/A.md", Place::Within, Match::Twin))
        );
        assert_eq!(
            found(&["**/A.md", "**/a.*"], "a.md"),
            Some(("**/a.*", Place::Within, Match::Exact))
        );
        assert_eq!(found(&["**/.vs/x"], ".ｖs/ſ"), None);
        assert_eq!(
            found(&["**/.vs/s"], ".ｖs/ſ"),
            Some(("**/.vs/s", Place::Within, Match::Twin))
        );
    }
}
