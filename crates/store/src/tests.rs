//! Tests that written data can be read back, also by other processes and after a kill.

use std::io::Write as _;
use std::process::Command;

use crate::error::StoreError;
use crate::file::open::Store;
use crate::record::RunId;
use crate::record::run::host::HostRecord;
use crate::record::trial::columns::{CountsRecord, Usage};
use crate::record::{Allocation, Correction, CounterRecord, LeftTest, Outcome, RunRecord, TrialRecord};
use crate::run::{Ending, RunChoice, RunState};
use crate::sample::{self, File, failed_trial, trial};

#[test]
fn a_run_comes_back_as_it_was_written() {
    let mut file = File::new();
    for instance in [sample::instance("old", 0), sample::instance("new", 0), sample::instance("old", 0)] {
        file.store.put_instance(file.run, &instance).unwrap();
    }
    let allocation = Allocation { rounds: 3, between_slices: Some(0.058), ..Allocation::default() };
    file.store.put_allocation(file.run, &allocation).unwrap();
    let left = [LeftTest { step: "point-query".to_owned(), clients: 4, last_round: 7 }];
    file.store.put_left_tests(file.run, &left).unwrap();
    let records = [trial("old", 0, 1000), trial("new", 0, 2000), failed_trial("new", 1)];
    for record in &records {
        file.store.commit_trial(file.run, record).unwrap();
    }
    file.store.finish_run(file.run, Ending::Finished, 1_795_290_000_000).unwrap();
    let run = Store::open_read_only(&file.path).unwrap().load_run(RunChoice::Latest).unwrap();
    assert_eq!(run.record, sample::run());
    assert_eq!(run.systems, [sample::system("old", true), sample::system("new", false)]);
    assert_eq!(run.steps, [sample::step()]);
    assert_eq!((run.state, run.finished_at_ms), (RunState::Ended(Ending::Finished), Some(1_795_290_000_000)));
    assert_eq!(run.instances, [sample::instance("old", 0), sample::instance("new", 0)]);
    assert_eq!((run.allocation, &run.left_tests[..]), (Some(allocation), &left[..]));
    assert_eq!(run.trials.len(), 3);
    for record in records {
        let found = run
            .trials
            .iter()
            .find(|trial| (&trial.record.system_id, trial.record.round) == (&record.system_id, record.round));
        let found = found.unwrap();
        assert_eq!(file.store.samples(found.id).unwrap(), record.samples);
        assert_eq!(found.record, crate::TrialRecord { samples: Vec::new(), ..record });
    }
}

#[test]
fn a_system_is_known_better_once_it_has_started() {
    let mut file = File::new();
    let unstarted =
        crate::SystemRecord { engine_version: None, variables: Vec::new(), ..sample::system("new", false) };
    file.store.put_system(file.run, &unstarted).unwrap();
    file.store.put_system(file.run, &sample::system("new", false)).unwrap();
    let run = file.store.load_run(RunChoice::Id(file.run)).unwrap();
    assert_eq!(run.systems[1], sample::system("new", false));
}

#[test]
fn a_trial_goes_in_whole_or_not_at_all() {
    let mut file = File::new();
    let mut broken = trial("old", 0, 1000);
    broken.samples[1].number = broken.samples[0].number;
    assert!(file.store.commit_trial(file.run, &broken).is_err());
    assert_eq!(file.sql::<i64>("SELECT count(*) FROM trial"), [0]);
    file.store.commit_trial(file.run, &trial("old", 0, 1000)).unwrap();
    let again = file.store.commit_trial(file.run, &trial("old", 0, 1000));
    assert!(matches!(again, Err(StoreError::Sqlite { .. })), "a trial is measured once");
    assert_eq!(file.sql::<i64>("SELECT count(*) FROM sample"), [2]);
}

#[test]
fn trials_of_unknown_systems_are_refused() {
    let mut file = File::new();
    assert!(file.store.commit_trial(file.run, &trial("nobody", 0, 1)).is_err());
    assert!(file.store.commit_trial(RunId(99), &trial("old", 0, 1)).is_err());
}

#[test]
fn the_columns_of_both_tables_are_those_of_the_structs() {
    let file = File::new();
    for table in ["trial", "sample"] {
        let columns = file.sql::<String>(&format!("SELECT name FROM pragma_table_info('{table}')"));
        for name in
            CountsRecord::COLUMNS.iter().chain(Usage::COLUMNS).chain(crate::record::trial::latency::COLUMNS)
        {
            assert!(columns.iter().any(|column| column == name), "{table} has no {name}");
        }
    }
}

