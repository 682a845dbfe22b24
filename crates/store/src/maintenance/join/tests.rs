use serde_json::json;

use super::super::{Merged, MergedRun};
use crate::error::StoreError;
use crate::file::open::Store;
use crate::record::RunId;
use crate::record::run::attempt::AttemptRecord;
use crate::record::run::host::HostRecord;
use crate::record::{RunRecord, StepRecord, SystemRecord};
use crate::run::{Ending, Run, RunChoice};
use crate::sample::{self, File, instance, step, system, trial};

fn run() -> RunRecord {
    RunRecord { spread_id: Some("5f".to_owned()), ..sample::run() }
}

fn named(hostname: &str) -> HostRecord {
    HostRecord { hostname: Some(hostname.to_owned()), ..HostRecord::default() }
}

fn delivered(round: u32, host: &str) -> AttemptRecord {
    let host = Some(named(host));
    AttemptRecord { round, node: None, host, ended_at_ms: 7, loss: None }
}

/// The results file of a task that ran one round of both systems.
fn task(round: u32, host: &str, record: &RunRecord, version: &str) -> File {
    task_of(round, host, record, version, None)
}

/// Like [`task`], but servers run in containers of an image.
fn task_of(round: u32, host: &str, record: &RunRecord, version: &str, image: Option<&str>) -> File {
    let systems = [("old", true), ("new", false)].map(|(id, is_base)| SystemRecord {
        engine_version: Some(version.to_owned()),
        image: image.map(ToOwned::to_owned),
        ..system(id, is_base)
    });
    let mut file = File::with(record, &systems);
    for id in ["old", "new"] {
        file.store.put_instance(file.run, &instance(id, round)).unwrap();
        file.store.commit_trial(file.run, &trial(id, round, 1000 + u64::from(round))).unwrap();
    }
    file.store.put_attempt(file.run, &delivered(round, host)).unwrap();
    file.store.put_audit(file.run, &json!({ "findings": [] })).unwrap();
    file.store.finish_run(file.run, Ending::Finished, 9).unwrap();
    file
}

/// The results file of the process that submits the tasks. Its run is in progress, and its systems have never
/// started.
fn whole() -> File {
    let systems = [("old", true), ("new", false)].map(|(id, is_base)| SystemRecord {
        engine_version: None,
        image: None,
        variables: Vec::new(),
        ..system(id, is_base)
    });
    File::with(&RunRecord { host: named("desk"), ..run() }, &systems)
}

fn loaded(store: &Store) -> Run {
    store.load_run(RunChoice::Latest).unwrap()
}

#[test]
fn rounds_of_several_hosts_become_one_run_in_the_order_in_which_they_came() {
    let mut file = whole();
    for (round, host) in [(2, "b"), (0, "a"), (1, "b")] {
        let joined = file.store.join(file.run, &task(round, host, &run(), "10.11").store).unwrap();
        assert_eq!(joined, [round]);
    }
    let found = loaded(&file.store);
    let trials: Vec<_> =
        found.trials.iter().map(|trial| (trial.record.round, &*trial.record.system_id)).collect();
    assert_eq!(trials, [(2, "old"), (2, "new"), (0, "old"), (0, "new"), (1, "old"), (1, "new")]);
    // The slices and stacks of the trials were copied too.
    assert!(found.trials.iter().all(|trial| trial.record.slices.len() == 2 && trial.record.stacks.is_some()));
    assert_eq!(file.sql::<i64>("SELECT count(*) FROM sample")[0], 12);
    assert_eq!(found.instances.len(), 6);
    let hosts: Vec<_> = found.attempts.iter().map(|attempt| (attempt.round, attempt.name())).collect();
    assert_eq!(hosts, [(0, Some("a")), (1, Some("b")), (2, Some("b"))]);
    // The run's host is the first host that measured, not the host that submitted the tasks.
    assert_eq!((found.record.host, found.record.spread_id), (run().host, run().spread_id));
    assert_eq!(found.systems[0].engine_version.as_deref(), Some("10.11"));
    assert_eq!(found.systems[0].variables.len(), 2);
    assert_eq!(found.audit, Some(json!({ "findings": [] })));
    assert_eq!(file.store.check_contents().unwrap(), []);
}

