//! `--help`, and the descriptions of tests.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::path::Path;

use dyno_script::{ScriptInfo, general_groups};

use crate::native;
use crate::options::help_lines;

/// Every option and every test.
pub(crate) fn general() -> String {
    let mut text = String::from(
        "Usage:\n  sysbench [options]... [test] [command]\n\n\
         A test is a built-in one, a built-in workload, a Lua script by path or by name, or - for a script on\n\
         standard input. Most have the commands prepare, run, cleanup and help.\n\n",
    );
    for group in general_groups() {
        let lines = help_lines(group.options.iter().map(|option| (&option.definition).into()));
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
    format!("{} options:\n{}\n", test.name, help_lines(test.options.iter().map(Into::into)))
}

/// The options of a script. As in sysbench, the title is the name of the script's file.
pub(crate) fn script(name: &str, info: &ScriptInfo) -> String {
    let name = Path::new(name).file_stem().map_or(name.into(), OsStr::to_string_lossy);
    format!("{name}.lua options:\n{}\n", help_lines(info.options.iter().map(Into::into)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_is_named_by_its_file() {
        for name in ["/some/where/mine.lua", "mine.lua", "mine"] {
            assert!(script(name, &ScriptInfo::default()).starts_with("mine.lua options:\n"), "{name}");
        }
    }
}
