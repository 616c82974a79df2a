//! What an area with `allowed_imports` may import without an entry: its language's own library, and no more.

use crate::support::program::Outcome;
use crate::support::repo::Repo;

/// What `check` says about a branch that adds this file, of which nothing from outside may be imported.
fn check(base: &[(&str, &str)], path: &str, source: &str) -> Outcome {
    let repo = Repo::empty();
    repo.write(
        "architecture/invariants.yml",
        "version: 1\napp:\n  allowed_roots: [app/]\n  allowed_imports: [zod]\n",
    );
    for (path, source) in base {
        repo.write(path, source);
    }
    repo.write("app/README", "x\n");
    repo.commit("start");
    repo.branch("f");
    repo.change(path, source);
    repo.agentgate(["check", "--base", "main"])
}

#[test]
fn of_javax_only_what_the_jdk_has_needs_no_entry() {
    for name in [
        "javax.crypto.Cipher",
        "javax.sql.DataSource",
        "javax.net.ssl.*",
        "javax.xml.XMLConstants",
        "javax.xml.parsers.*",
        "javax.xml.stream.XMLInputFactory",
        "javax.annotation.processing.Processor",
        "javax.security.auth.Subject",
        "javax.transaction.xa.XAResource",
        "javax.management.MBeanServer",
        "java.util.List",
        "org.w3c.dom.Document",
        "com.sun.net.httpserver.HttpServer",
    ] {
        check(&[], "app/A.java", &format!("import {name};\nclass A {{}}\n")).expect(0, &[]);
        check(&[], "app/A.kt", &format!("import {name}\n")).expect(0, &[]);
    }
    check(&[], "app/A.java", "class A { javax.sql.DataSource s; }\n").expect(0, &[]);
    for name in [
        "javax.persistence.Entity",
        "javax.servlet.http.HttpServlet",
        "javax.inject.Inject",
        "javax.ws.rs.GET",
        "javax.validation.Valid",
        "javax.annotation.Nullable",
        "javax.annotation.*",
        "javax.xml.bind.JAXB",
        "javax.xml.ws.Service",
        "javax.security.auth.message.AuthStatus",
        "javax.transaction.Transactional",
        "javax.management.j2ee.Management",
        "javax.cache.Cache",
        "org.w3c.dom.svg.SVGDocument",
    ] {
        check(&[], "app/A.java", &format!("import {name};\nclass A {{}}\n")).expect(5, &["app/A.java:1", name]);
        check(&[], "app/A.kt", &format!("import {name}\n")).expect(5, &["app/A.kt:1"]);
    }
    check(&[], "app/A.java", "class A { javax.persistence.EntityManager m; }\n").expect(5, &["app/A.java:1"]);
}

#[test]
fn of_system_what_comes_with_packages_needs_an_entry() {
    for name in [
        "System",
        "System.Linq",
        "System.Text.Json",
        "System.Collections.Immutable",
        "System.Data",
        "System.Data.Common",
        "System.Net.Http.Json",
        "System.Security.Cryptography",
        "System.IO.Pipelines",
        "Microsoft.Win32",
        "Microsoft.CSharp.RuntimeBinder",
        "static System.Math",
    ] {
        check(&[], "app/A.cs", &format!("using {name};\n")).expect(0, &[]);
    }
    for name in [
        "System.Reactive.Linq",
        "System.Data.SqlClient",
        "System.Data.SQLite",
        "System.IdentityModel.Tokens.Jwt",
        "System.CommandLine",
        "System.Linq.Dynamic.Core",
        "System.IO.Abstractions",
        "system.reactive",
        "Microsoft.EntityFrameworkCore",
        "Microsoft.Data.SqlClient",
        "Microsoft.Win32.TaskScheduler",
    ] {
        check(&[], "app/A.cs", &format!("using {name};\n")).expect(5, &["app/A.cs:1", name]);
    }
    check(&[], "app/A.cs", "class A { System.Data.SqlClient.SqlConnection c; }\n").expect(5, &["app/A.cs:1"]);
    check(&[], "app/A.cs", "class A { System.Data.IDbConnection c; }\n").expect(0, &[]);
    // What is Windows' own is no package either.
    for (library, code) in [
        ("User32.dll", 0),
        ("kernel32", 0),
        ("libc", 0),
        ("hiredis.dll", 5),
        ("util", 5),
    ] {
        let source = format!("class A {{\n[DllImport(\"{library}\")] static extern int F();\n}}\n");
        check(&[], "app/A.cs", &source).expect(code, &[]);
    }
}

