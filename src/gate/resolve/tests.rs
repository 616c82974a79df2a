//! A small tree, and the languages that are interpreted; JavaScript and the compiled ones have files
//! of their own.

use std::collections::BTreeMap;

use super::*;
use crate::gate::tree::{Entry, Kind, Oid};

/// A tree of files; a path that ends in `@` is a link to its content.
pub(super) struct Small {
    folders: BTreeMap<Vec<u8>, Vec<Entry>>,
    blobs: Vec<Vec<u8>>,
}

fn id(kind: u8, number: usize) -> Oid {
    Oid::from_bytes(&[kind, (number >> 16) as u8, (number >> 8) as u8, number as u8]).expect("it fits")
}

impl Small {
    pub(super) fn new(files: &[(&str, &str)]) -> Small {
        let mut small = Small {
            folders: BTreeMap::from([(Vec::new(), Vec::new())]),
            blobs: Vec::new(),
        };
        // The ids of folders are their places in this order.
        let mut paths = std::collections::BTreeSet::new();
        for (path, _) in files {
            let mut at = path.trim_end_matches('@');
            while let Some((folder, _)) = at.rsplit_once('/') {
                paths.insert(folder.to_owned());
                at = folder;
            }
        }
        let number = |path: &str| paths.iter().position(|known| known == path).map_or(0, |at| at + 1);
        for path in &paths {
            small.folders.insert(path.clone().into_bytes(), Vec::new());
        }
        for path in &paths {
            small.add(path, Kind::Tree, id(2, number(path)));
        }
        for (path, content) in files {
            let kind = if path.ends_with('@') { Kind::Symlink } else { Kind::File };
            small.add(path.trim_end_matches('@'), kind, id(1, small.blobs.len()));
            small.blobs.push(content.as_bytes().to_vec());
        }
        small
    }

    fn add(&mut self, path: &str, kind: Kind, id: Oid) {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        let entries = self.folders.get_mut(folder.as_bytes()).expect("its folder is there");
        entries.push(Entry {
            name: name.as_bytes().to_vec(),
            kind,
            id,
        });
    }
}

impl Tree for Small {
    fn root(&self) -> Oid {
        id(2, 0)
    }

    fn entries(&self, folder: &Oid) -> Result<Vec<Entry>, Unreadable> {
        let [_, a, b, c] = folder.as_bytes() else {
            panic!("{folder}")
        };
        let number = usize::from(*a) << 16 | usize::from(*b) << 8 | usize::from(*c);
        Ok(self.folders.values().nth(number).expect("a folder").clone())
    }

    fn blob(&self, id: &Oid) -> Result<Vec<u8>, Unreadable> {
        let [_, a, b, c] = id.as_bytes() else { panic!("{id}") };
        let number = usize::from(*a) << 16 | usize::from(*b) << 8 | usize::from(*c);
        Ok(self.blobs[number].clone())
    }

    fn blob_size(&self, id: &Oid) -> Result<u64, Unreadable> {
        Ok(self.blob(id)?.len() as u64)
    }
}

/// An import with this text, its identity the text in segments.
pub(super) fn import(language: Language, raw: &str) -> Import {
    let inner = raw.trim_matches(['<', '>', '"']);
    let separator = match language {
        Language::Rust => "::",
        Language::Php => "\\",
        Language::Python | Language::Java | Language::Kotlin | Language::CSharp => ".",
        _ => "/",
    };
    let is_local = raw.starts_with('.') || ["crate", "self", "super"].contains(&raw.split("::").next().unwrap_or(raw));
    Import {
        raw: raw.to_owned(),
        identity: match is_local {
            true => Vec::new(),
            false => inner.split(separator).map(str::to_owned).collect(),
        },
        kind: ImportKind::Static,
        line: 1,
        column: 1,
        within: None,
    }
}

/// Where an import leads: paths joined by a blank, `external`, or `?` and the reason.
pub(super) fn leads(tree: &Small, language: Language, raw: &str, from: &str) -> String {
    leads_as(tree, language, &import(language, raw), from)
}