#[test]
fn a_round_that_is_there_already_changes_nothing() {
    let mut file = whole();
    file.store.join(file.run, &task(0, "a", &run(), "10.11").store).unwrap();
    let before = loaded(&file.store);
    let joined = file.store.join(file.run, &task(0, "b", &run(), "10.11").store).unwrap();
    assert!(joined.is_empty(), "{joined:?}");
    assert_eq!(loaded(&file.store), before);
}

#[test]
fn lost_attempts_count_before_the_one_that_delivered() {
    let mut file = whole();
    let lost = AttemptRecord { loss: Some("down".to_owned()), host: None, ..delivered(0, "") };
    file.store.put_attempt(file.run, &lost).unwrap();
    file.store.join(file.run, &task(0, "a", &run(), "10.11").store).unwrap();
    assert_eq!(loaded(&file.store).attempts, [lost, delivered(0, "a")]);
}

#[test]
fn files_of_other_runs_are_refused_with_the_reason_and_nothing_is_taken() {
    let mut file = whole();
    file.store.join(file.run, &task(0, "a", &run(), "10.11").store).unwrap();
    let before = loaded(&file.store);
    let mut other_steps = task(1, "b", &run(), "10.11");
    let more = StepRecord { id: "more".to_owned(), position: 1, ..step() };
    other_steps.store.add_step(other_steps.run, &more).unwrap();
    let cases = [
        (
            task(1, "b", &RunRecord { spread_id: Some("other".to_owned()), ..run() }, "10.11"),
            "no round of this run",
        ),
        (task(1, "b", &RunRecord { spread_id: None, ..run() }, "10.11"), "no round of this run"),
        (task(1, "b", &RunRecord { seed: 1, ..run() }, "10.11"), "another plan, seed or scale"),
        (task(1, "b", &RunRecord { plan_text: "name = 1".to_owned(), ..run() }, "10.11"), "another plan"),
        (task(1, "b", &run(), "11.8"), "system `old` was 11.8, and is 10.11"),
        (other_steps, "other steps"),
    ];
    for (other, reason) in cases {
        let error = file.store.join(file.run, &other.store).unwrap_err();
        assert!(matches!(error, StoreError::NotOfRun { .. }), "{error}");
        assert!(error.to_string().contains(reason), "{error}");
        assert_eq!(loaded(&file.store), before);
    }
}

#[test]
fn a_merge_of_task_files_makes_one_run() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(&folder.path().join("all.db")).unwrap();
    let merged: Vec<MergedRun> = [(0, "a"), (1, "b")]
        .into_iter()
        .flat_map(|(round, host)| store.merge(&task(round, host, &run(), "10.11").store).unwrap())
        .collect();
    assert_eq!(merged[0].merged, Merged::Added(RunId(1)));
    assert_eq!(merged[1].merged, Merged::Joined { run: RunId(1), rounds: 1 });
    let found = loaded(&store);
    assert_eq!((found.trials.len(), found.attempts.len(), store.runs().unwrap().len()), (4, 2, 1));
}

#[test]
fn rounds_of_another_image_of_the_same_version_are_refused() {
    let mut file = whole();
    file.store.join(file.run, &task_of(0, "a", &run(), "8.4", Some("mysql:8.4@sha256:1")).store).unwrap();
    let other = task_of(1, "b", &run(), "8.4", Some("mysql:8.4@sha256:2"));
    let error = file.store.join(file.run, &other.store).unwrap_err().to_string();
    assert!(
        error.contains("was mysql:8.4@sha256:2, and is mysql:8.4@sha256:1 in the other rounds"),
        "{error}"
    );
}
