//! The native functions that the prelude uses.

mod bulk;
mod declare;
mod modules;
mod pgbench;
mod random;
mod requests;
mod rows;
mod tpch;

use std::ptr::NonNull;

use crate::lua::{Native, Stack, push_function, push_marked_function};
use crate::run::machine::Machine;

pub(crate) use requests::push_reply;

/// Pushes a table of all native functions, which a profile marks.
pub(crate) fn push_functions(stack: Stack, machine: NonNull<Machine>, marks: bool) {
    stack.push_table(0, 58);
    let table = Table { stack, machine, marks };
    bulk::register(&table);
    declare::register(&table);
    modules::register(&table);
    pgbench::register(&table);
    random::register(&table);
    requests::register(&table);
    rows::register(&table);
    tpch::register(&table);
}

/// The table under construction, on top of the stack.
struct Table {
    stack: Stack,
    machine: NonNull<Machine>,
    marks: bool,
}

impl Table {
    fn add<F: Native>(&self, name: &str, function: F) {
        if self.marks {
            push_marked_function(self.stack, self.machine, function);
        } else {
            push_function(self.stack, self.machine, function);
        }
        self.stack.set_field(-2, name);
    }
}
