//! `--help`, and what a test says of itself.

use std::fmt::Write as _;

use dyno_script::ScriptInfo;

use crate::native;
use crate::options::{Definition, groups, help_lines};

/// Every option and every test.
pub(crate) fn general() -> String {
    let mut text = String::from(
        "Usage:\n  sysbench [options]... [test] [command]\n\n\
         A test is a built-in one, a built-in workload, a Lua script by path or by name, or - for a script on\n\
         standard input. Most have the commands prepare, run, cleanup and help.\n\n",
    );
    for group in groups() {
        let lines = help_lines(group.options.iter().map(Definition::help_line));
        let _ = writeln!(text, "{}:\n{lines}", group.title);
    }
    text += "Built-in tests:\n";
    for test in native::TESTS {
        let _ = writeln!(text, "  {} - {}", test.name, test.summary);
    }
    text += "\nBuilt-in workloads:\n";
    for workload in dyno_load::builtin_workloads() {
        let _ = writeln!(text, "  {workload}");
    }
    text + "\nsysbench TEST help lists the options of a test.\n\n"
}

/// The options of a built-in test.
pub(crate) fn native(test: &native::Native) -> String {
    format!("{} options:\n{}\n", test.name, help_lines(test.options.iter().map(Definition::help_line)))
}

/// The options of a script.
pub(crate) fn script(name: &str, info: &ScriptInfo) -> String {
    format!("{name} options:\n{}\n", help_lines(info.options.iter().map(Into::into)))
}
