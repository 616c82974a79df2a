use super::*;

fn raws(source: &str) -> Vec<String> {
    let mut found = scan(source.as_bytes()).unwrap_or_else(|fault| panic!("{source}: {fault:?}"));
    found.sort_by_key(|found| found.at);
    found.into_iter().map(|found| found.raw).collect()
}

#[test]
fn script_blocks_are_read_in_their_language() {
    assert_eq!(
        raws(
            "<template><p/></template>\n<script setup lang=\"ts\">\nimport r from 'redis';\nconst x = <T>y;\n</script>"
        ),
        ["redis"]
    );
    assert_eq!(
        raws("<script context=module>import 'a'</script><h1>x</h1><script>import 'b'</script>"),
        ["a", "b"]
    );
    assert_eq!(
        raws("<script lang='tsx'>import 'a'; const x = <p>don't</p>;</script>"),
        ["a"]
    );
    assert_eq!(raws("<SCRIPT\n>import 'a'</SCRIPT >"), ["a"]);
    assert_eq!(
        raws("<script src=\"redis\"></script><script src=./x />"),
        ["redis", "./x"]
    );
}

#[test]
fn places_are_those_of_the_file() {
    let source = "<template/>\n<script>\n  import 'redis'\n</script>";
    let found = scan(source.as_bytes()).unwrap();
    assert!(source[found[0].at..].starts_with("'redis'"), "{found:?}");
}

#[test]
fn markup_and_comments_are_no_imports() {
    for source in [
        "<template>import redis from 'redis'</template>",
        "<!-- <script>import 'redis'</script> -->\n<script>let x</script>",
        "<template>\n<!-- <script>import 'redis'</script> -->\n</template>",
        "<style>@import 'redis';</style>",
        "<script>// import 'redis'\nconst s = \"import 'redis'\"</script>",
        "<p>how to import (and require) things</p>",
    ] {
        assert!(raws(source).iter().all(|raw| raw != "redis"), "{source}");
    }
}

#[test]
fn no_markup_hides_a_script_block() {
    for before in [
        "<template><p title=\"\n<!--\"/></template>",
        "<template>{{ '<!--' }}</template>",
        "<template lang=pug>\n<!--\n</template>",
        "<docs>\n<!--\n</docs>",
        "<template><textarea>\n<!--\n</textarea></template>",
        "{\"}\" + \"<!--\"}",
        "<p class={x > '<!--'}></p>",
        "<template><![CDATA[ <!-- ]]></template>",
        "<p title='<style>'><style>",
        "{/* <b c=\" */ x}",
        "{x <b && (c = `\n<!--\n`)}",
        "{x <b/script",
    ] {
        let source = format!("{before}\n<script>import 'redis'</script>\n<!-- -->");
        assert!(raws(&source).iter().any(|raw| raw == "redis"), "{source}");
    }
}

#[test]
fn calls_in_the_markup_count() {
    assert_eq!(raws("{#await import('redis') then r}{/await}"), ["redis"]);
    assert_eq!(raws("<b @click=\"() => import('redis')\"/>"), ["redis"]);
    assert_eq!(raws("<b on:click={() => require(\"redis\")}>x</b>"), ["redis"]);
    assert_eq!(raws("{#await import(name)}{/await}"), [""]);
}

#[test]
fn hostile_components_end_soon() {
    let many = |piece: &str| format!("<b {}", piece.repeat(3_000_000 / piece.len()));
    for source in [
        many("a="),
        many("a=") + "<script",
        many("a=<script/"),
        many("a='<script a=\""),
        many("a='"),
        many("<b a="),
        many("<!"),
        many("<"),
        many("</"),
        many("<style>"),
        many("<style"),
        many("<script"),
        many("<script "),
        many("<script><"),
        many("<script/>"),
        many("<script></script>"),
        many("<script src=<script/"),
        many("import('"),
        many("import( "),
        many("a =   "),
        many("{"),
    ] {
        let start = std::time::Instant::now();
        let _ = scan(source.as_bytes());
        let took = start.elapsed();
        assert!(took.as_secs() < 20, "{}: {took:?}", &source[..20]);
    }
}

#[test]
fn what_cannot_be_read_is_refused() {
    for source in [
        "<script>import 'a'",
        "<script lang=coffee>x</script>",
        "<script>`</script>",
    ] {
        assert!(scan(source.as_bytes()).is_err(), "{source}");
    }
}
