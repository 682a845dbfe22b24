//! Templates: data folders of servers that never ran. They are kept, because old servers need seconds to create one.

use std::cmp::Reverse;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use dyno_host::Account;
use rustix::io::Errno;
use sha2::{Digest, Sha256};

use crate::cache::snapshot::copy_folder;
use crate::family::site::{Procedure, Site};
use crate::machine::folder;
use crate::machine::path_error::{At as _, PathError};
use crate::start::server::error::StartError;

/// Limit of the disk space for all templates, in bytes. The most recently used template is kept even if it is larger. A
/// template is as large as an empty server: 15 MB, or over 1 GB if logs are large.
const KEPT_BYTES_MAX: u64 = 4 << 30;

/// Creates a server's data folder as a copy of its template. If the template is missing, initializes the data
/// folder and makes the template from it. A copy has the accounts of the server that the template was made from.
pub(crate) fn provide(site: &Site<'_>, procedure: &dyn Procedure) -> Result<(), StartError> {
    let templates = &site.installation.templates;
    let template = templates.join(key(site)?);
    // If two servers with the same template start at once, one creates the template, and the other waits for it.
    let _turn = folder::lock(&lock_file(&template))?;
    if template.is_dir() {
        copy_folder(&template, &site.home.data(), Account::instead_of_root())?;
        // The modification time is the time of the template's last use. An error is ignored, because it only makes the
        // last use look earlier.
        let _ = fs::File::open(&template).and_then(|folder| folder.set_modified(SystemTime::now()));
        return Ok(());
    }
    procedure.initialize(site)?;
    keep(&site.home.data(), &template)?;
    Ok(forget_old(templates, KEPT_BYTES_MAX)?)
}

/// Returns the name of a template. It depends on the program that creates the template and on all settings, because
/// many settings change the data.
///
/// Templates are not synced to disk. So the name also depends on the boot of the machine: after a restart, earlier
/// templates are not used.
fn key(site: &Site<'_>) -> Result<String, PathError> {
    let boot = Path::new("/proc/sys/kernel/random/boot_id");
    let path = site.path(&site.entry().layout.server);
    let program = if let Some(image) = &site.installation.image {
        format!("{} {}", path.display(), image.id())
    } else {
        let metadata = fs::metadata(&path).at("look at", &path)?;
        let modified = metadata.modified().at("look at", &path)?;
        format!("{:?}", (path, metadata.len(), modified))
    };
    let mut hasher = Sha256::new();
    hasher.update(fs::read(boot).at("read", boot)?);
    hasher.update(format!("{program} {:?}", site.settings));
    let digest: [u8; 32] = hasher.finalize().into();
    let number = digest.iter().take(8).fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
    Ok(format!("{}-{number:016x}", site.entry()))
}

fn lock_file(template: &Path) -> PathBuf {
    let mut name = template.as_os_str().to_owned();
    name.push(".lock");
    name.into()
}

/// Copies a folder under another name, then renames the copy. So a template is always complete.
fn keep(data: &Path, template: &Path) -> Result<(), PathError> {
    let mut partial = template.as_os_str().to_owned();
    partial.push(".partial");
    let partial = PathBuf::from(partial);
    folder::remove(&partial)?;
    copy_folder(data, &partial, None)?;
    fs::rename(&partial, template).at("create", template)
}

/// Removes the least recently used templates until the remaining templates take at most `bytes_max` of disk. Keeps the
/// most recently used template and templates in use.
fn forget_old(templates: &Path, bytes_max: u64) -> Result<(), PathError> {
    let is_template = |path: &PathBuf| path.is_dir() && path.extension().is_none_or(|end| end != "partial");
    let used_at =
        |path: &PathBuf| -> Option<SystemTime> { fs::metadata(path).and_then(|m| m.modified()).ok() };
    let items = fs::read_dir(templates).at("read", templates)?;
    let mut all: Vec<PathBuf> = items.flatten().map(|item| item.path()).filter(is_template).collect();
    // Each modification time is read only once, because other processes may change it during the sort.
    all.sort_by_cached_key(|path| Reverse(used_at(path)));
    let mut bytes = 0;
    for (number, old) in all.iter().enumerate() {
        bytes += folder::allocated_bytes(old);
        if number == 0 || bytes <= bytes_max {
            continue;
        }
        if let Some(_turn) = folder::lock_if_free(&lock_file(old))? {
            folder::remove(old)?;
            remove_file(&lock_file(old))?;
        }
    }
    Ok(())
}

/// Removes a file. Succeeds if another process has already removed it.
fn remove_file(path: &Path) -> Result<(), PathError> {
    match fs::remove_file(path) {
        Err(error) if error.raw_os_error() != Some(Errno::NOENT.raw_os_error()) => {
            Err(error).at("remove", path)
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::thread;
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn the_oldest_templates_go_and_those_in_use_stay() {
        let folder = tempfile::tempdir().unwrap();
        let place = |number: usize| folder.path().join(format!("mysql@5.6.24-{number}"));
        for number in 0..6 {
            let data = folder.path().join("data");
            fs::create_dir_all(data.join("mysql")).unwrap();
            fs::write(data.join("ibdata1"), vec![1; 100_000]).unwrap();
            keep(&data, &place(number)).unwrap();
            let age = Duration::from_secs(3600 - number as u64);
            fs::File::open(place(number)).unwrap().set_modified(SystemTime::now() - age).unwrap();
            fs::remove_dir_all(&data).unwrap();
        }
        let stays = || (0..6).filter(|number| place(*number).join("mysql").is_dir()).collect::<Vec<usize>>();
        let in_use = folder::lock(&lock_file(&place(0))).unwrap();
        let bytes = folder::allocated_bytes(&place(5));
        forget_old(folder.path(), 3 * bytes).unwrap();
        assert_eq!(stays(), [0, 3, 4, 5]);
        drop(in_use);
        // A child process of another test may have inherited the lock, and keeps the file locked until it runs its
        // program.
        let deadline = Instant::now() + Duration::from_secs(20);
        while place(0).exists() && Instant::now() < deadline {
            forget_old(folder.path(), 3 * bytes).unwrap();
        }
        assert!(!place(0).exists() && !lock_file(&place(0)).exists());
        forget_old(folder.path(), bytes / 2).unwrap();
        assert_eq!(stays(), [5], "the last used one is not too large");
    }

    #[test]
    fn the_oldest_are_found_while_others_are_used() {
        let folder = tempfile::tempdir().unwrap();
        let places: Vec<_> = (0..64).map(|number| folder.path().join(number.to_string())).collect();
        for place in &places {
            fs::create_dir(place).unwrap();
        }
        thread::scope(|scope| {
            let others = scope.spawn(|| {
                for (use_number, place) in places.iter().cycle().take(20_000).enumerate() {
                    let age = Duration::from_secs(use_number as u64 * 7 % 61);
                    fs::File::open(place).unwrap().set_modified(SystemTime::now() - age).unwrap();
                }
            });
            while !others.is_finished() {
                forget_old(folder.path(), u64::MAX).unwrap();
            }
        });
    }
}