#[test]
fn what_was_not_measured_is_null_and_what_was_nothing_is_0() {
    let mut file = File::new();
    file.store.commit_trial(file.run, &trial("old", 0, 1000)).unwrap();
    file.store.commit_trial(file.run, &failed_trial("old", 1)).unwrap();
    let read = file.sql::<Option<i64>>("SELECT process_read_bytes FROM trial ORDER BY round");
    assert_eq!(read, [Some(0), None]);
    assert_eq!(file.sql::<Option<i64>>("SELECT device_flushes FROM trial ORDER BY round"), [None, None]);
    assert_eq!(
        file.sql::<Option<f64>>("SELECT latency_p95_us FROM trial ORDER BY round"),
        [Some(300.0), None]
    );
}

#[test]
fn the_views_give_the_reports_before_the_median() {
    let mut file = File::new();
    for record in
        [trial("old", 0, 1000), trial("new", 0, 1500), trial("old", 1, 1000), failed_trial("new", 1)]
    {
        file.store.commit_trial(file.run, &record).unwrap();
    }
    let rates = "SELECT operations_per_second FROM throughput WHERE system_id = 'new'";
    assert_eq!(file.sql::<f64>(rates), [150.0]);
    assert_eq!(file.sql::<f64>("SELECT ratio FROM pair"), [1.5]);
    let cpu = "SELECT server_cpu_us_per_operation FROM efficiency WHERE system_id = 'new'";
    assert_eq!(file.sql::<f64>(cpu), [4.0]);
    assert_eq!(file.sql::<Option<f64>>("SELECT fsyncs_per_operation FROM efficiency LIMIT 1"), [None]);
}

#[test]
fn the_views_of_seconds_give_rates_and_their_evenness() {
    let mut file = File::new();
    let mut uneven = trial("old", 0, 1000);
    let second = uneven.samples[1].clone();
    for (number, operations) in [(2, 0), (3, 50)] {
        let mut sample = second.clone();
        sample.number = number;
        sample.measured.counts.operations = operations;
        uneven.samples.push(sample);
    }
    file.store.commit_trial(file.run, &uneven).unwrap();
    let rates = "SELECT operations_per_second FROM per_second WHERE phase = 'measure' ORDER BY number";
    assert_eq!(file.sql::<f64>(rates), [100.0, 0.0, 50.0]);
    let steadiness = |column: &str| file.sql::<f64>(&format!("SELECT {column} FROM steadiness"));
    assert_eq!(steadiness("operations_per_second"), [50.0]);
    assert_eq!(steadiness("worst_operations_per_second"), [0.0]);
    assert_eq!(steadiness("1.0 * stalled_seconds"), [1.0]);
    // The variance of 100, 0 and 50 is 5000 / 3, and the square of their mean is 2500.
    let variation = steadiness("squared_coefficient_of_variation")[0];
    assert!((variation - 2.0 / 3.0).abs() < 1e-9, "{variation}");
}

#[test]
fn settings_that_differ_from_the_base_s_are_seen_where_either_lacks_one() {
    let mut file = File::new();
    let mut system = sample::system("new", false);
    system.variables = [("autocommit", "ON"), ("flush", "2"), ("sync_binlog", "1")]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .to_vec();
    file.store.put_system(file.run, &system).unwrap();
    let mut base = sample::system("old", true);
    base.variables.push(("only_here".to_owned(), "x".to_owned()));
    file.store.put_system(file.run, &base).unwrap();
    let differences = file.sql::<String>(
        "SELECT name || ' ' || ifnull(base_value, 'none') || ' ' || ifnull(value, 'none')
         FROM setting_difference ORDER BY name",
    );
    assert_eq!(differences, ["flush none 2", "only_here x none", "sync_binlog 0 1"]);
}

