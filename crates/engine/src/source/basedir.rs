//! A user's server in a folder, such as a patched build. It is identified by what it prints for `--version`.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::cache::installation::Installation;
use crate::cache::layout::Layout;
use crate::cache::location::Cache;
use crate::catalogue::Catalogue;
use crate::catalogue::entry::{Entry, Family};
use crate::machine::lines;
use crate::machine::spawn::{Spawn, spawn};
use crate::source::error::BasedirError;

const PATIENCE: Duration = Duration::from_secs(20);
const POLL: Duration = Duration::from_millis(5);
const SHOWN_LINES: usize = 5;
/// Storage engines that a user's build of MySQL may have, and that the catalogue's builds of MySQL do not have. Each is
/// listed with the file of its plugin.
const PLUGINS: [(&str, &str); 2] = [("rocksdb", "ha_rocksdb.so"), ("tokudb", "ha_tokudb.so")];

/// The family and version that a server reports for `--version`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Said {
    pub(crate) family: Family,
    /// The version, such as `8.0.33`.
    pub(crate) version: String,
    /// The version with the builder's suffix, such as `8.0.33-25`.
    pub(crate) exact: String,
}

impl Installation {
    /// Finds the server in a folder, and runs it to learn its family and version. Searches the usual paths for the
    /// server's files. Takes the server's options from the nearest version in the built-in catalogue.
    ///
    /// # Errors
    /// There is no server in the folder, or it does not run.
    pub fn from_basedir(path: impl AsRef<Path>) -> Result<Self, BasedirError> {
        let mut installation = Self::from_basedir_unasked(path)?;
        let said = installation.ask()?;
        installation.exact_version = said.exact;
        installation.take_family(said.family);
        installation.entry.version = said.version;
        let plugins = installation.entry.layout.plugins.as_ref().map(|folder| installation.path(folder));
        let has = |file: &str| plugins.as_ref().is_some_and(|folder| folder.join(file).is_file());
        installation.take_after_the_nearest(&has);
        Ok(installation)
    }

    /// Like [`from_basedir`](Self::from_basedir), but runs nothing. The name of the server's program gives the
    /// family, and the version is `?`.
    ///
    /// # Errors
    /// There is no server in the folder.
    pub fn from_basedir_unasked(path: impl AsRef<Path>) -> Result<Self, BasedirError> {
        let path = path.as_ref();
        let unreachable = |source| BasedirError::Unreachable { path: path.to_owned(), source };
        let root = path.canonicalize().map_err(unreachable)?;
        if root.is_file() {
            return Err(BasedirError::File { path: path.to_owned() });
        }
        let layout = Layout::detect(&root).ok_or_else(|| BasedirError::NoServer { path: path.to_owned() })?;
        let templates = Cache::default_location().templates();
        let family = match layout.server.file_name().and_then(|name| name.to_str()) {
            Some("postgres") => Family::Postgres,
            Some("mariadbd") => Family::Mariadb,
            _ => Family::Mysql,
        };
        let entry = Entry::of_layout(layout);
        let mut installation = Self { entry, root, exact_version: String::new(), templates, image: None };
        installation.take_family(family);
        Ok(installation)
    }

    /// Runs the server that is unpacked in the folder `root`, to learn its family and version. `entry` is the server's
    /// entry.
    pub(crate) fn said_in(entry: &Entry, root: &Path, cache: &Cache) -> Result<Said, BasedirError> {
        let mut entry = entry.clone();
        let layout = entry.layout.or_detected(root);
        entry.layout = layout.ok_or_else(|| BasedirError::NoServer { path: root.to_owned() })?;
        let (root, templates) = (root.to_owned(), cache.templates());
        Self { entry, root, exact_version: String::new(), templates, image: None }.ask()
    }

    pub(crate) fn take_family(&mut self, family: Family) {
        self.entry.family = family;
        family.engine().clone_into(&mut self.entry.engine);
    }

    /// Runs the server to learn its version.
    fn ask(&self) -> Result<Said, BasedirError> {
        let server = self.path(&self.entry.layout.server);
        let silent = |reason: String, output: &[u8]| BasedirError::Silent {
            server: server.clone(),
            reason,
            output: lines::last(output, SHOWN_LINES),
        };
        let (status, output) = self.run_version(&server).map_err(|error| silent(error.to_string(), &[]))?;
        if !status.success() {
            return Err(silent(status.to_string(), &output));
        }
        let said = String::from_utf8_lossy(&output);
        self::said(&said).ok_or_else(|| BasedirError::NoVersion {
            server,
            said: said.lines().next().unwrap_or("").to_owned(),
        })
    }

    fn run_version(&self, server: &Path) -> io::Result<(std::process::ExitStatus, Vec<u8>)> {
        let output: File = tempfile::tempfile()?;
        let mut command = self.program(server);
        command.arg("--version").stdin(Stdio::null()).stdout(output.try_clone()?).stderr(output.try_clone()?);
        let fence = self.fence(&[]).map_err(io::Error::other)?;
        let mut child = spawn(Spawn::fenced(command, fence))?;
        let deadline = Instant::now() + PATIENCE;
        let status = loop {
            if let Some(status) = child.try_wait()? {
                break status;
            }
            if Instant::now() >= deadline {
                child.kill()?;
                child.wait()?;
                return Err(io::Error::new(io::ErrorKind::TimedOut, format!("no answer in {PATIENCE:?}")));
            }
            std::thread::sleep(POLL);
        };
        let mut bytes = Vec::new();
        let mut file = output;
        io::Seek::rewind(&mut file)?;
        file.read_to_end(&mut bytes)?;
        Ok((status, bytes))
    }

