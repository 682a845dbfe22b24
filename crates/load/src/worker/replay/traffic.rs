//! The traffic of a loop. It determines which session is opened next and when, and reads the statements of each
//! session.

use std::collections::{HashMap, VecDeque};

use dyno_traffic::sql::Dialect;
use dyno_traffic::{NotSent, ReplayStatement, SessionTimes, StatementReader, TrafficError, TrafficFile};

use super::ReplayError;
use crate::protocol::job::{Job, Target};
use crate::protocol::replay::Replay;
use crate::session::servers::Dialer;
use crate::worker::Shared;

/// A session that was open before the log began is opened this long before its first statement.
const OPEN_AHEAD_NS: u64 = 1_000_000_000;

/// The databases of the traffic. Both maps are empty if the traffic has only one database.
#[derive(Default)]
struct Databases {
    /// The databases' names, for MySQL, where a session selects its database with `USE`.
    names: HashMap<i64, String>,
    /// The databases' addresses and accounts, for PostgreSQL, where a connection can use only one database.
    dialers: HashMap<i64, Dialer>,
}

/// The traffic of one loop.
pub(super) struct Traffic {
    reader: StatementReader,
    /// Sessions that have not been opened yet, in the order in which they begin.
    sessions: VecDeque<SessionTimes>,
    databases: Databases,
    /// The time in the log at which the first session began, whichever loop replays it.
    began_us: i64,
    pace: Option<f64>,
}

impl Traffic {
    /// Opens the traffic for a loop. `tids` are the thread ids of the loop's connections.
    pub(super) fn open(
        shared: &Shared,
        replay: &Replay,
        tids: &std::ops::Range<u32>,
    ) -> Result<Self, ReplayError> {
        let job = &shared.job;
        let file = TrafficFile::open(&replay.file)?;
        let sessions = file.session_times()?;
        let began_us = sessions.first().map_or(0, |session| session.began_us);
        let is_own = |number: &usize| tids.contains(&((number % job.connections.max(1) as usize) as u32));
        let own = sessions.into_iter().enumerate().filter(|(number, _)| is_own(number));
        let sessions = own.map(|(_, session)| session).collect();
        let databases = Databases::of(&file, job)?;
        let waived = if replay.sends_server_statements { vec![NotSent::Server] } else { Vec::new() };
        let reader = StatementReader::new(file, waived)?;
        Ok(Self { reader, sessions, databases, began_us, pace: replay.pace })
    }

    pub(super) fn is_paced(&self) -> bool {
        self.pace.is_some()
    }

    /// Whether all sessions have been opened.
    pub(super) fn is_through(&self) -> bool {
        self.sessions.is_empty()
    }

    /// Converts a time of the log to the time at which it is due in the replay, in ns since the load began; `None` if
    /// the replay has no pace.
    pub(super) fn due_ns(&self, offset_us: i64) -> Option<u64> {
        let since_us = offset_us.saturating_sub(self.began_us).max(0);
        self.pace.map(|pace| (since_us as f64 * 1e3 / pace) as u64)
    }

    /// When the next session is opened, in ns since the load began; `None` if there is no pace or no further
    /// session.
    pub(super) fn opens_next_ns(&self) -> Option<u64> {
        let session = self.sessions.front()?;
        let due_ns = self.due_ns(session.began_us)?;
        let ahead_ns = if session.is_begin_logged { 0 } else { OPEN_AHEAD_NS };
        Some(due_ns.saturating_sub(ahead_ns))
    }

    /// Takes the next session if it is due. Without a pace, takes it if there is room for it.
    pub(super) fn take_session(&mut self, now_ns: u64, has_room: bool) -> Option<SessionTimes> {
        let is_due = match self.opens_next_ns() {
            Some(at_ns) => at_ns <= now_ns,
            None => has_room && !self.is_paced(),
        };
        if is_due { self.sessions.pop_front() } else { None }
    }

    /// Takes the next session that must be open when the replay begins. With a pace, these are sessions that were open
    /// before the log began and soon send a statement. Without a pace, any session is taken if there is room for it.
    pub(super) fn take_first_session(&mut self, has_room: bool) -> Option<SessionTimes> {
        let is_open_before = self.sessions.front().is_some_and(|session| !session.is_begin_logged);
        if self.is_paced() && !is_open_before { None } else { self.take_session(0, has_room) }
    }

    /// Reads further statements of a session.
    pub(super) fn read(
        &mut self,
        session: i64,
        after: &mut i64,
        into: &mut VecDeque<ReplayStatement>,
    ) -> Result<(), TrafficError> {
        self.reader.read(session, after, into)
    }

    /// The addresses and account for a session, if the session's database needs connections of its own.
    pub(super) fn dialer(&self, session: &SessionTimes) -> Option<&Dialer> {
        self.databases.dialers.get(&session.database_id?)
    }

    /// The statement that selects a database; `None` if sessions do not select databases.
    pub(super) fn chooses(&self, database_id: Option<i64>) -> Option<Vec<u8>> {
        let name = self.databases.names.get(&database_id?)?;
        Some(format!("USE `{}`", name.replace('`', "``")).into_bytes())
    }
}

impl Databases {
    /// Reads the databases. With a single database, all sessions use the target's database instead, whatever its
    /// name is.
    fn of(file: &TrafficFile, job: &Job) -> Result<Self, ReplayError> {
        let named = file.databases()?;
        if named.len() < 2 {
            return Ok(Self::default());
        }
        if file.dialect()? == Dialect::Mysql {
            return Ok(Self { names: named.into_iter().collect(), ..Self::default() });
        }
        let dialer = |(id, database): (i64, String)| {
            let target = Target { database, ..job.target.clone() };
            Ok((id, Dialer::new(&target, job.tuning.start_seconds_max)?))
        };
        let dialers = named.into_iter().map(dialer).collect::<Result<_, ReplayError>>()?;
        Ok(Self { dialers, ..Self::default() })
    }
}
