//! The table of native functions, while it is filled.

use std::ptr::NonNull;

use crate::lua::{Native, Stack, push_function, push_marked_function};
use crate::run::machine::Machine;

/// The table under construction, on top of the stack.
pub(super) struct Table {
    pub(super) stack: Stack,
    pub(super) machine: NonNull<Machine>,
    pub(super) marks: bool,
}

impl Table {
    pub(super) fn add<F: Native>(&self, name: &str, function: F) {
        if self.marks {
            push_marked_function(self.stack, self.machine, function);
        } else {
            push_function(self.stack, self.machine, function);
        }
        self.stack.set_field(-2, name);
    }
}
