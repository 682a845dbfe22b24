//! Container images made of files of this machine, in a separate podman store for each test.

use std::env;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use dyno_engine::Installation;
use tempfile::TempDir;

/// A store of images and containers. Dropping it removes everything.
pub(crate) struct Images {
    folder: TempDir,
}

impl Images {
    /// Creates an empty store, or returns why this machine cannot have one.
    pub(crate) fn new() -> Result<Self, String> {
        let images = Self { folder: TempDir::new().map_err(|error| error.to_string())? };
        // The runtime crun refuses the hybrid cgroups of some kernels, so runc is used if it is installed.
        let runtime = if is_on_path("runc") { "--runtime runc" } else { "" };
        let script = format!(
            "#!/bin/sh\nexec podman --root {0}/store --runroot {0}/run --tmpdir {0}/tmp --cgroup-manager cgroupfs \
             {runtime} \"$@\"\n",
            images.folder.path().display()
        );
        fs::write(images.tool(), script).unwrap();
        fs::set_permissions(images.tool(), fs::Permissions::from_mode(0o755)).unwrap();
        images.podman(&["info"])?;
        Ok(images)
    }

    /// The path of a podman that uses this store.
    pub(crate) fn tool(&self) -> PathBuf {
        self.path("podman")
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs podman, and returns its output or the last line of its errors.
    pub(crate) fn podman(&self, arguments: &[&str]) -> Result<String, String> {
        let output = Command::new(self.tool()).args(arguments).output().map_err(|error| error.to_string())?;
        if output.status.success() {
            return Ok(String::from_utf8(output.stdout).unwrap().trim().to_owned());
        }
        let complaints = String::from_utf8_lossy(&output.stderr).into_owned();
        Err(complaints.lines().last().unwrap_or("podman failed").to_owned())
    }

    /// The ids of the existing containers, whether they run or not.
    pub(crate) fn containers(&self) -> String {
        self.podman(&["ps", "--all", "--quiet"]).unwrap()
    }

    /// Makes a name refer to another image with the same files.
    pub(crate) fn move_tag(&self, name: &str) {
        let container = self.podman(&["create", name, "/bin/sh"]).unwrap();
        self.podman(&["commit", "--quiet", "--change", "ENV MOVED=1", &container, name]).unwrap();
        self.podman(&["rm", &container]).unwrap();
    }

    /// Makes an image from a folder.
    pub(crate) fn import(&self, folder: &Path, name: &str, options: &[&str]) -> Result<(), String> {
        let archive = self.path("image.tar");
        succeed(Command::new("tar").arg("-C").arg(folder).arg("-cf").arg(&archive).arg("."));
        let archive = archive.display().to_string();
        self.podman(&[&["import", "--quiet"], options, &[archive.as_str(), name]].concat()).map(drop)
    }

    /// A folder with a shell and `cat`, from which an image can be made.
    pub(crate) fn shell(&self, name: &str) -> PathBuf {
        let root = self.path(name);
        fs::create_dir_all(root.join("etc")).unwrap();
        fs::write(root.join("etc/passwd"), "root:x:0:0::/:\nnobody:x:65534:65534::/:\n").unwrap();
        for program in ["sh", "cat"] {
            install(&root, &Path::new("/bin").join(program), "bin", None);
        }
        root
    }

    /// The folder of [`Self::shell`], with the server of a fetched MariaDB in addition.
    pub(crate) fn mariadb(&self, name: &str, engine: &Installation) -> PathBuf {
        let root = self.shell(name);
        let libraries = engine.root.join("usr/lib/x86_64-linux-gnu");
        install(&root, &engine.root.join("usr/sbin/mariadbd"), "usr/sbin", Some(&libraries));
        for folder in ["usr/share/mysql", "usr/lib/mysql/plugin"] {
            fs::create_dir_all(root.join(folder)).unwrap();
            succeed(
                Command::new("cp").arg("-a").arg(engine.root.join(folder).join(".")).arg(root.join(folder)),
            );
        }
        root
    }
}

impl Drop for Images {
    fn drop(&mut self) {
        // A test that failed may have left containers.
        let _ = self.podman(&["rm", "--all", "--force"]);
        // podman mounts its store over itself and does not unmount it.
        let _ = Command::new("umount").arg("--lazy").arg(self.path("store/overlay")).output();
        // podman also leaves the cgroups above those of its containers. They cannot be removed while any
        // container exists.
        for hierarchy in fs::read_dir("/sys/fs/cgroup").into_iter().flatten().flatten() {
            for group in ["libpod_parent/conmon", "libpod_parent"] {
                let _ = fs::remove_dir(hierarchy.path().join(group));
            }
        }
    }
}

pub(crate) fn is_on_path(name: &str) -> bool {
    env::split_paths(&env::var_os("PATH").unwrap_or_default()).any(|folder| folder.join(name).is_file())
}

/// Copies a program and its libraries into a folder below a root.
fn install(root: &Path, program: &Path, folder: &str, libraries: Option<&Path>) {
    fs::create_dir_all(root.join(folder)).unwrap();
    fs::copy(program, root.join(folder).join(program.file_name().unwrap())).unwrap();
    let mut ldd = Command::new("ldd");
    ldd.arg(program).envs(libraries.map(|libraries| ("LD_LIBRARY_PATH", libraries)));
    let output = ldd.output().unwrap();
    assert!(output.status.success(), "ldd {}", program.display());
    // A line is `libz.so.1 => /lib/x86_64-linux-gnu/libz.so.1 (0x…)`, or only the path of the loader.
    for line in String::from_utf8(output.stdout).unwrap().lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            [name, "=>", path, _] => {
                put(root, Path::new(path), &Path::new("lib/x86_64-linux-gnu").join(name));
            }
            [path, _] if path.starts_with('/') => put(root, Path::new(path), Path::new(&path[1..])),
            _ => {}
        }
    }
    let usual = root.join("usr/lib/x86_64-linux-gnu");
    if !usual.exists() {
        fs::create_dir_all(root.join("usr/lib")).unwrap();
        symlink("../../lib/x86_64-linux-gnu", usual).unwrap();
    }
}

fn put(root: &Path, file: &Path, inside: &Path) {
    let place = root.join(inside);
    fs::create_dir_all(place.parent().unwrap()).unwrap();
    fs::copy(file, place).unwrap();
}

fn succeed(command: &mut Command) {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}
