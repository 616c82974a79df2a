//! Copies of other people's packages in folders such as `vendor/`: what else a path into one may name, for entries of
//! `forbidden_imports` alone.
//!
//! The package behind the last of [`VENDORED`] is what a path names, but people add to its name: a version
//! (`redis-v4`), a folder for the version (`vendor/4.0/redis`) or for the language (`third_party/js/redis`). Nothing
//! tells these from names (`base-64`), so each reading counts beside the name as it is written: one that is no
//! package matches no entry.

use super::identity::{self, VENDORED};
use super::{Import, ImportKind, Language};

/// Folders between the one for copies and a package, by what they hold.
const GROUPS: &[&str] = &[
    "js",
    "javascript",
    "javascripts",
    "ts",
    "typescript",
    "py",
    "python",
    "python3",
    "go",
    "golang",
    "rs",
    "rust",
    "rb",
    "ruby",
    "php",
    "java",
    "c",
    "cc",
    "cpp",
    "cxx",
    "csharp",
    "dotnet",
    "lib",
    "libs",
    "library",
    "libraries",
    "src",
    "source",
    "sources",
    "pkg",
    "pkgs",
    "package",
    "packages",
    "npm",
    "node",
    "pip",
    "pypi",
    "crate",
    "crates",
    "gem",
    "gems",
    "module",
    "modules",
    "mod",
    "deps",
    "external",
    "extern",
    "upstream",
    "web",
    "browser",
    "assets",
    "static",
    "public",
    "script",
    "scripts",
    "dist",
    "build",
    "github.com",
    "gitlab.com",
    "bitbucket.org",
];
/// Folders of these that may follow each other.
const MAX_GROUPS: usize = 4;

/// What a copy is called after: a branch, a release.
const RELEASES: &[&str] = &[
    "main",
    "master",
    "trunk",
    "head",
    "latest",
    "stable",
    "current",
    "lts",
    "dev",
    "devel",
    "develop",
    "development",
    "snapshot",
    "nightly",
    "canary",
    "next",
    "edge",
    "release",
    "releases",
    "rel",
    "final",
    "ga",
    "alpha",
    "beta",
    "rc",
    "pre",
    "preview",
    "post",
    "patched",
    "patch",
    "fork",
    "copy",
    "orig",
    "min",
    "src",
    "source",
    "git",
    "x",
    "*",
];
/// Letters behind the digits of a release: `1rc2`.
const BEHIND_DIGITS: &[&str] = &["", "a", "b", "c", "x", "p", "rc", "alpha", "beta", "dev", "pre", "post"];
/// Ends of a name that are tried.
const MAX_CUTS: usize = 8;

/// Whether an import may be a path into a folder of copies: a quick look at its text.
pub fn may_be_copy(import: &Import) -> bool {
    let raw = import.raw.as_bytes();
    raw.len() > 6
        && import.kind != ImportKind::Opaque
        && raw.windows(4).any(|part| {
            let word: &[u8] = match part[0] | 0x20 {
                b'e' => b"endo",
                b'p' if part[1] | 0x20 == b'o' => b"pone",
                b'p' if part[2] | 0x20 == b'r' => b"part",
                b'p' => b"pack",
                b'o' => b"odul",
                b'r' => b"regi",
                b'h' => b"heck",
                _ => return false,
            };
            part.eq_ignore_ascii_case(word)
        })
}

/// The segments behind the last folder of copies of a path into one, as they are written.
pub fn below(language: Language, import: &Import) -> Option<Vec<String>> {
    let path = path(language, import)?;
    let path = match language {
        Language::C => identity::vendors_as_vendor(&path).unwrap_or(path),
        _ => path,
    };
    behind_registry(language, &path).or_else(|| identity::below_copies(&path))
}

/// Everything that a path into a folder of copies may name; nothing where it is none.
pub fn readings(language: Language, import: &Import) -> Vec<Vec<String>> {
    let Some(below) = below(language, import) else {
        return Vec::new();
    };
    // What composer itself writes is no package.
    if below.is_empty() || language == Language::Php && below[0].eq_ignore_ascii_case("composer") {
        return Vec::new();
    }
    let mut starts = vec![0];
    let mut at = 0;
    while at + 1 < below.len() && starts.len() <= MAX_GROUPS {
        let folder = below[at].as_str();
        let is_group = GROUPS.iter().any(|group| group.eq_ignore_ascii_case(folder));
        // `<organisation>/<package>`
        let is_owner = language == Language::Php && at == 0 || at > 0 && below[at - 1].contains('.');
        if !is_group && !is_owner && !is_release(folder) {
            break;
        }
        at += 1;
        starts.push(at);
    }
    starts
        .into_iter()
        .flat_map(|start| named(language, &below[start..]))
        .collect()
}

