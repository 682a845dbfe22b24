//! One task: a coroutine with globals of its own.

use std::ffi::c_int;

use crate::lua::{Kind, Reference, Stack};
use crate::random::Generator;

/// A task of one [`Runtime`](crate::Runtime).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TaskId(pub(crate) usize);

/// A coroutine, reused for each entry point, with its state.
#[derive(Debug)]
pub(crate) struct Task {
    pub(crate) tid: u32,
    pub(crate) thread: Stack,
    thread_kept: Reference,
    environment: Reference,
    pub(crate) generator: Generator,
    /// A function is on the stack with this number of arguments, and has not begun.
    pub(crate) arguments: Option<c_int>,
    pub(crate) activity: Activity,
}

/// The state of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Activity {
    Event,
    /// The hook that scripts have for the time between two tries of an event.
    RestartHook,
    Other,
}

impl Task {
    /// Makes a task with the environment that it pops off the state's main stack.
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

    /// Aborts what the task does.
    pub(crate) fn settle(&mut self, main: Stack) {
        if self.thread.suspended() {
            self.renew(main);
        }
        self.thread.truncate(0);
        self.arguments = None;
    }

    /// Pushes a global of the script, nil where it has none of that name.
    pub(crate) fn push_global(&self, name: &str) {
        self.thread.push_kept(self.environment);
        self.thread.push_field(-1, name);
        self.thread.replace(-2);
    }

    /// Pushes one of `sysbench.hooks`, nil where the script has not set it.
    pub(crate) fn push_hook(&self, name: &str) {
        self.push_global("sysbench");
        for field in ["hooks", name] {
            self.thread.push_field(-1, field);
            self.thread.replace(-2);
        }
    }

    /// Whether the script has a function of its own as this global.
    pub(crate) fn has_function(&self, name: &str) -> bool {
        self.push_global(name);
        let found = self.thread.kind(-1) == Kind::Function;
        self.thread.pop();
        found
    }

    /// Pushes the task's globals on another thread.
    pub(crate) fn push_environment(&self, stack: Stack) {
        stack.push_kept(self.environment);
    }

    /// Releases all values that the task has in Lua.
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
