//! C and C++: an included path beside the file (only with quotes), then below `include/`, `src/` and
//! the root, then the one file of the tree whose path ends so.
//!
//! Which folders a build searches is written in code, so an ending that two files share is not
//! guessed at. A path whose folder holds headers at one of these places, and that has no file, is
//! unresolved; anything else is external.

use super::Target;
use super::files::{Files, follow, name, parent, upward};
use crate::gate::tree::join;

/// Where `<x/y.h>` or `"x/y.h"` of the file at `from` leads.
pub(super) fn resolve(files: &Files, raw: &str, from: &[u8]) -> Target {
    let is_quoted = raw.starts_with('"');
    let path = raw.trim_matches(['"', '<', '>']).replace('\\', "/");
    let path = path.as_bytes();
    if path.is_empty() || path.starts_with(b"/") {
        return Target::unresolved("no path of the repository");
    }
    let file = |folder: &[u8]| follow(folder, path).and_then(|path| files.file(&path));
    if is_quoted && let Some(found) = file(parent(from)) {
        return Target::one(found);
    }
    // The project that the file belongs to may be a folder of the tree.
    let mut roots: Vec<Vec<u8>> = Vec::new();
    for folder in upward(from) {
        roots.extend(
            [b"include".as_slice(), b"inc", b"src"]
                .iter()
                .map(|inner| join(folder, inner)),
        );
        roots.push(folder.to_vec());
    }
    // A file's own folders are searched by quotes alone: `<redis.h>` beside a redis.h is the system's.
    let top = [b"include".to_vec(), b"inc".to_vec(), b"src".to_vec(), Vec::new()];
    let is_searched =
        |root: &&Vec<u8>| is_quoted || top.contains(root) || name(root) == b"include" || name(root) == b"inc";
    let found = Target::all(roots.iter().filter(is_searched).filter_map(|root| file(root)).collect());
    if found != Target::External {
        return found;
    }
    let has_parts = |path: &[u8]| {
        path.split(|&byte| byte == b'/')
            .any(|part| matches!(part, b"." | b".."))
    };
    if !has_parts(path) {
        let mut ending = files.named(name(path)).iter().filter(|found| {
            found
                .strip_suffix(path)
                .is_some_and(|rest| rest.is_empty() || rest.ends_with(b"/"))
        });
        // Without a folder a name is no more than a name: `<queue.h>` may be anybody's.
        let is_telling = is_quoted || path.contains(&b'/');
        if is_telling && let (Some(only), None) = (ending.next(), ending.next()) {
            return Target::one(only.clone());
        }
    }
    // `<linux/../x.h>` is looked for beside the system's headers.
    if has_parts(path) && !is_quoted && !path.starts_with(b".") {
        return Target::External;
    }
    if has_parts(path) {
        return Target::unresolved(match follow(parent(from), path) {
            Some(_) => "no such file",
            None => "it leads out of the repository",
        });
    }
    let holds_headers = |root: &&Vec<u8>| {
        let folder = follow(root, parent(path)).filter(|_| path.contains(&b'/'));
        folder.is_some_and(|folder| files.has_headers(&folder))
    };
    match roots.iter().filter(is_searched).find(holds_headers) {
        Some(_) => Target::unresolved("no such file beside headers of the repository"),
        None => Target::External,
    }
}
