//! What is read of pages, and what is not.

use super::*;

fn of(page: &str) -> Vec<String> {
    scan(page.as_bytes()).into_iter().map(|found| found.raw).collect()
}

#[test]
fn scripts_and_maps_are_read() {
    for (page, found) in [
        ("<script type=module>import 'a';</script>", "a"),
        ("<SCRIPT TYPE='Module'>\nimport 'a'\n</Script >", "a"),
        ("<script>import('a')</script>", "a"),
        (
            "<script type='text/javascript;charset=utf-8'>require('a')</script>",
            "a",
        ),
        (
            "<script type='importmap'>{\"imports\": {\"x\": \"./a.js\"}}</script>",
            "./a.js",
        ),
        (
            "<script type='importmap'>{\"scopes\": {\"/\": {\"x\": \"https://esm.sh/a\"}}}</script>",
            "https://esm.sh/a",
        ),
        (
            "<script src='https://unpkg.com/a@4/x.js'></script>",
            "https://unpkg.com/a@4/x.js",
        ),
        ("<script src=//unpkg.com/a></script>", "https://unpkg.com/a"),
        (
            "<script src='https://tags.example.com/a/b.js'></script>",
            "https://tags.example.com/a/b.js",
        ),
        (
            "<script src=\"{{ x | default('https://unpkg.com/a') }}\"></script>",
            "https://unpkg.com/a",
        ),
        (
            "<script src='https://tags.example.com/{{ id }}.js'></script>",
            "https://tags.example.com/",
        ),
        (
            "<script src='https://unpkg.com/a@{{ version }}/x.js'></script>",
            "https://unpkg.com/a@",
        ),
        (
            "<script>import('https://esm.sh/a?v={{ v }}')</script>",
            "https://esm.sh/a?v=",
        ),
        ("<script>import('a/{{ v }}')</script>", "a/"),
        // What the template computes has no name.
        ("<script src='{{ url }}'></script>", ""),
        ("<script src='{{ url }}/a.js'></script>", ""),
        ("<script src='https://{{ host }}/a.js'></script>", ""),
        ("<script>import('{{ mod }}')</script>", ""),
        ("<script type=module>import x from \"{% static 'a.js' %}\"</script>", ""),
        ("<script type=module>import '<%= x %>'</script>", ""),
        ("<script type=module>import '${x}'</script>", ""),
        ("<script type=module src='js/a.js'></script>", "./js/a.js"),
        (
            "<script src='../node_modules/a/x.js'></script>",
            "../node_modules/a/x.js",
        ),
        ("<script src='/node_modules/a/x.js'></script>", "/node_modules/a/x.js"),
        ("<link href='./a.js' rel=modulepreload>", "./a.js"),
        ("<title><!--</title><script type=module>import 'a'</script>", "a"),
        ("<a title='<!--'><script type=module>import 'a'</script>", "a"),
        ("<!--><script type=module>import 'a'</script>", "a"),
        ("<!-- x --!><script type=module>import 'a'</script>-->", "a"),
        ("<!-- <script type=module>import 'a'</script>", "a"),
        ("<a b=\"{{ x \"y\" }}>\"><script type=module>import 'a'</script>", "a"),
        ("<svg><style><script type=module>import 'a'</script></style></svg>", "a"),
        (
            "<script type=module>{% if x %}'{% endif %}\nimport x from 'a'\n</script>",
            "a",
        ),
    ] {
        assert_eq!(of(page), [found], "{page}");
    }
}

#[test]
fn text_and_data_are_not() {
    for page in [
        "<!doctype html><!-- <script type=module>import 'a'</script> -->",
        "<p>import 'a'; require('a')</p>",
        "<pre>&lt;script type=module>import 'a'&lt;/script></pre>",
        "<script type='text/template'>import 'a'</script>",
        "<script type='application/json'>{\"imports\": {\"x\": \"a\"}}</script>",
        "<script type=module>import 'a'",
        "<script src='/static/a.js'></script>",
        "<script src='js/a.js'></script>",
        "<script src=\"{% static 'a.js' %}\"></script>",
        "<script src='{% static \"a.js\" %}'></script>",
        "<script src='<%= asset_path(\"a.js\") %>'></script>",
        "<script src='/static/{{ name }}.js'></script>",
        "<link href='./a.css' rel=stylesheet>",
        "<script>// import 'a'\n</script>",
        "<script>{{ x | safe }}'</script>",
        "<",
        "<a b=\"",
    ] {
        assert_eq!(of(page), Vec::<String>::new(), "{page}");
    }
}

#[test]
fn long_pages_take_no_more_than_their_length() {
    for part in ["<a b=", "<!--", "<script ", "<title>", "<a b='", "<script>", "<a b=c=d"] {
        scan(part.repeat(200_000).as_bytes());
    }
}
