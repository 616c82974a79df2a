use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use super::*;

/// A person's home and a job's private folder.
struct Scene {
    top: tempfile::TempDir,
    vars: Vec<(OsString, OsString)>,
    worktree: PathBuf,
}

impl Scene {
    fn new() -> Scene {
        let top = tempfile::tempdir().expect("a folder");
        for name in ["person", "private"] {
            fs::create_dir(top.path().join(name)).expect("it is new");
        }
        let vars = vec![("HOME".into(), top.path().join("person").into())];
        let worktree = "/nonexistent".into();
        Scene { top, vars, worktree }
    }

    fn person(&self, below: &str) -> PathBuf {
        self.top.path().join("person").join(below)
    }

    fn private(&self, below: &str) -> PathBuf {
        self.top.path().join("private/home").join(below)
    }

    fn put(place: &Path, text: &str) {
        fs::create_dir_all(place.parent().expect("a folder")).expect("made");
        crate::files::replace(place, text.as_bytes(), 0o640).expect("written");
    }

    fn make(&self, home_files: &[&str]) -> Result<Home> {
        let home_files: Vec<PathBuf> = home_files.iter().map(PathBuf::from).collect();
        let wishes = Wishes {
            job: "j1",
            worktree: &self.worktree,
            home_files: &home_files,
            git: &[
                ("protocol.file.allow".into(), "always".into()),
                ("user.name".into(), "P".into()),
            ],
        };
        Home::make(&self.top.path().join("private"), Person { vars: &self.vars }, &wishes)
    }

    fn settle(&self, home: &mut Home) -> String {
        home.settle(&self.top.path().join("state/logins.lock")).join("\n")
    }
}

fn text(place: &Path) -> String {
    fs::read_to_string(place).unwrap_or_else(|error| panic!("{}: {error}", place.display()))
}

fn mode(place: &Path) -> u32 {
    fs::metadata(place).expect("it is there").permissions().mode() & 0o7777
}

const OLD: &str =
    r#"{"tokens": {"access_token": "a", "refresh_token": "r", "account": "me"}, "expires_at": 1700000000}"#;
const NEW: &str =
    r#"{"tokens": {"access_token": "b", "refresh_token": "s", "account": "me"}, "expires_at": 1700000600}"#;
const LOGIN: &str = ".codex/auth.json";

#[test]
fn settings_of_git_come_along() {
    let scene = Scene::new();
    let home = scene.make(&[]).expect("a home");
    let config = text(&scene.private(".gitconfig"));
    assert!(
        config.contains("[protocol \"file\"]\n\tallow = \"always\"") && !config.contains("\"P\""),
        "{config}"
    );
    assert!(home.notices.is_empty(), "{:?}", home.notices);
}

#[test]
fn a_login_is_copied_for_the_agent_alone_and_a_missing_one_told() {
    let scene = Scene::new();
    Scene::put(&scene.person(LOGIN), OLD);
    let absolute = scene.person(".config/x/key");
    Scene::put(&absolute, "k");
    let mut home = scene
        .make(&[LOGIN, &absolute.to_string_lossy(), ".claude/none.json"])
        .expect("a home");
    assert_eq!(
        (text(&scene.private(LOGIN)).as_str(), mode(&scene.private(LOGIN))),
        (OLD, 0o600)
    );
    assert_eq!(text(&scene.private(".config/x/key")), "k");
    let [notice] = &home.notices[..] else {
        panic!("{:?}", home.notices)
    };
    assert!(notice.contains("none.json is not there"), "{notice}");
    assert_eq!(scene.settle(&mut home), "", "nothing was renewed");
    assert!(!scene.private(LOGIN).exists(), "a secret does not stay");
    assert_eq!(text(&scene.person(LOGIN)), OLD);
}

#[test]
fn a_login_is_found_where_a_variable_has_moved_it() {
    let mut scene = Scene::new();
    let moved = scene.top.path().join("codex");
    scene.vars.push(("CODEX_HOME".into(), moved.clone().into()));
    Scene::put(&moved.join("auth.json"), OLD);
    for named in [LOGIN.to_owned(), moved.join("auth.json").display().to_string()] {
        let mut home = scene.make(&[&named]).expect("a home");
        Scene::put(&scene.private(LOGIN), NEW);
        scene.settle(&mut home);
        assert!(text(&moved.join("auth.json")).contains("1700000600"), "{named}");
        Scene::put(&moved.join("auth.json"), OLD);
    }
}

