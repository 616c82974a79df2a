//! Content that hides from review (exit 9). Always on: no policy and no task turns these off.
//!
//! Invariant: what the base already had in the same place is no finding, so that a repository
//! with two files that differ only by case stays workable.

mod links;
mod malformed;
mod repositories;
mod text;
mod twins;

use std::collections::{HashMap, HashSet};

use super::paths::{fold, is_invisible};
use super::rules::{finding, is_regular};
use super::survey::Survey;
use super::tree::Difference;
use super::{Finding, Kind, Rule, Tree, Unreadable, Verdict};
use links::leads_out;
use twins::Twins;

pub use malformed::MALFORMED;
pub(super) use text::is_plain;

pub use repositories::{REPOSITORIES, is_of_git_dir};

/// The name under which source that nobody can review is reported.
pub(super) const UNREADABLE: &str = text::UNREADABLE;

/// What judges links to commits of other repositories.
pub(super) const SUBMODULES: &str = "built-in: submodule links";

/// Judges every change against what the bases (the parents, for a merge) had.
pub(super) fn judge(
    bases: &[&dyn Tree],
    candidate: &dyn Tree,
    Difference { changes, faulty }: &Difference,
    survey: &Survey,
    verdict: &mut Verdict,
) -> Result<(), Unreadable> {
    let mut twins = Twins {
        bases,
        candidate,
        folders: HashMap::new(),
    };
    let mut repositories = HashSet::new();
    verdict.findings.extend(malformed::judge(bases, candidate, faulty)?);
    verdict.findings.extend(links::led_out(bases, candidate, changes)?);
    for change in changes {
        let path = &change.path;
        // A file that is gone changes what git does in a repository, too.
        let found = repositories::of(&mut twins, path, &mut repositories)?;
        verdict.findings.extend(found);
        let Some(after) = change.after else { continue };
        let is_new = change.before.is_none();
        let why = path
            .split(|&byte| byte == b'/')
            .find_map(|name| unsafe_name(name).or_else(|| if is_new { misleading_name(name) } else { None }));
        if let Some(why) = why {
            verdict
                .findings
                .push(hidden(path, "built-in: unsafe names", why.into(), "rename it"));
        }
        match after.kind {
            Kind::Submodule => verdict.findings.push(hidden(
                path,
                SUBMODULES,
                "submodule link added or moved".into(),
                "a link brings in code that is not in the change; let a person move it",
            )),
            Kind::Symlink => {
                if let Some(why) = leads_out(candidate, path, &after)? {
                    verdict.findings.push(links::found(path, why));
                } else if is_git_modules(path) {
                    verdict.findings.push(links::found(
                        path,
                        "symlink in the place of `.gitmodules`, which git refuses to check out".into(),
                    ));
                }
            }
            Kind::File | Kind::Executable | Kind::Tree => {}
        }
        // What a base has at this very path lies below folders that it has, so that nothing on the way is new.
        if is_new {
            verdict.findings.extend(twins.of(path)?);
        }
        if is_regular(&after) && !survey.is_plain(path, &after.id) {
            verdict.findings.extend(text::judge(bases, candidate, change, &after)?);
        }
    }
    Ok(())
}

/// Longest name of a file or folder on Linux, in bytes (NAME_MAX).
const MAX_NAME: usize = 255;

fn hidden(path: &[u8], judged_by: &str, message: String, hint: &str) -> Finding {
    finding(Rule::Uninspectable, path, judged_by, message, hint.into())
}

/// Why git, or a checkout on some file system, would refuse or misread this path component.
fn unsafe_name(name: &[u8]) -> Option<&'static str> {
    if name.iter().all(|byte| matches!(byte, b'.' | b' ')) {
        return Some("unsafe path: a component of dots and blanks only");
    }
    if name.contains(&0) {
        return Some("unsafe path: a NUL byte");
    }
    if name.len() > MAX_NAME {
        return Some("unsafe path: a component of more than 255 bytes, which cannot be checked out");
    }
    if text::find_control(name).is_some() {
        return Some("unsafe path: a bidirectional control character, so that the name reads as another");
    }
    if name.contains(&b'\\') {
        return Some("unsafe path: a backslash, which separates folders on Windows");
    }
    if is_git_folder(name) {
        return Some("unsafe path: some file systems take a component for `.git`");
    }
    None
}

/// Whether git or some file system takes the last component for `.gitmodules`, of which git refuses links
/// (it would follow them to where submodules come from). The same list as git's own `is_ntfs_dotgitmodules`,
/// less the short names made of a hash.
fn is_git_modules(path: &[u8]) -> bool {
    let name = path.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
    let folded = fold(name);
    let stem = folded.split(|&byte| byte == b':').next().unwrap_or_default();
    let stem = stem.trim_ascii_end();
    let stem = stem.strip_suffix(b".").unwrap_or(stem);
    stem == b".gitmodules" || matches!(stem, [b'g', b'i', b't', b'm', b'o', b'd', b'~', b'1'..=b'4'])
}

/// Why a new name is not what it looks like, or would be another file elsewhere. One that the base has
/// may stay.
fn misleading_name(name: &[u8]) -> Option<&'static str> {
    if matches!(name.last(), Some(b'.' | b' ')) {
        return Some("unsafe path: Windows drops a dot or blank at the end, and makes it another file");
    }
    if name.windows(2).any(|pair| pair == b":$") || name.windows(2).any(|pair| pair == b"::") {
        return Some("unsafe path: Windows takes what follows the colon for a stream of another file");
    }
    let text = String::from_utf8_lossy(name);
    if text
        .chars()
        .any(|letter| is_invisible(letter) && !matches!(letter, '\u{200c}' | '\u{200d}' | '\u{fe0f}'))
    {
        return Some("unsafe path: a character that cannot be seen");
    }
    None
}

/// Whether some file system takes the name for `.git`: other case, HFS+ ignorable code points,
/// NTFS trailing dots and blanks, streams (`.git::$INDEX_ALLOCATION`) and short names. The same
/// list as git's own `is_hfs_dotgit` and `is_ntfs_dotgit`, plus compatibility forms.
fn is_git_folder(name: &[u8]) -> bool {
    let text: String = String::from_utf8_lossy(name)
        .chars()
        .filter(
            |c| !matches!(c, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}'),
        )
        .collect();
    let folded = fold(text.as_bytes());
    let stem = folded.split(|&byte| byte == b':').next().unwrap_or_default();
    let end = stem
        .iter()
        .rposition(|byte| !matches!(byte, b'.' | b' '))
        .map_or(0, |at| at + 1);
    matches!(&stem[..end], b".git" | b"git~1")
}
