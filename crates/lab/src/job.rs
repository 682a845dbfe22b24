//! Makes the jobs of load processes.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::thread;

use dyno_load::{
    Job, Join, LostConnections, Metadata, NotedStatement, Protocol, Replay, Script, Target, Tuning,
    lua_string,
};

use crate::plan::{Background, Command, Plan, Step, System, Traffic};
use crate::schedule::Trial;

/// sysbench's general options that a step may set. They set the distribution of random ids.
const DISTRIBUTION: [&str; 6] =
    ["rand_type", "rand_pareto_h", "rand_zipfian_exp", "rand_spec_iter", "rand_spec_pct", "rand_spec_res"];
/// sysbench's option that lists the MySQL errors after which an event is run again.
const IGNORE_ERRORS: &str = "mysql_ignore_errors";
/// The option with which MySQL servers leave out descriptions of columns in results. A plan sets it in a step and not
/// in a system, so that all systems get the same value.
const METADATA: &str = "mysql_metadata";
/// sysbench's option that sends all statements as text. A plan sets it in a step and not in a system, so that all
/// systems get the same value.
const PS_MODE: &str = "db_ps_mode";

impl Plan {
    /// Returns the options of a workload. The workload's own options (`own`) override those of the data set.
    pub(crate) fn options(&self, own: &BTreeMap<String, String>) -> BTreeMap<String, String> {
        let mut options = BTreeMap::new();
        if let Some(data) = self.data {
            options.insert("tables".to_owned(), data.tables.to_string());
            options.insert("table_size".to_owned(), data.rows.to_string());
        }
        options.extend(own.clone());
        options
    }
}

/// Returns what a load does after it has lost a connection. A load fails, unless its step has events: an event may
/// restart the server, so the load then connects again.
fn lost_connections(step: &Step) -> LostConnections {
    if step.step_events.is_empty() { LostConnections::Fail } else { LostConnections::Reconnect }
}

/// Returns the job of a load, or of a trial without slices.
pub(crate) fn job(plan: &Plan, trial: &Trial, seconds: f64, target: Target) -> Job {
    let step = &plan.steps[trial.step];
    let timed = !step.is_load();
    let events = step.events();
    if let Some(traffic) = &step.traffic {
        return replayed(trial, step, traffic, target);
    }
    let options = options(plan, &plan.systems[trial.system], &step.options);
    Job {
        connections: trial.clients,
        warmup_seconds: if timed { step.warmup_seconds } else { 0.0 },
        warmup_seconds_max: if timed { step.warmup_seconds_max } else { 0.0 },
        seconds: (timed && events.is_none()).then_some(seconds),
        events: events.map(u64::from),
        rate: step.rate.clone(),
        seed: trial.seed,
        // Statements are recorded only at the step's first number of clients, because the server's query plans are the
        // same at any number of clients.
        notes_statements: step.notes_statements() && step.clients.first() == Some(&trial.clients),
        lost_connections: lost_connections(step),
        ..with_options(Job::new(target, step.script.clone(), step.command().as_str()), options)
    }
}

/// Returns the job of a trial that replays traffic.
fn replayed(trial: &Trial, step: &Step, traffic: &Traffic, target: Target) -> Job {
    Job {
        connections: trial.clients,
        seconds: traffic.seconds_max,
        replay: Some(Replay {
            file: traffic.file.clone(),
            pace: traffic.pace,
            sends_server_statements: traffic.sends_server_statements,
            reads_answers: traffic.reads_answers,
            keeps_order: traffic.keeps_order,
            keeps_examples: trial.round == 0,
        }),
        seed: trial.seed,
        ..Job::new(target, step.script.clone(), step.command().as_str())
    }
}

/// Returns the job of a trial in slices. The job's time limit for connecting is multiplied by the number of systems,
/// because the loads of all systems connect at the same time.
pub(crate) fn sliced(plan: &Plan, trial: &Trial, target: Target) -> Job {
    let job = job(plan, trial, 0.0, target);
    let start_seconds_max = job.tuning.start_seconds_max * plan.systems.len() as f64;
    Job {
        sliced: true,
        seconds: None,
        warmup_seconds: 0.0,
        warmup_seconds_max: 0.0,
        tuning: Tuning { start_seconds_max, ..job.tuning },
        ..job
    }
}

/// Returns the job of a trial that searches for a rate. Each probe of the search is a slice with its own rate.
pub(crate) fn probed(plan: &Plan, trial: &Trial, target: Target) -> Job {
    Job { paced_slices: true, ..sliced(plan, trial, target) }
}

