//! The plan key `workload`: a script by its name or its file.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use dyno_load::{SHELL_OPTION, Script, builtin_workload, builtin_workloads, pgbench_workload};

use crate::plan::context::{ParseContext, is_file};
use crate::plan::syntax::error::Problem;

/// Reads a workload. `name` is the path of a script, or the name of a built-in workload.
pub(in crate::plan) fn script(
    name: String,
    options: &BTreeMap<String, String>,
    context: &ParseContext<'_>,
) -> Result<Script, Problem> {
    if let Some(script) = pgbench_script(&name, options.contains_key(SHELL_OPTION), context) {
        return script;
    }
    if is_file(&name, "lua") {
        let path = context.file(&name);
        let source = fs::read_to_string(&path).map_err(|error| {
            Problem::Other(format!("cannot read the workload {}: {error}", path.display()))
        })?;
        return Ok(Script {
            name,
            source,
            search_path: path.parent().map(Path::to_owned).into_iter().collect(),
        });
    }
    match builtin_workload(&name) {
        Some(source) => Ok(Script { name, source: source.to_owned(), search_path: Vec::new() }),
        None => Err(Problem::unknown("built-in workload", &name, builtin_workloads())),
    }
}

/// Reads scripts of pgbench. Returns `None` if the workload's name does not name such scripts.
fn pgbench_script(
    name: &str,
    has_shell_option: bool,
    context: &ParseContext<'_>,
) -> Option<Result<Script, Problem>> {
    let mut folders: Vec<PathBuf> = Vec::new();
    let script = pgbench_workload(name, has_shell_option, |path| {
        let path = context.file(path);
        folders.extend(path.parent().map(Path::to_owned));
        fs::read_to_string(path)
    })?;
    let script = script.map(|script| Script { search_path: folders, ..script });
    Some(script.map_err(|error| Problem::Other(error.to_string())))
}
