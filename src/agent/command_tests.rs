use super::*;
use crate::files;

const PATH: &str = "/usr/bin:/bin";

fn found(source: Source) -> Result<Found, CommandError> {
    Found::find(&source, Path::new("/"), Some(OsStr::new(PATH)))
}

fn line(words: &[&str]) -> Source {
    Source::CommandLine(words.iter().map(OsString::from).collect())
}

fn fill(task: &str) -> Fill<'_> {
    let (task_file, worktree) = (Path::new("/p/task/TASK.md"), Path::new("/w"));
    Fill {
        task_file,
        task,
        worktree,
        job: "j1",
        model: None,
        home: Path::new("/p/home"),
        tmp: Path::new("/p/tmp"),
        own_sandbox: OwnSandbox::Off,
        connector: None,
    }
}

fn filled(words: &[&str], task: &str) -> Result<AgentCommand, CommandError> {
    found(line(words)).expect("found").fill(&fill(task))
}

fn script(dir: &tempfile::TempDir, name: &str, text: &str, mode: u32) -> PathBuf {
    let path = dir.path().join(name);
    files::create_new(&path, text.as_bytes(), mode).expect("script");
    path
}

#[test]
fn a_command_line_reads_the_task_unless_a_placeholder_takes_it() {
    let command = filled(&["sh", "-x", "{worktree}/{job}"], "do").expect("filled");
    assert_eq!(command.argv, ["sh", "-x", "/w/j1"]);
    assert!(command.program.is_absolute());
    assert_eq!(command.stdin, Stdin::Task);
    assert_eq!(
        filled(&["sh", "--in={task_file}"], "do").expect("filled").stdin,
        Stdin::Null
    );
    assert_eq!(filled(&["sh", "{task}"], "do").expect("filled").stdin, Stdin::Null);
}

