//! What agents do all day works inside, whatever the layers are.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use super::attacks::GONE;
use super::scene::{JOB, Scene, Without};
use crate::support::jobs::recorded;
use crate::support::person::Person;

const INSIDE: &str = include_str!("inside.sh");

/// A git repository, an npm package and, where there is a toolchain, a home with rustup in it.
fn prepare(scene: &Scene) {
    let top = scene.repo.top();
    let local = scene.repo.beside("local");
    fs::create_dir(&local.root).expect("it is new");
    scene.person.own(&local.root);
    local.git(["init", "--quiet"]);
    local.write("file", "x\n");
    local.commit("start");
    let package = top.join("package");
    fs::create_dir(&package).expect("it is new");
    let json = r#"{"name":"local-package","version":"1.0.0","main":"index.js"}"#;
    fs::write(package.join("package.json"), json).expect("written");
    fs::write(package.join("index.js"), "module.exports = 42;\n").expect("written");
    fs::write(top.join("inside.sh"), INSIDE).expect("written");
    if toolchain(&scene.repo.home()).is_none() {
        eprintln!("skipped: cargo build, for want of rustup or of a file system that it can be linked on");
        let _ = fs::remove_dir_all(scene.repo.home().join(".cargo"));
    }
    // What is linked stays whose it is.
    for entry in [".cargo", ".rustup"] {
        let folders = walkdir::WalkDir::new(scene.repo.home().join(entry))
            .into_iter()
            .flatten();
        for folder in folders.filter(|entry| entry.file_type().is_dir()) {
            scene.person.own(folder.path());
        }
    }
}

/// The tester's toolchain in another home, which an ordinary user can reach: linked, not copied.
fn toolchain(home: &Path) -> Option<()> {
    let stdout = |program: &Path, args: &[&str]| {
        let output = Command::new(program).args(args).output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        (output.status.success() && !text.is_empty()).then(|| PathBuf::from(text.trim()))
    };
    let rustup = fs::canonicalize(stdout(Path::new("sh"), &["-c", "command -v rustup"])?).ok()?;
    let sysroot = stdout(Path::new("rustc"), &["--print", "sysroot"])?;
    let ours = home.join(".rustup/toolchains/tests");
    let target = sysroot.join("lib/rustlib");
    let mut files: Vec<PathBuf> = ["bin/cargo", "bin/rustc"]
        .iter()
        .map(|name| sysroot.join(name))
        .collect();
    files.extend(
        fs::read_dir(sysroot.join("lib"))
            .ok()?
            .flatten()
            .map(|entry| entry.path()),
    );
    files.extend(
        walkdir::WalkDir::new(target)
            .into_iter()
            .flatten()
            .map(|entry| entry.into_path()),
    );
    let wanted = files
        .iter()
        .filter(|path| path.is_file() && !path.components().any(|part| part.as_os_str() == "src"));
    for path in wanted {
        let copy = ours.join(path.strip_prefix(&sysroot).ok()?);
        fs::create_dir_all(copy.parent()?).ok()?;
        fs::hard_link(path, copy).ok()?;
    }
    fs::create_dir_all(home.join(".cargo/bin")).ok()?;
    // A copy, since a link would be root's alone where it is no program for everybody.
    fs::copy(rustup, home.join(".cargo/bin/rustup")).ok()?;
    fs::set_permissions(home.join(".cargo/bin/rustup"), fs::Permissions::from_mode(0o755)).ok()?;
    for name in ["cargo", "rustc"] {
        symlink("rustup", home.join(".cargo/bin").join(name)).ok()?;
    }
    let settings = "version = \"12\"\ndefault_toolchain = \"tests\"\nprofile = \"minimal\"\n";
    fs::write(home.join(".rustup/settings.toml"), settings).ok()
}

#[track_caller]
fn works(person: Person, without: Option<Without<'_>>) {
    let scene = Scene::new(person);
    prepare(&scene);
    let top = scene.repo.top();
    let script = top.join("inside.sh");
    let mut agent = vec!["bash", script.to_str().expect("text"), top.to_str().expect("text")];
    agent.extend(without.is_some().then_some("quick"));
    let outcome = scene.run(without, &agent).run();
    let log = recorded(&scene.repo, JOB, "agent.log");
    assert!(
        !log.contains("fails\t") && log.contains("works\tend"),
        "{person:?}:\n{log}\n{outcome}"
    );
    for line in log.lines().filter(|line| line.starts_with("skips\t")) {
        eprintln!("skipped: {line}, which is not installed here");
    }
    assert_eq!(outcome.code, 0, "{outcome}\n{log}");
    let commit = outcome.json()["commit"].as_str().expect("a commit").to_owned();
    let files = scene.repo.git(["diff", "--name-only", "main", &commit]);
    assert_eq!(files, "docs-one.txt\npayments/new.ts\nside.txt\ntopic.txt");
    scene.repo.git(["fsck", "--full"]);
}

#[test]
fn agents_work_behind_all_layers() {
    for person in Person::all() {
        works(person, None);
    }
}

#[test]
fn agents_work_behind_each_layer() {
    let errno = libc::EPERM;
    for person in Person::all() {
        for calls in GONE {
            works(person, Some(Without { calls, errno }));
        }
    }
}
