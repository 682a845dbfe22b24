use std::fs;

use super::*;
use crate::record::{CounterRecord, RunRecord, TrialRecord};
use crate::run::{Ending, RunChoice};
use crate::sample::{self, File, failed_trial, trial};

fn counted_trial(system: &str, number: u32, counters: &[&str]) -> TrialRecord {
    let counter = |name: &&str| CounterRecord {
        name: (*name).to_owned(),
        is_gauge: false,
        first: 1.0,
        last: 9.0,
        values: vec![4.0, 9.0],
    };
    TrialRecord { counters: counters.iter().map(counter).collect(), ..trial(system, number, 1000) }
}

/// A results file with one run, which has ended.
fn ended(trials: &[TrialRecord]) -> File {
    let mut file = File::new();
    for trial in trials {
        file.store.commit_trial(file.run, trial).unwrap();
    }
    file.store.finish_run(file.run, Ending::Finished, 1_795_290_000_000).unwrap();
    file
}

/// Adds another run, which has ended.
fn add_run(file: &mut File, record: &RunRecord, trials: &[TrialRecord]) -> RunId {
    let run = file.store.create_run(record).unwrap();
    for system in [sample::system("old", true), sample::system("new", false)] {
        file.store.put_system(run, &system).unwrap();
    }
    file.store.add_step(run, &sample::step()).unwrap();
    for trial in trials {
        file.store.commit_trial(run, trial).unwrap();
    }
    file.store.finish_run(run, Ending::Finished, 1_795_290_000_000).unwrap();
    run
}

fn later_run() -> RunRecord {
    RunRecord { started_at_ms: sample::run().started_at_ms + 1, ..sample::run() }
}

fn rows(file: &File) -> Vec<i64> {
    let tables = [&["run", "trial"], crate::file::tables::OF_RUN, crate::file::tables::OF_TRIAL].concat();
    tables.iter().map(|table| file.sql::<i64>(&format!("SELECT count(*) FROM {table}"))[0]).collect()
}

#[test]
fn a_deleted_run_leaves_nothing_and_the_others_as_they_are() {
    let mut file = ended(&[counted_trial("old", 0, &["Com_select"])]);
    let before = rows(&file);
    let kept = file.store.load_run(RunChoice::Latest).unwrap();
    let second = add_run(&mut file, &later_run(), &[counted_trial("old", 0, &["Com_select", "Com_insert"])]);
    file.store.delete_run(second).unwrap();
    assert_eq!(rows(&file), before);
    assert_eq!(file.store.load_run(RunChoice::Latest).unwrap(), kept);
    assert_eq!(file.store.check_contents().unwrap(), []);
}

#[test]
fn a_run_that_is_not_there_is_not_deleted() {
    let mut file = ended(&[]);
    let error = file.store.delete_run(RunId(9)).unwrap_err();
    assert!(error.to_string().ends_with("has no run 9; it holds run 1"), "{error}");
}

#[test]
fn nothing_is_changed_while_a_run_is_running() {
    let mut file = ended(&[trial("old", 0, 1000)]);
    let other = ended(&[trial("old", 0, 1000)]);
    let running = file.store.create_run(&later_run()).unwrap();
    let before = rows(&file);
    for error in [
        file.store.delete_run(file.run).unwrap_err(),
        file.store.delete_run(running).unwrap_err(),
        file.store.vacuum().unwrap_err(),
        file.store.merge(&other.store).unwrap_err(),
    ] {
        assert!(
            error.to_string().ends_with("run 2 is running; wait until it has ended, or stop it"),
            "{error}"
        );
    }
    assert_eq!(rows(&file), before);
}

#[test]
fn a_vacuum_gives_back_what_deleted_runs_took() {
    let mut file = ended(&[]);
    let big = TrialRecord { samples: (0..100).map(big_sample).collect(), ..trial("old", 0, 1000) };
    let second = add_run(&mut file, &later_run(), &[big]);
    let bytes = file.store.run_bytes(second).unwrap();
    assert!((1_000_000..1_100_000).contains(&bytes), "{bytes}");
    assert!(file.store.run_bytes(file.run).unwrap() < 10_000);
    file.store.delete_run(second).unwrap();
    assert!(file.store.size().unwrap().free_bytes > 1_000_000);
    let (before, after) = file.store.vacuum().unwrap();
    assert!(before.bytes > 1_000_000 && after.bytes < 200_000, "{before:?} {after:?}");
    assert_eq!(after.free_bytes, 0);
    assert_eq!(fs::metadata(&file.path).unwrap().len(), after.bytes);
    assert_eq!(file.store.load_run(RunChoice::Latest).unwrap().id, file.run);
}

fn big_sample(number: u32) -> crate::SampleRecord {
    let mut sample = trial("old", 0, 1000).samples.remove(0);
    sample.number = number;
    sample.measured.latency.histogram = vec![0; 10_000];
    sample
}

#[test]
fn merging_takes_over_runs_whole_under_new_numbers() {
    let mut file = ended(&[counted_trial("old", 0, &["Com_insert"])]);
    let mut other = ended(&[]);
    let trials = [counted_trial("old", 0, &["Com_select", "Com_insert"]), failed_trial("new", 0)];
    let source = add_run(&mut other, &later_run(), &trials);
    let merged = file.store.merge(&other.store).unwrap();
    let new = RunId(2);
    assert_eq!(
        merged.iter().map(|run| run.merged).collect::<Vec<_>>(),
        [Merged::Kept(file.run), Merged::Added(new)]
    );
    let (here, there) = (
        file.store.load_run(RunChoice::Id(new)).unwrap(),
        other.store.load_run(RunChoice::Id(source)).unwrap(),
    );
    assert_eq!((&here.record, &here.systems, &here.steps), (&there.record, &there.systems, &there.steps));
    assert_eq!(here.state, there.state);
    assert_eq!(here.trials.len(), 2);
    for (here, there) in here.trials.iter().zip(&there.trials) {
        assert_eq!(here.record, there.record);
        assert_eq!(file.store.samples(here.id).unwrap(), other.store.samples(there.id).unwrap());
        assert_eq!(file.store.counters(here.id).unwrap(), other.store.counters(there.id).unwrap());
    }
    assert_eq!(file.store.check_contents().unwrap(), []);
    let again = file.store.merge(&other.store).unwrap();
    assert!(again.iter().all(|run| matches!(run.merged, Merged::Kept(_))), "{again:?}");
}

