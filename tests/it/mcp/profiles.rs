//! Known agents get the server in their own settings: programs under their names read them as the agents do, and
//! start the server with nothing of the environment but what stands there.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use agentgate::agent::profiles::Profiles;
use serde_json::Value;

use super::super::support::jobs::{shown, task};
use super::super::support::repo::Repo;
use super::{list, names, value};

/// Where each of them reads it: an argument before it (with one, the last), or a file below its home; and the keys
/// that lead to the server.
const PLACES: &[(&str, &str, &[&str])] = &[
    ("claude", "--mcp-config", &["mcpServers", "agentgate"]),
    ("codex", "-c", &[]),
    ("opencode", ".config/opencode/opencode.json", &["mcp", "agentgate"]),
    ("qwen", ".qwen/settings.json", &["mcpServers", "agentgate"]),
    ("gemini", ".gemini/settings.json", &["mcpServers", "agentgate"]),
    ("copilot", ".copilot/mcp-config.json", &["mcpServers", "agentgate"]),
    ("openhands", ".openhands/mcp.json", &["mcpServers", "agentgate"]),
    ("goose", "--with-extension", &[]),
    ("crush", ".config/crush/crush.json", &["mcp", "agentgate"]),
    ("cursor", ".cursor/mcp.json", &["mcpServers", "agentgate"]),
];

/// A program that looks for its settings at the place, and asks the server that they name for its tools.
fn stand_in(repo: &Repo, name: &str, place: &str) -> String {
    let folder = repo.top().join("bin");
    fs::create_dir_all(&folder).expect("it can be made");
    let find = if place.starts_with('-') {
        format!(
            "while [ $# -gt 0 ]; do [ \"$1\" != {place} ] || found=$2; shift; done\nprintf '%s' \"$found\" > mcp.txt\n"
        )
    } else {
        format!("cat \"$HOME/{place}\" > mcp.txt\n")
    };
    let text = format!(
        "#!/bin/sh\n[ \"$1\" != --version ] || exit 0\nprintf '%s\\n' \"$@\" > args.txt\n{find}cat > /dev/null\n\
         socket=$(grep -oE 'AGENTGATE_MCP[\":=]+[^\" }}]+' mcp.txt | sed 's/^AGENTGATE_MCP[\":=]*//')\n\
         program=$(grep -oE '[^\" ]*/agentgate[\" ]' mcp.txt | tr -d '\" ')\n\
         echo '{}' | env -i AGENTGATE_MCP=\"$socket\" \"$program\" mcp > list.json\nexit 0\n",
        list()
    );
    let file = folder.join(name);
    fs::write(&file, text).expect("it can be written");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).expect("it can be made executable");
    format!("{}:{}", folder.display(), std::env::var("PATH").expect("a PATH"))
}

#[test]
fn each_finds_the_server_where_it_looks_for_it() {
    for (agent, place, keys) in PLACES {
        let repo = Repo::new();
        let program = if *agent == "cursor" { "cursor-agent" } else { agent };
        let path = stand_in(&repo, program, place);
        let task = task(&repo, "Goal: do the work\n");
        let job = repo
            .command(["run", "--job-id", "j1", "--agent", agent])
            .args([task])
            .env("PATH", path)
            .env("AGENT_MODEL_LABEL", "vendor/model-1");
        job.run().expect(0, &[]);
        let text = shown(&repo, "j1", "mcp.txt");
        if !keys.is_empty() {
            let server = keys.iter().fold(value(&text), |at: Value, key| at[*key].clone());
            assert!(server.is_object(), "{agent}: {text}");
        }
        if *agent == "codex" {
            let table: toml_edit::DocumentMut = text.parse().expect("TOML");
            assert_eq!(
                table["mcp_servers"]["agentgate"]["args"][0].as_str(),
                Some("mcp"),
                "{text}"
            );
        }
        let found = value(&shown(&repo, "j1", "list.json"));
        assert_eq!(
            names(&found),
            ["read_task", "explain_path", "check", "report_progress"],
            "{agent}"
        );
    }
    let spoken: Vec<&str> = PLACES.iter().map(|(agent, ..)| *agent).collect();
    for profile in Profiles::built_in().all() {
        let speaks = !(profile.mcp.args.is_empty() && profile.mcp.files.is_empty());
        assert_eq!(speaks, spoken.contains(&profile.name.as_str()), "{}", profile.name);
    }
}

#[test]
fn a_person_can_take_it_away_or_bring_settings_of_their_own() {
    let repo = Repo::new();
    let folder = repo.home().join(".config/agentgate");
    fs::create_dir_all(&folder).expect("it can be made");
    fs::create_dir_all(repo.home().join(".gemini")).expect("it can be made");
    fs::write(repo.home().join(".gemini/settings.json"), "{\"mine\": 1}").expect("it can be written");
    fs::write(
        folder.join("config.yml"),
        "version: 1\nhome_files: [~/.gemini/settings.json]\nprofiles: {claude: {mcp: none}}\n",
    )
    .expect("it can be written");
    let task = task(&repo, "Goal: do the work\n");
    let run = |agent: &str, place: &str, id: &str| {
        let path = stand_in(&repo, agent, place);
        repo.command(["run", "--job-id", id, "--agent", agent])
            .args([task.as_os_str()])
            .env("PATH", path)
            .env("XDG_CONFIG_HOME", repo.home().join(".config"))
            .env("AGENT_MODEL_LABEL", "m")
            .run()
    };
    run("claude", "--mcp-config", "j1").expect(0, &[]);
    assert!(!shown(&repo, "j1", "args.txt").contains("--mcp-config"));
    run("gemini", ".gemini/settings.json", "j2").expect(0, &[".gemini/settings.json is the person's own"]);
    assert_eq!(shown(&repo, "j2", "mcp.txt"), "{\"mine\": 1}");
}
