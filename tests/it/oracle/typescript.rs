//! TypeScript beside Babel's parser, over public packages that carry their TypeScript. Both are what `.ci/run` puts
//! into `target/oracle`; anything else that is put there is compared, too.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;
use std::process::Command;

use agentgate::gate::imports::{ImportKind, Language};

use super::Compared;
use crate::support::program::Program;

const PARSER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/target/oracle/node_modules/@babel/parser");
const PACKAGES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/target/oracle");

#[test]
fn typescript_agrees_with_babel() {
    if !Path::new(PARSER).join("lib/index.js").exists() {
        let mut stderr = std::io::stderr().lock();
        writeln!(
            stderr,
            "skipped: what Babel is asked of TypeScript: npm brought no {PARSER}"
        )
        .expect("standard error can be written");
        return;
    }
    let node = Program::of(Command::new("node")).args(["-e", include_str!("typescript.js"), PARSER, PACKAGES]);
    let listed = node.run().success();
    let mut compared = Compared::default();
    for line in listed.stdout.lines() {
        let (path, specifiers) = line.split_once('\t').expect("a path and a list");
        let [expected, called]: [BTreeSet<String>; 2] = serde_json::from_str(specifiers).expect("two lists");
        compared.file(path, Language::JavaScript, &expected, |import| {
            // As in the comparison with acorn.
            let more = called.contains(&import.raw) && !expected.contains(&import.raw);
            let counts = matches!(
                import.kind,
                ImportKind::Static
                    | ImportKind::TypeOnly
                    | ImportKind::ReExport
                    | ImportKind::Require
                    | ImportKind::Dynamic
            );
            (counts && !more).then(|| import.raw.clone())
        });
    }
    compared.misses_none(200);
}
