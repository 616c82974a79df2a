//! The short cut by which a plain clone is opened without starting git: it is never taken where git could say no, and
//! where it is taken the answer is the one that it is without.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use super::on_branch;
use super::processes::{counted, counted_in};
use crate::support::program::Outcome;
use crate::support::repo::Repo;

const LINE: &[&str] = &["--base", "main"];

/// On branch `f`, with a finding, so that a verdict has more to say than yes.
fn scene() -> Repo {
    let repo = on_branch();
    repo.change("prot/rules.txt", "none\n");
    repo
}

/// What git was not started for says the same when git is asked first: an included file that is not there is a reason.
#[track_caller]
fn is_the_same_without(repo: &Repo, what: &str) -> Outcome {
    let (short, _) = counted(repo, LINE);
    let config = repo.root.join(".git/config");
    let before = fs::read_to_string(&config).expect("it can be read");
    fs::write(&config, format!("{before}[include]\n\tpath = nowhere\n")).expect("it can be written");
    let (long, calls) = counted(repo, LINE);
    fs::write(&config, before).expect("it can be written");
    assert!(calls > 0, "{what}: git was not asked: {long}");
    let facts = |outcome: &Outcome| (outcome.code, outcome.stdout.clone(), outcome.stderr.clone());
    assert_eq!(facts(&short), facts(&long), "{what}");
    short
}

#[track_caller]
fn is_asked(repo: &Repo, what: &str) -> Outcome {
    let (outcome, calls) = counted(repo, LINE);
    assert!(calls > 0, "{what}: git was not asked: {outcome}");
    outcome
}

#[test]
fn a_setting_that_a_git_may_not_know_is_for_git_to_judge() {
    for (key, value, code) in [
        ("core.repositoryFormatVersion", "1", 3),
        ("core.repositoryFormatVersion", "7", 2),
        ("core.bare", "true", 3),
        ("core.worktree", "..", 3),
        ("extensions.noop", "true", 3),
        ("extensions.preciousObjects", "true", 3),
        ("extensions.partialClone", "origin", 3),
        ("extensions.worktreeConfig", "true", 3),
        ("extensions.relativeWorktrees", "false", 3),
        ("extensions.refStorage", "files", 3),
        ("extensions.objectFormat", "sha1", 3),
        ("extensions.fromTheFuture", "true", 3),
        ("include.path", "more", 3),
        ("includeIf.onbranch:f.path", "more", 3),
        ("includeIf.gitdir:/.path", "more", 3),
    ] {
        let repo = scene();
        repo.git(["config", key, value]);
        let outcome = is_asked(&repo, key);
        let by_git = repo.program("git").args(["rev-parse", "--git-dir"]).run();
        // libgit2 may know less than git, and never more.
        assert!(outcome.code == code || outcome.code == 2, "{key}: {outcome}");
        assert!(by_git.code == 0 || outcome.code == 2, "{key}: {outcome}");
    }
}

#[test]
fn an_extension_of_a_format_that_demands_it_is_refused_by_git() {
    let repo = scene();
    repo.git(["config", "core.repositoryFormatVersion", "1"]);
    repo.git(["config", "extensions.fromTheFuture", "true"]);
    is_asked(&repo, "an unknown extension").expect(2, &["extension"]);
}

#[test]
fn a_configuration_that_does_not_parse_is_refused_by_git() {
    let repo = scene();
    let config = repo.root.join(".git/config");
    let before = fs::read_to_string(&config).expect("it can be read");
    fs::write(&config, format!("{before}[core\n")).expect("it can be written");
    is_asked(&repo, "a broken configuration").expect(2, &["config"]);
}

#[test]
fn a_head_that_says_nothing_is_no_repository() {
    for head in ["", "garbage\n", "ref: \n"] {
        let repo = scene();
        fs::write(repo.root.join(".git/HEAD"), head).expect("it can be written");
        is_asked(&repo, "a broken HEAD").expect(2, &["is not in a git repository"]);
    }
}

