//! Counters that a server returns for queries.

use dyno_client::{Client, ClientError};

use super::depth::Depth;
use super::error::CountersError;
use super::query::Query;
use super::reader::Reader;
use super::tally::Tally;

/// Reads a server's counters by queries on one connection.
pub(super) struct ServerReader {
    client: Client,
    queries: Vec<Query>,
    missing: Vec<(&'static str, String)>,
}

impl ServerReader {
    /// Tries every query once. Keeps the queries that this server answers.
    pub(super) fn new(mut client: Client, queries: Vec<Query>) -> Result<Self, CountersError> {
        let mut kept = Vec::new();
        let mut missing = Vec::new();
        for mut query in queries {
            let mut trial = Tally::default();
            match query.read(&mut client, &mut trial) {
                Ok(()) => kept.push(query.anew()),
                Err(ClientError::Server(error)) => missing.push((query.source, error.message)),
                Err(error) => return Err(error.into()),
            }
        }
        // A source may have queries for several versions. It is missing only if the server answers none of them.
        missing.retain(|(source, _)| kept.iter().all(|query: &Query| query.source != *source));
        Ok(Self { client, queries: kept, missing })
    }
}

impl Reader for ServerReader {
    fn read(&mut self, depth: Depth, tally: &mut Tally) -> Result<(), CountersError> {
        for query in self.queries.iter_mut().filter(|query| query.depth <= depth) {
            query.read(&mut self.client, tally)?;
        }
        Ok(())
    }

    fn missing(&self) -> &[(&'static str, String)] {
        &self.missing
    }
}
