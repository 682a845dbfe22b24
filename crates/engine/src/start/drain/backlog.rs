//! The pending writes of one kind of storage.

use dyno_client::{Client, ClientError};

use super::error::DrainError;
use super::report::DrainAmount;

/// The pending writes of one kind of storage.
pub(super) trait Backlog {
    /// Returns how much is still to be written.
    fn look(&mut self) -> Result<Vec<DrainAmount>, DrainError>;

    /// Starts to write the pending data.
    fn begin(&mut self) -> Result<(), DrainError>;

    /// Ends what `begin` started, and restores the settings that `begin` changed.
    fn end(&mut self) -> Result<(), DrainError>;

    /// Settings that `begin` changed, with their temporary values.
    fn set_meanwhile(&self) -> Vec<(String, String)> {
        Vec::new()
    }
}

/// The number in the last column of the first row. `None` if it is not a number.
pub(super) fn number(client: &mut Client, sql: &str) -> Result<Option<f64>, ClientError> {
    let result = client.query(sql)?;
    let field = result.rows.first().and_then(|row| row.last()).and_then(Option::as_deref);
    Ok(field.and_then(|text| text.parse().ok()))
}
