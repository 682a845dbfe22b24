//! `dyno sysbench` as a separate process.

use dyno_testing::dyno_test;

use crate::bench::{Bench, Ended};

/// The output of a script is complete wherever the script exits, and the script's exit status becomes the
/// program's.
#[dyno_test]
fn what_a_script_prints_before_it_exits_is_heard() {
    let bench = Bench::new();
    for (place, command) in [
        ("", "run"),
        ("function init()", "run"),
        ("function thread_init()", "run"),
        ("function event()", "run"),
        ("function thread_done()", "run"),
        ("function done()", "run"),
        ("function prepare()", "prepare"),
        ("function sysbench.hooks.report_cumulative()", "run"),
    ] {
        let end = if place.is_empty() { "" } else { "end" };
        let script = format!(
            "function event() end function prepare() end\n{place} print('last words') os.exit(3) {end}"
        );
        bench.write("exits.lua", &script);
        for scheduler in ["--scheduler=event", "--scheduler=thread"] {
            let ended = bench.dyno(&["sysbench", "exits.lua", "--events=1", scheduler, command]);
            assert_eq!(ended.status, Some(3), "{place}: {}{}", ended.stdout, ended.stderr);
            assert!(ended.stdout.contains("last words\n"), "{place}: {}", ended.stdout);
            let reported = ended.stdout.contains("\nThreads fairness:\n");
            assert_eq!(reported, place == "function done()", "{place}: {}", ended.stdout);
        }
    }
    for (argument, status) in [("", 0), ("true", 0), ("false", 1), ("7", 7)] {
        bench.write("exits.lua", &format!("function prepare() os.exit({argument}) end"));
        assert_eq!(bench.dyno(&["sysbench", "exits.lua", "prepare"]).status, Some(status), "{argument}");
    }
}

/// Standard output is a pipe here. The C library buffers a pipe in blocks, and could write the script's text later than
/// the text of Dyno that follows it.
#[dyno_test]
fn what_a_script_writes_past_print_stays_in_its_place() {
    let bench = Bench::new();
    let script = "function init() io.write('written', ' by init\\n') end function event() end";
    bench.write("writes.lua", script);
    let ended = bench.dyno(&["sysbench", "writes.lua", "--events=1", "run"]);
    let place = |words: &str| ended.stdout.find(words).unwrap_or_else(|| panic!("{words}: {}", ended.stdout));
    assert!(place("written by init\n") < place("Running the test"), "{}", ended.stdout);
}

/// `luarocks install --local` installs modules below the home folder. These may be benchmarks, or modules that
/// benchmarks require.
#[dyno_test]
fn modules_that_luarocks_installs_are_found() {
    let bench = Bench::new();
    let modules = bench.path(".luarocks/share/lua/5.1");
    std::fs::create_dir_all(modules.join("words")).expect("a folder");
    std::fs::write(modules.join("words/init.lua"), "return { 'from', 'the rock' }").expect("a module");
    let benchmark = "function prepare() print(unpack(require('words'))) end";
    std::fs::write(modules.join("rocky.lua"), benchmark).expect("a benchmark");
    bench.write("mine.lua", benchmark);
    for name in ["rocky", "mine.lua"] {
        let mut command = bench.command(&["sysbench", name, "prepare"]);
        let ended: Ended = command.env("HOME", bench.path("")).output().expect("dyno runs").into();
        assert_eq!(ended.status, Some(0), "{name}: {}{}", ended.stdout, ended.stderr);
        assert!(ended.stdout.ends_with("from\tthe rock\n"), "{name}: {}", ended.stdout);
    }
}
