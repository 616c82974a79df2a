//! Copies of other people's packages that lie in the repository, and what else is loaded from it under a name that
//! tells little.

use crate::support::program::Outcome;
use crate::support::repo::Repo;

/// A repository whose `main` has these files and a policy that forbids `app/` these packages, on a branch.
fn scene(entries: &str, files: &[&str]) -> Repo {
    let repo = Repo::empty();
    repo.write(
        "architecture/invariants.yml",
        format!("version: 1\napp:\n  allowed_roots: [app/]\n  forbidden_imports: [{entries}]\n"),
    );
    for path in files {
        repo.write(path, "\n");
    }
    repo.write("go.mod", "module acme\n");
    repo.write("app/README", "x\n");
    repo.commit("start");
    repo.branch("f");
    repo
}

/// What `check` says of a branch that adds these files, beside a base that has those others.
fn check(files: &[&str], added: &[(&str, &str)]) -> Outcome {
    let repo = scene("redis", files);
    for (path, source) in added {
        repo.write(path, source);
    }
    repo.commit("the change");
    repo.agentgate(["check", "--base", "main"])
}

/// Findings of one line each, all in one branch.
fn all_found(entries: &str, files: &[&str], added: &[(&str, &str)]) {
    let repo = scene(entries, files);
    for (path, source) in added {
        repo.write(path, source);
    }
    repo.commit("the change");
    let outcome = repo.agentgate(["check", "--base", "main"]);
    let places: Vec<String> = added.iter().map(|(path, _)| format!("{path}:")).collect();
    let places: Vec<&str> = places.iter().map(String::as_str).collect();
    outcome.expect(5, &places);
}

#[test]
fn a_path_of_rust_into_a_copy_is_5() {
    all_found(
        "redis",
        &["vendor/redis/src/lib.rs", "vendor/redis/x.rs"],
        &[
            ("app/a.rs", "#[path = \"../vendor/redis/src/lib.rs\"]\nmod redis;\n"),
            ("app/b.rs", "include!(\"../vendor/redis/x.rs\");\n"),
            (
                "app/c.rs",
                "include!(\"/h/.cargo/registry/src/index-0/redis-0.25.0/src/lib.rs\");\n",
            ),
        ],
    );
    check(
        &["vendor/rediska/x.rs", "db/redis/x.rs"],
        &[(
            "app/a.rs",
            "include!(\"../vendor/rediska/x.rs\");\ninclude!(\"../db/redis/x.rs\");\n",
        )],
    )
    .expect(0, &[]);
}

#[test]
fn a_dotted_path_of_python_into_a_copy_is_5() {
    all_found(
        "redis",
        &[
            "vendor/__init__.py",
            "vendor/redis/__init__.py",
            "third_party/redis.py",
            "app/__init__.py",
            "app/vendor/__init__.py",
            "app/vendor/redis/__init__.py",
        ],
        &[
            ("app/a.py", "from vendor.redis import Redis\n"),
            ("app/b.py", "from third_party.redis import x\n"),
            ("app/c.py", "from .vendor import redis\n"),
            ("app/d.py", "from app.vendor.redis import x\n"),
            ("app/e.py", "import vendor.redis_4.client\n"),
        ],
    );
    check(
        &[
            "vendor/__init__.py",
            "vendor/other.py",
            "app/redis/__init__.py",
            "app/__init__.py",
        ],
        &[(
            "app/a.py",
            "from vendor.other import redis\nfrom app.redis import vendor\nfrom . import vendor\n",
        )],
    )
    .expect(0, &[]);
}

#[test]
fn a_path_of_go_into_a_copy_is_5() {
    all_found(
        "redis, github.com/x/kv",
        &["third_party/redis/r.go", "vendor/github.com/x/kv/k.go"],
        &[
            ("app/a.go", "package a\n\nimport \"acme/third_party/redis\"\n"),
            ("app/b.go", "package a\n\nimport \"acme/vendor/github.com/x/kv\"\n"),
        ],
    );
    check(
        &["db/redis/r.go", "third_party/other/r.go"],
        &[(
            "app/a.go",
            "package a\n\nimport (\n\"acme/db/redis\"\n\"acme/third_party/other\"\n)\n",
        )],
    )
    .expect(0, &[]);
}

