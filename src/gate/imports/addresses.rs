//! Which package an address of a known package server names.
//!
//! Of a repository's files it is the repository's name, of a file that is alone the file's own. Any other server may
//! have anything, so that its host comes first.

use super::identity::{package, percent_decoded};

/// What libraries that are called after their file are called by npm; of all others `.js` is no part of the name.
const WITH_ENDING: &[&str] = &[
    "chart.js",
    "highlight.js",
    "video.js",
    "plotly.js",
    "intro.js",
    "bignumber.js",
    "decimal.js",
    "big.js",
    "bn.js",
];

/// Behind the scheme of an address: the package that it names, else host and path.
pub(super) fn address(rest: &str) -> Vec<String> {
    let end = rest.find(['/', '\\', '?', '#']).unwrap_or(rest.len());
    let (host, path) = rest.split_at(end);
    let path = path.strip_prefix(['/', '\\']).unwrap_or_default();
    let path = percent_decoded(&path[..path.find(['#', '?']).unwrap_or(path.len())]).replace('\\', "/");
    let host = host.rsplit('@').next().unwrap_or(host).to_ascii_lowercase();
    // A name of a server may end with a dot.
    let host = host.split(':').next().unwrap_or(&host).trim_end_matches('.');
    let known = known(host, &path).filter(|segments| !segments.is_empty());
    known.unwrap_or_else(|| package(&format!("{host}/{path}")))
}

fn known(host: &str, path: &str) -> Option<Vec<String>> {
    let after = |heads: &[&str]| heads.iter().find_map(|head| path.strip_prefix(head));
    match host {
        "esm.sh" => {
            // `/v135/redis`, `/stable/redis`, `/*redis` (no bundling of dependencies), `/jsr/@a/b`.
            let is_build = |s: &str| {
                s == "stable"
                    || s == "jsr"
                    || s.strip_prefix('v')
                        .is_some_and(|n| n.bytes().all(|b| b.is_ascii_digit()))
            };
            let path = match path.split_once('/') {
                Some((first, rest)) if is_build(first) => rest,
                _ => path,
            };
            match path.strip_prefix("gh/") {
                Some(path) => repository(path),
                None => Some(package(path.trim_start_matches('*'))),
            }
        }
        "unpkg.com" | "esm.run" | "jsr.io" | "esm.unpkg.com" | "cdn.pika.dev" => Some(package(path)),
        "cdn.skypack.dev" => Some(package(after(&["pin/", "-/"]).unwrap_or(path))),
        "ga.jspm.io" | "jspm.dev" | "dev.jspm.io" => Some(package(after(&["npm:"]).unwrap_or(path))),
        "deno.land" => Some(package(after(&["x/"]).unwrap_or(path))),
        host if host == "jsdelivr.net" || host.ends_with(".jsdelivr.net") => {
            // Of several files in one the first; the others are imports of their own.
            let path = path.strip_prefix("combine/").unwrap_or(path);
            let path = path.split(',').next().unwrap_or(path);
            match (path.strip_prefix("npm/"), path.strip_prefix("gh/")) {
                (Some(path), _) => Some(package(path)),
                (_, Some(path)) => repository(path),
                _ => None,
            }
        }
        "cdnjs.cloudflare.com" | "ajax.googleapis.com" | "cdn.bootcdn.net" | "cdnjs.com" => {
            Some(library(after(&["ajax/libs/"])?))
        }
        "ajax.aspnetcdn.com" | "ajax.microsoft.com" => Some(library(after(&["ajax/"])?)),
        "cdn.bootcss.com" | "cdn.staticfile.org" | "cdn.staticfile.net" | "lib.baomitu.com" => Some(library(path)),
        "maxcdn.bootstrapcdn.com" | "stackpath.bootstrapcdn.com" | "netdna.bootstrapcdn.com" => Some(library(path)),
        "code.jquery.com" | "cdn.socket.io" => Some(vec![file(path)?]),
        "cdn.tailwindcss.com" => Some(vec!["tailwindcss".to_owned()]),
        "raw.githubusercontent.com"
        | "github.com"
        | "raw.githack.com"
        | "rawcdn.githack.com"
        | "rawgit.com"
        | "cdn.rawgit.com"
        | "cdn.statically.io" => repository(after(&["gh/"]).unwrap_or(path)),
        host if host.ends_with(".github.io") => {
            let mut parts = package(path);
            parts.retain(|part| !part.is_empty());
            (parts.len() > 1).then_some(parts)
        }
        _ => None,
    }
}

