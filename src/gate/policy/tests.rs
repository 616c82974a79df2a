use std::collections::BTreeMap;

use super::super::paths::Match;
use super::super::tree::{Entry, Kind};
use super::*;

/// Folders by path, blobs by number; ids are made of them.
#[derive(Default)]
struct Memory {
    folders: Vec<Vec<Entry>>,
    blobs: Vec<Vec<u8>>,
    lost: Vec<Oid>,
}

enum Folder {
    Down(BTreeMap<Vec<u8>, Folder>),
    Leaf(Kind, Oid),
}

fn id(kind: u8, number: usize) -> Oid {
    Oid::from_bytes(&[kind, (number >> 8) as u8, number as u8]).unwrap()
}

impl Memory {
    fn new(files: &[(&str, Kind, &[u8])]) -> Memory {
        let mut memory = Memory::default();
        let mut root = BTreeMap::new();
        for (path, kind, content) in files {
            let parts: Vec<&[u8]> = path.as_bytes().split(|&b| b == b'/').collect();
            let (name, above) = parts.split_last().unwrap();
            let mut folder = &mut root;
            for part in above {
                let below = folder
                    .entry(part.to_vec())
                    .or_insert_with(|| Folder::Down(BTreeMap::new()));
                let Folder::Down(below) = below else { panic!("{path}") };
                folder = below;
            }
            folder.insert(name.to_vec(), Folder::Leaf(*kind, id(1, memory.blobs.len())));
            memory.blobs.push(content.to_vec());
        }
        // The root is the last folder that is stored.
        memory.store(root);
        memory
    }

    fn store(&mut self, folder: BTreeMap<Vec<u8>, Folder>) -> Oid {
        let mut entries = Vec::new();
        for (name, below) in folder {
            let (kind, id) = match below {
                Folder::Down(below) => (Kind::Tree, self.store(below)),
                Folder::Leaf(kind, id) => (kind, id),
            };
            entries.push(Entry { name, kind, id });
        }
        self.folders.push(entries);
        id(2, self.folders.len() - 1)
    }
}

fn number(id: &Oid) -> usize {
    usize::from(id.as_bytes()[1]) << 8 | usize::from(id.as_bytes()[2])
}

impl Tree for Memory {
    fn root(&self) -> Oid {
        id(2, self.folders.len() - 1)
    }

    fn entries(&self, folder: &Oid) -> Result<Vec<Entry>, Unreadable> {
        Ok(self.folders[number(folder)].clone())
    }

    fn blob(&self, id: &Oid) -> Result<Vec<u8>, Unreadable> {
        match self.lost.contains(id) {
            true => Err(Unreadable {
                what: format!("blob {id}"),
            }),
            false => Ok(self.blobs[number(id)].clone()),
        }
    }

    fn blob_size(&self, id: &Oid) -> Result<u64, Unreadable> {
        Ok(self.blobs[number(id)].len() as u64)
    }
}

const CARD: &str = "\
version: 1                        # required, 1
payments:                         # an area: any key that is not reserved
  allowed_roots: [payments/, test/payments/]   # what the area consists of
  forbidden_imports: [redis, bullmq, amqplib]  # for files under allowed_roots
  forbidden_dirs: [infra/async, workers/payments]
max_new_top_level_dirs: 0         # default 0; compared with the BASE tree
must_not_touch: [architecture/invariants.yml, scripts/invariants.sh]
unmapped: allow                   # or deny
existing: allow                   # or deny
autoexec: warn                    # or deny
";

fn of(text: &str) -> Result<Policy, PolicyError> {
    Policy::of(&Memory::new(&[(POLICY_PATH, Kind::File, text.as_bytes())]))
}

fn refused(text: &str) -> String {
    let error = of(text).unwrap_err();
    assert!(matches!(error, PolicyError::Invalid(_)));
    assert_eq!(
        Policy::validate(text.as_bytes()).unwrap_err().to_string(),
        error.to_string()
    );
    error.to_string()
}

