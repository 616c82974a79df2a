//! The home that each job has of its own: fresh, recognisable, gone with the job; the person's
//! tools still work in it, and nothing of the person's is changed.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::support::jobs::{job, jobs_root, run, shown};
use super::support::program::{Outcome, Program};
use super::support::repo::Repo;

fn private(repo: &Repo, id: &str) -> PathBuf {
    jobs_root(repo).join(".jobs").join(id)
}

/// Everything below a folder but what the tests' own git makes.
fn listing(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).expect("it can be listed") {
            let entry = entry.expect("an entry");
            if entry.file_type().expect("a type").is_dir() {
                found.insert(entry.path(), Vec::new());
                open.push(entry.path());
            } else {
                found.insert(entry.path(), fs::read(entry.path()).unwrap_or_default());
            }
        }
    }
    found
}

/// The tester's folder of a tool, from its variable or below the tester's home.
fn of_tester(variable: &str, below: &str) -> PathBuf {
    let named = std::env::var_os(variable).map(PathBuf::from);
    named.unwrap_or_else(|| PathBuf::from(std::env::var_os("HOME").unwrap_or_default()).join(below))
}

/// Whether a program is on PATH; a test that needs it says so and ends.
fn there(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).any(|folder| folder.join(program).is_file());
    if !found {
        eprintln!("skipped: no {program} on PATH");
    }
    found
}

#[track_caller]
fn slow(program: Program) -> Outcome {
    program.deadline(Duration::from_secs(300)).run()
}

#[test]
fn every_place_to_write_to_lies_below_the_private_folder_and_is_there() {
    let repo = Repo::new();
    let before = listing(&repo.home());
    let script = "env -0 | sort -z > env.bin
        for name in HOME XDG_CONFIG_HOME XDG_CACHE_HOME XDG_DATA_HOME XDG_STATE_HOME XDG_RUNTIME_DIR TMPDIR TMP TEMP \
            TMUX_TMPDIR npm_config_cache PIP_CACHE_DIR GOCACHE UV_CACHE_DIR CCACHE_DIR CARGO_HOME CLAUDE_CONFIG_DIR \
            CODEX_HOME COPILOT_HOME; do
            eval dir=\\$$name; touch $dir/probe && echo $name $(stat -c %a $dir) >> made.txt; rm $dir/probe
        done";
    run(&repo, "j1", script).expect(0, &[]);
    let private = private(&repo, "j1");
    let made = shown(&repo, "j1", "made.txt");
    assert_eq!(made.lines().count(), 19, "{made}");
    assert!(made.lines().all(|line| line.ends_with(" 700")), "{made}");
    let environment = shown(&repo, "j1", "env.bin");
    let person = repo.home();
    for entry in environment.split('\0').filter(|entry| !entry.is_empty()) {
        let (name, value) = entry.split_once('=').expect("a variable");
        assert!(!value.contains(&*person.to_string_lossy()), "{entry}");
        if made.lines().any(|line| line.starts_with(&format!("{name} "))) {
            assert!(Path::new(value).starts_with(&private), "{entry}");
        }
    }
    assert!(environment.contains(&format!("\0HOME={}\0", private.join("home").display())));
    assert_eq!(listing(&person), before, "nothing of the person's changed");
    assert!(!private.exists());
}

#[test]
fn a_command_from_settings_has_the_same_home() {
    let repo = Repo::new();
    repo.change(
        "architecture/agentgate.yml",
        "version: 1\nagents:\n  implementer:\n    command: [sh, -c, 'echo $HOME > home.txt; test -d $CODEX_HOME']\n",
    );
    let task = super::support::jobs::task(&repo, "Goal: x\n");
    let outcome = repo.command(["run", "--job-id", "j1"]).args([task]).run();
    outcome.expect(0, &[]);
    let home = private(&repo, "j1").join("home");
    assert_eq!(shown(&repo, "j1", "home.txt"), home.to_string_lossy());
}

