//! The files that a process has mapped, and their addresses, from `/proc/pid/maps`.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Files whose names begin with one of these belong to the C library, or to another library that engines only call.
const OF_SYSTEM: [&str; 15] = [
    "libc.so",
    "libc-",
    "libpthread",
    "ld-linux",
    "ld-2",
    "libaio",
    "liburing",
    "libstdc++",
    "libgcc_s",
    "libm.so",
    "libm-",
    "librt",
    "libjemalloc",
    "libtcmalloc",
    "[vdso]",
];

/// Whether a file is a library of the operating system rather than part of an engine. `module` is its name without
/// folders. Code that is in no file also counts as part of the system.
pub fn is_of_system(module: &str) -> bool {
    module.is_empty() || OF_SYSTEM.iter().any(|prefix| module.starts_with(prefix))
}

/// The files whose code a process has mapped. Processes that were forked from one parent usually have mapped the
/// same files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct AddressSpace {
    /// The lines of these files in `/proc/pid/maps`.
    pub(super) maps: String,
}

impl AddressSpace {
    /// Reads the mappings of a process. `None` if the process has ended or may not be read.
    pub(super) fn of(pid: u32) -> Option<Self> {
        fs::read_to_string(format!("/proc/{pid}/maps")).ok().map(|maps| Self::parse(&maps))
    }

    fn parse(maps: &str) -> Self {
        let lines = || maps.lines().filter_map(|line| Some((line, Mapping::parse(line)?)));
        let with_code: BTreeSet<&str> = lines().filter(|(_, it)| it.is_code).map(|(_, it)| it.path).collect();
        let kept = lines().filter(|(_, it)| with_code.contains(it.path));
        Self { maps: kept.flat_map(|(line, _)| [line, "\n"]).collect() }
    }

    /// The name of the file that contains an address, and the offset of the address in that file.
    pub(super) fn place(&self, address: u64) -> Option<(String, u64)> {
        let mapping = self
            .maps
            .lines()
            .filter_map(Mapping::parse)
            .find(|mapping| (mapping.start..mapping.end).contains(&address))?;
        let path = mapping.path.trim_end_matches(" (deleted)");
        let name = Path::new(path).file_name().map_or(path.into(), |name| name.to_string_lossy());
        Some((name.into_owned(), address - mapping.start + mapping.offset))
    }
}

struct Mapping<'a> {
    start: u64,
    end: u64,
    is_code: bool,
    offset: u64,
    path: &'a str,
}

impl<'a> Mapping<'a> {
    /// Parses a line such as `7f23-7f24 r-xp 00026000 fe:00 123  /usr/lib/libc.so.6`. `None` if the line maps no
    /// file.
    fn parse(line: &'a str) -> Option<Self> {
        let mut fields = line.splitn(6, ' ');
        let (start, end) = fields.next()?.split_once('-')?;
        let (rights, offset) = (fields.next()?, fields.next()?);
        let path = fields.nth(2)?.trim_start();
        let hex = |text: &str| u64::from_str_radix(text, 16).ok();
        let is_file = path.starts_with('/') || path == "[vdso]";
        Some(Self {
            start: hex(start)?,
            end: hex(end)?,
            is_code: rights.contains('x'),
            offset: hex(offset)?,
            path: Some(path).filter(|_| is_file)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAPS: &str = "\
55ab14600000-55ab14700000 r--p 00000000 fe:00 17  /e/sbin/mariadbd
55ab14700000-55ab15000000 r-xp 00100000 fe:00 17  /e/sbin/mariadbd
55ab16000000-55ab17000000 rw-p 00000000 00:00 0   [heap]
7f0000000000-7f0000010000 rw-s 00000000 00:01 9   /dev/zero (deleted)
7f0000020000-7f0000030000 rw-p 00000000 00:00 0 
7f0000040000-7f0000050000 r-xp 00002000 fe:00 18  /usr/lib/a b/libc.so.6 (deleted)
7ffd0000f000-7ffd00010000 r-xp 00000000 00:00 0   [vdso]
";

    #[test]
    fn only_files_with_code_are_kept() {
        let space = AddressSpace::parse(MAPS);
        assert_eq!(space.maps.lines().count(), 4, "{}", space.maps);
        assert_eq!(space.place(0x55ab_1470_0010), Some(("mariadbd".to_owned(), 0x10_0010)));
        assert_eq!(space.place(0x7f00_0004_0001), Some(("libc.so.6".to_owned(), 0x2001)));
        assert_eq!(space.place(0x7f00_0002_0001), None);
        assert!(is_of_system("libc.so.6") && is_of_system("[vdso]") && is_of_system(""));
        assert!(!is_of_system("mysqld") && !is_of_system("ha_rocksdb.so") && !is_of_system("libcrypto.so.3"));
    }

    #[test]
    fn this_process_finds_its_own_code() {
        let space = AddressSpace::of(std::process::id()).unwrap();
        let here = this_process_finds_its_own_code as fn() as usize as u64;
        let program = std::env::current_exe().unwrap();
        assert_eq!(space.place(here).unwrap().0, program.file_name().unwrap().to_str().unwrap());
        assert!(AddressSpace::of(u32::MAX).is_none());
    }
}
