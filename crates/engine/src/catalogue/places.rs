//! The user's folders of entries.

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;

/// The user's folder of entries: `$XDG_CONFIG_HOME/dyno/engines`, otherwise `~/.config/dyno/engines`. It may not exist.
/// `None` without a home folder.
pub(crate) fn settings() -> Option<PathBuf> {
    let settings = variable("XDG_CONFIG_HOME").map(PathBuf::from);
    let settings = settings.or_else(|| Some(env::home_dir()?.join(".config")))?;
    Some(settings.join("dyno").join("engines"))
}

fn variable(name: &str) -> Option<OsString> {
    env::var_os(name).filter(|value| !value.is_empty())
}

/// Folders of entries. Later folders override earlier folders.
pub(crate) fn folders() -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = settings().filter(|folder| folder.is_dir()).into_iter().collect();
    // These folders are not filtered by `is_dir`, so that a missing folder is reported: the user has named it.
    folders
        .extend(variable("DYNO_ENGINES").iter().flat_map(|list| env::split_paths(list).collect::<Vec<_>>()));
    folders
}