#[test]
fn git_writes_its_global_settings_there_and_the_agents_own_commits_are_recognised() {
    let repo = Repo::new();
    let before = listing(&repo.home());
    let script = "git config --global user.nick someone && git config --global --get user.nick > nick.txt
        git config --global --list --show-origin --name-only | cut -f1 | sort -u > origin.txt
        git init -q $TMPDIR/own
        for dir in . $TMPDIR/own; do
            git -C $dir commit -qm mine --allow-empty && git -C $dir log -1 --format='%an <%ae> %cn <%ce>' >> who.txt
        done";
    job(&repo, "j1", &[], script)
        .env("GIT_CONFIG_GLOBAL", repo.home().join(".gitconfig"))
        .env("GIT_AUTHOR_NAME", "The Person")
        .run()
        .expect(0, &[]);
    let who = "agent job j1 <agent-job@agentgate.invalid>";
    assert_eq!(shown(&repo, "j1", "who.txt"), format!("{who} {who}\n{who} {who}"));
    assert_eq!(shown(&repo, "j1", "nick.txt"), "someone");
    let home = private(&repo, "j1").join("home");
    assert_eq!(
        shown(&repo, "j1", "origin.txt"),
        format!("file:{}/.gitconfig", home.display())
    );
    assert_eq!(listing(&repo.home()), before);
    assert_eq!(
        repo.git(["log", "-1", "--format=%an", "agent/j1"]),
        "The Person",
        "the candidate is the person's"
    );
}

#[test]
fn what_the_person_allows_git_is_allowed() {
    let repo = Repo::new();
    let sub = repo.beside("sub");
    fs::create_dir(&sub.root).expect("it is new");
    sub.git(["init", "--quiet"]);
    sub.change("a.txt", "a\n");
    let script = format!(
        "git submodule add --quiet {} lib && cat lib/a.txt && git init -q scratch && cat scratch/.git/HEAD && rm -rf scratch",
        sub.root.display()
    );
    let outcome = run(&repo, "j1", &script);
    let log = super::support::jobs::recorded(&repo, "j1", "agent.log");
    assert!(log.contains("a\nref: refs/heads/main"), "{log}\n{outcome}");
}

#[test]
fn a_marker_of_one_job_is_not_seen_by_the_next() {
    let repo = Repo::new();
    let places = "$HOME $TMPDIR $XDG_CACHE_HOME $XDG_CONFIG_HOME $XDG_RUNTIME_DIR $CARGO_HOME $npm_config_cache $GOCACHE \
                  $CLAUDE_CONFIG_DIR $CODEX_HOME $CARGO_HOME/registry/src";
    let leave = format!(
        "for dir in {places}; do mkdir -p $dir; echo marker > $dir/marker || exit 3; done
         mkdir $HOME/closed && echo marker > $HOME/closed/marker && chmod 400 $HOME/closed/marker && chmod 500 $HOME/closed
         git config --global marker.is here; echo 1 > payments/a.ts"
    );
    run(&repo, "j1", &leave).expect(0, &[]);
    assert!(!private(&repo, "j1").exists(), "also what was made read-only is gone");
    let look =
        "! grep -rqs marker $HOME $TMPDIR; ls -A $TMPDIR > tmp.txt; test -z \"$(find $HOME $TMPDIR -name '*marker*')\"";
    run(&repo, "j2", look).expect(0, &[]);
    assert_eq!(shown(&repo, "j2", "tmp.txt"), "run");
    assert!(!private(&repo, "j2").parent().expect("a folder").exists());
}

