//! Imports by other ways than the language's own statement.

use super::on_branch;
use crate::support::program::Outcome;
use crate::support::repo::Repo;

/// What `check` says about a branch that adds this file.
fn check(path: &str, source: &str) -> Outcome {
    let repo = on_branch();
    repo.change(path, source);
    repo.agentgate(["check", "--base", "main"])
}

#[test]
fn the_loader_of_node_is_5() {
    let source = "require(\"module\").prototype.require.call(module, \"redis\");\n";
    check("payments/a.js", source).expect(5, &["payments/a.js:1"]);
    let source = "const {_load} = require(\"module\");\n_load(\"redis\");\n";
    check("payments/a.js", source).expect(5, &["payments/a.js:2"]);
}

#[test]
fn a_loader_that_cannot_be_followed_is_a_notice() {
    let source = "const {_load} = require(\"module\");\n_load(name);\n";
    check("payments/a.js", source).expect(0, &["1 dynamic import whose argument is computed"]);
}

#[test]
fn what_python_loads_by_a_dotted_string_is_5() {
    for source in [
        "import pkgutil\npkgutil.resolve_name(\"redis:Redis\")\n",
        "import importlib.util\nimportlib.util.find_spec(\"redis\")\n",
        "import pydoc\npydoc.locate(\"redis.Redis\")\n",
        "from unittest import mock\nmock.patch(\"redis.Redis\")\n",
        "from pkgutil import resolve_name as rn\nrn(\"redis\")\n",
        "from importlib import import_module as im\nim(\"redis\")\n",
        "from unittest.mock import patch as p\np(\"redis.Redis\")\n",
        "import importlib as il\nil.import_module(\"redis\")\n",
        "from unittest.mock import patch\npatch(target=\"redis.Redis\")\n",
        "from importlib import import_module\nimport_module(name=\"redis\")\n",
    ] {
        check("payments/a.py", source).expect(5, &["payments/a.py:2"]);
    }
}

#[test]
fn another_objects_method_passes() {
    let source = "from own import resolve_name as rn\nrn(\"redis\")\n";
    check("payments/a.py", source).expect(0, &[]);
    check("payments/a.py", "obj.import_module(\"redis\")\n").expect(0, &[]);
    check("payments/a.js", "obj.require(\"redis\");\n").expect(0, &[]);
}

#[test]
fn a_class_of_php_in_a_variable_is_5() {
    let source = "<?php\n$c = 'Redis\\Client';\nnew $c;\n";
    check("payments/a.php", source).expect(5, &["payments/a.php:2"]);
}

#[test]
fn prose_of_a_template_passes() {
    let source = "<template><p>Call require(\"redis\") now</p></template>\n";
    check("payments/a.vue", source).expect(0, &[]);
}

/// What `check` says about a file of payments that may depend on nothing, billing being beside it.
fn edge(path: &str, source: &str) -> Outcome {
    let repo = Repo::empty();
    repo.write(
        "architecture/invariants.yml",
        "version: 1\npayments:\n  allowed_roots: [payments/]\n  may_depend_on: []\nbilling:\n  allowed_roots: [billing/]\n",
    );
    repo.write("billing/x.js", "export {};\n");
    repo.write("billing/x.rb", "1\n");
    repo.write("payments/b.js", "export {};\n");
    repo.commit("start");
    repo.branch("f");
    repo.change(path, source);
    repo.agentgate(["check", "--base", "main"])
}

#[test]
fn workers_urls_and_globs_are_edges() {
    for source in [
        "new Worker(new URL(\"../billing/x.js\", import.meta.url));\n",
        "new Worker(\"../billing/x.js\");\n",
        "import.meta.glob(\"../billing/*.js\");\n",
        "require.context(\"../billing\");\n",
        "const u = new URL(\"../billing/x.js\", import.meta.url);\n",
    ] {
        edge("payments/a.js", source).expect(5, &["payments/a.js:1", "of billing"]);
    }
}

#[test]
fn paths_of_ruby_from_the_file_are_edges() {
    for source in [
        "require \"#{__dir__}/../billing/x\"\n",
        "require File.expand_path(\"../../billing/x\", __FILE__)\n",
        "require File.join(__dir__, \"..\", \"billing\", \"x\")\n",
    ] {
        edge("payments/a.rb", source).expect(5, &["payments/a.rb:1", "`billing/x.rb` of billing"]);
    }
}

