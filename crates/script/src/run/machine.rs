//! The Rust data of a Lua state, for the functions that Lua calls.

use std::io::Write;
use std::ptr::NonNull;

use crate::data::bulk::Bulks;
use crate::data::pgbench::Pgbench;
use crate::data::random::{Distributions, Generator, Shape, Unique};
use crate::data::tpch::Sources;
use crate::lua::Stack;
use crate::run::request::{Host, Param, ParamType, Reply, Request};
use crate::settings::config::Config;
use crate::settings::info::ScriptInfo;

/// The Rust data of a Lua state.
///
/// While Lua runs, only the functions that Lua calls borrow this data.
#[derive(Debug)]
pub(crate) struct Machine {
    /// Whether the host answers requests at once. Otherwise, a request yields.
    pub(crate) blocking: bool,
    /// Whether the top level of a script is running. A top level cannot yield.
    loading: bool,
    /// The host of the running task.
    host: Option<NonNull<dyn Host>>,
    /// The thread of the running task.
    thread: Option<Stack>,
    /// The request of the task that yielded. Lua owns its texts, and keeps them until the task is resumed.
    pub(crate) pending: Option<Request<'static>>,
    /// Parameters of the pending request.
    pub(crate) params: Vec<Param<'static>>,
    /// Types of the parameters of a pending request.
    pub(crate) types: Vec<ParamType>,
    /// The row that was read most recently.
    pub(crate) row: Vec<Option<Vec<u8>>>,
    /// Buffer for random text.
    pub(crate) text: Vec<u8>,
    /// Statements of bulk inserts.
    pub(crate) bulks: Bulks,
    /// Rows of TPC-H that are being inserted.
    pub(crate) tpch: Sources,
    /// Clients of pgbench's scripts.
    pub(crate) pgbench: Pgbench,
    /// Lines that top levels printed, and that no host has printed yet.
    pub(crate) unheard: Vec<String>,
    /// The beginning of a line that has not ended.
    unfinished_line: String,
    /// Whether a top level has asked for a connection.
    pub(crate) connects_at_load: bool,
    /// The script's declarations, while they are collected.
    pub(crate) declared: ScriptInfo,
    /// The random generator of the running task.
    pub(crate) generator: Generator,
    distributions: Distributions,
    pub(crate) unique: Unique,
    /// Finds the text of a module that is built into the program, by the module's name.
    pub(crate) builtin: fn(&str) -> Option<&'static str>,
}

impl Machine {
    pub(crate) fn new(config: &Config, distributions: Distributions) -> Self {
        Self {
            blocking: config.blocking,
            loading: false,
            host: None,
            thread: None,
            pending: None,
            params: Vec::new(),
            types: Vec::new(),
            row: Vec::new(),
            text: Vec::new(),
            bulks: Bulks::default(),
            tpch: Sources::default(),
            pgbench: Pgbench::new(config),
            unheard: Vec::new(),
            unfinished_line: String::new(),
            connects_at_load: false,
            declared: ScriptInfo::default(),
            generator: Generator::new(0, 0),
            distributions,
            unique: Unique::new(config.seed, config.unique.clone()),
            builtin: config.builtin,
        }
    }

