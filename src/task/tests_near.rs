//! Limits that a reader could miss: each is read, refused or told, and none is lost.

use super::tests::{files, refused, task};

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
        ("### Non-goals:", "Non-goals"),
        ("Non goals: a", "Non-goals"),
        ("Nongoals: a", "Non-goals"),
        ("Non-goal: a", "Non-goals"),
        ("Area: a", "Areas"),
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
    for text in [
        "Do it\nAllowed files\n- a\n",
        "Do it\nAreas\n\n* a\n",
        "Do it\nAllowed files\n-----\n\npayments\n",
    ] {
        assert!(refused(text).starts_with("task line 2: `A"), "{text}");
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
fn a_key_given_twice_is_refused() {
    assert_eq!(
        refused("Do it\nAreas: a\n\nareas: b\n"),
        "task line 4: `Areas:` stands twice, first on line 2\nhint: join the two"
    );
}

#[test]
fn keys_without_a_value_are_refused() {
    for key in ["Goal", "Allowed files", "Areas", "Non-goals", "Timeout"] {
        let end = if key == "Goal" { "" } else { "Prose\n" };
        let error = refused(format!("Do it\n{key}:\n\n{end}"));
        assert!(
            error.starts_with(&format!("task line 2: `{key}:` has no value\nhint: write `{key}: ")),
            "{error}"
        );
    }
    assert!(refused("Do it\nAllowed files: , ``\n").starts_with("task line 2: `Allowed files:` has no value\n"));
    assert!(refused("Do it\nAllowed files:\n1. a\n").starts_with("task line 2: `Allowed files:` has no value\n"));
}

#[test]
fn a_code_block_that_never_ends_is_refused() {
    assert_eq!(
        refused("Do it\n```\nAreas: x\n"),
        "task line 2: a code block is never closed, so what follows would be prose\nhint: add a line ``` where it ends"
    );
}

#[test]
fn blank_lines_do_not_end_a_list() {
    let task = task("Do it\nNon-goals:\n\n\n- a\n\n\n- new dependencies\n\n\nProse\n- new directories\n");
    assert_eq!(task.non_goals, ["a", "new dependencies"]);
}

#[test]
fn an_underlined_heading_is_a_heading() {
    let scope = task("Do it\n\nConstraints\n===\nnone\n").scope();
    assert!(
        scope[1].starts_with("`Constraints` is not read as a limit; "),
        "{scope:?}"
    );
}

#[test]
fn a_goal_is_never_refused() {
    for (text, goal) in [
        ("# Goal\n\nAdd a retry\n", "Add a retry"),
        ("Title\n\n## Goal ##\n- Add a retry\n", "Add a retry"),
        ("Goal\n====\n\nAdd a retry\n", "Add a retry"),
        ("Title\n**Goal:** Add a retry\n", "Add a retry"),
        ("**Goal**: Add a retry\n", "Add a retry"),
        ("- Goal: Add a retry\n", "Add a retry"),
        ("> Goal: Add a retry\n", "Add a retry"),
        ("Goals:\n- Add a retry\n", "Add a retry"),
        ("Goal - Add a retry\n", "Add a retry"),
        ("Goal:\nAdd a retry\n", "Add a retry"),
        ("Goal:\n\n  Add a retry\n  soon\n", "Add a retry"),
        ("Goal: Add a retry\n## Goal\nother\n", "Add a retry"),
        ("## Goal\nAreas: a\n\nAdd a retry\n", "Add a retry"),
        ("Add a retry\nGaol: x\n## Goals\n", "Add a retry"),
        ("Add a retry\n| Goal | Owner |\n", "Add a retry"),
        ("Goal-driven retry\n", "Goal-driven retry"),
    ] {
        assert_eq!(task(text).goal, goal, "{text}");
    }
    assert!(refused("Goal:\nAllowed file: a\n").starts_with("task line 2: `Allowed file: a` is not read as a key"));
}

#[test]
fn a_timeout_that_is_no_limit_is_prose_and_told() {
    for line in [
        "## Timeout",
        "- Timeout: 5m",
        "**Timeout:** 5m",
        "    timeout = 30",
        "\"timeout\": 30",
        "Timeouts: all of them",
        "Timout: 5m",
        "Timeout: 30000ms exceeded",
        "Timeout: 30m at most",
        "Timeout: as before",
    ] {
        let task = task(&format!("Do it\n{line}\n{line}\n"));
        assert_eq!(task.timeout, None, "{line}");
        let told = format!(
            "`{}` is not read as a limit; write `Timeout: 30m`",
            line.trim().escape_debug()
        );
        assert_eq!(task.scope()[1], told, "{line}");
    }
    assert!(refused("Do it\nTimeout: 30000ms\n").starts_with("task line 2: `30000ms` is no duration"));
}

#[test]
fn a_sentence_about_an_area_is_prose_and_told() {
    let task = task("Do it\nArea: the checkout flow is affected\n");
    assert!(task.areas.is_empty());
    assert_eq!(
        task.scope()[1],
        "`Area: the checkout flow is affected` is not read as a limit; write `Areas: payments`, with names from the \
         policy"
    );
    assert!(refused("Do it\nArea: a, b\n").contains("did you mean `Areas:`"));
}

#[test]
fn a_value_that_goes_on_below_its_line_is_not_dropped() {
    assert_eq!(
        files(&task("Do it\nAllowed files: a.ts,\n  b.ts,\n\tc.ts\nProse\n")),
        ["a.ts", "b.ts", "c.ts"]
    );
    assert_eq!(
        task("Do it\nNon-goals: any\n  new dependencies\n").non_goals,
        ["any new dependencies"]
    );
    assert!(task("Do it\nNon-goals: any\n  new dependencies\n").no_new_dependencies);
    assert_eq!(
        refused("Do it\nAllowed files: a.ts,\nb.ts\n"),
        "task line 3: `Allowed files:` on the line above ends in a comma\nhint: indent the line that goes on with it, or \
         remove the comma"
    );
    assert!(refused("Do it\nAllowed files: a.ts\n  b.ts\n").starts_with("task line 3: an entry over several lines"));
    for text in [
        "Allowed files: a.ts\n\n- b.ts\n",
        "Allowed files: a.ts\n\n- some prose\n- `b.ts`\n",
        "Areas: a\n\n* b\n",
        "Non-goals: a\n\n- no new dependencies\n",
    ] {
        let error = refused(format!("Do it\n{text}"));
        assert!(
            error.contains("hint: give either the line or the list"),
            "{text} {error}"
        );
    }
    assert_eq!(
        files(&task("Do it\nAllowed files: a.ts\n\n- add a retry\n- test it\n")),
        ["a.ts"]
    );
    assert_eq!(files(&task("Do it\nAllowed files: a.ts\n\nSteps\n- b.ts\n")), ["a.ts"]);
}

#[test]
fn links_and_line_numbers_are_refused() {
    for (entry, what) in [
        (
            "[i.ts](path/i.ts)",
            "a Markdown link\nhint: write the plain path, `path/i.ts`",
        ),
        (
            "i.ts:10-20",
            "a path with line numbers\nhint: write the plain path, `i.ts`",
        ),
        (
            "i.ts:10",
            "a path with line numbers\nhint: write the plain path, `i.ts`",
        ),
        (
            "i.ts#L10-L20",
            "a path with line numbers\nhint: write the plain path, `i.ts`",
        ),
        (
            "`i.ts:10`",
            "a path with line numbers\nhint: write the plain path, `i.ts`",
        ),
    ] {
        let error = refused(format!("Do it\nAllowed files:\n- {entry}\n"));
        assert_eq!(error, format!("task line 3: `{entry}` is {what}"));
    }
    assert_eq!(
        files(&task("Do it\nAllowed files: app/[id]/(a)/x, a:b\n")),
        ["app/[id]/(a)/x", "a:b"]
    );
}
