//! Pages and templates, of which only a part is code.

use crate::support::program::Outcome;
use crate::support::repo::Repo;

/// What `check` says of these files, all new, where `app/` must have neither redis nor anything of the other area.
fn check(files: &[(&str, &str)]) -> Outcome {
    let repo = Repo::empty();
    repo.write(
        "architecture/invariants.yml",
        "version: 1\napp: {allowed_roots: [app/], forbidden_imports: [redis], may_depend_on: []}\n\
         other: {allowed_roots: [other/]}\nmax_new_top_level_dirs: 9\n",
    );
    repo.write("app/README", "x\n");
    repo.write("other/x.js", "export {};\n");
    repo.commit("start");
    repo.branch("f");
    for (path, content) in files {
        repo.write(path, content);
    }
    repo.commit("change");
    repo.agentgate(["check", "--base", "main"])
}

#[test]
fn what_a_page_imports_is_5() {
    for line in [
        "<script type=\"module\">import r from \"redis\";</script>",
        "<script type=module>import 'https://esm.sh/redis@4';</script>",
        "<script>import('redis')</script>",
        "<script type=\"importmap\">{\"imports\": {\"cache\": \"https://esm.sh/redis\"}}</script>",
        "<script type=\"importmap\">{\"imports\": {\"cache\": \"/node_modules/redis/index.js\"}}</script>",
        "<script src=\"https://unpkg.com/redis@4/index.js\"></script>",
        "<script src=\"../node_modules/redis/index.js\"></script>",
        "<link rel=\"modulepreload\" href=\"https://esm.sh/redis\">",
        "<script src='https:&#47;&#47;unpkg.com/redis'></script>",
        "<script src='&#x68;ttps&colon;//unpkg.com/red&#105;s&commat;4/x.js'></script>",
        "<script type=&#109;odule>import 'https://esm.sh/redis'</script>",
        "<script src='https://unpkg.com./redis'></script>",
        "<script src='ht\ntps://unpkg.com/redis'></script>",
        "<script type=\"module\">import x from \"../other/x.js\";</script>",
        "<script type=\"module\" src=\"../other/x.js\"></script>",
    ] {
        for name in ["app/a.html", "app/A.HTM"] {
            let page = format!("<!doctype html>\n{line}\n<p>It's text</p>\n");
            check(&[(name, &page)]).expect(5, &[&format!("{name}:2:"), "1 finding in 1 path"]);
        }
    }
}

#[test]
fn a_page_that_imports_nothing_passes() {
    let page = "<!doctype html>\n<html><head><title>redis</title>\n\
                <!-- <script type=\"module\">import \"redis\";</script> -->\n\
                <script src=\"./own.js\"></script><script src=\"{{ static('redis/x.js') }}\"></script>\n\
                <script src=\"/assets/redis.js\"></script><script src=\"https://tags.example.com/t.js\"></script>\n\
                <script type=\"text/template\">import \"redis\"</script>\n\
                <script>var x = {{ data | safe }}; {% if a %} don't {% endif %}</script>\n\
                </head><body><pre>import \"redis\"; require('redis')</pre></body></html>\n";
    check(&[("app/a.html", page), ("app/own.js", "1;\n")]).expect(0, &[]);
}

#[test]
fn the_code_of_a_template_is_read() {
    for (path, source) in [
        ("app/a.html.erb", "<p>It's</p>\n<% require \"redis\" %>\n"),
        ("app/a.yml.erb", "x:\n<%- require 'redis/client' -%>\n"),
        ("app/a.txt.erb", "<% # it's\n require \"redis\" if x %>\n"),
        ("app/a.ejs", "<p>It's</p>\n<% const r = require('redis') %>\n"),
        (
            "app/a.ejs",
            "<% x %>\n<script type=\"module\">import 'redis'</script>\n",
        ),
    ] {
        check(&[(path, source)]).expect(5, &[&format!("{path}:2:")]);
    }
    for (path, source) in [
        (
            "app/a.html.erb",
            "<p>require \"redis\"</p>\n<%# require \"redis\" %>\n<%% require 'redis' %>\n",
        ),
        (
            "app/a.html.erb",
            "<% if x # it's %>\n<%= f \"a\" do |y| %>don't<% end %><% end %>\n",
        ),
        ("app/a.ejs", "require('redis')\n<% if (x) { %>don't<%= y %><% } %>\n"),
    ] {
        check(&[(path, source)]).expect(0, &[]);
    }
}

