//! Interrupting a script that does not end.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use dyno_script::{Entry, ScriptError};

use crate::support::{Bench, End};

/// Runs an event while another thread interrupts it until it has ended.
fn interrupted(bench: &mut Bench) -> Result<End, ScriptError> {
    let task = bench.spawn(0);
    let handle = bench.runtime.interrupt_handle();
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                handle.interrupt();
                std::thread::sleep(Duration::from_millis(5));
            }
        });
        let end = bench.run(task, Entry::Event);
        over.store(true, Ordering::Relaxed);
        end
    })
}

#[test]
fn an_endless_loop_ends_with_its_line() {
    let mut bench = Bench::new("jit.off()\nfunction event()\n  while true do\n    local x = 1\n  end\nend");
    let error = interrupted(&mut bench).unwrap_err();
    assert!(matches!(error, ScriptError::Interrupted(_)));
    let message = error.to_string();
    assert!(message.starts_with("test.lua:") && message.ends_with(": interrupted"), "{message}");
}

#[test]
fn one_that_calls_sysbench_s_functions_ends_though_compiled() {
    let mut bench = Bench::new("function event() while true do sysbench.rand.uniform(1, 2) end end");
    assert!(matches!(interrupted(&mut bench), Err(ScriptError::Interrupted(_))));
}

#[test]
fn catching_errors_does_not_help_it() {
    let mut bench =
        Bench::new("jit.off() function event() while true do pcall(sysbench.rand.uniform, 1, 2) end end");
    assert!(matches!(interrupted(&mut bench), Err(ScriptError::Interrupted(_))));
}

#[test]
fn an_interrupted_runtime_goes_on() {
    let mut bench = Bench::new(
        "function event() while not calm do sysbench.rand.uniform(1, 2) end end
         function thread_done() print('done') end",
    );
    interrupted(&mut bench).unwrap_err();
    let task = bench.spawn(1);
    bench.run(task, Entry::ThreadDone).unwrap();
    assert_eq!(bench.host.printed, ["done"]);
}