#[test]
fn of_a_run_in_both_files_the_fuller_stays() {
    let (one, two) = ([trial("old", 0, 1)], [trial("old", 0, 1), trial("new", 0, 1)]);
    let mut less = ended(&one);
    let more = ended(&two);
    let merged = less.store.merge(&more.store).unwrap();
    assert_eq!(merged, [MergedRun { source: more.run, merged: Merged::Replaced(less.run) }]);
    assert_eq!(less.store.load_run(RunChoice::Latest).unwrap().trials.len(), 2);

    let mut more = more;
    let merged = more.store.merge(&ended(&one).store).unwrap();
    assert_eq!(merged, [MergedRun { source: less.run, merged: Merged::Kept(more.run) }]);
    assert_eq!(more.store.load_run(RunChoice::Latest).unwrap().trials.len(), 2);
}

#[test]
fn a_run_that_is_running_elsewhere_is_left_out() {
    let mut file = ended(&[]);
    let mut other = ended(&[]);
    other.store.create_run(&later_run()).unwrap();
    let merged = file.store.merge(&other.store).unwrap();
    assert_eq!(merged[1], MergedRun { source: RunId(2), merged: Merged::StillRunning });
    assert_eq!(file.store.runs().unwrap().len(), 1);
}

#[test]
fn a_merge_that_fails_leaves_the_file_as_it_was() {
    let mut file = ended(&[]);
    let mut other = ended(&[]);
    add_run(&mut other, &later_run(), &[trial("old", 0, 1000)]);
    let sample = TrialRecord { samples: (0..100).map(big_sample).collect(), ..trial("old", 0, 1000) };
    add_run(&mut other, &RunRecord { seed: 3, ..later_run() }, &[sample]);
    let before = rows(&file);
    let pages = file.store.size().unwrap().bytes / 4096 + 50;
    file.store.connection.pragma_update(None, "max_page_count", pages as i64).unwrap();
    let error = file.store.merge(&other.store).unwrap_err();
    assert!(matches!(error, StoreError::DiskFull { .. }), "{error}");
    assert_eq!(rows(&file), before);
}

#[test]
fn a_check_finds_what_does_not_fit() {
    let file = ended(&[counted_trial("old", 0, &["Com_select"]), trial("new", 0, 1000)]);
    assert_eq!(file.store.check_contents().unwrap(), []);
    file.store.connection.pragma_update(None, "foreign_keys", "OFF").unwrap();
    for sql in [
        "UPDATE trial SET latency = x'00' WHERE id = 1",
        "UPDATE sample_latency SET latency = x'0102' WHERE trial_id = 2 AND number = 1",
        "DELETE FROM sample_latency WHERE trial_id = 1 AND number = 0",
        "UPDATE counter_series SET encoded = x'6980'",
        "UPDATE trial SET operations = NULL WHERE id = 2",
        "INSERT INTO variable VALUES (7, 'nobody', 'x', 'y')",
    ] {
        file.store.connection.execute(sql, []).unwrap();
    }
    let faults: Vec<_> = file.store.check_contents().unwrap().iter().map(ToString::to_string).collect();
    assert_eq!(
        faults,
        [
            "variable: a row refers to a system that is not there",
            "trial 2: completed without a result",
            "trial 1: its latency histogram cannot be read",
            "trial 1: the latency histogram of sample 0 cannot be read",
            "trial 2: the latency histogram of sample 1 cannot be read",
            "trial 1: the series of the counter Com_select cannot be read",
            "run 1: it cannot be read: Invalid column type Null at index: 15, name: operations",
        ]
    );
}

#[test]
fn a_check_finds_damage_that_opening_does_not() {
    let trials: Vec<_> = (0..20).map(|number| trial("old", number, 1000)).collect();
    let File { folder: _folder, path, store, .. } = ended(&trials);
    let (page, page_bytes): (usize, usize) = store
        .connection
        .query_row(
            "SELECT rootpage, (SELECT page_size FROM pragma_page_size) FROM sqlite_schema
             WHERE name = 'trial_system'",
            [],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )
        .unwrap();
    drop(store);
    let mut bytes = fs::read(&path).unwrap();
    bytes[(page - 1) * page_bytes..][8..200].fill(0xA5);
    fs::write(&path, bytes).unwrap();
    let store = Store::open_read_only(&path).unwrap();
    assert_eq!(store.runs().unwrap().len(), 1);
    match store.check_contents() {
        Ok(faults) => assert!(matches!(faults[..], [Fault::Structure(_), ..]), "{faults:?}"),
        Err(error) => assert!(matches!(error, StoreError::Damaged { .. }), "{error}"),
    }
}

#[test]
fn a_file_that_was_cut_short_is_known_when_it_is_opened() {
    let File { folder: _folder, path, store, .. } = ended(&[trial("old", 0, 1000)]);
    drop(store);
    let bytes = fs::read(&path).unwrap();
    fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    for error in [Store::open(&path).unwrap_err(), Store::open_read_only(&path).unwrap_err()] {
        assert!(matches!(error, StoreError::Damaged { .. }), "{error}");
    }
}
