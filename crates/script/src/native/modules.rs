//! Native functions to load modules and to end the program.

use super::table::Table;
use crate::lua::{Returns, push_caller};

pub(super) fn register(table: &Table) {
    table.add("exit", |call| {
        let status = call.integer(1)? as i32;
        call.machine().exit(status);
        Ok(Returns::Values(0))
    });
    push_caller(table.stack);
    table.stack.set_field(-2, "call");
    table.add("builtin", |call| {
        let name = call.stack.text(1).unwrap_or_default();
        let find = call.machine().builtin;
        match find(&name) {
            Some(source) => call.stack.push_bytes(source.as_bytes()),
            None => call.stack.push_nil(),
        }
        Ok(Returns::Values(1))
    });
}
