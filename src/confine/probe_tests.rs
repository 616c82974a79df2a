use super::*;

fn machine(landlock: Result<u32, i32>, pids: Option<Pids>, mounts: bool) -> Probe {
    Probe {
        answer: Answer {
            pids,
            pids_errno: Errno::PERM.raw_os_error(),
            mounts,
            mounts_errno: Errno::PERM.raw_os_error(),
        },
        landlock,
        signs: Signs {
            kernel: (6, 18),
            ..Signs::default()
        },
    }
}

fn refusal(probe: &Probe) -> String {
    let refused = probe
        .choose(Mode::On, &Network::Allow, false)
        .expect_err("it is refused");
    format!("{}\n{}", refused.what, refused.remedies.join("\n"))
}

#[test]
fn either_layer_is_enough_and_neither_is_refused_with_its_reason() {
    let both = machine(Ok(7), Some(Pids::User), true);
    assert_eq!(
        both.choose(Mode::On, &Network::Allow, false).expect("enough").tier(),
        "mounts+landlock-abi7+pidns-user"
    );
    let mounts = machine(Ok(2), Some(Pids::Root), true);
    assert!(mounts.choose(Mode::On, &Network::Allow, false).is_ok());
    let landlock = machine(Ok(3), None, false);
    assert!(landlock.choose(Mode::On, &Network::Allow, false).is_ok());

    let boot_list = machine(Err(Errno::OPNOTSUPP.raw_os_error()), None, false);
    assert!(refusal(&boot_list).contains("not in its boot list"));
    assert!(refusal(&boot_list).contains("lsm=landlock"));
    let mut old = machine(Err(Errno::NOSYS.raw_os_error()), None, false);
    old.signs.kernel = (5, 10);
    assert!(refusal(&old).contains("too old for Landlock (5.10"));
    let mut filtered = machine(Err(Errno::PERM.raw_os_error()), None, false);
    filtered.signs.filtered = true;
    assert!(refusal(&filtered).contains("system call filter (EPERM)"));
    let mut forbidden = machine(Ok(2), None, false);
    forbidden.signs.forbidden = Some("kernel.unprivileged_userns_clone");
    let words = refusal(&forbidden);
    assert!(
        words.contains("too old (ABI 2; 3 is needed)") && words.contains("unprivileged_userns_clone=1"),
        "{words}"
    );

    let waived = boot_list.choose(Mode::On, &Network::Allow, true).expect("waived");
    assert_eq!(waived.tier(), "unconfined");
}

#[test]
fn what_only_one_layer_can_do_is_refused_without_it() {
    let landlock = machine(Ok(7), None, false);
    let refused = landlock
        .choose(Mode::Strict, &Network::Allow, false)
        .expect_err("no mounts");
    assert!(
        refused.what.contains("`confinement: strict` needs read-only mounts"),
        "{}",
        refused.what
    );
    let mounts = machine(Ok(3), Some(Pids::Root), true);
    assert!(mounts.choose(Mode::On, &Network::DenyTcp, false).is_err());
    // A waiver of the walls is none of the network.
    assert!(mounts.choose(Mode::On, &Network::Ports(vec![443]), true).is_err());
}

#[test]
fn an_answer_is_read_as_it_was_written() {
    for pids in [None, Some(Pids::Root), Some(Pids::User)] {
        let answer = Answer {
            pids,
            pids_errno: 1,
            mounts: pids.is_some(),
            mounts_errno: 38,
        };
        assert_eq!(Answer::from_text(&answer.to_text()), Some(answer));
    }
    assert_eq!(Answer::from_text("1 2 3"), None);
    assert_eq!(Answer::from_text(""), None);
}
