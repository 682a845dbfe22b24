//! A server's home: a folder with its data, its log, and a lock that shows whether the server is alive.
//!
//! Dyno holds the lock, and the server holds it too, through an inherited file descriptor. If no process holds the
//! lock, both were killed. The next server that starts in the same parent folder then removes the home.
//!
//! There is one more case. A server that is stopped (`SIGSTOP`) still holds the lock after Dyno, its owner, was killed.
//! The next server that starts then ends the stopped server, and removes the home.

use std::env;
use std::fs::{self, File, Permissions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use dyno_host::Account;

use crate::cache::scratch;
use crate::container;
use crate::machine::folder;
use crate::machine::lines;
use crate::machine::orphan;
use crate::machine::path_error::{At as _, PathError};
use crate::machine::sysv;
use crate::start::access::random_word;

/// Prefix of the names of Dyno's folders. The parent folder may also contain files that are not Dyno's.
const PREFIX: &str = "dyno-";
const LOCK: &str = "dyno.lock";
const DATA: &str = "data";
/// Name of the link to the folder of the server's sockets. That folder has a short path, because a socket's path must
/// fit into 108 bytes (unix(7)).
const SOCKETS: &str = "sockets";
/// Number of hexadecimal digits in a random name.
const RANDOM_DIGITS: usize = 12;
const LOG_TAIL_BYTES: i64 = 64 * 1024;
const LAST_WORDS: usize = 10;

/// A server's home, removed when dropped.
#[derive(Debug)]
pub(crate) struct Home {
    folder: PathBuf,
    data: PathBuf,
    sockets: PathBuf,
    lock: File,
    is_left: bool,
}

impl Home {
    /// Removes the homes of dead servers, then creates a home with an unused name.
    pub(crate) fn create_in(parent: &Path) -> Result<Self, PathError> {
        let _turn = folder::lock_folder(parent)?;
        remove_leftovers(parent)?;
        let home = Self::create(parent.join(format!("{PREFIX}{}", short_random_word()?)))?;
        orphan::note_owner(&home)?;
        Ok(home)
    }

    /// Creates a home with a given name. Returns `None` if a server uses that name.
    pub(crate) fn create_named(parent: &Path, name: &str) -> Result<Option<Self>, PathError> {
        let _turn = folder::lock_folder(parent)?;
        remove_leftovers(parent)?;
        let folder = parent.join(format!("{PREFIX}{name}"));
        // An empty folder is not a home: its creation or removal was interrupted.
        let _ = fs::remove_dir(&folder);
        if folder.exists() { Ok(None) } else { Self::create(folder).map(Some) }
    }

    fn create(folder: PathBuf) -> Result<Self, PathError> {
        // The server's account must be able to enter this folder, but not to list it. Each file in it belongs to
        // Dyno or to the server.
        let mode = if Account::instead_of_root().is_some() { 0o711 } else { 0o700 };
        fs::create_dir(&folder).at("create", &folder)?;
        fs::set_permissions(&folder, Permissions::from_mode(mode)).at("create", &folder)?;
        let lock = folder::lock(&folder.join(LOCK))?;
        let sockets = short_folder().join(format!("{PREFIX}{}", short_random_word()?));
        let home = Self { data: folder.join(DATA), folder, sockets, lock, is_left: false };
        // The link is created before the folder of sockets, so that each folder of sockets can be found through its
        // home.
        let link = home.folder.join(SOCKETS);
        symlink(&home.sockets, &link).at("create", &link)?;
        folder::create_for_server(&home.sockets)?;
        folder::create_for_server(&home.temporary())?;
        Ok(home)
    }

    /// Creates an empty data folder.
    pub(crate) fn create_data(&self) -> Result<PathBuf, PathError> {
        self.create_data_with(&[])
    }

    /// Creates a data folder, and empty folders with the given names in it.
    pub(crate) fn create_data_with(&self, names: &[&str]) -> Result<PathBuf, PathError> {
        let data = self.data();
        folder::create_private(&data)?;
        // These folders are created before the data folder is given to the server's account, so that this account
        // cannot create other files with these names.
        names.iter().try_for_each(|name| folder::create_for_server(&data.join(name)))?;
        folder::give_to_server(&data)?;
        Ok(data)
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.data.clone()
    }

    /// Uses a data folder outside the home. A link in the home leads to it. Removing the home removes only the link.
    pub(crate) fn keep_data_at(&mut self, data: PathBuf) -> Result<(), PathError> {
        let link = self.folder.join(DATA);
        symlink(&data, &link).at("create", &link)?;
        self.data = data;
        Ok(())
    }

    /// The working directories that the server's processes may have.
    pub(crate) fn places(&self) -> [&Path; 2] {
        [&self.folder, &self.data]
    }

    /// Returns the server's own folder of temporary files. If servers shared a folder, MariaDB would remove the files
    /// of the other servers.
    pub(crate) fn temporary(&self) -> PathBuf {
        self.folder.join("tmp")
    }

    /// The folder of the server's sockets, with a short path.
    pub(crate) fn sockets(&self) -> &Path {
        &self.sockets
    }

    /// Returns a second file descriptor with the lock, for the server to inherit.
    pub(crate) fn lock_to_inherit(&self) -> Result<File, PathError> {
        self.lock.try_clone().at("open", &self.folder.join(LOCK))
    }

    /// Opens the server's log to append.
    pub(crate) fn open_log(&self) -> Result<File, PathError> {
        let path = self.log();
        File::options().create(true).append(true).mode(0o600).open(&path).at("open", &path)
    }

    /// The path of the server's log. Creates the log if missing, and makes the server's account its owner, so that
    /// the server can open it.
    pub(crate) fn log_for_server(&self) -> Result<PathBuf, PathError> {
        self.open_log()?;
        folder::give_to_server(&self.log())?;
        Ok(self.log())
    }

    /// Empties the log and removes the sockets and the lock files of an earlier start. The log must show only the
    /// next start, and the process id in a lock file may have been reused.
    pub(crate) fn clear(&self) -> Result<(), PathError> {
        self.open_log()?.set_len(0).at("truncate", &self.log())?;
        folder::clear_of_server(&self.sockets)
    }

    fn log(&self) -> PathBuf {
        self.folder.join("server.log")
    }

    /// The last lines of the server's log.
    pub(crate) fn log_tail(&self, count: usize) -> Vec<String> {
        lines::last(&end_of(&self.log()).unwrap_or_default(), count)
    }

    /// Returns the lines of the server's log that explain why the server ended.
    pub(crate) fn last_words(&self) -> Vec<String> {
        lines::telling(&end_of(&self.log()).unwrap_or_default(), LAST_WORDS)
    }

    /// Writes a file that only this user can read. If the file exists already, replaces it atomically.
    pub(crate) fn write_secret(&self, name: &str, text: &str) -> Result<PathBuf, PathError> {
        let path = self.folder.join(name);
        let new = path.with_extension("new");
        write_private(&new, text.as_bytes()).at("write", &new)?;
        fs::rename(&new, &path).at("write", &path)?;
        Ok(path)
    }

    /// Like [`write_secret`](Self::write_secret), but the server can read the file.
    pub(crate) fn write_for_server(&self, name: &str, text: &str) -> Result<PathBuf, PathError> {
        let path = self.write_secret(name, text)?;
        folder::give_to_server(&path)?;
        Ok(path)
    }

    /// Drops this value without removing the home, because the server continues to run.
    pub(crate) fn leave(mut self) {
        self.is_left = true;
    }

    /// Removes the home with its content. The server must be dead.
    pub(crate) fn remove(&self) -> Result<(), PathError> {
        remove(&self.folder)
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        if !self.is_left {
            // If the removal fails, the next server that starts in the same parent removes the home.
            let _ = self.remove();
        }
    }
}

/// Returns the homes in a folder. If a home's server is dead, also returns the home's lock file, locked by this
/// process.
pub(crate) fn homes(parent: &Path) -> Result<Vec<(PathBuf, Option<File>)>, PathError> {
    let mut homes = Vec::new();
    for folder in own_folders(parent)? {
        // A home without a lock file is being created or removed.
        if let Ok(lock) = File::open(folder.join(LOCK)) {
            let is_dead = lock.try_lock_shared().is_ok();
            homes.push((folder, is_dead.then_some(lock)));
        }
    }
    Ok(homes)
}

/// The folders in `parent` that have Dyno's prefix and belong to this user.
fn own_folders(parent: &Path) -> Result<Vec<PathBuf>, PathError> {
    let items = match fs::read_dir(parent) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        items => items.at("read", parent)?,
    };
    let mut folders = Vec::new();
    for item in items {
        let folder = item.at("read", parent)?.path();
        let has_prefix = folder.file_name().is_some_and(|name| name.to_string_lossy().starts_with(PREFIX));
        if has_prefix && folder::is_ours(&folder) && !folder.is_symlink() {
            folders.push(folder);
        }
    }
    Ok(folders)
}

