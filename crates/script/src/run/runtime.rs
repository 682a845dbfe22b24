//! A Lua state and its tasks.

use std::ffi::CString;

use crate::data::random::Generator;
use crate::error::{Refused, ScriptError};
use crate::lua::{InterruptHandle, Kind, MemoryLimit, Resumed, Stack, State, interruptible};
use crate::native::push_reply;
use crate::prelude::Prelude;
use crate::probe::{Probe, Silent, Stage, Stamps};
use crate::run::entry::{Entry, Progress, push_entry};
use crate::run::machine::{Machine, OwnedMachine};
use crate::run::request::{Host, Reply};
use crate::run::task::{Activity, Task, TaskId};
use crate::settings::config::Config;
use crate::settings::info::{RunBy, ScriptInfo};
use crate::settings::values::Values;

/// The `errcode` of an error that restarts its event (`sysbench.error.RESTART_EVENT`).
const RESTART_EVENT: f64 = 1.0;

/// A LuaJIT state for one OS thread. Its tasks run as coroutines, each with its own globals.
#[derive(Debug)]
pub struct Runtime {
    /// The script's name.
    name: String,
    tasks: Vec<Task>,
    info: ScriptInfo,
    printed: Vec<String>,
    prelude: Prelude,
    seed: u64,
    interrupt: InterruptHandle,
    /// Dropped before the machine, which Lua's functions use.
    state: State,
    machine: OwnedMachine,
}

impl Runtime {
    /// Compiles the script and runs its top level once, to read its declarations. The top level cannot use a
    /// database.
    ///
    /// # Errors
    /// The script does not compile, its top level raises an error, or an option has an invalid value.
    pub fn new(config: Config) -> Result<Self, Refused> {
        Self::open(config, None)
    }

    /// Like [`new`](Self::new), but `host` answers requests that the script makes at its top level.
    ///
    /// # Errors
    /// As for `new`.
    pub fn connected(config: Config, host: &mut dyn Host) -> Result<Self, Refused> {
        Self::open(config, Some(host))
    }

    /// Creates a state for a script whose declarations have been read before, with the same options. Runs nothing.
    ///
    /// # Errors
    /// An option has an invalid value.
    pub fn declared(config: &Config, info: ScriptInfo) -> Result<Self, Refused> {
        let (mut runtime, mut values) = Self::load(config)?;
        values.add_script(&config.options, &info)?;
        runtime.info = info;
        runtime.set_options(&values)?;
        Ok(runtime)
    }

    /// Compiles a script without running any of it.
    ///
    /// # Errors
    /// The script does not compile, or it is not text.
    pub fn check_syntax(name: &str, source: &str, memory: MemoryLimit) -> Result<(), ScriptError> {
        if source.starts_with('\u{1b}') {
            return Err(ScriptError::Runtime(format!("{name}: compiled Lua, where a text is expected")));
        }
        // The first line may name an interpreter.
        let first = if source.starts_with('#') { source.find('\n').unwrap_or(source.len()) } else { 0 };
        let chunk = CString::new(format!("@{name}")).unwrap_or_default();
        let state = State::open(memory).ok_or(ScriptError::Memory)?;
        state.stack().load(&source.as_bytes()[first..], &chunk).map_err(ScriptError::Runtime)
    }

    fn open(config: Config, host: Option<&mut dyn Host>) -> Result<Self, Refused> {
        let (mut runtime, values) = Self::load(&config)?;
        match runtime.probe(config, values, host) {
            Ok(()) => Ok(runtime),
            Err(error) => {
                let machine = runtime.machine.get();
                let mut printed = std::mem::take(&mut machine.unheard);
                printed.extend(machine.take_unfinished_line());
                Err(Refused { error, printed })
            }
        }
    }

