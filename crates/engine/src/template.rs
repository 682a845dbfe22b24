//! Data folders of servers that never ran, kept so that a start need not make one: that takes old servers seconds.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rustix::io::Errno;
use sha2::{Digest, Sha256};

use crate::family::{Procedure, Site};
use crate::folder;
use crate::path_error::{At as _, PathError};
use crate::server::StartError;
use crate::snapshot::copy_folder;

/// How many are kept; a template takes as much disk as an empty server's data.
const KEPT: usize = 12;

/// Gives a new server its data folder: a copy of a template, which is made first where there is none for it.
pub(crate) fn provide(site: &Site<'_>, procedure: &dyn Procedure) -> Result<(), StartError> {
    let templates = &site.installation.templates;
    let template = templates.join(key(site)?);
    // Two servers of one kind that start at once: one makes the template, the other waits for it.
    let _turn = folder::lock(&lock_file(&template))?;
    if template.is_dir() {
        copy_folder(&template, &site.home.data())?;
        // For which one is the oldest; not knowing does no harm.
        let _ = fs::File::open(&template).and_then(|folder| folder.set_modified(SystemTime::now()));
        return procedure.adopt(site);
    }
    procedure.initialize(site)?;
    keep(&site.home.data(), &template)?;
    Ok(forget_old(templates)?)
}

/// Names what a data folder depends on: the program that makes it, and every setting, since many have a part in it.
///
/// Templates are not waited for to reach the disk, so those of before a restart of the machine are not trusted.
fn key(site: &Site<'_>) -> Result<String, PathError> {
    let boot = Path::new("/proc/sys/kernel/random/boot_id");
    let program = site.path(&site.entry().layout.server);
    let metadata = fs::metadata(&program).at("look at", &program)?;
    let modified = metadata.modified().at("look at", &program)?;
    let mut hasher = Sha256::new();
    hasher.update(fs::read(boot).at("read", boot)?);
    let program = (program, metadata.len(), modified);
    hasher.update(format!("{program:?} {:?}", site.settings));
    let digest: [u8; 32] = hasher.finalize().into();
    let number = digest.iter().take(8).fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
    Ok(format!("{}-{number:016x}", site.entry()))
}

fn lock_file(template: &Path) -> PathBuf {
    let mut name = template.as_os_str().to_owned();
    name.push(".lock");
    name.into()
}

/// Copies a folder beside its place and then moves it there, so that what is there is whole.
fn keep(data: &Path, template: &Path) -> Result<(), PathError> {
    let mut partial = template.as_os_str().to_owned();
    partial.push(".partial");
    let partial = PathBuf::from(partial);
    folder::remove(&partial)?;
    copy_folder(data, &partial)?;
    fs::rename(&partial, template).at("create", template)
}

/// Removes all but those that were used last, unless they are in use.
fn forget_old(templates: &Path) -> Result<(), PathError> {
    let is_template = |path: &PathBuf| path.is_dir() && path.extension().is_none_or(|end| end != "partial");
    let used_at =
        |path: &PathBuf| -> Option<SystemTime> { fs::metadata(path).and_then(|m| m.modified()).ok() };
    let items = fs::read_dir(templates).at("read", templates)?;
    let mut all: Vec<PathBuf> = items.flatten().map(|item| item.path()).filter(is_template).collect();
    all.sort_by_key(|path| std::cmp::Reverse(used_at(path)));
    for old in all.iter().skip(KEPT) {
        let lock = folder::open_lock(&lock_file(old))?;
        if lock.try_lock().is_ok() {
            folder::remove(old)?;
            remove_file(&lock_file(old))?;
        }
    }
    Ok(())
}

/// Another process may have been quicker.
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
    use super::*;

    #[test]
    fn the_oldest_templates_go_and_those_in_use_stay() {
        let folder = tempfile::tempdir().unwrap();
        let place = |number: usize| folder.path().join(format!("mysql@5.6.24-{number}"));
        for number in 0..KEPT + 3 {
            let data = folder.path().join("data");
            fs::create_dir_all(data.join("mysql")).unwrap();
            keep(&data, &place(number)).unwrap();
            let age = std::time::Duration::from_secs(3600 - number as u64);
            fs::File::open(place(number)).unwrap().set_modified(SystemTime::now() - age).unwrap();
            fs::remove_dir_all(&data).unwrap();
        }
        let in_use = folder::lock(&lock_file(&place(0))).unwrap();
        forget_old(folder.path()).unwrap();
        let stays: Vec<usize> =
            (0..KEPT + 3).filter(|number| place(*number).join("mysql").is_dir()).collect();
        assert_eq!(stays, [vec![0], (3..KEPT + 3).collect()].concat());
        drop(in_use);
        forget_old(folder.path()).unwrap();
        assert!(!place(0).exists() && !lock_file(&place(0)).exists());
    }
}
