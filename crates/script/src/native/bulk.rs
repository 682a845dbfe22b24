//! The functions of bulk inserts.

use std::ffi::c_int;

use super::requests::{id, wait};
use super::table::Table;
use crate::data::bulk::Bulk;
use crate::lua::{Answer, Call, Raised, Returns};
use crate::run::request::Request;

pub(super) fn register(table: &Table) {
    table.add("bulk_begin", |call| {
        // SAFETY: the argument stays on the stack while this runs.
        let head = unsafe { call.bytes(1) }?;
        let is_data = call.stack.truthy(2);
        let number = call.machine().bulks.begin(head, is_data);
        call.stack.push_number(number as f64);
        Ok(Returns::Values(1))
    });
    table.add("bulk_add", |call| {
        // SAFETY: the argument stays on the stack while this runs.
        let row = unsafe { call.bytes(2) }?;
        let added = bulk(call)?.add(row);
        call.stack.push_bool(added);
        Ok(Returns::Values(1))
    });
    table.add("bulk_rows", |call| {
        let rows = bulk(call)?.waiting_rows();
        call.stack.push_number(f64::from(rows));
        Ok(Returns::Values(1))
    });
    table.add("bulk_query", |call| send(call, |connection, sql| Request::Query { connection, sql }));
    table.add("bulk_send", |call| send(call, |connection, sql| Request::Send { connection, sql }));
    table.add("bulk_load", load);
    table.add("bulk_end", |call| {
        let number = call.integer(1)? as usize;
        call.machine().bulks.end(number);
        Ok(Returns::Values(0))
    });
}

/// `bulk_query(bulk, connection)` and `bulk_send(bulk, connection)`: send the statement. Only `bulk_query` waits for
/// the answer.
fn send(call: &mut Call<'_>, request: fn(u32, &'static [u8]) -> Request<'static>) -> Answer {
    let connection = id(call, 2)?;
    let bulk = bulk(call)?;
    bulk.sent = true;
    // SAFETY: the statement does not change until it has been sent and the task is resumed.
    let sql = unsafe { &*std::ptr::from_ref(bulk.text.as_slice()) };
    wait(call, request(connection, sql))
}

/// `bulk_load(bulk, connection)`: sends the statement with the lines that it reads.
fn load(call: &mut Call<'_>) -> Answer {
    let connection = id(call, 2)?;
    let bulk = bulk(call)?;
    bulk.sent = true;
    let (sql, data) = bulk.statement_and_data();
    // SAFETY: the statement does not change until it has been sent and the task is resumed.
    let (sql, data) = unsafe { (&*std::ptr::from_ref(sql), &*std::ptr::from_ref(data)) };
    wait(call, Request::Load { connection, sql, data })
}

/// The statement whose number is argument 1.
fn bulk<'a>(call: &'a mut Call<'_>) -> Result<&'a mut Bulk, Raised> {
    let number = bulk_number(call, 1)?;
    Ok(call.machine().bulks.at(number))
}

/// Argument `n` as the number of a statement.
pub(super) fn bulk_number(call: &mut Call<'_>, n: c_int) -> Result<usize, Raised> {
    let number = call.integer(n)? as usize;
    if number >= call.machine().bulks.len() {
        return Err(call.raise("there is no bulk insert with this number"));
    }
    Ok(number)
}
