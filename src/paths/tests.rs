use super::*;

fn rule(text: &str) -> PathRule {
    PathRule::parse(text, "must_not_touch[0]".to_owned()).unwrap()
}

fn refused(text: &str) -> String {
    PathRule::parse(text, "k".to_owned()).unwrap_err()
}

#[test]
fn the_four_spellings_of_a_folder_mean_the_same() {
    for text in [
        "secrets",
        "secrets/",
        "./secrets",
        "./secrets/**",
        "secrets/**",
        "secrets/**/**",
        "secrets//.",
    ] {
        let rule = rule(text);
        assert!(!rule.is_glob(), "{text}");
        assert_eq!(rule.literal(), Some(&b"secrets"[..]), "{text}");
        for path in ["secrets", "secrets/a", "secrets/a/b.txt"] {
            assert_eq!(rule.denies(path.as_bytes()), Some(Match::Exact), "{text} {path}");
        }
        for path in ["secretsfoo/x", "secrets.txt", "a/secrets", "secret"] {
            assert_eq!(rule.denies(path.as_bytes()), None, "{text} {path}");
        }
    }
}

#[test]
fn a_plain_entry_matches_by_whole_components() {
    let rule = rule("infra/async");
    assert_eq!(rule.denies(b"infra/asyncify.ts"), None);
    assert_eq!(rule.denies(b"infra/async"), Some(Match::Exact));
    assert_eq!(rule.denies(b"infra/async/x"), Some(Match::Exact));
    assert_eq!(rule.denies(b"Infra/Async/x"), Some(Match::Twin));
    assert!(!rule.allows(b"Infra/Async/x"));
}

#[test]
fn a_dot_means_the_files_of_the_root() {
    for text in [".", "./", "./."] {
        let rule = rule(text);
        assert!(rule.allows(b"NOTES.md"), "{text}");
        assert!(!rule.allows(b"other/x"), "{text}");
        assert_eq!(rule.literal(), None);
    }
}

#[test]
fn a_star_does_not_cross_a_slash() {
    let rule = rule("src/*");
    assert!(rule.is_glob());
    assert!(rule.allows(b"src/a"));
    assert!(!rule.allows(b"src/a/b"));
    assert!(!rule.allows(b"src"));
}

#[test]
fn a_glob_that_denies_a_folder_denies_what_is_below() {
    for (text, path) in [
        ("**/async", "infra/async/worker.ts"),
        ("**/async", "async/a/b"),
        ("**/secrets", "a/secrets/b/c"),
        ("sec*", "secrets/a"),
        ("services/*", "services/a/b/c"),
        ("services/*/src", "services/a/src/b.ts"),
        ("infra/*", "infra/a/b"),
        ("*.pem", "x.pem/key"),
        ("src/*.ts", "src/a.ts/b.js"),
        ("{a,b}/?", "b/x/y"),
    ] {
        let rule = rule(text);
        assert_eq!(rule.denies(path.as_bytes()), Some(Match::Exact), "{text} {path}");
        assert!(!rule.allows(path.as_bytes()), "{text} {path}");
    }
    for (text, path) in [
        ("src/*.ts", "src/a/b.ts"),
        ("services/*/src", "services/a/lib/src"),
        ("services/*/src", "services/src"),
        ("infra/*", "infra"),
        ("infra/*", "a/infra/b"),
        ("*.pem", "a/x.pem"),
        ("sec*", "a/secrets/b"),
        ("**/async", "infra/asyncify/x"),
    ] {
        assert_eq!(rule(text).denies(path.as_bytes()), None, "{text} {path}");
    }
    for (text, path) in [
        ("**/async", "Infra/ASYNC/x"),
        ("sec*", "Secrets/a"),
        ("app/[id]", "App/[id]/page.tsx"),
    ] {
        assert_eq!(rule(text).denies(path.as_bytes()), Some(Match::Twin), "{text} {path}");
    }
}

#[test]
fn two_stars_cross_slashes() {
    let rule = rule("src/**/*.ts");
    for path in ["src/a.ts", "src/a/b.ts", "src/a/b/c.ts"] {
        assert!(rule.allows(path.as_bytes()), "{path}");
    }
    assert!(!rule.allows(b"src/a.tsx"));
    assert!(!rule.allows(b"lib/src/a.ts"));
}

