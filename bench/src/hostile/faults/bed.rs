//! The folder of the runs, with their caches, plans and results. It has file systems that the benchmark can fill.

use std::ffi::CString;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::symlink;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::Context as _;
use dyno_engine::Cache;
use tempfile::TempDir;

use super::plans::PlanKind;
use super::{processes, traces};

/// Sizes of the file systems in memory, as mount options.
const DATA_DISK: &str = "size=2g";
const RESULTS_DISK: &str = "size=64m";
/// Name of the file that fills a disk.
const BALLAST: &str = "ballast";

/// A folder for runs. When it is dropped, everything below it is unmounted and removed.
pub(super) struct Bed {
    folder: TempDir,
    dyno: PathBuf,
    pub(super) is_root: bool,
}

impl Bed {
    pub(super) fn new(dyno: &Path) -> anyhow::Result<Self> {
        // SAFETY: geteuid takes nothing and cannot fail.
        let is_root = unsafe { libc::geteuid() } == 0;
        let folder = tempfile::Builder::new().prefix("dyno-faults-").tempdir()?;
        let bed = Self {
            folder,
            dyno: dyno.canonicalize().with_context(|| format!("{}: not there", dyno.display()))?,
            is_root,
        };
        for name in ["memory", "disk", "results", "sockets", "tmp"] {
            fs::create_dir(bed.path(name))?;
        }
        if is_root {
            // Servers that run under their own account must be able to traverse the folder.
            let open = std::os::unix::fs::PermissionsExt::from_mode(0o711);
            fs::set_permissions(bed.folder.path(), open)?;
            mount(&bed.path("memory"), DATA_DISK)?;
            mount(&bed.path("results"), RESULTS_DISK)?;
        }
        for name in ["memory/cache", "disk/cache"] {
            fs::create_dir(bed.path(name))?;
            symlink(Cache::default_location().root().join("engines"), bed.path(name).join("engines"))?;
        }
        for plan in PlanKind::ALL {
            fs::write(bed.path(&plan_file(plan)), plan.text())?;
        }
        Ok(bed)
    }

    pub(super) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(super) fn results(&self) -> PathBuf {
        self.path("results/dyno.db")
    }

    /// Returns the cache with the data of a plan's runs. The plan with volumes has its cache on a disk: a volume
    /// needs a loop device, and a loop device needs a file on a disk.
    pub(super) fn cache(&self, plan: PlanKind) -> PathBuf {
        self.path(if plan == PlanKind::Confined { "disk/cache" } else { "memory/cache" })
    }

    /// Starts `dyno run` in its own process group, as a shell does. Its standard output and standard error go to
    /// the file `said`.
    pub(super) fn start(&self, plan: PlanKind, resume: bool, said: &Path) -> io::Result<Child> {
        let mut command = Command::new(&self.dyno);
        command.arg("run").arg(plan_file(plan)).args(["--no-html", "--results"]).arg(self.results());
        if resume {
            command.arg("--resume");
        }
        command.current_dir(self.folder.path()).stdin(Stdio::null()).process_group(0);
        command.env("DYNO_CACHE", self.cache(plan)).env("TMPDIR", self.path("tmp"));
        command.env("XDG_RUNTIME_DIR", self.path("sockets"));
        let said = File::create(said)?;
        command.stdout(said.try_clone()?).stderr(said).spawn()
    }

    /// Returns the mounted volumes of the systems whose data is on a volume.
    pub(super) fn volumes(&self) -> Vec<PathBuf> {
        let runs = self.cache(PlanKind::Confined).join("runs");
        let items = fs::read_dir(runs).into_iter().flatten().flatten();
        items
            .map(|item| item.path().join("volume"))
            .filter(|volume| volume.join("lost+found").exists())
            .collect()
    }
}

impl Drop for Bed {
    fn drop(&mut self) {
        processes::end_all();
        traces::clear(self.folder.path(), &std::collections::BTreeSet::new());
    }
}

fn plan_file(plan: PlanKind) -> String {
    format!("{}.toml", plan.name())
}

/// Mounts a file system in memory.
fn mount(at: &Path, options: &str) -> anyhow::Result<()> {
    let path = CString::new(at.as_os_str().as_encoded_bytes())?;
    let options = CString::new(options)?;
    // SAFETY: all pointers are C strings that live through the call.
    let status = unsafe {
        libc::mount(c"none".as_ptr(), path.as_ptr(), c"tmpfs".as_ptr(), 0, options.as_ptr().cast())
    };
    if status != 0 {
        return Err(io::Error::last_os_error()).with_context(|| format!("cannot mount {}", at.display()));
    }
    // Only the owner may write into the file system, as in an ordinary folder.
    fs::set_permissions(at, std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
    Ok(())
}

/// Keeps the disk of a folder full until this value is dropped.
pub(super) struct Ballast(PathBuf);

impl Ballast {
    pub(super) fn put(folder: &Path) -> io::Result<Self> {
        let path = folder.join(BALLAST);
        let file = File::create(&path)?;
        let ballast = Self(path);
        // Allocates large pieces first and then smaller ones, until less than 4 KiB are free.
        let mut at = 0;
        let mut piece: i64 = 1 << 30;
        while piece >= 4096 {
            // SAFETY: fallocate takes an open descriptor and numbers.
            match unsafe { libc::fallocate(std::os::fd::AsRawFd::as_raw_fd(&file), 0, at, piece) } {
                0 => at += piece,
                _ => piece /= 2,
            }
        }
        Ok(ballast)
    }
}

impl Drop for Ballast {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// Makes a folder immutable, even for root, until this value is dropped (`FS_IOC_SETFLAGS`).
pub(super) struct NoRight(File);

impl NoRight {
    pub(super) fn on(folder: &Path) -> io::Result<Self> {
        let folder = Self(File::open(folder)?);
        folder.set(true)?;
        Ok(folder)
    }

    fn set(&self, is_immutable: bool) -> io::Result<()> {
        // The values are from linux/fs.h. The libc crate defines them for some targets only.
        const GET: libc::Ioctl = 0x8008_6601_u32 as libc::Ioctl;
        const SET: libc::Ioctl = 0x4008_6602_u32 as libc::Ioctl;
        const IMMUTABLE: libc::c_long = 0x10;
        let descriptor = std::os::fd::AsRawFd::as_raw_fd(&self.0);
        let mut flags: libc::c_long = 0;
        // SAFETY: both calls take a pointer to `flags`, which has the size that they expect and lives through the
        // calls.
        let status = unsafe {
            let got = libc::ioctl(descriptor, GET, &raw mut flags);
            flags = if is_immutable { flags | IMMUTABLE } else { flags & !IMMUTABLE };
            if got == 0 { libc::ioctl(descriptor, SET, &raw const flags) } else { got }
        };
        if status == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }
}

impl Drop for NoRight {
    fn drop(&mut self) {
        let _ = self.set(false);
    }
}
