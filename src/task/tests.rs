//! What a task file says, and in what words it is refused.

use super::*;

pub(super) fn task(text: &str) -> Task {
    Task::parse(text.as_bytes()).unwrap()
}

pub(super) fn refused(text: impl AsRef<[u8]>) -> String {
    Task::parse(text.as_ref()).unwrap_err().to_string()
}

pub(super) fn files(task: &Task) -> Vec<&str> {
    task.allowed_files.iter().map(|rule| rule.text.as_str()).collect()
}

const FULL: &str = "\
# Retry

Goal: bounded retry in payments
Allowed files: payments/retry.ts, `test/**`
Areas: payments
Non-goals: no new dependencies, New Directories, a rewrite
Timeout: 5m

Some prose. Note: the queue stays.
";

#[test]
fn all_keys_are_read() {
    let task = task(FULL);
    assert_eq!(task.goal, "bounded retry in payments");
    assert_eq!(files(&task), ["payments/retry.ts", "test/**"]);
    assert_eq!(task.allowed_files[1].key, "task: Allowed files[1]");
    assert_eq!(task.areas, ["payments"]);
    assert_eq!(task.non_goals, ["no new dependencies", "New Directories", "a rewrite"]);
    assert!(task.no_new_dependencies && task.no_new_directories);
    assert_eq!(task.timeout, Some(300));
    assert_eq!(task.text, FULL);
}

#[test]
fn line_ends_case_and_byte_order_mark_do_not_matter() {
    let text = format!(
        "\u{feff}{}",
        FULL.replace('\n', "\r\n").replace("Allowed files", "ALLOWED FILES")
    );
    let task = task(&text);
    assert_eq!(files(&task), ["payments/retry.ts", "test/**"]);
    assert_eq!(task.timeout, Some(300));
}

#[test]
fn lists_may_follow_a_key() {
    for text in [
        "Do it\nAllowed files:\n- a\n- `b c`\n- \"d\"\n",
        "Do it\nAllowed files:\n\n* a\n* 'b c'\n* d\n",
        "Do it\nAllowed files:\n  - a\n\n  - `b c`, d\n",
        "Do it\nAllowed files: a\n- `b c`\n+ d\n",
    ] {
        assert_eq!(files(&task(text)), ["a", "b c", "d"], "{text}");
    }
}

#[test]
fn a_list_ends_with_the_first_other_line() {
    let task = task("Do it\nAllowed files:\n- a\nProse\n- b\n");
    assert_eq!(files(&task), ["a"]);
    let task = super::Task::parse(b"Do it\nAllowed files: a\n\n- some prose\n").unwrap();
    assert_eq!(files(&task), ["a"]);
}

#[test]
fn commas_in_quotes_and_braces_do_not_split() {
    let task = task("Do it\nAllowed files: src/{a,b}.ts, `c,d`, [e,f]g\n");
    assert_eq!(files(&task), ["src/{a,b}.ts", "c,d", "[e,f]g"]);
}

#[test]
fn wrapped_non_goals_are_read_to_their_end() {
    let task = task("Do it\nNon-goals:\n- don't add any new\n  **dependencies**, ever\n- x, y\n");
    assert_eq!(task.non_goals, ["don't add any new **dependencies**, ever", "x, y"]);
    assert!(task.no_new_dependencies && !task.no_new_directories);
}

#[test]
fn the_goal_is_the_first_line_that_is_no_key() {
    for (text, goal) in [
        ("# Add a retry #\nmore", "Add a retry"),
        ("\n---\nAllowed files: a\n**Add a retry**\n", "Add a retry"),
        ("```\ncode\n```\nAdd\n", "Add"),
        ("## Port it to C#", "Port it to C#"),
        ("Prose only\nand more", "Prose only"),
        ("# Title\n\nProse", "Title"),
        ("Areas: a\nNon-goals:\n- b\n\nDo it\n", "Do it"),
        ("- Do it", "Do it"),
    ] {
        assert_eq!(task(text).goal, goal, "{text}");
    }
}

#[test]
fn code_blocks_are_prose() {
    let task =
        task("Do it\n```yaml\nAllowed files: a\nAllowed file: b\n```\n~~~\n```\nAreas: x\n~~~\n```inline``` Areas\n");
    assert!(task.allowed_files.is_empty() && task.areas.is_empty());
}