#[test]
fn an_own_module_in_a_folder_called_vendors_passes() {
    let own: &[(&str, &str)] = &[
        ("app/vendors/__init__.py", "from . import stripe\n"),
        ("app/vendors/stripe.py", "def charge(): pass\n"),
        (
            "app/a.py",
            "from app.vendors import stripe\nfrom app.vendors.stripe import charge\nfrom .vendors import stripe\n\
             from .vendors.stripe import charge\n",
        ),
        ("app/vendors/stripe.ts", "export const charge = 1;\n"),
        ("app/vendors/stripe/client.ts", "export const charge = 1;\n"),
        (
            "app/a.ts",
            "import './vendors/stripe';\nimport './vendors/stripe.js';\nimport '../app/vendors/stripe/client';\n",
        ),
        ("app/vendors/mod.rs", "pub mod stripe;\n"),
        ("app/vendors/stripe.rs", "pub fn charge() {}\n"),
        ("app/lib.rs", "mod vendors;\nuse crate::vendors::stripe::charge;\n"),
        ("app/vendors/stripe.rb", "1\n"),
        ("app/a.rb", "require_relative \"vendors/stripe\"\n"),
        ("app/vendors/stripe.php", "<?php\n"),
        ("app/a.php", "<?php\ninclude __DIR__ . '/vendors/stripe.php';\n"),
        ("app/vendors/stripe/s.go", "package stripe\n"),
    ];
    let repo = scene("stripe", &[]);
    for (path, source) in own {
        repo.write(path, source);
    }
    repo.commit("all of it is new");
    repo.agentgate(["check", "--base", "main"]).expect(0, &[]);
    // The base has it, and a new file uses it.
    let before: Vec<&str> = own.iter().map(|(path, _)| *path).collect();
    let repo = scene("stripe", &before);
    repo.write("app/b.go", "package b\n\nimport \"acme/app/vendors/stripe\"\n");
    repo.write("app/b.ts", "import './vendors/stripe';\n");
    repo.change("app/b.py", "from app.vendors.stripe import charge\n");
    repo.agentgate(["check", "--base", "main"]).expect(0, &[]);
}

#[test]
fn a_copy_in_a_folder_called_vendors_is_5_where_it_shows() {
    for mark in [
        "LICENSE",
        "package.json",
        "setup.py",
        "Cargo.toml",
        "go.mod",
        "composer.json",
        "redis.gemspec",
    ] {
        all_found(
            "redis",
            &[
                &format!("app/vendors/redis/{mark}"),
                "app/vendors/redis/index.js",
                "app/vendors/redis/__init__.py",
                "app/vendors/redis/r.go",
                "app/vendors/redis/r.rb",
                "app/vendors/redis/r.php",
            ],
            &[
                ("app/a.js", "require('./vendors/redis');\n"),
                ("app/a.py", "from app.vendors.redis import Redis\n"),
                ("app/a.go", "package a\n\nimport \"acme/app/vendors/redis\"\n"),
                ("app/a.rb", "require_relative \"vendors/redis/r\"\n"),
                ("app/a.php", "<?php\ninclude __DIR__ . '/vendors/redis/r.php';\n"),
                ("app/a.rs", "include!(\"vendors/redis/r.rs\");\n"),
            ],
        );
    }
    // A release, an organisation, what git does not have.
    all_found(
        "redis",
        &[
            "app/vendors/redis-4.6.0/index.js",
            "app/vendors/redis.min.js",
            "app/vendors/js/redis/LICENSE",
            "app/vendors/js/redis/index.js",
        ],
        &[
            ("app/a.js", "require('./vendors/redis-4.6.0');\n"),
            ("app/b.js", "require('./vendors/redis.min.js');\n"),
            ("app/c.js", "require('./vendors/js/redis');\n"),
            ("app/d.js", "require('./other/vendors/redis/index.js');\n"),
            ("app/e.c", "#include \"vendors/redis/r.h\"\n"),
        ],
    );
    // Its licence goes in the change that uses it.
    let repo = scene("redis", &["app/vendors/redis/LICENSE", "app/vendors/redis/index.js"]);
    repo.remove("app/vendors/redis/LICENSE");
    repo.change("app/a.js", "require('./vendors/redis');\n");
    repo.agentgate(["check", "--base", "main"]).expect(5, &["app/a.js:1"]);
}

