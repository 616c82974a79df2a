//! Nothing that an agent started lives on: not after its end, and not after ours.

use std::fs;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use super::attacks::GONE;
use super::scene::{JOB, Scene, Without, family, marked};
use crate::support::jobs::{event, events, jobs_root, until};
use crate::support::person::Person;

const DAEMONS: &str = include_str!("daemons.py");

/// Left alone they live for a minute, so that what is gone by then was ended. The processors are shared with other tests.
const SOON: Duration = Duration::from_secs(10);

/// An agent that leaves daemons behind, and the mark by which they are found.
fn daemons(person: Person, kind: &str) -> (Scene, String) {
    // Tests run side by side, and each finds its own alone.
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let scene = Scene::bare(person);
    fs::write(scene.repo.top().join("daemons.py"), DAEMONS).expect("it can be written");
    let mark = format!("daemons-{kind}-{}-{count}-", std::process::id());
    (scene, mark)
}

/// None is alive so long from now; and none comes back, as one that goes on forking would. Our own warden,
/// which has the agent's command line in its own, looks on a while for more.
#[track_caller]
fn none_is_left(mark: &str, limit: Duration) {
    let ended = Instant::now();
    let mut left = marked(mark);
    while !left.is_empty() {
        let agents = left
            .iter()
            .any(|(_, command)| !command.starts_with("agentgate __exec "));
        let most = if agents { limit } else { limit.max(SOON) };
        assert!(ended.elapsed() < most, "{} are alive: {:?}", left.len(), left.first());
        std::thread::sleep(Duration::from_millis(10));
        left = marked(mark);
    }
}

fn each(mut case: impl FnMut(Person, &'static str, Option<Without<'_>>)) {
    let errno = libc::EPERM;
    let [_, calls, _] = GONE;
    for person in Person::all() {
        case(person, "namespace", None);
        case(person, "warden", Some(Without { calls, errno }));
    }
}

#[test]
fn no_daemon_outlives_its_job() {
    each(|person, kind, without| {
        let (scene, mark) = daemons(person, kind);
        let script = scene.repo.top().join("daemons.py");
        let outcome = scene
            .run(without, &["python3", &script.to_string_lossy(), &mark])
            .run()
            .success();
        none_is_left(&mark, SOON);
        let leftovers = event(&events(&scene.repo, JOB), "step.finished")["leftovers"].as_u64();
        assert!(leftovers.is_some_and(|count| count > 100), "{leftovers:?}\n{outcome}");
    });
}

/// The processes between agentgate and the agent: where one is killed, the job has failed and nothing goes on.
#[test]
fn no_daemon_outlives_the_stub() {
    each(|person, kind, without| {
        let (scene, mark) = daemons(person, kind);
        let script = scene.repo.top().join("daemons.py");
        let mut running = scene
            .run(without, &["python3", &script.to_string_lossy(), &mark, "stay"])
            .spawn();
        let sign = jobs_root(&scene.repo).join(JOB).join("at-work");
        until("the daemons", || sign.exists() || !running.is_running());
        let [_, stub] = &family(running.pid())[..] else {
            panic!("agentgate has one child");
        };
        let stub = rustix::process::Pid::from_raw(stub.parse().expect("a number")).expect("a pid");
        rustix::process::kill_process(stub, rustix::process::Signal::KILL).expect("it is there");
        running.wait().expect(16, &[]);
        none_is_left(&mark, SOON);
    });
}

#[test]
fn no_daemon_outlives_agentgate() {
    each(|person, kind, without| {
        let (scene, mark) = daemons(person, kind);
        let script = scene.repo.top().join("daemons.py");
        let mut running = scene
            .run(without, &["python3", &script.to_string_lossy(), &mark, "stay"])
            .spawn();
        let sign = jobs_root(&scene.repo).join(JOB).join("at-work");
        until("the daemons", || sign.exists() || !running.is_running());
        assert!(marked(&mark).len() > 100);
        running.signal(9);
        running.wait();
        // A warden has to outrun the storm by itself, on whatever the other tests leave of the processors.
        let limit = if without.is_some() { 2 * SOON } else { SOON };
        none_is_left(&mark, limit);
    });
}
