use super::*;

#[test]
fn a_name_with_parentheses_does_not_shift_the_fields() {
    let line = b"42 (a) Z 1 (b) S 7 42 43 0 -1 4194304 1 0 0 0 0 0 0 0 20 0 1 0 98765 1 1";
    let stat = Stat::parse(line).expect("parsed");
    assert_eq!(
        stat,
        Stat {
            pid: 42,
            state: b'S',
            parent: 7,
            group: 42,
            session: 43,
            start_time: 98765
        }
    );
}

#[test]
fn this_process_is_alive_and_a_namesake_is_not() {
    let me = ProcessId::current().expect("identity");
    assert!(me.alive());
    assert!(
        !ProcessId {
            start_time: me.start_time + 1,
            ..me.clone()
        }
        .alive()
    );
    assert!(
        !ProcessId {
            boot_id: "another".to_owned(),
            ..me.clone()
        }
        .alive()
    );
    let text = serde_json::to_string(&me).expect("json");
    assert_eq!(serde_json::from_str::<ProcessId>(&text).expect("back"), me);
}
