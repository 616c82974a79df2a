//! The XML reader, and the manifests that are XML.

use super::declared::{Declared, Named};
use super::xml::{Event, Reader};
use super::{dotnet, maven};

fn events(text: &str) -> Result<Vec<String>, String> {
    let mut reader = Reader::new(text);
    let mut seen = Vec::new();
    while let Some(event) = reader.next()? {
        seen.push(match event {
            Event::Start { name, attributes, .. } => {
                let attributes: Vec<String> = attributes
                    .iter()
                    .map(|(key, value)| format!(" {key}={value}"))
                    .collect();
                format!("<{name}{}", attributes.concat())
            }
            Event::End => ">".into(),
            Event::Text(text) => text,
        });
    }
    Ok(seen)
}

fn names(declared: &Declared) -> Vec<&str> {
    declared
        .found
        .iter()
        .map(|dependency| dependency.name.as_str())
        .collect()
}

fn computed(declared: &Declared) -> Vec<&str> {
    declared
        .computed
        .iter()
        .map(|computed| computed.text.as_str())
        .collect()
}

#[test]
fn events_of_a_document() {
    let text = "<?xml version=\"1.0\" encoding='UTF-8'?>\r\n<!-- c --><a x = \"1&lt;&#x72;\" y='\"'>t<!-- <b> -->u\
                <![CDATA[<&]]><b:c/></a >\n<?pi?>";
    assert_eq!(
        events(text).expect("it is sound"),
        ["<a x=1<r y=\"", "t", "u", "<&", "<b:c", ">", ">"]
    );
}

#[test]
fn what_is_not_well_formed_or_needs_more_than_the_file_is_refused() {
    for text in [
        "",
        "x",
        "<a>",
        "<a></b>",
        "</a>",
        "<a/><b/>",
        "<a/>x",
        "<a x></a>",
        "<a x=1/>",
        "<a x='1' x='2'/>",
        "<a x='1'y='2'/>",
        "<a x='<'/>",
        "<a>&</a>",
        "<a>&nbsp;</a>",
        "<a>&#0;</a>",
        "<a>&#x110000;</a>",
        "<a>&#x110072;</a>",
        "<a>&#+65;</a>",
        "<a>\u{1}</a>",
        "<!DOCTYPE a><a/>",
        "<a><!ELEMENT b></a>",
        "<!-- -- --><a/>",
        "<a><!--></a>",
        "<a><![CDATA[</a>",
        "<a><?x</a>",
        "<1/>",
        "< a/>",
        "<?xml version='1.0' encoding='UTF-7'?><a/>",
        "<?xml version='1.0' encoding='ISO-8859-1'?><a>\u{e9}</a>",
    ] {
        assert!(events(text).is_err(), "{text:?}");
    }
    assert!(events("<?xml version='1.0' encoding='ISO-8859-1'?><a/>").is_ok());
}

#[test]
fn a_refusal_says_the_line() {
    for (text, what) in [
        ("<a>\n<b>\n", "line 3: it ends too early"),
        ("\n\n<!DOCTYPE a>\n<a/>", "line 3: a document type"),
        ("<a>\n\n<b x='1", "line 3: the value of an attribute does not end"),
        ("<a>\n<b>\n</a>", "line 3: an end tag without its start tag"),
    ] {
        let refused = events(text).expect_err("it is not sound");
        assert!(refused.contains(what), "{text:?}: {refused}");
    }
}

/// Maven's own parser knows no namespaces, and projects that forget this one are about.
#[test]
fn a_prefix_needs_no_declaration() {
    let text = "<project xmlns=\"http://maven.apache.org/POM/4.0.0\" xsi:schemaLocation=\"a b\">\n\
                <dependency><groupId>a</groupId><artifactId>b</artifactId></dependency></project>";
    assert_eq!(names(&maven::dependencies(text).expect("it is read")), ["a:b"]);
}

