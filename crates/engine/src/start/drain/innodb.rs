//! Drains InnoDB: dirty pages, purge, checkpoint.

use dyno_client::Client;

use super::backlog::{Backlog, number};
use super::error::DrainError;
use super::innodb_status::InnodbStatus;
use super::report::DrainAmount;
use super::temporary_settings::TemporarySettings;

/// An idle server has at most this many dirty pages. It still changes a page now and then, for its own statistics.
const DIRTY_PAGES_MAX: f64 = 16.0;
const PURGE_LAG_MAX: f64 = 2.0;
const CHECKPOINT_AGE_MAX_BYTES: f64 = 65536.0;

/// I/O capacity during a drain, in pages per second. With the default of 200, writing a gigabyte takes five minutes.
/// That default spares a server that has other work to do.
const IO_CAPACITY: f64 = 20_000.0;

pub(super) struct Innodb {
    client: Client,
    may_set: bool,
    temporary_settings: TemporarySettings,
}

impl Innodb {
    pub(super) fn new(client: Client, may_set: bool) -> Self {
        Self { client, may_set, temporary_settings: TemporarySettings::default() }
    }
}

impl Backlog for Innodb {
    fn look(&mut self) -> Result<Vec<DrainAmount>, DrainError> {
        const DIRTY: &str = "Innodb_buffer_pool_pages_dirty";
        let dirty = number(&mut self.client, &format!("SHOW GLOBAL STATUS LIKE '{DIRTY}'"))?;
        let status = self.client.query("SHOW ENGINE INNODB STATUS")?;
        let text = status.rows.first().and_then(|row| row.last()).and_then(Option::as_deref);
        let status = InnodbStatus::parse(text.unwrap_or_default());
        let down = |goal, name| move |value| DrainAmount::down_to(goal, name, value);
        let told = |value| DrainAmount::told("History list length", value);
        let amounts = [
            dirty.map(down(DIRTY_PAGES_MAX, DIRTY)),
            status.purge_lag.map(|lag| lag as f64).map(down(PURGE_LAG_MAX, "purge lag (transactions)")),
            status
                .checkpoint_age
                .map(|bytes| bytes as f64)
                .map(down(CHECKPOINT_AGE_MAX_BYTES, "checkpoint age (bytes)")),
            status.history_list_length.map(|length| length as f64).map(told),
        ];
        Ok(amounts.into_iter().flatten().collect())
    }

    /// If settings may be changed, sets the goal of dirty pages to 0. The server's page cleaner then writes as fast as
    /// the I/O capacity allows.
    fn begin(&mut self) -> Result<(), DrainError> {
        if !self.may_set {
            return Ok(());
        }
        let (client, temporary_settings) = (&mut self.client, &mut self.temporary_settings);
        let is_low = |capacity| capacity < IO_CAPACITY;
        // Two settings are bounds of others, so each is set before the setting that it bounds: the maximum of the
        // capacity, and the low-water mark of dirty pages.
        temporary_settings.set(client, "innodb_io_capacity_max", &IO_CAPACITY.to_string(), is_low)?;
        temporary_settings.set(client, "innodb_io_capacity", &IO_CAPACITY.to_string(), is_low)?;
        temporary_settings.set(client, "innodb_max_dirty_pages_pct_lwm", "0", |percent| percent > 0.0)?;
        temporary_settings.set(client, "innodb_max_dirty_pages_pct", "0", |percent| percent > 0.0)?;
        Ok(())
    }

    fn end(&mut self) -> Result<(), DrainError> {
        self.temporary_settings.put_back(&mut self.client)
    }

    fn set_meanwhile(&self) -> Vec<(String, String)> {
        self.temporary_settings.meanwhile()
    }
}
