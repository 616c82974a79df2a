//! A torn tail that was set aside by an owner that was killed before it had said so.

use std::fs;

use super::super::support::scene::{JOB, events, record, with_kept};

#[test]
fn the_next_owner_names_it() {
    let repo = with_kept();
    let count = events(&repo, JOB).len();
    let name = format!("torn-{}", count + 1);
    fs::write(record(&repo, JOB).join(&name), "{\"v\":1,\"seq\":").expect("it can be written");
    repo.agentgate(["verify", JOB])
        .expect(25, &[&format!("{name} is named by no event of the log")]);
    repo.agentgate(["open", JOB]).success();
    let owned = events(&repo, JOB).pop().expect("an event");
    assert_eq!(owned["event"], "job.owned");
    assert_eq!(owned["attempt"][0]["name"], name);
    repo.agentgate(["verify", JOB]).success();
    // Named once, it is no reason for another owner.
    repo.agentgate(["open", JOB]).success();
    assert_eq!(events(&repo, JOB).len(), count + 1);
}

#[test]
fn what_was_set_aside_before_is_not_written_over() {
    let repo = with_kept();
    let count = events(&repo, JOB).len();
    let name = format!("torn-{}", count + 1);
    fs::write(record(&repo, JOB).join(&name), "first").expect("it can be written");
    let log = record(&repo, JOB).join("events.jsonl");
    let text = fs::read_to_string(&log).expect("there is a log");
    fs::write(&log, format!("{text}second")).expect("it can be written");
    repo.agentgate(["drop", JOB]).success();
    let read = |name: &str| fs::read_to_string(record(&repo, JOB).join(name)).expect("it is there");
    assert_eq!(
        (read(&name).as_str(), read(&format!("{name}-2")).as_str()),
        ("first", "second")
    );
    repo.agentgate(["verify", JOB]).success();
}