pub(super) fn leads_as(tree: &Small, language: Language, import: &Import, from: &str) -> String {
    let target = Resolver::of(tree).resolve(language, import, from.as_bytes());
    match target.expect("a small tree can be read") {
        Target::External => "external".to_owned(),
        Target::Unresolved(why) => format!("? {why}"),
        Target::Local(places) => {
            let places: Vec<String> = places.iter().map(|p| String::from_utf8_lossy(p).into_owned()).collect();
            places.join(" ")
        }
    }
}

/// Whether an import is the repository's own by base and candidate.
pub(super) fn owned(base: &Small, candidate: &Small, language: Language, raw: &str, from: &str) -> bool {
    let (mut base, mut candidate) = (Resolver::of(base), Resolver::of(candidate));
    let import = import(language, raw);
    is_own(&mut base, &mut candidate, language, &import, from.as_bytes()).expect("small trees can be read")
}

/// Each line: import, importing file, where it leads.
pub(super) fn expect(tree: &Small, language: Language, lines: &[(&str, &str, &str)]) {
    for (raw, from, expected) in lines {
        assert_eq!(leads(tree, language, raw, from), *expected, "{raw} in {from}");
    }
}

#[test]
fn python_names_lead_to_the_deepest_module() {
    let tree = Small::new(&[
        ("app/__init__.py", ""),
        ("app/db.py", ""),
        ("app/ui/__init__.py", ""),
        ("app/ui/page.py", ""),
        ("src/billing/__init__.py", ""),
        ("src/billing/invoice.py", ""),
        ("google/cloud/own.py", ""),
        ("redis/redis.conf", ""),
        ("redis/scripts/load.py", ""),
        ("tools/run.py", ""),
        ("tools/helper.py", ""),
        ("services/pay/pyproject.toml", ""),
        ("services/pay/src/pay/core.py", ""),
    ]);
    expect(
        &tree,
        Language::Python,
        &[
            ("app", "x.py", "app/__init__.py"),
            ("app.db", "x.py", "app/db.py"),
            ("app.db.Session", "x.py", "app/db.py"),
            ("app.missing", "x.py", "app/__init__.py"),
            ("app.ui.page.render", "x.py", "app/ui/page.py"),
            ("billing.invoice", "app/db.py", "src/billing/invoice.py"),
            (".db", "app/ui/page.py", "app/ui/__init__.py"),
            ("..db.x", "app/ui/page.py", "app/db.py"),
            (".page", "app/ui/__init__.py", "app/ui/page.py"),
            (".gone.x", "app/ui/page.py", "? no such module"),
            ("...x", "app/db.py", "? it leads out of the repository"),
            ("google.cloud.own.X", "x.py", "google/cloud/own.py"),
            ("google.cloud.storage", "x.py", "external"),
            ("redis", "x.py", "external"),
            ("redis.client", "x.py", "external"),
            ("helper", "tools/run.py", "tools/helper.py"),
            ("helper", "app/db.py", "external"),
            ("pay.core", "services/pay/tests/t.py", "services/pay/src/pay/core.py"),
            ("requests", "x.py", "external"),
            ("json", "x.py", "external"),
        ],
    );
}

#[test]
fn ruby_names_lead_below_lib() {
    let tree = Small::new(&[
        ("lib/shop.rb", ""),
        ("lib/shop/cart.rb", ""),
        ("gems/pay/pay.gemspec", ""),
        ("gems/pay/lib/pay/card.rb", ""),
        ("app/a.rb", ""),
        ("app/b.rb", ""),
    ]);
    expect(
        &tree,
        Language::Ruby,
        &[
            ("shop", "app/a.rb", "lib/shop.rb"),
            ("shop/cart", "app/a.rb", "lib/shop/cart.rb"),
            (
                "shop/gone",
                "app/a.rb",
                "? no such file below a lib folder that has its first part",
            ),
            ("pay/card", "app/a.rb", "gems/pay/lib/pay/card.rb"),
            ("redis", "app/a.rb", "external"),
            ("./b", "app/a.rb", "app/b.rb"),
            ("../lib/shop", "app/a.rb", "lib/shop.rb"),
        ],
    );
    let mut relative = import(Language::Ruby, "b");
    relative.identity.clear();
    assert_eq!(leads_as(&tree, Language::Ruby, &relative, "app/a.rb"), "app/b.rb");
}

