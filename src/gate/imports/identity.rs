//! From a specifier to the segments that an entry of `forbidden_imports` is compared with.

use unicode_normalization::UnicodeNormalization;

use super::addresses::address;

/// Folders that hold copies of other people's packages, each under its name. In a path that code
/// imports the package after the last of them is what it loads.
pub const VENDORED: &[&str] = &[
    "vendor",
    "vendored",
    "_vendor",
    "third_party",
    "third-party",
    "thirdparty",
    "3rdparty",
    "3rd_party",
    "node_modules",
    "bower_components",
    "jspm_packages",
];

/// Also a word for a business's partners: whether such a folder holds copies only what lies in it tells.
pub const VENDORS: &str = "vendors";

/// Whether a folder of this name holds copies, or may.
pub fn may_hold_copies(name: &[u8]) -> bool {
    (VENDORED.iter().chain([&VENDORS])).any(|known| name.eq_ignore_ascii_case(known.as_bytes()))
}

/// As [`vendored`], with `vendors` among the folders: what C includes from there is seldom a partner's.
pub fn vendored_c(path: &str) -> Option<Vec<String>> {
    vendored(&vendors_as_vendor(path).unwrap_or_else(|| path.to_owned()))
}

/// The path with its last part `vendors` as `vendor`; `None` where it has none.
pub fn vendors_as_vendor(path: &str) -> Option<String> {
    let lower = path.to_ascii_lowercase();
    let is_end = |byte: Option<&u8>| byte.is_none_or(|byte| !(byte.is_ascii_alphanumeric() || b"_-".contains(byte)));
    let (at, _) = lower.rmatch_indices(VENDORS).find(|(at, _)| {
        let bytes = lower.as_bytes();
        is_end(at.checked_sub(1).and_then(|before| bytes.get(before))) && is_end(bytes.get(at + VENDORS.len()))
    })?;
    Some(format!("{}vendor{}", &path[..at], &path[at + VENDORS.len()..]))
}

/// The segments of a path, `.` and `..` followed, after the last folder of [`VENDORED`], or after the `gems` that
/// bundler makes in it; none where it has no such folder. Letter case is ignored, as some disks do. A version
/// behind the package's name (`redis-7.0`) is left out.
pub fn vendored(path: &str) -> Option<Vec<String>> {
    let mut rest = below_copies(path)?;
    let named = usize::from(rest.first().is_some_and(|first| first.starts_with('@')));
    if let Some(name) = rest.get_mut(named) {
        name.truncate(without_release(name).len());
    }
    (!rest.is_empty()).then_some(rest)
}

/// The same with the package's name as it is written, and empty where nothing follows.
pub(super) fn below_copies(path: &str) -> Option<Vec<String>> {
    let mut segments: Vec<&str> = Vec::new();
    for segment in path.split(['/', '\\']) {
        match segment {
            "" | "." => {}
            ".." => {
                segments.pop();
            }
            _ => segments.push(segment),
        }
    }
    let is_listed = |segment: &&str| VENDORED.iter().any(|known| known.eq_ignore_ascii_case(segment));
    let at = segments.iter().rposition(is_listed)?;
    let rest = &segments[at + 1..];
    let gems = rest.iter().rposition(|segment| *segment == "gems");
    let rest = match gems {
        Some(gems) if rest[0] == "bundle" || gems == 0 => &rest[gems + 1..],
        _ => rest,
    };
    Some(rest.iter().map(|segment| (*segment).to_owned()).collect())
}

/// Whether a name has a release behind it that no own module has: `redis-7.0`.
pub fn has_release(name: &str) -> bool {
    without_release(name).len() < name.len()
}

/// The name of a folder or an archive without the version behind it: `redis-rb-5.0.8`, `redis_v7.2`. A number without
/// a dot may be part of a name (`base-64`).
fn without_release(name: &str) -> &str {
    let is_version = |text: &str| {
        let text = text.strip_prefix('v').unwrap_or(text);
        let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let mut rest = text[digits..].bytes();
        digits > 0 && rest.next() == Some(b'.') && rest.next().is_some_and(|byte| byte.is_ascii_digit())
    };
    let mut signs = name.match_indices(['-', '_', '@']).map(|(at, _)| at);
    let end = signs.find(|at| *at > 0 && is_version(&name[at + 1..]));
    &name[..end.unwrap_or(name.len())]
}

