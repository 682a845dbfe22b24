//! Checks whether a folder contains a server's data that can be copied.

use std::path::{Path, PathBuf};
use std::{fs, io};

use thiserror::Error;

use crate::catalogue::entry::{Entry, Family};
use crate::machine::process::is_served;

/// Why a data folder cannot be used.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum DataFolderError {
    /// The folder is not a data folder of the family.
    #[error("{} is not a data folder of {wanted}: it has no {missing}", folder.display())]
    Foreign { folder: PathBuf, wanted: String, missing: &'static str },
    /// Another major version of PostgreSQL wrote the data.
    #[error("{} is data of PostgreSQL {version}, which {entry} does not read", folder.display())]
    OtherVersion { folder: PathBuf, version: String, entry: String },
    /// MySQL 8.0 or later wrote the data.
    #[error("{} is data of MySQL 8.0 or later, which {entry} does not read", folder.display())]
    OfMysql { folder: PathBuf, entry: String },
    /// A server works in the folder, or was killed there.
    #[error(
        "a server works in {}, or was killed there; shut it down cleanly, or give a copy that was made while it was down",
        folder.display()
    )]
    InUse { folder: PathBuf },
    /// A part of the data is in other folders.
    #[error("{} has tablespaces in other folders, which are not copied; give a dump", folder.display())]
    Tablespaces { folder: PathBuf },
    /// A copy would still use files of the original, through a link, or through a file that names a path outside the
    /// folder.
    #[error("{} leads out of the data folder, so a server on a copy would work on the original; give a dump", path.display())]
    LeadsOut { path: PathBuf },
    /// The folder, or a folder in it, cannot be read.
    #[error("{} cannot be read: {reason}", path.display())]
    Unreadable { path: PathBuf, reason: String },
}

/// Checks that a folder is a complete data folder that the entry's server can use, and that no server works in it.
///
/// # Errors
/// The folder is not such a data folder, a server works in it, or a part of the data is outside the folder.
pub fn check_data_folder(folder: &Path, entry: &Entry) -> Result<(), DataFolderError> {
    check_kind(folder, entry)?;
    check_inside(folder)
}

/// Refuses links, and the files in which InnoDB stores the paths of tables outside the data folder (MySQL 5.7 manual,
/// "Creating Tables Externally"). Follows no link.
fn check_inside(folder: &Path) -> Result<(), DataFolderError> {
    let unreadable = |path: &Path, error: &io::Error| DataFolderError::Unreadable {
        path: path.to_owned(),
        reason: error.to_string(),
    };
    for item in fs::read_dir(folder).map_err(|error| unreadable(folder, &error))? {
        let item = item.map_err(|error| unreadable(folder, &error))?;
        let path = item.path();
        let kind = item.file_type().map_err(|error| unreadable(&path, &error))?;
        if kind.is_symlink() || path.extension().is_some_and(|extension| extension == "isl") {
            return Err(DataFolderError::LeadsOut { path });
        }
        if kind.is_dir() {
            check_inside(&path)?;
        }
    }
    Ok(())
}

fn check_kind(folder: &Path, entry: &Entry) -> Result<(), DataFolderError> {
    let owned = || folder.to_owned();
    let foreign =
        |missing| Err(DataFolderError::Foreign { folder: owned(), wanted: entry.engine.clone(), missing });
    let is_in_use = is_served(folder) || folder.join("postmaster.pid").exists();
    let rest = if is_in_use { Err(DataFolderError::InUse { folder: owned() }) } else { Ok(()) };
    match entry.family {
        Family::Postgres => {
            let Ok(version) = fs::read_to_string(folder.join("PG_VERSION")) else {
                return foreign("PG_VERSION");
            };
            let version = version.trim().to_owned();
            if version != major(entry) {
                return Err(DataFolderError::OtherVersion {
                    folder: owned(),
                    version,
                    entry: entry.to_string(),
                });
            }
            let tablespaces = fs::read_dir(folder.join("pg_tblspc")).into_iter().flatten().flatten();
            if tablespaces.count() > 0 {
                return Err(DataFolderError::Tablespaces { folder: owned() });
            }
            rest
        }
        Family::Mysql | Family::Mariadb | Family::Sqlite => {
            if entry.family == Family::Mariadb && folder.join("mysql.ibd").exists() {
                return Err(DataFolderError::OfMysql { folder: owned(), entry: entry.to_string() });
            }
            if !folder.join("ibdata1").is_file() {
                return foreign("ibdata1");
            }
            if folder.join("mysql").is_dir() { rest } else { foreign("folder mysql") }
        }
    }
}

