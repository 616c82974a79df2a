//! Dotted names of C#, Java and Kotlin in code: which begin with a package and which with a variable, a property or a
//! type.

use crate::support::program::Outcome;
use crate::support::repo::Repo;

/// What `check` says about a branch that adds this file to `app/`, for which the policy has this line. The base has
/// these files as well.
fn check(rule: &str, base: &[(&str, &str)], path: &str, source: &str) -> Outcome {
    let repo = Repo::empty();
    repo.write(
        "architecture/invariants.yml",
        format!("version: 1\napp:\n  allowed_roots: [app/]\n  {rule}\nlib:\n  allowed_roots: [lib/]\n"),
    );
    for (path, source) in base {
        repo.write(path, source);
    }
    repo.write("app/README", "x\n");
    repo.write("lib/README", "x\n");
    repo.commit("start");
    repo.branch("f");
    repo.change(path, source);
    repo.agentgate(["check", "--base", "main"])
}

const CSHARP: &str = "allowed_imports: [Microsoft.AspNetCore, Microsoft.EntityFrameworkCore]";
const PROJECT: &str = "<Project Sdk=\"Microsoft.NET.Sdk.Web\"><ItemGroup>\n<PackageReference Include=\"Vendor.Queue\" \
                       Version=\"1.0.0\"/>\n<PackageReference Include=\"App.Metrics\" Version=\"4.0.0\"/>\n\
                       </ItemGroup></Project>\n";

/// A controller with this statement.
fn controller(statement: &str) -> String {
    format!(
        "using Microsoft.AspNetCore.Mvc;\nusing Microsoft.EntityFrameworkCore;\nnamespace Acme.App;\n\
         public class OrdersController(ShopContext db) : ControllerBase {{\n  public async Task F() {{\n    \
         {statement}\n  }}\n}}\n"
    )
}

#[test]
fn chains_of_properties_in_csharp_are_no_packages() {
    let base = [
        ("app/app.csproj", PROJECT),
        (
            "lib/Status.cs",
            "namespace Acme.Lib;\npublic static class Enums { public enum Color { Red } }\npublic class Stripe { }\n",
        ),
    ];
    for statement in [
        "var a = User.Identity.Name;",
        "var a = HttpContext.User.Identity.Name.Trim();",
        "var a = DateTime.UtcNow.Date.AddDays(1);",
        "var a = Console.Out.NewLine.Length;",
        "var a = Request.Headers.Authorization.ToString();",
        "var a = nameof(Order.Customer.Address.City);",
        "List<Outer.Inner> x = [];",
        "var a = typeof(Outer.Inner.Deep);",
        "Outer.Inner.Deep x = null;",
        "try { } catch (Api.Client.Error e) { }",
        "var a = Enums.Color.Red.ToString();",
        "Enums.Color a = Enums.Color.Red;",
        "var a = await db.Orders.Where(o => o.Customer.Address.City == City.Default.Name).ToListAsync();",
        "var a = Settings.Redis.Url.Trim();",
        "var a = base.User.Identity.Name; var b = this.Order.Customer.Name;",
        "App.Current.Dispatcher.Post(a);",
        "var a = Environment.OSVersion.Version.Major;",
        "Environment.SpecialFolder f = default;",
        "var a = Stripe.Key.Value.Trim();",
        "var a = System.Text.Encoding.UTF8.GetBytes(\"a\");",
        "var a = Acme.Lib.Enums.Color.Red;",
        "var a = new Order.Types.Line();",
    ] {
        check(CSHARP, &base, "app/A.cs", &controller(statement)).expect(0, &[]);
    }
}

