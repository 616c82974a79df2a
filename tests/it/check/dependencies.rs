//! What manifests may newly declare, by the policy, with the real binary.

use crate::support::jobs::run_to;
use crate::support::repo::{POLICY, Repo};

/// A repository whose policy also has these lines, on branch `f`.
fn with(lines: &str) -> Repo {
    let repo = Repo::new();
    repo.change("architecture/invariants.yml", &format!("{POLICY}{lines}"));
    repo.change("package.json", "{\"dependencies\": {\"known\": \"1\"}}\n");
    repo.change("package-lock.json", "{}\n");
    repo.branch("f");
    repo
}

#[test]
fn a_new_name_is_8_with_place_rule_and_remedy() {
    let repo = with("dependencies: {new: deny, allowed: [left-pad]}\n");
    repo.change(
        "package.json",
        "{\"dependencies\": {\n\"known\": \"2\",\n\"left-pad\": \"1\",\n\"ioredis\": \"5\"}}\n",
    );
    repo.agentgate(["check", "--base", "main"]).expect(
        8,
        &[
            "package.json:4: new dependency `ioredis`, which `dependencies.allowed` does not name\n",
            "  rule: new-dependency [dependencies.new] (exit 8)\n",
            "  hint: remove `ioredis`, or ask an owner of architecture/invariants.yml to list it in \
             `dependencies.allowed`\n",
            "invariants broken; 1 finding in 1 path (exit 8)",
        ],
    );
}

#[test]
fn what_is_allowed_and_what_was_there_passes() {
    let repo = with("dependencies: {new: deny, allowed: [left-pad]}\n");
    repo.change(
        "package.json",
        "{\"devDependencies\": {\"known\": \"2\", \"left-pad\": \"1\"}}\n",
    );
    repo.agentgate(["check", "--base", "main"]).expect(0, &[]);
}

#[test]
fn a_forbidden_name_is_8_in_xml_too() {
    let repo = with("dependencies: {forbidden: [redis]}\n");
    repo.change(
        "pom.xml",
        "<project>\n<dependency><groupId>redis.clients</groupId>\n<artifactId>jedis</artifactId></dependency>\n</project>\n",
    );
    repo.agentgate(["check", "--base", "main"]).expect(
        8,
        &[
            "pom.xml:2: new dependency `redis.clients:jedis`, which `redis` forbids\n",
            "  rule: forbidden-dependency [dependencies.forbidden[0]] (exit 8)\n",
        ],
    );
}

#[test]
fn an_areas_forbidden_import_is_forbidden_as_a_dependency() {
    let repo = with("");
    repo.change("payments/package.json", "{\"dependencies\": {\"redis\": \"4\"}}\n");
    repo.agentgate(["check", "--base", "main"]).expect(
        8,
        &["payments/package.json:1: declares `redis`, which is forbidden in payments\n"],
    );
}

#[test]
fn a_job_that_adds_a_forbidden_dependency_is_refused() {
    let repo = with("dependencies: {forbidden: [redis]}\n");
    let agent = "printf '[dependencies]\\nredis = \"1\"\\n' > Cargo.toml";
    run_to(8, &repo, "j1", agent).expect(8, &["verdict=forbidden-dependency", "Cargo.toml:2"]);
}

#[test]
fn a_lock_file_alone_is_8() {
    let repo = with("dependencies: {forbidden: [redis]}\n");
    repo.change("package-lock.json", "{\"a\": 1}\n");
    repo.agentgate(["check", "--base", "main"]).expect(
        8,
        &[
            "package-lock.json: `package-lock.json` changed and no manifest that it belongs to did\n",
            "  rule: lock-file [dependencies] (exit 8)\n",
            "  hint: put it back as it is in the base",
        ],
    );
}

#[test]
fn a_manifest_that_no_version_reads_is_a_warning() {
    let repo = with("dependencies: {new: deny}\n");
    repo.change("mix.exs", "defmodule X do\nend\n");
    repo.agentgate(["check", "--base", "main"]).expect(
        0,
        &["warning: mix.exs: changed; new dependencies in it were not looked for, since this version does not read it [dependencies.new]\n"],
    );
}