#[test]
fn what_kernel_and_modules_of_ruby_load_is_5() {
    for source in [
        "Kernel.require \"redis\"\n",
        "::Kernel.require(\"redis\")\n",
        "Kernel.load \"redis.rb\"\n",
        "Kernel::load(\"redis/client.rb\")\n",
        "autoload :Redis, \"redis\"\n",
        "Kernel.autoload(:Redis, \"redis\")\n",
        "Object.autoload :Redis, \"redis/client\"\n",
    ] {
        check("payments/a.rb", source).expect(5, &["payments/a.rb:1"]);
    }
}

#[test]
fn ruby_that_is_loaded_under_another_ending_is_9() {
    for source in [
        "load \"./w.txt\"\n",
        "load \"#{__dir__}/w.txt\"\n",
        "Kernel.load(File.join(__dir__, \"w.txt\"))\n",
        "load \"payments/w.txt\"\n",
    ] {
        let repo = on_branch();
        repo.write("payments/w.txt", "require \"redis\"\n");
        repo.change("payments/a.rb", source);
        repo.agentgate(["check", "--base", "main"])
            .expect(9, &["payments/a.rb:1", "loads `payments/w.txt` as Ruby"]);
    }
}

#[test]
fn ruby_that_is_loaded_and_read_anyway_passes() {
    let repo = on_branch();
    for name in ["w.rb", "w.rake", "Rakefile"] {
        repo.write(format!("payments/{name}"), "1\n");
    }
    repo.write("payments/run", "#!/usr/bin/env ruby\n1\n");
    repo.write("payments/w.txt", "1\n");
    repo.change(
        "payments/a.rb",
        "load \"./w.rb\"\nload \"./w.rake\"\nload \"./Rakefile\"\nload \"./run\"\nload \"./none.txt\"\nx.load \
         \"./w.txt\"\nYAML.load \"./w.txt\"\n",
    );
    repo.agentgate(["check", "--base", "main"]).expect(0, &[]);
}

/// What `check` says of a change of one file to this content, beside a base with these files.
fn changed(base: &[(&str, &str)], path: &str, content: &str) -> Outcome {
    let repo = on_branch();
    for (path, content) in base {
        repo.write(path, content);
    }
    repo.commit("files");
    repo.git(["branch", "-qf", "main", "HEAD"]);
    repo.change(path, content);
    repo.agentgate(["check", "--base", "main"])
}

#[test]
fn ruby_that_unchanged_code_loads_is_read_whatever_it_is_called() {
    for line in [
        "load \"./w.txt\"",
        "load \"payments/w.txt\"",
        "load \"#{__dir__}/w.txt\"",
        "load File.join(__dir__, \"w.txt\")",
        "eval File.read(\"payments/w.txt\")",
        "instance_eval(File.read(File.join(__dir__, \"w.txt\")))",
        "binding.eval(::IO.read('payments/w.txt'), 'w')",
    ] {
        let base = [("payments/a.rb", line), ("payments/w.txt", "1\n")];
        changed(&base, "payments/w.txt", "1\nrequire \"redis\"\n").expect(5, &["payments/w.txt:2"]);
        changed(&base, "payments/w.txt", "1\nrequire \"json\"\n").expect(0, &[]);
    }
    // What only reads it, and what loads another one.
    for line in [
        "File.read \"payments/w.txt\"",
        "load \"payments/v.txt\"",
        "YAML.load \"payments/w.txt\"",
    ] {
        let base = [
            ("payments/a.rb", line),
            ("payments/w.txt", "1\n"),
            ("payments/v.txt", "1\n"),
        ];
        changed(&base, "payments/w.txt", "require \"redis\"\n").expect(0, &[]);
    }
}

#[test]
fn ruby_that_evaluates_a_file_loads_it() {
    let base = [("payments/w.txt", "require \"redis\"\n"), ("payments/w.rb", "1\n")];
    let unread = "loads `payments/w.txt` as Ruby";
    changed(&base, "payments/a.rb", "eval File.read(\"payments/w.txt\")\n").expect(9, &["payments/a.rb:1", unread]);
    changed(
        &base,
        "payments/a.rb",
        "eval File.read(\"payments/w.rb\")\neval \"1\"\n",
    )
    .expect(0, &[]);
}

