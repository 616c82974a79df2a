//! What counts as an import of Python.

use super::tests::{hits, raws};
use super::{ImportKind, Language, imports};

fn py(source: &str) -> Vec<String> {
    raws(Language::Python, source)
}

const MUST_HIT: &[&str] = &[
    "import \\\n   redis\n",
    "if x: import redis\n",
    "from redis.asyncio import*\n",
    "m = __import__(\"redis\")\n",
    "\u{feff}import redis\n",
    "x = f\"{d[\"k\"]}\"\nimport redis\n",
    "s = '''it's \"\"\" '''\nimport redis\n",
    "import os, redis",
    "import os as o, redis as r",
    "import redis.client as c",
    "from redis import (\n  a, # it's\n  b as c,\n)",
    "from redis import a, b",
    "from redis \\\n import x",
    "from redis import(x)",
    "def f():\n\timport redis",
    "x = 1; import redis",
    "try: import redis\nexcept: pass",
    "else: import redis",
    "if TYPE_CHECKING:\n    from redis import Redis",
    "# it's\rimport redis",
    "# it's\r\nimport redis\r\n",
    "import os\\\r\n, redis",
    "\x0cimport redis",
    "importlib.import_module('redis')",
    "import_module('redis')",
    "import_module('re' 'dis')",
    "import_module('re' + 'dis')",
    "import_module(\n  're'\n  'dis'\n)",
    "import_module(('redis'))",
    "import_module(name='redis')",
    "import_module(r'redis')",
    "import_module('\\x72edis')",
    "import_module('\\162edis')",
    "import_module('\\u0072edis')",
    "import_module('re\\\ndis')",
    "import_module('''redis''')",
    "import_module(f'redis')",
    "import_module('redis.' + x)",
    "import_module(f'redis.{x}')",
    "import_module('.client', 'redis')",
    "import_module('..redis', package='a.b'), import_module('redis')",
    "from importlib import import_module as im\nim('redis')",
    "builtins.__import__('redis', globals())",
    "\u{ff49}mport_module('redis')",
    "pytest.importorskip('redis')",
    "f'{__import__(\"redis\")}'",
    "f'''{\nimport_module('redis')}'''",
    "f'{x:{__import__(\"redis\")}}'",
    "f'{x!r:>{w}}'; import redis",
    "f'{{'; import redis",
    "f'{x:%H:%M}'; import redis",
    "f'\\N{LEFT CURLY BRACKET}'; import redis",
    "rf'\\{x}'; import redis",
    "f'{f\"{f'{1}'}\"}'; import redis",
    "f'{x[\"}\"]}'; import redis",
    "f'{(lambda x: 1)}'; import redis",
    "b'\\''; import redis",
    "r'\\'; import redis'; import redis",
    "x = '\\\\'; import redis",
    "x = ''; import redis",
    "x = \"\"\"\"\"\"; import redis",
    "x = ''''a'''; import redis",
    "x = '\\\n'; import redis",
    "print'x'; import redis",
    "x = [\n1,\n]\nimport redis",
    "lambda: __import__('redis')",
    "async def f():\n  await x\n  import redis",
    "import_module\\\n('redis')",
];

const MUST_NOT_HIT: &[&str] = &[
    "import myredis_x\n",
    "s = 'import redis'\n",
    "\"\"\"\nimport redis\n\"\"\"\n",
    "from . import redis\n",
    "# import redis",
    "x = 1 # import redis",
    "'''\nimport redis\n'''",
    "r'\\'; import redis'",
    "f'import redis'",
    "f'''{x}\nimport redis\n{y}'''",
    "f'{x:import redis}'",
    "from .redis import x",
    "from myapp import redis",
    "import myapp.redis",
    "import redis_om",
    "import os as redis",
    "yield from redis",
    "raise x from redis",
    "def import_module(redis): pass",
    "import_module('.redis')",
    "x.redis",
    "exec('import redis')",
    "b'import redis'",
    "u'\\\nimport redis'",
];

#[test]
fn imports_count() {
    for source in MUST_HIT {
        assert!(hits(Language::Python, source, "redis"), "{source}");
    }
}

#[test]
fn comments_strings_and_others_names_do_not() {
    for source in MUST_NOT_HIT {
        assert!(!hits(Language::Python, source, "redis"), "{source}");
    }
}

#[test]
fn every_name_of_a_from_import_is_one_import() {
    assert_eq!(py("from app import db, ui as u"), ["app.db", "app.ui"]);
    assert_eq!(py("from app import *"), ["app"]);
    assert_eq!(
        py("from . import a\nfrom ..b import c\nfrom ... import *"),
        [".a", "..b.c", "..."]
    );
    assert_eq!(py("import a.b, c"), ["a.b", "c"]);
    assert_eq!(py("from . import (a)\nimport b"), [".a", "b"]);
    assert_eq!(py("import a\nb"), ["a"]);
}

#[test]
fn what_is_no_literal_is_opaque() {
    for source in [
        "__import__(x)",
        "import_module(f'{x}')",
        "import_module(a + 'b')",
        "import_module('\\N{DIGIT ONE}')",
    ] {
        assert!(py(source).contains(&"?".to_owned()), "{source}");
    }
    assert_eq!(py("import_module('.x', 'a.b')"), ["a.b.x"]);
    assert_eq!(py("import_module('..x', package='a.b')"), ["a.x"]);
    assert_eq!(py("import_module('.x', __name__)"), [".x"]);
}

#[test]
fn imports_below_type_checking_are_type_only() {
    let source = "import a\nif typing.TYPE_CHECKING:\n    import b\n\n    x(\n1)\n    from c import d\nimport e\n\
                  if TYPE_CHECKING: import f\nelse: import g\nimport h\n";
    let found = imports(Language::Python, source.as_bytes()).expect("readable");
    let typed: Vec<&str> = found
        .iter()
        .filter(|i| i.kind == ImportKind::TypeOnly)
        .map(|i| i.raw.as_str())
        .collect();
    assert_eq!(typed, ["b", "c.d", "f"]);
    assert_eq!(found.len(), 8 - 1);
}

#[test]
fn files_that_hostile_code_runs_are_found_soon() {
    let started = std::time::Instant::now();
    for source in [
        "exec(open(".repeat(100_000),
        "exec(open('a').read())\n".repeat(50_000),
        "with open('a') as f: exec(f.read())\n".repeat(50_000),
        "x = open('a'\n".repeat(50_000),
        format!("{}open('a')", "open((((".repeat(100_000)),
        "exec(compile(".repeat(100_000),
    ] {
        let _ = imports(Language::Python, source.as_bytes());
    }
    assert!(started.elapsed().as_secs() < 30, "{:?}", started.elapsed());
}