/// The import as a path, where its language has it lead to a file or a folder.
fn path(language: Language, import: &Import) -> Option<String> {
    let raw = import.raw.as_str();
    let is_listed = |path: &str| {
        let first = path.split('/').next().unwrap_or_default();
        VENDORED.iter().any(|known| known.eq_ignore_ascii_case(first))
    };
    Some(match language {
        Language::JavaScript => {
            let raw = raw.rsplit('!').next().unwrap_or(raw);
            let raw = raw.split('?').next().unwrap_or(raw);
            let is_path =
                raw.starts_with(['.', '/', '\\']) || raw.get(..5).is_some_and(|s| s.eq_ignore_ascii_case("file:"));
            if !is_path && !is_listed(raw) {
                return None;
            }
            identity::percent_decoded(raw).replace(['\t', '\n', '\r'], "")
        }
        Language::Python if raw.contains(['/', '\\']) => raw.to_owned(),
        Language::Python => identity::python(raw.trim_start_matches('.')).join("/"),
        Language::Rust if import.kind == ImportKind::Include => raw.to_owned(),
        Language::Rust => {
            let is_own = ["crate::", "self::", "super::"]
                .iter()
                .any(|head| raw.starts_with(head));
            if !is_own {
                return None;
            }
            raw.replace("::", "/").replace("r#", "")
        }
        Language::Go => {
            // In `github.com/vendor/x` the folder is somebody's name.
            let first = raw.split('/').next().unwrap_or_default();
            let has_host = first.contains('.') && !first.starts_with('.');
            let parts: Vec<&str> = raw.split('/').skip(if has_host { 2 } else { 0 }).collect();
            parts.join("/")
        }
        Language::C => raw.trim_matches(['"', '<', '>']).to_owned(),
        Language::Ruby => {
            let is_path = raw.starts_with(['.', '/', '~', '\\']) || is_listed(raw) || import.identity.is_empty();
            return is_path.then(|| raw.to_owned());
        }
        Language::Php if import.kind == ImportKind::Include => raw.to_owned(),
        Language::Php | Language::Java | Language::Kotlin | Language::CSharp => return None,
    })
}

/// The segments behind the folders in which cargo keeps sources: `registry/src/<host>/`, `git/checkouts/`.
fn behind_registry(language: Language, path: &str) -> Option<Vec<String>> {
    if language != Language::Rust {
        return None;
    }
    let segments: Vec<&str> = path.split(['/', '\\']).filter(|s| !s.is_empty() && *s != ".").collect();
    let registry = segments
        .windows(2)
        .rposition(|two| two == ["registry", "src"])
        .map(|at| at + 3);
    let checkout = segments
        .windows(2)
        .rposition(|two| two == ["git", "checkouts"])
        .map(|at| at + 2);
    let rest = segments.get(registry.max(checkout)?..)?;
    (!rest.is_empty()).then(|| rest.iter().map(|segment| (*segment).to_owned()).collect())
}

/// The segments with each name that the first of them, behind a scope, may stand for.
fn named(language: Language, segments: &[String]) -> Vec<Vec<String>> {
    let mut segments = segments.to_vec();
    if let Some(last) = segments.last_mut() {
        let length = without_ending(language, last).len();
        last.truncate(length);
    }
    let at = usize::from(segments[0].starts_with('@'));
    let mut all = vec![segments.clone()];
    let Some(name) = segments.get(at) else { return all };
    let cuts = name
        .char_indices()
        .filter(|(at, c)| *at > 0 && "-_.@+".contains(*c))
        .map(|(at, _)| at)
        .take(MAX_CUTS);
    for cut in cuts {
        if is_release(&name[cut + 1..]) {
            let mut other = segments.clone();
            other[at].truncate(cut);
            all.push(other);
        }
    }
    all
}

/// The name of a file without the ending that its language gives it.
fn without_ending(language: Language, name: &str) -> &str {
    let endings: &[&str] = match language {
        Language::JavaScript => &["js", "mjs", "cjs", "jsx", "ts", "mts", "cts", "tsx", "json", "node"],
        Language::Python => &["py", "pyi", "pyc", "so"],
        Language::Rust => &["rs"],
        Language::Ruby => &["rb", "so", "bundle"],
        Language::Php => &["php", "inc", "phar", "phtml"],
        Language::C => &[
            "h", "hh", "hpp", "hxx", "h++", "c", "cc", "cpp", "cxx", "inc", "inl", "ipp", "tpp",
        ],
        Language::Go | Language::Java | Language::Kotlin | Language::CSharp => &[],
    };
    match name.rsplit_once('.') {
        Some((stem, ending)) if !stem.is_empty() && endings.iter().any(|known| known.eq_ignore_ascii_case(ending)) => {
            stem
        }
        _ => name,
    }
}