#[test]
fn an_absolute_path_of_php_names_each_of_its_folders() {
    for source in ["include '/opt/redis/x.php';", "require_once \"/opt/redis.phar\";"] {
        check("payments/a.php", &format!("<?php\n{source}\n")).expect(5, &["payments/a.php:2"]);
    }
    for source in [
        "include '/opt/shop/x.php';",
        "include __DIR__ . '/redis/x.php';",
        "include dirname(__FILE__) . '/redis/x.php';",
        "include $root . '/redis/x.php';",
        "include './redis/x.php';",
    ] {
        check("payments/a.php", &format!("<?php\n{source}\n")).expect(0, &[]);
    }
}

#[test]
fn a_header_that_a_macro_names_is_included() {
    for source in [
        "#define H <redis/x.h>\n#include H\n",
        "#define G \"redis/x.h\" // or so\n#  define H /* */ G\n#include H\n",
        "#if A\n#define H <stdio.h>\n#else\n#define H <redis/x.h>\n#endif\n#include H\n",
    ] {
        let computed = "1 dynamic import whose argument is computed";
        check("payments/a.c", source).expect(5, &["payments/a.c:", computed]);
    }
    for source in [
        "#define H <redis/x.h>\n#include <stdio.h>\n",
        "#define H \"redis/x.h\" H2\n#define H2 \"a\"\n#include H2\n",
        "#define H(x) \"redis/x.h\"\n#define G \"a\\\"\n#include H\n",
        "#define H G\n#define G H\n#include H\n",
    ] {
        check("payments/a.c", source).expect(0, &[]);
    }
    let base = [
        ("payments/a.c", "#define H \"t.x\"\n#include H\n"),
        ("payments/t.x", "\n"),
    ];
    changed(&base, "payments/t.x", "#include <redis/x.h>\n").expect(5, &["payments/t.x:1"]);
}

#[test]
fn source_that_unchanged_code_loads_as_another_language_is_read_as_that() {
    for (path, line, content) in [
        ("payments/a.c", "#include \"i.py\"", "#include <redis/x.h>"),
        ("payments/a.js", "require('./i.py')", "require('redis')"),
        (
            "payments/a.php",
            "<?php include 'i.py';",
            "<?php new \\Redis\\Client();",
        ),
        ("payments/a.rs", "include!(\"i.py\");", "use redis::Client;"),
    ] {
        let line = format!("{line}\n");
        let base = [(path, line.as_str()), ("payments/i.py", "1\n")];
        changed(&base, "payments/i.py", &format!("{content}\n")).expect(5, &["payments/i.py:1"]);
        // Nobody loads it.
        let base = [(path, "\n"), ("payments/i.py", "1\n")];
        let outcome = changed(&base, "payments/i.py", &format!("{content}\n"));
        assert_eq!(outcome.code, 0, "{content}: {outcome}");
    }
}

#[test]
fn what_python_runs_by_its_text_is_read_as_python() {
    let files = [("payments/w.txt", "import redis\n"), ("w.txt", "import redis\n")];
    for source in [
        "exec(open('w.txt').read())\n",
        "exec(open(\"payments/w.txt\").read(), globals())\n",
        "exec(compile(open('w.txt').read(), 'w.txt', 'exec'))\n",
        "import io\nexec(io.open('w.txt', encoding='utf-8').read())\n",
        "from pathlib import Path\nexec(Path('w.txt').read_text())\n",
        "with open('w.txt') as f:\n    exec(f.read())\n",
        "with open('w.txt', 'rb') as f:\n    exec(compile(f.read(), 'w', 'exec'))\n",
        "text = open('w.txt').read()\nexec(text)\n",
        "import builtins\nbuiltins.exec(open('w.txt').read())\n",
    ] {
        let repo = on_branch();
        for (path, text) in files {
            repo.write(path, text);
        }
        repo.change("payments/a.py", source);
        repo.agentgate(["check", "--base", "main"]).expect(5, &["w.txt:1"]);
    }
    for source in [
        "with open('w.txt') as f:\n    print(f.read())\n",
        "cursor.exec(open('w.txt').read())\n",
        "exec(open('v.txt').read())\n",
        "# exec(open('w.txt').read())\n",
        "s = \"exec(open('w.txt').read())\"\n",
        "def exec(open): return open('w.txt').read()\n",
    ] {
        let repo = on_branch();
        repo.write("payments/w.txt", "import redis\n");
        repo.write("payments/v.txt", "x = 'import redis'\n");
        repo.change("payments/a.py", source);
        repo.agentgate(["check", "--base", "main"]).expect(0, &[]);
    }
}
