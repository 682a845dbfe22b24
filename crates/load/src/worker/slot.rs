//! One script task of an event loop with its connections. Handles the task's requests that can be answered at once.

use std::sync::atomic::Ordering;

use dyno_script::{ConnectionId, Counter, Host, Probe, Reply, Request, SqlFailure, TaskId};

use super::link::{Link, LinkProgress};
use super::shared::{Message, Shared, count};
use crate::io::Io;
use crate::measure::recorder::Batch;
use crate::protocol::frame::Counts;

/// The state of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// Runs `thread_init` or a command.
    Starting,
    /// Waits until an event is due.
    Idle,
    /// Waits between two events (think time), or until its connection joins.
    Thinking,
    /// Runs `event`.
    Event,
    /// Runs the script's own `thread_run`.
    OwnLoop,
    /// Rolls back a failed event on the connection with this number.
    RollingBack(usize),
    /// Waits before a failed event is run again.
    BackingOff,
    /// Has lost its connections. Waits to open new ones, or runs `thread_init`, which opens them.
    Reconnecting,
    /// Runs `thread_done`.
    Ending,
    Ended,
}

pub(super) struct Slot<P: Probe> {
    pub(super) task: TaskId,
    pub(super) stage: Stage,
    pub(super) links: Vec<Link<P>>,
    /// Due time of the current event.
    pub(super) due_ns: u64,
    /// Number of times that the current event has been run again.
    pub(super) attempts: u32,
    /// Number of attempts to connect again since the connections were lost.
    pub(super) dials: u32,
    /// The connection that the task waits for, if any.
    pub(super) awaited: Option<Awaited>,
    /// Whether the task sleeps in `usleep`.
    pub(super) sleeping: bool,
    /// The answer with which the task is resumed in the loop's next iteration. A task that has run events for too long
    /// without a wait is put off in this way, so that other tasks can run.
    pub(super) put_off: Option<Box<Reply>>,
    /// When the slot's timer is due, in ns since the load began. A queued timer with another time is obsolete.
    pub(super) alarm_ns: u64,
    /// When the task made its most recent request to a connection.
    pub(super) asked_ns: u64,
}

/// A connection that a task waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Awaited {
    pub(super) link: usize,
    /// Whether the connection is being opened. The script then gets the connection's number as the reply.
    opening: bool,
}

impl Awaited {
    pub(super) fn answer(link: usize) -> Self {
        Self { link, opening: false }
    }

    /// Converts the link's reply to the reply that the script gets.
    pub(super) fn reply(self, reply: Reply) -> Reply {
        match reply {
            Reply::Done if self.opening => Reply::Connected(self.link as ConnectionId),
            other => other,
        }
    }
}

/// The immediate result of a request.
pub(super) enum Begun {
    /// A link's progress, which may be an answer already.
    LinkProgress(LinkProgress),
    /// The task sleeps for this number of µs.
    Sleep(u64),
    /// The script's own `thread_run` asks for its next event.
    NextEvent,
}

impl<P: Probe> Slot<P> {
    pub(super) fn new(task: TaskId) -> Self {
        Self {
            task,
            stage: Stage::Starting,
            links: Vec::new(),
            due_ns: 0,
            attempts: 0,
            dials: 0,
            awaited: None,
            sleeping: false,
            put_off: None,
            alarm_ns: 0,
            asked_ns: 0,
        }
    }
}