#[test]
fn variables_that_lead_to_the_persons_files_are_not_given() {
    let repo = Repo::new();
    let rc = repo.home().join("rc");
    fs::write(&rc, "echo the rc file ran; touch rc-ran\n").expect("written");
    fs::write(repo.home().join(".bashrc"), "touch bashrc-ran\n").expect("written");
    fs::write(repo.home().join(".profile"), "touch profile-ran\n").expect("written");
    let names = [
        "BASH_ENV",
        "ENV",
        "ZDOTDIR",
        "PYTHONSTARTUP",
        "NPM_CONFIG_USERCONFIG",
        "npm_config_userconfig",
        "PIP_CONFIG_FILE",
        "AWS_CONFIG_FILE",
        "KUBECONFIG",
        "GIT_CONFIG_GLOBAL",
        "OPENCODE_CONFIG",
        "GNUPGHOME",
    ];
    let mut program = job(
        &repo,
        "j1",
        &[],
        "env -0 > env.bin; bash -c true; bash -lc true; bash -ic true; sh -ic true",
    );
    for name in names {
        program = program.env(name, &rc);
    }
    program
        .env("GIT_CONFIG_GLOBAL", repo.home().join(".gitconfig"))
        .env("NPM_CONFIG_CACHE", repo.home().join("npm"))
        .env("YARN_CACHE_FOLDER", repo.home().join("yarn"))
        .env("CARGO_TARGET_DIR", repo.home().join("target"))
        .run()
        .expect(0, &[]);
    let environment = shown(&repo, "j1", "env.bin");
    for name in names.iter().chain(&["NPM_CONFIG_CACHE"]) {
        assert!(!format!("\0{environment}").contains(&format!("\0{name}=")), "{name}");
    }
    let home = private(&repo, "j1").join("home");
    for (name, below) in [
        ("YARN_CACHE_FOLDER", ".cache/yarn"),
        ("CARGO_TARGET_DIR", ".cache/cargo-target"),
    ] {
        assert!(
            environment.contains(&format!("{name}={}", home.join(below).display())),
            "{name}"
        );
    }
    assert_eq!(repo.git(["diff", "--name-only", "main", "agent/j1"]), "env.bin");
}

#[test]
fn folders_of_tools_stay_the_persons() {
    let repo = Repo::new();
    for below in [".rustup", ".nvm", ".pyenv", ".volta", ".sdkman"] {
        fs::create_dir(repo.home().join(below)).expect("it is new");
    }
    let script = "echo \"$RUSTUP_HOME:$NVM_DIR:$PYENV_ROOT:${VOLTA_HOME}:${SDKMAN_DIR}:${RBENV_ROOT-none}\" > tools.txt; echo $PATH > path.txt";
    job(&repo, "j1", &[], script)
        .env("VOLTA_HOME", "/elsewhere")
        .run()
        .expect(0, &[]);
    let home = repo.home();
    let home = home.display();
    assert_eq!(
        shown(&repo, "j1", "tools.txt"),
        format!("{home}/.rustup:{home}/.nvm:{home}/.pyenv:/elsewhere:{home}/.sdkman:none")
    );
    let path = shown(&repo, "j1", "path.txt");
    assert!(path.starts_with(&std::env::var("PATH").expect("a PATH")), "{path}");
}

/// A person with a rustup toolchain and a registry, and no variable that names either.
fn with_rust() -> Option<Repo> {
    let (rustup, cargo) = (of_tester("RUSTUP_HOME", ".rustup"), of_tester("CARGO_HOME", ".cargo"));
    if !there("cargo") || !rustup.join("toolchains").is_dir() || !cargo.join("registry/cache").is_dir() {
        eprintln!("skipped: no rustup toolchain, or no registry");
        return None;
    }
    let repo = Repo::new();
    symlink(rustup, repo.home().join(".rustup")).expect("a link");
    fs::create_dir_all(repo.home().join(".cargo/registry")).expect("it is new");
    for part in ["registry/cache", "registry/index"] {
        copy_links(&cargo.join(part), &repo.home().join(".cargo").join(part));
    }
    fs::write(
        repo.home().join(".cargo/config.toml"),
        "[registry]\ntoken = \"cio-secret\"\n[net]\noffline = true\n",
    )
    .expect("written");
    fs::write(
        repo.home().join(".cargo/credentials.toml"),
        "[registry]\ntoken = \"cio-secret\"\n",
    )
    .expect("written");
    Some(repo)
}