    /// Sets the task that is about to run.
    ///
    /// # Safety
    /// [`leave`](Self::leave) must be called before the host's borrow ends.
    pub(crate) unsafe fn enter(&mut self, thread: Stack, generator: Generator, host: Option<&mut dyn Host>) {
        self.generator = generator;
        self.thread = Some(thread);
        self.host = host.map(|host| {
            // SAFETY: only the lifetime changes, and the caller guarantees that the host outlives its use.
            let host: &mut (dyn Host + 'static) = unsafe { std::mem::transmute(host) };
            for line in self.unheard.drain(..) {
                host.print(&line);
            }
            NonNull::from(host)
        });
    }

    /// Sets the task whose top level is about to run. Its output is kept until the task's first entry point.
    ///
    /// # Safety
    /// [`leave`](Self::leave) must be called before the host's borrow ends.
    pub(crate) unsafe fn enter_top_level(
        &mut self,
        thread: Stack,
        generator: Generator,
        host: Option<&mut dyn Host>,
    ) {
        let kept = std::mem::take(&mut self.unheard);
        // SAFETY: the caller of this function makes the same promise.
        unsafe { self.enter(thread, generator, host) };
        self.unheard = kept;
        self.loading = true;
    }

    /// Unsets the task and returns its generator.
    pub(crate) fn leave(&mut self) -> Generator {
        self.host = None;
        self.thread = None;
        self.loading = false;
        self.generator.clone()
    }

    /// The host, if there is one.
    pub(crate) fn host(&mut self) -> Option<&mut dyn Host> {
        // SAFETY: the host is borrowed from `enter` to `leave`, and the result borrows the machine.
        self.host.map(|mut host| unsafe { host.as_mut() })
    }

    /// Prints text (`io.write`). Each line is printed once it has ended.
    pub(crate) fn write(&mut self, text: &str) {
        let mut lines = text.split('\n');
        let last = lines.next_back().unwrap_or_default();
        lines.for_each(|line| self.print(line));
        self.unfinished_line.push_str(last);
    }

    /// Takes the beginning of a line that has not ended; `None` if there is none.
    pub(crate) fn take_unfinished_line(&mut self) -> Option<String> {
        Some(std::mem::take(&mut self.unfinished_line)).filter(|line| !line.is_empty())
    }

    /// Ends a line with this text.
    pub(crate) fn print(&mut self, end: &str) {
        let line = std::mem::take(&mut self.unfinished_line) + end;
        match self.host.filter(|_| !self.loading) {
            // SAFETY: the host is borrowed from `enter` to `leave`.
            Some(mut host) => unsafe { host.as_mut() }.print(&line),
            None => self.unheard.push(line),
        }
    }

    /// Ends the process. While an entry point runs, asks the host to do so. Otherwise, first writes the lines that the
    /// script's top level printed, and then ends the process. Errors of the output are ignored, because a panic would
    /// unwind through Lua.
    pub(crate) fn exit(&mut self, status: i32) {
        if !self.loading
            && let Some(host) = self.host()
        {
            return host.exit(status);
        }
        let mut out = std::io::stdout().lock();
        for line in self.unheard.drain(..) {
            let _ = writeln!(out, "{line}");
        }
        let _ = out.write_all(std::mem::take(&mut self.unfinished_line).as_bytes());
        drop(out);
        std::process::exit(status);
    }

    /// The reason why a function on `thread` cannot yield, if any.
    pub(crate) fn obstacle(&self, thread: Stack) -> Option<&'static str> {
        if self.host.is_none() {
            Some(
                "nothing can wait for the database at the top level of a script: do it in thread_init(), or use --scheduler=thread",
            )
        } else if self.blocking || self.loading {
            None
        } else if self.thread != Some(thread) {
            Some("a coroutine of the script's own cannot wait for the database: use --scheduler=thread")
        } else if !thread.yieldable() {
            Some(
                "a function that table.sort, string.gsub or the like calls cannot wait for the database: \
                 use --scheduler=thread",
            )
        } else {
            None
        }
    }

    /// Whether requests of the running task are answered at once.
    pub(crate) fn answers_at_once(&self) -> bool {
        self.blocking || self.loading
    }

    /// Answers a request at once.
    pub(crate) fn call(&mut self, request: Request<'_>) -> Reply {
        self.connects_at_load |= self.loading && matches!(request, Request::Connect);
        self.host().map_or(Reply::Done, |host| host.call(request))
    }

    /// An integer from `low` to `high`, from the given or the default distribution.
    pub(crate) fn draw(&mut self, shape: Option<Shape>, low: i64, high: i64) -> i64 {
        let shape = shape.unwrap_or(self.distributions.default);
        self.distributions.draw(shape, &mut self.generator, low, high)
    }
}

/// A machine at a fixed address, which Lua's functions use.
#[derive(Debug)]
pub(crate) struct OwnedMachine(NonNull<Machine>);

impl OwnedMachine {
    pub(crate) fn new(machine: Machine) -> Self {
        Self(NonNull::from(Box::leak(Box::new(machine))))
    }

    /// The address, for Lua.
    pub(crate) fn pointer(&self) -> NonNull<Machine> {
        self.0
    }

    /// The machine, while Lua does not run.
    pub(crate) fn get(&mut self) -> &mut Machine {
        // SAFETY: it lives as long as `self`, and Lua's functions have it only while they run.
        unsafe { self.0.as_mut() }
    }
}

impl Drop for OwnedMachine {
    fn drop(&mut self) {
        // SAFETY: the pointer came from a box, and no one uses it after this.
        drop(unsafe { Box::from_raw(self.0.as_ptr()) });
    }
}
