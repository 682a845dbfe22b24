//! Workloads that are scripts of pgbench.

use std::fmt::Write as _;
use std::io;

use dyno_pgbench::{Mistake, Program, script_files};

use crate::protocol::job::Script;

/// The option that allows pgbench scripts to run programs in a shell (`\shell`, `\setshell`).
pub const SHELL_OPTION: &str = "allow_shell";

/// Why pgbench scripts cannot be read as a workload.
#[derive(Debug, thiserror::Error)]
pub enum PgbenchError {
    #[error("cannot read the workload {path}: {error}")]
    Unreadable { path: String, error: io::Error },
    #[error("{0}")]
    Wrong(#[from] Mistake),
}

/// Returns the workload with this name, or `None` if the name does not name pgbench scripts. Names of pgbench scripts
/// are `a.pgbench`, or `a.pgbench@3, b.pgbench` with weights. The workload is a Lua script that runs the pgbench
/// scripts. `read` returns the text of a file. `has_shell_option` says whether [`SHELL_OPTION`] is given. If it is not
/// given, commands for a shell are errors here. If it is given, its value is checked when the scripts run.
///
/// # Errors
/// A file cannot be read, or a script has a mistake.
pub fn pgbench_workload(
    name: &str,
    has_shell_option: bool,
    mut read: impl FnMut(&str) -> io::Result<String>,
) -> Option<Result<Script, PgbenchError>> {
    let mut files = Vec::new();
    for file in script_files(name)? {
        match read(&file.path) {
            Ok(text) => files.push((file, text)),
            Err(error) => return Some(Err(PgbenchError::Unreadable { path: file.path, error })),
        }
    }
    let mistake = match Program::read(&files) {
        Ok(program) => program.shell_refusal().filter(|_| !has_shell_option),
        Err(mistake) => Some(mistake),
    };
    if let Some(mistake) = mistake {
        return Some(Err(mistake.into()));
    }
    let mut list = String::new();
    for (file, text) in &files {
        let (path, text) = (lua_string(&file.path), lua_string(text));
        let written = writeln!(list, "  {path}, {}, {text},", file.weight);
        debug_assert!(written.is_ok(), "a String takes every text");
    }
    let source = format!(
        "local run = require(\"dyno.pgbench\")({{\n{list}}})\n\
         sysbench.cmdline.options = run.options\n\
         thread_init, event, thread_done = run.thread_init, run.event, run.thread_done\n"
    );
    Some(Ok(Script { name: name.to_owned(), source, search_path: Vec::new() }))
}

/// Writes a text as a string literal of Lua.
pub fn lua_string(text: &str) -> String {
    let letter = |byte: u8| match byte {
        b'"' | b'\\' | 0..b' ' | 0x7f.. => format!("\\{byte:03}"),
        byte => char::from(byte).to_string(),
    };
    format!("\"{}\"", text.bytes().map(letter).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_are_read_and_checked() {
        let text = |path: &str| match path {
            "a.pgbench" => Ok("SELECT 'x\"';\n".to_owned()),
            "wrong.pgbench" => Ok("\\set".to_owned()),
            "shell.pgbench" => Ok("SELECT 1;\n\\setshell a date".to_owned()),
            _ => Err(io::Error::from(io::ErrorKind::NotFound)),
        };
        let script = pgbench_workload("a.pgbench@3, a.pgbench", false, text).unwrap().unwrap();
        assert_eq!(script.name, "a.pgbench@3, a.pgbench");
        assert!(
            script.source.contains("  \"a.pgbench\", 3, \"SELECT 'x\\034';\\010\",\n"),
            "{}",
            script.source
        );
        assert!(pgbench_workload("tpcc", false, text).is_none());
        let error = |name| pgbench_workload(name, false, text).unwrap().unwrap_err().to_string();
        assert!(error("wrong.pgbench").starts_with("wrong.pgbench:1:1: \\set lacks its variable"));
        assert!(error("shell.pgbench").starts_with("shell.pgbench:2:1: \\setshell runs a program"));
        assert!(pgbench_workload("shell.pgbench", true, text).unwrap().is_ok());
        assert!(error("no.pgbench").starts_with("cannot read the workload no.pgbench: "));
    }

    #[test]
    fn no_text_ends_its_string_in_a_script() {
        assert_eq!(lua_string("a = \"x\\\" -- \n é"), r#""a = \034x\092\034 -- \010 \195\169""#);
    }
}
