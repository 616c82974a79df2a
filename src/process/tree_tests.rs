use super::*;

fn process(pid: i32, parent: i32) -> Stat {
    Stat {
        pid,
        state: b'S',
        parent,
        start_time: 1000,
    }
}

#[test]
fn descendants_are_followed_and_bystanders_are_not() {
    let me = rustix::process::getpid().as_raw_pid();
    let processes = [
        process(me, 1),
        process(-2, me),
        process(-3, -2),
        process(-4, me),
        process(-5, -4),
        process(-6, 1),
    ];
    let bystanders = HashSet::from([key(&processes[3])]);
    let mut found: Vec<i32> = descendants(&processes, &bystanders)
        .iter()
        .map(|process| process.pid)
        .collect();
    found.sort_unstable();
    assert_eq!(found, [-3, -2]);
}

#[test]
fn a_loop_in_a_racing_walk_ends() {
    let me = rustix::process::getpid().as_raw_pid();
    let processes = [process(-2, me), process(-3, -2), process(-2, -3)];
    assert_eq!(descendants(&processes, &HashSet::new()).len(), 2);
}
