//! What pages and browsers load: addresses, paths of a site, and what a template computes.

use super::{Files, judged};
use crate::support::program::Outcome;
use crate::support::repo::Repo;

/// What `check` says of a change that adds these files, where `app/` may import nothing from outside but jquery, must
/// not have redis, and may not depend on `other/`.
fn check(base: Files, change: Files) -> Outcome {
    check_by(
        "allowed_imports: [jquery, tags.example.com], forbidden_imports: [redis], may_depend_on: []",
        base,
        change,
    )
}

fn check_by(rules: &str, base: Files, change: Files) -> Outcome {
    let repo = Repo::empty();
    repo.write(
        "architecture/invariants.yml",
        format!(
            "version: 1\napp: {{allowed_roots: [app/], {rules}}}\nother: {{allowed_roots: [other/]}}\n\
             max_new_top_level_dirs: 9\n"
        ),
    );
    repo.write("app/README", "x\n");
    judged(&repo, base, change)
}

#[test]
fn what_a_template_computes_is_told_and_is_no_package() {
    let told = "1 dynamic import whose argument is computed";
    for line in [
        "<script>import('{{ mod }}')</script>",
        "<script type=module>import x from \"{% static 'js/app.js' %}\";</script>",
        "<script type=module>import '<%= asset_path(\"app.js\") %>';</script>",
        "<script type=module>import \"${x}\";</script>",
        "<script src=\"{{ url }}\"></script>",
        "<script src=\"https://{{ host }}/a.js\"></script>",
    ] {
        check(&[], &[("app/a.html", line)]).expect(0, &[told]);
        check_by(
            "forbidden_imports: [redis]}\ndynamic_imports: deny\nx: {allowed_roots: [x/]",
            &[],
            &[("app/a.html", line)],
        )
        .expect(5, &["app/a.html:1"]);
    }
    // A file of the site.
    for line in [
        "<script src=\"{% static 'js/redis.js' %}\"></script>",
        "<script src=\"{{ url_for('static', filename='redis.js') }}\"></script>",
        "<script src=\"/static/{{ name }}.js\"></script>",
    ] {
        let outcome = check(&[], &[("app/a.html", line)]);
        outcome.expect(0, &[]);
        assert!(!outcome.stdout.contains("dynamic import"), "{line}: {outcome}");
    }
}

#[test]
fn what_a_template_writes_out_counts() {
    for line in [
        "<script>import('https://esm.sh/redis?v={{ v }}')</script>",
        "<script>import('redis/{{ part }}')</script>",
        "<script src=\"https://unpkg.com/redis@{{ version }}/x.js\"></script>",
        "<script src=\"{{ cdn | default('https://unpkg.com/redis') }}\"></script>",
    ] {
        check(&[], &[("app/a.html", line)]).expect(5, &["app/a.html:1", "`redis` forbids in app"]);
    }
}

#[test]
fn a_path_from_the_top_of_a_site_leads_to_its_file_or_is_told() {
    let told = "by a path from the top of a site that no file here has: `/static/js/x.js` in `app/a.js`:1";
    let import = ("app/a.js", "import x from \"/static/js/x.js\";\n");
    check(&[], &[import]).expect(0, &[told]);
    check(&[], &[("app/a.html", "<script>import('/static/js/x.js')</script>")])
        .expect(0, &["`/static/js/x.js` in `app/a.html`:1"]);
    let own = check(&[("app/static/js/x.js", "export default 1;\n")], &[import]);
    own.expect(0, &[]);
    assert!(!own.stdout.contains("top of a site"), "{own}");
    check(&[("other/static/js/x.js", "export default 1;\n")], &[import]).expect(5, &["[app.may_depend_on]"]);
    // What a machine has there is no page's.
    check(&[], &[("app/a.js", "import \"/opt/lib/x.js\";\n")]).expect(
        5,
        &["(a path to what is not the repository's own)", "[app.allowed_imports]"],
    );
    check(&[], &[("app/a.js", "require(\"/lib/x.js\");\n")]).expect(5, &["[app.allowed_imports]"]);
    check(
        &[],
        &[("app/a.html", "<script src=\"/node_modules/redis/x.js\"></script>")],
    )
    .expect(5, &["`redis` forbids in app"]);
    check(&[], &[("app/a.html", "<script>import('/js/redis.js')</script>")]).expect(0, &[]);
}

