//! What is no file and still outside: System V objects, keyrings, and TCP where it is restricted.

use std::fs;
use std::net::TcpListener;

use super::scene::{JOB, Scene};
use crate::support::jobs::recorded;
use crate::support::person::Person;

const APART: &str = include_str!("apart.py");

fn scene(person: Person) -> (Scene, String) {
    let scene = Scene::bare(person);
    let script = scene.repo.top().join("apart.py");
    fs::write(&script, APART).expect("it can be written");
    (scene, script.to_string_lossy().into_owned())
}

#[test]
fn objects_and_keys_of_the_persons_processes_are_out_of_reach() {
    for person in Person::all() {
        let (scene, script) = scene(person);
        // Two cases at once must not share a key.
        let key = (std::process::id() * 2 + person.number() % 2).to_string();
        let (binary, task) = (scene.repo.binary(), scene.repo.top().join("TASK.md"));
        let task = task.to_string_lossy();
        let run = [
            "python3", &script, "person", &key, &binary, "run", "--job-id", JOB, &task,
        ];
        let agent = ["--", "python3", &script, "agent", &key];
        let outcome = scene.repo.program(run[0]).args(&run[1..]).args(agent).run();
        // It changed nothing.
        outcome.expect(15, &[]);
        for line in ["memory after: person's", "queue after: there", "key after: there"] {
            assert!(outcome.stdout.contains(line), "{outcome}");
        }
        let log = recorded(&scene.repo, JOB, "agent.log");
        assert_eq!(log.lines().count(), 3, "{log}");
        assert!(!log.contains("REACHED"), "{log}");
    }
}

#[test]
fn tcp_that_is_denied_has_no_other_door() {
    let server = TcpListener::bind("127.0.0.1:0").expect("a port");
    server.set_nonblocking(true).expect("it can be asked");
    let port = server.local_addr().expect("it has one").port().to_string();
    for person in Person::all() {
        for (options, is_open) in [
            (&["--network", "deny-tcp"][..], false),
            (&["--network", "1"][..], false),
            (&["--network", &port][..], true),
        ] {
            let (scene, script) = scene(person);
            let task = scene.repo.top().join("TASK.md");
            let run = scene.repo.command(["run", "--job-id", JOB]).args(options).args([task]);
            run.args(["--", "python3", &script, "connect", &port])
                .run()
                .expect(15, &[]);
            let log = recorded(&scene.repo, JOB, "agent.log");
            assert!(log.ends_with("unix socket: works\n"), "{log}");
            let reached: Vec<&str> = log.lines().filter(|line| line.ends_with("REACHED")).collect();
            let expected = if is_open { vec!["connect: REACHED"] } else { Vec::new() };
            assert_eq!(reached, expected, "{log}");
            assert_eq!(server.accept().is_ok(), is_open, "{log}");
        }
    }
}