/// Starts a request that a task makes at `asked_ns`.
pub(super) fn begin<P: Probe>(
    links: &mut Vec<Link<P>>,
    awaited: &mut Option<Awaited>,
    asked_ns: &mut u64,
    request: &Request<'_>,
    shared: &Shared,
    io: &mut dyn Io,
) -> Begun {
    let (target, dialer) = (&shared.job.target, &shared.dialer);
    let connection = match *request {
        Request::Connect => {
            shared.database.store(true, Ordering::Relaxed);
            let (link, step) = Link::open(target, dialer, io);
            links.push(link);
            *awaited = Some(Awaited { link: links.len() - 1, opening: true });
            return Begun::LinkProgress(step);
        }
        Request::Sleep { us } => return Begun::Sleep(us),
        Request::NextEvent => return Begun::NextEvent,
        Request::Disconnect { connection }
        | Request::Reconnect { connection }
        | Request::Query { connection, .. }
        | Request::Send { connection, .. }
        | Request::Load { connection, .. }
        | Request::Receive { connection }
        | Request::Prepare { connection, .. }
        | Request::Execute { connection, .. }
        | Request::ExecuteOnce { connection, .. }
        | Request::Pipe { connection, .. }
        | Request::RunPipeline { connection }
        | Request::CloseStatement { connection, .. }
        | Request::NextResult { connection } => connection as usize,
    };
    *awaited = Some(Awaited::answer(connection));
    let Some(link) = links.get_mut(connection) else {
        let message = format!("the script has no connection {connection}");
        return Begun::LinkProgress(LinkProgress::Reply(Reply::Failed(SqlFailure {
            message,
            ..SqlFailure::default()
        })));
    };
    Begun::LinkProgress(match *request {
        Request::Query { sql, .. } => link.start(target, io, |_, client| client.query(sql)),
        Request::Send { sql, .. } => link.send_ahead(*asked_ns, target, io, |client| client.query(sql)),
        Request::Load { sql, data, .. } => {
            link.send_ahead(*asked_ns, target, io, |client| client.load(sql, data))
        }
        Request::Receive { .. } => {
            let mut sent_ns = *asked_ns;
            let step = link.receive_behind(&mut sent_ns, target);
            // Between sending a statement and receiving its answer, a command makes its next rows. That time is not
            // part of the statement's latency, so in a command the latency begins when the answer is requested.
            if shared.runs_events() {
                *asked_ns = sent_ns;
            }
            step
        }
        Request::Execute { statement, params, .. } => {
            link.start(target, io, |statements, client| statements.execute(client, statement, params))
        }
        Request::ExecuteOnce { sql, params, .. } => {
            link.start(target, io, |statements, client| statements.execute_once(client, sql, params))
        }
        Request::Pipe { part, .. } => link.pipe(part, target),
        Request::RunPipeline { .. } => link.start(target, io, |_, client| client.run_pipeline()),
        Request::Prepare { sql, types, .. } => link.prepare((sql, types), target, io),
        Request::NextResult { .. } => link.next_result(target, io),
        Request::Reconnect { .. } => link.dial(target, dialer, io),
        Request::CloseStatement { statement, .. } => {
            link.close_statement(statement);
            LinkProgress::Reply(Reply::Done)
        }
        Request::Disconnect { .. } => {
            link.disconnect(io);
            LinkProgress::Reply(Reply::Done)
        }
        Request::Connect | Request::Sleep { .. } | Request::NextEvent => LinkProgress::Pending,
    })
}

/// The requests that a running task may make.
pub(super) struct SlotHost<'a, P: Probe> {
    pub(super) links: &'a mut Vec<Link<P>>,
    pub(super) counts: &'a mut Counts,
    pub(super) shared: &'a Shared,
    /// Whether the script's own `thread_run` has ended its event.
    pub(super) event_ended: &'a mut bool,
}

impl<P: Probe> Host for SlotHost<'_, P> {
    fn row_count(&mut self, connection: ConnectionId) -> u64 {
        self.links.get(connection as usize).map_or(0, |link| link.summary.rows)
    }

    fn field_count(&mut self, connection: ConnectionId) -> u32 {
        self.links.get(connection as usize).map_or(0, |link| link.summary.fields)
    }

    fn field_names(&mut self, connection: ConnectionId) -> Vec<String> {
        self.links.get_mut(connection as usize).map_or_else(Vec::new, Link::field_names)
    }

    fn next_row(&mut self, connection: ConnectionId, fields: &mut Vec<Option<Vec<u8>>>) -> bool {
        self.links.get_mut(connection as usize).is_some_and(|link| link.next_row(fields))
    }

    fn more_results(&mut self, connection: ConnectionId) -> bool {
        self.links.get(connection as usize).is_some_and(|link| link.summary.more)
    }

    fn count(&mut self, counter: Counter, n: u64) {
        *self.event_ended |= counter == Counter::Event;
        count(self.counts, counter, n);
    }

    fn print(&mut self, line: &str) {
        self.shared.say(Message::Printed(line.to_owned()));
    }

    fn exit(&mut self, status: i32) {
        self.shared.exit(status);
    }

    fn call(&mut self, _request: Request<'_>) -> Reply {
        let message = "an event loop cannot block for a query".to_owned();
        Reply::Failed(SqlFailure { message, ..SqlFailure::default() })
    }
}

/// Records a statement, if the reply is its result.
pub(super) fn note_statement<P: Probe>(reply: &Reply, link: &Link<P>, latency_ns: u64, batch: &mut Batch) {
    if let Reply::Result { .. } = reply {
        batch.statement(link.summary.fields, link.summary.affected_rows, latency_ns);
    }
}
