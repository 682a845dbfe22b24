//! Carries out the command line.

use std::ffi::OsString;
use std::sync::atomic::{AtomicBool, Ordering};

use dyno_load::{
    Frame, SHELL_OPTION, UnmeasuredConnections, Work, builtin_workload, run_job, run_work, script_memory,
};
use dyno_script::ScriptInfo;

use crate::failure::Failure;
use crate::job::{check_options, job, runtime, underscored};
use crate::log::{Console, Log};
use crate::native::{self, Built, Native};
use crate::options::Arguments;
use crate::options::settings::{Compat, Format, Settings};
use crate::report::{Ended, HookHost, Hooks, ReportedWork, Reporter, header};
use crate::{help, script};

const SUCCESS: u8 = 0;
/// Exit status if something failed, or if the command line is wrong.
const FAILURE: u8 = 1;
/// Exit status if `--forced-shutdown` dropped events.
const FORCED: u8 = 2;

/// Carries out `sysbench ARGUMENTS` (without the program's name) and returns the exit status. `stop` ends a
/// test early, with a report of the measurements so far.
pub fn run(arguments: &[OsString], console: Console<'_>, stop: &AtomicBool) -> u8 {
    let mut log = Log::new(console);
    match carry_out(arguments, &mut log, stop) {
        Ok(status) => status,
        Err(failure) => {
            match &failure {
                Failure::Usage(message) => log.complaint(message),
                Failure::Fatal(message) => log.fatal(message),
            }
            FAILURE
        }
    }
}

fn carry_out(arguments: &[OsString], log: &mut Log<'_>, stop: &AtomicBool) -> Result<u8, Failure> {
    let arguments = Arguments::parse(arguments)?;
    if arguments.values.flag("help") {
        log.result(&help::general());
        return Ok(SUCCESS);
    }
    if arguments.values.flag("version") {
        log.result(&format!("sysbench {}\n", Compat::of(&arguments.values).version()));
        return Ok(SUCCESS);
    }
    let settings = Settings::of(&arguments.values)?;
    log.configure(settings.verbosity, settings.format == Format::Json);
    for warning in &arguments.warnings {
        log.warning(warning);
    }
    log.notice(&format!("{}\n\n", banner(settings.compat)));
    let name = arguments.test.as_deref();
    if let Some(name) = name
        && let Some(other) = native::instead_of(name)
    {
        return Err(Failure::fatal(format!("there is no {name} test here: {other}")));
    }
    match name.and_then(native::find) {
        Some(test) => native_test(test, &arguments, &settings, log, stop),
        None => script_test(name, &arguments, &settings, log, stop),
    }
}

/// The first line, which other tools look for.
fn banner(compat: Compat) -> String {
    format!("sysbench {} (dyno {}, using bundled LuaJIT 2.1)", compat.version(), env!("CARGO_PKG_VERSION"))
}

fn native_test(
    test: &Native,
    arguments: &Arguments,
    settings: &Settings,
    log: &mut Log<'_>,
    stop: &AtomicBool,
) -> Result<u8, Failure> {
    match arguments.command.as_deref() {
        Some("run") => {}
        Some("help") => {
            log.notice(&help::native(test));
            return Ok(SUCCESS);
        }
        Some(command) => return Err(no_such_command(test.name, command, &["run", "help"])),
        None => return Err(no_command(test.name, &["run", "help"])),
    }
    warn_of_no_end(settings, log);
    let Built { subject, introduction, threads } = test.build(&arguments.others, settings)?;
    log.notice(&header(settings));
    log.notice(&introduction);
    log.notice("Initializing worker threads...\n\n");
    let work = Work {
        warmup_seconds: settings.warmup_seconds,
        seconds: settings.seconds,
        events: settings.events,
        rate: settings.rate.clone(),
        seed: settings.seed.number(),
        tick_seconds: settings.tick_seconds(),
        checkpoints_seconds: settings.checkpoints_seconds.clone(),
    };
    let reporter = Reporter::new(log, settings, test.name, subject, None);
    Ok(watch(reporter, stop, |stop, sink| run_work(&work, threads, stop, sink)))
}

fn script_test(
    name: Option<&str>,
    arguments: &Arguments,
    settings: &Settings,
    log: &mut Log<'_>,
    stop: &AtomicBool,
) -> Result<u8, Failure> {
    let has_shell_option = arguments.others.iter().any(|given| underscored(&given.name) == SHELL_OPTION);
    let script = script::find(name, has_shell_option)?;
    let name = name.unwrap_or(&script.name).to_owned();
    let job = job(arguments, settings, script, arguments.command.as_deref().unwrap_or_default())?;
    let memory = script_memory().map_err(|error| Failure::usage(error.to_string()))?;
    let mut connections = UnmeasuredConnections::new(job.target.clone());
    let mut host = HookHost { log, connections: &mut connections };
    let opened = runtime(&job, memory, &mut host);
    let runtime = opened.map_err(|refused| {
        refused.printed.iter().for_each(|line| log.script(line));
        Failure::fatal(refused.error.to_string())
    })?;
    let is_builtin = builtin_workload(&job.script.name) == Some(job.script.source.as_str());
    let asked = Asked::of(&name, is_builtin, arguments, runtime.info());
    if !matches!(asked, Ok(Asked::Run | Asked::Command { .. })) {
        // For a run or a command, the load prints the output of the script's top level. Otherwise there is no load, so
        // the output is printed here.
        runtime.printed().iter().for_each(|line| log.script(line));
    }
    match asked? {
        Asked::Program { commands } => {
            // As in sysbench, a command line without a command is no failure.
            if !commands.is_empty() {
                let known = commands.join(", ");
                log.warning(&format!("only the top level of '{name}' was run; its commands are: {known}"));
            }
            return Ok(SUCCESS);
        }
        Asked::Help => {
            log.notice(&help::script(&name, runtime.info()));
            return Ok(SUCCESS);
        }
        Asked::Command { parallel } => {
            drop(connections);
            if parallel && settings.threads > 1 {
                log.notice("Initializing worker threads...\n\n");
            }
            return Ok(run_command(job, log, stop));
        }
        Asked::Run => {}
    }
    warn_of_no_end(settings, log);
    let hooks = if runtime.info().reports {
        let hooks = Hooks::new(runtime, job.target.clone(), log);
        Some(hooks.map_err(|error| Failure::fatal(error.to_string()))?)
    } else {
        None
    };
    drop(connections);
    let reporter = Reporter::new(log, settings, &name, ReportedWork::Events, hooks);
    Ok(watch(reporter, stop, |stop, sink| run_job(job, stop, sink)))
}