#[test]
fn other_formats_of_objects_and_refs_are_refused_in_words() {
    for option in ["--object-format=sha256", "--ref-format=reftable"] {
        let repo = Repo::empty().beside("other");
        fs::create_dir_all(&repo.root).expect("a folder");
        let made = repo.program("git").args(["init", "--quiet", option, "."]).run();
        if made.code != 0 {
            eprintln!("skipped: this git knows no {option}");
            continue;
        }
        repo.change("a", "a\n");
        repo.branch("f");
        let outcome = is_asked(&repo, option);
        outcome.expect(2, &["hint: "]);
    }
}

#[test]
fn a_git_dir_that_lies_elsewhere_is_for_git_to_judge() {
    let repo = scene();
    repo.git(["worktree", "add", "--quiet", "--detach", "../linked"]);
    is_asked(&repo.beside("linked"), "a linked worktree").expect(3, &["prot/rules.txt"]);

    let apart = scene();
    apart.git(["init", "--quiet", "--separate-git-dir", "../apart.git"]);
    is_asked(&apart, "a .git file").expect(3, &["prot/rules.txt"]);

    let link = scene();
    fs::rename(link.root.join(".git"), link.top().join("moved.git")).expect("it can be moved");
    symlink("../moved.git", link.root.join(".git")).expect("a link can be made");
    is_asked(&link, "a .git that is a link").expect(3, &["prot/rules.txt"]);

    let bare = scene().clone_as("bare.git", &["--bare"]);
    is_asked(&bare, "a bare repository");

    // What git reads is the other repository's, also its configuration.
    let common = scene();
    common.git(["worktree", "add", "--quiet", "--detach", "../linked"]);
    let linked = common.beside("linked");
    let own = common.root.join(".git/worktrees/linked");
    fs::remove_file(linked.root.join(".git")).expect("it is there");
    fs::rename(own, linked.root.join(".git")).expect("it can be moved");
    fs::write(
        linked.root.join(".git/commondir"),
        format!("{}\n", common.root.join(".git").display()),
    )
    .expect("it can be written");
    fs::copy(common.root.join(".git/config"), linked.root.join(".git/config")).expect("it can be copied");
    common.git(["config", "extensions.noop", "true"]);
    is_asked(&linked, "a commondir").expect(3, &["prot/rules.txt"]);
    common.git(["config", "extensions.fromTheFuture", "true"]);
    common.git(["config", "core.repositoryFormatVersion", "1"]);
    is_asked(&linked, "a commondir").expect(2, &["extension"]);
}

#[test]
fn from_inside_the_git_dir_git_is_asked() {
    let repo = scene();
    for folder in [".git", ".git/refs/heads"] {
        let (outcome, calls) = counted_in(&repo, &repo.root.join(folder), LINE, &[]);
        assert!(calls > 0, "{outcome}");
    }
    let (outcome, calls) = counted_in(&repo, &repo.root.join("payments"), LINE, &[]);
    assert_eq!((outcome.code, calls), (3, 0), "{outcome}");
}

#[test]
fn what_is_somebody_elses_is_for_git_to_judge() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: only root can give a folder away");
        return;
    }
    let give = |path: &Path| {
        let owner = rustix::process::Uid::from_raw(1234);
        rustix::fs::chown(path, Some(owner), None).expect("root can give it away");
    };
    for (path, code) in [("", 2), (".git", 2), (".git/config", 3)] {
        let repo = scene();
        give(&repo.root.join(path));
        let outcome = is_asked(&repo, path);
        outcome.expect(code, &[]);
        if code == 2 {
            outcome.expect(2, &["git does not trust this repository", "safe.directory"]);
        }
        // Trusted by a setting it is judged, and git is still asked: it knows the setting.
        repo.program("git")
            .args(["config", "--global", "--add", "safe.directory", "*"])
            .run()
            .success();
        is_asked(&repo, path).expect(3, &["prot/rules.txt"]);
    }
}