#[test]
fn two_stars_alone_match_everything() {
    for text in ["**", "./**", "**/", "**/**"] {
        for path in [&b"a"[..], b"a/b", b"a/\n/\xff"] {
            assert!(rule(text).allows(path), "{text} {path:?}");
        }
    }
}

#[test]
fn a_glob_that_means_folders_matches_them_and_what_is_below() {
    for text in ["packages/*/", "packages/*/**"] {
        let rule = rule(text);
        for path in ["packages/a", "packages/a/b", "packages/a/b/c"] {
            assert!(rule.allows(path.as_bytes()), "{text} {path}");
        }
        assert!(!rule.allows(b"packages"), "{text}");
    }
}

#[test]
fn alternatives_and_classes_work() {
    let rule = rule("{src,test}/[ab]?.ts");
    assert!(rule.allows(b"test/a1.ts"));
    assert!(!rule.allows(b"test/c1.ts"));
    assert!(!rule.allows(b"lib/a1.ts"));
}

#[test]
fn a_question_mark_is_one_character_not_one_byte() {
    assert!(rule("caf?.md").allows("café.md".as_bytes()));
    assert!(!rule("caf??.md").allows("café.md".as_bytes()));
    assert!(rule("caf[!e].md").allows("café.md".as_bytes()));
    assert!(rule("пу?ь/*").allows("путь/x".as_bytes()));
    assert!(!rule("пу?ь/*").allows("пять/x".as_bytes()));
    assert!(rule("[éè]*").allows("été".as_bytes()));
    assert!(!rule("[éè]*").allows("àa".as_bytes()));
}

#[test]
fn a_glob_takes_newlines_and_bytes_that_are_not_utf8() {
    assert!(rule("prot/*").allows(b"prot/a\nb"));
    assert!(rule("prot/*").allows(b"prot/\xff\xfe"));
    assert!(rule("**/x").allows(b"a\n/\xff/x"));
}

#[test]
fn a_folder_whose_name_looks_like_a_glob_is_matched_too() {
    let rule = rule("app/[id]");
    assert!(rule.allows(b"app/[id]/page.tsx"));
    assert!(rule.allows(b"app/i"));
    assert!(!rule.allows(b"app/x"));
}

#[test]
fn names_outside_ascii_match_as_they_are() {
    assert_eq!(rule("prot/**").denies("prot/café.md".as_bytes()), Some(Match::Exact));
    assert_eq!(
        rule("prot/Москва").denies("prot/Москва/x".as_bytes()),
        Some(Match::Exact)
    );
}

#[test]
fn case_twins_are_found() {
    assert_eq!(rule("secrets/**").denies(b"Secrets/new.txt"), Some(Match::Twin));
    assert_eq!(rule("Secrets").denies(b"SECRETS"), Some(Match::Twin));
    assert_eq!(rule("src/*.Key").denies(b"SRC/a.key"), Some(Match::Twin));
    assert_eq!(rule("[A-Z]x/y").denies(b"ax/Y"), Some(Match::Twin));
}

#[test]
fn unicode_twins_are_found() {
    for (text, path) in [
        ("caf\u{e9}", "cafe\u{301}/x"),           // composed and decomposed
        ("straße", "STRASSE/x"),                  // full case mapping
        ("οδος", "ΟΔΟΣ"),                         // final sigma
        ("secrets", "secret\u{17f}/x"),           // long s
        ("secrets", "\u{ff53}ecrets"),            // full-width s
        ("kit", "\u{212a}it/x"),                  // Kelvin sign
        ("secrets", "sec\u{200b}rets/x"),         // zero-width space
        ("secrets", "sec\u{ad}rets/x"),           // soft hyphen
        ("secrets", "sec\u{200d}re\u{200c}ts/x"), // joiners
        ("secrets", "\u{feff}secrets/x"),         // byte order mark
        ("secrets", "secrets\u{fe0f}"),           // variation selector
        ("secrets/*", "Secrets/é"),
    ] {
        assert_eq!(rule(text).denies(path.as_bytes()), Some(Match::Twin), "{text} {path}");
    }
}

#[test]
fn a_path_that_is_not_utf8_still_has_twins() {
    assert_eq!(rule("infra/async").denies(b"Infra/async/\xff"), Some(Match::Twin));
    assert_eq!(rule("café").denies(b"CAF\xc3\x89/\xff"), Some(Match::Twin));
    assert_eq!(rule("infra/async").denies(b"infra/async\xff"), None);
}

