//! All statements of a traffic file, session by session.

use super::read::TrafficFile;
use crate::error::TrafficError;

/// Largest size of a statement's values, in bytes of JSON. Larger values are not read.
const VALUES_BYTES_MAX: usize = 64 << 10;

/// An executed statement.
#[derive(Debug)]
pub(crate) struct Execution {
    pub(crate) session_id: i64,
    pub(crate) shape_id: i64,
    /// The number of the statement's transaction in its session. `None` outside of transactions.
    pub(crate) transaction_id: Option<i64>,
    /// The values that stand in place of the question marks of the statement's shape, as JSON. `None` if there are
    /// none, or if they were not read.
    pub(crate) literals: Option<String>,
    /// The values of `$1`, `$2`, …, as JSON. `None` if there are none, or if they were not read.
    pub(crate) bound: Option<String>,
}

impl TrafficFile {
    /// Calls `each` with all statements, session by session, and in order within a session. `with_values` says
    /// whether values are read.
    pub(crate) fn for_executions(
        &self,
        with_values: bool,
        mut each: impl FnMut(Execution),
    ) -> Result<(), TrafficError> {
        let sql = "SELECT session_id, content FROM chunk ORDER BY session_id, first_id";
        self.for_rows(sql, [], |session_id, row| {
            let bytes = [row.literals(), row.bound()].into_iter().flatten().map(str::len).sum::<usize>();
            let has_values = with_values && bytes <= VALUES_BYTES_MAX;
            let kept = |values: Option<&str>| values.filter(|_| has_values).map(str::to_owned);
            each(Execution {
                session_id,
                shape_id: row.shape_id,
                transaction_id: row.transaction_id,
                literals: kept(row.literals()),
                bound: kept(row.bound()),
            });
        })
    }
}