#[test]
fn no_variable_points_at_another_repository() {
    let repo = scene();
    let other = Repo::new();
    other.branch("f");
    let git_dir = other.root.join(".git").display().to_string();
    let top = other.root.display().to_string();
    let above = repo.root.display().to_string();
    let plain = counted(&repo, LINE).0;
    for variables in [
        &[("GIT_DIR", git_dir.as_str())][..],
        &[("GIT_DIR", "/nowhere")],
        &[("GIT_WORK_TREE", &top)],
        &[("GIT_COMMON_DIR", &git_dir)],
        &[("GIT_CEILING_DIRECTORIES", &above)],
        &[("GIT_OBJECT_DIRECTORY", "/nowhere")],
        &[("GIT_INDEX_FILE", "/nowhere")],
        &[("GIT_NAMESPACE", "x")],
        &[("GIT_REPLACE_REF_BASE", "refs/x/")],
        &[("GIT_CONFIG", "/nowhere")],
        &[
            ("GIT_CONFIG_COUNT", "1"),
            ("GIT_CONFIG_KEY_0", "core.worktree"),
            ("GIT_CONFIG_VALUE_0", &top),
        ],
        &[
            ("GIT_CONFIG_COUNT", "1"),
            ("GIT_CONFIG_KEY_0", "extensions.fromTheFuture"),
            ("GIT_CONFIG_VALUE_0", "true"),
        ],
        &[("GIT_CONFIG_PARAMETERS", "'core.bare=true'")],
    ] {
        for folder in ["", "payments"] {
            let (outcome, _) = counted_in(&repo, &repo.root.join(folder), LINE, variables);
            assert_eq!(
                (outcome.code, &outcome.stdout, &outcome.stderr),
                (plain.code, &plain.stdout, &plain.stderr),
                "{variables:?} {folder}"
            );
        }
    }
}

#[test]
fn what_changes_history_changes_it_in_both_ways_alike() {
    let repo = scene();
    assert_eq!(counted(&repo, LINE).1, 0);
    is_the_same_without(&repo, "a plain clone").expect(3, &["prot/rules.txt"]);

    let origin = scene();
    let shared = origin.beside("shared");
    let (from, to) = (&origin.root, &shared.root);
    let line = ["clone", "--quiet", "--shared", "--branch", "f"].map(std::ffi::OsStr::new);
    origin.git(line.into_iter().chain([from.as_os_str(), to.as_os_str()]));
    shared.git(["branch", "main", "origin/main"]);
    assert!(shared.root.join(".git/objects/info/alternates").exists());
    is_the_same_without(&shared, "alternates").expect(3, &["prot/rules.txt"]);

    let shallow = origin.clone_as("shallow", &["--depth", "1", "--branch", "f", "--no-single-branch"]);
    shallow.git(["branch", "main", "origin/main"]);
    is_the_same_without(&shallow, "a shallow clone").expect(3, &["prot/rules.txt"]);

    // Neither a graft nor a replaced commit hides the change.
    let grafted = scene();
    fs::create_dir_all(grafted.root.join(".git/info")).expect("a folder");
    fs::write(
        grafted.root.join(".git/info/grafts"),
        format!("{}\n", grafted.id("HEAD")),
    )
    .expect("it can be written");
    is_the_same_without(&grafted, "grafts").expect(3, &["prot/rules.txt"]);
    let replaced = scene();
    replaced.git(["replace", "HEAD", "main"]);
    is_the_same_without(&replaced, "a replaced commit").expect(3, &["prot/rules.txt"]);

    let packed = scene();
    packed.git(["pack-refs", "--all"]);
    packed.git(["gc", "--quiet"]);
    is_the_same_without(&packed, "packed refs").expect(3, &["prot/rules.txt"]);
}
