use super::*;

fn trailers() -> Trailers {
    Trailers {
        job_id: "20260801-1200-abcd".to_owned(),
        host: "local".to_owned(),
        model_label: "vendor/model:1.5@x".to_owned(),
        task_sha256: Some("a1".repeat(32)),
        policy_oid: Some("0f".repeat(20)),
        confinement: Some("mount+landlock,allow-dirty".to_owned()),
        log_sum: None,
    }
}

pub(super) const THREE: &str = "Agent-Job-Id: j1\nAgent-Host: h\nAgent-Model-Label: m\n";

/// Reads a message whose last paragraph is what git would take.
pub(super) fn reading(message: &str) -> Reading {
    let block = message.trim_end().rsplit("\n\n").next().unwrap_or_default();
    read(message.as_bytes(), block.as_bytes())
}

pub(super) fn faults(message: &str) -> Vec<String> {
    match reading(message) {
        Reading::Faulty(faults) => faults,
        other => panic!("{other:?}"),
    }
}

pub(super) fn job(message: &str) -> String {
    match reading(message) {
        Reading::Agent(trailers) => trailers.job_id,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_message_is_as_documented() {
    let text = message("bounded retry", &trailers());
    assert_eq!(
        text,
        format!(
            "agent job 20260801-1200-abcd: bounded retry\n\nAgent-Job-Id: 20260801-1200-abcd\nAgent-Host: \
             local\nAgent-Model-Label: vendor/model:1.5@x\nAgent-Task-Sha256: {}\nAgent-Policy-Oid: \
             {}\nAgent-Confinement: mount+landlock,allow-dirty\n",
            "a1".repeat(32),
            "0f".repeat(20)
        )
    );
    assert_eq!(reading(&text), Reading::Agent(trailers()));
}

#[test]
fn the_goal_is_one_line_of_at_most_72_columns() {
    assert_eq!(one_line("a\r\nb\tc\u{1b}[31m \u{202e}d"), "a b c [31m d");
    assert_eq!(one_line(&"x".repeat(72)), "x".repeat(72));
    assert_eq!(one_line(&"x".repeat(73)), format!("{}…", "x".repeat(71)));
    assert_eq!(one_line(&"漢".repeat(37)), format!("{}…", "漢".repeat(35)));
    assert_eq!(one_line("\u{feff}\n"), "(no goal)");
}

#[test]
fn a_goal_cannot_forge_a_trailer() {
    let text = message("x\n\nAgent-Job-Id: evil", &trailers());
    assert_eq!(reading(&text), Reading::Agent(trailers()));
}

#[test]
#[should_panic(expected = "trailers are checked before they are written")]
fn a_bad_value_is_never_written() {
    message(
        "x",
        &Trailers {
            host: "a\nAgent-Job-Id: b".to_owned(),
            ..trailers()
        },
    );
}

#[test]
fn values_have_a_small_alphabet() {
    assert!(valid_value("aZ09._:/@+,-") && valid_value(&"a".repeat(128)));
    for value in ["", "a b", "a\n", "é", "a;b", "$(x)", &"a".repeat(129)] {
        assert!(!valid_value(value), "{value}");
    }
}

#[test]
fn job_ids_are_safe_in_refs_and_paths() {
    for id in ["a", "_x", "0", "a.b-c_d", "con", &"a".repeat(64)] {
        assert!(valid_job_id(id), "{id}");
    }
    for id in [
        "",
        ".",
        "..",
        "a..b",
        "a.",
        "a.lock",
        "a.LOCK",
        ".a",
        "-a",
        "--help",
        "feat/x",
        " ",
        "a b",
        "💥",
        "a~1",
        &"a".repeat(65),
    ] {
        assert!(!valid_job_id(id), "{id}");
    }
}

#[test]
fn validate_names_the_trailer() {
    let wrong = |change: fn(&mut Trailers)| {
        let mut trailers = trailers();
        change(&mut trailers);
        trailers.validate().unwrap_err()
    };
    assert_eq!(trailers().validate(), Ok(()));
    assert_eq!(
        wrong(|t| t.job_id = "a/b".to_owned()),
        "Agent-Job-Id cannot be `a/b`; expected a job id"
    );
    assert_eq!(
        wrong(|t| t.host = "a\nb".to_owned()),
        "Agent-Host cannot be `a\\nb`; expected 1 to 128 of A-Z a-z 0-9 . _ : / @ + , -"
    );
    assert_eq!(
        wrong(|t| t.log_sum = Some("AB".repeat(32))),
        format!(
            "Agent-Log-Sum cannot be `{}...`; expected 64 lower-case hex digits",
            "AB".repeat(30)
        )
    );
    assert_eq!(
        wrong(|t| t.policy_oid = Some("ab".to_owned())),
        "Agent-Policy-Oid cannot be `ab`; expected 40 or 64 lower-case hex digits"
    );
}

#[test]
fn people_need_no_trailers() {
    for text in [
        "fix\n\nagent-based design is fine\n",
        "fix\n\nSigned-off-by: A <a@x>\n",
        "fix\n\n    Agent-Job-Id: quoted in prose\n",
        "fix\n\nAn Agent-Job-Id: in the middle\nAgent-: x\nAgents: x\nAgent-a b: x\n",
        "Agent job description\n",
        "",
    ] {
        assert_eq!(reading(text), Reading::Human, "{text}");
    }
}

#[test]
fn an_agent_subject_needs_trailers() {
    assert_eq!(
        faults("agent job x: y\n"),
        [
            "Agent-Job-Id is missing from the last paragraph",
            "Agent-Host is missing from the last paragraph",
            "Agent-Model-Label is missing from the last paragraph",
        ]
    );
    assert_eq!(faults("\n\nagent job x: y\n").len(), 3);
}

#[test]
fn any_agent_trailer_makes_an_agent_commit() {
    assert_eq!(
        faults("fix\n\nAgent-Job-Id: j1\nAgent-Model-Label: m\n"),
        ["Agent-Host is missing from the last paragraph"]
    );
    assert_eq!(job(&format!("fix\n\nSigned-off-by: A <a@x>\n{THREE}")), "j1");
}

#[test]
fn rules_and_headings_in_the_body_do_no_harm() {
    assert_eq!(job(&format!("s\n\ntext\n---\ntext\n\n{THREE}")), "j1");
    assert_eq!(job(&format!("s\n\nHead\n------\n\ntext\n\n{THREE}")), "j1");
}

#[test]
fn other_spellings_are_faults() {
    for (line, fault) in [
        ("agent-job-id: j1", "`agent-job-id` must be spelled `Agent-Job-Id`"),
        ("Agent-Job-ID: j1", "`Agent-Job-ID` must be spelled `Agent-Job-Id`"),
        (
            "Agent-Job-Id : j1",
            "`Agent-Job-Id` must be written as `Agent-Job-Id: value`",
        ),
        (
            "Agent-Job-Id:j1",
            "`Agent-Job-Id` must be written as `Agent-Job-Id: value`",
        ),
        (
            "Agent-Job-Id:  j1",
            "`Agent-Job-Id` must be written as `Agent-Job-Id: value`",
        ),
        (
            "Agent-Job-Id:\tj1",
            "`Agent-Job-Id` must be written as `Agent-Job-Id: value`",
        ),
    ] {
        let message = format!("s\n\n{line}\nAgent-Host: h\nAgent-Model-Label: m\n");
        assert_eq!(faults(&message), [fault], "{line}");
        // git prints its own form of the line.
        let block = b"Agent-Job-Id: j1\nAgent-Host: h\nAgent-Model-Label: m\n";
        assert_eq!(
            read(message.as_bytes(), block),
            Reading::Faulty(vec![fault.to_owned()]),
            "{line}"
        );
    }
    assert_eq!(
        faults(&format!("s\n\n{THREE}Agent-Foo: x\n")),
        ["`Agent-Foo` is no trailer that agentgate knows"]
    );
}

#[test]
fn a_trailer_given_twice_is_a_fault() {
    assert_eq!(
        faults(&format!("s\n\n{THREE}Agent-Host: h\n")),
        ["Agent-Host stands 2 times in the last paragraph"]
    );
}

#[test]
fn bad_values_are_faults() {
    assert_eq!(
        faults("s\n\nAgent-Job-Id: ../x\nAgent-Host: h\nAgent-Model-Label: a b\n"),
        [
            "Agent-Job-Id cannot be `../x`; expected a job id",
            "Agent-Model-Label cannot be `a b`; expected 1 to 128 of A-Z a-z 0-9 . _ : / @ + , -",
        ]
    );
    assert_eq!(
        faults(&format!("s\n\n{THREE}Agent-Log-Sum: x\n")),
        ["Agent-Log-Sum cannot be `x`; expected 64 lower-case hex digits"]
    );
}

#[test]
fn a_folded_value_is_a_fault() {
    let message = "s\n\nAgent-Job-Id: j1\nAgent-Host: h\n  more\nAgent-Model-Label: m\n";
    let block = b"Agent-Job-Id: j1\nAgent-Host: h more\nAgent-Model-Label: m\n";
    let fault = "Agent-Host cannot be `h more`; expected 1 to 128 of A-Z a-z 0-9 . _ : / @ + , -";
    assert_eq!(read(message.as_bytes(), block), Reading::Faulty(vec![fault.to_owned()]));
}

#[test]
fn a_squash_of_jobs_is_explained() {
    let one = |id: &str| format!("agent job {id}: x\n\nAgent-Job-Id: {id}\nAgent-Host: h\nAgent-Model-Label: m\n");
    assert_eq!(
        faults(&[one("1"), one("2"), one("3")].join("\n")),
        ["jobs 1, 2 are named outside the last paragraph (a squash merge?)"]
    );
    assert_eq!(
        faults(&format!("{}\nSigned-off-by: A <a@x>\n", one("1"))),
        [
            "Agent-Job-Id is missing from the last paragraph",
            "Agent-Host is missing from the last paragraph",
            "Agent-Model-Label is missing from the last paragraph",
            "job 1 is named outside the last paragraph (a squash merge?)",
        ]
    );
    assert_eq!(
        faults(&format!("s\n\nAgent-Host: h\n\n{THREE}")),
        ["Agent-Host outside the last paragraph"]
    );
}

proptest::proptest! {
    #[test]
    fn what_is_written_is_read_back(goal in "(Agent-Host: x|\\n|\\PC|\\s){0,20}") {
        assert_eq!(reading(&message(&goal, &trailers())), Reading::Agent(trailers()));
    }

    #[test]
    fn no_message_is_a_panic(text in "(Agent-|Job-Id|:|Host| |\\n|é|x){0,20}", bytes: Vec<u8>) {
        reading(&text);
        read(&bytes, text.as_bytes());
    }
}
