//! Names of JavaScript that a page, a runtime or a loader maps: to files of the repository, or to packages.

use super::{Files, judged};
use crate::support::program::Outcome;
use crate::support::repo::Repo;

/// What `check` says of a change that adds these files, where `app/` may import nothing from outside but zod, must not
/// have redis, and may not depend on `other/`.
fn check(base: Files, change: Files) -> Outcome {
    let repo = Repo::empty();
    repo.write(
        "architecture/invariants.yml",
        "version: 1\napp: {allowed_roots: [app/], allowed_imports: [zod], forbidden_imports: [redis], may_depend_on: []}\n\
         other: {allowed_roots: [other/]}\nmax_new_top_level_dirs: 9\n",
    );
    repo.write("app/src/main.js", "export default 1;\n");
    repo.write("other/main.js", "export default 1;\n");
    judged(&repo, base, change)
}

#[test]
fn an_import_map_leads_to_own_files() {
    let module = ("app/a.js", "import x from \"lib/main.js\";\n");
    for (path, map) in [
        (
            "app/index.html",
            "<script type=\"importmap\">{\"imports\": {\"lib/\": \"./src/\"}}</script>\n",
        ),
        (
            "app/index.html.erb",
            "<script type=\"importmap\">{\"imports\": {\"lib/\": \"./src/\"}}</script>\n",
        ),
        (
            "index.html",
            "<script type=\"importmap\">{\"imports\": {\"lib/main.js\": \"/app/src/main.js\"}}</script>\n",
        ),
        ("deno.json", "{\"imports\": {\"lib/\": \"./app/src/\"}} // x\n"),
        ("app/import_map.json", "{\"scopes\": {\"/\": {\"lib/\": \"./src/\"}}}\n"),
    ] {
        check(&[(path, map)], &[module]).expect(0, &[]);
        check(&[], &[(path, map), module]).expect(0, &[]);
        check(&[(path, &map.replace("lib/", "bil/"))], &[module]).expect(5, &["app/a.js:1", "[app.allowed_imports]"]);
        let foreign = map.replace("app/src/", "other/").replace("./src/", "../other/");
        check(&[(path, &foreign)], &[module]).expect(5, &["app/a.js:1", "[app.may_depend_on]"]);
    }
    // The map says that it is own, whether the file is there or built later.
    let built = (
        "app/index.html",
        "<script type=\"importmap\">{\"imports\": {\"lib/\": \"/assets/\"}}</script>\n",
    );
    check(&[built], &[module]).expect(0, &["a map leads it to no file of the repository"]);
    // What package.json takes from a registry is not a page's to say.
    let map = (
        "index.html",
        "<script type=\"importmap\">{\"imports\": {\"lib/\": \"/app/src/\"}}</script>\n",
    );
    let declared = ("app/package.json", "{\"dependencies\": {\"lib\": \"^4\"}}\n");
    check(&[map, declared], &[module]).expect(5, &["app/a.js:1", "[app.allowed_imports]"]);
}

#[test]
fn the_map_of_rails_leads_to_own_files() {
    let map = "pin \"application\"\npin \"lib\", to: \"lib.js\"\npin_all_from \"app/javascript/parts\", under: \"parts\"\n\
               pin \"cache\", to: \"https://ga.jspm.io/npm:redis@4/x.js\"\n";
    let base = [
        ("config/importmap.rb", map),
        ("app/javascript/lib.js", "1;\n"),
        ("app/javascript/parts/index.js", "1;\n"),
        ("app/javascript/parts/a.js", "1;\n"),
    ];
    for name in ["lib", "parts", "parts/a"] {
        check(
            &base,
            &[("app/javascript/application.js", &format!("import \"{name}\";\n"))],
        )
        .expect(0, &[]);
    }
    for name in ["lib2", "parts2/a"] {
        check(
            &base,
            &[("app/javascript/application.js", &format!("import \"{name}\";\n"))],
        )
        .expect(5, &["[app.allowed_imports]"]);
    }
    check(&base, &[("app/javascript/application.js", "import \"cache\";\n")]).expect(5, &["`redis` forbids in app"]);
}

#[test]
fn an_amd_loader_leads_to_own_files() {
    let module = ("app/js/a.js", "require([\"lib/main\"], function (m) {});\n");
    for (path, config) in [
        (
            "app/js/main.js",
            "requirejs.config({baseUrl: \"x\", paths: {lib: \"../../src\"}});\n",
        ),
        (
            "app/js/main.js",
            "require.config({\n  paths: {\n    'lib/main': '../src/main',\n    $: 'https://x/y',\n  }\n});\n",
        ),
        (
            "app/index.html",
            "<script>var require = { baseUrl: 'nowhere', paths: { lib: '../src' } };</script>\n",
        ),
    ] {
        check(&[(path, config)], &[module]).expect(0, &[]);
        check(&[(path, &config.replace("lib", "bil"))], &[module])
            .expect(5, &["app/js/a.js:1", "[app.allowed_imports]"]);
    }
    let page = (
        "app/index.html",
        "<script data-main=\"js/main\" src=\"require.js\"></script>\n",
    );
    let own = ("app/js/lib/main.js", "define([], function () {});\n");
    check(&[page, own], &[module]).expect(0, &[]);
    check(&[own], &[module]).expect(5, &["app/js/a.js:1"]);
    let page = (
        "app/js/index.html",
        "<script>require(['lib/main'], function (m) {})</script>\n",
    );
    check(&[own], &[page]).expect(0, &[]);
    check(&[], &[page]).expect(5, &["app/js/index.html:1"]);
}

#[test]
fn a_name_that_a_map_makes_a_package_is_that_package() {
    for (path, map, line) in [
        (
            "deno.json",
            "{\"imports\": {\"cache\": \"npm:redis@4\"}}\n",
            "import \"cache\";\n",
        ),
        (
            "app/deno.jsonc",
            "{\"imports\": {\"c/\": \"https://esm.sh/redis@4/\",}}\n",
            "import \"c/x.js\";\n",
        ),
        (
            "import_map.json",
            "{\"imports\": {\"@/c\": \"npm:redis\"}}\n",
            "import \"@/c\";\n",
        ),
        (
            "deno.json",
            "{\"imports\": {\"#c/\": \"npm:/redis@4/\"}}\n",
            "import \"#c/x\";\n",
        ),
        (
            "deno.json",
            "{\"imports\": {\"cache\": \"./vendor/redis/x.js\"}}\n",
            "import \"cache\";\n",
        ),
    ] {
        check(&[(path, map)], &[("app/a.ts", line)]).expect(5, &["app/a.ts:1", "`redis` forbids in app"]);
        check(
            &[(path, &map.replace("redis", "zod").replace("vendor", "node_modules"))],
            &[("app/a.ts", line)],
        )
        .expect(0, &[]);
    }
}