#[test]
fn a_manifest_nested_without_end_is_9() {
    let repo = with("dependencies: {forbidden: [redis]}\n");
    repo.write("package.json", "{\"a\":".repeat(100_000));
    repo.write("Cargo.toml", format!("a = {}", "[".repeat(100_000)));
    repo.write("pom.xml", "<a>".repeat(100_000));
    repo.commit("nested");
    repo.agentgate(["check", "--base", "main"]).expect(
        9,
        &[
            "Cargo.toml: its dependencies cannot be read: not valid TOML",
            "package.json: its dependencies cannot be read: not valid JSON",
            "pom.xml: its dependencies cannot be read: not XML that is read here",
            "invariants broken; 3 findings in 3 paths (exit 9)",
        ],
    );
}

#[test]
fn a_policy_that_misspells_its_limit_is_2() {
    let repo = with("");
    repo.change(
        "architecture/invariants.yml",
        &format!("{POLICY}dependencies: {{forbiden: [redis]}}\n"),
    );
    repo.branch("g");
    repo.change("payments/a.ts", "1\n");
    repo.agentgate(["check", "--base", "f"]).expect(
        2,
        &[
            "unknown key `forbiden` in `dependencies`",
            "hint: did you mean `forbidden`?",
        ],
    );
}

/// The exit of a check of this one new file below `new: deny`, with these words in it.
fn denied(path: &str, text: &str, exit: i32, words: &[&str]) {
    let repo = with("dependencies: {new: deny}\n");
    repo.change(path, text);
    repo.agentgate(["check", "--base", "main"]).expect(exit, words);
}

#[test]
fn a_name_that_setup_py_computes_is_8() {
    denied(
        "setup.py",
        "r=read(); setup(install_requires=[r])\n",
        8,
        &["a dependency whose name is computed, `install_requires=[r])`"],
    );
    denied(
        "setup.py",
        "r=\"redis\"; setup(install_requires=[r])\n",
        8,
        &["setup.py:1: declares `redis`"],
    );
    denied("setup.py", "setup(**x.args)\n", 8, &["name is computed, `**x.args)`"]);
}

#[test]
fn manifests_beside_the_main_one_are_read() {
    for (path, text, name) in [
        ("uv.toml", "constraint-dependencies = [\"redis>=4\"]\n", "redis"),
        (
            "payments/uv.toml",
            "[sources]\nredis = { git = \"https://example.com/x\" }\n",
            "redis",
        ),
        ("hatch.toml", "[envs.test]\ndependencies = [\"redis\"]\n", "redis"),
        ("tox.ini", "[testenv]\ndeps =\n    py312: redis>=4\n", "redis"),
        (
            "deno.json",
            "{\"imports\": {\"cache\": \"npm:redis@^4\"}} // x\n",
            "redis",
        ),
        (
            "payments/deno.jsonc",
            "{\"imports\": {\"redis\": \"https://deno.land/x/redis/mod.ts\"}}\n",
            "redis",
        ),
        (
            "import_map.json",
            "{\"scopes\": {\"/a/\": {\"cache\": \"https://esm.sh/redis\"}}}\n",
            "redis",
        ),
        (
            "global.json",
            "{\"msbuild-sdks\": {\"Acme.Sdk\": \"1.0\"}}\n",
            "acme.sdk",
        ),
    ] {
        denied(path, text, 8, &[path, &format!("new dependency `{name}`")]);
    }
    // What only configures, and names of the repository's own.
    for (path, text) in [
        ("uv.toml", "index-url = \"https://example.com\"\n"),
        ("hatch.toml", "[envs.test.scripts]\nredis = \"pytest\"\n"),
        (
            "tox.ini",
            "[testenv]\ndeps =\n    -e .\n    -r requirements.txt\ncommands = redis\n",
        ),
        (
            "deno.json",
            "{\"imports\": {\"redis\": \"./redis.ts\"}, \"tasks\": {\"a\": \"npm:redis\"}}\n",
        ),
        ("global.json", "{\"sdk\": {\"version\": \"8.0.100\"}}\n"),
    ] {
        denied(path, text, 0, &[]);
    }
    denied("tox.ini", "[testenv]\nno line\n", 9, &["tox.ini"]);
    // One that is code, and what says how others are read.
    for path in ["noxfile.py", "tox.toml"] {
        denied(
            path,
            "\n",
            0,
            &[&format!(
                "warning: {path}: changed; new dependencies in it were not looked for"
            )],
        );
    }
}