#[test]
fn the_queries_in_the_documentation_work() {
    let mut file = File::new();
    for (number, of_new) in [(0, 1500), (1, 3000), (2, 1000)] {
        for (system, operations) in [("old", 1000), ("new", of_new)] {
            let counter = CounterRecord {
                name: "Com_select".to_owned(),
                is_gauge: false,
                first: 0.0,
                last: operations as f64 * if system == "old" { 1.0 } else { 2.0 },
                values: Vec::new(),
            };
            let trial = TrialRecord { counters: vec![counter], ..trial(system, number, operations) };
            file.store.commit_trial(file.run, &trial).unwrap();
        }
    }
    let document = include_str!("../../../docs/reference/results-file.md");
    let version = file.sql::<i64>("PRAGMA user_version")[0];
    assert!(document.contains(&format!("is the number of this format, **{version}**")), "{version}");
    let queries: Vec<&str> =
        document.split("```sql\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    let [median, settings, seconds, steadiness, counters] = queries[..] else { panic!("{queries:?}") };
    let column = |column: &str, query: &str| {
        file.sql::<f64>(&format!("SELECT {column} FROM ({})", query.trim().trim_end_matches(';')))
    };
    assert_eq!(column("median_ratio", median), [1.5]);
    assert!(file.sql::<String>(settings).is_empty());
    assert_eq!(file.sql::<i64>(seconds), [0, 1]);
    assert_eq!(column("worst_to_mean", steadiness), [1.0; 6]);
    assert_eq!(column("per_operation / base_per_operation", counters), [2.0]);
}

#[test]
fn readers_work_while_a_trial_is_being_written() {
    let mut file = File::new();
    let reader = Store::open_read_only(&file.path).unwrap();
    file.store.commit_trial(file.run, &trial("old", 0, 1000)).unwrap();
    let writing = file.store.connection.transaction().unwrap();
    writing.execute("UPDATE run SET plan_name = 'half done'", []).unwrap();
    let run = reader.load_run(RunChoice::Latest).unwrap();
    assert_eq!((run.trials.len(), &run.record.plan_name[..]), (1, "first-look"));
    assert_eq!(run.state, RunState::Running);
}

#[test]
fn runs_are_listed_with_what_became_of_their_trials() {
    let mut file = File::new();
    file.store.commit_trial(file.run, &trial("old", 0, 1000)).unwrap();
    file.store.commit_trial(file.run, &failed_trial("new", 0)).unwrap();
    file.store.finish_run(file.run, Ending::Interrupted, 1).unwrap();
    let second = file.store.create_run(&sample::run()).unwrap();
    let runs = file.store.runs().unwrap();
    assert_eq!(runs.iter().map(|run| run.id).collect::<Vec<_>>(), [file.run, second]);
    assert_eq!((runs[0].completed_trials, runs[0].failed_trials), (1, 1));
    assert_eq!((runs[0].state, runs[1].state), (RunState::Ended(Ending::Interrupted), RunState::Running));
}

#[test]
fn a_run_begins_with_all_of_its_steps_and_systems_or_not_at_all() {
    let mut file = File::new();
    let (run, step, system) = (sample::run(), sample::step(), sample::system("old", true));
    file.store.begin_run(&run, &[step.clone(), step.clone()], &[]).unwrap_err();
    assert_eq!(file.store.runs().unwrap().len(), 1, "the file's own");
    let id = file.store.begin_run(&run, &[step], &[system]).unwrap();
    let run = file.store.load_run(RunChoice::Id(id)).unwrap();
    assert_eq!((run.steps.len(), run.systems.len()), (1, 1));
}

#[test]
fn a_run_that_is_not_there_is_named_with_those_that_are() {
    let mut file = File::new();
    file.store.create_run(&sample::run()).unwrap();
    let error = file.store.load_run(RunChoice::Id(RunId(9))).unwrap_err();
    assert!(error.to_string().ends_with("dyno.db: has no run 9; it holds runs 1 to 2"), "{error}");
}

/// Environment variable that tells [`killed_writer`] which file to write.
const VICTIM: &str = "DYNO_STORE_VICTIM";

#[test]
#[ignore = "no test by itself: the process that a_killed_run_keeps_its_trials starts and kills"]
fn killed_writer() {
    let Some(path) = std::env::var_os(VICTIM) else { return };
    let mut store = Store::open(path.as_ref()).unwrap();
    let run = store.create_run(&sample::run()).unwrap();
    store.put_system(run, &sample::system("old", true)).unwrap();
    store.add_step(run, &sample::step()).unwrap();
    store.commit_trial(run, &trial("old", 0, 1000)).unwrap();
    let writing = store.connection.transaction().unwrap();
    writing.execute("UPDATE trial SET operations = 0", []).unwrap();
    println!("committed");
    std::io::stdout().flush().unwrap();
    std::thread::sleep(std::time::Duration::from_secs(600));
}

#[test]
fn a_killed_run_keeps_its_trials() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("dyno.db");
    let mut victim = Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "tests::killed_writer", "--nocapture"])
        .env(VICTIM, &path)
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let output = std::io::BufReader::new(victim.stdout.take().unwrap());
    let mut lines = std::io::BufRead::lines(output);
    assert!(lines.any(|line| line.unwrap().ends_with("committed")), "the victim ended early");
    let state = |store: &Store| store.load_run(RunChoice::Latest).unwrap().state;
    assert_eq!(state(&Store::open_read_only(&path).unwrap()), RunState::Running);
    victim.kill().unwrap();
    victim.wait().unwrap();
    let store = Store::open_read_only(&path).unwrap();
    let run = store.load_run(RunChoice::Latest).unwrap();
    assert_eq!((run.state, run.finished_at_ms), (RunState::Killed, None));
    let [kept] = &run.trials[..] else { panic!("{:?}", run.trials) };
    assert_eq!(kept.record.outcome, Outcome::Completed);
    assert_eq!(kept.record.measured.as_ref().unwrap().counts.operations, 1000);
    assert_eq!(store.samples(kept.id).unwrap().len(), 2);
}

