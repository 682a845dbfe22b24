//! Finds a script: by path, by name on the search path, among the built-in workloads, or on standard input. Paths
//! may be those of pgbench's scripts.

use std::io::{IsTerminal as _, Read as _};
use std::path::{Path, PathBuf};
use std::{env, fs, io};

use dyno_load::{Script, builtin_workload, builtin_workloads, pgbench_workload};

use crate::failure::Failure;
use crate::options::nearest;

/// Finds the script with this name. Without a name, or with the name `-`, the script is read from standard input.
/// `has_shell_option` says whether the user gave the option that lets pgbench's scripts run programs.
pub(crate) fn find(name: Option<&str>, has_shell_option: bool) -> Result<Script, Failure> {
    let pgbench = |name| pgbench_workload(name, has_shell_option, |path| fs::read_to_string(path));
    if let Some(script) = name.and_then(pgbench) {
        return script.map_err(|error| Failure::fatal(error.to_string()));
    }
    match name {
        None | Some("-") => standard_input(),
        Some(name) => match candidates(name).into_iter().find(|path| path.is_file() || is_pipe(path)) {
            Some(path) => read(name, &path),
            None => builtin(name),
        },
    }
}

fn standard_input() -> Result<Script, Failure> {
    if io::stdin().is_terminal() {
        return Err(Failure::usage(
            "no test given: sysbench [options] TEST COMMAND; sysbench --help says more",
        ));
    }
    let mut source = String::new();
    io::stdin()
        .read_to_string(&mut source)
        .map_err(|error| Failure::fatal(format!("cannot read the script from standard input: {error}")))?;
    Ok(Script { name: "stdin".to_owned(), source, search_path: search_path(None) })
}

fn read(name: &str, path: &Path) -> Result<Script, Failure> {
    let source = fs::read_to_string(path)
        .map_err(|error| Failure::fatal(format!("cannot read {}: {error}", path.display())))?;
    let name = if path == Path::new(name) { name.to_owned() } else { path.display().to_string() };
    Ok(Script { name, source, search_path: search_path(path.parent()) })
}

fn builtin(name: &str) -> Result<Script, Failure> {
    let bare = name.strip_suffix(".lua").unwrap_or(name);
    if let Some(source) = builtin_workload(bare) {
        return Ok(Script {
            name: bare.to_owned(),
            source: source.to_owned(),
            search_path: search_path(None),
        });
    }
    let known = builtin_workloads();
    let hint = nearest(bare, known.into_iter().chain(["cpu"]))
        .map_or_else(String::new, |near| format!(" (did you mean {near}?)"));
    Err(Failure::fatal(format!(
        "there is no test '{name}'{hint}: neither a built-in test or workload, nor a script here or on LUA_PATH"
    )))
}

/// Possible paths of a script with this name, in order.
fn candidates(name: &str) -> Vec<PathBuf> {
    let mut candidates = vec![PathBuf::from(name), PathBuf::from(format!("{name}.lua"))];
    candidates.extend(lua_path().iter().map(|template| PathBuf::from(template.replace('?', name))));
    candidates.extend(installed_modules().into_iter().map(|folder| folder.join(format!("{name}.lua"))));
    candidates
}

/// Whether the path is a pipe or a device, as in `sysbench /dev/stdin` and `sysbench <(generator)`.
fn is_pipe(path: &Path) -> bool {
    use std::os::unix::fs::FileTypeExt as _;
    fs::metadata(path)
        .is_ok_and(|metadata| metadata.file_type().is_fifo() || metadata.file_type().is_char_device())
}

/// Folders in which a script's `require` searches: the script's own folder, the current folder, the folders of
/// `LUA_PATH`, and those of installed modules.
fn search_path(own: Option<&Path>) -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = own.map(Path::to_owned).into_iter().collect();
    folders.push(PathBuf::from("."));
    folders
        .extend(lua_path().iter().filter_map(|template| template.strip_suffix("?.lua").map(PathBuf::from)));
    folders.extend(installed_modules());
    folders.retain(|folder| !folder.as_os_str().is_empty());
    folders
}

/// Folders in which `luarocks` (for the user and for all users) and packages install Lua modules.
fn installed_modules() -> Vec<PathBuf> {
    let rocks = env::var_os("HOME").map(|home| PathBuf::from(home).join(".luarocks/share/lua"));
    let own = rocks.iter().flat_map(|rocks| [rocks.join("5.1"), rocks.clone()]);
    own.chain(["/usr/local/share/lua/5.1", "/usr/share/lua/5.1"].map(PathBuf::from)).collect()
}

/// The templates of `LUA_PATH`, Lua's own variable. They are separated by semicolons, and have `?` in place of a
/// module's name.
fn lua_path() -> Vec<String> {
    let path = env::var("LUA_PATH").unwrap_or_default();
    path.split(';').filter(|template| template.contains('?')).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_read_and_its_folder_searched() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("mine.lua");
        fs::write(&path, "function event() end").unwrap();
        for name in [path.clone(), path.with_extension("")] {
            let script = find(name.to_str(), false).unwrap();
            assert_eq!(script.source, "function event() end");
            assert_eq!(script.name, path.display().to_string());
            assert_eq!(script.search_path[0], folder.path());
        }
    }

    #[test]
    fn built_in_workloads_have_names() {
        assert_eq!(find(Some("oltp_read_only"), false).unwrap().name, "oltp_read_only");
        assert_eq!(find(Some("oltp_read_only.lua"), false).unwrap().name, "oltp_read_only");
    }

    #[test]
    fn a_name_that_is_nowhere_is_told_with_its_neighbour() {
        let error = find(Some("oltp_raed_only"), false).unwrap_err().to_string();
        assert!(
            error.starts_with("there is no test 'oltp_raed_only' (did you mean oltp_read_only?)"),
            "{error}"
        );
    }
}
