use super::*;

struct Given {
    asked: Asked,
    repository: &'static str,
    person: &'static str,
    agent_cmd: Option<&'static str>,
    model_label: Option<&'static str>,
    task_timeout: Option<u64>,
}

const NOTHING: Given = Given {
    asked: Asked {
        command: Vec::new(),
        agent: None,
        timeout: None,
        idle_timeout: None,
        allow_unconfined: false,
        confinement: None,
        network: None,
        hide: Vec::new(),
        pass_env: Vec::new(),
    },
    repository: "",
    person: "",
    agent_cmd: None,
    model_label: Some("m"),
    task_timeout: None,
};

fn merged(given: &Given) -> Result<Effective, Stop> {
    let (settings, profiles) = Settings::of_person("c", given.person.as_bytes()).expect("the person's is fine");
    let person = Person {
        path: None,
        settings,
        profiles,
    };
    let repository = Settings::of_repository(given.repository.as_bytes(), &person).expect("the repository's is fine");
    Effective::of(&Wishes {
        asked: &given.asked,
        agent_cmd: given.agent_cmd,
        model_label: given.model_label,
        task: Path::new("TASK.md"),
        task_timeout: given.task_timeout,
        repository: &repository,
        person: &person,
        home: Some(Path::new("/h")),
        start_dir: Path::new("/s"),
    })
}

fn words(source: &Source) -> String {
    match source {
        Source::CommandLine(words) => format!("line {words:?}"),
        Source::Variable(text) => format!("variable {text}"),
        Source::Settings(words) => format!("settings {}", words.join(" ")),
        Source::Profile(profile) => format!("profile {}", profile.name),
    }
}

fn asked() -> Asked {
    Asked::default()
}

#[test]
fn the_first_that_names_an_agent_counts() {
    let all = || Given {
        asked: Asked {
            command: vec!["x".into()],
            ..asked()
        },
        agent_cmd: Some("v"),
        repository: "agents: {implementer: {command: r}}\n",
        person: "agents: {implementer: {profile: codex}}\n",
        ..NOTHING
    };
    let mut given = all();
    let mut got = Vec::new();
    got.push(words(&merged(&given).expect("merged").source));
    given.asked.command.clear();
    given.asked.agent = Some("claude".into());
    got.push(words(&merged(&given).expect("merged").source));
    given.asked.agent = None;
    got.push(words(&merged(&given).expect("merged").source));
    given.agent_cmd = None;
    got.push(words(&merged(&given).expect("merged").source));
    given.repository = "";
    got.push(words(&merged(&given).expect("merged").source));
    assert_eq!(
        got,
        [
            "line [\"x\"]",
            "profile claude",
            "variable v",
            "settings r",
            "profile codex"
        ]
    );
    given.person = "";
    assert_eq!(merged(&given).expect_err("none").exit, Exit::Usage);
}

#[test]
fn times_go_by_line_task_repository_person_default() {
    let mut given = Given {
        asked: Asked {
            command: vec!["x".into()],
            timeout: Some(1),
            idle_timeout: Some(1),
            ..asked()
        },
        task_timeout: Some(2),
        repository: "agents: {implementer: {timeout: 3s, idle_timeout: 3s}}\n",
        person: "agents: {implementer: {timeout: 4s, idle_timeout: 4s}}\n",
        ..NOTHING
    };
    let mut got = Vec::new();
    let mut note = |given: &Given| {
        let merged = merged(given).expect("merged");
        got.push((merged.timeout, merged.idle_timeout));
    };
    note(&given);
    (given.asked.timeout, given.asked.idle_timeout) = (None, None);
    note(&given);
    given.task_timeout = None;
    note(&given);
    given.repository = "";
    note(&given);
    given.person = "";
    note(&given);
    assert_eq!(
        got,
        [(1, Some(1)), (2, Some(3)), (3, Some(3)), (4, Some(4)), (3600, None)]
    );
}

