//! All statements of a traffic file, session by session.

use super::read::TrafficFile;
use crate::error::TrafficError;

/// Longest values in bytes of JSON. Of a statement with longer ones, the values are not read.
const VALUES_BYTES_MAX: usize = 64 << 10;

/// An executed statement.
#[derive(Debug)]
pub(crate) struct Execution {
    pub(crate) session_id: i64,
    pub(crate) shape_id: i64,
    /// The number of its transaction in its session. `None` outside of transactions.
    pub(crate) transaction_id: Option<i64>,
    /// The values of the shape's question marks, as the file has them.
    pub(crate) literals: Option<String>,
    /// The values of `$1`, `$2`, …, as the file has them.
    pub(crate) bound: Option<String>,
}

impl TrafficFile {
    /// Calls `each` with all statements, with their values or without, session by session and in their order.
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