/// The first line, without the file's name, and the hint.
fn short(text: &str) -> (String, String) {
    let error = refused(text);
    let first = error
        .lines()
        .next()
        .unwrap()
        .strip_prefix("architecture/invariants.yml:")
        .unwrap()
        .to_owned();
    let hint = error
        .lines()
        .find_map(|line| line.strip_prefix("hint: "))
        .unwrap_or_default();
    (first, hint.to_owned())
}

/// A rule-bearing policy with one more line, so that the line is what is refused.
fn with(line: &str) -> (String, String) {
    short(&format!("version: 1\nmax_new_top_level_dirs: 0\n{line}\n"))
}

#[test]
fn the_documented_block_is_accepted_exactly_so() {
    let policy = of(CARD).unwrap();
    assert_eq!(policy.areas.len(), 1);
    let area = policy.area("payments").unwrap();
    let entries = |rules: &[PathRule]| {
        rules
            .iter()
            .map(|r| format!("{} {}", r.key, r.text))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        entries(&area.allowed_roots),
        [
            "payments.allowed_roots[0] payments/",
            "payments.allowed_roots[1] test/payments/"
        ]
    );
    assert_eq!(
        entries(&area.forbidden_dirs),
        [
            "payments.forbidden_dirs[0] infra/async",
            "payments.forbidden_dirs[1] workers/payments"
        ]
    );
    let third = &area.forbidden_imports[2];
    assert_eq!(
        (third.entry.as_str(), third.key.as_str()),
        ("amqplib", "payments.forbidden_imports[2]")
    );
    assert_eq!(
        entries(&policy.must_not_touch),
        [
            "must_not_touch[0] architecture/invariants.yml",
            "must_not_touch[1] scripts/invariants.sh",
            "must_not_touch (built in) architecture/invariants.yml",
            "must_not_touch (built in) architecture/invariants.baseline.json",
            "must_not_touch (built in) architecture/invariants.schema.json",
            "must_not_touch (built in) architecture/agentgate.yml",
        ]
    );
    assert_eq!(policy.max_new_top_level_dirs, 0);
    assert_eq!(
        (policy.unmapped, policy.existing, policy.autoexec),
        (Stance::Allow, Stance::Allow, Stance::Allow)
    );
    assert_eq!(policy.id, id(1, 0));
    assert!(Policy::validate(CARD.as_bytes()).is_ok());
}

#[test]
fn strict_stances_and_numbers_are_read() {
    let policy = of("version: 1\nunmapped: deny\nexisting: \"deny\"\nmax_new_top_level_dirs: 3\n").unwrap();
    assert_eq!((policy.unmapped, policy.existing), (Stance::Deny, Stance::Deny));
    assert_eq!(policy.max_new_top_level_dirs, 3);
    assert_eq!(policy.autoexec, Stance::Allow);
    let policy = of("version: 1\nautoexec: deny\n").unwrap();
    assert_eq!((policy.autoexec, policy.unmapped), (Stance::Deny, Stance::Allow));
}

#[test]
fn an_area_without_roots_applies_everywhere() {
    let policy = of("version: 1\nall:\n  forbidden_imports: [redis]\n").unwrap();
    assert!(policy.areas[0].allowed_roots.is_empty());
}

#[test]
fn root_files_can_be_allowed() {
    let policy = of("version: 1\nunmapped: deny\na:\n  allowed_roots: [src, \".\"]\n").unwrap();
    let allowed = |path: &str| {
        policy.areas[0]
            .allowed_roots
            .iter()
            .any(|rule| rule.allows(path.as_bytes()))
    };
    assert!(allowed("NOTES.md") && allowed("src/a/b.c"));
    assert!(!allowed("other/x") && !allowed("srcfoo/x"));
}