#[test]
fn a_path_of_go_without_a_dot_is_not_always_the_standard_library_s() {
    let imports = "\"fmt\"; \"log/slog\"; \"math/rand/v2\"; \"embed\"; \"iter\"; \"unique\"; \"weak\"; \"testing/fstest\"; \
                   \"unsafe\"; \"structs\"; \"C\"";
    check(&[], "app/a.go", &format!("package a\n\nimport ({imports})\n")).expect(0, &[]);
    for path in ["mycorp/lib", "internal/x", "fmtx", "golang/x"] {
        let source = format!("package a\n\nimport \"{path}\"\n");
        check(&[], "app/a.go", &source).expect(5, &["app/a.go:3", path]);
    }
    // A module's own name need not have a dot either.
    let own = [("go.mod", "module mycorp\n\ngo 1.24\n"), ("lib/l.go", "package lib\n")];
    check(&own, "app/a.go", "package a\n\nimport \"mycorp/lib\"\n").expect(0, &[]);
}

#[test]
fn what_cgo_compiles_is_judged_as_c() {
    let go = |lines: &str| format!("package a\n\n/*\n{lines}\n*/\nimport \"C\"\n");
    let base = [("app/bridge.h", "\n"), ("app/libbridge.a", "x\n")];
    let own =
        "#cgo LDFLAGS: -L. -lbridge -lm -lpthread\n#include <stdlib.h>\n#include <sys/types.h>\n#include \"bridge.h\"";
    check(&base, "app/a.go", &go(own)).expect(0, &[]);
    for line in [
        "#include <hiredis/hiredis.h>",
        "#cgo LDFLAGS: -lhiredis",
        "#cgo pkg-config: hiredis",
    ] {
        check(&base, "app/a.go", &go(line)).expect(5, &["app/a.go:4", "hiredis"]);
    }
}

#[test]
fn headers_of_the_system_and_the_module_std_need_no_entry() {
    for (path, line) in [
        ("app/a.cpp", "import std;"),
        ("app/a.cpp", "import std.compat;"),
        ("app/a.cpp", "#include <experimental/filesystem>"),
        ("app/a.c", "#include <windows.h>"),
        ("app/a.c", "#include <WinSock2.h>"),
        ("app/a.c", "#include <tchar.h>"),
        ("app/a.c", "#include <getopt.h>"),
        ("app/a.c", "#include <execinfo.h>"),
        ("app/a.c", "#include <asm/unistd.h>"),
        ("app/a.c", "#include <mach/mach_time.h>"),
        ("app/a.c", "#include <TargetConditionals.h>"),
        ("app/a.m", "#import <Foundation/Foundation.h>"),
    ] {
        check(&[], path, &format!("{line}\n")).expect(0, &[]);
    }
    for (path, line) in [
        ("app/a.cpp", "import stdx;"),
        ("app/a.cpp", "import std.redis;"),
        ("app/a.cpp", "#include <experimental/redis>"),
        ("app/a.c", "#include <windows/redis.h>"),
        ("app/a.c", "#include <curl/curl.h>"),
        ("app/a.c", "#include <asm/../redis.h>"),
        ("app/a.c", "#include \"windows.h\""),
        ("app/a.c", "#include <GETOPT.h>"),
    ] {
        check(&[], path, &format!("{line}\n")).expect(5, &[&format!("{path}:1")]);
    }
}

#[test]
fn bundler_comes_with_ruby() {
    check(
        &[],
        "app/a.rb",
        "require \"bundler/setup\"\nrequire \"bundler/inline\"\n",
    )
    .expect(0, &[]);
    check(&[], "app/a.rb", "require \"bundlerx\"\n").expect(5, &["app/a.rb:1"]);
    // What is installed by it is named all the same.
    let source = "require \"bundler/inline\"\ngemfile { gem \"redis\" }\n";
    check(&[], "app/a.rb", source).expect(5, &["app/a.rb:2", "redis"]);
}