#[test]
fn a_template_that_is_loaded_as_source_is_all_code() {
    check(&[
        ("app/a.js", "require('./w.html');\n"),
        ("app/w.html", "require('redis');\n"),
    ])
    .expect(5, &["app/w.html:1"]);
    check(&[("app/a.rb", "load \"app/w.erb\"\n"), ("app/w.erb", "require 'redis'\n")]).expect(9, &["app/a.rb:1"]);
    check(&[
        ("app/a.php", "<?php include 'w.html';\n"),
        ("app/w.html", "<?php new \\Redis\\Client();\n"),
    ])
    .expect(5, &["app/w.html:1"]);
    // A bundler's text.
    let page = "<!doctype html>\n<p>It's require('redis')</p>\n";
    check(&[("app/a.ts", "import page from './w.html';\n"), ("app/w.html", page)]).expect(0, &[]);
}

#[test]
fn the_code_of_a_blade_template_is_read() {
    for line in [
        "{{ \\Redis::get('k') }}",
        "{{ Redis::get('k') }}",
        "{!! \\Illuminate\\Support\\Facades\\Redis::get('k') !!}",
        "@php use Illuminate\\Support\\Facades\\Redis; @endphp",
        "@php($x = \\Redis::get('k'))",
        "@use('Illuminate\\Support\\Facades\\Redis')",
        "@inject('m', 'App\\Redis')",
        "@if (\\Redis::get('k')) it's @endif",
        "<x-card :items=\"\\Redis::get('k')\"/>",
        "<?php \\Redis::get('k') ?>",
    ] {
        let source = format!("<p>It's</p>\n{line}\n");
        check(&[("app/a.blade.php", &source)]).expect(5, &["app/a.blade.php:2", "1 finding in 1 path"]);
    }
    let page = "@extends('layouts.app')\n@section('redis')\n<p>It's \\Redis::get()</p>\n{{-- {{ \\Redis::get() }} --}}\n\
                @{{ \\Redis::get() }}\n<style>@media (min-width: 1px) { a { content: \"it's\" } }</style>\n\
                <a @click=\"f('redis')\" href=\"{{ route('redis') }}\">{{ config('database.redis') }}</a>\n\
                @foreach ($redis as $r)\n  {{ $r->redis }} {{ $r['redis'] ?? 'x' }}\n@endforeach\n\
                @verbatim {{ \\Redis::get() }} @endverbatim\n@lang('redis.title') @json($redis)\n@endsection\n";
    check(&[("app/a.blade.php", page)]).expect(0, &[]);
    check(&[("app/a.blade.php", "{{ 'a }}'.\\Redis::get().'{{ b' }}\n")]).expect(9, &["app/a.blade.php:1"]);
}

#[test]
fn what_browsers_load_of_a_template_is_read() {
    for path in [
        "app/a.html.erb",
        "app/a.rhtml",
        "app/a.blade.php",
        "app/a.phtml",
        "app/a.php",
    ] {
        for line in [
            "<script src=\"https://unpkg.com/redis@4\"></script>",
            "<script type=\"module\">import 'redis';</script>",
            "<link rel=\"modulepreload\" href=\"https://esm.sh/redis\">",
        ] {
            check(&[(path, &format!("<p>It's</p>\n{line}\n"))])
                .expect(5, &[&format!("{path}:2:"), "1 finding in 1 path"]);
        }
    }
    let page = "<p>It's <%= x %></p>\n<script src=\"<%= asset_path('redis.js') %>\"></script>\n\
                <%= javascript_include_tag 'redis' %>\n<script>var x = <%= raw x.to_json %>; load('redis');</script>\n\
                <script src=\"/assets/redis.js\"></script>\n";
    check(&[("app/a.html.erb", page)]).expect(0, &[]);
    let page = "<?php $a = 1; if ($a <b()) { echo \"it's\"; } ?>\n<p>It's <?= $x ?></p>\n\
                <script src=\"<?= asset('redis.js') ?>\"></script>\n<script>var x = <?php echo $x; ?>;</script>\n";
    check(&[("app/a.php", page)]).expect(0, &[]);
}