#[test]
fn text_is_filled_in_once_and_unknown_braces_stay() {
    let command = filled(&["sh", "{{task}}", r#"{"a": "{job}"}"#, "{"], "{job} $HOME `x`").expect("filled");
    assert_eq!(command.argv[1..], ["{{job} $HOME `x`}", r#"{"a": "j1"}"#, "{"]);
}

#[test]
fn a_task_that_cannot_be_an_argument_is_refused() {
    let long = "x".repeat(TASK_LIMIT + 1);
    for task in ["-rf", "a\0b", &long] {
        let error = filled(&["sh", "{task}"], task).expect_err("refused");
        assert!(
            matches!(error, CommandError::Placeholder { name: "{task}", .. }),
            "{error}"
        );
        filled(&["sh", "{task_file}"], task).expect("its path is fine");
    }
    filled(&["sh", "{task}"], &long[1..]).expect("100 KiB are fine");
}

#[test]
fn a_model_label_is_no_option() {
    let found = found(line(&["sh", "--model", "{model}"])).expect("found");
    let given = Fill {
        model: Some("--dangerous"),
        ..fill("")
    };
    let error = found.fill(&given).expect_err("refused");
    assert!(
        matches!(error, CommandError::Placeholder { name: "{model}", .. }),
        "{error}"
    );
    assert!(fill_value("{model}", &given).is_err());
}

#[test]
fn a_model_is_not_made_up() {
    assert!(matches!(
        filled(&["sh", "{model}"], ""),
        Err(CommandError::Placeholder { name: "{model}", .. })
    ));
    let found = found(line(&["sh", "{model}"])).expect("found");
    assert_eq!(
        found
            .fill(&Fill {
                model: Some("m"),
                ..fill("")
            })
            .expect("filled")
            .argv[1],
        "m"
    );
}

#[test]
fn the_variable_is_split_like_a_shell_and_gets_the_documented_flags() {
    let source = Source::Variable("sh -c 'a b' \"\" {job}".to_owned());
    let command = found(source).expect("found").fill(&fill("do")).expect("filled");
    let expected = [
        "sh",
        "-c",
        "a b",
        "",
        "j1",
        "--stateless",
        "--input",
        "/p/task/TASK.md",
        "--apply",
    ];
    assert_eq!(command.argv, expected);
    assert_eq!(command.stdin, Stdin::Null);
    assert!(matches!(
        found(Source::Variable("sh 'a".to_owned())),
        Err(CommandError::Unsplittable { .. })
    ));
    assert!(matches!(
        found(Source::Variable("  ".to_owned())),
        Err(CommandError::Empty { .. })
    ));
    assert!(matches!(found(line(&[""])), Err(CommandError::Empty { .. })));
}

#[test]
fn a_program_that_cannot_run_is_named() {
    let dir = tempfile::tempdir().expect("folder");
    let path = script(&dir, "agent.sh", "#!/bin/sh\n", 0o644);
    let find = |name: &str, path: &str| Found::find(&line(&[name]), dir.path(), Some(OsStr::new(path)));
    let error = find("nosuchcmd", PATH).expect_err("missing");
    assert_eq!(error.to_string(), "agent command not found: nosuchcmd");
    assert_eq!(
        find("./agent.sh", PATH).expect_err("mode"),
        CommandError::NotExecutable {
            path: dir.path().join("./agent.sh")
        }
    );
    let on_path = dir.path().to_str().expect("text");
    assert_eq!(
        find("agent.sh", on_path).expect_err("mode"),
        CommandError::NotExecutable { path }
    );
    assert!(matches!(find("./", PATH), Err(CommandError::NotExecutable { .. })));
    let error = find("$HOME/bin/agent", PATH).expect_err("no shell");
    assert!(error.to_string().contains("\nhint: no shell is involved"), "{error}");
}

#[test]
fn a_relative_program_is_relative_to_where_we_started() {
    let dir = tempfile::tempdir().expect("folder");
    script(&dir, "agent.sh", "#!/bin/sh\n", 0o755);
    let found = Found::find(&line(&["./agent.sh"]), dir.path(), None).expect("found");
    assert_eq!(found.program(), dir.path().join("./agent.sh"));
    let found = Found::find(&line(&["agent.sh"]), dir.path(), Some(OsStr::new(":/bin"))).expect("found");
    assert!(found.program().starts_with(dir.path()));
}

#[test]
fn the_interpreter_must_be_there_too() {
    let dir = tempfile::tempdir().expect("folder");
    let good = [
        "#!/bin/sh",
        "#! /bin/sh -e",
        "#!/usr/bin/env sh",
        "#!/usr/bin/env -S A=1 sh -e",
        "no script",
        "",
    ];
    let bad = [
        ("#!/nowhere/python4", "/nowhere/python4"),
        ("#!/bin/sh\r", "/bin/sh\r"),
        ("#!sh", "sh"),
        ("#!", ""),
        ("#!/usr/bin/env python4", "python4"),
        ("#!/usr/bin/env sh\r", "sh\r"),
        ("#!/usr/bin/env sh -e", "sh -e"),
        ("#!/usr/bin/env -S python4 -u", "python4"),
    ];
    for (n, text) in good.iter().enumerate() {
        let path = script(&dir, &format!("good{n}"), &format!("{text}\n"), 0o755);
        Found::find(
            &line(&[path.to_str().expect("text")]),
            Path::new("/"),
            Some(OsStr::new(PATH)),
        )
        .expect(text);
    }
    for (n, (text, named)) in bad.iter().enumerate() {
        let path = script(&dir, &format!("bad{n}"), &format!("{text}\n"), 0o755);
        let error = found(line(&[path.to_str().expect("text")])).expect_err(text);
        assert!(
            matches!(&error, CommandError::Interpreter { interpreter, .. } if interpreter == named),
            "{error}"
        );
    }
}

#[test]
fn a_known_agent_gets_the_command_to_type() {
    let hint = |words: &[&str]| hint(&words.iter().map(OsString::from).collect::<Vec<_>>());
    let text = hint(&["/usr/local/bin/claude", "-p"]).expect("known");
    assert!(text.ends_with("agentgate run TASK.md --agent claude"), "{text}");
    let text = hint(&["npx", "cursor-agent"]).expect("known");
    assert!(text.ends_with("--agent cursor"), "{text}");
    assert_eq!(hint(&["./my-agent"]), None);
}

#[test]
fn folders_are_filled_in_values_of_variables_and_not_in_plain_commands() {
    let command = filled(&["sh", "{home}", "{tmp}", "{sandbox}"], "do").expect("filled");
    assert_eq!(command.argv[1..], ["{home}", "{tmp}", "{sandbox}"]);
    let value = |text: &str| fill_value(text, &fill("do"));
    assert_eq!(
        value("{home}/x:{tmp}:{worktree}").expect("filled"),
        "/p/home/x:/p/tmp:/w"
    );
    assert_eq!(value("{\"a\":{task}}").expect("filled"), "{\"a\":{task}}");
    assert!(matches!(
        value("{model}"),
        Err(CommandError::Placeholder { name: "{model}", .. })
    ));
}