#[test]
fn a_copy_behind_a_folder_that_groups_packages_is_5() {
    let own = |name: &str| format!("third_party/databases/redis/{name}");
    let files: Vec<String> = ["index.js", "__init__.py", "r.h", "r.go", "r.rb", "r.php", "r.rs"]
        .iter()
        .map(|name| own(name))
        .chain(["third_party/databases/OWNERS", "third_party/a/b/redis/x.js"].map(str::to_owned))
        .collect();
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    all_found(
        "redis",
        &files,
        &[
            ("app/a.js", "require(\"../third_party/databases/redis\");\n"),
            ("app/b.js", "require(\"../third_party/a/b/redis/x\");\n"),
            ("app/a.py", "from third_party.databases.redis import X\n"),
            ("app/a.c", "#include \"../third_party/databases/redis/r.h\"\n"),
            ("app/a.go", "package a\n\nimport \"acme/third_party/databases/redis\"\n"),
            ("app/a.rb", "require_relative \"../third_party/databases/redis/r\"\n"),
            (
                "app/a.php",
                "<?php\ninclude __DIR__ . '/../third_party/databases/redis/r.php';\n",
            ),
            ("app/a.rs", "include!(\"../third_party/databases/redis/r.rs\");\n"),
        ],
    );
    // A folder of another package, and a scope.
    check(
        &[
            "vendor/bull/index.js",
            "vendor/bull/redis/index.js",
            "vendor/@acme/redis/index.js",
            "vendor/kombu/__init__.py",
            "vendor/kombu/redis/__init__.py",
            "vendor/databases/redis.js",
        ],
        &[
            (
                "app/a.js",
                "require(\"../vendor/bull/redis\");\nrequire(\"../vendor/@acme/redis\");\n",
            ),
            ("app/a.py", "from vendor.kombu.redis import X\n"),
        ],
    )
    .expect(0, &[]);
}

#[test]
fn a_version_or_a_folder_around_a_copy_hides_nothing() {
    let names = [
        "redis-4",
        "redis-v4",
        "redis-4.x",
        "redis-7-0",
        "redis-main",
        "redis-latest",
        "redis.7.0",
        "v4/redis",
        "js/redis",
    ];
    let files: Vec<String> = names.iter().map(|name| format!("vendor/{name}/index.js")).collect();
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    let added: Vec<(String, String)> = names
        .iter()
        .enumerate()
        .map(|(at, name)| (format!("app/a{at}.js"), format!("require(\"../vendor/{name}\");\n")))
        .collect();
    let added: Vec<(&str, &str)> = added
        .iter()
        .map(|(path, text)| (path.as_str(), text.as_str()))
        .collect();
    all_found("redis", &files, &added);
    all_found(
        "redis, base-64",
        &[
            "vendor/redis-v4/r.h",
            "vendor/redis-4/r.php",
            "vendor/redis-main/r.rb",
            "vendor/base-64/i.js",
        ],
        &[
            ("app/a.c", "#include \"../vendor/redis-v4/r.h\"\n"),
            ("app/a.php", "<?php\nrequire __DIR__ . '/../vendor/redis-4/r.php';\n"),
            ("app/a.rb", "require_relative \"../vendor/redis-main/r\"\n"),
            ("app/b.js", "require(\"../vendor/base-64\");\n"),
        ],
    );
}

#[test]
fn a_name_that_only_begins_like_the_entry_passes() {
    check(
        &[
            "vendor/redis-lite/i.js",
            "vendor/redisx-4/i.js",
            "vendor/bull/redis.js",
            "lib/redis-4/i.js",
        ],
        &[(
            "app/a.js",
            "require(\"../vendor/redis-lite\");\nrequire(\"../vendor/redisx-4\");\nrequire(\"../vendor/bull/redis\");\n\
             require(\"../lib/redis-4\");\n",
        )],
    )
    .expect(0, &[]);
}

#[test]
fn a_cast_of_csharp_behind_an_arrow_is_5() {
    let source = |body: &str| format!("namespace StackExchange;\nclass A {{ {body} }}\n");
    let cast = source("object F(object o) => (Redis.IDatabase)o;");
    all_found("StackExchange.Redis", &[], &[("app/a.cs", &cast)]);
    let repo = scene("StackExchange.Redis", &[]);
    repo.change(
        "app/a.cs",
        &source("object F(object o) => (Redis.Count) + G<int>(Redis.Count);"),
    );
    repo.agentgate(["check", "--base", "main"]).expect(0, &[]);
}

