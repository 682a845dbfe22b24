//! A session of the traffic, with its connection and its next statement.

use std::collections::{HashMap, VecDeque};

use dyno_script::{Param, StatementId};
use dyno_traffic::{Form, ReplayStatement, SessionTimes};

use crate::io::Io;
use crate::measure::digests::Returned;
use crate::protocol::job::Target;
use crate::worker::link::{Link, LinkProgress};

/// Most statements that a session keeps prepared. With more, all are closed.
const PREPARED_MAX: usize = 256;

/// What a session does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// It connects.
    Opening,
    /// It selects a database: after it connects its first, later that of its next statement.
    Choosing,
    /// It is open and waits for the replay to begin.
    Resting,
    /// It waits until its statement is due.
    Waiting,
    /// Its statement waits for commits of other sessions.
    Following,
    /// Its statement is being prepared.
    Preparing,
    /// Its statement is being executed.
    Executing,
    /// It has no more statements, and waits for the time of its end.
    Closing,
}

pub(super) struct Session {
    pub(super) times: SessionTimes,
    pub(super) link: Link,
    pub(super) stage: Stage,
    /// Statements that were read ahead.
    pub(super) queue: VecDeque<ReplayStatement>,
    /// Id of the last one.
    pub(super) after: i64,
    /// Statements taken out of the queue.
    pub(super) taken: u64,
    /// The statement that waits or is being executed.
    pub(super) statement: Option<ReplayStatement>,
    pub(super) due_ns: u64,
    pub(super) sent_ns: u64,
    /// Its timer, in ns since the load began. Queued timers of other times are obsolete.
    pub(super) alarm_ns: u64,
    /// What the statement has returned so far.
    pub(super) returned: Returned,
    /// The database that it chose.
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

    /// Whether it waits for the server.
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

    /// The text of its statement.
    pub(super) fn text(&self) -> Option<&[u8]> {
        match &self.statement.as_ref()?.form {
            Form::Text(sql) | Form::Prepared { sql, .. } => Some(sql),
            Form::Not(_) => None,
        }
    }

    /// Sends its statement, or prepares it first. `None` if it has no statement to send.
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

    /// Keeps its statement as prepared.
    pub(super) fn prepared(&mut self, id: StatementId) {
        let Some(ReplayStatement { form: Form::Prepared { sql, .. }, .. }) = &self.statement else { return };
        if self.prepared.len() >= PREPARED_MAX {
            for (_, old) in self.prepared.drain() {
                self.link.close_statement(old);
            }
        }
        self.prepared.insert(sql.clone(), id);
    }

    /// Adds a result of its statement, and its rows if answers are wanted. True if another one follows.
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
