//! Content that hides from review (exit 9). Always on: no policy and no task turns these off.
//!
//! Invariant: what the base already had in the same place is no finding, so that a repository
//! with two files that differ only by case stays workable.

use std::collections::{HashMap, HashSet, VecDeque};
use std::rc::Rc;

use super::paths::fold;
use super::rules::{finding, is_regular, shown};
use super::tree::{Side, join, lookup};
use super::{Change, Entry, Finding, Kind, Oid, Rule, Tree, Unreadable, Verdict};

/// A target longer than Linux's PATH_MAX cannot be followed; nor is it worth reading.
const MAX_TARGET: u64 = 4096;
/// Links followed before a walk is taken for a loop, as in Linux's path resolution.
const MAX_LINKS: usize = 40;
/// Components walked for one link. Without a limit `a/../a/../...` through forty links is a way to
/// keep the gate busy for hours.
const MAX_STEPS: usize = 1000;

/// Judges every change against what the bases (the parents, for a merge) had.
pub fn judge(
    bases: &[&dyn Tree],
    candidate: &dyn Tree,
    changes: &[Change],
    verdict: &mut Verdict,
) -> Result<(), Unreadable> {
    let mut twins = Twins {
        bases,
        candidate,
        folders: HashMap::new(),
    };
    for change in changes {
        let Some(after) = change.after else { continue };
        let path = &change.path;
        if let Some(why) = path.split(|&byte| byte == b'/').find_map(unsafe_name) {
            verdict
                .findings
                .push(hidden(path, "built-in: unsafe names", why.into(), "rename it"));
        }
        match after.kind {
            Kind::Submodule => verdict.findings.push(hidden(
                path,
                "built-in: submodule links",
                "submodule link added or moved".into(),
                "a link brings in code that is not in the change; let a person move it",
            )),
            Kind::Symlink => {
                if let Some(why) = leads_out(candidate, path, &after)? {
                    let hint = "link to a path inside the repository, or copy the content";
                    verdict.findings.push(hidden(path, "built-in: symlinks", why, hint));
                }
            }
            Kind::File | Kind::Executable | Kind::Tree => {}
        }
        verdict.findings.extend(twins.of(path)?);
        if is_regular(&after) && is_source(path) {
            verdict.findings.extend(bidirectional(bases, candidate, path, &after)?);
        }
    }
    Ok(())
}

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
    if name.contains(&b'\\') {
        return Some("unsafe path: a backslash, which separates folders on Windows");
    }
    if is_git_folder(name) {
        return Some("unsafe path: some file systems take a component for `.git`");
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

/// Why a symlink hides something: its target is outside the repository or inside `.git`. Links on
/// the way are followed in the candidate: with `up -> .` in `a/`, `a/up/../..` leaves the
/// repository although its text does not look so. Loops lead nowhere and are harmless.
fn leads_out(tree: &dyn Tree, link: &[u8], side: &Side) -> Result<Option<String>, Unreadable> {
    let Some(target) = target(tree, &side.id)? else {
        return Ok(Some(format!("symlink whose target is longer than {MAX_TARGET} bytes")));
    };
    let says = |what: &str| Ok(Some(format!("symlink to {}, {what}", shown(&target))));
    let mut at: Vec<Vec<u8>> = link.split(|&byte| byte == b'/').map(<[u8]>::to_vec).collect();
    at.pop();
    let mut next = target.clone();
    let mut todo = VecDeque::new();
    let mut steps = 0;
    for _ in 0..MAX_LINKS {
        if is_absolute(&next) {
            return says("an absolute path");
        }
        for part in next.split(|&byte| byte == b'/' || byte == b'\\').rev() {
            todo.push_front(part.to_vec());
        }
        let mut followed = None;
        while let Some(part) = todo.pop_front() {
            steps += 1;
            if steps > MAX_STEPS {
                return says("a way too long to follow");
            }
            match part.as_slice() {
                b"" | b"." => {}
                b".." => {
                    if at.pop().is_none() {
                        return says("outside the repository");
                    }
                }
                name if is_git_folder(name) => return says("inside `.git`"),
                _ => {
                    at.push(part);
                    let met = lookup(tree, &at.join(&b'/'))?.filter(|entry| entry.kind == Kind::Symlink);
                    if let Some(met) = met {
                        at.pop();
                        followed = Some(met.id);
                        break;
                    }
                }
            }
        }
        let Some(id) = followed else { return Ok(None) };
        match self::target(tree, &id)? {
            Some(target) => next = target,
            None => return says("through a link with an overlong target"),
        }
    }
    Ok(None)
}

fn target(tree: &dyn Tree, id: &Oid) -> Result<Option<Vec<u8>>, Unreadable> {
    if tree.blob_size(id)? > MAX_TARGET {
        return Ok(None);
    }
    tree.blob(id).map(Some)
}

/// Absolute on Unix or on Windows (`C:\x`, `\\host\x`).
fn is_absolute(target: &[u8]) -> bool {
    match target {
        [b'/' | b'\\', ..] => true,
        [drive, b':', ..] => drive.is_ascii_alphabetic(),
        _ => false,
    }
}

/// Entries of one folder by their folded name.
type Listing = Rc<HashMap<Vec<u8>, Vec<Entry>>>;

/// Finds paths of the candidate that a case-folding or normalising file system takes for one.
struct Twins<'a> {
    bases: &'a [&'a dyn Tree],
    candidate: &'a dyn Tree,
    /// Every folder of the candidate is listed once.
    folders: HashMap<Oid, Listing>,
}