#[test]
fn a_namespace_of_a_package_in_csharp_counts_without_a_using() {
    let base = [
        ("app/app.csproj", PROJECT),
        ("lib/Q.cs", "global using Contoso.Billing;\nusing Fabrikam.Mail;\n"),
        (
            "lib/packages.lock.json",
            "{\"version\": 1, \"dependencies\": {\"net9.0\": {\"Tailspin.Core\": {\"type\": \"Transitive\"}}}}\n",
        ),
    ];
    for (statement, name) in [
        ("StackExchange.Redis.ConnectionMultiplexer.Connect(a);", "StackExchange"),
        ("var a = Newtonsoft.Json.JsonConvert.SerializeObject(b);", "Newtonsoft"),
        ("var a = new Newtonsoft.Json.JsonSerializer();", "Newtonsoft"),
        ("List<newtonsoft.json.Linq.JToken> a = [];", "newtonsoft"),
        ("global::X.Y.Z();", "global::X.Y"),
        ("var a = global::Outer.Inner;", "global::Outer.Inner"),
        ("Vendor.Queue.Client.Open();", "Vendor.Queue"),
        ("Vendor.Other.Client.Open();", "Vendor.Other"),
        ("App.Metrics.Counter.Increment();", "App.Metrics"),
        ("Contoso.Billing.Invoice.Send();", "Contoso.Billing"),
        ("Contoso.Billing.Invoice a = null;", "Contoso.Billing"),
        ("Fabrikam.Other.Send.Now();", "Fabrikam.Other"),
        ("Tailspin.Core.Toy.Make();", "Tailspin.Core"),
        (
            "Microsoft.Extensions.Caching.Memory.MemoryCache a = null;",
            "Microsoft.Ext",
        ),
        ("System.Reactive.Linq.Observable.Empty<int>();", "System.Reactive"),
    ] {
        check(CSHARP, &base, "app/A.cs", &controller(statement))
            .expect(5, &["app/A.cs:6", name, "app.allowed_imports"]);
    }
    // A type that the change brings along does not make a package's root a type.
    let source = controller("Amazon.S3.Client.Open();") + "class X { class Amazon { } }\n";
    check(CSHARP, &[], "app/A.cs", &source.replace("class Amazon", "class Other")).expect(5, &["app/A.cs:6"]);
    let source = controller("Amazon.S3.Client a = null;") + "class X { class Amazon { } }\n";
    check(CSHARP, &[], "app/A.cs", &source).expect(5, &["app/A.cs:6"]);
}

#[test]
fn what_nothing_tells_of_in_csharp_is_counted() {
    let statement = "Widget.Parts.First.Go(); Widget.Parts.Last.Go(); Order.Types.Line l; Panel.A.B.C();";
    let told = "4 dotted names of C# begin with what no `using` and no project file tells to be a namespace";
    let named = "`Widget.Parts.First.Go` in `app/A.cs`:6";
    check(CSHARP, &[], "app/A.cs", &controller(statement)).expect(0, &[told, named, " and 1 more"]);
    // Of what a file of the tree declares nothing is said, nor of what is allowed.
    let lib = [(
        "lib/W.cs",
        "namespace Acme.Lib;\npublic static partial class Widget { }\n",
    )];
    let statement = "Widget.Parts.First.Go(); Microsoft.AspNetCore.Http.X.Y(); DateTime.UtcNow.Date.ToString();";
    let outcome = check(CSHARP, &lib, "app/A.cs", &controller(statement));
    outcome.expect(0, &[]);
    assert!(
        !outcome.stderr.contains("dotted name") && !outcome.stdout.contains("dotted name"),
        "{outcome}"
    );
    // An entry that forbids goes by the beginning, whatever it is.
    check(
        "forbidden_imports: [Widget.Parts]",
        &lib,
        "app/A.cs",
        &controller(statement),
    )
    .expect(5, &["app/A.cs:6"]);
}

#[test]
fn a_type_in_an_alias_of_csharp_is_no_package() {
    for source in [
        "using H = System.Collections.Generic.Dictionary<string, Money>;\n",
        "using T = (int a, Money b);\n",
        "using L = System.Collections.Generic.List<Outer.Inner>;\n",
    ] {
        check(CSHARP, &[], "app/A.cs", source).expect(0, &[]);
    }
    for source in [
        "using H = System.Collections.Generic.Dictionary<string, Newtonsoft.Json.Linq.JToken>;\n",
        "using T = (int a, Newtonsoft.Json.Linq.JToken b);\n",
        "using J = Newtonsoft.Json;\n",
        "using N = Vendor;\n",
    ] {
        check(CSHARP, &[], "app/A.cs", source).expect(5, &["app/A.cs:1"]);
    }
    let forbids = "forbidden_imports: [Newtonsoft.Json]";
    let source =
        "using Newtonsoft = Acme.X;\nusing H = System.Collections.Generic.List<Newtonsoft.Json.Linq.JToken>;\n";
    check(forbids, &[], "app/A.cs", source).expect(5, &["app/A.cs:2"]);
}

