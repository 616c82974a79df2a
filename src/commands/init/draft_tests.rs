//! Whatever a repository holds, the draft is a policy that fits it.

use super::*;

fn layout(paths: &[&str]) -> Layout {
    Layout {
        paths: paths.iter().map(|path| path.as_bytes().to_vec()).collect(),
    }
}

/// A folder's area must own what lies in it, whatever its name is.
#[test]
fn an_entry_matches_its_own_folder() {
    let mut odd: Vec<&[u8]> = vec![b"two words", b"a\nb", b"a: b", b"caf\xe9", b"\xff\xfe"];
    odd.extend(words("payments gr\u{f6}\u{df}e back\\slash [id] a{b !not -dash #hash on 123 * ~").map(str::as_bytes));
    odd.extend([" leading", "trailing ", "it's \"quoted\"", "\u{202e}evil", "e\u{301}"].map(str::as_bytes));
    for folder in odd {
        let found = entry(folder);
        let rule = PathRule::parse(&found, String::new()).unwrap_or_else(|error| panic!("{error}"));
        assert!(
            rule.allows(&[folder, b"/x/y"].concat()),
            "{found:?} for {}",
            folder.escape_ascii()
        );
        let mut paths = layout(&["README.md"]);
        paths.paths.insert([folder, b"/x.ts"].concat());
        let draft = draft(&paths);
        if let Err(error) = Policy::validate(draft.text.as_bytes()) {
            panic!("{}: {error}\n{}", folder.escape_ascii(), draft.text);
        }
    }
}

#[test]
fn reserved_and_equal_names_give_way() {
    let paths = layout(&[
        "version/a",
        "dependencies/a",
        "allowed_roots/a",
        "a b/x",
        "a_b/x",
        "a-b/x",
        "rest/x",
    ]);
    let names: Vec<String> = draft(&paths).areas.into_iter().map(|(name, _)| name).collect();
    let expected = [
        "a-b",
        "a-b-folder",
        "a_b",
        "allowed_roots-folder",
        "dependencies-folder",
        "rest",
        "version-folder",
    ];
    assert_eq!(names[..7], expected);
    assert_eq!(names[7], "rest-folder");
}

#[test]
fn terms_are_known_by_their_name() {
    let are = [
        "LICENSE",
        "License.md",
        "LICENSE-APACHE",
        "LICENCE_MIT.txt",
        "COPYING",
        "NOTICE",
        "CODEOWNERS",
    ];
    assert!(are.iter().all(|path| is_terms(path)));
    let none = [
        "license.py",
        "notices.md",
        "LICENSE/a",
        "licenses",
        "src/LICENSE",
        "license-check.js",
    ];
    assert!(!none.iter().any(|path| is_terms(path)));
}

/// What is suggested must be right as soon as the `#` is gone.
#[test]
fn suggestions_can_be_uncommented() {
    let text = draft(&layout(&["package.json", "pay/a.ts", "jobs/setup.py"])).text;
    assert!(
        text.contains("  # forbidden_imports: [amqplib, bullmq, celery, ioredis, pika, redis]\n"),
        "{text}"
    );
    assert!(
        text.contains("  # forbidden_imports: [amqplib, bullmq, ioredis, redis]\n"),
        "{text}"
    );
    let bare = text.replace("  # forbidden_imports", "  forbidden_imports");
    assert!(Policy::validate(bare.as_bytes()).is_ok(), "{bare}");
    assert!(text.lines().all(|line| line.len() <= 120), "{text}");
    assert!(text.contains(&format!("\n  - {}\n", crate::gate::POLICY_PATH)));
}