impl Twins<'_> {
    /// The outermost component of `path` that is new and has a twin.
    fn of(&mut self, path: &[u8]) -> Result<Option<Finding>, Unreadable> {
        // Where the base has twin folders, what lies in them is compared across them.
        let mut places: Vec<(Vec<u8>, Oid)> = vec![(Vec::new(), self.candidate.root())];
        let mut here = Vec::new();
        for part in path.split(|&byte| byte == b'/') {
            here = join(&here, part);
            let folded = fold(part);
            let mut below = Vec::new();
            let mut twins = Vec::new();
            for (folder, id) in &places {
                for entry in self.listing(id)?.get(&folded).into_iter().flatten() {
                    let there = join(folder, &entry.name);
                    if entry.kind == Kind::Tree {
                        below.push((there.clone(), entry.id));
                    }
                    if there != here {
                        twins.push(there);
                    }
                }
            }
            // Of two twins the new one is at fault; both, when both are new.
            if let Some(twin) = twins.first()
                && !self.in_a_base(&here)?
            {
                return Ok(Some(hidden(
                    &here,
                    "built-in: twins",
                    format!("differs from {} only by case or Unicode form", shown(twin)),
                    "many file systems hold only one of the two; rename or delete one",
                )));
            }
            places = below;
        }
        Ok(None)
    }

    fn listing(&mut self, folder: &Oid) -> Result<Listing, Unreadable> {
        if let Some(known) = self.folders.get(folder) {
            return Ok(known.clone());
        }
        let mut names: HashMap<Vec<u8>, Vec<Entry>> = HashMap::new();
        for entry in self.candidate.entries(folder)? {
            names.entry(fold(&entry.name)).or_default().push(entry);
        }
        let names = Rc::new(names);
        self.folders.insert(*folder, names.clone());
        Ok(names)
    }

    fn in_a_base(&self, path: &[u8]) -> Result<bool, Unreadable> {
        for base in self.bases {
            if lookup(*base, path)?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Lines with bidirectional controls that no base version of the file had: what a reviewer reads
/// there is not what a compiler reads (CVE-2021-42574).
fn bidirectional(
    bases: &[&dyn Tree],
    candidate: &dyn Tree,
    path: &[u8],
    after: &Side,
) -> Result<Vec<Finding>, Unreadable> {
    let source = candidate.blob(&after.id)?;
    if find_control(&source).is_none() {
        return Ok(Vec::new());
    }
    let mut known: HashSet<Vec<u8>> = HashSet::new();
    for base in bases {
        let regular = |entry: &Entry| matches!(entry.kind, Kind::File | Kind::Executable);
        if let Some(entry) = lookup(*base, path)?.filter(regular) {
            let old = base.blob(&entry.id)?;
            known.extend(
                lines(&old)
                    .filter(|line| find_control(line).is_some())
                    .map(<[u8]>::to_vec),
            );
        }
    }
    let mut findings = Vec::new();
    for (number, line) in (1u32..).zip(lines(&source)) {
        let Some(at) = find_control(line).filter(|_| !known.contains(line)) else {
            continue;
        };
        let mut finding = hidden(
            path,
            "built-in: bidirectional controls",
            "bidirectional control character: the line reads differently from what it does".into(),
            "remove the character, or write it as an escape",
        );
        finding.line = Some(number);
        finding.column = u32::try_from(at + 1).ok();
        findings.push(finding);
    }
    Ok(findings)
}

fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|&byte| byte == b'\n')
        .map(|line| line.strip_suffix(b"\r").unwrap_or(line))
}

/// Offset of the first of U+202A to U+202E and U+2066 to U+2069 in UTF-8.
fn find_control(text: &[u8]) -> Option<usize> {
    text.windows(3)
        .position(|at| matches!(at, [0xe2, 0x80, 0xaa..=0xae] | [0xe2, 0x81, 0xa6..=0xa9]))
}

/// Endings of files that a compiler, interpreter, build or shell reads.
const SOURCE: &[&str] = &[
    "astro", "bash", "bat", "c", "cc", "cjs", "clj", "cmake", "cmd", "cpp", "cs", "css", "cts", "cxx", "dart", "elm",
    "erl", "ex", "exs", "fs", "fsx", "go", "gradle", "graphql", "groovy", "h", "hcl", "hh", "hpp", "hs", "html", "hxx",
    "java", "jl", "js", "json", "jsx", "kt", "kts", "less", "lua", "m", "mjs", "ml", "mli", "mm", "mts", "nix", "php",
    "pl", "pm", "proto", "ps1", "py", "pyi", "pyw", "r", "rb", "rs", "sass", "scala", "scss", "sh", "sol", "sql",
    "svelte", "swift", "tf", "toml", "ts", "tsx", "v", "vb", "vue", "xml", "yaml", "yml", "zig", "zsh",
];

fn is_source(path: &[u8]) -> bool {
    let name = path.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
    let ending = match name.iter().rposition(|&byte| byte == b'.') {
        Some(at) => name[at + 1..].to_ascii_lowercase(),
        None => return matches!(name, b"Makefile" | b"makefile" | b"Dockerfile" | b"Jenkinsfile"),
    };
    SOURCE.iter().any(|known| known.as_bytes() == ending)
}