#[test]
fn php_names_lead_by_composers_prefixes() {
    let tree = Small::new(&[
        (
            "composer.json",
            r#"{"autoload": {"psr-4": {"Acme\\": "src/", "Acme\\Billing\\": ["billing/"]}, "psr-0": {"Old_": "old/"}}}"#,
        ),
        ("src/Cart/Item.php", ""),
        ("billing/Invoice.php", ""),
        (
            "vendor/predis/composer.json",
            r#"{"autoload": {"psr-4": {"Predis\\": "src/"}}}"#,
        ),
        ("vendor/predis/src/Client.php", ""),
        ("lib/inc.php", ""),
    ]);
    expect(
        &tree,
        Language::Php,
        &[
            ("Acme\\Cart\\Item", "src/a.php", "src/Cart/Item.php"),
            ("Acme\\Cart", "src/a.php", "src/Cart"),
            ("Acme\\Cart\\total", "src/a.php", "src/Cart"),
            ("Acme\\Billing\\Invoice", "src/a.php", "billing/Invoice.php"),
            ("Acme\\Gone\\X", "src/a.php", "? no file below its composer.json prefix"),
            ("Predis\\Client", "src/a.php", "external"),
        ],
    );
    let mut include = import(Language::Php, "lib/inc.php");
    include.kind = ImportKind::Include;
    assert_eq!(leads_as(&tree, Language::Php, &include, "src/a.php"), "lib/inc.php");
}

#[test]
fn links_are_followed_inside_the_tree() {
    let tree = Small::new(&[
        ("billing/core.ts", ""),
        ("payments/b@", "../billing"),
        ("payments/one.ts@", "../billing/core.ts"),
        ("payments/out@", "/etc"),
        ("payments/loop@", "loop"),
    ]);
    expect(
        &tree,
        Language::JavaScript,
        &[
            ("./b/core", "payments/x.ts", "billing/core.ts"),
            ("./one", "payments/x.ts", "billing/core.ts"),
            ("./out/passwd", "payments/x.ts", "? no such file"),
            ("./loop/x", "payments/x.ts", "? no such file"),
            // A module behind a link resolves from where it lies.
            ("./core", "payments/one.ts", "billing/core.ts"),
        ],
    );
}

#[test]
fn what_is_own_is_own_in_both_trees() {
    let with = Small::new(&[("redis/__init__.py", ""), ("a.py", "")]);
    let without = Small::new(&[("a.py", "")]);
    assert!(owned(&with, &with, Language::Python, "redis", "a.py"));
    assert!(!owned(&without, &with, Language::Python, "redis", "a.py"));
    assert!(!owned(&with, &without, Language::Python, "redis", "a.py"));
    // A module beside a script is found by the script alone.
    let beside = Small::new(&[("tools/redis.py", ""), ("tools/a.py", "")]);
    assert!(!owned(&beside, &beside, Language::Python, "redis", "tools/a.py"));
}

#[test]
fn a_copy_of_somebody_elses_package_is_not_own() {
    let tree = Small::new(&[
        ("third_party/redis/client.h", ""),
        ("src/cache/client.h", ""),
        ("deps/hiredis/hiredis.h", ""),
        ("pip/_vendor/requests/__init__.py", ""),
        ("pip/__init__.py", ""),
        ("a.c", ""),
    ]);
    for (language, raw, expected) in [
        (Language::C, "<redis/client.h>", false),
        (Language::C, "<hiredis/hiredis.h>", false),
        (Language::C, "<cache/client.h>", true),
        (Language::C, "\"third_party/redis/client.h\"", false),
        (Language::C, "\"deps/hiredis/hiredis.h\"", true),
        (Language::Python, "pip._vendor.requests", true),
    ] {
        assert_eq!(owned(&tree, &tree, language, raw, "a.c"), expected, "{raw}");
    }
}

