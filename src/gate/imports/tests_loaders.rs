//! Imports by other ways than the language's own statement: loaders, workers, globs, classes in variables.

use super::tests::{hits, raws};
use super::{ImportKind, Language, imports, imports_at, matches};

#[track_caller]
fn must_hit(language: Language, sources: &[&str]) {
    for source in sources {
        assert!(
            hits(language, source, "redis"),
            "{source}: {:?}",
            raws(language, source)
        );
    }
}

#[track_caller]
fn must_not(language: Language, sources: &[&str]) {
    for source in sources {
        let found = raws(language, source);
        assert!(!hits(language, source, "redis"), "{source}: {found:?}");
    }
}

fn is_opaque(language: Language, source: &str) -> bool {
    let found = imports(language, source.as_bytes()).expect(source);
    found.iter().any(|import| import.kind == ImportKind::Opaque)
}

#[test]
fn the_loader_of_node_is_seen_under_any_name() {
    must_hit(
        Language::JavaScript,
        &[
            "require('module').prototype.require.call(module, 'redis')",
            "const { _load } = require('module'); _load('redis')",
            "const { _load: l } = require('node:module'); l('redis')",
            "import { _load } from 'module'; _load('redis')",
            "import { _load as k } from 'node:module'; k('redis')",
            "require('module').createRequireFromPath('/x')('redis')",
            "module.parent.require('redis')",
            "import M from 'module'; const r = M.Module.prototype.require; r('redis')",
            "const { createRequire } = process.getBuiltinModule('module'); createRequire('/x')('redis')",
            "process.getBuiltinModule('redis')",
            "require.resolveWeak('redis')",
            "require.ensure(['redis'], () => {})",
            "import.meta.glob('../node_modules/redis/*.js')",
        ],
    );
    for source in [
        "const { _load } = require('module'); _load(x)",
        "module._compile(code, file); f(module)",
        "import.meta.glob('../*/x.ts')",
        "import.meta.glob('../node_modules/{redis,x}/*.js')",
        "import.meta.glob('../node_modules/@redis/*/x.js')",
        "import.meta.glob('/**/x.ts')",
        "import.meta.glob(['../{billing,x}/*.ts'])",
        "require.context('../..', true)",
        "require.context(x)",
    ] {
        assert!(is_opaque(Language::JavaScript, source), "{source}");
    }
}

#[test]
fn what_is_only_called_like_the_loader_is_none() {
    must_not(
        Language::JavaScript,
        &[
            "obj.require('redis'); this.container.require('redis')",
            "class A { _load(x) { return x } } a._load('redis')",
            "new Worker('redis', handler)",
            "new URL('redis://host', import.meta.url); new URL('redis', base)",
            "new Worker('redis.js')",
            "registry.register('redis', Redis); fork('redis'); fork(redis, './x')",
        ],
    );
    for source in [
        "class A { _load(x) {} }",
        "new Worker(queue)",
        "import.meta.glob('./**/*.vue')",
    ] {
        assert!(!is_opaque(Language::JavaScript, source), "{source}");
    }
}

#[test]
fn paths_in_workers_urls_and_globs_are_from_the_file() {
    for (source, raw) in [
        (
            "new Worker(new URL('../billing/w.js', import.meta.url))",
            "../billing/w.js",
        ),
        ("new Worker('w.js', { type: 'module' })", "./w.js"),
        ("new threads.Worker('../billing/w.js')", "../billing/w.js"),
        ("new SharedWorker(`../b/w.js`)", "../b/w.js"),
        ("const u = new URL('a.wasm', import.meta.url)", "./a.wasm"),
        ("new URL(`../billing/${x}.js`, import.meta.url)", "../billing/"),
        ("import.meta.glob('../billing/*.ts')", "../billing/"),
        (
            "import.meta.glob<M>(['../billing/x*.ts', '!../b'], { eager: true })",
            "../billing/",
        ),
        ("import.meta.globEager('../billing/x.ts')", "../billing/x.ts"),
        ("require.context('../billing', true, /x/)", "../billing"),
        ("import.meta.webpackContext('../billing')", "../billing"),
        ("importScripts('../billing/x.js')", "../billing/x.js"),
        ("cp.fork('./w.txt')", "./w.txt"),
        ("register('../h.mjs', import.meta.url)", "../h.mjs"),
        ("module.register('redis/hooks', pathToFileURL('./'))", "redis/hooks"),
    ] {
        assert_eq!(raws(Language::JavaScript, source), [raw], "{source}");
    }
    for source in [
        "new URL('.', import.meta.url)",
        "new URL('../..', import.meta.url)",
        "new URL('a', location.href)",
        "new Worker('postMessage(1)', { eval: true })",
        "new Worker('emails')",
    ] {
        assert_eq!(raws(Language::JavaScript, source), [""; 0], "{source}");
    }
}