fn copy_links(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("it can be made");
    for entry in fs::read_dir(from).expect("it can be listed") {
        let entry = entry.expect("an entry");
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy_links(&entry.path(), &target);
        } else {
            symlink(entry.path(), target).expect("a link");
        }
    }
}

#[test]
fn cargo_builds_with_the_persons_toolchain_and_crates_and_changes_neither() {
    let Some(repo) = with_rust() else { return };
    repo.write(
        "Cargo.toml",
        "[package]\nname = \"small\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
    );
    repo.write("src/main.rs", "fn main() { println!(\"std only\"); }\n");
    repo.write(".gitignore", "target\n");
    repo.commit("a crate");
    let before = listing(&repo.home());
    let script = "set -e
        cargo run -q > one.txt
        printf '[dependencies]\\nitoa = \"1\"\\n' >> Cargo.toml
        echo 'fn main() { println!(\"{}\", itoa::Buffer::new().format(7)); }' > src/main.rs
        cargo run -q > two.txt
        test -d \"$CARGO_HOME/registry/src\"
        ! grep -r cio-secret \"$CARGO_HOME\"
        ls \"$CARGO_HOME\" > cargo.txt";
    slow(job(&repo, "j1", &[], script)).expect(0, &[]);
    assert_eq!(shown(&repo, "j1", "one.txt"), "std only");
    assert_eq!(shown(&repo, "j1", "two.txt"), "7");
    assert!(shown(&repo, "j1", "cargo.txt").contains("config.toml"));
    assert_eq!(listing(&repo.home()), before);
}

#[test]
fn cargo_builds_a_git_dependency_that_the_person_has_fetched() {
    let Some(repo) = with_rust() else { return };
    let lib = repo.beside("lib");
    fs::create_dir(&lib.root).expect("it is new");
    lib.git(["init", "--quiet"]);
    lib.write(
        "Cargo.toml",
        "[package]\nname = \"lib\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
    );
    lib.change("src/lib.rs", "pub fn seven() -> u32 { 7 }\n");
    repo.write(
        "Cargo.toml",
        format!(
            "[package]\nname = \"small\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[dependencies]\nlib = {{ git = \"file://{}\" }}\n",
            lib.root.display()
        ),
    );
    repo.write("src/main.rs", "fn main() { println!(\"{}\", lib::seven()); }\n");
    repo.write(".gitignore", "target\n");
    let fetch = repo
        .program("cargo")
        .args(["fetch", "-q"])
        .env("CARGO_NET_OFFLINE", "false");
    slow(fetch).success();
    repo.commit("a crate");
    fs::rename(&lib.root, repo.top().join("gone")).expect("it can be moved");
    let before = listing(&repo.home().join(".cargo/git/db"));
    slow(job(&repo, "j1", &[], "cargo run -q --offline --locked > out.txt")).expect(0, &[]);
    assert_eq!(shown(&repo, "j1", "out.txt"), "7");
    assert_eq!(listing(&repo.home().join(".cargo/git/db")), before);
}

#[test]
fn python_makes_a_virtual_environment_and_programs_find_the_persons_packages() {
    if !there("python3") {
        return;
    }
    let repo = Repo::new();
    repo.write(".gitignore", "venv\n");
    repo.commit("ignore");
    // The tester's own pyenv, where python3 is one of its shims.
    let pyenv = of_tester("PYENV_ROOT", ".pyenv");
    let version = repo
        .program("python3")
        .args(["-c", "import sys; print('python%d.%d' % sys.version_info[:2])"])
        .env("PYENV_ROOT", &pyenv)
        .run()
        .success();
    let packages = repo
        .home()
        .join(".local/lib")
        .join(version.last_line())
        .join("site-packages");
    fs::create_dir_all(&packages).expect("it is new");
    fs::write(packages.join("of_the_person.py"), "word = 'found'\n").expect("written");
    let script = "set -e
        python3 -c 'import of_the_person; print(of_the_person.word)' > user.txt
        python3 -m venv --without-pip venv
        venv/bin/python -c 'import sys; print(sys.prefix != sys.base_prefix)' > venv.txt
        ! venv/bin/python -c 'import of_the_person' 2> /dev/null
        python3 -c 'import multiprocessing as m; print(sum(m.Pool(2).map(abs, [-1, -2])))' > pool.txt";
    slow(job(&repo, "j1", &[], script).env("PYENV_ROOT", &pyenv)).expect(0, &[]);
    for (name, text) in [("user.txt", "found"), ("venv.txt", "True"), ("pool.txt", "3")] {
        assert_eq!(shown(&repo, "j1", name), text);
    }
}

