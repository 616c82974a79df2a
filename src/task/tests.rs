use super::*;

fn task(text: &str) -> Task {
    Task::parse(text.as_bytes()).unwrap()
}

fn refused(text: impl AsRef<[u8]>) -> String {
    Task::parse(text.as_ref()).unwrap_err().to_string()
}

fn files(task: &Task) -> Vec<&str> {
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
    let task = super::Task::parse(b"Do it\nAllowed files: a\n\n- prose\n").unwrap();
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
fn a_code_block_that_never_ends_is_refused() {
    assert_eq!(
        refused("Do it\n```\nAreas: x\n"),
        "task line 2: a code block is never closed, so what follows would be prose\nhint: add a line ``` where it ends"
    );
}

#[test]
fn misspelt_keys_are_refused() {
    for (line, key) in [
        ("Allowed file: a", "Allowed files"),
        ("Allowed-files: a", "Allowed files"),
        ("allowed_files: a", "Allowed files"),
        ("AllowedFiles: a", "Allowed files"),
        ("Alowed fils: a", "Allowed files"),
        ("Allowed paths: a", "Allowed files"),
        ("Allowed files\u{ff1a} a", "Allowed files"),
        ("  Allowed files: a", "Allowed files"),
        ("    Areas: a", "Areas"),
        ("- Allowed files: a", "Allowed files"),
        ("**Allowed files:** a", "Allowed files"),
        ("**Allowed files**: a", "Allowed files"),
        ("**Allowed files**", "Allowed files"),
        ("## Allowed files", "Allowed files"),
        ("## Allowed file", "Allowed files"),
        ("# Areas", "Areas"),
        ("# Goal", "Goal"),
        ("### Non-goals:", "Non-goals"),
        ("Non goals: a", "Non-goals"),
        ("Nongoals: a", "Non-goals"),
        ("Non-goal: a", "Non-goals"),
        ("Time out: 5m", "Timeout"),
        ("Timout: 5m", "Timeout"),
        ("Area: a", "Areas"),
        ("Goals: a", "Goal"),
        ("Gaol: a", "Goal"),
        ("Allowed file(s): a", "Allowed files"),
        ("Allowed: a", "Allowed files"),
        ("Files: a", "Allowed files"),
        ("Allowed files = a", "Allowed files"),
        ("**Allowed files** - a", "Allowed files"),
        ("**Allowed files** a", "Allowed files"),
        ("Allowed files \u{2014} a", "Allowed files"),
        ("| Allowed files | a |", "Allowed files"),
        ("Allowed files payments/a.ts", "Allowed files"),
        ("Areas = a", "Areas"),
    ] {
        assert_eq!(
            refused(format!("Do it\n{line}\n")),
            format!(
                "task line 2: `{}` is not read as a key\nhint: did you mean `{key}:` at the start of the line?",
                line.trim()
            )
        );
    }
}

#[test]
fn prose_is_not_taken_for_keys() {
    for line in [
        "Note: x",
        "Coal: x",
        "Goat: x",
        "Arena: x",
        "Time: x",
        "- files: x",
        "**Note** x",
        "Allowed values: x",
        "Hint: x",
        "https://x",
        "The areas: all",
        "## Areas of concern",
        "## Timeouts",
        "## Goals",
        "Allowed files are those",
        "Areas",
        "Allow: x",
        "Non-goals are none",
        "see Allowed files: a",
    ] {
        let task = task(&format!("Do it\n{line}\n"));
        assert_eq!(task.goal, "Do it", "{line}");
        assert!(task.areas.is_empty() && task.allowed_files.is_empty(), "{line}");
    }
}

#[test]
fn a_key_given_twice_is_refused() {
    assert_eq!(
        refused("Do it\nAreas: a\n\nareas: b\n"),
        "task line 4: `Areas:` stands twice, first on line 2\nhint: join the two"
    );
}

#[test]
fn keys_without_a_value_are_refused() {
    for key in ["Goal", "Allowed files", "Areas", "Non-goals", "Timeout"] {
        let error = refused(format!("Do it\n{key}:\n\nProse\n"));
        assert!(
            error.starts_with(&format!("task line 2: `{key}:` has no value\nhint: write `{key}: ")),
            "{error}"
        );
    }
    assert!(refused("Do it\nAllowed files: , ``\n").starts_with("task line 2: `Allowed files:` has no value\n"));
    assert!(refused("Do it\nAllowed files:\n1. a\n").starts_with("task line 2: `Allowed files:` has no value\n"));
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
fn invisible_characters_do_not_hide_a_key() {
    for line in [
        "\u{200b}Allowed files: a",
        "\u{feff}Allowed files: a",
        "Allowed\u{2060} files: a",
        "\u{ff21}llowed files: a",
    ] {
        let error = refused(format!("Do it\n{line}\n"));
        assert!(
            error.ends_with("did you mean `Allowed files:` at the start of the line?"),
            "{error}"
        );
    }
}

#[test]
fn a_key_without_a_colon_above_a_list_is_refused() {
    for text in ["Do it\nAllowed files\n- a\n", "Do it\nAreas\n\n* a\n"] {
        assert!(refused(text).starts_with("task line 2: `A"), "{text}");
    }
}

#[test]
fn line_ends_that_only_some_programs_know_are_refused() {
    let hint = "hint: save the task with LF or CRLF line ends";
    assert_eq!(
        refused("Goal: x\rAllowed files: payments/a.ts\r"),
        format!("task line 1: a carriage return without a line feed\n{hint}")
    );
    for c in ['\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}'] {
        assert_eq!(
            refused(format!("Goal: x\r\ny{c}Allowed files: a")),
            format!(
                "task line 2: U+{:04X}, which ends a line for some programs\n{hint}",
                c as u32
            )
        );
    }
}

#[test]
fn an_entry_is_one_path() {
    for entry in ["billing/charge.py and tests/", "a.py tests/", "a; b", "a;b"] {
        assert_eq!(
            refused(format!("Do it\nAllowed files: {entry}\n")),
            format!(
                "task line 2: `{entry}` is more than one entry\nhint: separate entries by commas or give a list; one \
                 name with a blank or `;` in it stands in backticks"
            )
        );
    }
    assert_eq!(files(&task("Do it\nAllowed files: `a; b`, \"c d\"\n")), ["a; b", "c d"]);
    for word in ["all", "Any", "none", "*", "n/a"] {
        let error = refused(format!("Do it\nAllowed files:\n- {word}\n"));
        assert!(
            error.starts_with(&format!(
                "task line 3: `{word}` names no path\nhint: leave `Allowed files:` out"
            )),
            "{error}"
        );
    }
    assert_eq!(files(&task("Do it\nAllowed files: ./all, all/x\n")), ["./all", "all/x"]);
}

#[test]
fn non_goals_name_limits_in_several_words() {
    for (item, dependencies, directories) in [
        ("no new dependency", true, false),
        ("New deps.", true, false),
        ("new packages", true, false),
        ("any new third-party library", true, false),
        ("new-dependencies", true, false),
        ("new\u{200b} dependencies", true, false),
        ("no new folders", false, true),
        ("new dirs/", false, true),
        ("a new directory", false, true),
        ("new sub-directories", false, true),
        ("no new dependencies or directories", true, true),
        ("new files/folders", false, true),
        ("a rewrite of the dependencies", false, false),
        ("news for packages", false, false),
        ("new code in packages", false, false),
    ] {
        let task = task(&format!("Do it\nNon-goals:\n- {item}\n"));
        assert_eq!(
            (task.no_new_dependencies, task.no_new_directories),
            (dependencies, directories),
            "{item}"
        );
    }
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
fn what_sounds_like_a_limit_and_is_none_is_told() {
    let task = task(
        "Do it\n## Scope\npayments only\n**Do not touch**: b\nOut of scope: c\n- Time limit: 5m\n\
         ```\nAllowed files: a\n```\nScope of work is large\n",
    );
    assert_eq!(
        task.scope(),
        [
            "no limit in the task; the policy alone judges",
            "`## Scope` is not read as a limit; write `Allowed files:`",
            "`**Do not touch**: b` is not read as a limit; write what may change as `Allowed files:`",
            "`Out of scope: c` is not read as a limit; write `Allowed files:`, `Areas:`, `Non-goals:` or `Timeout:`",
            "`- Time limit: 5m` is not read as a limit; write `Timeout:`",
            "`Allowed files:` on line 8 stands in a code block and is not read",
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