#[test]
fn rights_go_by_line_person_default_and_lists_add_up() {
    let mut given = Given {
        asked: Asked {
            command: vec!["x".into()],
            confinement: Some(Mode::Off),
            network: Some(Network::Allow),
            allow_unconfined: true,
            hide: vec!["a".into(), "~/b".into(), "/c".into()],
            pass_env: vec!["A".into(), "B".into()],
            ..asked()
        },
        repository: "setup: [r]\ncopy: [.env]\n",
        person: "confinement: strict\nnetwork: deny-tcp\nhide: [~/b, /d]\npass_env: [B, C]\nhome_files: [.x]\n\
                 worktree_root: ~/jobs\nsetup: [p]\ncopy: [.env, {from: ~/e, to: e}]\n",
        ..NOTHING
    };
    let merged_ = merged(&given).expect("merged");
    assert_eq!((merged_.confinement, merged_.allow_unconfined), (Mode::Off, true));
    assert_eq!(merged_.network, Network::Allow);
    assert_eq!(merged_.hide, ["/s/a", "/h/b", "/c", "/d"].map(PathBuf::from));
    assert_eq!(merged_.pass_env, ["A", "B", "C"]);
    assert_eq!(merged_.home_files, [".x"]);
    assert_eq!(merged_.worktree_root, Some("/h/jobs".into()));
    assert_eq!(merged_.setup, [["r"], ["p"]]);
    assert_eq!(
        merged_.copy,
        [
            CopyIn::Ignored(".env".into()),
            CopyIn::Outside {
                from: "/h/e".into(),
                to: "e".into()
            }
        ]
    );
    (given.asked.confinement, given.asked.network) = (None, None);
    let merged_ = merged(&given).expect("merged");
    assert_eq!((merged_.confinement, merged_.network), (Mode::Strict, Network::DenyTcp));
    given.person = "";
    let merged_ = merged(&given).expect("merged");
    assert_eq!((merged_.confinement, merged_.network), (Mode::On, Network::Allow));
    assert_eq!(merged_.worktree_root, None);
}

#[test]
fn a_profile_brings_its_own_and_settings_beside_it_add() {
    let given = Given {
        person: "agents: {implementer: {profile: codex, env: {CODEX_HOME: '{tmp}', X: y}}}\n\
                 pass_env: [MINE]\nhome_files: [.mine]\n",
        ..NOTHING
    };
    let merged = merged(&given).expect("merged");
    assert_eq!(merged.filter(), Filter::Profile);
    assert_eq!(
        merged.env,
        [("CODEX_HOME".into(), "{tmp}".into()), ("X".into(), "y".into())]
    );
    assert_eq!(
        (&merged.home_files[..], &merged.logins[..]),
        (&[".mine".to_owned()][..], &[".codex/auth.json".to_owned()][..])
    );
    assert_eq!(merged.home_folders, [".codex"]);
    assert!(merged.pass_env.contains(&"OPENAI_API_KEY".into()) && merged.pass_env.contains(&"MINE".into()));
}

#[test]
fn a_label_is_that_of_the_agent_it_stands_beside() {
    let label = |given: &Given| merged(given).expect("merged").model_label;
    let mut given = Given {
        model_label: Some("env"),
        repository: "agents: {implementer: {profile: claude, model_label: repo}}\n",
        person: "agents: {implementer: {model_label: mine}}\n",
        ..NOTHING
    };
    assert_eq!(label(&given).as_deref(), Some("env"));
    given.model_label = None;
    assert_eq!(label(&given).as_deref(), Some("repo"));
    given.asked.agent = Some("claude".into());
    assert_eq!(label(&given).as_deref(), Some("repo"));
    given.asked.agent = Some("codex".into());
    assert_eq!(
        label(&given).as_deref(),
        Some("mine"),
        "the repository's label is claude's"
    );
    given.asked.agent = None;
    given.asked.command = vec!["x".into()];
    assert_eq!(label(&given).as_deref(), Some("mine"));
    given.person = "";
    assert_eq!(label(&given), None);
}

#[test]
fn a_model_that_is_demanded_is_not_made_up() {
    let mut given = Given {
        model_label: None,
        asked: Asked {
            agent: Some("claude".into()),
            ..asked()
        },
        ..NOTHING
    };
    let stop = merged(&given).expect_err("no label");
    assert_eq!(stop.exit, Exit::Usage);
    assert!(stop.message.starts_with("claude must be told its model"), "{stop}");
    assert!(stop.hints[0].contains("AGENT_MODEL_LABEL"), "{stop:?}");
    given.asked.agent = Some("claud".into());
    let stop = merged(&given).expect_err("no such profile");
    assert_eq!(
        (stop.exit, stop.hints[0].as_str()),
        (Exit::Usage, "did you mean `claude`?")
    );
}