/// Returns the job that runs a command of the trial's script, such as `explain`. The result of the job is the lines
/// that the command prints.
pub(crate) fn printing(plan: &Plan, trial: &Trial, command: &str, target: Target) -> Job {
    let step = &plan.steps[trial.step];
    let options = options(plan, &plan.systems[trial.system], &step.options);
    Job { seed: trial.seed, ..with_options(Job::new(target, step.script.clone(), command), options) }
}

/// Returns the job that checks the tables of a trial. The job has one connection for each CPU of this process.
pub(crate) fn checking(plan: &Plan, trial: &Trial, target: Target) -> Job {
    let cpus = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let connections = u32::try_from(cpus).unwrap_or(u32::MAX);
    Job { connections, ..printing(plan, trial, "check", target) }
}

/// Size, in bytes, of the large answers with which a network is measured. They are smaller than the largest packet that
/// servers allow.
pub(crate) const NETWORK_BYTES: u64 = 1_000_000;
/// Time for which a network is measured, in seconds.
const NETWORK_SECONDS: f64 = 0.5;

/// Returns the job that measures the network to a server. The job sends statements that do nothing, and statements
/// with large answers.
pub(crate) fn network(target: Target) -> Job {
    let source = format!(
        "function thread_init() con = sysbench.sql.driver():connect() end\n\
         function thread_done() con:disconnect() end\n\
         function event()\n  for _ = 1, 10 do con:query('BEGIN') con:query('COMMIT') end\n  \
         con:query(\"SELECT REPEAT('x', {NETWORK_BYTES})\")\nend"
    );
    let script =
        Script { name: "the measurement of the network".to_owned(), source, search_path: Vec::new() };
    Job { seconds: Some(NETWORK_SECONDS), ..Job::new(target, script, "run") }
}

/// Returns the job that prints the server's plans for some statements.
pub(crate) fn explaining(statements: &[NotedStatement], counts_rows: bool, target: Target) -> Job {
    let examples: Vec<String> = statements.iter().map(|statement| lua_string(&statement.example)).collect();
    let source = format!(
        "local each = require('sql.explain').each\n\
         sysbench.cmdline.commands = {{ explain = {{ function() each({{ {} }}, {counts_rows}) end }} }}",
        examples.join(", ")
    );
    let script = Script { name: "the explanation of statements".to_owned(), source, search_path: Vec::new() };
    Job::new(target, script, "explain")
}

/// Returns the job of a load that is not measured.
pub(crate) fn reload(plan: &Plan, system: &System, step: usize, seed: u64, target: Target) -> Job {
    let step = &plan.steps[step];
    let options = options(plan, system, &step.options);
    Job {
        connections: step.clients.iter().copied().max().unwrap_or(1),
        // The seed differs from the trial's seed. With the same seed, the trial would insert rows with the same values
        // as the loaded rows.
        seed: seed.rotate_left(32),
        ..with_options(Job::new(target, step.script.clone(), Command::Prepare.as_str()), options)
    }
}

/// Returns the job of a script that makes the tables with which a system starts.
pub(crate) fn preparing(plan: &Plan, system: &System, script: Script, target: Target) -> Job {
    let options = options(plan, system, &BTreeMap::new());
    Job { seed: 1, ..with_options(Job::new(target, script, Command::Prepare.as_str()), options) }
}

/// Returns the job of a background load. The job has no time limit, so the load continues until its process is ended.
pub(crate) fn background(plan: &Plan, trial: &Trial, background: &Background, target: Target) -> Job {
    let options = options(plan, &plan.systems[trial.system], &background.options);
    let join =
        |join: &dyno_store::JoinRecord| Join { at_seconds: join.at_seconds, connections: join.clients };
    Job {
        connections: background.clients,
        joins: background.joins.iter().map(join).collect(),
        lost_connections: lost_connections(&plan.steps[trial.step]),
        rate: background.rate.clone(),
        // The random numbers differ from those of the step's own workload.
        seed: !trial.seed,
        ..with_options(Job::new(target, background.script.clone(), Command::Run.as_str()), options)
    }
}

/// Returns the job that removes the tables of an earlier load.
pub(crate) fn cleanup(job: &Job) -> Job {
    Job { command: "cleanup".to_owned(), connections: 1, ..job.clone() }
}

/// Returns the options of a workload on a system, including the system's storage engine.
pub(crate) fn options(
    plan: &Plan,
    system: &System,
    own: &BTreeMap<String, String>,
) -> BTreeMap<String, String> {
    let mut options = plan.options(own);
    if let Some(storage_engine) = system.source.storage_engine() {
        options.entry("mysql_storage_engine".to_owned()).or_insert_with(|| storage_engine.to_owned());
    }
    options
}

