//! Programs that come with a server and work on it while it runs.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::Server;
use crate::machine::path_error::{At as _, PathError};
use crate::start::server::begin::run;
use crate::start::server::error::StartError;

impl Server {
    /// The folders of the installation that contain programs: the server's folder, and the `bin` folder beside it.
    pub(crate) fn program_folders(&self) -> Vec<PathBuf> {
        self.launch.installation.program_folders()
    }

    /// The server's folder of temporary files, which its account may write to.
    pub(crate) fn temporary_folder(&self) -> PathBuf {
        self.launch.home.temporary()
    }

    /// A path in the server's own folder, for data that is removed with the server.
    pub(crate) fn place_for(&self, name: &str) -> PathBuf {
        self.launch.home.folder().join(name)
    }

    /// The folder of the server's sockets, with a short path.
    pub(crate) fn folder_of_sockets(&self) -> PathBuf {
        self.launch.home.sockets().to_owned()
    }

    /// Adapts the data to this server again, so that the data has this server's password. The server must be down.
    pub(crate) fn adopt_data(&self) -> Result<(), StartError> {
        self.launch.procedure.adopt(&self.launch.site(self.access.port))
    }

    /// Writes a file that only the server's account and this user can read. It is removed with the server.
    pub(crate) fn write_for_tool(&self, name: &str, text: &str) -> Result<PathBuf, PathError> {
        self.launch.home.write_for_server(name, text)
    }

    /// Runs a program of the installation to its end, as the server's account. Its output goes to the server's log.
    ///
    /// # Errors
    /// The program fails. The error has the last lines of the log.
    pub(crate) fn run_tool(
        &self,
        program: &Path,
        arguments: impl FnOnce(&mut Command),
    ) -> Result<(), StartError> {
        let site = self.launch.site(self.access.port);
        let mut command = site.program(program);
        arguments(&mut command);
        run(&site, command, None)
    }

    /// A new empty folder for links to programs.
    pub(crate) fn folder_for_tools(&self) -> Result<PathBuf, PathError> {
        let folder = self.temporary_folder().join("tools");
        crate::machine::folder::remove(&folder)?;
        std::fs::create_dir(&folder).at("create", &folder)?;
        Ok(folder)
    }
}
