//! JavaScript beside acorn, which is inside every node: the modules that it sees imported, exported from,
//! required or loaded by a literal in what npm installed beside node and in what the tests of real agents
//! installed.

use std::collections::BTreeSet;
use std::io::Write;
use std::process::Command;

use agentgate::gate::imports::{ImportKind, Language};

use super::Compared;
use crate::support::program::Program;

/// No more files are compared: a debug build reads a few megabytes a second.
const MAX_FILES: usize = 1500;

#[test]
fn javascript_agrees_with_acorn() {
    let global = match Command::new("npm").args(["root", "-g"]).output() {
        Ok(output) if output.status.success() => String::from_utf8(output.stdout).expect("a path"),
        other => {
            let mut stderr = std::io::stderr().lock();
            writeln!(stderr, "skipped: what acorn is asked: no npm ({other:?})")
                .expect("standard error can be written");
            return;
        }
    };
    let node = Program::of(Command::new("node")).args(["--expose-internals", "-e", include_str!("javascript.js")]);
    let listed = node
        .args([&MAX_FILES.to_string(), global.trim()])
        .args([concat!(env!("CARGO_MANIFEST_DIR"), "/target/agents")])
        .run()
        .success();
    let mut compared = Compared::default();
    for line in listed.stdout.lines() {
        let (path, specifiers) = line.split_once('\t').expect("a path and a list");
        let [expected, called]: [BTreeSet<String>; 2] = serde_json::from_str(specifiers).expect("two lists");
        compared.file(path, Language::JavaScript, &expected, |import| {
            // Counted beyond what acorn's answer says: the beginning of what is put together, and what
            // is resolved or defined as AMD does. acorn has seen that these are strings in a call.
            let more = called.contains(&import.raw) && !expected.contains(&import.raw);
            let counts = matches!(
                import.kind,
                ImportKind::Static | ImportKind::ReExport | ImportKind::Require | ImportKind::Dynamic
            );
            (counts && !more).then(|| import.raw.clone())
        });
    }
    compared.misses_none(200);
}
