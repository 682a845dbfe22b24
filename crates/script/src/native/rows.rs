//! Native functions that do not wait: rows, counters, printing.

use std::ffi::c_int;

use super::table::Table;
use crate::lua::{Answer, Call, Raised, Returns};
use crate::run::request::{Counter, Host};

/// The counters by their number in scripts. sysbench's counters come first, then Dyno's own.
const COUNTERS: [Counter; 9] = [
    Counter::Other,
    Counter::Read,
    Counter::Write,
    Counter::Event,
    Counter::Error,
    Counter::Reconnect,
    Counter::BytesRead,
    Counter::BytesWritten,
    Counter::BulkRow,
];

pub(super) fn register(table: &Table) {
    table.add("row_count", |call| {
        let connection = call.integer(1)? as u32;
        let rows = host(call)?.row_count(connection);
        call.stack.push_number(rows as f64);
        Ok(Returns::Values(1))
    });
    table.add("field_count", |call| {
        let connection = call.integer(1)? as u32;
        let fields = host(call)?.field_count(connection);
        call.stack.push_number(f64::from(fields));
        Ok(Returns::Values(1))
    });
    table.add("next_row", next_row);
    table.add("more_results", |call| {
        let connection = call.integer(1)? as u32;
        let more = host(call)?.more_results(connection);
        call.stack.push_bool(more);
        Ok(Returns::Values(1))
    });
    table.add("count", |call| {
        let (counter, n) = (call.integer(1)?, call.integer(2)?);
        let Some(&counter) = usize::try_from(counter).ok().and_then(|index| COUNTERS.get(index)) else {
            return Err(call.raise(&format!("there is no counter {counter}")));
        };
        host(call)?.count(counter, n.max(0) as u64);
        Ok(Returns::Values(0))
    });
    table.add("print", |call| {
        let line = call.stack.text(1).unwrap_or_default();
        call.machine().print(&line);
        Ok(Returns::Values(0))
    });
    table.add("write", |call| {
        let text = call.stack.text(1).unwrap_or_default();
        call.machine().write(&text);
        Ok(Returns::Values(0))
    });
}

/// `next_row(connection)`: returns a table of strings, in which NULL is nil, and the number of columns. After the
/// last row, returns nothing.
fn next_row(call: &mut Call<'_>) -> Answer {
    let connection = call.integer(1)? as u32;
    let mut row = std::mem::take(&mut call.machine().row);
    let found = host(call)?.next_row(connection, &mut row);
    if found {
        call.stack.push_table(row.len() as c_int, 0);
        for (n, field) in (1..).zip(&row) {
            if let Some(field) = field {
                call.stack.push_bytes(field);
                call.stack.set_element(-2, n);
            }
        }
        call.stack.push_number(row.len() as f64);
    }
    call.machine().row = row;
    Ok(Returns::Values(if found { 2 } else { 0 }))
}

pub(super) fn host<'a>(call: &'a mut Call<'_>) -> Result<&'a mut dyn Host, Raised> {
    if call.machine().host().is_none() {
        return Err(call.raise("there is no database at the top level of a script"));
    }
    call.machine().host().ok_or(Raised)
}
