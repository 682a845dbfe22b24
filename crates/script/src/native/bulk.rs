//! Statements of bulk inserts, put together outside of Lua: strings of half a megabyte would keep its collector busy.

use super::Table;
use super::requests::{id, wait};
use crate::lua::{Answer, Call, Raised, Returns};
use crate::request::Request;

/// Rows are put together to statements of about this size, as sysbench does.
const STATEMENT_BYTES_MAX: usize = 512 * 1024;

/// The statements of all tasks, by number. Those that are over are used again.
#[derive(Debug, Default)]
pub(crate) struct Bulks {
    bulks: Vec<Bulk>,
    free: Vec<usize>,
}

/// A statement to which rows are added.
#[derive(Debug, Default)]
struct Bulk {
    text: Vec<u8>,
    /// What every statement begins with.
    head_bytes: usize,
    rows: u32,
    /// The text is that of a statement that was sent; the next row begins a new one.
    sent: bool,
}

impl Bulks {
    fn begin(&mut self, head: &[u8]) -> usize {
        let number = self.free.pop().unwrap_or_else(|| {
            self.bulks.push(Bulk::default());
            self.bulks.len() - 1
        });
        self.bulks[number].begin(head);
        number
    }

    fn end(&mut self, number: usize) {
        if number < self.bulks.len() && !self.free.contains(&number) {
            self.free.push(number);
        }
    }
}

impl Bulk {
    fn begin(&mut self, head: &[u8]) {
        self.text.clear();
        self.text.reserve(STATEMENT_BYTES_MAX);
        self.text.extend_from_slice(head);
        self.text.push(b' ');
        self.head_bytes = self.text.len();
        (self.rows, self.sent) = (0, false);
    }

    /// Adds a row; false where there is no room for it until the statement has been sent.
    fn add(&mut self, row: &[u8]) -> bool {
        if std::mem::take(&mut self.sent) {
            self.text.truncate(self.head_bytes);
            self.rows = 0;
        }
        if self.rows > 0 {
            if self.text.len() - self.head_bytes + row.len() > STATEMENT_BYTES_MAX {
                return false;
            }
            self.text.push(b',');
        }
        self.text.extend_from_slice(row);
        self.rows += 1;
        true
    }

    fn waiting_rows(&self) -> u32 {
        if self.sent { 0 } else { self.rows }
    }
}

pub(super) fn register(table: &Table) {
    table.add("bulk_begin", |call| {
        // SAFETY: the argument stays on the stack while this runs.
        let head = unsafe { call.bytes(1) }?;
        let number = call.machine().bulks.begin(head);
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
    table.add("bulk_end", |call| {
        let number = call.integer(1)? as usize;
        call.machine().bulks.end(number);
        Ok(Returns::Values(0))
    });
}

/// `bulk_send(bulk, connection)`: asks for the statement to be sent.
fn send(call: &mut Call<'_>, request: fn(u32, &'static [u8]) -> Request<'static>) -> Answer {
    let connection = id(call, 2)?;
    let bulk = bulk(call)?;
    bulk.sent = true;
    // SAFETY: nothing is added to the statement until the task is resumed, when it has been sent.
    let sql = unsafe { &*std::ptr::from_ref(bulk.text.as_slice()) };
    wait(call, request(connection, sql))
}

/// The statement that argument 1 is the number of.
fn bulk<'a>(call: &'a mut Call<'_>) -> Result<&'a mut Bulk, Raised> {
    let number = call.integer(1)? as usize;
    if number >= call.machine().bulks.bulks.len() {
        return Err(call.raise("there is no such bulk insert"));
    }
    Ok(&mut call.machine().bulks.bulks[number])
}