/// Returns the major version of PostgreSQL in the form of `PG_VERSION`: `14`, `9.6`.
pub(super) fn major(entry: &Entry) -> String {
    match entry.version_number(0) {
        old @ ..=9 => format!("{old}.{}", entry.version_number(1)),
        major => major.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::Catalogue;

    #[test]
    fn what_is_no_data_of_the_version_is_told() {
        let find = |name: &str| Catalogue::builtin().find(&name.parse().unwrap()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let check =
            |name: &str| check_data_folder(folder.path(), &find(name)).map_err(|error| error.to_string());
        let at = folder.path().display();
        assert_eq!(
            check("postgres@14"),
            Err(format!("{at} is not a data folder of postgres: it has no PG_VERSION"))
        );
        fs::write(folder.path().join("PG_VERSION"), "9.6\n").unwrap();
        assert_eq!(check("postgres@9.6"), Ok(()));
        let error = check("postgres@18").unwrap_err();
        assert!(error.contains("is data of PostgreSQL 9.6, which postgres@18"), "{error}");
        fs::write(folder.path().join("postmaster.pid"), "1\n").unwrap();
        assert!(check("postgres@9.6").unwrap_err().contains("shut it down cleanly"));
        fs::remove_file(folder.path().join("postmaster.pid")).unwrap();
        assert!(check("mariadb@10.11").unwrap_err().ends_with("it has no ibdata1"));
        fs::write(folder.path().join("ibdata1"), "").unwrap();
        fs::create_dir(folder.path().join("mysql")).unwrap();
        assert_eq!((check("mariadb@10.11"), check("mysql@9.7")), (Ok(()), Ok(())));
        fs::write(folder.path().join("mysql.ibd"), "").unwrap();
        assert!(check("mariadb@10.11").unwrap_err().contains("data of MySQL 8.0 or later"));
        assert_eq!(check("mysql@9.7"), Ok(()));
    }

    #[test]
    fn data_that_is_partly_elsewhere_is_refused() {
        let find = |name: &str| Catalogue::builtin().find(&name.parse().unwrap()).unwrap();
        let (folder, original) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let at = |name: &str| folder.path().join(name);
        fs::write(at("PG_VERSION"), "14\n").unwrap();
        fs::write(at("ibdata1"), "").unwrap();
        fs::create_dir_all(at("mysql/deep")).unwrap();
        let check = |name: &str| check_data_folder(folder.path(), &find(name));
        assert_eq!((check("postgres@14"), check("mysql@9.7")), (Ok(()), Ok(())));
        for name in ["pg_wal", "mysql/deep/shop"] {
            std::os::unix::fs::symlink(original.path(), at(name)).unwrap();
            let error = Err(DataFolderError::LeadsOut { path: at(name) });
            assert_eq!((check("postgres@14"), check("mysql@9.7")), (error.clone(), error));
            fs::remove_file(at(name)).unwrap();
        }
        fs::write(at("mysql/deep/t.isl"), "/elsewhere/t.ibd").unwrap();
        assert_eq!(check("mysql@9.7"), Err(DataFolderError::LeadsOut { path: at("mysql/deep/t.isl") }));
    }
}
