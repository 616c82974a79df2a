use super::*;

fn refused(text: impl AsRef<[u8]>) -> String {
    read("x.yml", text.as_ref()).map(|(_, entries)| entries).unwrap_err()
}

fn at(text: impl AsRef<[u8]>) -> String {
    refused(text).lines().next().unwrap().to_owned()
}

#[test]
fn keys_lists_and_values_keep_order_and_place() {
    let text = "\u{feff}# c\r\n\"b\": [x, 'y z']\r\na:\r\n  c: -3\r\n  d: true\r\n";
    let (_, entries) = read("x.yml", text.as_bytes()).unwrap();
    let place = |at: At| (at.line, at.column, at.width);
    assert_eq!(entries.iter().map(|e| e.key.as_str()).collect::<Vec<_>>(), ["b", "a"]);
    assert_eq!(place(entries[0].at), (2, 1, 3));
    assert_eq!(place(entries[1].at), (3, 1, 1));
    let Value::List(items) = &entries[0].value.value else {
        panic!("{entries:?}")
    };
    assert_eq!(items[0].value, Value::Text("x".to_owned()));
    assert_eq!(place(items[1].at), (2, 10, 5));
    assert_eq!(items[1].value, Value::Text("y z".to_owned()));
    let Value::Map(inner) = &entries[1].value.value else {
        panic!("{entries:?}")
    };
    assert_eq!(inner[0].value.value, Value::Int(-3));
    assert_eq!(place(inner[0].value.at), (4, 6, 2));
    assert_eq!(inner[1].value.value, Value::Bool(true));
}

#[test]
fn nothing_and_comments_are_an_empty_map() {
    for text in ["", "# only a comment\n", "\n\n", "{}\n"] {
        assert_eq!(read("x.yml", text.as_bytes()).unwrap().1, [], "{text:?}");
    }
}

#[test]
fn an_error_has_place_line_caret_and_hint() {
    assert_eq!(
        refused("ok: 1\na:\t{café: 1, b: 2, café: 3}\n"),
        "x.yml:2:20: duplicate key `café`, first on line 2\n 2 | a: {café: 1, b: 2, café: 3}\n   |                    ^^^^\nhint: keep one of the two, or join them"
    );
}

#[test]
fn a_long_line_is_cut_around_the_place() {
    let text = format!("a: [{}, !t b]", "x".repeat(300));
    let lines: Vec<String> = refused(text).lines().map(str::to_owned).collect();
    assert_eq!(lines[0], "x.yml:1:307: a tag");
    assert_eq!(lines[1], format!(" 1 | {}, !t b]", "x".repeat(37)));
    assert_eq!(lines[2], format!("   | {}^^", " ".repeat(39)));
}

#[test]
fn what_yaml_programs_read_differently_is_refused_at_its_place() {
    for (text, expect) in [
        ("a: &x b\n", "x.yml:1:4: an anchor"),
        ("&k a: b\n", "x.yml:1:1: an anchor"),
        ("a: &x\n  b: c\n", "x.yml:1:4: an anchor"),
        ("a: [b, &x c]\n", "x.yml:1:8: an anchor"),
        ("a: *x\n", "x.yml:1:4: an alias"),
        ("a: [*x]\n", "x.yml:1:5: an alias"),
        ("*x : b\n", "x.yml:1:1: an alias"),
        ("a: !t b\n", "x.yml:1:4: a tag"),
        ("a: !!str 1\n", "x.yml:1:4: a tag"),
        ("a: ! b\n", "x.yml:1:4: a tag"),
        ("!!str a: b\n", "x.yml:1:1: a tag"),
        ("a:\n  - !t [b]\n", "x.yml:2:5: a tag"),
        ("a: !t\n  b: c\n", "x.yml:1:4: a tag"),
        ("a: 1\n<<: {b: c}\n", "x.yml:2:1: a merge key `<<`"),
        ("a:\n  <<: *x\n", "x.yml:2:3: a merge key `<<`"),
        (
            "%YAML 1.2\n---\na: b\n",
            "x.yml:1:1: not valid YAML: YAML directives are disallowed",
        ),
        ("a: b\n---\nc: d\n", "x.yml:2:1: a second document"),
        ("a: b\n...\nc: d\n", "x.yml:3:1: a second document"),
        ("a: |\n  b\n", "x.yml:2:3: a value over several lines"),
        ("a: b\n  c\n", "x.yml:1:4: a value over several lines"),
        ("a: \"b\n  c\"\n", "x.yml:1:4: a value over several lines"),
    ] {
        assert_eq!(at(text), expect, "{text}");
    }
}

