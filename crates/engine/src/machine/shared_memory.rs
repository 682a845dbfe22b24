//! Shared memory that PostgreSQL leaves if it is killed: its dynamic segments, which are files in `/dev/shm`
//! (`dsm_impl.c`), and its page of System V shared memory.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::machine::folder;
use crate::machine::process::workers;
use crate::machine::sysv::Page;

/// Beginning of the path of a segment. A number follows it.
const PREFIX: &str = "/dev/shm/PostgreSQL.";

/// The shared memory that the processes of a server have mapped.
#[derive(Debug, Default)]
pub(crate) struct SharedMemory(Mutex<Noted>);

#[derive(Debug, Default)]
struct Noted {
    segments: BTreeSet<PathBuf>,
    pages: BTreeSet<Page>,
}

impl SharedMemory {
    /// Records the shared memory that the server's processes have mapped. These are the processes whose working
    /// directory is one of `folders`, or below one of them.
    pub(crate) fn note(&self, folders: &[&Path]) {
        let mut noted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for worker in workers(folders) {
            // If the process has ended meanwhile, the text is empty.
            let maps =
                fs::read_to_string(format!("/proc/{}/maps", worker.as_raw_nonzero())).unwrap_or_default();
            noted.segments.extend(mapped(&maps).map(PathBuf::from));
            noted.pages.extend(maps.lines().filter_map(Page::of_mapping));
        }
    }

    /// Removes the shared memory that a dead server has left. A server that ended by itself has left none.
    pub(crate) fn remove(&self) {
        let noted = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        for segment in noted.segments {
            // A server may also have mapped files of other accounts. These files are not removed.
            if folder::is_of_server(&segment) {
                let _ = fs::remove_file(segment);
            }
        }
        noted.pages.into_iter().for_each(Page::remove_unused);
    }
}

/// The segments in `/proc/PID/maps` (proc(5)). Skips removed segments: ` (deleted)` follows their path.
fn mapped(maps: &str) -> impl Iterator<Item = &str> {
    let paths = maps.lines().filter_map(|line| Some(&line[line.find(PREFIX)?..]));
    paths.filter(|path| path[PREFIX.len()..].bytes().all(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_are_found_among_what_is_mapped() {
        let maps = "7f00-7f01 rw-s 00000000 00:1a 5 /dev/shm/PostgreSQL.1192217884\n\
                    7f02-7f03 rw-s 00000000 00:1a 6 /dev/shm/PostgreSQL.7 (deleted)\n\
                    7f04-7f05 rw-s 00000000 00:1a 7 /dev/shm/other\n7f06-7f07 rw-p 00000000 00:00 0 [heap]\n";
        assert_eq!(mapped(maps).collect::<Vec<_>>(), ["/dev/shm/PostgreSQL.1192217884"]);
    }
}
