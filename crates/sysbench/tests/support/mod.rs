//! Helpers of these tests.

use std::ffi::OsString;
use std::sync::atomic::AtomicBool;

use dyno_sysbench::{Console, run};

/// The outcome of a call of the command.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) status: u8,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Outcome {
    /// The standard output of a call that succeeded.
    ///
    /// # Panics
    /// The command failed.
    pub(crate) fn success(self) -> String {
        assert_eq!(self.status, 0, "{self:?}");
        self.out
    }
}

/// Calls the command with the arguments of all groups.
pub(crate) fn sysbench(arguments: &[&[&str]]) -> Outcome {
    sysbench_until(&AtomicBool::new(false), arguments)
}

/// Calls the command as [`sysbench`] does, and ends it when `stop` is set.
pub(crate) fn sysbench_until(stop: &AtomicBool, arguments: &[&[&str]]) -> Outcome {
    let arguments: Vec<OsString> = arguments.iter().copied().flatten().map(OsString::from).collect();
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let console = Console { out: &mut out, err: &mut err };
    let status = run(&arguments, console, stop);
    let text = |bytes| String::from_utf8(bytes).expect("output is UTF-8");
    Outcome { status, out: text(out), err: text(err) }
}

/// The number in the line that begins with these words.
pub(crate) fn number_after(text: &str, words: &str) -> f64 {
    let line = text.lines().find_map(|line| line.trim_start().strip_prefix(words));
    let number = line.and_then(|rest| rest.split_whitespace().next()).unwrap_or_default();
    number.trim_end_matches('s').parse().unwrap_or_else(|_| panic!("no number after '{words}' in {text}"))
}