#[test]
fn duplicate_null_and_odd_keys_are_refused_at_their_place() {
    for (text, expect) in [
        ("a: b\nc: d\na: e\n", "x.yml:3:1: duplicate key `a`, first on line 1"),
        ("a: b\n\"a\": e\n", "x.yml:2:1: duplicate key `a`, first on line 1"),
        ("x:\n  a: b\n  a: d\n", "x.yml:3:3: duplicate key `a`, first on line 2"),
        ("a: b\nc:\n", "x.yml:2:1: `c` has no value"),
        ("x:\n  a: ~\n", "x.yml:2:3: `a` has no value"),
        ("a: NULL\n", "x.yml:1:1: `a` has no value"),
        ("a: {b, c}\n", "x.yml:1:5: `b` has no value"),
        ("a: [b, ~]\n", "x.yml:1:8: an empty value (null)"),
        ("a:\n  -\n  - b\n", "x.yml:2:4: an empty value (null)"),
        ("~: b\n", "x.yml:1:1: a key is null"),
        (": b\n", "x.yml:1:1: a key is null"),
        ("a: 1\n12: b\n", "x.yml:2:1: a key must be text, and `12` is a number"),
        ("on: b\n", "x.yml:1:1: a key must be text, and `on` is a boolean"),
        ("? [a]\n: b\n", "x.yml:1:3: a key must be text, not a list or a map"),
        ("- a\n", "x.yml:1:1: the file must be a map of keys, not a list"),
        ("abc\n", "x.yml:1:1: the file must be a map of keys, not text"),
    ] {
        assert_eq!(at(text), expect, "{text}");
    }
}

#[test]
fn bytes_that_hide_something_are_refused_at_their_place() {
    for (text, expect) in [
        (&b"a: b\nc: \xff\n"[..], "x.yml:2:4: not UTF-8"),
        (b"a: b\0\n", "x.yml:1:5: a NUL byte"),
        (b"a: \"\\0\"\n", "x.yml:1:4: a NUL character"),
        (b"# x\ra: b\n", "x.yml:1:4: a carriage return without a line feed"),
        (b"a: b\x1b\n", "x.yml:1:5: a hidden character, U+001B"),
        ("é: \u{202e}b\n".as_bytes(), "x.yml:1:4: a hidden character, U+202E"),
        ("a: b\u{2028}c\n".as_bytes(), "x.yml:1:5: a hidden character, U+2028"),
    ] {
        assert_eq!(at(text), expect);
    }
}

#[test]
fn too_large_and_too_deep_are_refused() {
    assert_eq!(
        at(vec![b'#'; MAX_BYTES + 1]),
        "x.yml: 1048577 bytes, more than the limit of 1048576"
    );
    assert!(read("x.yml", &vec![b'#'; MAX_BYTES]).is_ok());
    assert_eq!(
        at(format!("a: {}b{}\n", "[".repeat(17), "]".repeat(17))),
        "x.yml:1:20: nested more than 16 deep"
    );
    assert!(at(format!("a: {}", "[".repeat(100_000))).starts_with("x.yml:1:"));
}

#[test]
fn broken_yaml_is_refused_at_its_place() {
    for (text, expect) in [
        ("a: [b\n", "x.yml:1:4: not valid YAML: unclosed bracket '['"),
        (
            "a: b: c\n",
            "x.yml:1:5: not valid YAML: mapping values are not allowed in this context",
        ),
        ("a: @b\n", "x.yml:1:4: not valid YAML: unexpected character: `@'"),
    ] {
        assert_eq!(at(text), expect);
    }
}