#[test]
fn python_loads_by_many_names() {
    must_hit(
        Language::Python,
        &[
            "import pkgutil\npkgutil.resolve_name('redis:Redis')",
            "import pkgutil\npkgutil.get_loader('redis')",
            "from importlib.util import find_spec\nfind_spec('redis')",
            "import pydoc\npydoc.locate('redis.Redis')",
            "from unittest import mock\n@mock.patch('redis.Redis')\ndef f(): pass",
            "from unittest.mock import patch\nwith patch('redis.Redis', autospec=True): pass",
            "import unittest.mock as m\nm.patch.dict('redis.conn', {})",
            "from mock import patch\npatch.multiple('redis.Redis', a=1)",
            "from unittest import mock\nmock.patch.multiple('redis', a=1)",
            "from unittest import mock\nmock.patch.dict('redis', {})",
            "def test(mocker):\n    mocker.patch('redis.Redis')",
            "def test(monkeypatch):\n    monkeypatch.setattr('redis.Redis', 1)",
            "from importlib.metadata import EntryPoint\nEntryPoint('a', 'redis:Redis', 'g').load()",
            "from django.utils.module_loading import import_string\nimport_string('redis.Redis')",
            "import imp\nimp.load_module('redis', *x)",
            "import importlib as i\ni.import_module('redis')",
            "__import__('importlib').import_module('redis')",
            "self.importlib.import_module('redis')",
        ],
    );
    for source in [
        "import importlib.machinery as m\nm.SourceFileLoader('x', '/x.py').load_module()",
        "from importlib.util import spec_from_file_location as s, find_spec\nfind_spec(name)",
        "from importlib.metadata import entry_points\nfor e in entry_points(group='x'): e.load()",
        "import runpy\nrunpy.run_path('../billing/x.py')",
        "import pydoc\npydoc.locate(name)",
    ] {
        assert!(is_opaque(Language::Python, source), "{source}");
    }
}

#[test]
fn other_methods_of_python_are_none() {
    must_not(
        Language::Python,
        &[
            "obj.import_module('redis')",
            "import importlib\nself.import_module('redis')",
            "client.patch('redis.x')\nlocate('redis')\nfind_spec('redis')",
            "from unittest import mock\nclient.patch('/redis.x')\nclient.patch('redis')",
            "entry_points={'x': ['redis']}\nimport importlib",
            "class F:\n    def find_spec(self, name='redis'): import importlib",
        ],
    );
    for source in [
        "setup(entry_points={'x': []})",
        "import importlib\ndef find_spec(self, name): pass",
    ] {
        assert!(!is_opaque(Language::Python, source), "{source}");
    }
}

#[test]
fn a_mock_of_python_is_told_apart() {
    let found = imports(Language::Python, b"from mock import patch\npatch('redis.Redis')").expect("it can be read");
    let mock = found.iter().find(|import| matches("redis", Language::Python, import));
    assert_eq!(mock.map(|import| import.kind), Some(ImportKind::Mock));
}

#[test]
fn a_class_of_php_in_a_variable_is_one() {
    must_hit(
        Language::Php,
        &[
            "<?php $c = 'Redis\\Client'; new $c;",
            "<?php namespace App; $c = 'Redis'; $c::connect();",
            "<?php $c = \"Redis\\\\Client\"; return new ($c)();",
            "<?php $c = \"Redis\\Client\"; new $c;",
            "<?php $m = ['a' => '\\Redis\\Client']; new $m['a'];",
            "<?php new ReflectionClass(\"Redis\\Client\");",
            "<?php $c = 'Redis\\\\' . $x; new $c;",
        ],
    );
    must_not(
        Language::Php,
        &[
            "<?php $c = 'the Redis\\Client'; log($c);",
            "<?php $c = 'redis'; connect($c); new $d;",
            "<?php $c = '/redis\\d/'; new $d;",
        ],
    );
    assert!(is_opaque(Language::Php, "<?php $y = new $c($z);"));
    assert!(!is_opaque(
        Language::Php,
        "<?php new Foo($c); new static; new class($c) {}; $x::y();"
    ));
}

