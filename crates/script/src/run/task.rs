//! A task: a coroutine with its own globals.

use std::ffi::c_int;

use crate::data::random::Generator;
use crate::lua::{Kind, Reference, Stack};

/// A task of one [`Runtime`](crate::Runtime).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TaskId(pub(crate) usize);

/// A coroutine and its state. It is reused for each entry point.
#[derive(Debug)]
pub(crate) struct Task {
    pub(crate) tid: u32,
    pub(crate) thread: Stack,
    thread_kept: Reference,
    environment: Reference,
    pub(crate) generator: Generator,
    /// Number of arguments of the function that is on the stack and has not started; `None` without such a function.
    pub(crate) arguments: Option<c_int>,
    pub(crate) activity: Activity,
}

/// What a task runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Activity {
    Event,
    /// The script's hook between two tries of an event.
    RestartHook,
    Other,
}

impl Task {
    /// Creates a task. Its environment is popped from the state's main stack.
    pub(crate) fn new(main: Stack, tid: u32, generator: Generator) -> Self {
        let environment = main.keep();
        let (thread, thread_kept) = new_thread(main, environment);
        Self { tid, thread, thread_kept, environment, generator, arguments: None, activity: Activity::Other }
    }

    /// Gives the task a new coroutine after a failure or an abort.
    pub(crate) fn renew(&mut self, main: Stack) {
        main.forget(self.thread_kept);
        (self.thread, self.thread_kept) = new_thread(main, self.environment);
        self.arguments = None;
    }

    /// Aborts the task's current function, and empties the task's stack.
    pub(crate) fn settle(&mut self, main: Stack) {
        if self.thread.suspended() {
            self.renew(main);
        }
        self.thread.truncate(0);
        self.arguments = None;
    }

    /// Pushes a global of the script, or nil if there is none with that name.
    pub(crate) fn push_global(&self, name: &str) {
        self.thread.push_kept(self.environment);
        self.thread.push_field(-1, name);
        self.thread.replace(-2);
    }

    /// As [`push_global`](Self::push_global) on an empty stack, for a name that is stored in Lua.
    pub(crate) fn push_first_global(&self, name: Reference) {
        self.thread.push_kept(self.environment);
        self.thread.push_field_of(1, name);
        self.thread.replace(1);
    }

    /// Pushes the hook with this name in `sysbench.hooks`, or nil if the script has not set the hook.
    pub(crate) fn push_hook(&self, name: &str) {
        self.push_global("sysbench");
        for field in ["hooks", name] {
            self.thread.push_field(-1, field);
            self.thread.replace(-2);
        }
    }

    /// Whether the script defines a global function with this name.
    pub(crate) fn has_function(&self, name: &str) -> bool {
        self.push_global(name);
        let found = self.thread.kind(-1) == Kind::Function;
        self.thread.pop();
        found
    }

    /// Whether the script sets the hook with this name in `sysbench.hooks`.
    pub(crate) fn has_hook(&self, name: &str) -> bool {
        self.push_hook(name);
        let found = !self.thread.is_nil(-1);
        self.thread.pop();
        found
    }

    /// Pushes the task's globals on another thread.
    pub(crate) fn push_environment(&self, stack: Stack) {
        stack.push_kept(self.environment);
    }

    /// Releases all values that the task keeps in Lua.
    pub(crate) fn release(self, main: Stack) {
        main.forget(self.thread_kept);
        main.forget(self.environment);
    }
}

fn new_thread(main: Stack, environment: Reference) -> (Stack, Reference) {
    let thread = main.push_thread();
    main.push_kept(environment);
    main.set_environment(-2);
    (thread, main.keep())
}