#[test]
fn a_manifest_beside_the_main_one_does_not_shield_an_area() {
    let repo = with("");
    repo.write("payments/tox.ini", "[tox]\n");
    repo.write("payments/uv.toml", "\n");
    repo.write("pyproject.toml", "[project]\nname = \"x\"\n");
    repo.commit("files");
    repo.git(["branch", "-qf", "main", "HEAD"]);
    repo.change(
        "pyproject.toml",
        "[project]\nname = \"x\"\ndependencies = [\"redis\"]\n",
    );
    repo.agentgate(["check", "--base", "main"])
        .expect(8, &["pyproject.toml:3"]);
}

#[test]
fn any_file_that_msbuild_imports_is_read() {
    let text = "<Project><PackageReference Include=\"StackExchange.Redis\" /></Project>\n";
    for path in [
        "payments/Common.props",
        "payments/x.targets",
        "dirs.proj",
        "payments/db.sqlproj",
    ] {
        denied(path, text, 8, &["new dependency `stackexchange.redis`"]);
    }
    denied("payments/app.props", "a = 1\n", 0, &[]);
}

#[test]
fn a_using_of_msbuild_counts_for_an_area() {
    let repo = with("");
    let text = "<Project><Using Include=\"StackExchange.Redis\" /></Project>\n";
    repo.change("payments/x.props", text);
    repo.agentgate(["check", "--base", "main"]).expect(
        8,
        &["declares `stackexchange.redis`", "which `redis` forbids in payments"],
    );
}

#[test]
fn gradle_hides_no_name_in_other_literals() {
    denied(
        "settings.gradle",
        "library('x', 'redis.clients', 'jedis')\n",
        8,
        &["new dependency `redis.clients:jedis`"],
    );
    denied(
        "build.gradle",
        "implementation(/redis.clients:jedis:4/)\n",
        8,
        &["new dependency `redis.clients:jedis`"],
    );
    denied("build.gradle", "apply from: 'o.gradle'\n", 8, &["name is computed"]);
    denied("build.gradle", "api files('x.jar')\n", 8, &["name is computed"]);
}

#[test]
fn gemfiles_of_appraisal_and_sent_calls_are_read() {
    denied(
        "payments/gemfiles/a.gemfile",
        "gem 'redis'\n",
        8,
        &["new dependency `redis`"],
    );
    denied("Gemfile", "send :gem, 'redis'\n", 8, &["new dependency `redis`"]);
}

#[test]
fn lock_files_of_other_names_are_lock_files() {
    for path in ["pylock.toml", "pylock.web.toml", "payments/gemfiles/a.gemfile.lock"] {
        denied(path, "x\n", 8, &["changed and no manifest that it belongs to did"]);
    }
}

#[test]
fn the_repositorys_own_folders_in_requirements_are_no_finding() {
    denied("requirements.txt", "-e .\n--editable .\n./local\n", 0, &[]);
    denied("requirements.txt", "./wheels/redis-4.whl\n", 8, &["new dependency"]);
}

#[test]
fn a_file_that_a_link_shows_as_a_manifest_is_judged_as_one() {
    for lines in [
        "dependencies: {new: deny}\n",
        "dependencies: {forbidden: [redis]}\n",
        "",
    ] {
        let repo = Repo::new();
        repo.change("architecture/invariants.yml", &format!("{POLICY}{lines}"));
        repo.write("pkg.txt", "{\"dependencies\": {\"known\": \"1\"}}\n");
        repo.write("payments/a/x", "x\n");
        let link = repo.root.join("payments/a/package.json");
        std::os::unix::fs::symlink("../../pkg.txt", link).expect("a link can be made");
        repo.commit("link");
        repo.branch("f");
        repo.change("pkg.txt", "{\"dependencies\": {\"known\": \"2\"}}\n");
        repo.agentgate(["check", "--base", "main"]).expect(0, &[]);
        repo.change("pkg.txt", "{\"dependencies\": {\"known\": \"2\", \"redis\": \"4\"}}\n");
        repo.agentgate(["check", "--base", "main"])
            .expect(8, &["payments/a/package.json:1: ", "`redis`"]);
    }
}