#[test]
fn what_a_template_had_is_not_new() {
    let repo = Repo::empty();
    repo.write(
        "architecture/invariants.yml",
        "version: 1\napp: {allowed_roots: [app/], forbidden_imports: [redis]}\n",
    );
    let line = "<script src=\"https://unpkg.com/redis@4\"></script>\n";
    repo.write("app/a.html.erb", line);
    repo.commit("start");
    repo.branch("f");
    repo.change("app/a.html.erb", &format!("<p>more</p>\n{line}"));
    repo.agentgate(["check", "--base", "main"]).expect(0, &[]);
    repo.change(
        "app/a.html.erb",
        &format!("{line}<script type=module>import 'redis/x'</script>\n"),
    );
    repo.agentgate(["check", "--base", "main"])
        .expect(5, &["app/a.html.erb:2", "1 finding in 1 path"]);
}

#[test]
fn code_under_the_name_of_a_component_is_code() {
    for path in ["app/w.vue", "app/w.svelte"] {
        for source in [
            "const redis = require('redis');\n",
            "/* <style> */ require('redis'); /* </style> */\n",
            "// <template>\nimport redis from 'redis';\n",
        ] {
            check(&[("app/a.js", &format!("require('./{}');\n", &path[4..])), (path, source)]).expect(5, &[path]);
        }
        let page = "<template><p>import redis from 'redis'</p></template>\n<script>export default {}</script>\n";
        check(&[(path, page)]).expect(0, &[]);
    }
    check(&[("app/w.svelte", "Hello {name}, it's import redis from 'redis'\n")]).expect(0, &[]);
}

#[test]
fn what_an_own_package_exports_is_read_whatever_its_ending() {
    let check = |base: &[(&str, &str)], change: &[(&str, &str)]| {
        let repo = Repo::empty();
        repo.write(
            "architecture/invariants.yml",
            "version: 1\napp: {allowed_roots: [app/], forbidden_imports: [redis]}\nmax_new_top_level_dirs: 9\n",
        );
        repo.write("app/README", "x\n");
        base.iter().for_each(|(path, content)| repo.write(path, content));
        repo.commit("start");
        repo.branch("f");
        change.iter().for_each(|(path, content)| repo.write(path, content));
        repo.commit("change");
        repo.agentgate(["check", "--base", "main"])
    };
    let root = ("package.json", r#"{"workspaces": ["pk/*", "app"]}"#);
    let member = (
        "pk/x/package.json",
        r#"{"name": "@a/x", "exports": {".": "./i.txt", "./d": "./d.md"}}"#,
    );
    let code = ("pk/x/i.txt", "const r = require('redis');\n");
    for line in ["require('@a/x');\n", "import x from '@a/x';\n"] {
        check(&[root, member, code], &[("app/a.js", line)]).expect(5, &["pk/x/i.txt:1"]);
        check(
            &[root, member, ("pk/x/i.txt", "module.exports = 1;\n")],
            &[("app/a.js", line)],
        )
        .expect(0, &[]);
        check(&[root, member, code, ("app/a.js", line)], &[("app/b.js", "1;\n")]).expect(0, &[]);
    }
    let prose = ("pk/x/d.md", "# It's how to require('redis')\n");
    check(&[root, member, prose], &[("app/a.js", "import d from '@a/x/d';\n")]).expect(0, &[]);
    check(&[code], &[("app/a.js", "require('@a/x');\n")]).expect(0, &[]);
}
