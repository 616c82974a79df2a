use super::*;

fn run() -> AgentRun {
    AgentRun {
        program: "/bin/true".into(),
        argv: vec!["true".into()],
        cwd: "/nowhere".into(),
        plan: Plan::default(),
        environment: Vec::new(),
        stdin: None,
        log: "/nowhere/agent.log".into(),
        verbose: false,
        limit: None,
        idle: None,
        grace: AgentRun::GRACE,
    }
}

#[test]
fn a_cause_goes_before_the_status() {
    let ending = |cause, report| ending(cause, report, Some(Status::Exited(0)), &run());
    assert_eq!(ending(None, stub::Report::Executed(0)), Ending::Exited(0));
    assert_eq!(
        ending(Some(Ending::TimedOut), stub::Report::Executed(0)),
        Ending::TimedOut
    );
    assert_eq!(
        ending(Some(Ending::Interrupted(2)), stub::Report::Died),
        Ending::Interrupted(2)
    );
    assert!(matches!(ending(None, stub::Report::Died), Ending::NotStarted(_)));
}

#[test]
fn a_failed_step_names_what_it_was_about() {
    let error = || io::Error::from_raw_os_error(2);
    assert!(words(stub::Step::Folder, &error(), &run()).starts_with("cannot enter /nowhere: "));
    assert_eq!(
        words(stub::Step::Execute, &error(), &run()),
        "cannot execute /bin/true: the interpreter or loader it names is missing"
    );
}