    /// Creates a state with the prelude and the general options.
    fn load(config: &Config) -> Result<(Self, Values), ScriptError> {
        let values = Values::general(config)?;
        let state = State::open(config.memory.clone()).ok_or(ScriptError::Memory)?;
        let machine = OwnedMachine::new(Machine::new(config, values.distributions()));
        let prelude = Prelude::load(state.stack(), machine.pointer(), config)?;
        let mut runtime = Self {
            name: config.name.clone(),
            tasks: Vec::new(),
            info: ScriptInfo::default(),
            printed: Vec::new(),
            prelude,
            seed: config.seed,
            interrupt: InterruptHandle::of_this_thread(),
            state,
            machine,
        };
        runtime.set_options(&values)?;
        Ok((runtime, values))
    }

    /// The script's declarations.
    pub fn info(&self) -> &ScriptInfo {
        &self.info
    }

    /// The lines that the script's top level printed when the declarations were read.
    pub fn printed(&self) -> &[String] {
        &self.printed
    }

    /// A handle with which other threads can stop the script.
    pub fn interrupt_handle(&self) -> InterruptHandle {
        self.interrupt.clone()
    }

    /// Memory that Lua uses, in bytes.
    pub fn memory_bytes(&self) -> usize {
        self.state.memory_bytes()
    }

    /// Runs a full garbage collection.
    pub fn collect_garbage(&mut self) {
        self.state.collect_garbage();
    }

    /// Creates a task: an environment in which the script's top level is run. The top level cannot use a database.
    ///
    /// # Errors
    /// The top level raises an error.
    pub fn spawn(&mut self, tid: u32) -> Result<TaskId, ScriptError> {
        self.add_task(tid, None)
    }

    /// As [`spawn`](Self::spawn), with a host that answers the top level's requests at once.
    ///
    /// # Errors
    /// The top level raises an error.
    pub fn spawn_connected(&mut self, tid: u32, host: &mut dyn Host) -> Result<TaskId, ScriptError> {
        self.add_task(tid, Some(host))
    }

    /// Drops output of tasks' top levels that no entry point has printed yet.
    pub fn hush(&mut self) {
        let machine = self.machine.get();
        machine.unheard.clear();
        machine.take_unfinished_line();
    }

    /// Takes the output of tasks' top levels since they were spawned. If it is not taken, the next entry point
    /// prints it.
    pub fn take_printed(&mut self) -> Vec<String> {
        std::mem::take(&mut self.machine.get().unheard)
    }

    /// Takes the beginning of a line that the script has not ended (`io.write`).
    pub fn take_unfinished_line(&mut self) -> Option<String> {
        self.machine.get().take_unfinished_line()
    }

    fn add_task(&mut self, tid: u32, host: Option<&mut dyn Host>) -> Result<TaskId, ScriptError> {
        let task = self.new_task(tid, host)?;
        self.tasks.push(task);
        Ok(TaskId(self.tasks.len() - 1))
    }

    /// Calls an entry point in a task. The call starts with the next [`resume`](Self::resume). Returns false if the
    /// script does not define the entry point. If the task waits for a reply, its current function is aborted
    /// first.
    ///
    /// # Errors
    /// The script defines something other than a function with that name.
    pub fn start(&mut self, task: TaskId, entry: Entry<'_>) -> Result<bool, ScriptError> {
        let main = self.state.stack();
        let task = &mut self.tasks[task.0];
        task.settle(main);
        task.activity = if matches!(entry, Entry::Event) { Activity::Event } else { Activity::Other };
        let name = push_entry(task, self.prelude, main, entry)?;
        match task.thread.kind(1) {
            Kind::Nil => {
                task.thread.truncate(0);
                Ok(false)
            }
            Kind::Function => {
                task.arguments = Some(task.thread.len() - 1);
                Ok(true)
            }
            _ => Err(ScriptError::NoFunction { name: name.to_owned(), what: task.thread.type_name(1) }),
        }
    }

    /// Hints that a task is resumed soon.
    pub fn prefetch(&self, task: TaskId) {
        if let Some(task) = self.tasks.get(task.0) {
            task.thread.prefetch();
        }
    }