/// Removes the homes of dead servers below a folder, also on volumes, and the [`Scratch`](crate::Scratch) folders of
/// dead owners. Must be called before a volume is removed: only a home on the volume knows where its folder of sockets
/// is.
///
/// # Errors
/// A folder cannot be locked, read or removed.
pub fn remove_dead_homes(parent: &Path) -> Result<(), PathError> {
    if !parent.exists() {
        return Ok(());
    }
    let _turn = folder::lock_folder(parent)?;
    scratch::remove_dead(parent).at("clear", parent)?;
    remove_leftovers(parent)?;
    for volume in dyno_host::volumes(parent).iter().filter(|volume| volume.exists()) {
        let _turn = folder::lock_folder(volume)?;
        remove_leftovers(volume)?;
    }
    Ok(())
}

/// Removes the homes of dead servers. The caller holds the parent's lock, so no home is being created there.
fn remove_leftovers(parent: &Path) -> Result<(), PathError> {
    for (folder, lock) in homes(parent)? {
        if lock.is_some() || orphan::end_orphan(&folder, &folder.join(DATA)) {
            remove(&folder)?;
        }
    }
    for folder in own_folders(parent)?.into_iter().filter(|folder| has_random_name(folder)) {
        // An empty folder has no lock. Dyno was killed while it made the folder, or could not
        // remove the folder itself because the parent was not writable. A folder with content stays.
        let _ = fs::remove_dir(folder);
    }
    Ok(())
}

