//! Removes the owner's settings and files from a copy of somebody's data folder, so that a server on the copy connects
//! to no other server and runs no command of the owner.

use std::fs;
use std::path::Path;

use crate::machine::folder::{give_to_server, remove};
use crate::machine::path_error::{At as _, PathError};

/// Files that record how the server was run, or that make it follow another server.
const FORGOTTEN: [&str; 7] = [
    "postmaster.pid",
    "postmaster.opts",
    "standby.signal",
    "recovery.signal",
    "recovery.conf",
    "pg_ident.conf",
    "pg_replslot",
];
/// Settings of the owner that change the results of statements. They are kept. All other settings come from the
/// plan.
const KEPT: [&str; 14] = [
    "bytea_output",
    "datestyle",
    "default_text_search_config",
    "default_transaction_isolation",
    "extra_float_digits",
    "intervalstyle",
    "lc_monetary",
    "lc_numeric",
    "lc_time",
    "quote_all_identifiers",
    "search_path",
    "standard_conforming_strings",
    "timezone",
    "transform_null_equals",
];
/// Rules for logins by password, whichever way the password is stored.
const RULES: &str = "local all all md5\nhost all all 127.0.0.1/32 md5\nhost all all ::1/128 md5\n";

/// The setting that stops the subscriptions in the data. Otherwise they would receive changes from their publishers.
const NO_SUBSCRIBER: &str = "max_logical_replication_workers = 0\n";

/// Removes the owner's settings and files from a copied data folder. `has_subscriptions` says whether the version has
/// subscriptions. Versions from 10 on have them.
pub(super) fn forget(data: &Path, has_subscriptions: bool) -> Result<(), PathError> {
    let of_owner = ["postgresql.conf", "postgresql.auto.conf"].map(|name| data.join(name));
    let mut kept = String::new();
    for path in &of_owner {
        if path.symlink_metadata().is_ok_and(|found| found.is_file()) {
            kept += &kept_settings(&fs::read_to_string(path).unwrap_or_default());
        }
    }
    if has_subscriptions {
        kept += NO_SUBSCRIBER;
    }
    for name in FORGOTTEN {
        let path = data.join(name);
        match path.symlink_metadata() {
            Ok(found) if found.is_dir() => clear(&path)?,
            Ok(_) => fs::remove_file(&path).at("remove", &path)?,
            Err(_) => {}
        }
    }
    let [settings, automatic] = &of_owner;
    put(settings, &kept)?;
    put(automatic, "")?;
    put(&data.join("pg_hba.conf"), RULES)?;
    put(&data.join("pg_ident.conf"), "")
}

/// Empties a folder.
fn clear(folder: &Path) -> Result<(), PathError> {
    for item in fs::read_dir(folder).at("read", folder)? {
        remove(&item.at("read", folder)?.path())?;
    }
    Ok(())
}

/// Writes a new file in place of another one, which may be a link.
fn put(path: &Path, text: &str) -> Result<(), PathError> {
    if path.symlink_metadata().is_ok() {
        fs::remove_file(path).at("remove", path)?;
    }
    fs::write(path, text).at("write", path)?;
    give_to_server(path)
}

/// Returns those lines of a settings file that set one of the kept settings.
fn kept_settings(text: &str) -> String {
    let is_kept = |line: &&str| {
        let name =
            line.split(|letter: char| letter == '=' || letter.is_whitespace()).next().unwrap_or_default();
        KEPT.contains(&name.to_ascii_lowercase().as_str())
    };
    text.lines().map(str::trim_start).filter(is_kept).flat_map(|line| [line, "\n"]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_that_change_answers_are_kept_and_commands_are_not() {
        let text = "# a comment\n timezone = 'Europe/Vienna'\narchive_command='cp %p /backup'\nDateStyle iso\nport = 1\n";
        assert_eq!(kept_settings(text), "timezone = 'Europe/Vienna'\nDateStyle iso\n");
    }

    #[test]
    fn a_copy_follows_nobody() {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path();
        fs::create_dir_all(data.join("pg_replslot/slot")).unwrap();
        for name in ["standby.signal", "postmaster.pid", "pg_hba.conf"] {
            fs::write(data.join(name), "x").unwrap();
        }
        fs::write(data.join("postgresql.auto.conf"), "primary_conninfo = 'host=db'\nlc_time = 'C'\n")
            .unwrap();
        forget(data, true).unwrap();
        assert!(!data.join("standby.signal").exists() && !data.join("postmaster.pid").exists());
        assert_eq!(fs::read_dir(data.join("pg_replslot")).unwrap().count(), 0);
        let settings = fs::read_to_string(data.join("postgresql.conf")).unwrap();
        assert_eq!(settings, format!("lc_time = 'C'\n{NO_SUBSCRIBER}"));
        assert_eq!(fs::read_to_string(data.join("postgresql.auto.conf")).unwrap(), "");
        assert_eq!(fs::read_to_string(data.join("pg_hba.conf")).unwrap(), RULES);
    }
}
