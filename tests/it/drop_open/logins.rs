//! A login that the agent of a dead job had renewed is the only good one; it comes back before the home goes.

use std::fs;
use std::path::PathBuf;

use super::super::support::repo::Repo;
use super::super::support::scene::{JOB, dead, worktree};

fn login(token: &str, at: u64) -> String {
    format!("{{\"access_token\": \"{token}\", \"expires_at\": {at}}}\n")
}

fn now() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.expect("it is later than 1970").as_secs()
}

/// A dead job whose agent had put this into its copy of the person's login; and the person's.
fn with_login(text: &str) -> (Repo, PathBuf) {
    let repo = Repo::new();
    let config = repo.home().join(".config/agentgate/config.yml");
    fs::create_dir_all(config.parent().expect("a folder")).expect("it can be made");
    fs::write(&config, "home_files: [.agent/login.json]\n").expect("it can be written");
    let mine = repo.home().join(".agent/login.json");
    fs::create_dir_all(mine.parent().expect("a folder")).expect("it can be made");
    fs::write(&mine, login("old", now() + 60)).expect("it can be written");
    dead(&repo, &format!("printf '%s' '{text}' > \"$HOME/.agent/login.json\""));
    fs::remove_file(worktree(&repo, JOB).join("at-work")).expect("it is there");
    (repo, mine)
}

#[test]
fn drop_brings_it_back() {
    let renewed = login("new", now() + 3600);
    let (repo, mine) = with_login(&renewed);
    repo.agentgate(["drop", JOB])
        .expect(0, &["the agent renewed this login, and yours is the renewed one now"]);
    let read = |text: &str| serde_json::from_str::<serde_json::Value>(text).expect("JSON");
    assert_eq!(read(&fs::read_to_string(&mine).expect("it is there")), read(&renewed));
}

#[test]
fn what_is_no_renewal_stays_out() {
    let (repo, mine) = with_login("{\"access_token\": \"new\", \"server\": \"elsewhere\"}");
    let before = fs::read_to_string(&mine).expect("it is there");
    repo.agentgate(["drop", JOB]).expect(0, &["was not brought back"]);
    assert_eq!(fs::read_to_string(&mine).expect("it is there"), before);
}