/// Whether a folder has a name that [`Home::create_in`] gives. A user may have other folders with the prefix.
fn has_random_name(folder: &Path) -> bool {
    let name = folder.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    let word = name.strip_prefix(PREFIX).unwrap_or_default();
    word.len() == RANDOM_DIGITS && word.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Removes a home. Removes the lock file last, so that a later call continues an interrupted removal.
pub(crate) fn remove(home: &Path) -> Result<(), PathError> {
    if !home.exists() {
        return Ok(());
    }
    container::remove_leftover(home)?;
    if let Ok(sockets) = fs::read_link(home.join(SOCKETS))
        && is_folder_of_sockets(&sockets)
    {
        folder::remove(&sockets)?;
    }
    sysv::remove_of(&home.join(DATA));
    for item in fs::read_dir(home).at("read", home)? {
        let path = item.at("read", home)?.path();
        if path.is_dir() && !path.is_symlink() {
            folder::remove(&path)?;
        } else if path.file_name().is_some_and(|name| name != LOCK) {
            fs::remove_file(&path).at("remove", &path)?;
        }
    }
    folder::remove(home)
}

/// Whether the target of a home's link is one of Dyno's folders of sockets. The server or a user may have changed the
/// link.
fn is_folder_of_sockets(path: &Path) -> bool {
    let has_prefix = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(PREFIX));
    let is_folder = fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_dir());
    let is_of_a_server = Account::instead_of_root().is_some_and(|account| account.owns(path));
    has_prefix && is_folder && (folder::is_ours(path) || is_of_a_server)
}

fn short_random_word() -> Result<String, PathError> {
    Ok(random_word().at("read", Path::new("/dev/urandom"))?[..RANDOM_DIGITS].to_owned())
}

/// Returns the parent of the folders of sockets: the user's run folder, otherwise the folder of temporary files,
/// otherwise `/tmp`. The first two are taken only if their path is short and servers can reach them.
fn short_folder() -> PathBuf {
    const LONGEST: usize = 40;
    let candidates = [env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from), Some(env::temp_dir())];
    let is_reached =
        |folder: &PathBuf| Account::instead_of_root().is_none_or(|account| account.can_reach(folder));
    candidates
        .into_iter()
        .flatten()
        .filter(|folder| folder.is_dir() && folder.is_absolute() && folder.as_os_str().len() <= LONGEST)
        .find(is_reached)
        .unwrap_or_else(|| PathBuf::from("/tmp"))
}

fn write_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::options().create(true).truncate(true).write(true).mode(0o600).open(path)?;
    // The mode that was given to open(2) applies only to a new file. A file that existed may have another mode.
    file.set_permissions(Permissions::from_mode(0o600))?;
    file.write_all(bytes)
}