/// Adds options to a job. Some become general options or options of the connection. The other options are for the
/// script.
fn with_options(job: Job, mut options: BTreeMap<String, String>) -> Job {
    // As in sysbench's main branch, the default is uniform. The default of sysbench 1.0.20, "special", has a hot
    // spot that few users expect.
    let mut globals = BTreeMap::from([("rand_type".to_owned(), "uniform".to_owned())]);
    globals.extend(DISTRIBUTION.iter().filter_map(|name| options.remove_entry(*name)));
    let mut target = job.target;
    if let Some(errors) = options.remove(IGNORE_ERRORS)
        && target.driver == Protocol::Mysql
    {
        target.ignore_errors = Some(errors.split(',').map(|code| code.trim().to_owned()).collect());
    }
    // A value that is not valid stays among the script's options, where it causes an error, because no script has
    // this option.
    if let Some(metadata) = options.get(METADATA).and_then(|text| metadata(text)) {
        options.remove(METADATA);
        target.metadata = metadata;
    }
    if let Some(prepared) = options.get(PS_MODE).and_then(|text| prepared_statements(text)) {
        options.remove(PS_MODE);
        target.prepared_statements = prepared;
    }
    Job { target, options, tuning: Tuning { globals, ..job.tuning }, ..job }
}

fn metadata(text: &str) -> Option<Metadata> {
    match text {
        "full" => Some(Metadata::Full),
        "spared" => Some(Metadata::Spared),
        _ => None,
    }
}

fn prepared_statements(text: &str) -> Option<bool> {
    match text {
        "auto" => Some(true),
        "disable" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use dyno_load::{Address, Protocol};

    use super::*;
    use crate::plan::testing::plan;
    use crate::schedule::{blocks, trials};

    fn job_with(options: &[(&str, &str)], driver: Protocol) -> Job {
        let mut plan = plan();
        let own = options.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        plan.steps[1].options = own.collect();
        let block = blocks(&plan)[2];
        let trial = trials(&plan, 1, block, 0).next().unwrap();
        job(&plan, &trial, 2.0, Target::new(driver, vec![Address::File("none".into())]))
    }

    #[test]
    fn ids_are_drawn_uniformly_unless_a_step_says_otherwise() {
        let plain = job_with(&[], Protocol::Mysql);
        assert_eq!(plain.tuning.globals["rand_type"], "uniform");
        let zipf = job_with(
            &[("rand_type", "zipfian"), ("rand_zipfian_exp", "0.9"), ("tables", "1")],
            Protocol::Mysql,
        );
        assert_eq!(zipf.tuning.globals["rand_type"], "zipfian");
        assert_eq!(zipf.tuning.globals["rand_zipfian_exp"], "0.9");
        assert_eq!((zipf.options.contains_key("rand_type"), zipf.options["tables"].as_str()), (false, "1"));
    }

    #[test]
    fn metadata_is_spared_where_a_step_says_so() {
        let of = |text| job_with(&[(METADATA, text)], Protocol::Mysql);
        assert_eq!(job_with(&[], Protocol::Mysql).target.metadata, Metadata::Full);
        assert_eq!(
            (of("spared").target.metadata, of("full").target.metadata),
            (Metadata::Spared, Metadata::Full)
        );
        assert!(!of("spared").options.contains_key(METADATA));
        assert!(of("none").options.contains_key(METADATA), "the script refuses it");
    }

    #[test]
    fn statements_are_sent_as_text_where_a_step_says_so() {
        let of = |text| job_with(&[(PS_MODE, text)], Protocol::Pgsql);
        assert!(job_with(&[], Protocol::Pgsql).target.prepared_statements);
        assert!(of("auto").target.prepared_statements && !of("disable").target.prepared_statements);
        assert!(!of("disable").options.contains_key(PS_MODE));
        assert!(of("none").options.contains_key(PS_MODE), "the script refuses it");
    }

    #[test]
    fn errors_to_ignore_are_for_the_database_that_they_name() {
        let errors = [(IGNORE_ERRORS, "1213, 1062")];
        let job = job_with(&errors, Protocol::Mysql);
        assert_eq!(job.target.ignore_errors, Some(vec!["1213".to_owned(), "1062".to_owned()]));
        let job = job_with(&errors, Protocol::Pgsql);
        assert_eq!((job.target.ignore_errors, job.options.contains_key(IGNORE_ERRORS)), (None, false));
    }
}