#[test]
fn links_folders_and_what_lies_elsewhere_are_refused() {
    let scene = Scene::new();
    Scene::put(&scene.person("real"), OLD);
    symlink(scene.person("real"), scene.person("link")).expect("a link");
    let cases = [
        ("link", "is a link"),
        ("", "must name a file"),
        (".", "must name a file"),
        ("../person/real", "without `..`"),
        ("/etc/hostname", "does not lie in your home"),
    ];
    for (named, why) in cases {
        let error = scene.make(&[named]).expect_err("refused");
        assert!(
            error.is::<LoginError>() && error.to_string().contains(why),
            "{named}: {error}"
        );
    }
    fs::create_dir(scene.person("folder")).expect("new");
    assert!(
        scene
            .make(&["folder"])
            .expect_err("refused")
            .to_string()
            .contains("is a folder")
    );
}

#[test]
fn a_renewed_login_is_brought_back_with_its_mode() {
    let scene = Scene::new();
    Scene::put(&scene.person(LOGIN), OLD);
    let mut home = scene.make(&[LOGIN]).expect("a home");
    Scene::put(&scene.private(LOGIN), NEW);
    let told = scene.settle(&mut home);
    assert!(told.contains("yours is the renewed one now"), "{told}");
    let (old, new): (serde_json::Value, serde_json::Value) = (
        serde_json::from_str(&text(&scene.person(LOGIN))).expect("JSON"),
        serde_json::from_str(NEW).expect("JSON"),
    );
    assert_eq!((old, mode(&scene.person(LOGIN))), (new, 0o640));
}

#[test]
fn whatever_else_the_agent_left_is_told_and_not_brought_back() {
    type Left = fn(&Scene);
    let cases: &[(Left, &str)] = &[
        (|scene| Scene::put(&scene.private(LOGIN), "garbage"), "not JSON"),
        (
            |scene| Scene::put(&scene.private(LOGIN), &NEW.replace("1700000600", "1600000000")),
            "older",
        ),
        (
            |scene| Scene::put(&scene.private(LOGIN), &NEW.replace("me", "evil")),
            "no token",
        ),
        (|scene| fs::remove_file(scene.private(LOGIN)).expect("there"), "deleted"),
        (
            |scene| {
                fs::remove_file(scene.private(LOGIN)).expect("there");
                symlink(scene.person("other"), scene.private(LOGIN)).expect("a link");
            },
            "regular file",
        ),
        (
            |scene| {
                fs::remove_dir_all(scene.private(".codex")).expect("there");
                symlink(scene.person("folder"), scene.private(".codex")).expect("a link");
            },
            "regular file",
        ),
        (
            |scene| {
                Scene::put(&scene.private(LOGIN), NEW);
                Scene::put(&scene.person(LOGIN), &OLD.replace("\"a\"", "\"c\""));
            },
            "changed meanwhile",
        ),
        (
            |scene| {
                Scene::put(&scene.private(LOGIN), NEW);
                fs::remove_file(scene.person(LOGIN)).expect("there");
            },
            "not there any more",
        ),
    ];
    for (leave, why) in cases {
        let scene = Scene::new();
        Scene::put(&scene.person("other"), NEW);
        Scene::put(&scene.person("folder/auth.json"), NEW);
        Scene::put(&scene.person(LOGIN), OLD);
        let mut home = scene.make(&[LOGIN]).expect("a home");
        leave(&scene);
        let told = scene.settle(&mut home);
        assert!(
            told.contains("was not brought back") && told.contains(why),
            "{why}: {told}"
        );
        if let Ok(now) = fs::read_to_string(scene.person(LOGIN)) {
            assert!(now.contains("1700000000"), "{why}: {now}");
        }
        assert_eq!(
            text(&scene.person("folder/auth.json")),
            NEW,
            "{why}: nothing is deleted through a link"
        );
    }
}

#[test]
fn one_job_at_a_time_brings_back() {
    let scene = Scene::new();
    Scene::put(&scene.person(LOGIN), OLD);
    let mut home = scene.make(&[LOGIN]).expect("a home");
    Scene::put(&scene.private(LOGIN), NEW);
    let lock = scene.top.path().join("state/logins.lock");
    fs::create_dir(lock.parent().expect("a folder")).expect("new");
    let held = crate::lock::FileLock::try_exclusive(&lock).expect("free");
    let waits = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(200));
        drop(held);
    });
    let told = scene.settle(&mut home);
    waits.join().expect("it ends");
    assert!(told.contains("yours is the renewed one now"), "{told}");
}

#[test]
fn versions_of_a_tool_are_links_with_room_for_others_beside_them() {
    let scene = Scene::new();
    fs::create_dir_all(scene.person(".local/share/uv/python/cpython-3.13")).expect("new");
    fs::create_dir_all(scene.person(".cache/node/corepack/v1/yarn/1.22.22")).expect("new");
    fs::create_dir_all(scene.person(".dotnet")).expect("new");
    fs::create_dir_all(scene.person("n")).expect("new");
    let home = scene.make(&[]).expect("a home");
    for below in [
        ".local/share/uv/python/cpython-3.13",
        ".cache/node/corepack/v1/yarn/1.22.22",
    ] {
        let link = scene.private(below);
        assert_eq!(fs::read_link(&link).expect("a link"), scene.person(below));
        assert!(!link.parent().expect("a folder").is_symlink());
    }
    assert!(
        home.variables
            .iter()
            .all(|(name, _)| name != "DOTNET_ROOT" && name != "N_PREFIX"),
        "no tool is there"
    );
}