fn end_of(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    if file.metadata()?.len() > LOG_TAIL_BYTES as u64 {
        file.seek(SeekFrom::End(-LOG_TAIL_BYTES))?;
    }
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_home_goes_when_it_is_dropped_with_its_sockets() {
        let parent = tempfile::tempdir().unwrap();
        let home = Home::create_in(parent.path()).unwrap();
        let (folder, sockets) = (home.folder().to_owned(), home.sockets().to_owned());
        assert!(folder.is_dir() && sockets.is_dir());
        drop(home);
        assert!(!folder.exists() && !sockets.exists());
    }

    #[test]
    fn an_empty_home_whose_removal_was_interrupted_is_removed() {
        let parent = tempfile::tempdir().unwrap();
        let [empty, other, full] =
            ["dyno-0123456789ab", "0123456789ab", "dyno-ba9876543210"].map(|name| parent.path().join(name));
        for folder in [&empty, &other, &full] {
            fs::create_dir(folder).unwrap();
        }
        fs::write(full.join("file"), "of whom?").unwrap();
        let home = Home::create_in(parent.path()).unwrap();
        assert!(!empty.exists(), "nobody removes it otherwise");
        assert!(other.exists() && full.exists() && home.folder().exists());
    }

    #[test]
    fn a_home_on_a_volume_is_not_removed_while_it_is_created() {
        let parent = tempfile::tempdir().unwrap();
        let volume = parent.path().join("confined-a/volume");
        let folder = volume.join("dyno-0123456789ab");
        fs::create_dir_all(&folder).unwrap();
        let turn = folder::lock_folder(&volume).unwrap();
        std::thread::scope(|scope| {
            let removal = scope.spawn(|| remove_dead_homes(parent.path()));
            // Waits until the removal holds the parent's lock. From then on, the removal waits for the volume's lock.
            while !removal.is_finished() && File::open(parent.path()).unwrap().try_lock().is_ok() {
                std::thread::yield_now();
            }
            assert!(folder.exists());
            drop(turn);
            removal.join().unwrap().unwrap();
        });
        assert!(!folder.exists());
    }

    #[test]
    fn a_link_that_leads_elsewhere_is_not_followed() {
        let parent = tempfile::tempdir().unwrap();
        let precious = parent.path().join("precious");
        fs::create_dir(&precious).unwrap();
        let dead = Home::create_in(parent.path()).unwrap();
        let (folder, sockets) = (dead.folder().to_owned(), dead.sockets().to_owned());
        dead.leave();
        fs::remove_file(folder.join(SOCKETS)).unwrap();
        symlink(&precious, folder.join(SOCKETS)).unwrap();
        let _new = Home::create_in(parent.path()).unwrap();
        assert!(!folder.exists() && precious.is_dir());
        fs::remove_dir_all(sockets).unwrap();
    }

    #[test]
    fn homes_of_the_dead_are_cleared_away_and_others_are_not() {
        let parent = tempfile::tempdir().unwrap();
        fs::create_dir(parent.path().join("dyno-not-a-home")).unwrap();
        let alive = Home::create_in(parent.path()).unwrap();
        let dead = Home::create_in(parent.path()).unwrap();
        let (folder, sockets) = (dead.folder().to_owned(), dead.sockets().to_owned());
        dead.leave();
        let _new = Home::create_in(parent.path()).unwrap();
        assert!(!folder.exists() && !sockets.exists());
        assert!(alive.folder().is_dir());
        assert!(parent.path().join("dyno-not-a-home").is_dir());
    }

    #[test]
    fn homes_of_the_dead_on_volumes_go_with_their_sockets() {
        let parent = tempfile::tempdir().unwrap();
        let volume = parent.path().join("confined-dead/volume");
        fs::create_dir_all(&volume).unwrap();
        let dead = Home::create_in(&volume).unwrap();
        let (folder, sockets) = (dead.folder().to_owned(), dead.sockets().to_owned());
        dead.leave();
        remove_dead_homes(parent.path()).unwrap();
        assert!(!folder.exists() && !sockets.exists() && volume.is_dir());
        remove_dead_homes(&parent.path().join("missing")).unwrap();
    }

    #[test]
    fn a_name_is_free_again_when_its_server_is_dead() {
        let parent = tempfile::tempdir().unwrap();
        let first = Home::create_named(parent.path(), "a").unwrap().unwrap();
        assert!(Home::create_named(parent.path(), "a").unwrap().is_none());
        first.leave();
        assert!(Home::create_named(parent.path(), "a").unwrap().is_some());
        fs::create_dir(parent.path().join("dyno-b")).unwrap();
        assert!(Home::create_named(parent.path(), "b").unwrap().is_some(), "its removal was interrupted");
    }

    #[test]
    fn a_secret_is_for_its_owner_only() {
        let parent = tempfile::tempdir().unwrap();
        let home = Home::create_in(parent.path()).unwrap();
        let path = home.write_secret("secret", "old").unwrap();
        home.write_secret("secret", "new").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn the_end_of_a_long_log_is_given() {
        let parent = tempfile::tempdir().unwrap();
        let home = Home::create_in(parent.path()).unwrap();
        assert!(home.log_tail(3).is_empty());
        let mut log = home.open_log().unwrap();
        for line in 0..20_000 {
            writeln!(log, "line {line}").unwrap();
        }
        assert_eq!(home.log_tail(2), ["line 19998", "line 19999"]);
    }
}
