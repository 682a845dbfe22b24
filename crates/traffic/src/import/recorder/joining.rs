//! When sessions begin and end.

use super::Recorder;
use crate::file::NewSession;
use crate::import::sessions::Session;
use crate::log::{Statement, Trouble};

impl Recorder<'_> {
    /// Makes sure that there is a session for a statement.
    pub(super) fn join(
        &mut self,
        line: u64,
        statement: &Statement<'_>,
        database_id: Option<i64>,
    ) -> rusqlite::Result<()> {
        let &Statement { session: name, at_us, user, .. } = statement;
        if let Some(session) = self.sessions.get_mut(name) {
            let hash = user.map(|user| self.users.hash(user));
            if hash.is_none() || session.user.is_none() || hash == session.user {
                session.user = session.user.or(hash);
                return Ok(());
            }
            self.beside.trouble(Trouble::OtherUser, line);
            self.end(name, None)?;
        }
        self.begin(name, at_us, user, database_id, false)
    }

    /// Begins a session.
    pub(super) fn begin(
        &mut self,
        name: &[u8],
        at_us: i64,
        user: Option<&[u8]>,
        database_id: Option<i64>,
        is_begin_logged: bool,
    ) -> rusqlite::Result<()> {
        let began_us = at_us.saturating_sub(*self.began_at_us.get_or_insert(at_us));
        let id = self.writer.add_session(&NewSession {
            server_id: &String::from_utf8_lossy(name),
            user: user.map(|user| self.users.name(user)).as_deref(),
            database_id,
            began_us,
            is_begin_logged,
        })?;
        self.imported.sessions += 1;
        let hash = user.map(|user| self.users.hash(user));
        for forgotten in self.sessions.insert(name, Session::new(id, hash, database_id, began_us)) {
            self.writer.end_session(forgotten.id, None, forgotten.statements)?;
        }
        Ok(())
    }

    /// Ends a session, if there is one.
    pub(super) fn end(&mut self, name: &[u8], at_us: Option<i64>) -> rusqlite::Result<()> {
        let Some(session) = self.sessions.remove(name) else { return Ok(()) };
        let ended_us =
            at_us.zip(self.began_at_us).map(|(at_us, began_at_us)| at_us.saturating_sub(began_at_us));
        self.writer.end_session(session.id, ended_us, session.statements)
    }

    /// Ends all sessions, at an unknown time.
    pub(super) fn end_all(&mut self) -> rusqlite::Result<()> {
        let sessions = self.sessions.take_all();
        sessions.iter().try_for_each(|session| self.writer.end_session(session.id, None, session.statements))
    }

    /// Records that a server opened its log here.
    pub(super) fn server(&mut self, line: u64, description: &[u8]) -> rusqlite::Result<()> {
        let is_other = !self.server.is_empty() && self.server != description;
        description.clone_into(&mut self.server);
        // At the begin of a file, a server has only gone on to a new one.
        if is_other || self.source_statements > 0 {
            self.beside.trouble(if is_other { Trouble::OtherServer } else { Trouble::Restarted }, line);
            return self.end_all();
        }
        Ok(())
    }
}