#[test]
fn a_path_of_ruby_from_the_file_is_one() {
    for (source, raw) in [
        ("require \"#{__dir__}/../billing/x\"", "../billing/x"),
        ("load \"#{File.dirname(__FILE__)}/../billing/x.rb\"", "../billing/x.rb"),
        ("require File.expand_path('../../billing/x', __FILE__)", "../billing/x"),
        ("require File.expand_path('../billing/x', __dir__)", "../billing/x"),
        ("require File.join(__dir__, '..', 'billing', 'x')", "../billing/x"),
        ("require File.join(File.dirname(__FILE__), 'x')", "./x"),
        (
            "require File.dirname(File.dirname(__FILE__)) + '/billing/x'",
            "../billing/x",
        ),
        (
            "require Pathname.new(__dir__).parent.join('billing/x').to_s",
            "../billing/x",
        ),
    ] {
        assert_eq!(raws(Language::Ruby, source), [raw], "{source}");
    }
    must_hit(
        Language::Ruby,
        &[
            "require File.join(__dir__, '../vendor/redis/x')",
            "require \"#{__dir__}/../vendor/redis\"",
            "Kernel.send :require, 'redis'",
        ],
    );
}

#[test]
fn prose_of_a_vue_template_is_none() {
    let found = |source: &str| {
        let found = imports_at(b"a.vue", Language::JavaScript, source.as_bytes()).expect(source);
        found
            .iter()
            .any(|import| matches("redis", Language::JavaScript, import))
    };
    for source in [
        "<template><p>{{ a }} call require(\"redis\") or import('redis') now</p></template>",
        "<template><img alt=\"how to require('redis')\"></template>",
    ] {
        assert!(!found(source), "{source}");
    }
    for source in [
        "<template><p>{{ require(\"redis\") }}</p></template>",
        "<template><p>{{ '}' + '<b>' }}{{ require(\"redis\") }}</p></template>",
        "<template><p>{{ a < b ? '<i x=\"' : require('redis') }}</p></template>",
        "<template><img :src=\"require('redis')\"></template>",
        "<template><img v-bind:src=\"require('redis')\"></template>",
        "<template lang=pug>\nimg(:src=\"require('redis')\")</template>",
        "<docs>require('redis')</docs>",
        "<p>{require('redis')}</p>",
    ] {
        assert!(found(source), "{source}");
    }
}

#[test]
fn loaders_of_python_count_under_another_name() {
    must_hit(
        Language::Python,
        &[
            "from pkgutil import resolve_name as rn\nrn('redis')",
            "from pkgutil import (walk_packages, resolve_name as rn)\nrn('redis:Redis')",
            "def f():\n    rn('redis')\nfrom pkgutil import resolve_name as rn",
            "import pkgutil\nrn = pkgutil.resolve_name\nrn('redis')",
            "from pkgutil import resolve_name\nrn=resolve_name\nrn('redis')",
            "from importlib import import_module as im\nim('redis')",
            "import importlib as il\nil.import_module('redis')",
            "from unittest.mock import patch as p\np('redis.Redis')",
            "from unittest.mock import patch as p\n@p('redis.Redis')\ndef f(): pass",
            "from unittest import mock\np = mock.patch\np('redis.Redis')",
            "from unittest.mock import patch as p\np.dict('redis.x')",
            "import importlib.util as u\nfs = u.find_spec\nfs('redis')",
        ],
    );
}

#[test]
fn loaders_of_python_take_their_argument_by_its_name() {
    must_hit(
        Language::Python,
        &[
            "from unittest.mock import patch\npatch(target='redis.Redis')",
            "from unittest.mock import patch\npatch(new=f(1, 2), target='redis.Redis')",
            "from importlib import import_module\nimport_module(name='redis')",
            "from importlib import import_module\nimport_module(package=None, name='redis')",
            "from importlib import import_module\nimport_module(name='.x', package='redis')",
            "from importlib import import_module\nimport_module(package='redis', name='.x')",
            "import runpy\nrunpy.run_module(mod_name='redis')",
            "import pytest\npytest.importorskip(modname='redis')",
            "import pkgutil\npkgutil.resolve_name(name='redis')",
            "import pydoc\npydoc.locate(path='redis.Redis')",
            "__import__(name='redis')",
        ],
    );
}

#[test]
fn other_names_and_arguments_of_python_are_none() {
    must_not(
        Language::Python,
        &[
            "from own import resolve_name as rn\nrn('redis')",
            "from unittest.mock import patch as p\np('own.x', name='redis.Redis')",
            "from unittest.mock import patch\npatch(name='x', target='own.x')",
            "from unittest.mock import patch as p\nq('redis.Redis')",
            "import pkgutil\nx.rn = pkgutil.resolve_name\nrn('redis')",
            "import pkgutil\nif rn == pkgutil.resolve_name: rn('redis')",
            "from importlib import import_module\nimport_module('own', package='redis')",
        ],
    );
}
