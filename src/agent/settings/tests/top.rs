//! Keys at the top of a file, and the person's file itself.

use super::*;

#[test]
fn wrong_values_of_the_top_are_refused_at_their_place() {
    for (line, first) in [
        ("setup: npm ci", "1:8: `setup` must be a list of commands, not text"),
        ("setup: []", "1:8: `setup` is an empty list"),
        ("setup: ['']", "1:9: `setup[0]` names no program"),
        ("setup: ['a \"b']", "1:9: `setup[0]` has a quote that is never closed"),
        ("copy: .env", "1:7: `copy` must be a list, not text"),
        ("copy: [.git/config]", "1:8: `copy[0]` lies in a git dir"),
        ("copy: [a/.GIT/x]", "1:8: `copy[0]` lies in a git dir"),
        (
            "copy: ['a**b']",
            "1:8: `copy[0]`: path `a**b`: `**` must be a whole path component",
        ),
        ("copy: [a, a]", "1:11: `copy[1]` stands twice in `copy`"),
    ] {
        for got in [refused(&format!("{line}\n")), refused_to_person(&format!("{line}\n"))] {
            assert!(got.0.starts_with(first), "{line}: {got:?}");
        }
    }
    for (line, first) in [
        ("confinement: strikt", "1:14: `confinement` cannot be `strikt`"),
        ("confinement: true", "1:14: `confinement` cannot be `true`"),
        (
            "network: deny",
            "1:10: `network` must be `allow`, `deny-tcp` or `{ports: [443]}`",
        ),
        (
            "network: [443]",
            "1:10: `network` must be `allow`, `deny-tcp` or `{ports: [443]}`",
        ),
        ("network: {port: [443]}", "1:11: unknown key `network.port`"),
        (
            "network: {ports: 443}",
            "1:18: `network.ports` must be a list, not a number",
        ),
        ("network: {ports: [0]}", "1:19: `network.ports[0]` is no port"),
        ("network: {ports: [70000]}", "1:19: `network.ports[0]` is no port"),
        ("network: {ports: [\"443\"]}", "1:19: `network.ports[0]` is no port"),
        (
            "network: {ports: [443, 443]}",
            "1:24: port 443 stands twice in `network.ports`",
        ),
        ("hide: [secrets]", "1:8: `hide`: `secrets` is relative"),
        ("hide: [/a/../b]", "1:8: `hide`: `/a/../b` has `..` in it"),
        ("worktree_root: jobs", "1:16: `worktree_root`: `jobs` is relative"),
        (
            "home_files: [/etc/passwd]",
            "1:14: `home_files`: `/etc/passwd` is absolute",
        ),
        ("home_files: [../x]", "1:14: `home_files`: `../x` leaves your home"),
        (
            "home_files: ['.config/*']",
            "1:14: `home_files`: `.config/*` is a pattern",
        ),
        ("home_files: [.]", "1:14: `home_files`: `.` names no path"),
        ("home_files: [.a, ~/.a]", "1:18: `.a` stands twice in `home_files`"),
        ("pass_env: [A=b]", "1:12: `pass_env`: `A=b` is no name of a variable"),
        (
            "pass_env: [AWS_*]",
            "1:12: `pass_env`: `AWS_*` is no name of a variable",
        ),
        ("pass_env: [A, A]", "1:15: `A` stands twice in `pass_env`"),
        ("copy: [/etc/x]", "1:8: `copy[0]` lies outside the clone"),
        ("copy: [{from: /x}]", "1:8: `copy[0]` needs both `from` and `to`"),
        ("copy: [{from: x, to: y}]", "1:15: `copy[0].from`: `x` is relative"),
        (
            "copy: [{from: /x, to: '*'}]",
            "1:23: `copy[0].to` must be the path of one file or folder",
        ),
        (
            "copy: [{from: /x, to: ../y}]",
            "1:23: `copy[0].to`: path `../y`: `..` leaves the folder",
        ),
        ("copy: [{from: /x, too: y}]", "1:19: unknown key `copy[0].too`"),
    ] {
        let got = refused_to_person(&format!("{line}\n"));
        assert!(got.0.starts_with(first), "{line}: {got:?}");
        assert!(!got.1.is_empty(), "{line}: {got:?}");
    }
}

#[test]
fn the_persons_profiles_can_be_named_in_the_repository() {
    let (_, profiles) = Settings::of_person("c", b"profiles: {own: {command: own-agent}}\n").unwrap();
    let person = Person {
        profiles,
        ..Person::default()
    };
    let text = b"agents: {implementer: {profile: own}}\n";
    assert!(Settings::of_repository(text, &person).is_ok());
    assert!(Settings::of_repository(text, &Person::default()).is_err());
}