#[test]
fn a_failed_trial_makes_way_for_the_next_attempt() {
    let mut file = File::new();
    file.store.commit_trial(file.run, &failed_trial("new", 0)).unwrap();
    file.store.commit_trial(file.run, &trial("new", 0, 1000)).unwrap();
    assert_eq!(file.sql::<String>("SELECT outcome FROM trial"), ["completed"]);
}

#[test]
fn a_trial_that_is_run_again_supersedes_the_one_before_and_deletes_nothing() {
    let mut file = File::new();
    let first = file.store.commit_trial(file.run, &trial("new", 0, 1000)).unwrap();
    let second = file.store.commit_rerun(file.run, &trial("new", 0, 2000)).unwrap();
    let third = file.store.commit_rerun(file.run, &trial("new", 0, 3000)).unwrap();
    let run = file.store.load_run(RunChoice::Latest).unwrap();
    let ids = |trials: &[crate::Trial]| trials.iter().map(|trial| trial.id).collect::<Vec<_>>();
    assert_eq!((ids(&run.trials), ids(&run.superseded)), (vec![third], vec![first, second]));
    assert_eq!(file.store.samples(first).unwrap().len(), 2);
    assert_eq!(file.sql::<i64>("SELECT trial_id FROM throughput"), [third.0]);
    assert_eq!(file.store.runs().unwrap()[0].completed_trials, 1);
}

#[test]
fn two_processes_cannot_take_up_one_run() {
    let mut file = File::new();
    file.store.finish_run(file.run, Ending::Interrupted, 1_795_290_000_000).unwrap();
    // Another process has resumed the run first.
    let other = crate::file::owner::describe(std::os::unix::process::parent_id()).unwrap();
    let connection = rusqlite::Connection::open(file.store.path()).unwrap();
    connection.execute("UPDATE run SET status = 'running', owner = ?1", [other]).unwrap();
    let resumption = crate::ResumptionRecord {
        resumed_at_ms: 1_795_291_000_000,
        host: HostRecord::default(),
        differences: Vec::new(),
    };
    let refused = file.store.resume_run(file.run, &resumption);
    assert!(matches!(refused, Err(StoreError::Running { .. })), "{refused:?}");
    assert_eq!(file.store.load_run(RunChoice::Latest).unwrap().resumptions, []);
}

#[test]
fn a_run_that_is_taken_up_again_runs_and_keeps_what_changed() {
    let mut file = File::new();
    file.store.finish_run(file.run, Ending::Interrupted, 1_795_290_000_000).unwrap();
    let resumption = crate::ResumptionRecord {
        resumed_at_ms: 1_795_291_000_000,
        host: HostRecord { cpus: Some(4), ..HostRecord::default() },
        differences: vec!["the host has 4 CPUs, it had 2".to_owned()],
    };
    file.store.resume_run(file.run, &resumption).unwrap();
    file.store.put_audit(file.run, &serde_json::json!({ "warnings": [] })).unwrap();
    let run = file.store.load_run(RunChoice::Latest).unwrap();
    assert_eq!((run.state, run.finished_at_ms), (RunState::Running, None));
    assert_eq!(run.resumptions, [resumption]);
    assert_eq!(run.audit, Some(serde_json::json!({ "warnings": [] })));
}

#[test]
fn every_correction_is_kept() {
    for correction in [Correction::MaxT, Correction::Holm, Correction::Fdr, Correction::None] {
        let mut file = File::new();
        let run = RunRecord { correction, ..sample::run() };
        let id = file.store.begin_run(&run, &[sample::step()], &[]).unwrap();
        assert_eq!(file.store.load_run(RunChoice::Id(id)).unwrap().record.correction, correction);
    }
}
