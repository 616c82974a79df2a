//! The command that takes a change back, in the hints of findings that ask for it.

use std::path::Path;

use git2::Oid;

use crate::gate::rules::PUT_BACK;
use crate::gate::{Verdict, render};
use crate::git::repo::Checkout;
use crate::git::shell;

/// Puts the command into each hint that says to put a path back as it is in `base`. A commit in the middle of a range is
/// not undone by it, and has another hint.
pub(super) fn add_commands(verdict: &mut Verdict, base: Oid, checkout: &Checkout) {
    if checkout.workdir.is_none() {
        return;
    }
    let base = base.to_string();
    let base = base.get(..12).unwrap_or(&base);
    for finding in verdict.findings.iter_mut().filter(|finding| finding.commit.is_none()) {
        if let Some(rest) = finding.hint.strip_prefix(PUT_BACK)
            && let Some(path) = pathspec(&finding.path)
        {
            finding.hint = format!("{PUT_BACK} (git checkout {base} -- {path}){rest}");
        }
    }
}

/// A path from the top, as git takes it in any folder; `None` where it cannot be typed.
fn pathspec(path: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(path).ok()?;
    if render::path(path) != text {
        return None;
    }
    let is_glob = text.contains(['*', '?', '[', '\\']);
    let spec = match is_glob {
        true => format!(":(top,literal){text}"),
        false => format!(":/{text}"),
    };
    Some(shell(Path::new(&spec)))
}
