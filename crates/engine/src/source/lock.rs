//! `lock.toml` contains the SHA-256 that each vendor's archive had at its first fetch, and that of each artefact of
//! Maven whose entry has no checksum. A team can share the file.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::download::integrity::Integrity;
use super::error::FetchError;
use crate::catalogue::places;
use crate::machine::folder;
use crate::machine::path_error::{At as _, PathError};

const NAME: &str = "lock.toml";
const HEAD: &str =
    "# The SHA-256 of each archive at its first fetch, written by dyno. Share this file with your team.\n\n";

/// An archive as it was at its first fetch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pin {
    /// The archive's file name.
    pub file: String,
    /// The archive's checksum, as `sha256sum` prints it.
    pub sha256: String,
    /// Where the archive came from.
    pub from: String,
    /// How the archive was checked at its first fetch, in words.
    pub checked: String,
}

/// The user's own file of pins, and shared files of pins, which Dyno only reads.
#[derive(Debug)]
pub(crate) struct Lock {
    own: PathBuf,
    shared: Vec<PathBuf>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Pins {
    #[serde(default, rename = "archive")]
    archives: Vec<Pin>,
}

impl Lock {
    /// The lock files of the user. New pins are added to `$XDG_CONFIG_HOME/dyno/engines/lock.toml` (otherwise
    /// `~/.config/…`). Pins in the folders of `$DYNO_ENGINES` apply too. `fallback` is the folder of the lock file
    /// if the user has no home.
    pub(crate) fn of_user(fallback: &Path) -> Self {
        let own = places::settings().unwrap_or_else(|| fallback.to_owned()).join(NAME);
        let shared = places::folders().into_iter().map(|folder| folder.join(NAME));
        Self { shared: shared.filter(|path| *path != own).collect(), own }
    }

    /// The pin of a file, and the lock file that contains the pin.
    pub(crate) fn pin_of(&self, file: &str) -> Result<Option<(Pin, &Path)>, FetchError> {
        for path in self.shared.iter().chain([&self.own]) {
            if let Some(pin) = read(path)?.archives.into_iter().find(|pin| pin.file == file) {
                return Ok(Some((pin, path.as_path())));
            }
        }
        Ok(None)
    }

    /// Compares an archive with its pin. If it has no pin, returns one to add.
    pub(crate) fn compare(
        &self,
        archive: &Path,
        file: &str,
        from: &str,
        checked: &str,
    ) -> Result<Option<Pin>, FetchError> {
        let sha256 = Integrity::sha256_of(archive)?.digits();
        let [file, from, checked] = [file, from, checked].map(ToOwned::to_owned);
        let new = Pin { file, sha256, from, checked };
        Ok(self.is_new(&new)?.then_some(new))
    }

    /// Adds pins. Another process may have added some of them meanwhile.
    pub(crate) fn add(&self, pins: Vec<Pin>) -> Result<(), FetchError> {
        if pins.is_empty() {
            return Ok(());
        }
        let _turn = folder::lock(&self.own.with_extension("lock"))?;
        let mut kept = read(&self.own)?;
        for pin in pins {
            if self.is_new(&pin)? {
                kept.archives.push(pin);
            }
        }
        kept.archives.sort_by(|a, b| a.file.cmp(&b.file));
        Ok(write(&self.own, &kept)?)
    }

    /// Whether a file has no pin yet. Fails if its pin has another checksum.
    fn is_new(&self, new: &Pin) -> Result<bool, FetchError> {
        match self.pin_of(&new.file)? {
            None => Ok(true),
            Some((pin, _)) if pin.sha256 == new.sha256 => Ok(false),
            Some((pin, path)) => {
                let (lock, found) = (path.to_owned(), new.sha256.clone());
                Err(FetchError::Changed { pin: Box::new(pin), found, lock })
            }
        }
    }
}

fn read(path: &Path) -> Result<Pins, FetchError> {
    let text = match fs::read_to_string(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Pins::default()),
        text => text.at("read", path)?,
    };
    toml::from_str(&text).map_err(|error| {
        let line = text[..error.span().map_or(0, |span| span.start)].matches('\n').count() + 1;
        FetchError::Lock { path: path.to_owned(), line, reason: error.message().replace('\n', ", ") }
    })
}

/// Replaces the file by a rename, so that nobody reads a half-written file.
fn write(path: &Path, pins: &Pins) -> Result<(), PathError> {
    let text = toml::to_string(pins).map_err(std::io::Error::other).at("write", path)?;
    let whole = path.with_extension("new");
    fs::write(&whole, format!("{HEAD}{text}")).at("write", &whole)?;
    fs::rename(&whole, path).at("write", path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lock(folder: &Path) -> Lock {
        Lock { own: folder.join("own/lock.toml"), shared: vec![folder.join("team.toml")] }
    }

    #[test]
    fn an_archive_that_changed_after_its_first_fetch_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let archive = folder.path().join("a.tar.gz");
        let hold = |text: &str| {
            fs::write(&archive, text).unwrap();
            let lock = lock(folder.path());
            let new = lock.compare(&archive, "a.tar.gz", "https://x.test/a.tar.gz", "TLS \"only\"")?;
            lock.add(new.into_iter().collect())
        };
        hold("as released").unwrap();
        hold("as released").unwrap();
        let error = hold("as altered").unwrap_err();
        assert!(matches!(error, FetchError::Changed { .. }), "{error}");
        let words = error.to_string();
        assert!(words.contains("a.tar.gz") && words.contains("own/lock.toml"), "{words}");
        hold("as released").unwrap();
        let pins = read(&folder.path().join("own/lock.toml")).unwrap().archives;
        assert_eq!((pins.len(), pins[0].checked.as_str()), (1, "TLS \"only\""));
    }

    #[test]
    fn what_a_team_has_pinned_holds_before_the_first_fetch_here() {
        let folder = tempfile::tempdir().unwrap();
        let archive = folder.path().join("a.tar.gz");
        fs::write(&archive, "as released").unwrap();
        let pin = Pin {
            file: "a.tar.gz".to_owned(),
            sha256: "ab".repeat(32),
            from: String::new(),
            checked: String::new(),
        };
        let team = folder.path().join("team.toml");
        write(&team, &Pins { archives: vec![pin] }).unwrap();
        let compare = |file| lock(folder.path()).compare(&archive, file, "", "");
        let error = compare("a.tar.gz").unwrap_err().to_string();
        assert!(error.contains("team.toml") && error.contains(&"ab".repeat(32)), "{error}");
        assert!(compare("b.tar.gz").unwrap().is_some());
    }

    #[test]
    fn a_lock_file_that_is_damaged_is_named_with_the_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock.toml");
        fs::write(&path, "[[archive]]\nfile = \"a\"\n<<<<<<<\n").unwrap();
        let error = read(&path).unwrap_err().to_string();
        assert!(error.contains("lock.toml:3: "), "{error}");
    }
}
