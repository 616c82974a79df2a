use super::*;

fn output(kept: usize) -> (tempfile::TempDir, std::path::PathBuf, Output) {
    let dir = tempfile::tempdir().expect("folder");
    let path = dir.path().join("agent.log");
    let file = files::open_append(&path, 0o600).expect("log");
    (dir, path, Output::new(file, kept))
}

#[test]
fn head_and_tail_are_kept_and_the_gap_is_counted() {
    let (_dir, path, mut output) = output(4);
    output.add(b"abc");
    output.add(b"defgh");
    output.add(b"ijklmn");
    output.finish();
    let log = std::fs::read_to_string(path).expect("log");
    assert_eq!(log, "abcd\n[agentgate: 6 bytes of output dropped here]\nklmn");
    assert_eq!(output.total(), 14);
    assert_eq!(output.error(), None);
}

#[test]
fn nothing_is_marked_when_all_fits() {
    let (_dir, path, mut output) = output(4);
    output.add(b"abcdefgh");
    output.finish();
    assert_eq!(std::fs::read_to_string(path).expect("log"), "abcdefgh");
}

#[test]
fn a_run_is_appended_to_the_log_of_the_one_before() {
    let (_dir, path, mut first) = output(100);
    first.add(b"one\n");
    first.finish();
    let mut second = Output::open(&path).expect("log");
    second.add(b"two\n");
    second.finish();
    assert_eq!(std::fs::read_to_string(path).expect("log"), "one\ntwo\n");
}

#[test]
fn the_last_line_is_the_last_with_something_to_see() {
    let (_dir, _path, mut output) = output(100);
    assert_eq!(output.last_line(), "");
    output.add(b"first\nsecond \x1b[31mred\x1b[0m\x1b]0;title\x07 \xffend\r\n \n\x1b[2K\n");
    assert_eq!(output.last_line(), "second red \u{fffd}end");
    output.add("\u{202e}x\tý\n".as_bytes());
    assert_eq!(output.last_line(), "x ý");
}

#[test]
fn the_last_line_is_short_and_the_end_bounded() {
    let (_dir, _path, mut output) = output(100);
    output.add(&[b'a'; 5000]);
    assert_eq!(output.last_line().len(), LINE);
    assert_eq!(output.last(), vec![b'a'; LAST]);
}
