//! Log entries that add facts to a statement which an earlier entry reported.

use std::hash::BuildHasher as _;

use super::Recorder;
use crate::import::sessions::Open;
use crate::log::Statement;

impl Recorder<'_> {
    /// Sets the latency of a session's last statement.
    pub(super) fn duration(&mut self, name: &[u8], latency_us: u64) -> rusqlite::Result<()> {
        let session = self.sessions.get_mut(name);
        let is_it = |open: &Open| !open.has_latency;
        let found = session.and_then(|session| session.open.filter(is_it).map(|open| (session, open)));
        let Some((session, open)) = found else {
            // This duration belongs to a phase in which no statement is executed, such as parsing.
            self.beside.skip("unrelated");
            return Ok(());
        };
        session.open = Some(Open { has_latency: true, ..open });
        session.until_us = session.last_us.saturating_add_unsigned(latency_us);
        self.writer.set_latency(&mut session.chunk, latency_us)?;
        self.shapes.counts(open.digest_id).add_latency(latency_us);
        let second = self.seconds.at(open.at_us);
        second.latency_us = second.latency_us.saturating_add(latency_us);
        Ok(())
    }

    /// Records a statement that failed. If the session's last statement is this statement, sets only its error.
    pub(super) fn failed(&mut self, line: u64, statement: &Statement<'_>) -> rusqlite::Result<()> {
        let text = self.texts.hash_one(statement.text);
        let is_it = |open: &Open| open.text == text && !open.has_error && !open.has_latency;
        let session = self.sessions.get_mut(statement.session);
        let found = session.and_then(|session| session.open.filter(is_it).map(|open| (session, open)));
        let Some((session, open)) = found else { return self.statement(line, statement) };
        // No latency is expected, because PostgreSQL logs no duration for a statement that failed.
        session.open = Some(Open { has_error: true, has_latency: true, ..open });
        let error = String::from_utf8_lossy(statement.error.unwrap_or_default());
        self.writer.set_error(&mut session.chunk, &error)?;
        self.shapes.counts(open.digest_id).errors += 1;
        self.seconds.at(open.at_us).errors += 1;
        Ok(())
    }
}
