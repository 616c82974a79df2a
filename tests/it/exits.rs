//! The tables and examples of README.md against the code.

use std::fs;
use std::path::Path;

use agentgate::agent::profiles::Profiles;
use agentgate::agent::settings::{Person, Settings};
use agentgate::exit::Exit;
use agentgate::gate::Policy;

use super::support::repo::Repo;

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

/// The YAML block that begins with this comment.
fn block(text: &str, comment: &str) -> String {
    let mut blocks = text.split("```yaml\n").skip(1);
    let block = blocks
        .find(|block| block.starts_with(comment))
        .expect("the README has it");
    block.split("```").next().expect("it ends").to_owned()
}

#[test]
fn the_readmes_settings_are_accepted() {
    let text = readme();
    let repository = block(&text, "# architecture/agentgate.yml");
    if let Err(error) = Settings::of_repository(repository.as_bytes(), &Person::default()) {
        panic!("{error}");
    }
    let person = block(&text, "# ~/.config/agentgate/config.yml");
    match Settings::of_person("config.yml", person.as_bytes()) {
        Ok((_, profiles)) => assert!(profiles.find("my-agent").is_some()),
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn the_readmes_agents_are_those_that_are_known() {
    let text = readme();
    let (_, list) = text.split_once("\nKnown: ").expect("the README lists them");
    let list = list.split('.').next().expect("it ends");
    let listed: Vec<&str> = list.split('`').skip(1).step_by(2).collect();
    let profiles = Profiles::built_in();
    let known: Vec<&str> = profiles.all().iter().map(|profile| profile.name.as_str()).collect();
    assert_eq!(listed, known);
}

#[test]
fn the_readmes_table_of_settings_says_whose_a_key_is_and_which_option_it_has() {
    let repo = Repo::empty();
    let help = repo.agentgate(["help", "run"]).success().stdout;
    let rows = rows(&readme(), "| key | in whose file | what it says | option of `run` |");
    assert!(rows.len() >= 10, "{rows:?}");
    for row in rows {
        let columns: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let key = columns[0].trim_matches('`');
        // A wrong value: what is said of it tells whether the key can stand there.
        let error = Settings::of_repository(format!("{key}: {{}}\n").as_bytes(), &Person::default());
        let error = error.expect_err("no key takes this").to_string();
        assert!(!error.contains("unknown key"), "{error}");
        assert_eq!(
            error.contains("is for a person to set"),
            columns[1] == "yours",
            "{error}"
        );
        for option in columns[3].split(", ").filter(|option| !option.is_empty()) {
            let option = option.trim_matches('`');
            assert!(help.contains(&format!("{option} <")), "{option} is not in\n{help}");
        }
    }
    assert!(help.contains("--allow-unconfined"), "{help}");
}
