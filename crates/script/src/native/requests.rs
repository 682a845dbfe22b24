//! Native functions that send requests.

use std::ffi::c_int;
use std::time::Duration;

use super::table::Table;
use crate::lua::{Answer, Call, Kind, Raised, Returns, Stack};
use crate::run::request::{Param, ParamType, Reply, Request};

pub(super) fn register(table: &Table) {
    table.add("connect", |call| wait(call, Request::Connect));
    table.add("disconnect", |call| {
        let connection = id(call, 1)?;
        wait(call, Request::Disconnect { connection })
    });
    table.add("reconnect", |call| {
        let connection = id(call, 1)?;
        wait(call, Request::Reconnect { connection })
    });
    table.add("query", |call| {
        let connection = id(call, 1)?;
        let sql = text(call, 2)?;
        wait(call, Request::Query { connection, sql })
    });
    table.add("send", |call| {
        let connection = id(call, 1)?;
        let sql = text(call, 2)?;
        wait(call, Request::Send { connection, sql })
    });
    table.add("receive", |call| {
        let connection = id(call, 1)?;
        wait(call, Request::Receive { connection })
    });
    table.add("prepare", prepare);
    table.add("execute", execute);
    table.add("close_statement", |call| {
        let (connection, statement) = (id(call, 1)?, id(call, 2)?);
        wait(call, Request::CloseStatement { connection, statement })
    });
    table.add("next_result", |call| {
        let connection = id(call, 1)?;
        wait(call, Request::NextResult { connection })
    });
    table.add("sleep", |call| {
        let us = call.number(1)? as u64;
        if call.machine().host().is_none() {
            std::thread::sleep(Duration::from_micros(us));
            return Ok(Returns::Values(push_reply(call.stack, Reply::Done)));
        }
        wait(call, Request::Sleep { us })
    });
    table.add("next_event", |call| wait(call, Request::NextEvent));
}

/// `prepare(connection, sql, kinds)`: prepares a statement. `kinds` has one letter for each parameter: `i` for
/// integers, `f` for floats, `t` for text, and `d` for dates and times.
fn prepare(call: &mut Call<'_>) -> Answer {
    let (connection, sql) = (id(call, 1)?, text(call, 2)?);
    let kinds = text(call, 3)?;
    call.machine().types.clear();
    call.machine().types.extend(kinds.iter().map(|kind| match kind {
        b'i' => ParamType::Int,
        b'f' => ParamType::Float,
        b't' => ParamType::Text,
        _ => ParamType::Inferred,
    }));
    // SAFETY: the types do not change until the request is complete and the task is resumed.
    let types = unsafe { &*std::ptr::from_ref(call.machine().types.as_slice()) };
    wait(call, Request::Prepare { connection, sql, types })
}

/// `execute(connection, statement, kinds, values)`: executes a prepared statement. `kinds` is as for `prepare`.
fn execute(call: &mut Call<'_>) -> Answer {
    let (connection, statement) = (id(call, 1)?, id(call, 2)?);
    let kinds = text(call, 3)?;
    call.machine().params.clear();
    for (n, &kind) in (1..).zip(kinds) {
        call.stack.push_element(4, n);
        let param = param(call.stack, kind);
        call.machine().params.push(param);
        call.stack.pop();
    }
    // SAFETY: the parameters do not change until the request is complete and the task is resumed.
    let params = unsafe { &*std::ptr::from_ref(call.machine().params.as_slice()) };
    wait(call, Request::Execute { connection, statement, params })
}

/// The parameter on top of the stack. The prelude has checked its type.
fn param(stack: Stack, kind: u8) -> Param<'static> {
    match (stack.kind(-1), kind) {
        (Kind::Number, b'i') => Param::Int(stack.number(-1).unwrap_or_default() as i64),
        (Kind::Number, _) => Param::Float(stack.number(-1).unwrap_or_default()),
        // SAFETY: the only cdata that the prelude puts into parameters has the type `int64_t`.
        (Kind::Cdata, _) => Param::Int(unsafe { stack.int64(-1) }),
        // SAFETY: the statement's table keeps the string until the request is complete and the task is resumed.
        (Kind::String, _) => unsafe { stack.bytes(-1) }.map_or(Param::Null, Param::Text),
        _ => Param::Null,
    }
}

/// Sends a request to the host. In Lua, the native function returns the values of [`push_reply`].
pub(super) fn wait(call: &mut Call<'_>, request: Request<'static>) -> Answer {
    let stack = call.stack;
    if let Some(obstacle) = call.machine().obstacle(stack) {
        return Err(call.raise(obstacle));
    }
    if call.machine().answers_at_once() {
        let reply = call.machine().call(request);
        return Ok(Returns::Values(push_reply(stack, reply)));
    }
    call.machine().pending = Some(request);
    Ok(Returns::Wait)
}

/// Pushes the return values of a request's function. After a success, this is one value that is not nil. After a
/// failure, these are nil, error number, SQLSTATE, message, and whether the error can be ignored.
pub(crate) fn push_reply(stack: Stack, reply: Reply) -> c_int {
    match reply {
        Reply::Done => stack.push_bool(true),
        Reply::Connected(id) | Reply::Prepared(id) => stack.push_number(f64::from(id)),
        Reply::Result { has_rows } => stack.push_bool(has_rows),
        Reply::Continue(another) => stack.push_bool(another),
        Reply::Failed(failure) => {
            stack.push_nil();
            stack.push_number(f64::from(failure.errno));
            stack.push_bytes(failure.state.as_bytes());
            stack.push_bytes(failure.message.as_bytes());
            stack.push_bool(failure.ignorable);
            return 5;
        }
    }
    1
}

pub(super) fn id(call: &Call<'_>, n: c_int) -> Result<u32, Raised> {
    call.number(n).map(|id| id as u32)
}

fn text(call: &Call<'_>, n: c_int) -> Result<&'static [u8], Raised> {
    // SAFETY: the argument is on the task's stack until the request is complete and the task is resumed.
    unsafe { call.bytes(n) }
}