#[test]
fn a_new_header_beside_its_includer_is_own_and_one_further_off_is_not() {
    let before = Small::new(&[("src/a.c", "")]);
    let after = Small::new(&[("src/a.c", ""), ("src/x.h", ""), ("src/b/y.h", ""), ("z.h", "")]);
    for (raw, expected) in [
        ("\"x.h\"", true),
        ("<x.h>", false),
        ("\"b/y.h\"", false),
        ("\"z.h\"", false),
    ] {
        assert_eq!(owned(&before, &after, Language::C, raw, "src/a.c"), expected, "{raw}");
    }
}

#[test]
fn a_tree_that_is_too_large_is_not_half_known() {
    let tree = Small::new(&[("a/x.py", ""), ("b/x.py", ""), ("c.py", "")]);
    let files = Files::bounded(&tree, 3).expect("it can be read");
    assert!(!files.is_whole() && files.regular().is_empty());
    assert!(Files::bounded(&tree, 100).expect("it can be read").is_whole());
}

#[test]
fn the_languages_own_libraries_are_known() {
    for (language, raw, expected) in [
        (Language::JavaScript, "node:fs", true),
        (Language::JavaScript, "fs/promises", true),
        (Language::JavaScript, "fs-extra", false),
        (Language::Python, "os.path", true),
        (Language::Python, "osx", false),
        (Language::Rust, "std::fmt", true),
        (Language::Rust, "serde", false),
        (Language::Go, "net/http", true),
        (Language::Go, "github.com/x/y", false),
        (Language::Java, "java.util.List", true),
        (Language::Java, "kotlin.Unit", false),
        (Language::Kotlin, "kotlin.Unit", true),
        (Language::Kotlin, "kotlinx.coroutines.launch", false),
        (Language::C, "<stdio.h>", true),
        (Language::C, "<sys/socket.h>", true),
        (Language::C, "<vector>", true),
        (Language::C, "\"stdio.h\"", false),
        (Language::C, "<redis.h>", false),
        (Language::CSharp, "System.Linq", true),
        (Language::CSharp, "Systemic.X", false),
        (Language::Ruby, "json", true),
        (Language::Ruby, "redis", false),
        (Language::Php, "DateTime", true),
        (Language::Php, "Predis\\Client", false),
    ] {
        assert_eq!(
            is_standard(language, &import(language, raw)),
            expected,
            "{language:?} {raw}"
        );
    }
}

#[test]
fn a_nearer_file_does_not_hide_what_was_there() {
    let tree = Small::new(&[
        ("billing/core.py", ""),
        ("payments/setup.py", ""),
        ("payments/billing/core.py", ""),
        ("package.json", r#"{"workspaces": ["libs/*"]}"#),
        ("libs/billing/package.json", r#"{"name": "@acme/billing"}"#),
        ("libs/billing/index.js", ""),
        ("payments/package.json", r#"{"name": "@acme/billing"}"#),
        ("payments/index.js", ""),
        (
            "tsconfig.json",
            r#"{"compilerOptions": {"paths": {"@b/*": ["./libs/billing/*"]}}}"#,
        ),
        (
            "payments/tsconfig.x.json",
            r#"{"compilerOptions": {"paths": {"@b/*": ["./*"]}}}"#,
        ),
        ("include/billing/x.h", ""),
        ("payments/include/billing/x.h", ""),
    ]);
    for (language, raw, expected) in [
        (
            Language::Python,
            "billing.core",
            "payments/billing/core.py billing/core.py",
        ),
        (
            Language::JavaScript,
            "@acme/billing",
            "payments/index.js libs/billing/index.js",
        ),
        (
            Language::JavaScript,
            "@b/index",
            "payments/index.js libs/billing/index.js",
        ),
        (
            Language::C,
            "<billing/x.h>",
            "payments/include/billing/x.h include/billing/x.h",
        ),
    ] {
        assert_eq!(leads(&tree, language, raw, "payments/x"), expected, "{raw}");
    }
}
