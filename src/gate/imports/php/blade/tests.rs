//! What is read of Blade's templates, and what is not.

use super::*;

fn of(source: &str) -> Vec<String> {
    let mut found: Vec<String> = scan(source.as_bytes())
        .expect("it can be read")
        .into_iter()
        .filter(|found| found.kind != ImportKind::Opaque)
        .map(|found| found.raw)
        .collect();
    found.sort();
    found.dedup();
    found
}

#[test]
fn php_is_read_wherever_blade_makes_it() {
    for source in [
        "<p>it's</p>{{ \\A\\B::get() }}",
        "{!! \\A\\B::get() !!}",
        "{{{ \\A\\B::get() }}}",
        "@php\n use A\\B;\n@endphp",
        "@php(\\A\\B::get())",
        "<?php \\A\\B::get() ?>",
        "@if (\\A\\B::get(')'))\n it's\n@endif",
        "@money(\\A\\B::get())",
        "@use('A\\B')",
        "@use(\"A\\\\B\", 'C')",
        "@inject('m', 'A\\B')",
        "@inject('m', A\\B::class)",
        "<x-card class=\"b\" :items=\"\\A\\B::get()\"/>",
        "{{-- x --}}{{ 1 // ?>\n }}{{ \\A\\B::get() }}",
    ] {
        assert!(
            of(source)
                .iter()
                .any(|raw| raw.trim_start_matches('\\').starts_with("A\\B")),
            "{source}: {:?}",
            of(source)
        );
    }
    assert_eq!(of("@use('A\\{B, C as D}')"), ["A\\B", "A\\C"]);
}

#[test]
fn text_and_comments_are_not() {
    for source in [
        "\\A\\B::get() don't",
        "{{-- {{ \\A\\B::get() }} --}}",
        "@{{ \\A\\B::get() }}",
        "@verbatim {{ \\A\\B::get() }} @endverbatim",
        "<style>@media (max-width: 1px) { a { content: \"it's\" } }</style>",
        "me@example(don't)",
        "<a @click=\"f('x')\" :href=\"x\">",
        "@@if(\\A\\B)",
    ] {
        assert_eq!(of(source), Vec::<String>::new(), "{source}");
    }
}

#[test]
fn a_piece_that_takes_text_for_code_is_refused() {
    assert!(scan(b"{{ 'a }}'.\\A\\B::get().'{{ b' }}").is_err());
    assert!(scan(b"@foo(don't) text").is_ok());
    // Text that looks like a directive or a component hides nothing.
    for source in [
        "@foo(' {{ \\A\\B::get() }} ')",
        "<x-a :b=\"' {{ \\A\\B::get() }} \"",
        "@foo(' @if(\\A\\B::get()) ')",
    ] {
        assert!(
            of(source).iter().any(|raw| raw.ends_with("A\\B")),
            "{source}: {:?}",
            of(source)
        );
    }
    for part in ["{{ ", "@if(", "@php ", "<x-a \"", "@verbatim ", "{{--"] {
        let _ = scan(part.repeat(20_000).as_bytes());
    }
}