/// The external identity of a JavaScript specifier; empty for what is local (`./x`, `/x`, `#x`,
/// `~/x`, `@/x`). A path into `node_modules` names the package there, and so does one into another
/// folder of [`VENDORED`]. Of a URL of a known package
/// server the package is the identity, of any other URL host and path.
pub fn javascript(specifier: &str) -> Vec<String> {
    // A bundler's loaders stand before the module: `style!css!redis`.
    let specifier = specifier.rsplit('!').next().unwrap_or(specifier);
    let specifier = &specifier[..specifier.find('?').unwrap_or(specifier.len())];
    if let Some(rest) = strip_scheme(specifier, &["node:"]) {
        return package(rest);
    }
    if let Some(rest) = strip_scheme(specifier, &["npm:", "jsr:"]) {
        return package(rest.trim_start_matches('/'));
    }
    // To a browser `\` is `/` there, and how many there are does not matter.
    if let Some(rest) = strip_scheme(specifier, &["https:", "http:"]) {
        return address(rest.trim_start_matches(['/', '\\']));
    }
    if let Some(rest) = strip_scheme(specifier, &["//", "\\\\", "/\\", "\\/"])
        && rest
            .split(['/', '\\', ':'])
            .next()
            .is_some_and(|host| host.contains('.') && !host.starts_with('.'))
    {
        return address(rest);
    }
    let is_path = specifier.starts_with(['.', '/', '\\']) || strip_scheme(specifier, &["file:"]).is_some();
    let decoded;
    let specifier = if is_path {
        // A path is resolved as a URL: `%72` is `r`, `\` is `/`, and tabs and line breaks vanish.
        decoded = percent_decoded(specifier)
            .replace('\\', "/")
            .replace(['\t', '\n', '\r'], "");
        decoded.as_str()
    } else {
        specifier
    };
    if is_path && let Some(mut segments) = vendored(specifier) {
        // `vendor/redis.min.js` is the whole package.
        if let [file] = segments.as_mut_slice() {
            let stem = [".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx"]
                .iter()
                .find_map(|ending| file.strip_suffix(ending))
                .map(|stem| stem.strip_suffix(".min").unwrap_or(stem).len());
            file.truncate(stem.filter(|stem| *stem > 0).unwrap_or(file.len()));
        }
        return package(&segments.join("/"));
    }
    if let Some(at) = specifier.rfind("node_modules/") {
        return package(&specifier[at + "node_modules/".len()..]);
    }
    let local = specifier.starts_with(['.', '/', '#', '\\'])
        || specifier.starts_with("~/")
        || specifier.starts_with("@/")
        || matches!(specifier, "~" | "@")
        || strip_scheme(specifier, &["file:", "data:", "blob:"]).is_some();
    if local { Vec::new() } else { package(specifier) }
}

fn strip_scheme<'a>(specifier: &'a str, schemes: &[&str]) -> Option<&'a str> {
    schemes.iter().find_map(|scheme| match specifier.get(..scheme.len()) {
        Some(head) if head.eq_ignore_ascii_case(scheme) => Some(&specifier[scheme.len()..]),
        _ => None,
    })
}

/// Segments of `name@version/path`, with `..` followed: `x/../redis` loads redis.
pub(super) fn package(path: &str) -> Vec<String> {
    let mut segments: Vec<String> = Vec::new();
    for segment in path.split('/') {
        match segment {
            "" | "." => {}
            ".." => {
                segments.pop();
            }
            _ => segments.push(segment.to_owned()),
        }
    }
    let named = usize::from(segments.first().is_some_and(|first| first.starts_with('@')));
    if let Some(name) = segments.get_mut(named)
        && let Some((at, _)) = name.char_indices().skip(1).find(|(_, c)| *c == '@')
    {
        name.truncate(at);
    }
    segments
}

/// The text with `%72` as `r`; as it is where that is no UTF-8.
pub fn percent_decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let hex = |at: usize| bytes.get(at).and_then(|b| char::from(*b).to_digit(16));
        match (byte, hex(at + 1), hex(at + 2)) {
            (b'%', Some(high), Some(low)) => {
                out.push((high * 16 + low) as u8);
                at += 3;
            }
            _ => {
                out.push(byte);
                at += 1;
            }
        }
    }
    String::from_utf8(out).unwrap_or_else(|_| text.to_owned())
}

/// The segments of a dotted Python path; empty for a relative one. Names are compared in NFKC, as
/// Python itself does.
pub fn python(dotted: &str) -> Vec<String> {
    if dotted.starts_with('.') {
        return Vec::new();
    }
    let folded: String = if dotted.is_ascii() {
        dotted.to_owned()
    } else {
        dotted.nfkc().collect()
    };
    folded
        .split('.')
        .filter(|segment| !segment.is_empty())
        .map(str::to_owned)
        .collect()
}

/// The segments of a path that C or C++ includes, without delimiters and without the ending of its
/// last part: `redis/x.h` is `redis`, `x`. `.` and `..` are followed.
pub fn include(path: &str) -> Vec<String> {
    let mut segments: Vec<String> = Vec::new();
    for segment in path.split(['/', '\\']) {
        match segment {
            "" | "." => {}
            ".." => {
                segments.pop();
            }
            _ => segments.push(segment.to_owned()),
        }
    }
    if let Some(last) = segments.last_mut()
        && let Some(dot) = last.rfind('.').filter(|dot| *dot > 0)
        && last[dot + 1..].chars().all(|c| c.is_ascii_alphanumeric() || c == '+')
    {
        last.truncate(dot);
    }
    segments
}

/// The segments of a Go path without what only names a major version: `/v9`, and the `.v5` of
/// `gopkg.in/redis.v5`.
pub fn without_versions(segments: &[String]) -> Vec<String> {
    let is_version = |text: &str| {
        text.strip_prefix('v')
            .is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()))
    };
    segments
        .iter()
        .enumerate()
        .filter(|(at, segment)| *at == 0 || !is_version(segment))
        .map(|(at, segment)| match segment.rsplit_once('.') {
            Some((stem, version)) if at > 0 && !stem.is_empty() && is_version(version) => stem.to_owned(),
            _ => segment.clone(),
        })
        .collect()
}