#[test]
fn plain_numbers_and_booleans_are_never_text() {
    for text in [
        "yes",
        "No",
        "on",
        "OFF",
        "True",
        "1.0",
        "1e3",
        "0x10",
        "0o7",
        "0b1",
        "010",
        "+1",
        "1_000",
        "1:30",
        ".5",
        ".inf",
        "-.INF",
        ".nan",
        "99999999999999999999",
    ] {
        assert_eq!(plain(text), Value::Odd(text.to_owned()), "{text}");
    }
    for text in ["0", "-1", "123"] {
        assert_eq!(plain(text), Value::Int(text.parse().unwrap()), "{text}");
    }
    for text in [
        "redis",
        "1.2.3",
        "7zip",
        "infinity",
        "nan",
        "e3",
        "y",
        ".",
        "2024-01-01",
        "yes/no",
        "x:1",
    ] {
        assert_eq!(plain(text), Value::Text(text.to_owned()), "{text}");
    }
}

#[test]
fn quoted_numbers_are_text() {
    let (source, entries) = read("x.yml", b"a: ['1', \"yes\", '~', '']\n").unwrap();
    let texts: Vec<&str> = source
        .strings(&entries[0].value, "a")
        .unwrap()
        .iter()
        .map(|t| t.0)
        .collect();
    assert_eq!(texts, ["1", "yes", "~", ""]);
}

#[test]
fn several_words_for_a_list_are_suggested_as_one() {
    let (source, entries) = read("x.yml", b"a: celery redis, pika\n").unwrap();
    let error = source.strings(&entries[0].value, "a").unwrap_err();
    assert!(error.ends_with("\nhint: write `[celery, redis, pika]`"), "{error}");
}

#[test]
fn wrong_types_are_refused_at_their_place() {
    let (source, e) = read(
        "x.yml",
        b"a: [123]\nb: redis\nc: []\nd: [x, x]\ne: {}\nf: -1\ng: [[x]]\n",
    )
    .unwrap();
    let (value, first) = (|i: usize| &e[i].value, |text: String| text.replace('\n', "|"));
    assert_eq!(
        first(source.strings(value(0), "a").unwrap_err()),
        "x.yml:1:5: `a[0]` must be text, and `123` is a number| 1 | a: [123]|   |     ^^^|hint: write it in quotes: \"123\""
    );
    assert_eq!(
        first(source.strings(value(1), "b").unwrap_err()),
        "x.yml:2:4: `b` must be a list, not text| 2 | b: redis|   |    ^^^^^|hint: write `[redis]`"
    );
    assert!(
        source
            .list(value(2), "c")
            .unwrap_err()
            .starts_with("x.yml:3:4: `c` is an empty list\n")
    );
    assert!(
        source
            .strings(value(3), "d")
            .unwrap_err()
            .starts_with("x.yml:4:8: `x` stands twice in `d`\n")
    );
    assert!(
        source
            .map(value(4), "e")
            .unwrap_err()
            .starts_with("x.yml:5:4: `e` is empty\n")
    );
    assert!(
        source
            .map(value(1), "b")
            .unwrap_err()
            .starts_with("x.yml:2:4: `b` must be a map, not text\n")
    );
    let number = "x.yml:6:4: `f` must be a whole number from 0 to 4294967295, not -1\n";
    assert!(source.number(value(5), "f").unwrap_err().starts_with(number));
    assert!(
        source
            .strings(value(6), "g")
            .unwrap_err()
            .starts_with("x.yml:7:5: `g[0]` must be text, not a list\n")
    );
}

#[test]
fn the_nearest_word_is_found_and_far_ones_are_not() {
    let words = ["forbidden_imports", "forbidden_dirs", "allowed_roots", "version"];
    assert_eq!(nearest("forbiden_imports", &words), Some("forbidden_imports"));
    assert_eq!(nearest("Forbidden-Dirs", &words), Some("forbidden_dirs"));
    assert_eq!(nearest("allowed_root", &words), Some("allowed_roots"));
    assert_eq!(nearest("vesrion", &words), Some("version"));
    assert_eq!(nearest("payments", &words), None);
}

proptest::proptest! {
    #[test]
    fn no_bytes_are_a_panic(text in "[a-c:{}, \\n\\[\\]&*!<>|?'\"#%~0-9-]{0,60}", bytes: Vec<u8>) {
        for input in [text.as_bytes(), &bytes] {
            if let Err(error) = read("x.yml", input) {
                assert!(error.starts_with("x.yml:"), "{error}");
                assert!(error.lines().count() <= 4, "{error}");
            }
        }
    }
}
