//! Dependencies that a manifest names by way of something else: a constant, another file, a comment.

use super::{Files, judged};
use crate::support::program::Outcome;
use crate::support::repo::Repo;

/// What `check` says of a change that adds these files, with these rules.
fn check(rules: &str, base: Files, change: Files) -> Outcome {
    let repo = Repo::empty();
    repo.write(
        "architecture/invariants.yml",
        format!(
            "version: 1\napp: {{allowed_roots: [app/], forbidden_imports: [redis]}}\nmax_new_top_level_dirs: 9\n{rules}"
        ),
    );
    repo.write("app/README", "x\n");
    judged(&repo, base, change)
}

const DENY: &str = "dependencies: {new: deny}\n";

#[test]
fn constants_of_a_setup_py_are_followed() {
    for text in [
        "REDIS = \"redis>=4\"\n\nsetup(\n    install_requires=[REDIS, \"a\"],\n)\n",
        "X = [\"redis\"]\nY = X + [\"b\"]\nZ = 1\nsetup(install_requires=Y)\n",
        "X = []\nX.append('redis')\nX += ['c']\nsetup(extras_require={'all': X})\n",
        "X = '''\nredis\n'''\nsetup(install_requires=X.split())\n",
    ] {
        let source = format!("from setuptools import setup\n{text}");
        let outcome = check("", &[], &[("app/setup.py", &source)]);
        outcome.expect(8, &["app/setup.py:", "declares `redis`"]);
    }
    // Known names that a constant holds are no new ones, and nothing in it is computed.
    let before = "setup(install_requires=['a', 'b'])\n";
    let after = "A = 'a'\nREST = ['b']\nsetup(\n    install_requires=[A] + REST,\n    name='redis',\n)\n";
    let outcome = check(DENY, &[("app/setup.py", before)], &[("app/setup.py", after)]);
    outcome.expect(0, &[]);
    assert!(!outcome.stdout.contains("computed"), "{outcome}");
    // What is no constant is told.
    let after = "setup(install_requires=read('x') + ['b'])\n";
    check("", &[("app/setup.py", before)], &[("app/setup.py", after)]).expect(0, &["whose name is computed"]);
    check(DENY, &[("app/setup.py", before)], &[("app/setup.py", after)]).expect(8, &["app/setup.py:1"]);
    let after = "X = ['a']\nX.insert(0, y)\nsetup(install_requires=X)\n";
    check("", &[("app/setup.py", before)], &[("app/setup.py", after)]).expect(0, &["whose name is computed"]);
    // A name that is put together is not one of its parts.
    let after = "X = 're'\nsetup(install_requires=[X + 'dis'])\n";
    check("", &[("app/setup.py", before)], &[("app/setup.py", after)]).expect(0, &["whose name is computed"]);
}

#[test]
fn constants_of_a_script_of_gradle_are_followed() {
    for (path, text) in [
        (
            "app/build.gradle.kts",
            "val redis = \"redis.clients:jedis:5\"\ndependencies { implementation(redis) }\n",
        ),
        (
            "app/build.gradle.kts",
            "val g = \"redis.clients\"\ndependencies {\n  implementation(\"$g:jedis:5\")\n}\n",
        ),
        (
            "app/build.gradle",
            "def g = 'redis.clients'\ndependencies {\n  implementation \"${g}:jedis:5\"\n}\n",
        ),
        (
            "app/build.gradle",
            "ext.g = 'redis.clients'\ndependencies {\n  api group: g, name: 'jedis', version: '5'\n}\n",
        ),
    ] {
        let outcome = check("", &[], &[(path, text)]);
        outcome.expect(8, &[&format!("{path}:"), "`redis` forbids in app"]);
        assert!(!outcome.stdout.contains("computed"), "{outcome}");
    }
    let before = "dependencies {\n  implementation(\"a.b:c:1\")\n}\n";
    let after = "val c = \"a.b:c:2\"\nval redis = \"x\"\ndependencies {\n  implementation(c)\n  implementation(\"a.b:c:$redis\")\n}\n";
    check(
        DENY,
        &[("app/build.gradle.kts", before)],
        &[("app/build.gradle.kts", after)],
    )
    .expect(0, &[]);
    // A name of several strings, or of none, tells nothing.
    for text in [
        "var c = \"a.b:c:1\"\nc = x()\ndependencies {\n  implementation(c)\n}\n",
        "dependencies {\n  implementation(c)\n}\n",
        "dependencies {\n  implementation(\"$g:jedis:5\")\n}\n",
    ] {
        check(
            "",
            &[("app/build.gradle.kts", before)],
            &[("app/build.gradle.kts", text)],
        )
        .expect(0, &["is computed"]);
        check(
            DENY,
            &[("app/build.gradle.kts", before)],
            &[("app/build.gradle.kts", text)],
        )
        .expect(8, &["app/build"]);
    }
}

#[test]
fn what_a_gemfile_evaluates_is_a_gemfile() {
    let gemfile = ("Gemfile", "source 'https://rubygems.org'\neval_gemfile 'app/x.lst'\n");
    let more = |text: &'static str| [("app/x.lst", text)];
    check(
        "",
        &[gemfile, ("app/x.lst", "gem 'a'\n")],
        &more("gem 'a'\ngem 'redis'\n"),
    )
    .expect(8, &["app/x.lst:2: declares `redis`"]);
    check(
        DENY,
        &[gemfile, ("app/x.lst", "gem 'a'\n")],
        &more("gem 'a'\ngem 'b'\n"),
    )
    .expect(8, &["app/x.lst:2"]);
    check(DENY, &[gemfile, ("app/x.lst", "gem 'a'\n")], &more("gem 'a', '2'\n")).expect(0, &[]);
    check("", &[("Gemfile", "gem 'a'\n")], &more("gem 'redis'\n")).expect(0, &[]);
    let in_ruby = ("Gemfile", "eval_gemfile(\"app/more.rb\")\n");
    check(
        DENY,
        &[in_ruby, ("app/more.rb", "gem 'a'\n")],
        &[("app/more.rb", "gem 'a'\ngem 'b'\n")],
    )
    .expect(8, &["app/more.rb:2"]);
}