#[test]
fn npm_installs_a_local_package_and_sees_the_persons_mirror_without_the_token() {
    if !there("npm") {
        return;
    }
    let repo = Repo::new();
    repo.write("package.json", "{\"name\": \"app\", \"version\": \"1.0.0\"}\n");
    repo.write(
        "local/package.json",
        "{\"name\": \"local\", \"version\": \"1.0.0\", \"main\": \"index.js\"}\n",
    );
    repo.write("local/index.js", "module.exports = 7;\n");
    repo.write(".gitignore", "node_modules\n");
    repo.commit("an app");
    fs::write(
        repo.home().join(".npmrc"),
        "registry=https://mirror.invalid/\naudit=false\nfund=false\nupdate-notifier=false\n//mirror.invalid/:_authToken=npm_secret\ncache=/elsewhere\n",
    )
    .expect("written");
    let before = listing(&repo.home());
    let script = "set -e
        npm install --offline --no-save ./local > /dev/null
        node -p 'require(\"local\")' > out.txt
        cat $HOME/.npmrc > rc.txt
        npm config get registry >> out.txt
        npm config get cache > cache.txt";
    slow(job(&repo, "j1", &[], script)).expect(0, &[]);
    assert_eq!(shown(&repo, "j1", "out.txt"), "7\nhttps://mirror.invalid/");
    assert!(!shown(&repo, "j1", "rc.txt").contains("npm_secret"));
    let cache = private(&repo, "j1").join("home/.npm");
    assert_eq!(shown(&repo, "j1", "cache.txt"), cache.to_string_lossy());
    assert_eq!(listing(&repo.home()), before);
}

#[test]
fn a_temporary_folder_too_deep_for_a_socket_is_told() {
    let repo = Repo::new();
    let id = "j".repeat(64);
    let outcome = run(&repo, &id, "echo 1 > payments/a.ts");
    let socket = private(&repo, &id).join("tmp/tmux-0/default");
    assert_eq!(
        outcome
            .stderr
            .contains("a tmux server of the agent cannot listen there"),
        socket.as_os_str().len() + rustix::process::getuid().as_raw().to_string().len() - 1 > 107,
        "{outcome}"
    );
    let short = run(&repo, "j1", "echo 1 > payments/a.ts");
    assert!(!short.stderr.contains("a tmux server of the agent"), "{short}");
}

/// A job has a copy of its own agent's login at most; the person's file, and other agents', are out of reach.
#[test]
fn logins_of_agents_in_the_persons_home_cannot_be_read() {
    let repo = Repo::new();
    let logins = [
        ".codex/auth.json",
        ".claude/.credentials.json",
        ".local/share/opencode/auth.json",
    ];
    let mut script = String::from("echo 1 > payments/a.ts");
    for login in logins {
        let file = repo.home().join(login);
        fs::create_dir_all(file.parent().expect("a folder")).expect("it can be made");
        fs::write(&file, "SECRET").expect("it can be written");
        script.push_str(&format!("; cat {} >> payments/a.ts", file.display()));
    }
    script.push_str("; true");
    run(&repo, "j1", &script).expect(0, &[]);
    assert_eq!(shown(&repo, "j1", "payments/a.ts"), "1");
    // That is the walls' doing.
    job(&repo, "j2", &["--confinement", "off"], &script)
        .run()
        .expect(0, &[]);
    assert_eq!(shown(&repo, "j2", "payments/a.ts"), "1\nSECRETSECRETSECRET");
}
