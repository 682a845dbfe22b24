//! Asks a server's program for the default values of its variables.

use std::io::Read as _;
use std::process::Stdio;

use super::Server;
use crate::machine::path_error::At as _;
use crate::machine::spawn::{Spawn, spawn};
use crate::start::server::error::StartError;

impl Server {
    /// Default values of all variables, as the server's program prints them. `None` for families that report defaults
    /// over a connection.
    ///
    /// # Errors
    /// The program cannot be run.
    pub fn help(&self) -> Result<Option<String>, StartError> {
        let site = self.launch.site(0);
        let Some(mut command) = self.launch.procedure.help(&site) else { return Ok(None) };
        let fence = match &site.installation.image {
            None => Some(site.fence()?),
            Some(image) => {
                let mut inside = image.program(command.get_program());
                inside.args(command.get_args()).stdin(Stdio::null());
                command = inside;
                None
            }
        };
        let program = command.get_program().to_string_lossy().into_owned();
        // Standard error is ignored. The program only complains there that data is missing.
        command.stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = spawn(Spawn { fence, ..Spawn::tied(command) })
            .map_err(|source| StartError::Program { program, source })?;
        let mut text = Vec::new();
        if let Some(mut output) = child.stdout.take() {
            output.read_to_end(&mut text).at("read from", self.launch.home.folder())?;
        }
        child.wait().at("wait for", self.launch.home.folder())?;
        Ok(Some(String::from_utf8_lossy(&text).into_owned()))
    }
}
