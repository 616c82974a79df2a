//! Dependencies that stand in the source itself: a script that brings its own list.
//!
//! Invariant: a list that is read is read as the tool does that installs it; of every other way that is known, it is
//! only told that the file has one. Both are asked of each blob once, by words that such a list cannot do without.

use super::declared::{Computed, Declared, Dependency, guesses};
use super::format::{Format, file_name};
use super::python;
use memchr::memmem;

/// What a file may say about dependencies besides its code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::gate) enum Inline {
    /// Nothing that is known here.
    Nothing,
    /// A list that is read.
    Read,
    /// One that is not.
    Unread,
}

/// Words by which a file tells that it has a list of its own, by the endings of its name.
const UNREAD: &[(&[&str], &[&str])] = &[
    (&[".rb", ".rake", ".ru"], &["bundler/inline"]),
    (&[".csx", ".fsx"], &["nuget:"]),
    (&[".groovy"], &["@Grab"]),
    (&[".main.kts"], &["DependsOn"]),
    (&[".scala", ".sc"], &["//> using dep", "//> using lib", "$ivy"]),
    (&[".exs"], &["Mix.install"]),
    (
        &["cmakelists.txt", ".cmake"],
        &["find_package", "fetchcontent", "externalproject", "cpmaddpackage"],
    ),
];

/// The format in which a file of this name could have a list that is read.
pub(super) fn format(path: &[u8]) -> Option<Format> {
    let name = file_name(path);
    let ends = |ending: &[u8]| name.ends_with(ending);
    match name {
        // A tool is told to run a script by its path, whatever its name.
        _ if ends(b".py") || ends(b".pyw") || !name.contains(&b'.') => Some(Format::PythonScript),
        _ if ends(b".cs") => Some(Format::CsharpScript),
        _ if ends(b".java") || ends(b".kt") || ends(b".groovy") || ends(b".jsh") => Some(Format::Jbang),
        _ => None,
    }
}

/// Whether a file of this name could have any.
pub(super) fn may_have(path: &[u8]) -> bool {
    let name = file_name(path);
    let mut endings = UNREAD.iter().flat_map(|(endings, _)| *endings);
    format(path).is_some() || name.ends_with(b".rs") || endings.any(|ending| name.ends_with(ending.as_bytes()))
}

/// What a file has, by its name and words; where it may have a list that is read, the reader tells for sure.
pub(in crate::gate) fn of(path: &[u8], content: &[u8]) -> Inline {
    let mark: Option<&[u8]> = match format(path) {
        Some(Format::PythonScript) => Some(b"# /// script"),
        Some(Format::CsharpScript) => Some(b"#:"),
        Some(Format::Jbang) => Some(b"//DEPS "),
        _ => None,
    };
    if mark.is_some_and(|mark| memmem::find(content, mark).is_some()) {
        return Inline::Read;
    }
    let name = file_name(path);
    let has = |word: &str| match name.ends_with(b".cmake") || name.ends_with(b".txt") {
        // Commands of CMake are the same in any case.
        true => memmem::find(&content.to_ascii_lowercase(), word.as_bytes()).is_some(),
        false => memmem::find(content, word.as_bytes()).is_some(),
    };
    let is_told = UNREAD.iter().any(|(endings, words)| {
        endings.iter().any(|ending| name.ends_with(ending.as_bytes())) && words.iter().any(|word| has(word))
    });
    match is_told || is_cargo_script(&name, content) {
        true => Inline::Unread,
        false => Inline::Nothing,
    }
}

/// A manifest at the head of a Rust file, between lines of dashes (RFC 3503).
fn is_cargo_script(name: &[u8], content: &[u8]) -> bool {
    if !name.ends_with(b".rs") && name.contains(&b'.') {
        return false;
    }
    let mut lines = content.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
    let first = lines.find(|line| !line.is_empty() && !line.starts_with(b"#!"));
    first.is_some_and(|line| line.starts_with(b"---")) && memmem::find(content, b"dependencies").is_some()
}