/// A class of Java with these members.
fn java(members: &str) -> String {
    format!("package com.acme.app;\nimport java.util.*;\nclass A {{\n{members}\n}}\n")
}

#[test]
fn a_variable_of_java_hides_a_package_of_its_name() {
    let rules = ["forbidden_imports: [redis]", "allowed_imports: [org.springframework]"];
    for members in [
        "void f(Order order, Settings settings) { order.redis.Address.City(); settings.redis.Mode.FAST.name(); }",
        "Settings settings; void f() { settings.redis.Mode.FAST.name(); }",
        "void f() { settings.redis.Mode.FAST.name(); } private final Settings<A> settings = g();",
        "int a, settings; void f() { x(settings.redis.Mode.FAST); }",
        "void f() { var settings = g(); settings.redis.Mode.FAST.name(); }",
        "void f() { final Map<String, List<A>> settings = g(); settings.redis.Mode.FAST.name(); }",
        "void f() { for (Settings settings : all) settings.redis.Mode.FAST.name(); }",
        "void f() { for (Settings settings : all) { g(settings.redis.Mode.FAST); } }",
        "void f() { try (Settings settings = g()) { settings.redis.Mode.FAST.name(); } catch (E e) { e.redis.Kind.x(); } }",
        "void f() { all.map(settings -> settings.redis.Mode.FAST); }",
        "void f() { all.reduce((a, settings) -> a.redis.Mode.x(settings.redis.Mode.FAST)); }",
        "void f() { all.map(settings -> { return settings.redis.Mode.FAST; }); }",
        "void f(Settings... settings) { settings.redis.Mode.FAST.name(); }",
        "void f(Settings[] settings) { settings.redis.Mode.FAST.name(); }",
        "Net net; void f() { g(net.redis.MAX_SIZE); }",
        "record P(Settings settings) { void f() { settings.redis.Mode.FAST.name(); } }",
        "void f(Object o) { if (o instanceof Settings settings) { settings.redis.Mode.FAST.name(); } }",
        "void f(Object o) { if (o instanceof P(Settings settings) && settings.redis.Mode == null) { } }",
        "boolean f(Object o) { return o instanceof Settings settings && g(settings.redis.Mode.FAST); }",
        "void f(Object o) { switch (o) { case Settings settings when settings.redis.Mode.x() -> g(); } }",
        "void f(Object o) { switch (o) { case P(Settings settings) -> g(settings.redis.Mode.FAST); } }",
        "class B { void f() { settings.redis.Mode.FAST.name(); } } static Settings settings;",
    ] {
        for rule in rules {
            check(rule, &[], "app/A.java", &java(members)).expect(0, &[]);
        }
    }
}