#[test]
fn a_scripts_own_list_is_judged_like_a_manifest() {
    let repo = with("dependencies: {new: deny}\nmax_new_top_level_dirs: 1\n");
    repo.write(
        "tools/run.py",
        "# /// script\n# dependencies = [\n#   'rich',\n# ]\n# ///\nprint()\n",
    );
    repo.write(
        "tools/run.cs",
        "#!/usr/bin/env dotnet\n#:package Humanizer@2.14.1\nConsole.WriteLine();\n",
    );
    repo.commit("scripts");
    repo.agentgate(["check", "--base", "main"]).expect(
        8,
        &[
            "tools/run.py:3: new dependency `rich`",
            "tools/run.cs:2: new dependency `humanizer`",
            "2 manifests read for dependencies",
        ],
    );
    // What the base has is known, also where the script moves.
    repo.git(["checkout", "--quiet", "-b", "g"]);
    repo.git(["mv", "tools/run.py", "payments/run.py"]);
    repo.commit("move");
    repo.agentgate(["check", "--base", "f"]).expect(0, &[]);
    repo.write(
        "payments/run.py",
        "# /// script\n# dependencies = ['rich', 'httpx']\n# ///\nprint()\n",
    );
    repo.commit("more");
    let outcome = repo.agentgate(["check", "--base", "f"]);
    outcome.expect(8, &["payments/run.py:2: new dependency `httpx`", "1 finding in 1 path"]);
}

#[test]
fn a_scripts_list_speaks_for_the_script_alone() {
    let repo = with("dependencies: {forbidden: [left-pad]}\nmax_new_top_level_dirs: 1\n");
    repo.write(
        "tools/run.py",
        "# /// script\n# dependencies = ['redis']\n# ///\nprint()\n",
    );
    repo.write("run.py", "# /// script\n# dependencies = ['redis']\n# ///\nprint()\n");
    repo.commit("outside of payments");
    repo.agentgate(["check", "--base", "main"]).expect(0, &[]);
    repo.change(
        "payments/run.py",
        "# /// script\n# dependencies = ['redis']\n# ///\nprint()\n",
    );
    repo.agentgate(["check", "--base", "main"])
        .expect(8, &["payments/run.py:2: declares `redis`"]);
    repo.change("payments/run.py", "# /// script\n# dependencies = [\n# ///\nprint()\n");
    repo.agentgate(["check", "--base", "main"])
        .expect(9, &["payments/run.py: its dependencies cannot be read: not valid TOML"]);
}

#[test]
fn what_declares_in_a_form_that_is_not_read_is_said_and_listed() {
    let files = [
        ("Dockerfile", "FROM alpine\n"),
        ("payments/CMakeLists.txt", "find_package(X)\n"),
        ("payments/a.rb", "require 'bundler/inline'\n"),
        ("payments/b.fsx", "#r \"nuget: X\"\n"),
        ("payments/conanfile.txt", "[requires]\n"),
        ("payments/flake.nix", "{}\n"),
    ];
    for (policy, mark) in [
        ("dependencies: {new: deny}\n", "warning: "),
        ("dependencies: {forbidden: [left-pad]}\n", "note: "),
    ] {
        let repo = with(policy);
        for (path, text) in files {
            repo.write(path, text);
        }
        // Without a word of dependencies it is no manifest.
        repo.write("payments/cmake/CMakeLists.txt", "project(x)\n");
        repo.write("payments/plain.rb", "puts 1\n");
        repo.commit("more");
        let outcome = repo.agentgate(["check", "--base", "main"]);
        outcome.expect(0, &["6 for dependencies, in a form that is not read"]);
        for (path, _) in files {
            let lines = outcome.stdout.lines();
            let said =
                lines.filter(|line| line.starts_with(mark) && line.contains(path) && line.contains("not looked for"));
            assert_eq!(said.count(), 1, "{path}: {outcome}");
        }
        let json = repo.agentgate(["check", "--base", "main", "--json"]).json();
        let skipped = json["inspected"]["skipped"].as_array().expect("a list").clone();
        let listed = skipped
            .iter()
            .find(|entry| entry["reason"] == "for dependencies, in a form that is not read")
            .expect("it is listed");
        let paths: Vec<&str> = listed["paths"]
            .as_array()
            .expect("a list")
            .iter()
            .filter_map(|path| path["path"].as_str())
            .collect();
        assert_eq!(paths, files.map(|(path, _)| path), "{json}");
    }
    // Where no rule looks at dependencies there is nothing to say.
    let repo = with("");
    repo.change("Dockerfile", "FROM alpine\n");
    let outcome = repo.agentgate(["check", "--base", "main"]);
    assert!(!outcome.stdout.contains("Dockerfile"), "{outcome}");
}

