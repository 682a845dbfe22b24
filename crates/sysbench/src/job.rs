//! Makes a job for the load from options and a script.

use std::collections::BTreeMap;

use dyno_load::{IoMethod, Job, LostConnections, Scheduler, Script, Tuning, builtin_workload};
use dyno_script::{Config, Host, MemoryLimit, OptionKind, Refused, Runtime, ScriptInfo, parse_number};

use crate::failure::Failure;
use crate::options::settings::{Compat, Settings};
use crate::options::target::target;
use crate::options::{Arguments, Given, find, nearest};

/// Time limit for the last events of a run without `--forced-shutdown`, in seconds. A year is practically no limit.
const PATIENCE_SECONDS: f64 = 365.0 * 86_400.0;

/// MySQL's errors of a lost connection: `CR_SERVER_GONE_ERROR`, `CR_SERVER_LOST` and `CR_SERVER_LOST_EXTENDED`. As
/// in sysbench, a load that ignores one of them connects anew.
const LOST_CONNECTION: [&str; 3] = ["2006", "2013", "2055"];

/// The job that carries out `command` of a script.
pub(crate) fn job(
    arguments: &Arguments,
    settings: &Settings,
    script: Script,
    command: &str,
) -> Result<Job, Failure> {
    let values = &arguments.values;
    let runs = command == "run";
    let script = Script { source: with_luajit_command(values.text("luajit-cmd"), script.source), ..script };
    let target = target(values)?;
    let ignores_loss =
        target.ignore_errors.iter().flatten().any(|code| LOST_CONNECTION.contains(&code.as_str()));
    Ok(Job {
        target,
        script,
        command: command.to_owned(),
        options: arguments.others.iter().map(|given| (underscored(&given.name), value(given))).collect(),
        connections: settings.threads,
        scheduler: match values.text("scheduler") {
            "event" => Scheduler::Event,
            "thread" => Scheduler::Thread,
            _ => Scheduler::Auto,
        },
        io: match values.text("io") {
            "epoll" => IoMethod::Epoll,
            "uring" => IoMethod::Uring,
            _ => IoMethod::Auto,
        },
        loops: Some(values.whole("loops") as u32).filter(|&loops| loops > 0),
        warmup_seconds: if runs { settings.warmup_seconds } else { 0.0 },
        warmup_seconds_max: 0.0,
        seconds: settings.seconds.filter(|_| runs),
        events: settings.events.filter(|_| runs),
        rate: settings.rate.clone().filter(|_| runs),
        sliced: false,
        joins: Vec::new(),
        paced_slices: false,
        notes_statements: false,
        lost_connections: if runs && ignores_loss {
            LostConnections::Reconnect
        } else {
            LostConnections::Fail
        },
        replay: None,
        share: None,
        awaits_begin: false,
        checks_only: false,
        seed: settings.seed.number(),
        tick_seconds: settings.tick_seconds(),
        tuning: Tuning {
            globals: globals(arguments, settings),
            sysbench_version: settings.compat.version().to_owned(),
            arguments: arguments.written.clone(),
            trace: values.flag("mysql-debug") || values.flag("db-debug"),
            think_seconds: values.number("think-time"),
            start_seconds_max: values.number("thread-init-timeout"),
            ends_with_last_event: true,
            end_seconds_max: settings.forced_shutdown_seconds.unwrap_or(PATIENCE_SECONDS),
            checkpoints_seconds: settings.checkpoints_seconds.clone(),
        },
    })
}

/// A Lua state with the job's script, whose top level has run with this host.
pub(crate) fn runtime(job: &Job, memory: MemoryLimit, host: &mut dyn Host) -> Result<Runtime, Refused> {
    let config = Config {
        name: job.script.name.clone(),
        source: job.script.source.clone(),
        search_path: job.script.search_path.clone(),
        builtin: builtin_workload,
        arguments: job.tuning.arguments.clone(),
        options: job.options.clone(),
        globals: job.tuning.globals.clone(),
        sysbench_version: job.tuning.sysbench_version.clone(),
        driver: job.target.driver.as_str().to_owned(),
        command: job.command.clone(),
        threads: job.connections,
        seed: job.seed,
        unique: dyno_script::UniqueCounters::default(),
        memory,
        blocking: true,
        marks_functions: false,
    };
    Runtime::connected(config, host)
}

