//! What a server's program says of itself.

use std::io::Read as _;
use std::process::Stdio;

use super::{Server, StartError};
use crate::path_error::At as _;
use crate::spawn::{Spawn, spawn};

impl Server {
    /// What the server's program prints when it is asked for the values that its variables have where nobody sets
    /// them; none for families that say so over a connection.
    ///
    /// # Errors
    /// When the program cannot be run.
    pub fn help(&self) -> Result<Option<String>, StartError> {
        let Some(mut command) = self.launch.procedure.help(&self.launch.site(0)) else { return Ok(None) };
        let program = command.get_program().to_string_lossy().into_owned();
        // It also says on standard error that it, being no server, goes without this and that.
        command.stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child =
            spawn(Spawn::tied(command)).map_err(|source| StartError::Program { program, source })?;
        let mut text = Vec::new();
        if let Some(mut output) = child.stdout.take() {
            output.read_to_end(&mut text).at("read from", self.launch.home.folder())?;
        }
        child.wait().at("wait for", self.launch.home.folder())?;
        Ok(Some(String::from_utf8_lossy(&text).into_owned()))
    }
}
