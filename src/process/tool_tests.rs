use super::*;

fn sh(script: &str) -> Tool {
    Tool::new("/bin/sh", "/")
        .args(["-c", script])
        .variable("PATH", "/usr/bin:/bin")
        .time_limit(Duration::from_secs(20))
}

#[test]
fn output_and_status_come_back() {
    let outcome = sh("echo out; echo err >&2; exit 7").run().expect("ran");
    assert_eq!(
        outcome,
        Outcome {
            status: Status::Exited(7),
            stdout: b"out\n".to_vec(),
            stderr: b"err\n".to_vec()
        }
    );
    assert_eq!(sh("kill -9 $$").run().expect("ran").status, Status::Signaled(9));
}

#[test]
fn a_large_input_and_output_do_not_deadlock() {
    let bytes: Vec<u8> = (0..4_000_000u32).map(|n| n as u8).collect();
    let outcome = sh("tee /dev/stderr").stdin(bytes.clone()).run().expect("ran");
    assert!(outcome.success());
    assert_eq!(outcome.stdout, bytes);
    assert_eq!(
        outcome.stderr,
        &bytes[..1 << 20],
        "the rest of standard error is dropped"
    );
}

#[test]
fn input_that_is_not_read_is_no_failure() {
    assert!(
        sh("exec <&-; sleep 0.2; exit 0")
            .stdin(vec![0; 1 << 20])
            .run()
            .expect("ran")
            .success()
    );
}

#[test]
fn the_environment_is_what_was_given() {
    let outcome = Tool::new("/usr/bin/env", "/tmp")
        .variable("A", "1")
        .variable("A", "2")
        .run()
        .expect("ran");
    assert_eq!(outcome.stdout, b"A=2\n");
}

#[test]
fn a_limit_ends_the_whole_group() {
    let started = Instant::now();
    let error = sh("sleep 61 & sleep 61")
        .time_limit(Duration::from_millis(300))
        .run()
        .expect_err("ended");
    assert!(matches!(error, ToolError::TimedOut { .. }), "{error}");
    assert!(started.elapsed() < Duration::from_secs(5));
}

#[test]
fn too_much_output_is_an_error() {
    let error = sh("yes").stdout_limit(1 << 20).run().expect_err("ended");
    assert!(
        matches!(error, ToolError::TooMuchOutput { limit, .. } if limit == 1 << 20),
        "{error}"
    );
    let error = sh("printf 12345").stdout_limit(4).run().expect_err("ended");
    assert!(matches!(error, ToolError::TooMuchOutput { .. }), "{error}");
    assert_eq!(sh("printf 1234").stdout_limit(4).run().expect("ran").stdout, b"1234");
}

#[test]
fn a_process_that_keeps_the_pipe_does_not_hold_us_up() {
    let started = Instant::now();
    let outcome = sh("sleep 3 & echo done").run().expect("ran");
    assert_eq!(outcome.stdout, b"done\n");
    assert!(started.elapsed() < Duration::from_secs(2));
}

#[test]
fn a_missing_program_is_named() {
    let error = Tool::new("/nowhere/git", "/").arg("a b").run().expect_err("missing");
    assert!(
        error.to_string().starts_with("cannot start `/nowhere/git 'a b'`: "),
        "{error}"
    );
}
