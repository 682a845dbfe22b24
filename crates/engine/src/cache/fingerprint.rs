//! Recognises whether a build in a folder has changed.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use crate::cache::installation::Installation;
use crate::catalogue::entry::Entry;
use crate::machine::fnv::{self, fnv_1a};
use crate::source::Source;

impl Installation {
    /// Returns a text that identifies a build. For an image, it is the image's name with its digest. For a folder, it
    /// is the folder's path with a hash: FNV-1a (RFC 9923) of the names, sizes and modification times of the server,
    /// its libraries and its plugins. A rebuild changes these times, so it changes the hash.
    pub fn fingerprint(&self) -> String {
        if let Some(image) = self.image() {
            return image;
        }
        let layout = &self.entry.layout;
        let folders = layout.libraries.iter().chain(&layout.plugins);
        let mut files: Vec<PathBuf> = folders.flat_map(|folder| files_of(&self.path(folder))).collect();
        files.push(self.path(&layout.server));
        files.sort();
        files.dedup();
        let hash = files.iter().fold(fnv::BASIS, |hash, file| hash_of(hash, file));
        format!("{} {hash:016x}", self.root.display())
    }
}

impl Entry {
    /// Returns a text that identifies a build: engine and version, and the content of a user's archive or folder,
    /// because a user may replace that content and keep the name.
    pub fn fingerprint(&self) -> String {
        let own = self.sources.iter().filter_map(Source::fingerprint);
        own.fold(self.to_string(), |text, own| format!("{text} {own}"))
    }
}

/// The files of a folder. If the folder cannot be read, the list is empty.
fn files_of(folder: &Path) -> Vec<PathBuf> {
    let items = fs::read_dir(folder).into_iter().flatten().flatten().map(|item| item.path());
    items.filter(|path| path.is_file()).collect()
}

fn hash_of(hash: u64, file: &Path) -> u64 {
    let facts = fs::metadata(file).map_or([0; 3], |found| {
        [found.size(), found.mtime().cast_unsigned(), found.mtime_nsec().cast_unsigned()]
    });
    let facts = facts.iter().flat_map(|fact| fact.to_le_bytes());
    fnv_1a(hash, file.as_os_str().as_encoded_bytes().iter().copied().chain([0]).chain(facts))
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::*;
    use crate::catalogue::{Catalogue, own};

    fn set_time(file: &Path, seconds: u64) {
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
        fs::File::options().write(true).open(file).unwrap().set_modified(time).unwrap();
    }

    #[test]
    fn a_build_that_was_made_again_is_another_one() {
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name);
        for folder in ["bin", "lib/plugin"] {
            fs::create_dir_all(at(folder)).unwrap();
        }
        for file in ["bin/mysqld", "lib/plugin/ha_rocksdb.so", "README"] {
            fs::write(at(file), "1").unwrap();
            set_time(&at(file), 1_000);
        }
        let fingerprint = || Installation::from_basedir_unasked(root.path()).unwrap().fingerprint();
        let first = fingerprint();
        assert!(first.starts_with(root.path().canonicalize().unwrap().to_str().unwrap()), "{first}");
        set_time(&at("README"), 2_000);
        assert_eq!(fingerprint(), first, "it is not part of the server");
        for file in ["bin/mysqld", "lib/plugin/ha_rocksdb.so"] {
            let before = fingerprint();
            set_time(&at(file), 3_000);
            assert_ne!(fingerprint(), before, "{file}");
        }
        let before = fingerprint();
        fs::write(at("bin/mysqld"), "another").unwrap();
        set_time(&at("bin/mysqld"), 3_000);
        assert_ne!(fingerprint(), before, "its size differs");
    }

    #[test]
    fn an_entry_of_a_users_own_is_known_by_what_it_leads_to() {
        let root = tempfile::tempdir().unwrap();
        let server = root.path().join("build/bin/mysqld");
        fs::create_dir_all(server.parent().unwrap()).unwrap();
        fs::write(&server, "1").unwrap();
        let entry = |source: &str| {
            let text =
                format!("engine = \"mine\"\nversion = \"1\"\nfamily = \"mysql\"\n[[source]]\n{source}\n");
            own::parse(&text, &root.path().join("mine.toml")).unwrap().fingerprint()
        };
        let folder = || entry("kind = \"folder\"\npath = \"build\"");
        let first = folder();
        assert!(first.starts_with("mine@1 ") && folder() == first, "{first}");
        fs::write(&server, "another").unwrap();
        assert_ne!(folder(), first);
        let archive = |digit: &str| {
            entry(&format!("kind = \"tarball\"\npath = \"a.tar.gz\"\nsha256 = \"{}\"", digit.repeat(64)))
        };
        assert_eq!(archive("a"), format!("mine@1 {}", "a".repeat(64)));
        assert_ne!(archive("a"), archive("b"));
        let builtin = Catalogue::builtin().find(&"mariadb@10.11".parse().unwrap()).unwrap();
        assert_eq!(builtin.fingerprint(), "mariadb@10.11");
    }
}