/// Whether a text is nothing but what tells one copy of a package from another: `v4`, `7-0`, `4.x`, `main`, `0f3c9d2`.
fn is_release(text: &str) -> bool {
    !text.is_empty() && text.split(['-', '_', '.', '+']).all(is_part)
}

fn is_part(part: &str) -> bool {
    let part = part.to_ascii_lowercase();
    if RELEASES.contains(&part.as_str()) {
        return true;
    }
    let is_hash = (7..=40).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_hash && part.bytes().any(|byte| byte.is_ascii_digit()) {
        return true;
    }
    let digit = |c: char| c.is_ascii_digit();
    let number = part.strip_prefix('v').unwrap_or(&part);
    if number.starts_with(digit) {
        let behind = number.trim_start_matches(digit).trim_end_matches(digit);
        return BEHIND_DIGITS.contains(&behind);
    }
    // `rc2`
    let word = part.trim_end_matches(digit);
    word.len() < part.len() && BEHIND_DIGITS[1..].contains(&word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn readings_of(language: Language, raw: &str, kind: ImportKind) -> Vec<String> {
        let import = Import {
            raw: raw.to_owned(),
            kind,
            ..super::super::named(language, "x")
        };
        assert!(may_be_copy(&import), "{raw}");
        readings(language, &import)
            .iter()
            .map(|reading| reading.join("/"))
            .collect()
    }

    #[test]
    fn a_release_is_told_from_a_part_of_a_name() {
        for text in [
            "4",
            "v4",
            "4.x",
            "7-0",
            "7.0.1",
            "main",
            "latest",
            "1.0rc2",
            "1.0-beta.3",
            "0f3c9d2",
            "v4_src",
        ] {
            assert!(is_release(text), "{text}");
        }
        for text in ["", "rb", "client", "io", "js", "cluster", "2fa", "rs-7", "deadbeef"] {
            assert!(!is_release(text), "{text}");
        }
    }

    #[test]
    fn a_name_counts_as_it_is_and_without_a_release() {
        let all = readings_of(Language::JavaScript, "../vendor/base-64/a.js", ImportKind::Require);
        assert_eq!(all, ["base-64/a", "base/a"]);
        let all = readings_of(Language::JavaScript, "../vendor/v4/redis", ImportKind::Require);
        assert_eq!(all, ["v4/redis", "redis"]);
        let all = readings_of(Language::JavaScript, "./vendor/redis-rb/a", ImportKind::Require);
        assert_eq!(all, ["redis-rb/a"]);
    }

    #[test]
    fn each_language_writes_a_path_in_its_own_way() {
        let is_redis = |language, raw: &str, kind| {
            readings_of(language, raw, kind)
                .iter()
                .any(|reading| reading.split('/').next() == Some("redis"))
        };
        use ImportKind::{Include, Static};
        for (language, raw, kind) in [
            (Language::Python, "vendor.redis.Redis", Static),
            (Language::Python, ".vendor.redis", Static),
            (Language::Python, "app._vendor.redis", Static),
            (Language::Rust, "../../vendor/redis/src/lib.rs", Include),
            (
                Language::Rust,
                "/h/.cargo/registry/src/i-1/redis-0.25.0/src/lib.rs",
                Include,
            ),
            (
                Language::Rust,
                "/h/.cargo/git/checkouts/redis-0f3c9d2/abc/lib.rs",
                Include,
            ),
            (Language::Rust, "crate::vendor::redis::x", Static),
            (Language::Go, "acme/third_party/redis", Static),
            (Language::C, "\"../vendor/redis.7.0/a.h\"", Include),
            (Language::Php, "/../vendor/acme/redis-4/a.php", Include),
            (
                Language::JavaScript,
                "./third_party/js/redis.min.js",
                ImportKind::Require,
            ),
        ] {
            assert!(is_redis(language, raw, kind), "{raw}");
        }
        for (language, raw, kind) in [
            (Language::Python, "vendor.redisx", Static),
            (Language::Python, "app.redis.vendor", Static),
            (Language::Go, "github.com/vendor/app/redis", Static),
            (Language::JavaScript, "./vendor/bull/redis.js", ImportKind::Require),
            (Language::Java, "com.vendor.redis", Static),
        ] {
            assert!(!is_redis(language, raw, kind), "{raw}");
        }
    }
}
