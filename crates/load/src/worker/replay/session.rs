//! A session of the traffic, with its connection and its next statement.

use std::collections::{HashMap, VecDeque};

use dyno_script::{Param, StatementId};
use dyno_traffic::{Form, ReplayStatement, SessionTimes};

use crate::io::Io;
use crate::measure::digests::Returned;
use crate::protocol::job::Target;
use crate::worker::link::{Link, LinkProgress};

/// Largest number of statements that a session keeps prepared. If there are more, all are closed.
const PREPARED_MAX: usize = 256;

/// What a session does now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// The session connects.
    Opening,
    /// The session selects a database. It does so after it has connected, and later before a statement that uses
    /// another database.
    Choosing,
    /// The session is open, and waits for the replay to begin.
    Resting,
    /// The session waits until its statement is due.
    Waiting,
    /// The session's statement waits for commits of other sessions.
    Following,
    /// The session's statement is being prepared.
    Preparing,
    /// The session's statement is being executed.
    Executing,
    /// The session has no more statements, and waits until the time at which it ended in the log.
    Closing,
}

pub(super) struct Session {
    pub(super) times: SessionTimes,
    pub(super) link: Link,
    pub(super) stage: Stage,
    /// Statements that have been read ahead.
    pub(super) queue: VecDeque<ReplayStatement>,
    /// Id of the statement that was read from the file most recently.
    pub(super) after: i64,
    /// Number of statements that have been taken from the queue.
    pub(super) taken: u64,
    /// The statement that waits or is being executed.
    pub(super) statement: Option<ReplayStatement>,
    pub(super) due_ns: u64,
    pub(super) sent_ns: u64,
    /// When the session's timer is due, in ns since the load began. A queued timer with another time is obsolete.
    pub(super) alarm_ns: u64,
    /// What the statement has returned so far.
    pub(super) returned: Returned,
    /// The database that the session has selected.
    pub(super) database_id: Option<i64>,
    prepared: HashMap<Vec<u8>, StatementId>,
}

impl Session {
    pub(super) fn new(times: SessionTimes, link: Link) -> Self {
        Self {
            times,
            link,
            stage: Stage::Opening,
            queue: VecDeque::new(),
            after: 0,
            taken: 0,
            statement: None,
            due_ns: 0,
            sent_ns: 0,
            alarm_ns: 0,
            returned: Returned::default(),
            database_id: None,
            prepared: HashMap::new(),
        }
    }

    /// Whether the session waits for the server.
    pub(super) fn is_busy(&self) -> bool {
        match self.stage {
            Stage::Opening | Stage::Choosing | Stage::Preparing | Stage::Executing => true,
            Stage::Resting | Stage::Waiting | Stage::Following | Stage::Closing => false,
        }
    }

    /// Whether a statement is in flight.
    pub(super) fn is_in_statement(&self) -> bool {
        matches!(self.stage, Stage::Preparing | Stage::Executing)
    }

    /// The text of the session's statement.
    pub(super) fn text(&self) -> Option<&[u8]> {
        match &self.statement.as_ref()?.form {
            Form::Text(sql) | Form::Prepared { sql, .. } => Some(sql),
            Form::Not(_) => None,
        }
    }

    /// Sends the session's statement, or prepares it first. `None` if the session has no statement to send.
    pub(super) fn send(&mut self, target: &Target, io: &mut dyn Io) -> Option<LinkProgress> {
        let Self { link, stage, statement, prepared, .. } = self;
        match &statement.as_ref()?.form {
            Form::Not(_) => None,
            Form::Text(sql) => {
                *stage = Stage::Executing;
                Some(link.start(target, io, |_, client| client.query(sql)))
            }
            Form::Prepared { sql, params } => {
                if let Some(id) = prepared.get(sql) {
                    *stage = Stage::Executing;
                    let params: Vec<Param<'_>> = params
                        .iter()
                        .map(|value| value.as_deref().map_or(Param::Null, Param::Text))
                        .collect();
                    return Some(link.start(target, io, |statements, client| {
                        statements.execute(client, *id, &params);
                    }));
                }
                *stage = Stage::Preparing;
                Some(link.prepare((sql.as_slice(), &[][..]), target, io))
            }
        }
    }

    /// Records that the session's statement is prepared.
    pub(super) fn prepared(&mut self, id: StatementId) {
        let Some(ReplayStatement { form: Form::Prepared { sql, .. }, .. }) = &self.statement else { return };
        if self.prepared.len() >= PREPARED_MAX {
            for (_, old) in self.prepared.drain() {
                self.link.close_statement(old);
            }
        }
        self.prepared.insert(sql.clone(), id);
    }

    /// Adds a result of the session's statement. Reads its rows if answers are compared. Returns true if another
    /// result follows.
    pub(super) fn take_result(&mut self, reads_answers: bool) -> bool {
        if reads_answers {
            let mut fields = Vec::new();
            while self.link.next_row(&mut fields) {
                self.returned.answer.add_row(&fields);
            }
        }
        let summary = self.link.summary;
        self.returned.rows += summary.rows;
        self.returned.affected_rows += summary.affected_rows;
        self.returned.fields = self.returned.fields.max(summary.fields);
        summary.more
    }
}