#[test]
fn bad_values_are_refused_at_their_line() {
    for (text, expect) in [
        (
            "Do it\nAllowed files:\n- a\n- ../b\n",
            "task line 4: path `../b`: `..` leaves the folder; write the path from the repository's root\nhint: fix or \
             remove this entry",
        ),
        (
            "Do it\nAllowed files:\n- `a` only the retry\n",
            "task line 3: words after the entry `a`\nhint: write `a` alone, and prose on a line of its own",
        ),
        (
            "Do it\nAllowed files: `a\n",
            "task line 2: a ` that is never closed\nhint: close it or remove it",
        ),
        (
            "Do it\nAllowed files:\n- a\n  b\n",
            "task line 4: an entry over several lines\nhint: one entry a line, each with a `-`",
        ),
        (
            "Do it\nTimeout: 5\n",
            "task line 2: `5` is no duration; write `5s` or `5m`\nhint: write `Timeout: 5m`",
        ),
        (
            "Do it\nTimeout:\n- 5m\n- 6m\n",
            "task line 2: `Timeout:` takes one value\nhint: write `Timeout: 30m`",
        ),
    ] {
        assert_eq!(refused(text), expect);
    }
}

#[test]
fn unusable_files_are_refused() {
    let empty = "task: empty\nhint: say what is to be done, such as `Goal: bounded retry in payments`";
    for text in ["", " \r\n\t\n", "\u{feff}\n"] {
        assert_eq!(refused(text), empty);
    }
    assert_eq!(
        refused(b"a\nb\xff"),
        "task line 2: not UTF-8\nhint: save the task as UTF-8"
    );
    assert_eq!(refused("a\nb\0"), "task line 2: a NUL byte\nhint: remove it");
    assert_eq!(
        refused("Allowed files: a\n"),
        "task: it says nothing but its limits\nhint: add a line `Goal: ...`"
    );
    assert_eq!(
        refused("x".repeat(MAX_BYTES + 1)),
        "task: 262145 bytes, more than the limit of 262144\nhint: put long material into files of the repository and \
         name them"
    );
    assert!(Task::parse("x".repeat(MAX_BYTES).as_bytes()).is_ok());
}

#[test]
fn the_scope_is_told_in_words() {
    assert_eq!(
        task(FULL).scope(),
        [
            "allowed files: payments/retry.ts, test/**",
            "areas: payments",
            "non-goals enforced: no new dependencies, no new directories",
            "timeout: 5m",
            "not enforced (for the agent to read): a rewrite",
        ]
    );
    assert_eq!(task("Do it").scope(), ["no limit in the task; the policy alone judges"]);
    assert_eq!(
        task("Do it\nTimeout: 90s\nNon-goals: a rewrite, new files or folders").scope(),
        [
            "non-goals enforced: no new directories",
            "timeout: 90s",
            "not enforced (for the agent to read): a rewrite, new files or folders",
        ]
    );
    assert_eq!(
        task("Do it\nTimeout: 90s").scope(),
        [
            "timeout: 90s",
            "nothing else is limited by the task; the policy alone judges"
        ]
    );
}

#[test]
fn durations_are_a_whole_number_with_a_unit() {
    for (text, seconds) in [
        ("90s", 90),
        ("5m", 300),
        ("2h", 7200),
        ("1d", 86400),
        ("3650d", 3650 * 86400),
    ] {
        assert_eq!(parse_duration(text), Ok(seconds), "{text}");
        assert_eq!(format_duration(seconds), text);
    }
    for text in [
        "",
        "m",
        "-5m",
        "+5m",
        "5ms",
        "５m",
        "5é",
        "1:30",
        "5..m",
        "99999999999999999999 s",
    ] {
        assert_eq!(
            parse_duration(text),
            Err(format!(
                "`{text}` is no duration; write a whole number with s, m, h or d, such as 90s or 5m"
            )),
        );
    }
    for (text, meant) in [
        ("90 seconds", "90s"),
        ("1h30m", "90m"),
        ("1 hour and 30 minutes", "90m"),
        ("1.5h", "90m"),
        ("5 m", "5m"),
        ("5M", "5m"),
        ("5min", "5m"),
        ("2 days", "2d"),
    ] {
        let error = parse_duration(text);
        assert_eq!(error, Err(format!("`{text}` is no duration; write `{meant}`")));
    }
    assert_eq!(
        parse_duration("90"),
        Err("`90` is no duration; write `90s` or `90m`".to_owned())
    );
    assert_eq!(
        refused("Do it\nTimeout: 90 seconds\n"),
        "task line 2: `90 seconds` is no duration; write `90s`\nhint: write `Timeout: 90s`"
    );
    assert_eq!(parse_duration("0s"), Err("`0s` is no time at all".to_owned()));
    for text in ["3651d", "99999999999999999999s", "18446744073709551615d"] {
        assert_eq!(parse_duration(text), Err(format!("`{text}` is longer than 3650d")));
    }
    assert_eq!(format_duration(0), "0s");
}

proptest::proptest! {
    #[test]
    fn no_task_is_a_panic(text in "((Allowed files|Areas|Non-goals|Goal|Timeout):|- |`|,|~~~|[a-z{]|é|  |\\n){0,30}", bytes: Vec<u8>) {
        for input in [text.as_bytes(), &bytes] {
            if let Ok(task) = Task::parse(input) {
                assert!(!task.goal.is_empty());
            }
        }
    }
}
