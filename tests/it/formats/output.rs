//! `--output FORMAT=FILE`.

use std::fs;

use super::{ALL, broken, check, sound};

#[test]
fn several_formats_at_once_are_each_what_the_format_alone_is() {
    let repo = broken();
    let mut line = vec!["check".to_owned(), "--base".to_owned(), "main".to_owned()];
    for format in ALL {
        line.extend(["--output".to_owned(), format!("{format}=../{format}.out")]);
    }
    let outcome = repo.agentgate(&line);
    outcome.expect(3, &[]);
    assert_eq!(
        outcome.last_line(),
        "invariants broken; 4 findings in 4 paths (exit 3)",
        "{outcome}"
    );
    for format in ALL {
        let written = fs::read_to_string(repo.top().join(format!("{format}.out"))).expect("it was written");
        assert_eq!(written, check(&repo, format).stdout, "{format}");
    }
}

#[test]
fn a_file_is_relative_to_the_folder_that_agentgate_was_started_in() {
    let repo = sound();
    repo.command(["check", "--base", "main", "--output", "json=here.json"])
        .cwd(repo.root.join("payments"))
        .run()
        .expect(0, &[]);
    assert!(repo.root.join("payments/here.json").is_file());
    repo.command([
        "-C",
        "payments",
        "check",
        "--base",
        "main",
        "--output",
        "json=there.json",
    ])
    .run()
    .expect(0, &[]);
    assert!(repo.root.join("payments/there.json").is_file());
}

#[test]
fn a_report_that_cannot_be_written_is_1_and_the_verdict_is_printed_all_the_same() {
    let repo = sound();
    let outcome = repo.agentgate(["check", "--base", "main", "--output", "sarif=no/such/a.sarif"]);
    outcome.expect(
        1,
        &[
            "invariants ok; 1 path checked",
            "the sarif report cannot be written to no/such/a.sarif: No such file or directory",
            "hint: mkdir -p no/such",
        ],
    );
    // It does not keep the others from being written, and hides no finding.
    let repo = broken();
    let line = [
        "check",
        "--base",
        "main",
        "--output",
        "sarif=payments",
        "--output",
        "junit=../j.xml",
    ];
    let outcome = repo.agentgate(line);
    outcome.expect(
        1,
        &[
            "invariants broken; 4 findings",
            "cannot be written to payments: what is there is no regular",
        ],
    );
    assert!(repo.top().join("j.xml").is_file());
    assert!(repo.root.join("payments").is_dir());
}

#[test]
fn a_device_is_not_replaced_by_a_file() {
    let repo = sound();
    let pipe = repo.top().join("pipe");
    repo.program("mkfifo").args([&pipe]).run().success();
    let outcome = repo.agentgate(["check", "--base", "main", "--output", "sarif=../pipe"]);
    outcome.expect(1, &["what is there is no regular file"]);
    let kind = fs::symlink_metadata(&pipe).expect("it is there").file_type();
    assert!(std::os::unix::fs::FileTypeExt::is_fifo(&kind));
}

#[test]
fn two_reports_in_one_file_are_64_and_nothing_is_written() {
    let repo = sound();
    let line = [
        "check",
        "--base",
        "main",
        "--output",
        "sarif=../x",
        "--output",
        "json=../x",
    ];
    repo.agentgate(line).expect(64, &["two reports are to go to ../x"]);
    let line = [&line[..], &["--fly"]].concat();
    repo.agentgate(line).expect(64, &[]);
}

#[test]
fn a_refusal_goes_to_the_files_too() {
    let repo = sound();
    fs::write(repo.top().join("old.json"), "[]").expect("it can be written");
    for options in [&["--base", "nowhere"][..], &["--base", "main", "--fly"]] {
        let line = [&["check", "--output", "gitlab=../old.json"][..], options].concat();
        let outcome = repo.agentgate(&line);
        assert!(matches!(outcome.code, 2 | 64), "{outcome}");
        let written = fs::read_to_string(repo.top().join("old.json")).expect("it is there");
        assert!(written.contains("\"blocker\""), "{written}");
        fs::write(repo.top().join("old.json"), "[]").expect("it can be written");
    }
}

#[test]
fn an_older_report_is_replaced_whole() {
    let repo = sound();
    fs::write(repo.top().join("r.json"), "x".repeat(100_000)).expect("it can be written");
    repo.agentgate(["check", "--base", "main", "--output", "json=../r.json"])
        .expect(0, &[]);
    let written = fs::read_to_string(repo.top().join("r.json")).expect("it is there");
    assert_eq!(written, check(&repo, "json").stdout);
}