#[test]
fn the_persons_file_may_be_absent_a_link_or_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let config = dir.path();
    assert_eq!(Person::read(None).unwrap(), Person::default());
    let nothing = Person::read(Some(config)).unwrap();
    assert_eq!(nothing.settings, Settings::default());
    assert_eq!(nothing.shown(), config.join(PERSON_PATH).display().to_string());

    let folder = config.join("agentgate");
    let file = folder.join("config.yml");
    let read = || Person::read(Some(config));
    let refuses = |what: &str| {
        let error = read().unwrap_err();
        assert_eq!(error.exit(), Exit::Usage);
        let text = error.to_string();
        assert!(
            text.starts_with(&format!("{}:", file.display())) && text.contains(what),
            "{text}"
        );
    };
    crate::files::create_new(&config.join("real.yml"), b"hide: [/x]\n", 0o600).unwrap();
    std::fs::create_dir(&folder).unwrap();
    std::os::unix::fs::symlink(config.join("real.yml"), &file).unwrap();
    assert_eq!(read().unwrap().settings.hide, ["/x"]);
    std::fs::remove_file(config.join("real.yml")).unwrap();
    refuses("the link leads nowhere");
    std::fs::remove_file(&file).unwrap();
    std::fs::create_dir(&file).unwrap();
    refuses("not a regular file");
    std::fs::remove_dir(&file).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, &file, 0o600.into()).unwrap();
    refuses("not a regular file");
    std::fs::remove_file(&file).unwrap();
    crate::files::create_new(&file, b"hide: [x]\n", 0o600).unwrap();
    refuses("1:8: `hide`");
    std::fs::remove_file(&file).unwrap();
    crate::files::create_new(&file, &vec![b'#'; (1 << 20) + 1], 0o600).unwrap();
    refuses("larger than");
    std::fs::remove_file(&file).unwrap();
    std::fs::remove_dir(&folder).unwrap();
    crate::files::create_new(&folder, b"", 0o600).unwrap();
    refuses("cannot be read");
}

#[test]
fn checks_are_read() {
    let text = "checks:
- name: unit tests
  run: npm test && npm run lint
- {name: lint, run: [./lint.sh, -x], timeout: 2h, when: [payments/, '**/*.ts'], baseline: true}
";
    let expected = [
        Check {
            name: "unit tests".into(),
            run: vec!["sh".into(), "-c".into(), "npm test && npm run lint".into()],
            timeout: 600,
            when: Vec::new(),
            baseline: false,
        },
        Check {
            name: "lint".into(),
            run: words("./lint.sh -x"),
            timeout: 7200,
            when: words("payments/ **/*.ts"),
            baseline: true,
        },
    ];
    assert_eq!(settings(text).checks, expected);
    let (first, hint) = refused_to_person(text);
    assert!(
        first.starts_with("1:1: `checks` is for a repository's owners to set"),
        "{first}"
    );
    assert_eq!(hint, "put it into the repository's architecture/agentgate.yml");
}

#[test]
fn wrong_checks_are_refused_at_their_place() {
    for (value, first) in [
        ("npm test", "1:9: `checks` must be a list, not text"),
        ("[]", "1:9: `checks` is an empty list"),
        ("[npm test]", "1:10: `checks[0]` must be a map, not text"),
        ("[{name: a}]", "1:10: `checks[0]` has no `run`"),
        ("[{run: a}]", "1:10: `checks[0]` has no `name`"),
        ("[{name: a, run: ' '}]", "1:25: `checks[0].run` is empty"),
        ("[{name: a, run: []}]", "1:25: `checks[0].run` is an empty list"),
        ("[{name: a, run: ['']}]", "1:25: `checks[0].run` names no program"),
        ("[{name: a, run: true}]", "1:25: `checks[0].run` must be text"),
        ("[{name: ' a', run: x}]", "1:17: `checks[0].name` is no name"),
        ("[{name: \"a\\e[2J\", run: x}]", "1:17: `checks[0].name` is no name"),
        (
            "[{name: a, run: x}, {name: a, run: y}]",
            "1:36: `a` stands twice in `checks`",
        ),
        (
            "[{name: a, run: x, timeout: 5}]",
            "1:37: `checks[0].timeout` must be a duration",
        ),
        (
            "[{name: a, run: x, timeout: 25h}]",
            "1:37: `checks[0].timeout` is longer than 1d",
        ),
        (
            "[{name: a, run: x, when: []}]",
            "1:34: `checks[0].when` is an empty list",
        ),
        (
            "[{name: a, run: x, when: [/src]}]",
            "1:35: `checks[0].when`: path `/src`: absolute",
        ),
        (
            "[{name: a, run: x, baseline: 1}]",
            "1:38: `checks[0].baseline` must be true or false, not a number",
        ),
        ("[{name: a, run: x, wen: [a]}]", "1:28: unknown key `checks[0].wen`"),
    ] {
        let got = refused(&format!("checks: {value}\n"));
        assert!(got.0.starts_with(first), "{value}: {got:?}");
    }
}
