//! Connections of a script that are not part of the load.

use dyno_script::{ConnectionId, Reply, Request, SqlFailure};

use crate::protocol::job::{Target, Tuning};
use crate::session::servers::Dialer;
use crate::worker::Connections;

/// Connections to a target whose statements are not measured. Every call blocks.
pub struct UnmeasuredConnections {
    target: Target,
    /// Made for the first connection.
    dialer: Option<Dialer>,
    connections: Connections,
}

impl UnmeasuredConnections {
    /// No connection yet.
    pub fn new(target: Target) -> Self {
        Self { target, dialer: None, connections: Connections::default() }
    }

    /// Carries out a request of a script.
    pub fn answer(&mut self, request: &Request<'_>) -> Reply {
        self.try_answer(request).unwrap_or_else(Reply::Failed)
    }

    fn try_answer(&mut self, request: &Request<'_>) -> Result<Reply, SqlFailure> {
        if self.dialer.is_none() {
            let dialer = Dialer::new(&self.target, Tuning::default().start_seconds_max)
                .map_err(|error| SqlFailure { message: error.to_string(), ..SqlFailure::default() })?;
            self.dialer = Some(dialer);
        }
        let dialer = self.dialer.as_ref().expect("just made");
        Ok(self.connections.answer(request, &self.target, dialer)?.reply)
    }

    /// The rows of a connection's last result.
    pub fn row_count(&self, connection: ConnectionId) -> u64 {
        self.connections.outcome(connection).rows
    }

    /// The columns of a connection's last result.
    pub fn field_count(&self, connection: ConnectionId) -> u32 {
        self.connections.outcome(connection).fields
    }

    /// Names of the columns of a connection's last result.
    pub fn field_names(&mut self, connection: ConnectionId) -> Vec<String> {
        self.connections.field_names(connection)
    }

    /// Whether the last statement has another result.
    pub fn more_results(&self, connection: ConnectionId) -> bool {
        self.connections.outcome(connection).more
    }

    /// Reads the next row of the last result as text; false if there are no more.
    pub fn next_row(&mut self, connection: ConnectionId, fields: &mut Vec<Option<Vec<u8>>>) -> bool {
        self.connections.next_row(connection, fields)
    }
}
