use super::*;

fn process(pid: i32, parent: i32, start_time: u64) -> Stat {
    Stat {
        pid,
        state: b'S',
        parent,
        group: pid,
        session: pid,
        start_time,
    }
}

fn me() -> i32 {
    rustix::process::getpid().as_raw_pid()
}

#[test]
fn descendants_are_followed_and_bystanders_are_not() {
    let bystanders = HashSet::from([(-4, 4)]);
    let mut ours = Descendants::new(&bystanders);
    let processes = [
        process(-2, me(), 2),
        process(-3, -2, 3),
        process(-4, me(), 4),
        process(-5, -4, 5),
        process(-6, 1, 6),
    ];
    let look = |pid| processes.iter().find(|process| process.pid == pid).copied();
    let adopted: Vec<bool> = processes.iter().map(|process| ours.adopt(*process, look)).collect();
    assert_eq!(adopted, [true, true, false, false, false]);
    assert!(!ours.adopt(process(me(), 1, 1), look), "not ourselves");
}

#[test]
fn a_parent_whose_pid_is_used_again_is_not_the_parent() {
    let none = HashSet::new();
    let mut ours = Descendants::new(&none);
    assert!(ours.adopt(process(-2, me(), 2), |_| None));
    assert!(
        !ours.adopt(process(-3, -2, 30), |_| Some(process(-2, 1, 29))),
        "someone else's child"
    );
    assert!(
        !ours.adopt(process(-3, -2, 30), |_| None),
        "its parent ended: it is found under another next time"
    );
}
