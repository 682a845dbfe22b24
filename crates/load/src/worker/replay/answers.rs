//! Handles the server's answers to a session, and decides what the session does next.

use std::ops::Range;

use dyno_script::{Reply, Request, SqlFailure};
use dyno_traffic::{Form, NotSent};

use super::order::Following;
use super::session::{Session, Stage};
use super::traffic::Traffic;
use super::{ReplayError, ReplayLoop};
use crate::measure::digests::Returned;
use crate::worker::link::LinkProgress;

impl ReplayLoop<'_> {
    /// Handles an answer, and continues the session.
    pub(super) fn answered(
        &mut self,
        slot: usize,
        reply: Reply,
    ) -> Result<Option<LinkProgress>, ReplayError> {
        let Some(session) = &mut self.slots[slot] else { return Ok(None) };
        match (session.stage, reply) {
            (Stage::Opening, Reply::Done) => {
                self.figures.sessions += 1;
                match self.choose(slot, |session| session.times.database_id) {
                    Some(step) => Ok(Some(step)),
                    None => self.opened(slot),
                }
            }
            (Stage::Opening, Reply::Failed(failure)) => self.refused(slot, failure),
            (Stage::Choosing, Reply::Result { .. }) if session.statement.is_none() => self.opened(slot),
            (Stage::Choosing, Reply::Result { .. }) => Ok(self.send_now(slot)),
            (Stage::Choosing, Reply::Failed(failure)) if session.statement.is_none() => {
                self.refused(slot, failure)
            }
            (Stage::Preparing, Reply::Prepared(id)) => {
                session.prepared(id);
                Ok(session.send(&self.shared.job.target, &mut *self.io))
            }
            (Stage::Executing, Reply::Result { .. }) => {
                if session.take_result(self.reads_answers) {
                    return Ok(Some(session.link.next_result(&self.shared.job.target, &mut *self.io)));
                }
                self.executed(slot);
                self.next_statement(slot)
            }
            (Stage::Choosing | Stage::Preparing | Stage::Executing, Reply::Failed(failure)) => {
                let is_open = session.link.is_open();
                if session.stage == Stage::Choosing {
                    session.database_id = None;
                }
                self.failed(slot, &failure);
                if is_open {
                    return self.next_statement(slot);
                }
                self.lose(slot);
                Ok(None)
            }
            // If a connection breaks while no statement is in flight, the next statement will fail.
            _ => Ok(None),
        }
    }

    /// Begins the next statement of a session. The statement begins now, or when it is due.
    pub(super) fn next_statement(&mut self, slot: usize) -> Result<Option<LinkProgress>, ReplayError> {
        let Some(session) = &mut self.slots[slot] else { return Ok(None) };
        if session.is_busy() {
            session.stage = Stage::Resting;
            self.busy -= 1;
        }
        if self.is_stopped {
            self.close(slot);
            return Ok(None);
        }
        loop {
            if session.queue.is_empty() {
                self.traffic.read(session.times.id, &mut session.after, &mut session.queue)?;
            }
            let Some(statement) = session.queue.pop_front() else { break };
            session.taken += 1;
            if let Form::Not(why) = statement.form {
                self.figures.not_sent(why, 1);
                if let Some(following) = &self.following {
                    following.ended(statement.id);
                }
                continue;
            }
            let due_ns = self.traffic.due_ns(statement.offset_us);
            session.statement = Some(statement);
            session.due_ns = due_ns.unwrap_or(self.clock_ns);
            if session.due_ns > self.clock_ns {
                session.stage = Stage::Waiting;
                let due_ns = session.due_ns;
                self.wake_at(slot, due_ns);
                return Ok(None);
            }
            return Ok(self.begin(slot));
        }
        self.end(slot);
        Ok(None)
    }

    /// Sends the next statement of a session, unless this statement must wait for commits of other sessions.
    pub(super) fn begin(&mut self, slot: usize) -> Option<LinkProgress> {
        let session = self.slots[slot].as_mut()?;
        if let (Some(following), Some(statement)) = (&mut self.following, &session.statement)
            && following.waits(slot, statement)
        {
            session.stage = Stage::Following;
            return None;
        }
        self.send(slot)
    }

    /// Sends the statement of a session. Selects the statement's database first, if necessary.
    pub(super) fn send(&mut self, slot: usize) -> Option<LinkProgress> {
        let session = self.slots[slot].as_mut()?;
        if !session.link.is_open() {
            session.taken -= 1;
            self.lose(slot);
            return None;
        }
        self.busy += 1;
        let of_statement = |session: &Session| session.statement.as_ref()?.database_id;
        self.choose(slot, of_statement).or_else(|| self.send_now(slot))
    }

    fn send_now(&mut self, slot: usize) -> Option<LinkProgress> {
        let session = self.slots[slot].as_mut()?;
        if let Some(sql) = session.text() {
            self.shared.tell_names(&Request::Query { connection: 0, sql });
        }
        // The last reading of the clock is too old, because statements may have been read from the file since.
        self.clock_ns = self.epoch.elapsed().as_nanos() as u64;
        (session.sent_ns, session.returned) = (self.clock_ns, Returned::default());
        if !self.traffic.is_paced() {
            session.due_ns = self.clock_ns;
        }
        session.send(&self.shared.job.target, &mut *self.io)
    }

    /// Starts to select a database. Does nothing if it is selected already, or if sessions do not select databases.
    fn choose(&mut self, slot: usize, wanted: impl Fn(&Session) -> Option<i64>) -> Option<LinkProgress> {
        let session = self.slots[slot].as_mut()?;
        let database_id = wanted(session);
        if database_id == session.database_id {
            return None;
        }
        let sql = self.traffic.chooses(database_id)?;
        (session.database_id, session.stage) = (database_id, Stage::Choosing);
        let target = &self.shared.job.target;
        Some(session.link.start(target, &mut *self.io, |_, client| client.query(&sql)))
    }

    /// Called when a session is open. Its statements begin once the replay has begun.
    fn opened(&mut self, slot: usize) -> Result<Option<LinkProgress>, ReplayError> {
        if self.has_begun {
            return self.next_statement(slot);
        }
        if let Some(session) = &mut self.slots[slot] {
            session.stage = Stage::Resting;
            self.busy -= 1;
        }
        Ok(None)
    }

    fn refused(&mut self, slot: usize, failure: SqlFailure) -> Result<Option<LinkProgress>, ReplayError> {
        if !self.has_begun {
            return Err(ReplayError::Refused(failure.message));
        }
        self.figures.sessions_refused += 1;
        self.batch.counts.errors += 1;
        self.batch.ignored(&failure);
        self.drop_rest(slot);
        Ok(None)
    }

    fn executed(&mut self, slot: usize) {
        let Some(session) = &self.slots[slot] else { return };
        let Some(statement) = &session.statement else { return };
        let latency_ns = self.clock_ns.saturating_sub(session.sent_ns);
        let returned = session.returned;
        self.figures.executed(statement, returned, latency_ns);
        let since_due_ns = self.clock_ns.saturating_sub(session.due_ns);
        self.batch.event(connection_of(&self.tids, slot), since_due_ns);
        self.batch.statement(returned.fields, returned.affected_rows, latency_ns);
        self.ended(slot);
    }

    /// Called when the statement of a session has ended. If it was a commit, statements that waited for it may
    /// continue.
    fn ended(&self, slot: usize) {
        let statement = self.slots[slot].as_ref().and_then(|session| session.statement.as_ref());
        if let (Some(following), Some(statement)) = (&self.following, statement) {
            following.ended(statement.id);
        }
    }

    /// Records an error. It counts as an answer, so the statement has ended.
    fn failed(&mut self, slot: usize, failure: &SqlFailure) {
        let Some(session) = &self.slots[slot] else { return };
        let Some(statement) = &session.statement else { return };
        self.figures.failed(statement.digest_id, failure);
        let since_due_ns = self.clock_ns.saturating_sub(session.due_ns);
        self.batch.event(connection_of(&self.tids, slot), since_due_ns);
        self.batch.counts.errors += 1;
        self.batch.ignored(failure);
        self.ended(slot);
    }

    /// Ends a session that has no more statements, at the time at which it ended in the log.
    fn end(&mut self, slot: usize) {
        let Some(session) = &mut self.slots[slot] else { return };
        let until_ns =
            if session.times.is_end_logged { self.traffic.due_ns(session.times.until_us) } else { None };
        match until_ns.filter(|until_ns| *until_ns > self.clock_ns) {
            Some(until_ns) if session.link.is_open() => {
                session.stage = Stage::Closing;
                self.wake_at(slot, until_ns);
            }
            _ => self.close(slot),
        }
    }

    /// Called when the server has closed a session before its end.
    fn lose(&mut self, slot: usize) {
        self.figures.sessions_lost += 1;
        self.drop_rest(slot);
    }

    /// Closes a session, and counts the statements that it did not send.
    fn drop_rest(&mut self, slot: usize) {
        if let Some(session) = &mut self.slots[slot] {
            let rest = session.times.statements.saturating_sub(session.taken);
            self.figures.not_sent(NotSent::Disconnected, rest);
            if let Some(following) = &self.following {
                end_all(session, &mut self.traffic, following);
            }
        }
        self.close(slot);
    }
}

/// Marks the remaining statements of a session as ended. They will not be sent, so no other statement may wait for
/// them. If the file is damaged, this function does not report it: the error is reported where statements are read for
/// sending.
fn end_all(session: &mut Session, traffic: &mut Traffic, following: &Following<'_>) {
    if let Some(statement) = &session.statement {
        following.ended(statement.id);
    }
    loop {
        while let Some(statement) = session.queue.pop_front() {
            following.ended(statement.id);
        }
        let read = traffic.read(session.times.id, &mut session.after, &mut session.queue);
        if read.is_err() || session.queue.is_empty() {
            return;
        }
    }
}

/// The number of the connection under which a session's work is recorded. In a replay with a pace, several sessions may
/// have the same number, because there may be more sessions than the job has connections.
fn connection_of(tids: &Range<u32>, slot: usize) -> u32 {
    tids.start + (slot % tids.len().max(1)) as u32
}