/// The requested use of a script.
enum Asked {
    Run,
    /// A command of the script.
    Command {
        parallel: bool,
    },
    Help,
    /// Run only the top level of the script. Such a script is a complete program in Lua. Its first line may be a `#!`
    /// line that names sysbench.
    Program {
        /// The script's commands. The command line requests none of them.
        commands: Vec<String>,
    },
}

impl Asked {
    /// Finds out what the command line requests of the script with this name.
    fn of(name: &str, is_builtin: bool, arguments: &Arguments, info: &ScriptInfo) -> Result<Self, Failure> {
        check_options(&arguments.others, info)?;
        let command = arguments.command.as_deref();
        if let Some(known) = info.commands.iter().find(|known| Some(known.name.as_str()) == command) {
            return Ok(Self::Command { parallel: known.parallel });
        }
        match command {
            Some("run") if info.is_runnable() => return Ok(Self::Run),
            Some("run") => {
                return Err(Failure::fatal(format!("{name} cannot be run: it has no function event()")));
            }
            Some("help") if !info.options.is_empty() => return Ok(Self::Help),
            _ => {}
        }
        let mut commands: Vec<&str> = info.commands.iter().map(|command| command.name.as_str()).collect();
        commands.extend(info.is_runnable().then_some("run"));
        let helps = !info.options.is_empty() && !commands.contains(&"help");
        commands.extend(helps.then_some("help"));
        Err(match command {
            Some(command) => no_such_command(name, command, &commands),
            None if is_builtin => no_command(name, &commands),
            None => return Ok(Self::Program { commands: commands.into_iter().map(str::to_owned).collect() }),
        })
    }
}

/// Runs a command of a script. Prints only the output of the script itself.
fn run_command(job: dyno_load::Job, log: &mut Log<'_>, stop: &AtomicBool) -> u8 {
    let mut status = SUCCESS;
    run_job(job, stop, &mut |frame| match frame {
        Frame::Log { text } => log.script(&text),
        Frame::Failed { message, .. } => {
            log.fatal(&message);
            status = FAILURE;
        }
        _ => {}
    });
    status
}

/// Runs the load and prints its reports. Returns the exit status.
fn watch(
    mut reporter: Reporter<'_, '_>,
    stop: &AtomicBool,
    load: impl FnOnce(&AtomicBool, &mut dyn FnMut(Frame)),
) -> u8 {
    load(stop, &mut |frame| {
        reporter.frame(frame);
        if reporter.is_over() {
            stop.store(true, Ordering::Relaxed);
        }
    });
    match reporter.ended() {
        Ended::Well => SUCCESS,
        Ended::Forced => FORCED,
        Ended::Failed => FAILURE,
    }
}

fn warn_of_no_end(settings: &Settings, log: &mut Log<'_>) {
    if settings.seconds.is_none() && settings.events.is_none() {
        log.warning("neither --time nor --events ends this test: stop it with ^C");
    }
}

fn no_such_command(test: &str, command: &str, known: &[&str]) -> Failure {
    let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
    Failure::usage(format!("'{test}' has no command '{command}'; it has: {known}"))
}

fn no_command(test: &str, known: &[&str]) -> Failure {
    Failure::usage(format!("'{test}' needs a command: {}", known.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Calls the command with this script. Returns the output after the banner, and the output on standard error.
    fn called(script: &str, arguments: &[&str]) -> (String, String) {
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join("script.lua");
        std::fs::write(&path, script).unwrap();
        let arguments: Vec<OsString> =
            std::iter::once(path.into_os_string()).chain(arguments.iter().map(OsString::from)).collect();
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let console = Console { out: &mut out, err: &mut err };
        assert_eq!(run(&arguments, console, &AtomicBool::new(false)), FAILURE);
        let out = String::from_utf8(out).unwrap();
        (out.split_once("\n\n").expect("a banner").1.to_owned(), String::from_utf8(err).unwrap())
    }

    #[test]
    fn what_a_script_prints_comes_before_the_reason_why_it_is_not_run() {
        let (out, _) = called("print('step 1') error('x', 0)", &["run"]);
        assert_eq!(out, "step 1\nFATAL: x\n");
        let declares = "print('step 1') sysbench.cmdline.options = { n = { 'a number', 1 } }";
        let (out, _) = called(declares, &["--n=x", "run"]);
        assert_eq!(out, "step 1\nFATAL: option --n takes a number, not 'x'\n");
        let (out, err) = called(declares, &["--m=1", "run"]);
        assert_eq!((out.as_str(), err.as_str()), ("step 1\n", "invalid option: --m=1\n"));
    }
}
