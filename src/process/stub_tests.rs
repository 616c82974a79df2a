use super::*;

#[test]
fn a_report_is_executed_failed_or_died() {
    assert!(matches!(Report::read(b"r"), Report::Executed(0)));
    assert!(matches!(Report::read(b""), Report::Died));
    assert!(
        matches!(Report::read(b"rx\x01"), Report::Died),
        "a torn report is no success"
    );
    let mut bytes = vec![READY, LEFTOVERS];
    bytes.extend(3i32.to_ne_bytes());
    assert!(matches!(Report::read(&bytes), Report::Executed(3)));
    assert!(
        matches!(Report::read(&bytes[1..]), Report::Died),
        "nothing outlives what never ran"
    );
    let mut bytes = vec![READY, b'x'];
    bytes.extend(2i32.to_ne_bytes());
    match Report::read(&bytes) {
        Report::Failed(Step::Execute, error) => assert_eq!(error.raw_os_error(), Some(2)),
        other => panic!("{other:?}"),
    }
    let mut bytes = vec![b'p'];
    bytes.extend(1i32.to_ne_bytes());
    assert!(matches!(Report::read(&bytes), Report::Failed(Step::Prepare, _)));
}

#[test]
fn an_order_without_a_program_name_is_refused() {
    let words = |text: &str| text.split(' ').map(OsString::from).collect::<Vec<_>>();
    assert!(Order::parse(&words("10 3 agent /tmp -- /bin/true true")).is_some());
    assert!(Order::parse(&words("10 - tool /tmp -- /bin/true true")).is_some());
    assert!(Order::parse(&words("10 3 agent /tmp -- /bin/true")).is_none());
    assert!(Order::parse(&words("10 3 other /tmp -- /bin/true true")).is_none());
    assert!(Order::parse(&words("10 3 agent /tmp /bin/true true")).is_none());
    assert!(Order::parse(&words("0 3 agent /tmp -- /bin/true true")).is_none());
}
