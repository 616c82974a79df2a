//! The tables and examples of README.md against the code.

use std::fs;
use std::path::Path;

use agentgate::exit::Exit;
use agentgate::gate::Policy;

fn readme() -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).expect("README.md can be read")
}

/// The rows of the table with this header.
fn rows(text: &str, header: &str) -> Vec<String> {
    text.lines()
        .skip_while(|line| *line != header)
        .skip(2)
        .take_while(|line| line.starts_with('|'))
        .map(str::to_owned)
        .collect()
}

#[test]
fn the_readme_has_every_exit_code() {
    let documented = rows(&readme(), "| code | name | meaning |");
    let defined: Vec<String> = Exit::ALL
        .iter()
        .map(|exit| format!("| {} | {} | {} |", exit.code(), exit.name(), exit.meaning()))
        .collect();
    assert_eq!(documented, defined);
}

#[test]
fn the_readmes_policy_is_accepted() {
    let text = readme();
    let block = text.split("```yaml\n").nth(1).and_then(|rest| rest.split("```").next());
    let block = block.expect("the first YAML block is the policy");
    if let Err(error) = Policy::validate(block.as_bytes()) {
        panic!("{error}");
    }
}
