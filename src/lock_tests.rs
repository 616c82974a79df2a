use super::*;

fn holder(job: &str) -> Holder {
    let process = ProcessId::current().expect("identity");
    Holder {
        job: job.to_owned(),
        process,
        command: "agentgate run TASK.md".to_owned(),
    }
}

#[expect(clippy::disallowed_methods, reason = "another program that takes the lock")]
fn flock(path: &Path, script: &str) -> std::process::Child {
    let mut command = std::process::Command::new("flock");
    command
        .arg("--exclusive")
        .arg("--nonblock")
        .arg(path)
        .args(["sh", "-c", script]);
    command
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("flock(1)")
}

#[test]
fn one_at_a_time_and_the_other_is_told_who() {
    let dir = tempfile::tempdir().expect("folder");
    let guard = CloneLock::acquire(dir.path(), &holder("one"), Wait::No).expect("free");
    match CloneLock::acquire(dir.path(), &holder("two"), Wait::No).expect_err("held") {
        LockError::Held { holder: Some(told), .. } => assert_eq!(told.job, "one"),
        other => panic!("{other:?}"),
    }
    let started = Instant::now();
    let waited = CloneLock::acquire(dir.path(), &holder("two"), Wait::For(Duration::from_millis(300)));
    assert!(matches!(waited, Err(LockError::Held { .. })));
    assert!(started.elapsed() >= Duration::from_millis(300));
    drop(guard);
    assert!(dir.path().join(CloneLock::FILE).exists(), "the lock file stays");
    assert!(!dir.path().join(CloneLock::HOLDER).exists());
    CloneLock::acquire(dir.path(), &holder("two"), Wait::No).expect("free again");
}

#[test]
fn a_waiter_gets_it_once_it_is_free() {
    let dir = tempfile::tempdir().expect("folder");
    let guard = CloneLock::acquire(dir.path(), &holder("one"), Wait::No).expect("free");
    std::thread::scope(|scope| {
        let waiter = scope.spawn(|| CloneLock::acquire(dir.path(), &holder("two"), Wait::For(Duration::from_secs(20))));
        std::thread::sleep(Duration::from_millis(100));
        drop(guard);
        waiter.join().expect("thread").expect("taken");
    });
}

#[test]
fn flock_of_a_script_excludes_us_and_we_exclude_it() {
    use std::io::{Read, Write};
    let dir = tempfile::tempdir().expect("folder");
    let path = dir.path().join(CloneLock::FILE);
    let mut script = flock(&path, "echo held; read line");
    script
        .stdout
        .take()
        .expect("pipe")
        .read_exact(&mut [0; 5])
        .expect("it has the lock");
    let refused = CloneLock::acquire(dir.path(), &holder("one"), Wait::No);
    assert!(
        matches!(refused, Err(LockError::Held { holder: None, .. })),
        "{refused:?}"
    );
    assert!(FileLock::is_held(&path).expect("probe"));
    script
        .stdin
        .take()
        .expect("pipe")
        .write_all(b"go\n")
        .expect("told to end");
    assert!(script.wait().expect("ended").success());
    let _guard = CloneLock::acquire(dir.path(), &holder("one"), Wait::No).expect("free");
    assert!(
        !flock(&path, "true").wait().expect("ended").success(),
        "flock(1) is refused"
    );
}

#[test]
fn what_a_dead_or_unknown_holder_wrote_does_not_count() {
    let dir = tempfile::tempdir().expect("folder");
    let mut dead = holder("dead");
    dead.process.start_time += 1;
    let note = dir.path().join(CloneLock::HOLDER);
    files::replace(&note, &serde_json::to_vec(&dead).expect("json"), 0o644).expect("written");
    assert_eq!(CloneLock::holder(dir.path()), None);
    files::replace(&note, &serde_json::to_vec(&holder("lives")).expect("json"), 0o644).expect("written");
    CloneLock::acquire(dir.path(), &holder("one"), Wait::No).expect("the note blocks nobody");
}

#[test]
fn a_lock_file_that_cannot_be_one_is_named() {
    let dir = tempfile::tempdir().expect("folder");
    let path = dir.path().join(CloneLock::FILE);
    std::os::unix::fs::symlink("elsewhere", &path).expect("link");
    let error = CloneLock::acquire(dir.path(), &holder("one"), Wait::No).expect_err("a link");
    assert!(
        error
            .to_string()
            .starts_with(&format!("locking not available at {}: ", path.display())),
        "{error}"
    );
    assert!(!dir.path().join("elsewhere").exists());
    let missing = CloneLock::acquire(&dir.path().join("nowhere"), &holder("one"), Wait::No);
    assert!(matches!(missing, Err(LockError::Unavailable { .. })), "{missing:?}");
}

#[test]
fn a_file_lock_is_exclusive_until_dropped() {
    let dir = tempfile::tempdir().expect("folder");
    let path = dir.path().join("owner.lock");
    assert!(!FileLock::is_held(&path).expect("missing"));
    let lock = FileLock::try_exclusive(&path).expect("free");
    assert!(FileLock::is_held(&path).expect("probe"));
    assert!(matches!(FileLock::try_exclusive(&path), Err(LockError::Held { .. })));
    drop(lock);
    assert!(!FileLock::is_held(&path).expect("probe"));
    let _again = FileLock::try_exclusive(&path).expect("free");
}
