//! The limit of a script's memory.

use dyno_script::{Config, Entry, MemoryLimit, Runtime, ScriptError};

use crate::support::{Bench, config};

fn limited(source: &str, mib: usize) -> Config {
    Config { memory: MemoryLimit::new(mib << 20), ..config(source) }
}

#[test]
fn a_script_that_allocates_without_end_ends_with_a_line_that_says_so() {
    let endless = [
        "local kept = {} while true do kept[#kept + 1] = {} end",
        "local text = 'x' while true do text = text .. text end",
        "local text = string.rep('x', 1e9)",
        "local kept = {} while true do kept[#kept + 1] = tostring(#kept) end",
    ];
    for body in endless {
        for compiled in ["jit.off()", "jit.on()"] {
            let mut bench = Bench::with(limited(&format!("{compiled} function event() {body} end"), 32));
            let task = bench.spawn(0);
            let error = bench.run(task, Entry::Event).unwrap_err();
            assert_eq!(
                error.to_string(),
                "test.lua: the script takes more than the 32 MiB of memory that scripts may have; \
                 DYNO_SCRIPT_MEMORY_MIB=N in the environment allows N MiB",
                "{body}"
            );
            assert!(bench.runtime.memory_bytes() < 48 << 20, "{body}: {}", bench.runtime.memory_bytes());
        }
    }
}

#[test]
fn a_top_level_without_end_is_refused() {
    let refused =
        Runtime::new(limited("local kept = {} while true do kept[#kept + 1] = {} end", 32)).unwrap_err();
    assert!(matches!(refused.error, ScriptError::MemoryLimit { .. }), "{refused}");
}

#[test]
fn a_script_that_catches_the_error_stays_within_the_limit() {
    let source = "function event()
        for _ = 1, 20 do pcall(string.rep, 'x', 1e9) end
        error('went on')
    end";
    let mut bench = Bench::with(limited(source, 32));
    let task = bench.spawn(0);
    bench.run(task, Entry::Event).unwrap_err();
    assert!(bench.runtime.memory_bytes() < 32 << 20);
}

#[test]
fn garbage_is_no_reason_and_all_runtimes_share_the_limit() {
    let source = "local kept = string.rep('x', 20 * 1024 * 1024) function event() for i = 1, 2e6 do local _ = {} end end";
    let first = limited(source, 64);
    let mut bench = Bench::with(first.clone());
    let task = bench.spawn(0);
    bench.run(task, Entry::Event).unwrap();
    let second = Runtime::new(first.clone());
    assert!(
        matches!(second.map(drop), Err(refused) if matches!(refused.error, ScriptError::MemoryLimit { .. }))
    );
    drop(bench);
    Runtime::new(first).unwrap();
}
