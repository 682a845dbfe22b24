//! Tokens: numbers that are written on a primary and read on its replicas.

use std::time::{SystemTime, UNIX_EPOCH};

use dyno_client::{Client, ClientError};

use crate::catalogue::entry::Family;

/// The schema (MySQL's database) of the table that contains the token.
const SCHEMA: &str = "dyno_probe";
/// The table that contains the token. It has one row.
const TABLE: &str = "dyno_probe.token";

/// Writes tokens on a primary.
pub struct TokenWriter {
    client: Client,
    latest: u64,
}

/// Reads tokens on a replica.
pub struct TokenReader {
    client: Client,
}

impl TokenWriter {
    /// Makes the table of tokens if it is missing.
    ///
    /// # Errors
    /// The server refuses a statement.
    pub fn new(mut client: Client, family: Family) -> Result<Self, ClientError> {
        let kind = if family == Family::Postgres { "SCHEMA" } else { "DATABASE" };
        client.query(&format!("CREATE {kind} IF NOT EXISTS {SCHEMA}"))?;
        client.query(&format!(
            "CREATE TABLE IF NOT EXISTS {TABLE} (id INT NOT NULL PRIMARY KEY, n BIGINT NOT NULL)"
        ))?;
        let rows = client.query(&format!("SELECT n FROM {TABLE}"))?.rows;
        if rows.is_empty() {
            client.query(&format!("INSERT INTO {TABLE} VALUES (1, 0)"))?;
        }
        Ok(Self { client, latest: 0 })
    }

    /// Commits a new token. It is larger than all earlier tokens, including those of earlier writers.
    ///
    /// # Errors
    /// The server refuses the statement, or does not answer in time. The token may have been written despite the error.
    pub fn write(&mut self) -> Result<u64, ClientError> {
        let now_us = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_micros() as u64);
        self.latest = now_us.max(self.latest + 1);
        self.client.query(&format!("UPDATE {TABLE} SET n = {} WHERE id = 1", self.latest))?;
        Ok(self.latest)
    }
}

impl TokenReader {
    pub fn new(client: Client) -> Self {
        Self { client }
    }

    /// Returns the latest token that the replica has. Returns 0 if the replica has no token, or no table yet.
    ///
    /// # Errors
    /// The server does not answer.
    pub fn read(&mut self) -> Result<u64, ClientError> {
        match self.client.query(&format!("SELECT n FROM {TABLE} WHERE id = 1")) {
            Ok(found) => {
                let token = found.rows.into_iter().flatten().flatten().next();
                Ok(token.and_then(|token| token.parse().ok()).unwrap_or(0))
            }
            // The replica does not have the table yet.
            Err(ClientError::Server(_)) => Ok(0),
            Err(error) => Err(error),
        }
    }
}