#[test]
fn a_script_of_a_known_server_is_its_package() {
    for (address, name) in [
        ("https://code.redis.com/redis.js", None),
        (
            "https://cdnjs.cloudflare.com/ajax/libs/redis/4.6.0/redis.min.js",
            Some("redis"),
        ),
        ("//ajax.googleapis.com/ajax/libs/redis/1/redis.js", Some("redis")),
        ("https://ajax.aspnetcdn.com/ajax/redis/redis-1.2.js", Some("redis")),
        ("https://cdn.bootcdn.net/ajax/libs/redis/4/x.js", Some("redis")),
        ("https://cdn.staticfile.org/redis/4/x.js", Some("redis")),
        ("https://cdn.jsdelivr.net/npm/redis@4", Some("redis")),
        ("https://fastly.jsdelivr.net/npm/redis@4/x.js", Some("redis")),
        ("https://cdn.jsdelivr.net/gh/owner/redis@4/x.js", Some("redis")),
        (
            "https://cdn.jsdelivr.net/combine/npm/jquery@3,npm/redis@4",
            Some("redis"),
        ),
        (
            "https://cdn.jsdelivr.net/combine/npm/jquery@3,gh/owner/redis@4/x.js",
            Some("redis"),
        ),
        ("https://unpkg.com/redis@4/x.js", Some("redis")),
        ("https://esm.sh/redis@4", Some("redis")),
        ("https://esm.sh/gh/owner/redis", Some("redis")),
        (
            "https://cdn.skypack.dev/pin/redis@v4.0.0-abcdefghijkl/mode=imports/optimized/redis.js",
            Some("redis"),
        ),
        ("https://raw.githubusercontent.com/owner/redis/main/x.js", Some("redis")),
        ("https://raw.githack.com/owner/redis/main/x.js", Some("redis")),
        ("https://github.com/owner/redis/raw/main/x.js", Some("redis")),
        ("https://owner.github.io/redis/x.js", Some("redis")),
    ] {
        let script = format!("<script src=\"{address}\"></script>\n");
        let module = format!(
            "import \"{}\";\n",
            address.replacen("//ajax", "https://ajax", usize::from(address.starts_with("//")))
        );
        for (path, source) in [("app/a.html", &script), ("app/a.js", &module)] {
            let outcome = check_by("forbidden_imports: [redis]", &[], &[(path, source)]);
            match name {
                Some(_) => outcome.expect(
                    5,
                    &[&format!("{path}:1"), "redis` forbids in app", "1 finding in 1 path"],
                ),
                None => outcome.expect(0, &[]),
            }
        }
    }
    let preload = "<link rel=\"modulepreload\" href=\"https://cdnjs.cloudflare.com/ajax/libs/redis/4/x.js\">";
    check(&[], &[("app/a.html", preload)]).expect(5, &["`redis` forbids in app"]);
}

#[test]
fn under_an_allow_list_an_address_is_named_by_its_package_or_its_host() {
    for address in [
        "https://code.jquery.com/jquery-3.7.1.min.js",
        "https://code.jquery.com/jquery-3.7.1.slim.min.js",
        "https://ajax.googleapis.com/ajax/libs/jquery/3.7.1/jquery.min.js",
        "https://ajax.aspnetcdn.com/ajax/jQuery/jquery-3.7.1.min.js",
        "https://cdnjs.cloudflare.com/ajax/libs/jquery/3.7.1/jquery.min.js",
        "https://tags.example.com/gtag/js?id=G",
        "/static/js/x.js",
        "js/x.js",
        "data:text/javascript,1",
    ] {
        let page = format!("<script async src=\"{address}\"></script>\n");
        check(&[], &[("app/a.html", &page)]).expect(0, &[]);
    }
    for address in [
        "https://code.jquery.com/ui/1.13.2/jquery-ui.min.js",
        "https://www.example.com/gtag/js?id=G",
        "//www.example.com/x.js",
        "https://cdnjs.cloudflare.com/ajax/libs/lodash.js/4.17.21/lodash.min.js",
    ] {
        let page = format!("<script async src=\"{address}\"></script>\n");
        check(&[], &[("app/a.html", &page)]).expect(5, &["app/a.html:1", "[app.allowed_imports]"]);
    }
    // As an entry would be written.
    let page = "<script src=\"https://cdnjs.cloudflare.com/ajax/libs/lodash.js/4.17.21/lodash.min.js\"></script>\n";
    check_by("allowed_imports: [lodash]", &[], &[("app/a.html", page)]).expect(0, &[]);
    check_by("forbidden_imports: [lodash]", &[], &[("app/a.html", page)]).expect(5, &["`lodash` forbids"]);
    let page = "<script src=\"https://www.example.com/gtag/js\"></script>\n";
    let told = "to add www.example.com to app.allowed_imports";
    check(&[], &[("app/a.html", page)]).expect(5, &[told]);
    check_by("allowed_imports: [www.example.com]", &[], &[("app/a.html", page)]).expect(0, &[]);
}

#[test]
fn an_address_counts_however_it_is_written() {
    for page in [
        "<script src=\"\\\\unpkg.com\\redis@4\"></script>",
        "<script src=\"https:\\\\unpkg.com/redis@4\"></script>",
        "<script src=\"https://user@UNPKG.com:443/redis@4\"></script>",
        "<base href=\"https://unpkg.com/\"><script src=\"redis@4/x.js\"></script>",
        "<base href=\"//unpkg.com/x.html\"><script src=\"/redis@4/x.js\"></script>",
        "<svg><script href=\"https://unpkg.com/redis@4\"></script></svg>",
        "<svg><script xlink:href=\"https://unpkg.com/redis@4\"></script></svg>",
        "<script type=module>import \"//unpkg.com/redis@4\"</script>",
        "<script type=module>import \"https:/unpkg.com/redis@4\"</script>",
    ] {
        check(&[], &[("app/a.html", page)]).expect(5, &["app/a.html:1", "`redis` forbids in app"]);
    }
    check(&[], &[("app/a.js", "import \"//unpkg.com/redis@4\";\n")]).expect(5, &["`redis` forbids in app"]);
    check(&[], &[("app/a.js", "import \"//www.example.com/x.js\";\n")]).expect(5, &["[app.allowed_imports]"]);
    let data = "<script src=\"data:text/javascript,import('redis')\"></script>";
    check(&[], &[("app/a.html", data)]).expect(0, &["1 dynamic import whose argument is computed"]);
    for page in [
        "<base href=\"/app/\"><script src=\"redis.js\"></script>",
        "<base href=\"https://tags.example.com/\"><a href=\"redis\">x</a><script src=\"redis.js\"></script>",
        "<svg><use href=\"https://unpkg.com/redis@4\"/></svg>",
    ] {
        check(&[], &[("app/a.html", page)]).expect(0, &[]);
    }
}
