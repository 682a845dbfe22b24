//! Connections of a script that are not part of the load.

use dyno_script::{ConnectionId, Reply, Request, SqlFailure};

use crate::protocol::job::{Target, Tuning};
use crate::session::servers::Dialer;
use crate::worker::Connections;

/// Connections to a target whose statements are not measured. Every call blocks.
pub struct UnmeasuredConnections {
    target: Target,
    /// Created when the first connection is opened.
    dialer: Option<Dialer>,
    connections: Connections,
}

impl UnmeasuredConnections {
    /// Creates the set of connections, which is empty.
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

    /// Returns the number of rows of a connection's most recent result.
    pub fn row_count(&self, connection: ConnectionId) -> u64 {
        self.connections.outcome(connection).rows
    }

    /// Returns the number of columns of a connection's most recent result.
    pub fn field_count(&self, connection: ConnectionId) -> u32 {
        self.connections.outcome(connection).fields
    }

    /// Returns the names of the columns of a connection's most recent result.
    pub fn field_names(&mut self, connection: ConnectionId) -> Vec<String> {
        self.connections.field_names(connection)
    }

    /// Returns whether a further result of the connection's last statement follows.
    pub fn more_results(&self, connection: ConnectionId) -> bool {
        self.connections.outcome(connection).more
    }

    /// Reads the next row of the most recent result as text. Returns false if there are no more rows.
    pub fn next_row(&mut self, connection: ConnectionId, fields: &mut Vec<Option<Vec<u8>>>) -> bool {
        self.connections.next_row(connection, fields)
    }
}