#[test]
fn a_missing_policy_says_what_to_do() {
    for tree in [
        Memory::new(&[("src/a", Kind::File, b"")]),
        Memory::new(&[("architecture", Kind::File, b"")]),
        Memory::new(&[("architecture/Invariants.yml", Kind::File, CARD.as_bytes())]),
    ] {
        let error = Policy::of(&tree).unwrap_err();
        assert!(matches!(error, PolicyError::Missing));
        assert_eq!(
            error.to_string(),
            "no architecture/invariants.yml in the base\nhint: write one with `agentgate init`, then `git add \
             architecture/invariants.yml` and `git commit`"
        );
    }
}

#[test]
fn a_policy_that_is_no_regular_file_is_refused() {
    for (kind, what) in [(Kind::Symlink, "a symlink"), (Kind::Submodule, "a submodule link")] {
        let error = Policy::of(&Memory::new(&[(POLICY_PATH, kind, CARD.as_bytes())])).unwrap_err();
        assert!(matches!(error, PolicyError::Invalid(_)));
        assert_eq!(
            error.to_string(),
            format!("architecture/invariants.yml: {what}, where a file belongs\nhint: commit it as a regular file")
        );
    }
    let folder = Memory::new(&[("architecture/invariants.yml/x", Kind::File, b"")]);
    assert!(
        Policy::of(&folder)
            .unwrap_err()
            .to_string()
            .contains(": a folder, where a file belongs")
    );
    assert!(Policy::of(&Memory::new(&[(POLICY_PATH, Kind::Executable, CARD.as_bytes())])).is_ok());
}

#[test]
fn an_unreadable_policy_is_a_failure() {
    let mut tree = Memory::new(&[(POLICY_PATH, Kind::File, CARD.as_bytes())]);
    tree.lost.push(id(1, 0));
    assert!(matches!(Policy::of(&tree), Err(PolicyError::Unreadable(_))));
}

#[test]
fn an_oversized_policy_is_refused() {
    assert_eq!(
        Policy::validate(&vec![b'#'; yaml::MAX_BYTES + 1])
            .unwrap_err()
            .to_string(),
        "architecture/invariants.yml: 1048577 bytes, more than the limit of 1048576"
    );
    assert!(
        of(&"#".repeat(yaml::MAX_BYTES + 1))
            .unwrap_err()
            .to_string()
            .contains("more than the limit")
    );
}

#[test]
fn ci_files_that_mention_agentgate_are_protected() {
    let call: &[u8] = b"run: cargo install AgentGate\n";
    let tree = Memory::new(&[
        (POLICY_PATH, Kind::File, CARD.as_bytes()),
        (".github/workflows/deep/[x].yml", Kind::File, call),
        (".github/workflows/other.yml", Kind::File, b"run: make\n"),
        (".github/CODEOWNERS", Kind::File, call),
        (".gitlab-ci.yml", Kind::File, call),
        ("Jenkinsfile", Kind::File, call),
        (".circleci/config.yml", Kind::File, call),
        ("docs/ci.yml", Kind::File, call),
    ]);
    let policy = Policy::of(&tree).unwrap();
    let judged = |path: &str| {
        policy
            .must_not_touch
            .iter()
            .find_map(|rule| rule.denies(path.as_bytes()))
    };
    for path in [
        ".github/workflows/deep/[x].yml",
        ".gitlab-ci.yml",
        "Jenkinsfile",
        ".circleci/config.yml",
    ] {
        assert_eq!(judged(path), Some(Match::Exact), "{path}");
    }
    assert_eq!(judged("jenkinsfile"), Some(Match::Twin));
    for path in [
        ".github/workflows/other.yml",
        ".github/CODEOWNERS",
        "docs/ci.yml",
        ".github/workflows/deep/x.yml",
    ] {
        assert_eq!(judged(path), None, "{path}");
    }
}

#[test]
fn an_unreadable_ci_file_is_a_failure() {
    let mut tree = Memory::new(&[
        (POLICY_PATH, Kind::File, CARD.as_bytes()),
        (".drone.yml", Kind::File, b"x"),
    ]);
    tree.lost.push(id(1, 1));
    assert!(matches!(Policy::of(&tree), Err(PolicyError::Unreadable(_))));
}

