//! Tests that each run is added to a data set once, in its partition.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use dyno_store::Ending;

use super::*;
use crate::{DatasetOptions, Grown, GrownRun, grow_dataset};

/// 2026-11-23T00:00:00Z, in milliseconds since 1970 UTC.
const MIDNIGHT_MS: i64 = 1_795_392_000_000;

/// A results file whose only run has ended.
fn ended() -> Results {
    let mut results = Results::new();
    end(&mut results, RunId(1));
    results
}

fn end(results: &mut Results, run: RunId) {
    results.store.finish_run(run, Ending::Finished, MIDNIGHT_MS).unwrap();
}

fn change(results: &Results, sql: &str) {
    rusqlite::Connection::open(results.store.path()).unwrap().execute_batch(sql).unwrap();
}

fn dataset_options() -> DatasetOptions<'static> {
    DatasetOptions { runs: None, rewrite: false, stop: &STOP }
}

fn grow_with(results: &Results, folder: &Path, options: &DatasetOptions<'_>) -> Vec<GrownRun> {
    let mut done = Vec::new();
    grow_dataset(&results.store, folder, options, &mut |run| done.push(run.clone())).unwrap();
    done
}

fn grow(results: &Results, folder: &Path) -> Vec<GrownRun> {
    grow_with(results, folder, &dataset_options())
}

/// The relative paths of all files below a folder.
fn files(folder: &Path) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    let mut open = vec![folder.to_owned()];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(next).unwrap().map(Result::unwrap) {
            if entry.file_type().unwrap().is_dir() {
                open.push(entry.path());
            } else {
                found.insert(entry.path().strip_prefix(folder).unwrap().to_owned());
            }
        }
    }
    found
}

fn rows(folder: &Path, table: &str) -> Vec<Row> {
    let of_table = files(folder).into_iter().filter(|file| file.starts_with(table));
    of_table.flat_map(|file| parquet_rows(&folder.join(file))).collect()
}

#[test]
fn a_run_is_a_file_a_table_in_the_partition_of_its_plan_date_and_host() {
    let results = ended();
    change(
        &results,
        &format!(
            "UPDATE run SET plan_name = 'night/ly', started_at_ms = {MIDNIGHT_MS},
                            host = '{{\"hostname\": \"bench-1\", \"cpu_model\": \"EPYC\", \"cpus\": 2}}'"
        ),
    );
    let folder = results.folder.path().join("set");
    let [run] = &grow(&results, &folder)[..] else { panic!() };
    let Grown::Added(volume) = run.grown else { panic!("{run:?}") };
    let found = files(&folder);
    let of =
        |table: &str| format!("{table}/plan=night%2Fly/date=2026-11-23/host=bench-1/{}.parquet", run.key);
    assert!(found.contains(Path::new(&of("trial"))) && found.contains(Path::new(&of("sample"))), "{found:?}");
    let has_rows = |table: &&tables::Table| {
        let sql = format!("SELECT EXISTS ({})", table.select);
        results.store.connection().query_row(&sql, [], |row| row.get::<_, bool>(0)).unwrap()
    };
    // No run was resumed, so the table `resumption` has no file.
    assert!(!found.iter().any(|file| file.starts_with("resumption")), "{found:?}");
    assert_eq!(found.len(), TABLES.iter().filter(has_rows).count(), "{found:?}");
    let bytes: u64 = found.iter().map(|file| fs::metadata(folder.join(file)).unwrap().len()).sum();
    let all: usize = TABLES.iter().map(|table| rows(&folder, table.name).len()).sum();
    assert_eq!((volume.bytes, volume.rows), (bytes, all as u64));

    let [trial] = &rows(&folder, "trial")[..] else { panic!() };
    assert_eq!(field(trial, "run_key"), Field::Str(run.key.clone()));
    assert_eq!(field(trial, "run_started_at_ms"), Field::Long(MIDNIGHT_MS));
    assert_eq!(
        (field(trial, "cpu_model"), field(trial, "cpus")),
        (Field::Str("EPYC".to_owned()), Field::Long(2))
    );
    assert_eq!(field(trial, "memory_bytes"), Field::Null);
    assert_eq!(field(trial, "is_base"), Field::Bool(true));
    assert_eq!(field(trial, "operations_per_second"), Field::Double(0.0));
    assert!(trial.get_column_iter().all(|(name, _)| name != "run_id"));
    let [run_row] = &rows(&folder, "run")[..] else { panic!() };
    assert!(matches!(field(run_row, "host_facts"), Field::Str(host) if host.contains("bench-1")));
    assert!(run_row.get_column_iter().all(|(name, _)| !["id", "host"].contains(&name.as_str())));
}

#[test]
fn a_run_is_added_once_from_whatever_file() {
    let mut results = ended();
    let folder = results.folder.path().join("set");
    let first = grow(&results, &folder);
    let before = files(&folder);
    let again = grow(&results, &folder);
    assert_eq!((again[0].grown, &again[0].key), (Grown::Kept, &first[0].key));
    assert_eq!(files(&folder), before);

    // In another results file, the run has another number.
    let mut other = Results::new();
    change(&other, "UPDATE run SET seed = 5");
    end(&mut other, RunId(1));
    other.store.merge(&results.store).unwrap();
    let from_other = grow(&other, &folder);
    assert!(matches!(from_other[0].grown, Grown::Added(_)), "{from_other:?}");
    assert_eq!((from_other[1].run, from_other[1].grown), (RunId(2), Grown::Kept));
    assert_eq!(rows(&folder, "trial").len(), 2);

    let second = results.add_run(2);
    end(&mut results, second);
    let options = DatasetOptions { runs: Some(vec![second]), ..dataset_options() };
    let grown = grow_with(&results, &folder, &options);
    assert!(matches!(grown[..], [GrownRun { grown: Grown::Added(_), .. }]), "{grown:?}");
    assert_eq!(rows(&folder, "run").len(), 3);
}

