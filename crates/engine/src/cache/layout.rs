//! The layout of an unpacked server.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

/// Paths inside an unpacked installation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Layout {
    #[serde(default)]
    pub(crate) server: PathBuf,
    /// The dynamic loader that starts the server, if the packages bring their own C library.
    pub(crate) loader: Option<PathBuf>,
    /// Folders of the server's shared libraries.
    #[serde(default)]
    pub(crate) libraries: Vec<PathBuf>,
    /// The folder of messages, character sets and the SQL of the system tables.
    #[serde(default)]
    pub(crate) share: PathBuf,
    pub(crate) plugins: Option<PathBuf>,
    /// Symbolic links that the package lacks. Each item maps the path of a link to the link's target in the same
    /// folder.
    #[serde(default)]
    pub(crate) links: BTreeMap<PathBuf, PathBuf>,
}

/// Paths of servers in archives, packages, installed systems and build folders.
const SERVERS: [&str; 13] = [
    "bin/mariadbd",
    "bin/mysqld",
    "bin/postgres",
    "sbin/mariadbd",
    "sbin/mysqld",
    "libexec/mariadbd",
    "libexec/mysqld",
    "usr/sbin/mariadbd",
    "usr/sbin/mysqld",
    "usr/bin/postgres",
    "runtime_output_directory/mysqld",
    "sql/mariadbd",
    "mysqld",
];
const LOADERS: [&str; 2] = ["usr/lib64/ld-linux-x86-64.so.2", "lib64/ld-linux-x86-64.so.2"];
const LIBRARIES: [&str; 8] = [
    "lib",
    "lib64",
    "libs",
    "lib/private",
    "lib/x86_64-linux-gnu",
    "usr/lib/x86_64-linux-gnu",
    "usr/lib64",
    "library_output_directory",
];
const SHARES: [&str; 6] =
    ["share", "share/mysql", "share/mariadb", "usr/share/mysql", "usr/share/mariadb", "sql/share"];
const PLUGINS: [&str; 9] = [
    "lib/plugin",
    "lib64/plugin",
    "lib/mysql/plugin",
    "lib64/mysql/plugin",
    "usr/lib/mysql/plugin",
    "usr/lib64/mysql/plugin",
    "lib/mariadb/plugin",
    "lib/x86_64-linux-gnu/mariadb19/plugin",
    "plugin_output_directory",
];

impl Layout {
    /// Finds a server and its folders by the usual paths below `root`. Returns `None` if no server is there.
    pub(crate) fn detect(root: &Path) -> Option<Self> {
        let is_file = |path: &&&str| root.join(path).is_file();
        let server = PathBuf::from(SERVERS.iter().find(is_file)?);
        let mut libraries: Vec<PathBuf> =
            LIBRARIES.iter().map(PathBuf::from).filter(|path| holds_libraries(&root.join(path))).collect();
        // Some packages have all their folders next to the server.
        let beside = server.parent().unwrap_or(Path::new(""));
        if holds_libraries(&root.join(beside)) && !libraries.iter().any(|known| known == beside) {
            libraries.push(beside.to_owned());
        }
        let has_messages = |share: &&&str| root.join(share).join("english/errmsg.sys").is_file();
        Some(Self {
            server,
            loader: LOADERS.iter().find(is_file).map(PathBuf::from),
            libraries,
            share: SHARES.iter().find(has_messages).map(PathBuf::from).unwrap_or_default(),
            plugins: PLUGINS.iter().find(|path| root.join(path).is_dir()).map(PathBuf::from),
            links: BTreeMap::new(),
        })
    }

    /// Returns this layout, or searches the usual paths if this layout is empty. It is empty if the entry of the
    /// catalogue gives no layout.
    pub(crate) fn or_detected(&self, root: &Path) -> Option<Self> {
        if self.server.as_os_str().is_empty() { Self::detect(root) } else { Some(self.clone()) }
    }
}

fn holds_libraries(folder: &Path) -> bool {
    let items = fs::read_dir(folder).into_iter().flatten().flatten();
    items.map(|item| item.file_name()).any(|name| {
        let name = name.to_string_lossy();
        name.starts_with("lib") && name.contains(".so")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn make(root: &Path, files: &[&str]) {
        for file in files {
            let path = root.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
    }

    #[test]
    fn a_vendors_archive_is_recognised() {
        let root = tempfile::tempdir().unwrap();
        let files = ["bin/mysqld", "lib/libssl.so.3", "lib/plugin/x.so", "share/english/errmsg.sys"];
        make(root.path(), &files);
        let layout = Layout::detect(root.path()).unwrap();
        assert_eq!(layout.server, Path::new("bin/mysqld"));
        assert_eq!(layout.libraries, [Path::new("lib")]);
        assert_eq!(layout.share, Path::new("share"));
        assert_eq!(layout.plugins.as_deref(), Some(Path::new("lib/plugin")));
        assert_eq!(layout.loader, None);
        assert_eq!(layout.or_detected(Path::new("/nowhere")), Some(layout));
    }

    #[test]
    fn unpacked_packages_of_a_distribution_run_by_their_own_loader() {
        let root = tempfile::tempdir().unwrap();
        let files = [
            "usr/sbin/mariadbd",
            "usr/lib64/ld-linux-x86-64.so.2",
            "usr/lib/x86_64-linux-gnu/libc.so.6",
            "usr/share/mariadb/english/errmsg.sys",
        ];
        make(root.path(), &files);
        let layout = Layout::detect(root.path()).unwrap();
        assert_eq!(layout.loader.as_deref(), Some(Path::new("usr/lib64/ld-linux-x86-64.so.2")));
        assert_eq!(layout.share, Path::new("usr/share/mariadb"));
        assert_eq!(layout.libraries, [Path::new("usr/lib/x86_64-linux-gnu")]);
    }

    #[test]
    fn a_folder_without_a_server_has_no_layout() {
        let root = tempfile::tempdir().unwrap();
        assert_eq!(Layout::detect(root.path()), None);
    }
}
