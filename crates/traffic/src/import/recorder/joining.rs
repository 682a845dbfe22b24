//! The starts and ends of sessions.

use super::Recorder;
use crate::file::NewSession;
use crate::import::sessions::Session;
use crate::log::{Statement, Trouble};

/// Largest memory for statements, in bytes. If they take more, all are written to the file.
const HELD_BYTES_MAX: usize = 32 << 20;

impl Recorder<'_> {
    /// Begins a session for a statement that belongs to no open session.
    pub(super) fn join(
        &mut self,
        line: u64,
        statement: &Statement<'_>,
        database_id: Option<i64>,
    ) -> rusqlite::Result<()> {
        let &Statement { session: name, at_us, user, .. } = statement;
        if self.sessions.get_mut(name).is_some() {
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
        for forgotten in self.sessions.insert(name, Session::new(id, user, database_id, began_us)) {
            self.close(forgotten, None)?;
        }
        Ok(())
    }

    /// Ends a session, if it is open.
    pub(super) fn end(&mut self, name: &[u8], at_us: Option<i64>) -> rusqlite::Result<()> {
        let Some(session) = self.sessions.remove(name) else { return Ok(()) };
        let ended_us =
            at_us.zip(self.began_at_us).map(|(at_us, began_at_us)| at_us.saturating_sub(began_at_us));
        self.close(session, ended_us)
    }

    /// Ends all sessions, at an unknown time.
    pub(super) fn end_all(&mut self) -> rusqlite::Result<()> {
        self.sessions.take_all().into_iter().try_for_each(|session| self.close(session, None))
    }

    /// Writes the rest of a session to the file.
    fn close(&mut self, mut session: Session, ended_us: Option<i64>) -> rusqlite::Result<()> {
        self.held_bytes -= session.chunk.bytes();
        self.writer.add_chunk(session.id, &mut session.chunk, true)?;
        self.writer.end_session(session.id, ended_us, session.until_us, session.statements)
    }

    /// Writes the statements of all sessions to the file, if they take too much memory.
    pub(super) fn relieve(&mut self) -> rusqlite::Result<()> {
        if self.held_bytes > HELD_BYTES_MAX {
            for session in self.sessions.iter_mut() {
                self.writer.add_chunk(session.id, &mut session.chunk, false)?;
                session.chunk.release();
            }
            self.held_bytes = 0;
        }
        Ok(())
    }

    /// Handles an entry which says that a server opened its log here.
    pub(super) fn server(&mut self, line: u64, description: &[u8]) -> rusqlite::Result<()> {
        let is_other = !self.server.is_empty() && self.server != description;
        description.clone_into(&mut self.server);
        // At the start of a file no session has ended, because the server may only have continued its log in a new
        // file.
        if is_other || self.source_statements > 0 {
            self.beside.trouble(if is_other { Trouble::OtherServer } else { Trouble::Restarted }, line);
            return self.end_all();
        }
        Ok(())
    }
}
