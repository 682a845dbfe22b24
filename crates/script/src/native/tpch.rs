//! Functions that insert the rows of TPC-H.

use super::bulk::bulk_number;
use super::table::Table;
use crate::data::tpch::Form;
use crate::lua::Returns;

pub(super) fn register(table: &Table) {
    // tpch_begin(table, scale_factor, part, parts, as_lines): starts to insert rows. Returns the number of their
    // source.
    table.add("tpch_begin", |call| {
        let name = call.stack.text(1).unwrap_or_default();
        let (scale_factor, part, parts) = (call.number(2)?, call.integer(3)?, call.integer(4)?);
        let form = if call.stack.truthy(5) { Form::Line } else { Form::Sql };
        let begun = call.machine().tpch.begin(&name, scale_factor, (part, parts), form);
        let number = begun.map_err(|reason| call.raise(&reason))?;
        call.stack.push_number(number as f64);
        Ok(Returns::Values(1))
    });
    // tpch_fill(rows, bulk): adds rows to a statement. Returns true if the statement is full, and false after the
    // last row.
    table.add("tpch_fill", |call| {
        let (rows, bulk) = (call.integer(1)? as usize, bulk_number(call, 2)?);
        let machine = call.machine();
        let Some(source) = machine.tpch.at(rows) else {
            return Err(call.raise("there are no TPC-H rows with this number"));
        };
        let is_full = source.fill(machine.bulks.at(bulk));
        call.stack.push_bool(is_full);
        Ok(Returns::Values(1))
    });
    table.add("tpch_end", |call| {
        let rows = call.integer(1)? as usize;
        call.machine().tpch.end(rows);
        Ok(Returns::Values(0))
    });
}
