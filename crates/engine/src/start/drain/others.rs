//! Drains `MyISAM`, Aria and other engines with cached table blocks.

use dyno_client::Client;

use super::background_statement::BackgroundStatement;
use super::backlog::{Backlog, number};
use super::error::DrainError;
use super::report::DrainAmount;

const FLUSH: &[&str] = &["FLUSH TABLES"];
const BLOCKS: [&str; 2] = ["Key_blocks_not_flushed", "Aria_pagecache_blocks_not_flushed"];

/// The most dirty blocks of an idle server. MariaDB has its own Aria tables, and keeps writing to them.
const BLOCKS_MAX: f64 = 16.0;

/// Pending writes of storage engines that write a table when it is closed.
pub(super) struct Others {
    client: Client,
    /// The connection for the flush. `None` once the flush has begun.
    flusher: Option<Client>,
    flush: Option<BackgroundStatement>,
}

impl Others {
    pub(super) fn new(client: Client, flusher: Client) -> Self {
        Self { client, flusher: Some(flusher), flush: None }
    }
}

impl Backlog for Others {
    fn look(&mut self) -> Result<Vec<DrainAmount>, DrainError> {
        let mut amounts = Vec::new();
        if let Some(flush) = &mut self.flush {
            amounts.push(DrainAmount::down_to(0.0, "flushes under way", flush.left()?));
        }
        for name in BLOCKS {
            let value = number(&mut self.client, &format!("SHOW GLOBAL STATUS LIKE '{name}'"))?;
            amounts.extend(value.map(|value| DrainAmount::down_to(BLOCKS_MAX, name, value)));
        }
        Ok(amounts)
    }

    fn begin(&mut self) -> Result<(), DrainError> {
        self.flush = self.flusher.take().map(|client| BackgroundStatement::start(client, FLUSH));
        Ok(())
    }

    /// Does nothing. The flush waits for statements that use the tables, then ends by itself.
    fn end(&mut self) -> Result<(), DrainError> {
        Ok(())
    }
}
