//! What loading modules takes.

use super::Table;
use crate::lua::{Returns, push_caller};

pub(super) fn register(table: &Table) {
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
