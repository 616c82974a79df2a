//! What an agent could write to stop, blind or outlast a reader.

use super::code::Language;
use super::format::Format;
use super::read;

const ALL: &[Format] = &[
    Format::Npm,
    Format::PnpmWorkspace,
    Format::Cargo,
    Format::Pyproject,
    Format::Requirements,
    Format::Pipfile,
    Format::Pixi,
    Format::SetupCfg,
    Format::SetupPy,
    Format::Uv,
    Format::Hatch,
    Format::Tox,
    Format::Deno,
    Format::GlobalJson,
    Format::Golang,
    Format::Maven,
    Format::Gradle,
    Format::GradleKotlin,
    Format::GradleCatalog,
    Format::Dotnet,
    Format::Ruby,
    Format::Composer,
];

/// Long enough for a slow machine, and far below what one quadratic reading would take.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(60);

fn every_reader_ends(text: &str) {
    for format in ALL {
        let start = std::time::Instant::now();
        // Finding or refusal: both are told.
        let _ = read(text, *format);
        let took = start.elapsed();
        let begin: String = text.chars().take(40).collect();
        assert!(took < PATIENCE, "{format:?}, {begin}: {took:?}");
    }
}

#[test]
fn deep_nesting_overflows_no_stack() {
    for piece in [
        "[",
        "{",
        "{\"a\":",
        "{\"overrides\":",
        "<a>",
        "(",
        "a = [",
        "a.",
        "[a.",
        "\"${",
        "/*",
        "- ",
    ] {
        every_reader_ends(&piece.repeat(8_000));
    }
    let deep = format!("{}{}", "<a>".repeat(200_000), "</a>".repeat(200_000));
    assert!(read(&deep, Format::Maven).is_ok());
}

/// Millions of bytes, in a thread with hardly any stack.
#[test]
fn xml_costs_no_more_than_its_length() {
    let numbered = |count: u32, piece: fn(u32) -> String| (0..count).map(piece).collect::<String>();
    let nested = |count, piece, end: &str| format!("{}{}", numbered(count, piece), end.repeat(count as usize));
    let many = Some("line 2: too many attributes");
    for (text, refusal) in [
        (nested(700_000, |_| "<a>".into(), "</a>"), None),
        (format!("<a>{}</a>", "x&lt;".repeat(1_000_000)), None),
        (format!("<a>{}</a>", "x<a/>".repeat(1_000_000)), None),
        (format!("<a>{}</a>", "x<![CDATA[y]]>".repeat(350_000)), None),
        // Each is compared with those before it.
        (
            format!("<b>\n<a{}/></b>", numbered(1_000_000, |at| format!(" a{at}=''"))),
            many,
        ),
        (
            format!("<b>\n<a{}/></b>", numbered(250_000, |at| format!(" xmlns:p{at}='u'"))),
            many,
        ),
        // Each element inherits what all above it declare.
        (nested(150_000, |at| format!("<a xmlns:p{at}='u'>"), "</a>"), None),
        ("<".repeat(10_000_000), Some("line 1: a name is missing")),
        ("<a>\n".repeat(1_000_000), Some("line 1000001: it ends too early")),
    ] {
        let thread = std::thread::Builder::new().stack_size(128 * 1024);
        let reading = thread.spawn(move || {
            for format in [Format::Maven, Format::Dotnet] {
                let start = std::time::Instant::now();
                let outcome = read(&text, format).err();
                let took = start.elapsed();
                let begin = &text[..text.len().min(40)];
                match refusal {
                    Some(refusal) => assert!(
                        outcome.as_ref().is_some_and(|why| why.contains(refusal)),
                        "{begin}: {outcome:?}"
                    ),
                    None => assert_eq!(outcome, None, "{begin}"),
                }
                assert!(took < PATIENCE, "{format:?}, {begin}: {took:?}");
            }
        });
        reading.expect("a thread").join().expect("it is read");
    }
}

#[test]
fn repetition_costs_no_more_than_its_length() {
    for piece in [
        "'",
        "\"",
        "'\\'",
        "%(",
        "%q(",
        "gem 'a' ",
        "install_requires=[",
        "${",
        "a:b ",
        "group: ",
        "libs.",
        "<a/>",
        "&lt;",
        "\\",
        "\"\"\"",
        "'''\\",
        "#",
        "a=b\n ",
        "-r ",
        "\u{e9}",
        "implementation(",
    ] {
        every_reader_ends(&piece.repeat(8_000));
        every_reader_ends(&format!("<a>{}</a>", piece.repeat(8_000)));
    }
}

#[test]
fn properties_that_name_each_other_end() {
    let mut text = String::from("<project><properties><a>${b}${b}</a><b>${a}${a}</b></properties>");
    for at in 0..20_000 {
        text.push_str(&format!(
            "<dependency><groupId>${{a}}{at}</groupId><artifactId>x</artifactId></dependency>"
        ));
    }
    text.push_str("</project>");
    let start = std::time::Instant::now();
    let declared = read(&text, Format::Maven).expect("it parses");
    assert_eq!(declared.computed.len(), 20_000);
    assert!(start.elapsed() < PATIENCE);
}

#[test]
fn line_ends_of_windows_and_a_missing_last_one_change_nothing() {
    for (format, text, expected) in [
        (Format::Npm, "{\r\n\"dependencies\": {\r\n\"redis\": \"1\"}}", "redis"),
        (Format::Cargo, "[dependencies]\r\nredis = \"1\"", "redis"),
        (Format::SetupCfg, "[options]\r\ninstall_requires =\r\n  redis", "redis"),
        (Format::Golang, "require (\r\n\ta.com/redis v1\r\n)", "a.com/redis"),
        (Format::Ruby, "source 'x'\r\ngem 'redis'", "redis"),
        (
            Format::Gradle,
            "dependencies {\r\n  implementation 'a:redis:1'",
            "a:redis",
        ),
        (
            Format::Dotnet,
            "<Project>\r\n<PackageReference\r\nInclude='redis'/>\r\n</Project>",
            "redis",
        ),
        (Format::PnpmWorkspace, "catalog:\r\n  redis: ^1.0", "redis"),
        (Format::SetupPy, "install_requires=[\r\n'redis'\r\n]", "redis"),
    ] {
        let declared = read(text, format).expect("it parses");
        let names: Vec<&str> = declared
            .found
            .iter()
            .map(|dependency| dependency.name.as_str())
            .collect();
        assert_eq!(names, [expected], "{text:?}");
    }
}

proptest::proptest! {
    #[test]
    fn no_reader_panics(text in "[a-z{}\\[\\]<>/:='\"#%$\\\\ \n.,()é-]{0,60}") {
        for format in ALL {
            let _ = read(&text, *format);
        }
        for language in [Language::Groovy, Language::Kotlin, Language::Ruby, Language::Python] {
            let _ = super::code::tokens(&text, language);
        }
    }
}