#[test]
fn maven_projects() {
    let text = "<project xmlns=\"http://maven.apache.org/POM/4.0.0\">\n\
        <parent><groupId>org.boot</groupId><artifactId>parent</artifactId></parent>\n\
        <groupId>com.acme</groupId><artifactId>own</artifactId>\n\
        <properties><g>redis.clients</g><loop>${loop}</loop></properties>\n\
        <dependencyManagement><dependencies><dependency><groupId>a</groupId><artifactId>b</artifactId>\
        </dependency></dependencies></dependencyManagement>\n\
        <dependencies>\n\
        <dependency><groupId> ${g} </groupId><artifactId>je<!-- x -->dis</artifactId>\
        <exclusions><exclusion><groupId>no</groupId><artifactId>no</artifactId></exclusion></exclusions></dependency>\n\
        <dependency><artifactId>c</artifactId><groupId>${project.groupId}</groupId></dependency>\n\
        <dependency><groupId>${who}</groupId><artifactId>d</artifactId></dependency>\n\
        <dependency><groupId>${loop}</groupId><artifactId>e</artifactId></dependency>\n\
        </dependencies>\n\
        <build><plugins><plugin><artifactId>p</artifactId><configuration><paths><path><groupId>q</groupId>\
        <artifactId>r</artifactId></path></paths></configuration></plugin></plugins></build>\n\
        </project>";
    let declared = maven::dependencies(text).expect("it parses");
    assert_eq!(
        names(&declared),
        [
            "org.boot:parent",
            "a:b",
            "redis.clients:jedis",
            "com.acme:c",
            "q:r",
            "org.apache.maven.plugins:p"
        ]
    );
    assert_eq!(computed(&declared), ["${who}:d", "${loop}:e"]);
    let at = declared.found[2].at.expect("a place");
    assert_eq!(text[..at].matches('\n').count(), 6);
}

#[test]
fn maven_properties_of_profiles_count_each() {
    let text = "<project><properties><g>a</g></properties><profiles><profile><properties><g>redis.clients</g></properties>\
                </profile></profiles><dependency><groupId>${g}</groupId><artifactId>x</artifactId></dependency></project>";
    let declared = maven::dependencies(text).expect("it parses");
    assert_eq!(names(&declared), ["a:x", "redis.clients:x"]);
}

#[test]
fn dotnet_projects() {
    let text = "<Project Sdk=\"Microsoft.NET.Sdk.Web; My.Sdk/1.0\">\n<ItemGroup>\n\
                <PackageReference Include=\"StackExchange.%52edis;Dapper\" Version=\"1\" />\n\
                <packagereference update='A.B'><Version>1</Version></packagereference>\n\
                <PackageVersion Include=\"C\" /><GlobalPackageReference Include=\"D\" />\n\
                <Reference Include=\"System.Data\" /><Reference Include=\"Redis.Client, Version=1.0.0.0\" />\n\
                <PackageReference Include=\"$(Which)\" /><PackageReference Remove=\"E\" />\n\
                <ProjectReference Include=\"../x.csproj\" /><!-- <PackageReference Include=\"F\" /> -->\n\
                </ItemGroup></Project>";
    let declared = dotnet::dependencies(text).expect("it parses");
    assert_eq!(
        names(&declared),
        [
            "my.sdk",
            "stackexchange.redis",
            "dapper",
            "a.b",
            "c",
            "d",
            "redis.client"
        ]
    );
    assert_eq!(computed(&declared), ["$(Which)"]);
    let text = "<Project><Using Include=\"StackExchange.Redis\" /><Import Project=\"$(X)\\a.targets\" />\
                <Import Project='more.xml' /></Project>";
    let declared = dotnet::dependencies(text).expect("it parses");
    assert_eq!(names(&declared), ["stackexchange.redis"]);
    assert_eq!(declared.found[0].kind, Named::Guessed);
    assert_eq!(computed(&declared), ["more.xml"]);
    let declared = dotnet::dependencies("<packages><package id=\"Redis\" version=\"1\" /></packages>");
    assert_eq!(names(&declared.expect("it parses")), ["redis"]);
}