#[test]
fn a_text_of_php_that_is_no_name_passes() {
    check(
        &[],
        &[(
            "app/a.php",
            "<?php\necho 'Redis\\n';\necho \"Redis\\\\t\";\necho __('redis\\messages');\nf('Redis\\9x\\Ab');\n",
        )],
    )
    .expect(0, &[]);
    all_found(
        "redis",
        &[],
        &[
            ("app/a.php", "<?php\nf(\"Redis\\\\Client\");\n"),
            ("app/b.php", "<?php\nf('\\Redis\\Client');\n"),
            ("app/c.php", "<?php\narray_map('redis\\client::get', $a);\n"),
            ("app/d.php", "<?php\n$c = 'redis\\client';\nnew $c;\n"),
        ],
    );
}

#[test]
fn a_load_of_data_or_of_the_file_s_own_passes() {
    let own = "class C\n  def load(f)\n    f\n  end\n  def g\n    load(\"app/x.txt\")\n  end\nend\n";
    check(
        &[],
        &[
            ("app/x.yml", "a: don't\n"),
            ("app/x.txt", "some words\n"),
            (
                "app/a.rb",
                "class B < C\n  def g\n    load(\"app/x.yml\")\n  end\nend\n",
            ),
            ("app/b.rb", own),
        ],
    )
    .expect(0, &[]);
    let unread = "as Ruby, and no import rule reads it";
    check(
        &[],
        &[
            ("app/x.yml", "require \"redis\"\n"),
            ("app/a.rb", "load \"app/x.yml\"\n"),
        ],
    )
    .expect(9, &["app/a.rb:1", unread]);
    check(&[], &[("app/x.txt", "require \"redis\"\n"), ("app/b.rb", own)]).expect(9, &["app/b.rb:6", unread]);
    check(
        &[],
        &[("app/x.txt", "some words\n"), ("app/a.rb", "load \"app/x.txt\"\n")],
    )
    .expect(9, &["app/a.rb:1", unread]);
}

/// A base with a folder `big/` of so many folders of so many files, and a commit on it that links to it.
fn linked(repo: &Repo, folders: usize, files: usize) -> (String, String) {
    let tree = |lines: String| {
        let outcome = repo.program("git").args(["mktree"]).stdin(lines).run().success();
        outcome.last_line().trim().to_owned()
    };
    let blob = |text: &str| {
        let outcome = repo
            .program("git")
            .args(["hash-object", "-w", "--stdin"])
            .stdin(text)
            .run();
        outcome.success().last_line().trim().to_owned()
    };
    let one = blob("require(\"redis\");\n");
    let inner = tree((0..files).map(|at| format!("100644 blob {one}\tf{at}.js\n")).collect());
    let big = tree((0..folders).map(|at| format!("040000 tree {inner}\td{at}\n")).collect());
    let link = blob("../big");
    let policy = repo.git(["rev-parse", "HEAD:architecture"]).trim().to_owned();
    let readme = format!("100644 blob {one}\tREADME\n");
    let start = format!("040000 tree {policy}\tarchitecture\n040000 tree {big}\tbig\n");
    let before = tree(readme.clone());
    let app = tree(format!("{readme}120000 blob {link}\tl\n"));
    let commit = |tree: &str, parent: &[&str]| {
        let args = [&["commit-tree", tree, "-m", "x"], parent].concat();
        repo.git(args).trim().to_owned()
    };
    let base = commit(&tree(format!("{start}040000 tree {before}\tapp\n")), &[]);
    let head = commit(&tree(format!("{start}040000 tree {app}\tapp\n")), &["-p", &base]);
    (base, head)
}

#[test]
fn a_new_link_to_more_files_than_are_read_is_9() {
    let repo = scene("redis", &[]);
    let (base, head) = linked(&repo, 150, 150);
    repo.agentgate(["check", "--base", &base, "--head", &head])
        .expect(9, &["app/l: leads to a folder of more than 20000 files, `big`"]);
}

#[test]
fn a_new_link_to_a_few_thousand_files_is_read() {
    let repo = scene("redis", &[]);
    let (base, head) = linked(&repo, 50, 50);
    repo.agentgate(["check", "--base", &base, "--head", &head])
        .expect(5, &["app/l/d0/f0.js:1:9: imports `redis`"]);
}
