//! Bytes in a commit message that nobody sees.

use super::tests::{THREE, faults, job, reading};
use super::{Reading, read};

#[test]
fn a_carriage_return_is_a_fault() {
    let message = format!("s\r\n\n{}", THREE.replace("h\n", "h\r\n"));
    assert_eq!(faults(&message), ["`Agent-Host` ends in a carriage return"]);
    // In what people write above them it is theirs.
    assert_eq!(job(&format!("s\r\n\r\nwhy\r\n\n{THREE}")), "j1");
}

#[test]
fn other_bytes_are_no_obstacle() {
    let message = [b"s \xff\n\n".as_slice(), THREE.as_bytes()].concat();
    assert!(matches!(read(&message, THREE.as_bytes()), Reading::Agent(_)));
}

#[test]
fn a_subject_behind_something_invisible_is_an_agents_all_the_same() {
    for before in [
        " ",
        "\t",
        "\u{200b}",
        "\n \u{feff}\n",
        "\u{a0}\u{2060} ",
        "\u{7f}",
        &"\u{1}\u{200b}".repeat(1_000_000),
    ] {
        let reading = reading(&format!("{before}agent job j1: x\n"));
        assert!(matches!(reading, Reading::Faulty(_)), "{} {reading:?}", before.len());
    }
    for message in ["an agent job j1", "\u{e9}agent job j1", "x\n\nagent job j1", ""] {
        assert_eq!(reading(message), Reading::Human, "{message:?}");
    }
}

#[test]
fn an_invisible_character_before_a_key_is_a_fault() {
    let message = format!("s\n\n\u{200b}{THREE}");
    assert!(
        faults(&message).contains(&"`Agent-Job-Id` must be written as `Agent-Job-Id: value`".to_owned()),
        "{:?}",
        faults(&message)
    );
}
