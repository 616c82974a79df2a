//! No layer at all: refused with the reason, before anything is made.

use super::attacks::GONE;
use super::scene::{JOB, Scene, Without};
use crate::support::jobs::{free, jobs_root, record};
use crate::support::person::Person;

#[test]
fn with_no_layer_nothing_is_begun() {
    let [landlock, namespaces, mounts] = GONE;
    for person in Person::all() {
        let scene = Scene::new(person);
        let kept = std::fs::read_dir(jobs_root(&scene.repo))
            .expect("a job was kept")
            .count();
        for (errno, name) in [
            (libc::ENOSYS, "ENOSYS"),
            (libc::EPERM, "EPERM"),
            (libc::EOPNOTSUPP, "EOPNOTSUPP"),
        ] {
            for (others, words) in [(namespaces, "namespaces are blocked"), (mounts, "mounts are blocked")] {
                let calls = [landlock, others].concat();
                let outcome = scene
                    .run(Some(Without { calls: &calls, errno }), &["sh", "-c", "touch ran"])
                    .run();
                let filter = format!("by the container's system call filter ({name})");
                let landlock = if errno == libc::EOPNOTSUPP {
                    "Landlock is built into the kernel but not in its boot list".to_owned()
                } else {
                    format!("Landlock is blocked, it seems {filter}")
                };
                let other = format!("{words} {filter}");
                let remedy = "let the container's filter pass landlock_*, unshare and mount_setattr";
                outcome.expect(
                    21,
                    &["inside its worktree", &landlock, &other, remedy, "--allow-unconfined"],
                );
                assert!(!record(&scene.repo, JOB).exists(), "{outcome}");
                let now = std::fs::read_dir(jobs_root(&scene.repo))
                    .expect("a job was kept")
                    .count();
                assert_eq!(now, kept, "{outcome}");
                let listed = scene.repo.git(["worktree", "list"]);
                assert_eq!(listed.lines().count(), 2, "{listed}");
                free(&scene.repo);
            }
        }
    }
}