/// Of `OWNER/REPOSITORY@REVISION/PATH` all behind the owner.
fn repository(path: &str) -> Option<Vec<String>> {
    let (_, path) = path.split_once('/')?;
    Some(package(path))
}

/// Of `NAME/VERSION/PATH` the name as npm has it, and the path.
fn library(path: &str) -> Vec<String> {
    let mut segments = package(path);
    if let Some(name) = segments.first_mut() {
        *name = as_npm(name);
    }
    segments
}

/// The name of a library that is one file: `jquery` of `jquery-3.7.1.slim.min.js`, also where folders stand before it.
fn file(path: &str) -> Option<String> {
    let name = path.rsplit('/').next().filter(|name| !name.is_empty())?;
    let mut stem = as_npm(name);
    for ending in [".min", ".slim", ".esm", ".msgpack"] {
        stem.truncate(stem.strip_suffix(ending).unwrap_or(&stem).len());
    }
    stem.truncate(stem.strip_suffix(".slim").unwrap_or(&stem).len());
    let is_version = |at: &usize| stem[at + 1..].starts_with(|c: char| c.is_ascii_digit());
    let version = stem.match_indices('-').map(|(at, _)| at).find(is_version);
    stem.truncate(version.unwrap_or(stem.len()));
    Some(stem)
}

fn as_npm(name: &str) -> String {
    let lower = name.to_ascii_lowercase();
    match lower.strip_suffix(".js").filter(|stem| !stem.is_empty()) {
        Some(stem) if !WITH_ENDING.contains(&lower.as_str()) => stem.to_owned(),
        _ => lower,
    }
}

/// Each file that an address of jsDelivr puts together with others, as an address of its own; none of any other.
pub(super) fn combined(address: &str) -> Vec<String> {
    let lower = address.to_ascii_lowercase();
    let Some(at) = lower.find("jsdelivr.net/combine/") else {
        return Vec::new();
    };
    let start = at + "jsdelivr.net/combine/".len();
    let parts = address[start..].split(',').filter(|part| !part.is_empty());
    parts.map(|part| format!("https://cdn.jsdelivr.net/{part}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_package_is_told_by_its_server() {
        for (rest, first) in [
            ("code.jquery.com/jquery-3.7.1.min.js", "jquery"),
            ("code.jquery.com/jquery-3.7.1.slim.min.js", "jquery"),
            ("code.jquery.com/ui/1.13.2/jquery-ui.min.js", "jquery-ui"),
            ("code.jquery.com/jquery-migrate-3.4.1.js", "jquery-migrate"),
            ("cdn.socket.io/4.7.5/socket.io.min.js", "socket.io"),
            ("cdnjs.cloudflare.com/ajax/libs/moment.js/2/moment.js", "moment"),
            ("cdnjs.cloudflare.com/ajax/libs/Chart.js/4/chart.umd.js", "chart.js"),
            ("ajax.googleapis.com/ajax/libs/d3js/7/d3.js", "d3js"),
            ("user@UNPKG.com:443/a", "a"),
            ("cdn.jsdelivr.net/npm/@a/b@1", "@a"),
            ("cdn.jsdelivr.net/gh/o/r@1/x.js", "r"),
            ("cdn.jsdelivr.net/npm/", "cdn.jsdelivr.net"),
            ("raw.githubusercontent.com/o", "raw.githubusercontent.com"),
            ("o.github.io/r/x.js", "r"),
            ("o.github.io/x.js", "o.github.io"),
            ("example.com", "example.com"),
            ("example.com?x", "example.com"),
            ("code.jquery.com/", "code.jquery.com"),
        ] {
            assert_eq!(address(rest).first().map(String::as_str), Some(first), "{rest}");
        }
        assert_eq!(
            combined("https://cdn.jsdelivr.net/combine/npm/a@1,gh/o/r"),
            ["https://cdn.jsdelivr.net/npm/a@1", "https://cdn.jsdelivr.net/gh/o/r"]
        );
        assert!(combined("https://cdn.jsdelivr.net/npm/a").is_empty());
    }
}