    /// Takes options and storage engines from the nearest version of the catalogue. `has` returns whether the
    /// installation has a plugin with the given file name.
    pub(crate) fn take_after_the_nearest(&mut self, has: &dyn Fn(&str) -> bool) {
        let catalogue = Catalogue::builtin();
        let Some(nearest) = catalogue.nearest(&self.entry.engine, &self.entry.version) else { return };
        // All entries of the product are searched, because each may list other plugins.
        let of_product = catalogue.entries().iter().filter(|entry| entry.engine == self.entry.engine);
        let mut loadable: BTreeMap<_, _> = of_product
            .flat_map(|entry| entry.storage_engine_options.clone())
            .filter(|(_, options)| options.get("plugin_load_add").is_some_and(|file| has(file)))
            .collect();
        for (name, file) in
            PLUGINS.into_iter().filter(|(_, file)| self.entry.family == Family::Mysql && has(file))
        {
            loadable.insert(name.to_owned(), [("plugin_load_add".to_owned(), file.to_owned())].into());
        }
        let is_there = |name: &&String| !nearest.storage_engine_options.contains_key(*name);
        let mut storage_engines: Vec<String> =
            nearest.storage_engines.iter().filter(is_there).cloned().collect();
        storage_engines.extend(loadable.keys().cloned());
        self.entry.options = nearest.options.clone();
        if self.entry.family == Family::Mysql && self.entry.is_at_least(5, 7) {
            // Without this empty value, the server would use its default for this setting. That may be a folder that
            // exists only if the server was installed as a package.
            self.entry.options.entry("secure_file_priv".to_owned()).or_default();
        }
        self.entry.storage_engines = storage_engines;
        self.entry.storage_engine_options = loadable;
    }
}

/// Parses `mysqld  Ver 8.0.33 for Linux on x86_64 (MySQL Community Server - GPL)`, or
/// `postgres (PostgreSQL) 16.14`.
pub(crate) fn said(said: &str) -> Option<Said> {
    let (family, exact) = if let Some((_, rest)) = said.split_once("(PostgreSQL)") {
        (Family::Postgres, rest.split_whitespace().next()?)
    } else {
        let exact = said.split_once(" Ver ")?.1.split_whitespace().next()?;
        (if said.contains("MariaDB") { Family::Mariadb } else { Family::Mysql }, exact)
    };
    let numeric = exact.split(|c: char| !c.is_ascii_digit() && c != '.').next()?.trim_end_matches('.');
    let version = numeric.to_owned();
    (!version.is_empty()).then(|| Said { family, version, exact: exact.to_owned() })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn every_family_says_its_version_in_its_way() {
        let cases = [
            (
                "/b/mysqld  Ver 5.6.24 for linux-glibc2.5 on x86_64 (MySQL Community Server (GPL))",
                Family::Mysql,
                "5.6.24",
                "5.6.24",
            ),
            (
                "/b/mysqld  Ver 8.0.35-27 for Linux on x86_64 (Percona Server (GPL))",
                Family::Mysql,
                "8.0.35",
                "8.0.35-27",
            ),
            (
                "mariadbd  Ver 10.11.14-MariaDB-0+deb12u2 for debian-linux-gnu on x86_64 (Debian 12)",
                Family::Mariadb,
                "10.11.14",
                "10.11.14-MariaDB-0+deb12u2",
            ),
            ("postgres (PostgreSQL) 16.14 (Debian 16.14-1)", Family::Postgres, "16.14", "16.14"),
            ("postgres (PostgreSQL) 19devel", Family::Postgres, "19", "19devel"),
        ];
        for (said, family, version, exact) in cases {
            let expected = Said { family, version: version.to_owned(), exact: exact.to_owned() };
            assert_eq!(super::said(said), Some(expected), "{said}");
        }
        assert_eq!(super::said("usage: mysqld"), None);
    }

    fn basedir_with(script: &str) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("bin")).unwrap();
        let server = root.path().join("bin/mysqld");
        fs::write(&server, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&server, fs::Permissions::from_mode(0o755)).unwrap();
        root
    }

    #[test]
    fn a_folder_that_is_no_server_is_refused_with_the_reason() {
        let error = Installation::from_basedir("/nowhere/at/all").unwrap_err();
        assert!(matches!(error, BasedirError::Unreachable { .. }), "{error}");
        let archive = tempfile::NamedTempFile::new().unwrap();
        let error = Installation::from_basedir(archive.path()).unwrap_err();
        assert!(matches!(error, BasedirError::File { .. }), "{error}");
        let error = Installation::from_basedir(tempfile::tempdir().unwrap().path()).unwrap_err();
        assert!(matches!(error, BasedirError::NoServer { .. }), "{error}");
        let root = basedir_with("echo libfoo.so.1 is missing >&2; exit 127");
        let error = Installation::from_basedir(root.path()).unwrap_err().to_string();
        assert!(error.contains("libfoo.so.1 is missing") && error.contains("127"), "{error}");
        let root = basedir_with("echo hello");
        let error = Installation::from_basedir(root.path()).unwrap_err();
        assert!(matches!(error, BasedirError::NoVersion { .. }), "{error}");
    }

    #[test]
    fn a_build_takes_after_the_nearest_version() {
        let root = basedir_with("echo 'mysqld  Ver 8.4.3-mine for Linux on x86_64 (Source distribution)'");
        let installation = Installation::from_basedir(root.path()).unwrap();
        assert_eq!(installation.entry.to_string(), "mysql@8.4.3");
        assert_eq!(installation.exact_version, "8.4.3-mine");
        assert_eq!(installation.entry.storage_engines, ["innodb", "myisam"]);
        assert_eq!(installation.entry.options.get("mysqlx").map(String::as_str), Some("OFF"));
        assert_eq!(installation.entry.options.get("secure_file_priv").map(String::as_str), Some(""));
    }
}