#[test]
fn the_more_complete_copy_of_a_run_stays() {
    let mut results = ended();
    let folder = results.folder.path().join("set");
    grow(&results, &folder);
    let older = results.folder.path().join("older.db");
    change(&results, &format!("VACUUM INTO '{}'", older.display()));
    results.add_samples(3);
    assert!(matches!(grow(&results, &folder)[0].grown, Grown::Replaced(_)));
    assert_eq!((rows(&folder, "trial").len(), rows(&folder, "sample").len()), (2, 5));
    let older = Results { folder: tempfile::tempdir().unwrap(), store: Store::open(&older).unwrap() };
    assert_eq!(grow(&older, &folder)[0].grown, Grown::Kept);
    assert_eq!(rows(&folder, "trial").len(), 2);
    let rewrite = DatasetOptions { rewrite: true, ..dataset_options() };
    assert!(matches!(grow_with(&results, &folder, &rewrite)[0].grown, Grown::Replaced(_)));
}

#[test]
fn a_run_that_was_written_in_part_is_written_again() {
    let results = ended();
    let folder = results.folder.path().join("set");
    grow(&results, &folder);
    let mark = files(&folder).into_iter().find(|file| file.starts_with("run")).unwrap();
    for left in [None, Some(&b"PAR1 cut short"[..])] {
        match left {
            None => fs::remove_file(folder.join(&mark)).unwrap(),
            Some(bytes) => fs::write(folder.join(&mark), bytes).unwrap(),
        }
        assert!(matches!(grow(&results, &folder)[0].grown, Grown::Added(_)), "{left:?}");
        assert_eq!(rows(&folder, "trial").len(), 1);
        assert_eq!(rows(&folder, "run").len(), 1);
    }
}

#[test]
fn a_run_in_progress_is_left_out() {
    let results = Results::new();
    let folder = results.folder.path().join("set");
    assert_eq!(grow(&results, &folder)[0].grown, Grown::StillRunning);
    assert!(files(&folder).is_empty());
}

#[test]
fn trials_are_sorted_and_the_file_says_so() {
    let mut results = ended();
    results.add_samples(1);
    change(&results, "UPDATE trial SET clients = 8 - id");
    let folder = results.folder.path().join("set");
    grow(&results, &folder);
    let trials = rows(&folder, "trial");
    let clients: Vec<_> = trials.iter().map(|row| field(row, "clients")).collect();
    assert_eq!(clients, [Field::Long(6), Field::Long(7)]);
    let file = files(&folder).into_iter().find(|file| file.starts_with("trial")).unwrap();
    let reader = SerializedFileReader::new(File::open(folder.join(file)).unwrap()).unwrap();
    let group = reader.metadata().row_group(0);
    let sorted_by: Vec<_> = group.sorting_columns().unwrap().iter().map(|column| column.column_idx).collect();
    let names: Vec<_> =
        sorted_by.iter().map(|place| group.column(*place as usize).column_path().string()).collect();
    assert_eq!(names, ["step_id", "clients", "system_id", "round", "id"]);
    let statistics = group.column(sorted_by[1] as usize).statistics().unwrap();
    assert_eq!(statistics.min_bytes_opt(), Some(&6_i64.to_le_bytes()[..]));
    assert_eq!(statistics.max_bytes_opt(), Some(&7_i64.to_le_bytes()[..]));
}

#[test]
fn a_stopped_export_adds_no_part_of_a_run() {
    let mut results = ended();
    results.add_samples(2000);
    let folder = results.folder.path().join("set");
    let stop = AtomicBool::new(true);
    let options = DatasetOptions { stop: &stop, ..dataset_options() };
    let error = grow_dataset(&results.store, &folder, &options, &mut |_| ()).unwrap_err();
    assert!(matches!(error, ExportError::Stopped), "{error}");
    assert!(files(&folder).is_empty());
}

#[test]
fn a_place_that_cannot_be_written_is_named() {
    let results = ended();
    let inside_a_file = results.store.path().join("set");
    let error = grow_dataset(&results.store, &inside_a_file, &dataset_options(), &mut |_| ()).unwrap_err();
    assert!(matches!(&error, ExportError::Unwritable { path, .. } if path.ends_with("set")), "{error}");
    let folder = results.folder.path().join("set");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("trial"), "mine").unwrap();
    let error = grow_dataset(&results.store, &folder, &dataset_options(), &mut |_| ()).unwrap_err();
    assert!(error.to_string().contains("set/trial/plan="), "{error}");
}

#[test]
fn what_trials_have_beside_the_table_s_columns_is_documented() {
    let results = ended();
    let folder = results.folder.path().join("set");
    grow(&results, &folder);
    let document = include_str!("../../../../docs/do/export.md");
    let (_, section) = document.split_once("## A data set that grows").unwrap();
    let schema = schema(&results.store);
    let of_trial = schema.split_once("\ntrial\n").unwrap().1.split_once("\nslice\n").unwrap().0;
    let [trial] = &rows(&folder, "trial")[..] else { panic!() };
    let names: Vec<_> = trial.get_column_iter().map(|(name, _)| name.as_str()).collect();
    let is_own = |name: &&&str| !of_trial.lines().any(|line| line.split_whitespace().next() == Some(name));
    let own: Vec<_> = names.iter().filter(is_own).collect();
    assert_eq!(own.len(), 1 + 1 + 10 + 5, "{own:?}");
    for name in own {
        assert!(section.contains(&format!("`{name}`")), "{name}");
    }
}