#[test]
fn an_unknown_key_has_place_snippet_and_nearest_key() {
    assert_eq!(
        refused("version: 1\npayments:\n  forbiden_imports: [redis]\n"),
        "architecture/invariants.yml:3:3: unknown key `forbiden_imports` in the area `payments`\n 3 |   forbiden_imports: \
         [redis]\n   |   ^^^^^^^^^^^^^^^^\nhint: did you mean `forbidden_imports`?"
    );
}

#[test]
fn misspelt_and_misplaced_keys_are_refused() {
    for (line, first, hint) in [
        (
            "must_not_tuch: [x]",
            "3:1: unknown key `must_not_tuch`",
            "did you mean `must_not_touch`?",
        ),
        (
            "allowed_root: [src]",
            "3:1: unknown key `allowed_root`",
            "did you mean `allowed_roots`, inside an area?",
        ),
        (
            "allowed_roots: [src]",
            "3:1: `allowed_roots` stands at the top level",
            "it belongs inside an area, as in `payments: {allowed_roots: [...]}`",
        ),
        (
            "a: {must_not_touch: [x]}",
            "3:5: `must_not_touch` stands inside the area `a`",
            "it belongs at the top level",
        ),
        (
            "a:\n  b:\n    forbidden_dirs: [x]",
            "4:3: unknown key `b` in the area `a`",
            "known in an area: allowed_roots, forbidden_imports, forbidden_dirs, may_depend_on, allowed_imports",
        ),
        (
            "dependancies: {new: deny}",
            "3:1: unknown key `dependancies`",
            "did you mean `dependencies`?",
        ),
        (
            "a: {unmaped: deny}",
            "3:5: unknown key `unmaped` in the area `a`",
            "did you mean `unmapped`, at the top level?",
        ),
        (
            "payments: [src]",
            "3:1: unknown key `payments`",
            "known: version, max_new_top_level_dirs, must_not_touch, unmapped, existing, autoexec, dependencies, \
             dynamic_imports, baseline, max_changed_files, max_changed_lines, allowed_credentials; anything else names an \
             area and is a map",
        ),
        (
            "\"pay ments\": {forbidden_dirs: [x]}",
            "3:1: `pay ments` is no name for an area",
            "letters, digits, `_`, `.` and `-`, and neither `.` nor `-` first",
        ),
    ] {
        assert_eq!(with(line), (first.to_owned(), hint.to_owned()), "{line}");
    }
}

#[test]
fn dependencies_are_read() {
    let read = |line: &str| {
        let policy = of(&format!("version: 1\nmust_not_touch: [x]\n{line}\n")).unwrap();
        policy.dependencies.unwrap()
    };
    let all = read("dependencies: {new: deny, forbidden: [redis, \"@redis/*\"], allowed: [redis.clients:jedis]}");
    assert_eq!((all.new, all.new_key), (Stance::Deny, "dependencies.new"));
    let entries = |rules: &[NameRule]| rules.iter().map(|rule| rule.entry.clone()).collect::<Vec<_>>();
    assert_eq!(entries(&all.forbidden), ["redis", "@redis/*"]);
    assert_eq!(all.forbidden[1].key, "dependencies.forbidden[1]");
    assert_eq!(entries(&all.allowed), ["redis.clients:jedis"]);
    assert_eq!(all.allowed[0].key, "dependencies.allowed[0]");
    // A list of what is allowed says that the rest is not.
    let list = read("dependencies: {allowed: [a]}");
    assert_eq!((list.new, list.new_key), (Stance::Deny, "dependencies.allowed"));
    assert_eq!(read("dependencies: {forbidden: [a]}").new, Stance::Allow);
    assert!(!read("dependencies: {new: allow}").is_rule());
}

