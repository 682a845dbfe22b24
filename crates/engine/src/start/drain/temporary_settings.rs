//! Server variables that are changed temporarily.

use dyno_client::{Client, ClientError};

use super::error::DrainError;

/// Changed variables with their earlier values, in the order of the changes.
#[derive(Debug, Default)]
pub(super) struct TemporarySettings {
    changed: Vec<Change>,
}

#[derive(Debug)]
struct Change {
    name: &'static str,
    before: String,
    meanwhile: String,
}

impl TemporarySettings {
    /// Sets a variable if the server has it and `is_to_change` accepts its value.
    pub(super) fn set(
        &mut self,
        client: &mut Client,
        name: &'static str,
        value: &str,
        is_to_change: impl FnOnce(f64) -> bool,
    ) -> Result<(), ClientError> {
        let known = client.query(&format!("SHOW GLOBAL VARIABLES LIKE '{name}'"))?;
        let before = known.rows.into_iter().next().and_then(|row| row.into_iter().nth(1)).flatten();
        let Some(before) = before.filter(|before| before.parse().is_ok_and(is_to_change)) else {
            return Ok(());
        };
        client.query(&format!("SET GLOBAL {name} = {value}"))?;
        self.changed.push(Change { name, before, meanwhile: value.to_owned() });
        Ok(())
    }

    pub(super) fn meanwhile(&self) -> Vec<(String, String)> {
        self.changed.iter().map(|change| (change.name.to_owned(), change.meanwhile.clone())).collect()
    }

    /// Restores all values, in the reverse order of the changes, because some variables are bounds of others.
    pub(super) fn put_back(&mut self, client: &mut Client) -> Result<(), DrainError> {
        let mut outcome = Ok(());
        while let Some(Change { name, before, .. }) = self.changed.pop() {
            if let Err(source) = client.query(&format!("SET GLOBAL {name} = {before}")) {
                outcome = outcome.and(Err(DrainError::NotPutBack { setting: name, value: before, source }));
            }
        }
        outcome
    }
}