#[test]
fn no_report_is_written_into_a_git_dir() {
    let repo = sound();
    repo.git(["worktree", "add", "--quiet", "--detach", "../linked"]);
    std::os::unix::fs::symlink(".git/refs", repo.root.join("way")).expect("a link can be made");
    let linked = repo.beside("linked");
    let bare = repo.clone_as("bare.git", &["--bare"]);
    let other = crate::support::repo::Repo::new();
    let pointer = fs::read(linked.root.join(".git")).expect("a .git file");
    let index = fs::read(repo.root.join(".git/index")).expect("an index");
    let elsewhere = format!("json={}/.git/info/x", other.root.display());
    for (repo, output) in [
        (&repo, "json=.git/index"),
        (&repo, "json=.git"),
        (&repo, "json=.git/no/such/x"),
        (&repo, "sarif=payments/../.git/../.git/index"),
        (&repo, "json=way/heads/x"),
        (&repo, "json=.GIT/x"),
        (&repo, &elsewhere),
        (&linked, "json=.git"),
        (&linked, "json=../repo/.git/worktrees/linked/index"),
        (&bare, "json=x.json"),
        (&bare, "json=refs/heads/x"),
    ] {
        for more in [&[][..], &["--fly"]] {
            let line = [&["check", "--range", "main..main", "--output", output], more].concat();
            let outcome = repo.agentgate(&line);
            assert_eq!(outcome.code, 64, "{output}: {outcome}");
            if more.is_empty() {
                outcome.expect(
                    64,
                    &["which no report is written into", "hint: give a file outside of it"],
                );
            }
        }
    }
    assert_eq!(fs::read(linked.root.join(".git")).expect("a .git file"), pointer);
    assert_eq!(fs::read(repo.root.join(".git/index")).expect("an index"), index);
    assert!(!repo.root.join(".git/refs/heads/x").exists());
    assert!(!other.root.join(".git/info/x").exists());
    assert!(!bare.root.join("x.json").exists() && !bare.root.join("refs/heads/x").exists());
}

#[test]
fn a_file_named_like_a_git_dir_is_no_reason_to_refuse_another() {
    let repo = sound();
    fs::create_dir_all(repo.root.join("payments/objects")).expect("a folder");
    fs::write(repo.root.join("payments/HEAD"), "x").expect("it can be written");
    for output in ["json=payments/x.json", "json=.github.json", "json=a.git"] {
        repo.agentgate(["check", "--base", "main", "--output", output])
            .expect(0, &[]);
    }
}

#[test]
fn a_dash_is_no_file() {
    let repo = sound();
    let outcome = repo.agentgate(["check", "--base", "main", "--output", "json=-"]);
    outcome.expect(
        64,
        &["hint: --format json, or --output json=./- for a file of that name"],
    );
    assert!(!repo.root.join("-").exists());
    repo.agentgate(["check", "--base", "main", "--output", "json=./-"])
        .expect(0, &[]);
    assert!(repo.root.join("-").is_file());
}

#[test]
fn a_file_may_have_any_name() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let repo = sound();
    for more in [&[][..], &["--fly"]] {
        let mut line = vec![OsStr::new("check"), OsStr::new("--base"), OsStr::new("main")];
        line.extend([OsStr::new("--output"), OsStr::from_bytes(b"json=../\xff=.json")]);
        line.extend(more.iter().map(OsStr::new));
        repo.agentgate(&line);
        let file = repo.top().join(OsStr::from_bytes(b"\xff=.json"));
        assert!(file.is_file(), "{more:?}");
        fs::remove_file(file).expect("it is there");
    }
}

#[test]
fn one_file_by_two_names_is_one_file() {
    let repo = sound();
    let line = [
        "check",
        "--base",
        "main",
        "--output",
        "sarif=../x",
        "--output",
        "json=payments/../../x",
    ];
    repo.agentgate(line).expect(64, &["two reports are to go to"]);
    assert!(!repo.top().join("x").exists());
}

#[test]
fn a_link_of_the_kernels_is_not_replaced_by_a_file() {
    let repo = sound();
    // Through the same folder as /dev/stdout, but with nothing to lose.
    let outcome = repo.agentgate(["check", "--base", "main", "--output", "sarif=/proc/self/fd/1"]);
    outcome.expect(1, &["the folder is the kernel's", "`--format`"]);
}
