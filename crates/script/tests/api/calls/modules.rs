//! require, dofile, loadstring and the like.

use std::path::Path;

use crate::support::{Bench, config, failure_of, printed_by};

/// A script with the command `go`. Its modules are in `folder`.
fn bench(folder: &Path, body: &str) -> Bench {
    let mut config =
        config(&format!("function go()\n{body}\nend\nsysbench.cmdline.commands = {{ go = {{ go }} }}"));
    config.search_path = vec![folder.to_owned()];
    config.builtin = |name| (name == "built.in").then_some("in_global = 'built in'\nreturn { name = ... }");
    Bench::with(config)
}

fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

#[test]
fn modules_are_found_run_once_and_set_the_script_s_globals() {
    let folder =
        folder(&[("some.lua", "#!/usr/bin/sysbench\ncount = (count or 0) + 1\nreturn { name = ... }")]);
    let bench = bench(
        folder.path(),
        "local some = require('some')
         print(some.name, count, require('some') == some, package.loaded.some == some, count)
         print(require('built.in').name, in_global)
         print(require('string') == string, require('ffi') == ffi, require('bit').band(6, 3))",
    );
    assert_eq!(printed_by(bench), ["some\t1\ttrue\ttrue\t1", "built.in\tbuilt in", "true\ttrue\t2"]);
}

#[test]
fn a_file_comes_before_a_built_in_module_of_its_name() {
    let folder = folder(&[]);
    std::fs::create_dir(folder.path().join("built")).unwrap();
    std::fs::write(folder.path().join("built/in.lua"), "return 'the file'").unwrap();
    assert_eq!(printed_by(bench(folder.path(), "print(require('built.in'))")), ["the file"]);
}

#[test]
fn package_path_and_preload_are_heeded() {
    let elsewhere = folder(&[("other.lua", "return 'other'")]);
    let body = format!(
        "package.path = '{}/?.lua;' .. package.path
         package.preload.made = function(name) return name .. ' up' end
         print(require('other'), require('made'))",
        elsewhere.path().display()
    );
    assert_eq!(printed_by(bench(elsewhere.path().parent().unwrap(), &body)), ["other\tmade up"]);
}

#[test]
fn errors_in_modules_name_their_file_and_line() {
    let folder = folder(&[("bad.lua", "local x\nerror('no good')"), ("worse.lua", "x = = 1")]);
    let error = failure_of(bench(folder.path(), "require('bad')"));
    assert!(error.ends_with("bad.lua:2: no good"), "{error}");
    let error = failure_of(bench(folder.path(), "require('worse')"));
    assert!(error.ends_with("worse.lua:1: unexpected symbol near '='"), "{error}");
    let error = failure_of(bench(folder.path(), "require('absent')\nprint()"));
    assert!(error.starts_with("test.lua:2: module 'absent' not found in "), "{error}");
}

#[test]
fn dofile_loadfile_and_loadstring_run_in_the_script_s_globals() {
    let folder =
        folder(&[("part.lua", "#!shebang\nfrom_part = (from_part or 0) + 1\nreturn from_part, 'second'")]);
    let path = folder.path().join("part.lua");
    let body = format!(
        "local path = '{}'
         print(dofile(path))
         print(dofile(path))
         print(loadfile(path)())
         loadstring('from_string = 5')()
         print(from_part, from_string, loadfile('/no/such/file') == nil)
         print(dofile('/elsewhere/built.in.lua').name, in_global)",
        path.display()
    );
    let printed = printed_by(bench(folder.path(), &body));
    assert_eq!(printed, ["1\tsecond", "2\tsecond", "3\tsecond", "3\t5\ttrue", "nil\tbuilt in"]);
}

#[test]
fn module_makes_a_table_of_a_file_s_globals() {
    let folder =
        folder(&[("old.lua", "module('old', package.seeall)\nfunction greet() return type('') end")]);
    let body = "require('old') print(old.greet(), greet, package.loaded.old == old, old._NAME)";
    assert_eq!(printed_by(bench(folder.path(), body)), ["string\tnil\ttrue\told"]);
}