#[test]
fn a_package_of_java_counts_where_no_variable_hides_it() {
    let rules = ["forbidden_imports: [redis]", "allowed_imports: [org.springframework]"];
    for members in [
        "void f() { redis.clients.Jedis.connect(); }",
        // Variables of another place.
        "void g(Redis redis) { } void f() { redis.clients.Jedis.connect(); }",
        "void g() { int redis = 1; } void f() { redis.clients.Jedis.connect(); }",
        "void f() { { Redis redis = g(); } redis.clients.Jedis.connect(); }",
        "void f() { redis.clients.Jedis.connect(); Redis redis = g(); }",
        "void f() { all.map(redis -> 1); redis.clients.Jedis.connect(); }",
        "void f() { g(redis -> 1, redis.clients.Jedis.connect()); }",
        "void f() { for (R redis : all) g(); redis.clients.Jedis.connect(); }",
        "void f() { switch (x) { case redis -> redis.clients.Jedis.connect(); } }",
        "void f() { redis: for (;;) { if (x) break redis; redis.clients.Jedis.connect(); } }",
        "void f() { if (x instanceof Redis redis) { } redis.clients.Jedis.connect(); }",
        "abstract void g(Redis redis); void f() { redis.clients.Jedis.connect(); }",
        "class B { Redis redis; } void f() { redis.clients.Jedis.connect(); }",
        "@X(redis = 1) void f() { redis.clients.Jedis.connect(); }",
        "enum E { redis, other; } void f() { redis.clients.Jedis.connect(); }",
        // A type must stand there, which no variable hides.
        "void f(Redis redis) { redis.clients.Jedis j; }",
        "void f(Redis redis) { g(new redis.clients.Jedis()); }",
        "void f(Redis redis) { List<redis.clients.Jedis> j; }",
        "void f(Redis redis) { g((redis.clients.Jedis) x); }",
        "void f(Redis redis) { g(redis.clients.Jedis.class); }",
        "@redis.clients.Jedis void f(Redis redis) { }",
        // A class of one letter.
        "void f() { redis.clients.X.connect(); }",
        "void f() { g(new redis.clients.X()); }",
        "redis.clients.X x;",
        "List<redis.clients.X> x;",
        "void f() { g((redis.clients.X) y); }",
        "void f() { g(redis.clients.X::new); }",
        "redis.X x;",
        "List<redis.X> x;",
        "void f() { g(new redis.X()); }",
        "void f() { g(new <A> redis.clients.Jedis()); }",
        "void f() { if (x instanceof A(redis.clients.Jedis(int y))) { } }",
    ] {
        for rule in rules {
            check(rule, &[], "app/A.java", &java(members)).expect(5, &["app/A.java:4"]);
        }
    }
    for members in [
        "void f(P redis) { redis.axis.X.get(); }",
        "void f() { g(redis.axis.X); }",
        "void f() { g(redis.X, redis.X.y()); }",
        "void f() { redis.clients.Open(); }",
        "void f() { if (MIN < redis.axis.MAX && a) { } }",
    ] {
        check(rules[0], &[], "app/A.java", &java(members)).expect(0, &[]);
    }
}

#[test]
fn a_variable_of_kotlin_hides_a_package_of_its_name() {
    let rules = ["forbidden_imports: [redis]", "allowed_imports: [io.ktor]"];
    for source in [
        "\nclass A(val order: Order) { val q = order.redis.Address.City }\n",
        "\nfun f(settings: Settings) { settings.redis.Mode.FAST.name }\n",
        "\nfun f(a: A?, settings: Settings) = a ?: settings.redis.Mode.FAST\n",
        "\nfun f() { all.map { settings -> settings.redis.Mode.FAST } }\n",
        "\nfun f() { val settings = g(); h(settings.redis.Mode()) }\n",
        "\nfun f() { x = settings.redis.ON_READ\n  y = 1 }\n",
        "\nfun f() = settings.redis.URL to 1\n",
        "\nfun f(net: Net) = net.redis.URL + 1\n",
    ] {
        for rule in rules {
            check(rule, &[], "app/A.kt", source).expect(0, &[]);
        }
    }
    for source in [
        "\nfun f() { redis.clients.Jedis.connect() }\n",
        "\nfun g(redis: Redis) {}; fun f() { redis.clients.Jedis.connect() }\n",
        "\nfun f(redis: Redis) { val j: redis.clients.Jedis? = null }\n",
        "\nfun f(redis: Redis) { g(x as redis.clients.Jedis) }\n",
        "\nfun f() = redis.clients.X()\n",
        "\nfun f() = net.redis.URL + 1\n",
        "\nfun f(x: net.redis.URL) = 1\n",
        "\nfun f() = redis.clients.X.connect()\n",
        "\n@file:redis.x.A\n",
        "\n@file:redis.x.Ann\n",
        "\n@file:[redis.x.A Other]\n",
        "\n@[redis.x.A Other] class B\n",
        "\nclass B(@field:redis.x.A val x: Int)\n",
    ] {
        for rule in rules {
            check(rule, &[], "app/A.kt", source).expect(5, &["app/A.kt:2"]);
        }
    }
}