#[test]
fn an_exception_and_the_languages_of_an_entry_hold_for_manifests_too() {
    let repo = Repo::new();
    let entry = "{import: bullmq, languages: [ts], except: [payments/cache/**], reason: one queue, use_instead: jobs}";
    let policy = POLICY.replace("forbidden_imports: [redis]", &format!("forbidden_imports: [{entry}]"));
    assert_ne!(policy, POLICY);
    repo.change("architecture/invariants.yml", &policy);
    repo.branch("f");
    let manifest = "{\"dependencies\": {\"bullmq\": \"5\"}}\n";
    repo.change("payments/cache/package.json", manifest);
    repo.change("payments/requirements.txt", "bullmq==1\n");
    repo.agentgate(["check", "--base", "main"]).expect(0, &[]);
    repo.change("payments/package.json", manifest);
    repo.agentgate(["check", "--base", "main"]).expect(
        8,
        &[
            "payments/package.json:1: declares `bullmq`, which is forbidden in payments: one queue\n",
            "  hint: use jobs instead, or ask an owner of architecture/invariants.yml to allow `bullmq` in payments, or \
             in this file by `except`\n",
            "invariants broken; 1 finding in 1 path",
        ],
    );
}

#[test]
fn the_repositorys_own_folders_are_no_new_names_and_copies_are() {
    let repo = with("dependencies: {new: deny, forbidden: [redis]}\n");
    for folder in ["b", "d", "web/c", "y"] {
        repo.write(format!("payments/{folder}/x"), "x\n");
    }
    repo.change(
        "payments/web/package.json",
        r#"{"dependencies": {"@x/a": "workspace:*", "b": "file:../b", "c": "link:./c", "d": "../d"}}"#,
    );
    repo.change(
        "payments/x/Cargo.toml",
        "[dependencies]\ny = { path = \"../y\", version = \"1\" }\n",
    );
    repo.agentgate(["check", "--base", "main"]).expect(0, &[]);
    for (path, content) in [
        (
            "payments/web/package.json",
            r#"{"dependencies": {"b": "file:../vendor/b"}}"#,
        ),
        (
            "payments/web/package.json",
            r#"{"dependencies": {"b": "file:../node_modules/b"}}"#,
        ),
        (
            "payments/web/package.json",
            r#"{"dependencies": {"b": "file:../../../b"}}"#,
        ),
        ("payments/web/package.json", r#"{"dependencies": {"b": "file:/b"}}"#),
        ("payments/web/package.json", r#"{"dependencies": {"b": "file:b.tgz"}}"#),
        (
            "payments/web/package.json",
            r#"{"dependencies": {"b": "workspace:b2@*"}}"#,
        ),
        (
            "payments/web/package.json",
            r#"{"dependencies": {"redis": "workspace:*"}}"#,
        ),
        (
            "payments/x/Cargo.toml",
            "[dependencies]\ny = { path = \"../third_party/y\" }\n",
        ),
        (
            "payments/x/Cargo.toml",
            "[dependencies]\ny = { path = \"../../../y\" }\n",
        ),
        ("payments/x/Cargo.toml", "[dependencies]\nredis = { path = \"../y\" }\n"),
    ] {
        let repo = with("dependencies: {new: deny, forbidden: [redis]}\n");
        repo.change(path, content);
        let outcome = repo.agentgate(["check", "--base", "main"]);
        assert_eq!(outcome.code, 8, "{content}: {outcome}");
    }
}

/// A pom.xml with these coordinates and dependencies.
fn pom(group: &str, artifact: &str, dependencies: &[(&str, &str)]) -> String {
    let dependencies: String = dependencies
        .iter()
        .map(|(group, artifact)| {
            format!("<dependency><groupId>{group}</groupId><artifactId>{artifact}</artifactId></dependency>\n")
        })
        .collect();
    format!(
        "<project>\n<groupId>{group}</groupId>\n<artifactId>{artifact}</artifactId>\n<dependencies>\n{dependencies}\
         </dependencies>\n</project>\n"
    )
}

#[test]
fn a_module_of_maven_is_no_new_name() {
    let repo = with("max_new_top_level_dirs: 9\ndependencies: {new: deny}\n");
    repo.checkout("main");
    repo.change("core/pom.xml", &pom("com.acme", "core", &[]));
    repo.change(
        "web/pom.xml",
        "<project><parent><groupId>com.acme</groupId><artifactId>all</artifactId></parent>\
         <artifactId>web</artifactId></project>\n",
    );
    repo.checkout("f");
    repo.git(["merge", "--quiet", "main"]);
    // Modules that were there, and one that the change adds.
    repo.write(
        "jobs/pom.xml",
        pom("com.acme.jobs", "jobs", &[("com.acme", "core"), ("com.acme", "web")]),
    );
    repo.write(
        "app/pom.xml",
        pom(
            "com.acme",
            "app",
            &[("${project.groupId}", "core"), ("com.acme.jobs", "jobs")],
        ),
    );
    repo.commit("modules");
    repo.agentgate(["check", "--base", "main"]).expect(0, &[]);
}

#[test]
fn what_no_module_of_maven_is_stays_a_new_name() {
    let repo = with("max_new_top_level_dirs: 9\ndependencies: {new: deny}\n");
    repo.checkout("main");
    repo.change("core/pom.xml", &pom("com.acme", "core", &[]));
    repo.change("vendor/x/pom.xml", &pom("com.other", "x", &[]));
    repo.checkout("f");
    repo.git(["merge", "--quiet", "main"]);
    // A module of another group that the change adds makes no package its own.
    repo.write("fake/pom.xml", pom("org.redis", "client", &[]));
    repo.write(
        "app/pom.xml",
        pom(
            "com.acme",
            "app",
            &[("com.acme", "none"), ("org.redis", "client"), ("com.other", "x")],
        ),
    );
    repo.commit("modules");
    repo.agentgate(["check", "--base", "main"]).expect(
        8,
        &[
            "app/pom.xml:5: new dependency `com.acme:none`",
            "app/pom.xml:6: new dependency `org.redis:client`",
            "app/pom.xml:7: new dependency `com.other:x`",
            "3 findings",
        ],
    );
}

#[test]
fn a_module_of_maven_that_is_forbidden_is_8_all_the_same() {
    let repo = with("max_new_top_level_dirs: 9\ndependencies: {new: deny, forbidden: [\"org.redis:client\"]}\n");
    repo.checkout("main");
    repo.change("core/pom.xml", &pom("org.redis", "core", &[]));
    repo.checkout("f");
    repo.git(["merge", "--quiet", "main"]);
    repo.write("fake/pom.xml", pom("org.redis", "client", &[]));
    repo.write("app/pom.xml", pom("com.acme", "app", &[("org.redis", "client")]));
    repo.commit("modules");
    repo.agentgate(["check", "--base", "main"]).expect(
        8,
        &[
            "app/pom.xml:5: new dependency `org.redis:client`, which is forbidden",
            "1 finding",
        ],
    );
}

#[test]
fn projects_of_gradle_and_net_are_no_new_names() {
    let repo = with("max_new_top_level_dirs: 9\ndependencies: {new: deny}\n");
    repo.write(
        "app/build.gradle",
        "dependencies {\n  implementation project(':core')\n}\n",
    );
    repo.write(
        "web/build.gradle.kts",
        "dependencies {\n  implementation(project(\":core\"))\n}\n",
    );
    repo.write(
        "a/a.csproj",
        "<Project><ItemGroup><ProjectReference Include=\"../b/b.csproj\" /></ItemGroup></Project>\n",
    );
    repo.commit("projects");
    repo.agentgate(["check", "--base", "main"]).expect(0, &[]);
}
