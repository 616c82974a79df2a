//! Files that a compiler reads and a reviewer cannot: source that is no text, source that is too
//! long to review, and characters that reorder a line.
//!
//! A base version of the same content is never looked at again: a change of the file mode hides
//! nothing that the base did not have.

use std::collections::HashSet;

use super::hidden;
use crate::gate::rules::is_regular;
use crate::gate::tree::{Side, lookup};
use crate::gate::{Change, Finding, Tree, Unreadable};

/// What judges source that nobody can review.
pub(super) const UNREADABLE: &str = "built-in: unreadable source";
const CONTROLS: &str = "built-in: bidirectional controls";

/// Source above this many bytes is read by nobody; the same limit holds where imports are read.
/// Of other files no more is looked at either.
const MAX_SOURCE: u64 = 10 * 1024 * 1024;

/// Findings about the content of one regular file of the candidate.
pub(super) fn judge(
    bases: &[&dyn Tree],
    candidate: &dyn Tree,
    change: &Change,
    after: &Side,
) -> Result<Vec<Finding>, Unreadable> {
    let path = change.path.as_slice();
    let mut before = Vec::new();
    for (index, base) in bases.iter().enumerate() {
        let side = match index {
            // The changes are the difference from the first base; a lookup for each of many paths
            // in one folder would read that folder as many times.
            0 => change.before,
            _ => lookup(*base, path)?.map(|entry| Side {
                kind: entry.kind,
                id: entry.id,
            }),
        };
        if let Some(side) = side.filter(is_regular) {
            if side.id == after.id {
                return Ok(Vec::new());
            }
            before.push((*base, side));
        }
    }
    let ending = ending(path);
    if candidate.blob_size(&after.id)? > MAX_SOURCE {
        // Data may be large; it is no program that somebody has to read.
        return match ending {
            Ending::Source => unreadable(Defect::TooLarge, path, None, &before).map(|found| vec![found]),
            Ending::Data | Ending::Unknown => Ok(Vec::new()),
        };
    }
    let content = candidate.blob(&after.id)?;
    // A script says so itself, whatever its name.
    let ending = match ending {
        Ending::Unknown if content.starts_with(b"#!") => Ending::Source,
        other => other,
    };
    match (defect(&content), ending) {
        (Some((defect, at)), Ending::Source | Ending::Data) => {
            let line = content[..at].iter().filter(|&&byte| byte == b'\n').count() + 1;
            let line = u32::try_from(line).ok();
            Ok(vec![unreadable(defect, path, line, &before)?])
        }
        // Pictures and archives: nothing reads them line by line.
        (Some(_), Ending::Unknown) => Ok(Vec::new()),
        (None, _) => bidirectional(&content, path, &before),
    }
}

/// Why a file is no text that a person can review.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Defect {
    TooLarge,
    Nul,
    Encoding,
}

/// The first defect of the content and its offset. A byte order mark of UTF-8 is text.
fn defect(content: &[u8]) -> Option<(Defect, usize)> {
    if let Some(at) = content.iter().position(|&byte| byte == 0) {
        return Some((Defect::Nul, at));
    }
    let error = std::str::from_utf8(content).err()?;
    Some((Defect::Encoding, error.valid_up_to()))
}

fn unreadable(
    defect: Defect,
    path: &[u8],
    line: Option<u32>,
    before: &[(&dyn Tree, Side)],
) -> Result<Finding, Unreadable> {
    let (what, hint) = match defect {
        Defect::TooLarge => (
            "source of more than 10 MiB",
            "split it, or keep data out of source files",
        ),
        Defect::Nul => (
            "source with a NUL byte: review tools show it as binary",
            "save the file as UTF-8 text; a file that is no source needs another ending",
        ),
        Defect::Encoding => (
            "source that is not UTF-8: what a reviewer reads is a guess",
            "save the file as UTF-8",
        ),
    };
    let mut message = what.to_owned();
    for (base, side) in before {
        let size = base.blob_size(&side.id)?;
        let same = match defect {
            Defect::TooLarge => size > MAX_SOURCE,
            _ if size > MAX_SOURCE => false,
            _ => self::defect(&base.blob(&side.id)?).is_some_and(|(old, _)| old == defect),
        };
        if same {
            // Said, so that nobody looks for the fault in the change; it stays one, since nobody
            // can see what the change did.
            message.push_str(" (the base's version has the same defect)");
            break;
        }
    }
    let mut finding = hidden(path, UNREADABLE, message, hint);
    finding.line = line;
    Ok(finding)
}