#[test]
fn different_names_are_no_twins() {
    assert_eq!(rule("secrets").denies(b"secret/x"), None);
    assert_eq!(rule("cafe").denies("café".as_bytes()), None);
}

#[test]
fn entries_that_could_never_match_are_refused() {
    for (text, expect) in [
        ("", "a path is empty"),
        ("  ", "a path is empty"),
        ("a\0b", "path `a\\0b`: a NUL byte cannot stand in a path"),
        (" a", "path ` a`: begins or ends with a blank"),
        (
            "/etc",
            "path `/etc`: absolute; paths are relative to the repository's root",
        ),
        (
            "src\\a",
            "path `src\\\\a`: a backslash; folders are separated by `/` and nothing is escaped",
        ),
        ("!src", "path `!src`: `!` negates nothing here; list what is meant"),
        (
            "../x",
            "path `../x`: `..` leaves the folder; write the path from the repository's root",
        ),
        (
            "a/../b",
            "path `a/../b`: `..` leaves the folder; write the path from the repository's root",
        ),
        (
            "src/**.ts",
            "path `src/**.ts`: `**` must be a whole path component, not part of `**.ts`; write `**/*` for any depth",
        ),
        (
            "src/[",
            "path `src/[`: broken glob: unclosed character class; missing ']'",
        ),
        (
            "[а-я]",
            "path `[а-я]`: broken glob: a range of non-ASCII characters; list them one by one",
        ),
    ] {
        assert_eq!(refused(text), expect);
    }
    assert!(refused("src/{a,b").starts_with("path `src/{a,b`: broken glob: unclosed alternate group"));
}

#[test]
fn oversized_globs_are_refused_and_large_ones_do_not_panic() {
    assert!(refused(&format!("{}*", "a".repeat(4096))).ends_with("broken glob: longer than 4096 bytes"));
    assert!(refused(&"{".repeat(33)).ends_with("broken glob: more than 32 pairs of braces"));
    assert!(rule(&format!("{}a{}", "{".repeat(32), "}".repeat(32))).allows(b"a"));
    assert!(rule(&"?".repeat(4096)).allows(&b"a".repeat(4096)));
    assert!(rule(&"*/".repeat(2000)).allows(&b"a/".repeat(2001)[..4001]));
}

#[test]
fn folding_twice_changes_nothing() {
    for text in ["İstanbul", "ΑΣ/σς", "ǰ", "ﬃ", "ΐ", "Ⅷ", "㎏", "ᾳ"] {
        let once = fold(text.as_bytes());
        assert_eq!(fold(&once), once, "{text}");
    }
}

#[test]
fn an_exact_path_has_no_syntax() {
    let rule = PathRule::exactly(b".github/workflows/[a]*\xff.yml", "k".to_owned());
    assert_eq!(rule.denies(b".github/workflows/[a]*\xff.yml"), Some(Match::Exact));
    assert_eq!(rule.denies(b".GitHub/workflows/[a]*\xff.yml"), Some(Match::Twin));
    assert_eq!(rule.denies(b".github/workflows/aa\xff.yml"), None);
    assert!(!rule.is_glob());
}

proptest::proptest! {
    #[test]
    fn no_entry_and_no_path_is_a_panic(text in "[a-zA-Z*?{},/.é!\\[\\]-]{0,24}|\\PC{0,12}", path: Vec<u8>) {
        if let Ok(rule) = PathRule::parse(&text, String::new()) {
            let exact = rule.denies(&path) == Some(Match::Exact);
            assert!(exact || !rule.allows(&path));
            assert!(rule.is_glob() || rule.allows(&path) == exact);
            // What lies below something denied is denied, but for the root's own files.
            if rule.denies(&path).is_some() && text.contains(char::is_alphanumeric) {
                assert!(rule.denies(&[&path, &b"/x"[..]].concat()).is_some());
            }
            if let Some(literal) = rule.literal() {
                assert!(rule.allows(literal));
                assert!(rule.allows(&[literal, b"/", &path].concat()));
                let upper = String::from_utf8(literal.to_vec()).unwrap().to_uppercase();
                assert!(rule.denies(upper.as_bytes()).is_some(), "{upper}");
            }
        }
    }
}