#[test]
fn crates_are_linked_where_the_worktree_has_one() {
    let scene = Scene::new();
    Scene::put(&scene.person(".cargo/registry/cache/io-1/itoa-1.0.0.crate"), "packed");
    Scene::put(&scene.person(".cargo/registry/index/io-1/.cache/it/oa/itoa"), "entry");
    Scene::put(&scene.person(".cargo/registry/index/io-1/config.json"), "{}");
    Scene::put(
        &scene.person(".cargo/registry/src/io-1/itoa-1.0.0/build.rs"),
        "a marker",
    );
    Scene::put(&scene.person(".cargo/credentials.toml"), "[registry]\ntoken = \"t\"\n");
    Scene::put(&scene.person(".cargo/bin/cargo-nextest"), "a program");
    let crate_file = scene.private(".cargo/registry/cache/io-1/itoa-1.0.0.crate");
    scene.make(&[]).expect("a home");
    assert!(!crate_file.exists());
    let index = scene.private(".cargo/registry/index/io-1");
    assert_eq!(text(&index.join(".cache/it/oa/itoa")), "entry");
    assert!(
        !index.is_symlink() && !index.join("config.json").is_symlink(),
        "what cargo writes is private"
    );
    assert_eq!(text(&scene.private(".cargo/bin/cargo-nextest")), "a program");
    assert!(!scene.private(".cargo/registry/src").exists() && !scene.private(".cargo/credentials.toml").exists());

    let worktree = scene.top.path().join("worktree");
    Scene::put(&worktree.join("tools/x/Cargo.toml"), "");
    let scene = Scene { worktree, ..scene };
    crate::files::remove_tree(&scene.top.path().join("private/home")).expect("deleted");
    scene.make(&[]).expect("a home");
    assert_eq!(text(&crate_file), "packed");
    assert!(crate_file.is_symlink() && !crate_file.parent().expect("a folder").is_symlink());
}

#[test]
fn the_persons_stores_are_read_not_written() {
    let mut scene = Scene::new();
    fs::create_dir_all(scene.person("go/pkg/mod/cache/download")).expect("new");
    fs::create_dir_all(scene.person(".m2/repository")).expect("new");
    fs::create_dir_all(scene.person(".gradle/caches/modules-2")).expect("new");
    Scene::put(
        &scene.person(".config/go/env"),
        "GOPRIVATE=example.com\nGOPROXY=https://p\nGOMODCACHE=/x\n",
    );
    Scene::put(
        &scene.person(".config/pip/pip.conf"),
        "[global]\nindex-url = https://mirror/simple\nextra-index-url = https://me:secret@x/\ncache-dir = /x\n",
    );
    scene.vars.push(("GOFLAGS".into(), "-v".into()));
    let home = scene.make(&[]).expect("a home");
    let get = |name: &str| {
        let found = home.variables.iter().find(|(known, _)| known == name);
        found
            .map(|(_, value)| value.to_string_lossy().into_owned())
            .unwrap_or_default()
    };
    let person = scene.person("");
    let person = person.to_string_lossy();
    let person = person.trim_end_matches('/');
    assert_eq!(
        get("GOPROXY"),
        format!("file://{person}/go/pkg/mod/cache/download,https://p")
    );
    assert_eq!(get("GOFLAGS"), "-v -modcacherw");
    assert_eq!(get("GOMODCACHE"), scene.private("go/pkg/mod").to_string_lossy());
    assert_eq!(text(&scene.private(".config/go/env")), "GOPRIVATE=example.com\n");
    assert_eq!(
        get("MAVEN_OPTS"),
        format!(
            "-Duser.home={}",
            scene.private("").to_string_lossy().trim_end_matches('/')
        )
    );
    assert_eq!(
        get("MAVEN_ARGS"),
        format!("-Dmaven.repo.local.tail={person}/.m2/repository")
    );
    assert_eq!(get("GRADLE_RO_DEP_CACHE"), format!("{person}/.gradle/caches"));
    assert_eq!(
        text(&scene.private(".config/pip/pip.conf")),
        "[global]\nindex-url = https://mirror/simple\n"
    );
}

#[test]
fn a_path_that_no_socket_fits_into_is_told() {
    let deep = PathBuf::from(format!("/{}", "d".repeat(80)));
    assert_eq!(long_socket(&deep), None);
    let notice = long_socket(&deep.join("e".repeat(30))).expect("too long");
    assert!(notice.contains("107"), "{notice}");
}