#[test]
fn dependencies_alone_are_a_rule_if_they_can_refuse() {
    for line in ["{new: deny}", "{forbidden: [redis]}", "{allowed: [redis]}"] {
        assert!(of(&format!("version: 1\ndependencies: {line}\n")).is_ok(), "{line}");
    }
    assert!(refused("version: 1\ndependencies: {new: allow}\n").contains("it holds no rule"));
}

#[test]
fn dependencies_that_say_nothing_or_too_much_are_refused() {
    let alone = "write the name alone, such as `redis`, `@redis/client` or `redis.clients:jedis`";
    for (line, first, hint) in [
        (
            "deny",
            "3:15: `dependencies` must be a map, not text",
            "write `dependencies: {new: deny}`",
        ),
        ("{}", "3:15: `dependencies` is empty", "give it a key or remove it"),
        (
            "{forbiden: [a]}",
            "3:16: unknown key `forbiden` in `dependencies`",
            "did you mean `forbidden`?",
        ),
        (
            "{max: 3}",
            "3:16: unknown key `max` in `dependencies`",
            "known in `dependencies`: new, forbidden, allowed",
        ),
        (
            "{new: warn}",
            "3:21: `dependencies.new` cannot be `warn`",
            "one of: allow, deny",
        ),
        (
            "{new: allow, allowed: [a]}",
            "3:16: `new: allow` beside `allowed`, which then means nothing",
            "write `new: deny`, or remove one of the two",
        ),
        (
            "{forbidden: [b, a], allowed: [c, a]}",
            "3:48: `a` is dependencies.forbidden[1] as well",
            "remove it from one of the two lists",
        ),
        (
            "{forbidden: [redis@4]}",
            "3:28: dependency `redis@4`: a version stands behind the name",
            alone,
        ),
        (
            "{forbidden: [\"redis>=4\"]}",
            "3:28: dependency `redis>=4`: no dependency has such a name",
            alone,
        ),
        (
            "{forbidden: [\"g:a:1\"]}",
            "3:28: dependency `g:a:1`: a version or a scheme stands beside the name",
            alone,
        ),
        (
            "{forbidden: [\"npm:redis\"]}",
            "3:28: dependency `npm:redis`: a version or a scheme stands beside the name",
            alone,
        ),
        (
            "{forbidden: [./x]}",
            "3:28: dependency `./x`: a path or an address, and names are compared",
            alone,
        ),
        (
            "{allowed: [\"*\"]}",
            "3:26: dependency `*`: it names everything or nothing",
            "say `new: deny` or `new: allow` instead",
        ),
        (
            "{forbidden: [\"**/x\"]}",
            "3:28: dependency `**/x`: `**` stands before the end",
            "a glob is `*`, for any characters within one part of a name, or a last part `**`",
        ),
        (
            "{forbidden: [a, a]}",
            "3:31: `a` stands twice in `dependencies.forbidden`",
            "it is `dependencies.forbidden[0]` already",
        ),
    ] {
        let got = with(&format!("dependencies: {line}"));
        assert_eq!(got, (first.to_owned(), hint.to_owned()), "{line}");
    }
}

#[test]
fn limits_of_size_begin_at_1_and_are_rules() {
    let policy = of("version: 1\nmax_changed_files: 40\nmax_changed_lines: 1000\n").unwrap();
    assert_eq!(
        (policy.max_changed_files, policy.max_changed_lines),
        (Some(40), Some(1000))
    );
    assert!(
        of("version: 1\nmax_changed_lines: 1\n").is_ok(),
        "it is a rule by itself"
    );
    assert_eq!(
        with("max_changed_files: 0"),
        (
            "3:20: `max_changed_files` is 0, so that nothing could change".to_owned(),
            "remove the key for no limit; a limit begins at 1".to_owned()
        )
    );
    for wrong in ["-1", "many", "\"5\"", "1.5", "[1]"] {
        let (first, _) = with(&format!("max_changed_lines: {wrong}"));
        assert!(first.contains("`max_changed_lines` must be a whole number"), "{first}");
    }
}