    /// Runs a task until it waits or ends.
    ///
    /// # Errors
    /// The script raised an error. Another entry point can be started afterwards.
    ///
    /// # Panics
    /// The task does not wait for a reply, and no entry point has been started.
    pub fn resume(
        &mut self,
        id: TaskId,
        host: &mut dyn Host,
        reply: Reply,
    ) -> Result<Progress<'_>, ScriptError> {
        self.resume_as::<Silent>(id, host, reply)
    }

    /// As [`resume`](Self::resume), with marks around Lua ([`Stage::Lua`]).
    ///
    /// # Errors
    /// As for `resume`.
    ///
    /// # Panics
    /// As `resume`.
    pub fn resume_marked(
        &mut self,
        id: TaskId,
        host: &mut dyn Host,
        reply: Reply,
    ) -> Result<Progress<'_>, ScriptError> {
        self.resume_as::<Stamps>(id, host, reply)
    }

    fn resume_as<P: Probe>(
        &mut self,
        id: TaskId,
        host: &mut dyn Host,
        reply: Reply,
    ) -> Result<Progress<'_>, ScriptError> {
        let task = &mut self.tasks[id.0];
        let arguments = task.arguments.take().unwrap_or_else(|| {
            assert!(task.thread.suspended(), "a task is resumed that does nothing");
            push_reply(task.thread, reply)
        });
        // SAFETY: `leave` is called before `host` can end.
        unsafe { self.machine.get().enter(task.thread, task.generator.clone(), Some(host)) };
        let thread = task.thread;
        let run = || {
            let outer = P::enter(Stage::Lua);
            let resumed = thread.resume(arguments);
            P::enter(outer);
            resumed
        };
        let ((resumed, refused), interrupted) = interruptible(thread, || self.state.limited(run));
        let machine = self.machine.get();
        task.generator = machine.leave();
        match resumed {
            Resumed::Yielded => machine.pending.take().map(Progress::Waiting).ok_or_else(|| {
                task.renew(self.state.stack());
                ScriptError::Yield
            }),
            Resumed::Returned if task.activity == Activity::RestartHook => {
                task.thread.truncate(0);
                Ok(Progress::Restart)
            }
            Resumed::Returned => {
                let stop = task.thread.truthy(1);
                task.thread.truncate(0);
                Ok(Progress::Finished { stop })
            }
            Resumed::Raised if interrupted => {
                let message = task.thread.pop_error();
                task.renew(self.state.stack());
                Err(ScriptError::Interrupted(message))
            }
            Resumed::Raised if refused => {
                task.renew(self.state.stack());
                Err(self.over_the_limit())
            }
            Resumed::Raised => self.raised(id, host),
        }
    }

    /// The error of a script that was refused memory.
    fn over_the_limit(&self) -> ScriptError {
        let limit_mib = self.state.memory_limit().mib();
        ScriptError::MemoryLimit { script: self.name.clone(), limit_mib }
    }

    /// Handles the error on top of the task's stack.
    fn raised(&mut self, id: TaskId, host: &mut dyn Host) -> Result<Progress<'_>, ScriptError> {
        let main = self.state.stack();
        let task = &mut self.tasks[id.0];
        if task.activity != Activity::Event || !restarts(task.thread) {
            self.prelude.push(main, "told");
            task.thread.move_to(main, 1);
            task.push_environment(main);
            task.renew(main);
            // If there is too little memory to print the error, the returned error says so.
            return Err(ScriptError::Runtime(match main.call(2, 1) {
                Ok(()) => main.pop_error(),
                Err(error) => error,
            }));
        }
        task.thread.move_to(main, 1);
        task.renew(main);
        task.push_hook("before_restart_event");
        if task.thread.is_nil(-1) {
            task.thread.pop();
            main.pop();
            return Ok(Progress::Restart);
        }
        main.move_to(task.thread, 1);
        task.arguments = Some(1);
        task.activity = Activity::RestartHook;
        self.resume(id, host, Reply::Done)
    }

    /// Runs the script's top level in a new environment.
    fn new_task(&mut self, tid: u32, host: Option<&mut dyn Host>) -> Result<Task, ScriptError> {
        let main = self.state.stack();
        self.prelude.push(main, "environment");
        main.push_number(f64::from(tid));
        main.call(1, 1).map_err(ScriptError::Runtime)?;
        let mut task = Task::new(main, tid, Generator::new(self.seed, tid));
        self.prelude.push(task.thread, "run_script");
        // SAFETY: `leave` is called before `host` can end.
        unsafe { self.machine.get().enter_top_level(task.thread, task.generator.clone(), host) };
        let ((outcome, refused), interrupted) =
            interruptible(task.thread, || self.state.limited(|| task.thread.call(0, 0)));
        task.generator = self.machine.get().leave();
        match outcome {
            Ok(()) => Ok(task),
            Err(message) => {
                task.release(main);
                Err(match (refused, interrupted) {
                    (true, _) => self.over_the_limit(),
                    (false, true) => ScriptError::Interrupted(message),
                    (false, false) => ScriptError::Runtime(message),
                })
            }
        }
    }

    /// Runs the script's top level to read its declarations, and sets the values of its options.
    fn probe(
        &mut self,
        config: Config,
        mut values: Values,
        host: Option<&mut dyn Host>,
    ) -> Result<(), ScriptError> {
        let main = self.state.stack();
        let task = self.new_task(0, host)?;
        let printed = self.machine.get().unheard.len();
        self.prelude.push(main, "declare");
        task.push_environment(main);
        main.call(1, 1).map_err(|detail| ScriptError::Declaration { script: config.name, detail })?;
        let mut info = std::mem::take(&mut self.machine.get().declared);
        info.any_options = !main.truthy(-1);
        main.pop();
        info.hooks = task.has_function("init") || task.has_function("done");
        info.reports = task.has_hook("report_intermediate") || task.has_hook("report_cumulative");
        info.connects_at_load = self.machine.get().connects_at_load;
        info.run = match (task.has_function("thread_run"), task.has_function("event")) {
            (true, _) => RunBy::OwnLoop,
            (false, true) => RunBy::Events,
            (false, false) => RunBy::Nothing,
        };
        values.add_script(&config.options, &info)?;
        self.info = info;
        self.set_options(&values)?;
        self.check_options(&task, &values)?;
        // The lines of the top level are removed from the machine, because the top level of each task prints them
        // again. The lines that the checks printed stay in the machine until a host prints them.
        self.printed = self.machine.get().unheard.drain(..printed).collect();
        self.printed.extend(self.machine.get().take_unfinished_line());
        task.release(main);
        Ok(())
    }

    /// Runs the script's own checks of its options.
    fn check_options(&mut self, task: &Task, values: &Values) -> Result<(), ScriptError> {
        let main = self.state.stack();
        self.prelude.push(main, "refused_option");
        task.push_environment(main);
        values.push(main);
        match self.state.limited(|| main.call(2, 1)) {
            (Ok(()), _) => {}
            (Err(_), true) => return Err(self.over_the_limit()),
            (Err(message), false) => return Err(ScriptError::Runtime(message)),
        }
        let refused_option = main.text(-1);
        main.pop();
        match refused_option {
            Some(option) => Err(ScriptError::OptionRefused { value: values.text(&option), option }),
            None => Ok(()),
        }
    }

    /// Sets `sysbench.opt` and globals of new tasks.
    fn set_options(&mut self, values: &Values) -> Result<(), ScriptError> {
        let main = self.state.stack();
        values.push(main);
        self.prelude.set("opt");
        self.prelude.push(main, "export_options");
        main.call(0, 0).map_err(ScriptError::Runtime)
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        self.interrupt.revoke();
    }
}

/// Whether the error on top of the stack restarts its event.
fn restarts(thread: Stack) -> bool {
    thread.push_field(-1, "errcode");
    let code = thread.number(-1);
    thread.pop();
    code == Some(RESTART_EVENT)
}