#[test]
fn constraints_are_told_and_are_no_dependencies() {
    for path in ["app/constraints.txt", "app/dev-constraints.txt"] {
        let outcome = check(DENY, &[], &[(path, "redis<5\n")]);
        outcome.expect(0, &[&format!("{path}`: bounds versions of what other files install")]);
    }
    // One that is installed from is a list.
    check(
        DENY,
        &[
            ("app/requirements.txt", "-r constraints.txt\n"),
            ("app/constraints.txt", "a\n"),
        ],
        &[("app/constraints.txt", "a\nb\n")],
    )
    .expect(8, &["app/constraints.txt:2"]);
}

#[test]
fn the_list_of_a_script_of_jbang_is_read() {
    let script = |lines: &str| format!("///usr/bin/env jbang \"$0\" \"$@\" ; exit $?\n{lines}\nclass A {{}}\n");
    let one = script("//DEPS a.b:c:1 redis.clients:jedis:5");
    check("", &[], &[("app/A.java", &one)]).expect(8, &["app/A.java:2: declares `redis.clients:jedis`"]);
    check("", &[], &[("other/A.java", &one)]).expect(0, &[]);
    let before = script("//DEPS a.b:c:1");
    let same = script("//DEPS a.b:c:${version:2}@fatjar // redis:x");
    check(DENY, &[("app/A.java", &before)], &[("app/A.java", &same)]).expect(0, &[]);
    let more = script("//DEPS a.b:c:1\n//DEPS d.e:f:1");
    check(DENY, &[("app/A.java", &before)], &[("app/A.java", &more)]).expect(8, &["app/A.java:3", "`d.e:f`"]);
    check(
        "",
        &[],
        &[(
            "app/A.java",
            "// //DEPS redis:jedis:1\nclass A { String s = \"//DEPS redis:x:1\"; }\n",
        )],
    )
    .expect(0, &[]);
}

#[test]
fn an_environment_of_conda_is_read() {
    let before =
        "name: x\nchannels:\n  - conda-forge\ndependencies:\n  - python=3.11\n  - numpy=1.2\n  - pip:\n    - a==1\n";
    let path = "app/environment.yml";
    let with = |line: &str| format!("{before}{line}\n");
    check("", &[(path, before)], &[(path, &with("    - redis>=4"))])
        .expect(8, &["app/environment.yml:9: declares `redis`"]);
    check("", &[(path, before)], &[(path, &with("  - conda-forge::redis=5"))]).expect(8, &["app/environment.yml:9"]);
    check(DENY, &[(path, before)], &[(path, &with("  - scipy"))]).expect(8, &["app/environment.yml:9", "`scipy`"]);
    let other = before
        .replace("numpy=1.2", "numpy=1.3")
        .replace("3.11", "3.12")
        .replace("a==1", "a==2");
    check(
        DENY,
        &[(path, before)],
        &[(path, &other.replace("name: x", "name: redis"))],
    )
    .expect(0, &[]);
}

#[test]
fn a_list_of_a_setup_py_that_is_changed_in_another_way_is_computed() {
    let lines = "REQS[0]='redis'|REQS[len(REQS):]=['redis']|R=REQS;R.append('redis')|def add(r): r.append('redis')\nadd(REQS)|\
                 from deps import REQS|from deps import *|REQS, X = ['redis'], 1|for REQS in [['redis']]: pass|\
                 [REQS.append(x) for x in ['redis']]|list.append(REQS, 'redis')|a=REQS.append;a('redis')|\
                 globals().update(REQS=['redis'])|exec(x)|import deps as REQS|(REQS := ['redis'])|REQS.__iadd__(['redis'])|\
                 REQS: list = ['redis']|X, REQS = 1, ['redis']";
    let file = |line: &str, key: &str| {
        format!(
            "from setuptools import setup\nREQS = ['django']\nEX = {{'a': ['django']}}\n{line}\nsetup(name='x', {key})\n"
        )
    };
    let judge = |line: &str, key: &str| {
        let outcome = check(
            DENY,
            &[("app/setup.py", &file("", key))],
            &[("app/setup.py", &file(line, key))],
        );
        assert_eq!(outcome.code, 8, "{line}: {outcome}");
    };
    lines.split('|').for_each(|line| judge(line, "install_requires=REQS"));
    for line in [
        "EX['b']=['redis']",
        "EX['a'].append('redis')",
        "EX['a'] += ['redis']",
        "EX.setdefault('b',[]).append('redis')",
    ] {
        judge(line, "extras_require=EX");
    }
    // What only looks at a list changes nothing.
    for line in [
        "print(REQS)",
        "if REQS: pass",
        "ALL = REQS + ['django']",
        "for name in REQS: print(name)",
        "f(REQS=1)",
        "TABLE = {'x': REQS}",
        "BOTH = [REQS, EX]",
        "REQS += ['django']",
    ] {
        let (before, after) = (file("", "install_requires=REQS"), file(line, "install_requires=REQS"));
        let outcome = check(DENY, &[("app/setup.py", &before)], &[("app/setup.py", &after)]);
        outcome.expect(0, &[]);
        assert!(!outcome.to_string().contains("computed"), "{line}: {outcome}");
    }
}
