//! The native functions that the prelude uses.

mod bulk;
mod declare;
mod modules;
mod pgbench;
mod random;
mod requests;
mod rows;
mod table;
mod tpch;

use std::ptr::NonNull;

use self::table::Table;
use crate::lua::Stack;
use crate::run::machine::Machine;

pub(crate) use requests::push_reply;

/// Pushes a table of all native functions. If `marks` is true, their calls are marked for a profile.
pub(crate) fn push_functions(stack: Stack, machine: NonNull<Machine>, marks: bool) {
    stack.push_table(0, 59);
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