/// The `script` block of a Python file (PEP 723): lines of comments that are TOML without their marks. As in the
/// specification a block ends with the last `# ///` of its comment, one without an end is none, and two are an error.
pub(super) fn python_script(text: &str) -> Result<Declared, String> {
    let mut block: Option<(usize, usize)> = None;
    let (mut open, mut last_end): (Option<usize>, Option<usize>) = (None, None);
    let mut at = 0;
    for line in text.split_inclusive('\n').chain([""]) {
        let (start, shown) = (at, line.trim_end());
        at += line.len();
        let goes_on = shown == "#" || line.starts_with("# ");
        match open {
            Some(_) if goes_on => last_end = (shown == "# ///").then_some(start).or(last_end),
            Some(from) => {
                if let Some(end) = last_end.take()
                    && block.replace((from, end)).is_some()
                {
                    return Err("it has two `# /// script` blocks".into());
                }
                open = None;
            }
            None => {}
        }
        if open.is_none() && shown == "# /// script" {
            open = Some(at);
        }
    }
    let Some((from, end)) = block else {
        return Ok(Declared::default());
    };
    // As long as the file, so that places in it are places in the file.
    let mut document: String = text[..from]
        .bytes()
        .map(|byte| if byte == b'\n' { '\n' } else { ' ' })
        .collect();
    for line in text[from..end].split_inclusive('\n') {
        match line.strip_prefix("# ") {
            Some(rest) => document.extend(["  ", rest]),
            None => document.extend([" ", &line[1..]]),
        }
    }
    Ok(python::script(&document)?.into())
}

/// The `#:` lines at the head of a C# file that is run by itself: `#:package NAME@VERSION` and `#:sdk NAME@VERSION`. The
/// compiler takes none behind code.
pub(super) fn csharp_script(text: &str) -> Declared {
    let mut declared = Declared::default();
    let (mut at, mut in_comment) = (0, false);
    'lines: for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let mut rest = line;
        loop {
            if in_comment {
                let Some(end) = rest.find("*/") else { continue 'lines };
                (rest, in_comment) = (&rest[end + 2..], false);
            }
            rest = rest.trim_start();
            match rest.strip_prefix("/*") {
                Some(comment) => (rest, in_comment) = (comment, true),
                None => break,
            }
        }
        if rest.is_empty() || rest.starts_with("//") {
            continue;
        }
        if !rest.starts_with('#') {
            break;
        }
        let Some(directive) = rest.strip_prefix("#:") else {
            continue;
        };
        let (kind, value) = directive
            .trim()
            .split_once(char::is_whitespace)
            .unwrap_or((directive, ""));
        let name = value
            .trim_start()
            .split(['@', ' ', '\t'])
            .next()
            .unwrap_or_default()
            .trim();
        if name.is_empty() || !matches!(kind, "package" | "sdk") {
            continue;
        }
        let place = start + (line.len() - rest.len());
        if name.contains("$(") {
            declared.computed.push(Computed {
                text: value.trim().to_owned(),
                at: place,
            });
        } else if kind == "package" || !name.to_ascii_lowercase().starts_with("microsoft.net.sdk") {
            let found = Dependency::new(name.to_ascii_lowercase(), name);
            declared.found.push(found.at(Some(place)));
        }
    }
    declared
}

/// The `//DEPS` lines of a script that JBang runs: `group:artifact:version`, several in a line.
pub(super) fn jbang(text: &str) -> Declared {
    let mut declared = Declared::default();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let Some(list) = line.strip_prefix("//DEPS ") else {
            continue;
        };
        // Behind `//` stands a comment.
        let list = list.split(" //").next().unwrap_or(list);
        for written in list
            .split([' ', '\t', ',', ';'])
            .map(str::trim)
            .filter(|word| !word.is_empty())
        {
            let place = start + line.find(written).unwrap_or_default();
            let mut parts = written.split([':', '@']);
            match (parts.next(), parts.next()) {
                _ if written.contains("://") => declared
                    .found
                    .extend(guesses(written).map(|name| Dependency::new(name.to_owned(), written).at(Some(place)))),
                (Some(group), Some(artifact)) if !group.contains("${") && !artifact.contains("${") => {
                    declared
                        .found
                        .push(Dependency::new(format!("{group}:{artifact}"), written).at(Some(place)));
                }
                (Some(_), None) => {}
                _ => declared.computed.push(Computed {
                    text: written.to_owned(),
                    at: place,
                }),
            }
        }
    }
    declared
}
