//! Paths of JavaScript that lead out of what git has.

use super::on_branch;
use crate::support::program::Outcome;
use crate::support::repo::Repo;

fn check(repo: &Repo) -> Outcome {
    repo.commit("the change");
    repo.agentgate(["check", "--base", "main"])
}

fn linked(link: &str, target: &str) -> Repo {
    let repo = on_branch();
    repo.write(".gitignore", "node_modules\ndeps\n");
    std::os::unix::fs::symlink(target, repo.root.join(link)).expect("a link can be made");
    repo
}

#[test]
fn a_link_into_node_modules_hides_no_package() {
    let repo = linked("payments/k", "../node_modules");
    repo.write("payments/a.js", "require('./k/redis');\n");
    check(&repo).expect(
        5,
        &["payments/a.js:1:9: imports `./k/redis`, which `redis` forbids in payments"],
    );
}

#[test]
fn a_link_to_the_package_itself_is_5_too() {
    let repo = linked("payments/k", "../node_modules/redis");
    repo.write("payments/a.ts", "import k from './k';\n");
    check(&repo).expect(5, &["payments/a.ts:1"]);
}

#[test]
fn a_link_to_a_file_of_the_package_is_5_without_its_ending() {
    let repo = linked("payments/k.js", "../node_modules/redis/index.js");
    repo.write("payments/a.ts", "import k from './k';\n");
    check(&repo).expect(5, &["payments/a.ts:1"]);
}

#[test]
fn a_link_into_another_folder_that_git_does_not_have_is_5() {
    let repo = linked("payments/k", "../deps/lib");
    repo.write("payments/a.js", "require('./k/redis');\n");
    check(&repo).expect(5, &["payments/a.js:1"]);
}

#[test]
fn a_link_to_an_own_folder_passes() {
    let repo = linked("payments/k", "../shared");
    repo.write("shared/redis/index.js", "exports.a = 1;\n");
    repo.write("payments/a.js", "require('./k/redis');\nrequire('./none/redis');\n");
    repo.write("architecture/x", "");
    let outcome = check(&repo);
    assert!(!outcome.to_string().contains("payments/a.js:"), "{outcome}");
}

#[test]
fn a_path_over_the_top_of_the_repository_is_no_own_module() {
    for source in [
        "require('../../redis/index.js');\n",
        "import '../../../lib/redis';\n",
        "require('/opt/redis');\n",
    ] {
        let repo = on_branch();
        repo.write("payments/a.js", source);
        check(&repo).expect(5, &["payments/a.js:1"]);
    }
}

#[test]
fn a_path_from_the_top_of_a_site_passes() {
    let repo = on_branch();
    repo.write("payments/redis/x.js", "export {};\n");
    repo.write(
        "payments/a.js",
        "import '/redis/x.js';\nimport '/payments/redis/x.js';\n",
    );
    check(&repo).expect(0, &[]);
}

#[test]
fn an_entry_of_a_package_that_leads_into_node_modules_is_5() {
    let repo = on_branch();
    repo.write(
        "payments/m/package.json",
        "{\n  \"main\": \"../../node_modules/redis\"\n}\n",
    );
    repo.write("payments/a.js", "require('./m');\n");
    check(&repo).expect(5, &["payments/m/package.json:2"]);
}

#[test]
fn an_entry_that_leaves_the_repository_or_maps_a_package_is_5() {
    for manifest in [
        "{\"main\": \"../../../redis/index.js\"}",
        "{\"browser\": {\"./x.js\": \"redis\"}}",
        "{\"name\": \"own\", \"exports\": {\"./x\": \"./node_modules/redis/index.js\"}}",
    ] {
        let repo = on_branch();
        repo.write("payments/m/package.json", manifest);
        check(&repo).expect(5, &["payments/m/package.json:1"]);
    }
}

#[test]
fn a_package_with_entries_of_its_own_passes() {
    let repo = on_branch();
    repo.write(
        "payments/m/package.json",
        "{\"main\": \"dist/redis.js\", \"browser\": \"./redis.js\"}",
    );
    check(&repo).expect(0, &[]);
}

#[test]
fn a_path_of_another_language_over_the_top_of_the_repository_is_5() {
    for (path, source) in [
        ("payments/a.rb", "require_relative \"../../../lib/redis\"\n"),
        ("payments/a.rb", "require \"../../lib/redis/client\"\n"),
        ("payments/a.rb", "load \"/opt/redis/client.rb\"\n"),
        (
            "payments/a.php",
            "<?php include __DIR__ . '/../../lib/redis/client.php';\n",
        ),
        ("payments/a.php", "<?php require '../../lib/redis/client.php';\n"),
        ("payments/a.c", "#include \"../../lib/redis/client.h\"\n"),
        ("payments/a.c", "#include <../../../lib/redis/client.h>\n"),
    ] {
        let repo = on_branch();
        repo.write(path, source);
        check(&repo).expect(5, &[&format!("{path}:1")]);
    }
}

#[test]
fn paths_of_other_languages_inside_the_repository_pass() {
    let repo = on_branch();
    repo.write("payments/lib/redis/client.rb", "1\n");
    repo.write("payments/lib/redis/client.php", "<?php\n");
    repo.write("payments/lib/redis/client.h", "\n");
    repo.write(
        "payments/a.rb",
        "require_relative \"../payments/lib/redis/client\"\nrequire_relative \"lib/redis/client\"\n",
    );
    repo.write(
        "payments/a.php",
        "<?php include __DIR__ . '/../payments/lib/redis/client.php';\n",
    );
    repo.write("payments/a.c", "#include \"../payments/lib/redis/client.h\"\n");
    // Out of it, and no package of the policy.
    repo.write("payments/b.php", "<?php require __DIR__ . '/../../../autoload.php';\n");
    repo.write("payments/b.rb", "require_relative \"../../x\"\n");
    check(&repo).expect(0, &[]);
}

#[test]
fn a_link_out_of_the_repository_hides_no_package_of_another_language() {
    for (path, source) in [
        (
            "payments/a.rb",
            "require_relative \"k/redis\"\nrequire_relative \"./k/redis\"\n",
        ),
        ("payments/a.php", "<?php include __DIR__ . '/k/redis/x.php';\n"),
        ("payments/a.c", "#include \"k/redis/x.h\"\n"),
    ] {
        let repo = linked("payments/k", "../../lib");
        repo.write(path, source);
        check(&repo).expect(5, &[path]);
    }
}
