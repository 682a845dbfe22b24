//! All statements of a traffic file, session by session.

use rusqlite::Row;

use super::read::{TrafficFile, classified};
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
        let mut read = || {
            let values = format!(
                "CASE WHEN coalesce(length(literals), 0) + coalesce(length(bound), 0) <= {VALUES_BYTES_MAX} \
                 THEN literals END, \
                 CASE WHEN coalesce(length(literals), 0) + coalesce(length(bound), 0) <= {VALUES_BYTES_MAX} \
                 THEN bound END"
            );
            let values = if with_values { values.as_str() } else { "NULL, NULL" };
            let mut select = self.connection.prepare(&format!(
                "SELECT session_id, shape_id, transaction_id, {values} FROM statement ORDER BY session_id, id"
            ))?;
            let mut rows = select.query([])?;
            while let Some(row) = rows.next()? {
                each(execution(row)?);
            }
            Ok(())
        };
        read().map_err(|error| classified(&self.path, error))
    }
}

fn execution(row: &Row<'_>) -> rusqlite::Result<Execution> {
    Ok(Execution {
        session_id: row.get(0)?,
        shape_id: row.get(1)?,
        transaction_id: row.get(2)?,
        literals: row.get(3)?,
        bound: row.get(4)?,
    })
}