#[test]
fn allowed_credentials_are_fingerprints_and_what_is_none_is_not_repeated() {
    let policy =
        of("version: 1\nunmapped: deny\nallowed_credentials: [0123456789abcdef, \"1111111111111111\"]\n").unwrap();
    assert_eq!(policy.allowed_credentials, ["0123456789abcdef", "1111111111111111"]);
    for wrong in [
        "0123456789ABCDEF",
        "0123456789abcde",
        "0123456789abcdef0",
        "not-a-fingerprint",
    ] {
        let error = refused(&format!("version: 1\nunmapped: deny\nallowed_credentials: [{wrong}]\n"));
        assert!(
            error.starts_with("architecture/invariants.yml:3:23: an entry of `allowed_credentials` is no fingerprint"),
            "{error}"
        );
        assert!(!error.contains(wrong), "{error}");
    }
    // It lets something through, so that alone it is no policy.
    assert!(of("version: 1\nallowed_credentials: [0123456789abcdef]\n").is_err());
}

#[test]
fn versions_are_checked_before_anything_else() {
    for (text, first, hint) in [
        (
            "unknown: x\nversion: 2\n",
            "2:10: version 2 is not known to this version of agentgate",
            "it reads `version: 1`",
        ),
        (
            "must_not_touch: [x]\n",
            "1:1: `version` is missing",
            "begin the file with `version: 1`",
        ),
        (
            "versoin: 1\nmust_not_touch: [x]\n",
            "1:1: `version` is missing",
            "did you mean `version`?",
        ),
        (
            "version: \"1\"\n",
            "1:10: `version` must be a whole number from 0 to 4294967295, not text",
            "",
        ),
        (
            "version: 1.0\n",
            "1:10: `version` must be a whole number from 0 to 4294967295, not 1.0",
            "",
        ),
    ] {
        assert_eq!(short(text), (first.to_owned(), hint.to_owned()), "{text}");
    }
}

#[test]
fn policies_without_a_rule_are_refused() {
    for text in ["", "# nothing\n", "{}\n"] {
        assert_eq!(
            refused(text),
            "architecture/invariants.yml: empty, it holds no rule\nhint: `agentgate init` shows one that fits"
        );
    }
    for text in [
        "version: 1\n",
        "version: 1\nunmapped: allow\na: {allowed_roots: [src]}\nexisting: deny\n",
    ] {
        let error = refused(text);
        assert!(
            error.starts_with("architecture/invariants.yml: it holds no rule, so every change would pass\nhint: "),
            "{error}"
        );
    }
}

#[test]
fn each_kind_of_rule_counts_as_a_rule() {
    for line in [
        "must_not_touch: [x]",
        "unmapped: deny",
        "max_new_top_level_dirs: 0",
        "a: {forbidden_imports: [x]}",
        "a: {forbidden_dirs: [x]}",
        "a: {allowed_roots: [x], may_depend_on: []}",
        "a: {allowed_imports: []}",
    ] {
        assert!(of(&format!("version: 1\n{line}\n")).is_ok(), "{line}");
    }
}

