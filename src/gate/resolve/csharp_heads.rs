//! C#: whether the first name of a dotted name is a namespace.
//!
//! `User.Identity.Name` and `Serilog.Log.Information` are written alike, and which of them begins with a package's
//! namespace only a compiler with all assemblies knows. What a tree tells: the namespaces that its files have a
//! `using` for, the packages that its project files name, and the types that it declares. A few roots that much-used
//! packages have under another name than their own are known here.
//!
//! A name that begins with two or more segments of such a namespace or package is in it. The first segment alone tells
//! as much, but where it is a word that code has for other things (`App`, `Config`), where the repository's own
//! namespaces begin with it, or where the base declares a type of that name.

use std::collections::HashSet;

use memchr::memmem;

use super::{Resolver, csharp};
use crate::gate::imports::Import;
use crate::gate::tree::Unreadable;

/// Segments of a name that are looked at.
const MAX_SEGMENTS: usize = 16;
/// Names that are kept of one tree; more tell nothing further.
const MAX_NAMES: usize = 200_000;

/// What the first name of a dotted name is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Head {
    /// Nothing tells.
    Unknown,
    /// A type of the tree, or one that comes with the framework.
    Type,
    /// A namespace, by its own name alone.
    Root,
    /// A namespace, by two segments or more.
    Namespace,
}

/// What a tree tells of names.
#[derive(Default)]
pub(super) struct Heads {
    /// Namespaces and packages, in lower case.
    known: HashSet<String>,
    /// First segments of them.
    roots: HashSet<String>,
    /// Names of types that are declared, in their own case.
    types: HashSet<String>,
}

impl Heads {
    /// What a source file tells.
    pub(super) fn note_source(&mut self, text: &str) {
        for line in text.lines() {
            if let Some(namespace) = using(line) {
                self.note(namespace);
            }
        }
        for keyword in ["class ", "struct ", "interface ", "record ", "enum "] {
            for at in memmem::find_iter(text.as_bytes(), keyword.as_bytes()) {
                let is_word = at == 0 || !is_name_byte(text.as_bytes()[at - 1]);
                let name = text[at + keyword.len()..].trim_start();
                let end = name.find(|c: char| !is_name(c)).unwrap_or(name.len());
                if is_word && end > 0 && self.types.len() < MAX_NAMES {
                    self.types.insert(name[..end].to_owned());
                }
            }
        }
    }

    /// A namespace or package from outside.
    pub(super) fn note(&mut self, name: &str) {
        if self.known.len() < MAX_NAMES {
            let name = name.to_lowercase();
            self.roots.insert(name.split('.').next().unwrap_or_default().to_owned());
            self.known.insert(name);
        }
    }

    /// What the first of these names is. `is_own` tells whether the repository's own namespaces begin so.
    pub(super) fn of(&self, names: &[String], is_own: impl Fn(&str) -> bool) -> Head {
        let Some(first) = names.first() else {
            return Head::Unknown;
        };
        let mut name = first.to_lowercase();
        let is_root = self.roots.contains(&name) || listed(ROOTS, &name);
        let is_telling = is_root && !listed(WORDS, &name) && !is_own(&name);
        for segment in names.iter().skip(1).take(MAX_SEGMENTS) {
            name.push('.');
            name.push_str(&segment.to_lowercase());
            if self.known.contains(&name) {
                return Head::Namespace;
            }
        }
        if is_telling {
            Head::Root
        } else if self.declares(first) || listed(TYPES, first) || is_interface(first) {
            Head::Type
        } else {
            Head::Unknown
        }
    }

    /// Whether a type of this name is declared.
    pub(super) fn declares(&self, name: &str) -> bool {
        self.types.contains(name)
    }
}

impl Resolver<'_> {
    /// What the first name of a dotted name of C# is, as far as this tree and the base tell: an agent that declares a
    /// type of that name makes it no type.
    pub fn head(&mut self, base: &mut Resolver, import: &Import) -> Result<Head, Unreadable> {
        let before = base.known()?;
        let before = csharp::namespaces(&before.files, &mut before.csharp)?;
        let known = self.known()?;
        let namespaces = csharp::namespaces(&known.files, &mut known.csharp)?;
        let head = namespaces.head(&import.identity).max(before.head(&import.identity));
        let is_declared = import.first_segment().is_some_and(|first| before.declares(first));
        Ok(match head {
            Head::Root if is_declared => Head::Unknown,
            head => head,
        })
    }
}

/// The namespace that a line has a `using` for. That of an alias may be a type.
fn using(line: &str) -> Option<&str> {
    let line = line.trim_start_matches('\u{feff}').trim_start();
    let line = line.strip_prefix("global ").map_or(line, str::trim_start);
    let rest = line.strip_prefix("using ")?.trim_start();
    let rest = rest.strip_prefix("static ").map_or(rest, str::trim_start);
    let (name, _) = rest.split_once(';')?;
    let name = name.trim_end();
    let name = name.strip_prefix("global::").unwrap_or(name);
    (!name.is_empty() && name.chars().all(|c| is_name(c) || c == '.')).then_some(name)
}