/// Refuses options that the script does not declare, and flags that are given an empty value.
pub(crate) fn check_options(given: &[Given], info: &ScriptInfo) -> Result<(), Failure> {
    if info.any_options {
        return Ok(());
    }
    let declared: Vec<String> = info.options.iter().map(|option| option.name.replace('_', "-")).collect();
    if let Some(unknown) = given.iter().find(|given| !declared.contains(&given.name)) {
        return Err(unknown_option(unknown, declared.iter().map(String::as_str)));
    }
    let is_flag = |name: &str| {
        let underscored = underscored(name);
        info.options.iter().any(|option| option.name == underscored && option.kind == OptionKind::Bool)
    };
    match given.iter().find(|given| given.value.as_deref() == Some("") && is_flag(&given.name)) {
        Some(flag) => Err(Failure::usage(format!("invalid value of --{}: '' is not on or off", flag.name))),
        None => Ok(()),
    }
}

/// The error for an unknown option, with a suggestion.
pub(crate) fn unknown_option<'a>(given: &Given, own: impl Iterator<Item = &'a str>) -> Failure {
    let general = crate::options::all().map(|option| option.definition.name);
    let hint = nearest(&given.name, own.chain(general))
        .map_or_else(String::new, |near| format!(" (did you mean --{near}?)"));
    Failure::usage(format!("invalid option: {}{hint}", given.as_written()))
}

pub(crate) fn underscored(name: &str) -> String {
    name.replace('-', "_")
}

/// The value of an option as text. If an option is given without a value, the text is empty: it sets a flag, makes a
/// text or a list empty, and is refused as a number.
fn value(given: &Given) -> String {
    given.value.clone().unwrap_or_default()
}

/// The general options in `sysbench.opt`. They are numbers where sysbench has numbers.
fn globals(arguments: &Arguments, settings: &Settings) -> BTreeMap<String, String> {
    let mut globals: BTreeMap<String, String> = arguments
        .values
        .given()
        .filter(|(name, value)| {
            !find(name).is_some_and(|option| option.is_secret)
                && (!["rate", "tx-rate"].contains(name) || parse_number(value).is_some())
        })
        .map(|(name, value)| (underscored(name), value.to_owned()))
        .collect();
    if settings.compat == Compat::V1_1 {
        globals.entry("rand_type".to_owned()).or_insert_with(|| "uniform".to_owned());
    }
    // Without a seed on the command line, scripts see the seed 0.
    globals.entry("rand_seed".to_owned()).or_insert_with(|| "0".to_owned());
    let percentile = settings.percentiles.first().copied().unwrap_or(0.0);
    globals.insert("percentile".to_owned(), percentile.to_string());
    globals
}

/// Adds a LuaJIT command, such as `jit.off()`, at the start of a script's first line, so that line numbers do not
/// change.
fn with_luajit_command(command: &str, source: String) -> String {
    match command {
        "" => source,
        command => format!("jit.{command}() {source}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(name: &str) -> Given {
        Given { name: name.to_owned(), value: Some("1".to_owned()) }
    }

    #[test]
    fn an_option_that_nobody_has_is_refused_with_its_neighbour() {
        let option = |name: &str| dyno_script::OptionSpec {
            name: name.into(),
            description: String::new(),
            default: None,
            kind: dyno_script::OptionKind::Int,
        };
        let info = ScriptInfo { options: vec![option("table_size")], ..ScriptInfo::default() };
        assert_eq!(check_options(&[given("table-size")], &info), Ok(()));
        let near = check_options(&[given("table-sizes")], &info).unwrap_err();
        assert_eq!(near.to_string(), "invalid option: --table-sizes=1 (did you mean --table-size?)");
        let general = check_options(&[given("thraeds")], &info).unwrap_err();
        assert_eq!(general.to_string(), "invalid option: --thraeds=1 (did you mean --threads?)");
        let far = check_options(&[given("qqqqqqqq")], &info).unwrap_err();
        assert_eq!(far.to_string(), "invalid option: --qqqqqqqq=1");
    }

    #[test]
    fn a_script_that_declares_nothing_takes_anything() {
        let info = ScriptInfo { any_options: true, ..ScriptInfo::default() };
        assert_eq!(check_options(&[given("whatever")], &info), Ok(()));
    }

    #[test]
    fn a_luajit_command_keeps_line_numbers() {
        assert_eq!(with_luajit_command("off", "x = 1\ny = 2".into()), "jit.off() x = 1\ny = 2");
        assert_eq!(with_luajit_command("", "x = 1".into()), "x = 1");
    }
}