#[test]
fn wrong_values_are_refused_at_their_place() {
    for (line, first, hint) in [
        (
            "a: {forbidden_imports: [123]}",
            "3:25: `a.forbidden_imports[0]` must be text, and `123` is a number",
            "write it in quotes: \"123\"",
        ),
        (
            "must_not_touch: [yes]",
            "3:18: `must_not_touch[0]` must be text, and `yes` is a boolean",
            "write it in quotes: \"yes\"",
        ),
        (
            "must_not_touch: x",
            "3:17: `must_not_touch` must be a list, not text",
            "write `[x]`",
        ),
        (
            "must_not_touch: []",
            "3:17: `must_not_touch` is an empty list",
            "list what is meant, or remove the key",
        ),
        (
            "a: {allowed_roots: []}",
            "3:20: `a.allowed_roots` is an empty list",
            "list what is meant, or remove the key",
        ),
        ("a: {}", "3:4: `a` is empty", "give it a key or remove it"),
        (
            "must_not_touch: [a, b, a]",
            "3:24: `a` stands twice in `must_not_touch`",
            "it is `must_not_touch[0]` already",
        ),
        (
            "must_not_touch: [\"src/[\"]",
            "3:18: path `src/[`: broken glob: unclosed character class; missing ']'",
            "fix or remove this entry",
        ),
        (
            "a: {forbidden_dirs: [../x]}",
            "3:22: path `../x`: `..` leaves the folder; write the path from the repository's root",
            "fix or remove this entry",
        ),
        (
            "a: {allowed_roots: [\"\"]}",
            "3:21: a path is empty",
            "fix or remove this entry",
        ),
        (
            "a: {forbidden_imports: [\"a b\"]}",
            "3:25: import `a b`: empty or with a blank in it",
            "write the name as it is imported, such as `redis`",
        ),
        (
            "a: {forbidden_imports: [./redis]}",
            "3:25: import `./redis`: a path, and only external packages are matched",
            "protect own folders with `forbidden_dirs`",
        ),
        (
            "a: {forbidden_imports: [\"{redis,bull}\"]}",
            "3:25: import `{redis,bull}`: no import has such a name, and it is no glob that is read here",
            "a glob is `*`, for any characters within one segment, or a last segment `**`",
        ),
        (
            "a: {forbidden_imports: [\"#x\"]}",
            "3:25: import `#x`: a name of the repository's own, and only external packages are matched",
            "protect own folders with `forbidden_dirs`",
        ),
        (
            "unmapped: denny",
            "3:11: `unmapped` cannot be `denny`",
            "did you mean `deny`?",
        ),
        (
            "existing: false",
            "3:11: `existing` cannot be `false`",
            "one of: allow, deny",
        ),
        (
            "autoexec: allow",
            "3:11: `autoexec` cannot be `allow`",
            "one of: warn, deny",
        ),
    ] {
        assert_eq!(with(line), (first.to_owned(), hint.to_owned()), "{line}");
    }
    assert_eq!(
        short("version: 1\nmax_new_top_level_dirs: -1\n").0,
        "2:25: `max_new_top_level_dirs` must be a whole number from 0 to 4294967295, not -1"
    );
}

#[test]
fn an_area_may_be_named_like_a_key_if_it_is_one() {
    let policy = of("version: 1\nversions: {allowed_roots: [versions], forbidden_imports: [x]}\n").unwrap();
    assert_eq!(policy.areas[0].name, "versions");
}

#[test]
fn duplicate_areas_are_refused() {
    assert_eq!(
        with("a: {forbidden_dirs: [x]}\na: {forbidden_dirs: [y]}").0,
        "4:1: duplicate key `a`, first on line 3"
    );
    assert_eq!(with("a: {forbidden_dirs: [x]}\nb:").0, "4:1: `b` has no value");
}

#[test]
fn an_import_entry_may_have_keys_of_its_own() {
    let policy = of(
        "version: 1\na:\n  forbidden_imports:\n    - {import: redis, languages: [go, ts], except: [src/cache/**], reason: one store, use_instead: our store}\n    - {import: redis, languages: [py]}\n",
    )
    .unwrap();
    let rules = &policy.areas[0].forbidden_imports;
    assert_eq!(rules[0].languages, [Language::Go, Language::JavaScript]);
    assert_eq!(rules[0].reason.as_deref(), Some("one store"));
    assert_eq!(rules[0].use_instead.as_deref(), Some("our store"));
    for (path, language, covers) in [
        ("src/a.go", Language::Go, true),
        ("src/cache/a.go", Language::Go, false),
        ("src/a.py", Language::Python, false),
    ] {
        assert_eq!(rules[0].covers(path.as_bytes(), language), covers, "{path}");
    }
    assert!(rules[1].covers(b"src/cache/a.py", Language::Python));
}