/// Lines with bidirectional controls that no base version of the file had: what a reviewer reads
/// there is not what a compiler reads (CVE-2021-42574).
fn bidirectional(content: &[u8], path: &[u8], before: &[(&dyn Tree, Side)]) -> Result<Vec<Finding>, Unreadable> {
    if find_control(content).is_none() {
        return Ok(Vec::new());
    }
    let mut known: HashSet<Vec<u8>> = HashSet::new();
    for (base, side) in before {
        let old = base.blob(&side.id)?;
        known.extend(
            lines(&old)
                .filter(|line| find_control(line).is_some())
                .map(<[u8]>::to_vec),
        );
    }
    let mut findings = Vec::new();
    for (number, line) in (1u32..).zip(lines(content)) {
        let Some(at) = find_control(line).filter(|_| !known.contains(line)) else {
            continue;
        };
        let mut finding = hidden(
            path,
            CONTROLS,
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

/// Whether a file of this content, of no more than [`MAX_SOURCE`], is never a finding here.
pub(in crate::gate) fn is_plain(content: &[u8]) -> bool {
    defect(content).is_none() && find_control(content).is_none()
}

/// Offset of the first of U+202A to U+202E and U+2066 to U+2069 in UTF-8.
pub(super) fn find_control(text: &[u8]) -> Option<usize> {
    let mut from = 0;
    while let Some(at) = text[from..].iter().position(|&byte| byte == 0xe2) {
        let at = from + at;
        if let Some([_, 0x80, 0xaa..=0xae] | [_, 0x81, 0xa6..=0xa9]) = text.get(at..at + 3) {
            return Some(at);
        }
        from = at + 1;
    }
    None
}

/// Endings of files that a compiler, interpreter, build or shell reads as a program. The lists here
/// are words in one text.
const SOURCE: &str = "adb ads applescript asm astro awk bash bat bazel bzl c c++ cbl cc cjs cl clj cljc cljs cmake cmd cob \
    coffee cpp cppm cr cs csh cshtml css csx cts cu cuh cxx cxxm d dart dockerfile el elm erb erl ex exs \
    f f90 f95 fish fs fsi fsx gd gemspec gleam glsl go gradle graphql groovy gvy gyp gypi h h++ hbs hcl \
    hh hlsl hpp hrl hs htm html hx hxx inc inl ino ipp ixx java jl js jsp jsx ksh kt kts less lhs lisp \
    lua m m4 mak mdx metal mjs mk ml mli mm move mpp mts nim nix nu pas php php3 php4 php5 php7 php8 \
    phps phtml pl pm pp proto ps1 psd1 psm1 pug purs pxd pxi py pyi pyw pyx r rake razor rb rbi rbs rbw \
    rego rkt rs ru s sass sbt sc scala scm scss sh sol sql star sv svelte swift tcl tf thrift tpp ts tsx \
    txx v vala vb vbs vhd vhdl vue vy wat wgsl zig zsh";
/// Names of such files that have no ending.
const SOURCE_NAMES: &str = "brewfile containerfile dockerfile gemfile gnumakefile jenkinsfile justfile makefile pipfile podfile \
    procfile rakefile vagrantfile";
/// Endings of text that configures programs; it may be large.
const DATA: &str = "csproj fsproj ipynb json json5 jsonc props targets toml vbproj vcxproj xml yaml yml";

#[derive(Clone, Copy, PartialEq, Eq)]
enum Ending {
    Source,
    Data,
    Unknown,
}

fn ending(path: &[u8]) -> Ending {
    let name = path.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
    let name = name.to_ascii_lowercase();
    let among = |list: &str, what: &[u8]| list.split_ascii_whitespace().any(|known| known.as_bytes() == what);
    match name.iter().rposition(|&byte| byte == b'.') {
        Some(at) if among(SOURCE, &name[at + 1..]) => Ending::Source,
        Some(at) if among(DATA, &name[at + 1..]) => Ending::Data,
        None if among(SOURCE_NAMES, &name) => Ending::Source,
        _ => Ending::Unknown,
    }
}
