//! Runs a program of a scheduler and reads what it prints.

use std::process::{Command, Stdio};

use crate::error::ClusterError;

/// Runs a program to its end.
///
/// # Errors
/// The program cannot be started, or fails. The error has the last line that the program printed to standard error.
pub(crate) fn output(program: &'static str, arguments: &[String]) -> Result<String, ClusterError> {
    let output = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .map_err(|source| ClusterError::NoTool { program, source })?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let told = String::from_utf8_lossy(&output.stderr);
    let last = told.lines().rfind(|line| !line.trim().is_empty()).map(str::to_owned);
    Err(ClusterError::Tool { program, reason: last.unwrap_or_else(|| output.status.to_string()) })
}
