//! What the command line asks for, carried out.

use std::ffi::OsString;
use std::sync::atomic::{AtomicBool, Ordering};

use dyno_load::{Frame, Work, run_job, run_work};

use crate::failure::Failure;
use crate::job::{check_options, job, runtime};
use crate::log::{Console, Log};
use crate::native::{self, Built, Native};
use crate::options::Arguments;
use crate::report::{Ended, Hooks, Reporter, Subject, header};
use crate::settings::{Compat, Format, Settings};
use crate::{help, script};

/// Everything was done.
const SUCCESS: u8 = 0;
/// Something failed, or the command line is wrong.
const FAILURE: u8 = 1;
/// Events were dropped by `--forced-shutdown`.
const FORCED: u8 = 2;

/// Carries out `sysbench ARGUMENTS` (without the program's name) and gives the exit status. `stop` ends a test
/// early, with the report of what was measured.
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
    match arguments.test.as_deref() {
        Some("fileio") => {
            Err(Failure::fatal("there is no fileio test here: use fio, which measures files and disks"))
        }
        Some(name) if native::find(name).is_some() => {
            let test = native::find(name).expect("just found");
            native_test(test, &arguments, &settings, log, stop)
        }
        name => script_test(name, &arguments, &settings, log, stop),
    }
}

/// The first line, which tools look for.
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
    let Built { subject, introduction, events, threads } = test.build(&arguments.others, settings)?;
    log.notice(&header(settings));
    log.notice(&introduction);
    log.notice("Initializing worker threads...\n\n");
    let fewest = [settings.events, events].into_iter().flatten().min();
    let work = Work {
        warmup_seconds: settings.warmup_seconds,
        seconds: settings.seconds,
        events: fewest,
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
    let script = script::find(name)?;
    let name = name.unwrap_or(&script.name).to_owned();
    let command = arguments.command.as_deref();
    let job = job(arguments, settings, script, command.unwrap_or_default())?;
    let runtime = runtime(&job)?;
    let info = runtime.info().clone();
    check_options(&arguments.others, &info)?;
    let mut commands: Vec<&str> = info.commands.iter().map(|command| command.name.as_str()).collect();
    match command {
        Some(command) if commands.contains(&command) => {
            let parallel = info.commands.iter().any(|known| known.name == command && known.parallel);
            if parallel && settings.threads > 1 {
                log.notice("Initializing worker threads...\n\n");
            }
            return Ok(run_command(job, log, stop));
        }
        Some("run") if info.runnable => {}
        Some("run") => {
            return Err(Failure::fatal(format!("{name} cannot be run: it has no function event()")));
        }
        Some("help") if !info.options.is_empty() => {
            log.notice(&help::script(&name, &info));
            return Ok(SUCCESS);
        }
        None if commands.is_empty() && !info.runnable => {
            // All that the script does, it does at its top level: a program in Lua, perhaps with sysbench in its #!.
            runtime.printed().iter().for_each(|line| log.script(line));
            return Ok(SUCCESS);
        }
        other => {
            commands.extend(info.runnable.then_some("run"));
            let helps = !info.options.is_empty() && !commands.contains(&"help");
            commands.extend(helps.then_some("help"));
            return Err(match other {
                Some(command) => no_such_command(&name, command, &commands),
                None => no_command(&name, &commands),
            });
        }
    }
    warn_of_no_end(settings, log);
    let hooks = Hooks::new(runtime).map_err(|error| Failure::fatal(error.to_string()))?;
    let reporter = Reporter::new(log, settings, &name, Subject::Events, Some(hooks));
    Ok(watch(reporter, stop, |stop, sink| run_job(job, stop, sink)))
}

/// Runs a command of a script, of which nothing but its own words is printed.
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

/// Has the reporter told what the load does.
fn watch(
    mut reporter: Reporter<'_, '_>,
    stop: &AtomicBool,
    load: impl FnOnce(&AtomicBool, &mut dyn FnMut(Frame)),
) -> u8 {
    load(stop, &mut |frame| {
        reporter.frame(frame);
        if reporter.is_unheard() {
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
