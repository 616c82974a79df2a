//! `agentgate check` on files of C, Ruby and PHP.

use super::on_branch;

#[test]
fn an_include_a_require_and_a_name_of_php_are_5() {
    for (path, content, place) in [
        ("payments/q.c", "/* a */\n#include <redis/x.h>\n", "payments/q.c:2"),
        (
            "payments/Rakefile",
            "a = b / c\nrequire 'redis'\n",
            "payments/Rakefile:2",
        ),
        ("payments/q.php", "<?php\nnew \\Redis\\Client();\n", "payments/q.php:2"),
        (
            "payments/q.php",
            "<?php\nrequire __DIR__ . '/third_party/redis/autoload.php';\n",
            "payments/q.php:2",
        ),
    ] {
        let repo = on_branch();
        repo.change(path, content);
        repo.agentgate(["check", "--base", "main"]).expect(5, &[place]);
    }
}

#[test]
fn comments_strings_and_own_files_pass() {
    let repo = on_branch();
    repo.change("payments/q.c", "// #include <redis/x.h>\n#include \"./redis.h\"\n");
    repo.change(
        "payments/q.rb",
        "s = <<~A\n  require 'redis'\nA\nrequire_relative 'redis'\n",
    );
    repo.change("payments/q.php", "use Redis\\Client;\n<?php // new \\Redis\\Client\n");
    repo.agentgate(["check", "--base", "main"]).expect(0, &[]);
}

#[test]
fn a_file_that_never_ends_its_string_is_9() {
    for (path, content) in [
        ("payments/q.c", "/* never\n"),
        ("payments/q.rb", "x = \"never\n"),
        ("payments/q.php", "<?php '\n"),
    ] {
        let repo = on_branch();
        repo.change(path, content);
        repo.agentgate(["check", "--base", "main"]).expect(9, &[path]);
    }
}
