//! The programs of elfutils that take stacks and find names.

use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The programs `eu-stack` and `eu-addr2line`, of the same version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StackTool {
    programs: PathBuf,
    /// Folder of the programs' libraries; `None` for the system's libraries.
    libraries: Option<PathBuf>,
}

impl StackTool {
    /// The programs in a folder, which use libraries from the folder `libraries`. `None` if the programs do not
    /// exist.
    pub fn in_folder(programs: &Path, libraries: Option<&Path>) -> Option<Self> {
        let has = |name: &str| programs.join(name).is_file();
        (has("eu-stack") && has("eu-addr2line"))
            .then(|| Self { programs: programs.to_owned(), libraries: libraries.map(Path::to_owned) })
    }

    /// The programs in the search path; `None` if they are not installed.
    pub fn on_path() -> Option<Self> {
        let search_path = env::var_os("PATH").unwrap_or_default();
        env::split_paths(&search_path).find_map(|folder| Self::in_folder(&folder, None))
    }

    /// Name and version, such as `eu-stack (elfutils) 0.188`.
    pub fn version(&self) -> String {
        let output = self.eu_stack().arg("--version").output();
        let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
        text.unwrap_or_default().lines().next().unwrap_or("eu-stack").to_owned()
    }

    pub(super) fn eu_stack(&self) -> Command {
        self.command("eu-stack")
    }

    pub(super) fn eu_addr2line(&self) -> Command {
        self.command("eu-addr2line")
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(self.programs.join(program));
        // `LC_ALL` makes the messages English. Without `DEBUGINFOD_URLS`, no debug symbols are requested over a
        // network.
        command.env("LC_ALL", "C.UTF-8").env_remove("DEBUGINFOD_URLS").stdin(Stdio::null());
        if let Some(libraries) = &self.libraries {
            command.env("LD_LIBRARY_PATH", OsStr::new(libraries));
        }
        command
    }
}