#[test]
fn an_import_entry_is_as_strict_as_the_rest() {
    for (entry, first, hint) in [
        (
            "{imports: redis}",
            "3:25: `a.forbidden_imports[0]` has no `import`",
            "write it as `{import: redis, reason: ...}`",
        ),
        (
            "{import: redis, lang: [go]}",
            "3:41: unknown key `lang` in `a.forbidden_imports[0]`",
            "known in an import entry: import, languages, except, reason, use_instead",
        ),
        (
            "{import: redis, use_insted: x}",
            "3:41: unknown key `use_insted` in `a.forbidden_imports[0]`",
            "did you mean `use_instead`?",
        ),
        (
            "{import: redis, languages: [typescrip]}",
            "3:53: `typescrip` is no language whose imports are read",
            "did you mean `typescript`?",
        ),
        (
            "{import: redis, except: [src/x]}, redis",
            "3:59: `redis` stands twice in `a.forbidden_imports`",
            "`a.forbidden_imports[0]` names it too, and the entry without `languages` and `except` holds everywhere",
        ),
    ] {
        let line = format!("a: {{forbidden_imports: [{entry}]}}");
        assert_eq!(with(&line), (first.to_owned(), hint.to_owned()), "{line}");
    }
}

#[test]
fn the_package_graph_is_read() {
    let policy = of(
        "version: 1\na: {allowed_roots: [a], may_depend_on: [b, c]}\nb: {allowed_roots: [b], may_depend_on: \
                     []}\nc: {allowed_roots: [c], allowed_imports: [lodash, \"@acme/*\"]}\n",
    )
    .unwrap();
    let names = |area: usize| policy.areas[area].may_depend_on.clone();
    assert_eq!(names(0), Some(vec!["b".to_owned(), "c".to_owned()]));
    assert_eq!((names(1), names(2)), (Some(Vec::new()), None));
    let allowed = policy.areas[2].allowed_imports.as_ref().unwrap();
    assert_eq!(allowed[1].key, "c.allowed_imports[1]");
    assert!(policy.areas[0].allowed_imports.is_none());
}

#[test]
fn edges_that_cannot_be_meant_are_refused() {
    for (line, first, hint) in [
        (
            "shared: {allowed_roots: [s]}\na: {allowed_roots: [a], may_depend_on: [shard]}",
            "4:41: there is no area `shard`",
            "did you mean `shared`?",
        ),
        (
            "a: {allowed_roots: [a], may_depend_on: [elsewhere]}",
            "3:41: there is no area `elsewhere`",
            "there is no other area",
        ),
        (
            "a: {allowed_roots: [a], may_depend_on: [a]}",
            "3:41: `a` names itself in its `may_depend_on`",
            "remove it: an area always may import itself",
        ),
        (
            "b: {forbidden_imports: [x]}\na: {allowed_roots: [a], may_depend_on: [b]}",
            "4:41: the area `b` has no `allowed_roots`, so nothing can depend on it",
            "give it roots, or remove it here",
        ),
        (
            "a: {may_depend_on: []}",
            "3:5: `a` has `may_depend_on` and no `allowed_roots`",
            "say which paths the area consists of",
        ),
        (
            "a: {allowed_imports: [{import: x}]}",
            "3:23: `a.allowed_imports[0]` must be text, not a map",
            "",
        ),
        (
            "a: {allowed_imports: [./x]}",
            "3:23: import `./x`: a path, and only external packages are matched",
            "protect own folders with `forbidden_dirs`",
        ),
        (
            "a: {may_depend_on: b}",
            "3:20: `a.may_depend_on` must be a list, not text",
            "write `[b]`",
        ),
    ] {
        assert_eq!(with(line), (first.to_owned(), hint.to_owned()), "{line}");
    }
}