/// Whether a name is written like an interface's, which a member may be declared to be of (`IList.Add`).
fn is_interface(name: &str) -> bool {
    let mut letters = name.chars();
    letters.next() == Some('I')
        && letters.next().is_some_and(char::is_uppercase)
        && letters.next().is_some_and(char::is_lowercase)
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

fn listed(list: &str, name: &str) -> bool {
    list.split(' ').any(|known| known == name)
}

/// Roots of packages' namespaces, in lower case: those of the framework, and such as nothing else is called.
const ROOTS: &str = "accord akka amazon anglesharp antlr4 autofac autofixture automapper avalonia bogus bouncycastle bunit \
    castle cassandra closedxml communitytoolkit confluent couchbase csredis csvhelper dapper dapr \
    datadog devexpress documentformat dotliquid duende easynetq elasticsearch enyim epplus fakeiteasy \
    fluentassertions fluentmigrator fluentvalidation flurl freeredis google graphql grpc hangfire \
    hotchocolate htmlagilitypack humanizer icsharpcode identityserver4 influxdb itext itextsharp jose \
    k4os lamar libgit2sharp linqtodb litedb log4net lucene mailkit mapster markdig masstransit mathnet \
    mediatr medallion messagepack microsoft mimekit mongodb moq mysql mysqlconnector nats neo4j \
    nethereum newrelic newtonsoft nhibernate ninject nlog nodatime npgsql npoi nservicebus nsubstitute \
    nswag nunit octokit officeopenxml openiddict opensearch opentelemetry oracle orleans paypal \
    pdfsharp pomelo prometheus protobuf questpdf quartz rabbitmq raven razorlight reactiveui rebus \
    refit renci reqnroll restsharp scriban scrutor sendgrid sentry serilog servicestack sharpcompress \
    shouldly simpleinjector sixlabors skiasharp stackexchange stripe structuremap swashbuckle \
    syncfusion system techtalk telerik temporalio testcontainers tensorflow torchsharp twilio umbraco \
    volo wolverine xunit yamldotnet yarp zlogger";

/// Words of which a package's name may begin and code's own names do as well, in lower case.
const WORDS: &str = "api app application cache client common config configuration container context core data database \
    db docker document domain environment event events file helpers http image infrastructure key \
    logging mediator message model models module network options order page plugin project properties \
    request resource resources response result server service services session settings shared state \
    store task template terminal test testing text token type types user utilities \
    utils validation value view web window windows";

/// Types that nearly every file may use and that come with the framework, and what a controller or a page has.
const TYPES: &str = "Activator Activity AppContext AppDomain Array Assembly Assert BindingFlags BitConverter \
    Buffer CancellationToken Clients Clipboard Comparer Console Context Control Convert Cookies CultureInfo \
    DateOnly DateTime DateTimeOffset Debug Directory Dispatcher Dns Encoding Enum Enumerable Environment File \
    GC Guid HttpClient HttpContext HttpMethod HttpStatusCode IPAddress IntPtr Interlocked JsonNamingPolicy \
    JsonSerializer ListView Marshal Math MemoryMarshal ModelState Monitor Path Process Properties Regex \
    Registry Request Resources Response RouteData RuntimeInformation Screen Session Stopwatch String \
    StringComparer StringComparison Task TempData Thread TimeOnly TimeSpan TimeZone TimeZoneInfo Trace Type \
    Uri Url User Version ViewBag ViewData Volatile WebRequestMethods";

#[cfg(test)]
mod tests {
    use super::*;

    fn head(source: &str, name: &str) -> Head {
        let mut heads = Heads::default();
        heads.note_source(source);
        let names: Vec<String> = name.split('.').map(str::to_owned).collect();
        heads.of(&names, |root| root == "acme")
    }

    #[test]
    fn a_using_tells_its_namespace_and_its_root() {
        for (source, name, expected) in [
            ("using A.B;", "A.B.C", Head::Namespace),
            ("\u{feff}global using A.B;\r\n", "a.b.C", Head::Namespace),
            ("  using static global::A.B.C;", "A.B.C.D", Head::Namespace),
            ("using A.B;", "A.X.Y", Head::Root),
            ("using A.B;\nclass A {}", "A.X.Y", Head::Root),
            ("using A;", "A.X.Y", Head::Root),
            ("using Acme.X;", "Acme.Y.Z", Head::Unknown),
            ("using Acme.X;", "Acme.X.Z", Head::Namespace),
            ("using Order.X;", "Order.Y.Z", Head::Unknown),
            ("using Order.X;", "Order.X.Z", Head::Namespace),
            ("using X = A.B;", "A.B.C", Head::Unknown),
            ("using var x = A.B();", "A.B.C", Head::Unknown),
            ("using (var x = A.B) ;", "A.B.C", Head::Unknown),
            ("// using A.B;", "A.B.C", Head::Unknown),
            ("class A<T> {}", "A.B.C", Head::Type),
            ("public record struct A(int B);", "A.B.C", Head::Type),
            ("subclass A", "A.B.C", Head::Unknown),
            ("", "Newtonsoft.Json.JsonConvert", Head::Root),
            ("", "User.Identity.Name", Head::Type),
            ("", "IList.Add.X", Head::Type),
            ("using ICSharp.X;", "ICSharp.Y.Z", Head::Root),
            ("", "A.B.C", Head::Unknown),
        ] {
            assert_eq!(head(source, name), expected, "{source} {name}");
        }
    }
}
