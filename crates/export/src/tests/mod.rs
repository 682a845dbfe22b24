//! Tests that exports in every format contain the rows of the results file, under the documented names.

mod dataset;
mod sample;

use std::fs::{self, File, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::Path;
use std::sync::atomic::AtomicBool;

use ::parquet::file::reader::{FileReader as _, SerializedFileReader};
use ::parquet::record::{Field, Row};
use dyno_store::{RunId, Store};
use sample::{NASTY, Results};
use serde_json::{Value as Json, json};

use crate::parquet::{About, Parquet};
use crate::row::{Column, Kind, Sink as _, Value};
use crate::tables::{self, TABLES};
use crate::{ExportError, Exported, Files, Format, Options, export, write_file};

static STOP: AtomicBool = AtomicBool::new(false);

fn options(format: Format) -> Options<'static> {
    Options { format, runs: None, overwrite: false, stop: &STOP }
}

fn parquet_rows(path: &std::path::Path) -> Vec<Row> {
    let reader = SerializedFileReader::new(File::open(path).unwrap()).unwrap();
    reader.get_row_iter(None).unwrap().map(Result::unwrap).collect()
}

fn field(row: &Row, name: &str) -> Field {
    row.get_column_iter().find(|(column, _)| *column == name).unwrap().1.clone()
}

/// The exported tables and their columns, in the notation of the file `columns.txt`.
fn schema(store: &Store) -> String {
    let table = |table: &tables::Table| {
        let statement = store.connection().prepare(&table.sql(None)).unwrap();
        let column = |column: Column| format!("    {:24} {}\n", column.name, column.kind.as_str());
        let columns: String = tables::columns(&statement).into_iter().map(column).collect();
        format!("{}\n{columns}", table.name)
    };
    TABLES.iter().map(table).collect()
}

/// Programs that read exported files rely on names and types of columns.
#[test]
fn columns_keep_their_names_and_types() {
    let schema = schema(&Results::new().store);
    assert!(schema == include_str!("columns.txt"), "columns.txt should say:\n{schema}");
}

#[test]
fn every_table_of_the_results_file_is_exported() {
    let results = Results::new();
    let mut statement =
        results.store.connection().prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").unwrap();
    let tables: Vec<String> =
        statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    for table in tables {
        // The exported table `trial_counter` also contains the columns of `counter` and `counter_series`.
        let is_within = ["counter", "counter_series"].contains(&table.as_str());
        assert!(is_within || TABLES.iter().any(|exported| exported.name == table), "{table}");
    }
}

#[test]
fn parquet_gives_back_what_the_results_file_holds() {
    let results = Results::new();
    let folder = results.folder.path().join("new/folder");
    let exported = export(&results.store, &folder, &options(Format::Parquet)).unwrap();
    assert_eq!(exported.len(), TABLES.len());
    for Exported { path, rows, bytes } in &exported {
        assert_eq!(parquet_rows(path).len() as u64, *rows, "{}", path.display());
        assert_eq!(fs::metadata(path).unwrap().len(), *bytes);
    }
    let [run] = &parquet_rows(&folder.join("run.parquet"))[..] else { panic!() };
    assert_eq!(field(run, "plan_title"), Field::Str(NASTY.to_owned()));
    assert_eq!(field(run, "seed"), Field::ULong(u64::MAX));
    assert_eq!(field(run, "scale"), Field::Double(0.5));
    assert_eq!(field(run, "finished_at_ms"), Field::Null);
    let systems = parquet_rows(&folder.join("system.parquet"));
    assert_eq!(
        systems.iter().map(|row| field(row, "is_base")).collect::<Vec<_>>(),
        [Field::Bool(true), Field::Bool(false)]
    );
    let Field::Str(allocation) = field(run, "allocation") else { panic!() };
    assert_eq!(serde_json::from_str::<serde_json::Value>(&allocation).unwrap()["rounds"], 6);
    let [instance] = &parquet_rows(&folder.join("instance.parquet"))[..] else { panic!() };
    assert_eq!(field(instance, "start_seconds"), Field::Double(0.75));
    assert_eq!((field(instance, "round"), field(instance, "is_fresh")), (Field::Long(0), Field::Bool(true)));
    let slices = parquet_rows(&folder.join("slice.parquet"));
    assert_eq!(slices.len(), 2);
    assert_eq!(
        ["run_id", "cycle", "started_us"].map(|name| field(&slices[1], name)),
        [1, 1, 200_000].map(Field::Long)
    );
    assert_eq!(["seconds", "operations"].map(|name| field(&slices[1], name)), [0.1, 12.0].map(Field::Double));
    let samples = parquet_rows(&folder.join("sample.parquet"));
    assert_eq!(field(&samples[1], "number"), Field::Long(1));
    assert_eq!(field(&samples[1], "device_flushes"), Field::Null);
    let histograms = parquet_rows(&folder.join("sample_latency.parquet"));
    assert_eq!(field(&histograms[1], "latency"), Field::Bytes(vec![0, 1, 2, 255].into()));
    assert_eq!(field(&histograms[1], "number"), Field::Long(1));
}

#[test]
fn series_of_counters_are_lists_with_what_is_missing() {
    let results = Results::new();
    let folder = results.folder.path();
    export(&results.store, folder, &options(Format::Parquet)).unwrap();
    let counters = parquet_rows(&folder.join("trial_counter.parquet"));
    let list = |name: &str| {
        let row = counters.iter().find(|row| field(row, "name") == Field::Str(name.to_owned())).unwrap();
        match field(row, "sample_values") {
            Field::ListInternal(list) => Some(list.elements().to_vec()),
            Field::Null => None,
            other => panic!("{other}"),
        }
    };
    assert_eq!(list("Com_select"), Some(vec![Field::Double(5.0), Field::Double(9.0)]));
    assert_eq!(list("dirty"), Some(vec![Field::Double(0.5), Field::Null]));
    assert_eq!(list("Uptime"), None);
}

#[test]
fn csv_tells_null_from_an_empty_text_and_quotes_what_needs_it() {
    let results = Results::new();
    let folder = results.folder.path();
    export(&results.store, folder, &options(Format::Csv)).unwrap();
    let text = |table: &str| fs::read_to_string(folder.join(format!("{table}.csv"))).unwrap();
    assert_eq!(
        text("variable"),
        "run_id,system_id,name,value\n1,\"new\",\"empty\",\"\"\n\
         1,\"old\",\"nasty\",\"a \"\"quoted\"\", line\nand more\"\n"
    );
    assert!(
        text("trial_counter").contains(",\"dirty\",true,0.25,1.5,\"[0.5,null]\"\n"),
        "{}",
        text("trial_counter")
    );
    assert!(text("run").contains(",18446744073709551615,0.5,"), "{}", text("run"));
    assert_eq!(
        text("sample_latency"),
        "run_id,trial_id,number,latency\n1,1,0,\"AAEC/w==\"\n1,1,1,\"AAEC/w==\"\n"
    );
    assert!(text("trial").lines().nth(1).unwrap().contains(",,"), "NULL is empty: {}", text("trial"));
}

#[test]
fn json_lines_are_objects_with_the_columns_in_order() {
    let results = Results::new();
    let folder = results.folder.path();
    export(&results.store, folder, &options(Format::Jsonl)).unwrap();
    let objects = |table: &str| -> Vec<Json> {
        let text = fs::read_to_string(folder.join(format!("{table}.jsonl"))).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let variables = fs::read_to_string(folder.join("variable.jsonl")).unwrap();
    assert!(
        variables.starts_with(r#"{"run_id":1,"system_id":"new","name":"empty","value":""}"#),
        "{variables}"
    );
    assert_eq!(objects("run")[0]["plan_title"], NASTY);
    assert_eq!(objects("run")[0]["seed"], u64::MAX);
    assert_eq!(objects("trial")[0]["device_flushes"], Json::Null);
    assert_eq!(objects("sample_latency")[0]["latency"], "AAEC/w==");
    let dirty = objects("trial_counter").into_iter().find(|counter| counter["name"] == "dirty").unwrap();
    assert_eq!((&dirty["is_gauge"], &dirty["sample_values"]), (&json!(true), &json!([0.5, null])));
}

#[test]
fn only_the_runs_asked_for_are_exported() {
    let mut results = Results::new();
    let second = results.add_run(2);
    let folder = results.folder.path();
    let rows = |runs: Option<Vec<RunId>>, name: &str| {
        let options = Options { runs, ..options(Format::Csv) };
        let exported = export(&results.store, &folder.join(name), &options).unwrap();
        exported.iter().map(|table| table.rows).collect::<Vec<_>>()
    };
    let (both, one) = (rows(None, "both"), rows(Some(vec![second]), "one"));
    assert_eq!(both, one.iter().map(|rows| 2 * rows).collect::<Vec<_>>());
    let missing = Options { runs: Some(vec![second, RunId(9)]), ..options(Format::Csv) };
    let error = export(&results.store, &folder.join("none"), &missing).unwrap_err();
    assert!(error.to_string().ends_with("has no run 9; it holds runs 1 to 2"), "{error}");
    assert!(!folder.join("none").exists());
}

#[test]
fn files_that_are_there_stay_unless_they_may_go() {
    let results = Results::new();
    let folder = results.folder.path().join("out");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("trial.csv"), "mine").unwrap();
    let error = export(&results.store, &folder, &options(Format::Csv)).unwrap_err();
    assert!(matches!(&error, ExportError::Exists { path } if path.ends_with("trial.csv")), "{error}");
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
    assert_eq!(fs::read_to_string(folder.join("trial.csv")).unwrap(), "mine");
    export(&results.store, &folder, &options(Format::Jsonl)).unwrap();
    export(&results.store, &folder, &Options { overwrite: true, ..options(Format::Csv) }).unwrap();
    assert!(fs::read_to_string(folder.join("trial.csv")).unwrap().starts_with("id,run_id"));
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 2 * TABLES.len(), "nothing else is left");
}

#[test]
fn a_killed_export_leaves_no_folder_that_looks_complete_and_the_next_removes_the_rest() {
    let results = Results::new();
    let around = tempfile::tempdir().unwrap();
    let folder = around.path().join("out");
    let mut killed = Files::new(&folder, &["run.csv".to_owned()], false).unwrap();
    killed.create("run.csv").unwrap();
    assert!(!folder.exists(), "it appears with its files");
    // Simulates a killed process, which leaves its folder behind without a lock: makes a folder with the name that the
    // running export's folder had.
    let left = fs::read_dir(around.path()).unwrap().next().unwrap().unwrap().path();
    drop(killed);
    fs::create_dir(&left).unwrap();
    fs::write(left.join("run.csv"), "id,").unwrap();
    export(&results.store, &folder, &options(Format::Csv)).unwrap();
    let names: Vec<_> =
        fs::read_dir(around.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["out"]);
    assert_eq!(fs::read_dir(&folder).unwrap().count(), TABLES.len());
}

#[test]
fn a_written_file_is_whole_and_what_is_no_file_stays_what_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    write_file(&at("page.html"), b"old").unwrap();
    fs::set_permissions(at("page.html"), Permissions::from_mode(0o640)).unwrap();
    let reader = File::open(at("page.html")).unwrap();
    write_file(&at("page.html"), b"new").unwrap();
    assert_eq!(std::io::read_to_string(reader).unwrap(), "old", "who reads it reads one of both");
    assert_eq!(fs::read(at("page.html")).unwrap(), b"new");
    assert_eq!(fs::metadata(at("page.html")).unwrap().mode() & 0o777, 0o640);
    symlink("page.html", at("link")).unwrap();
    write_file(&at("link"), b"linked").unwrap();
    assert!(at("link").is_symlink());
    assert_eq!(fs::read(at("page.html")).unwrap(), b"linked");
    write_file(Path::new("/dev/null"), b"away").unwrap();
    assert!(!Path::new("/dev/null").is_file());
    assert!(write_file(&at("none/page.html"), b"").is_err());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "nothing else is left");
}

#[test]
fn an_export_that_is_stopped_leaves_nothing() {
    let mut results = Results::new();
    results.add_samples(2000);
    let folder = results.folder.path().join("out");
    let stop = AtomicBool::new(true);
    let error =
        export(&results.store, &folder, &Options { stop: &stop, ..options(Format::Parquet) }).unwrap_err();
    assert!(matches!(error, ExportError::Stopped), "{error}");
    assert!(!folder.exists());
}

#[test]
fn a_folder_that_cannot_be_made_is_named() {
    let results = Results::new();
    let error = export(&results.store, &results.store.path().join("out"), &options(Format::Csv)).unwrap_err();
    assert!(matches!(&error, ExportError::Unwritable { path, .. } if path.ends_with("out")), "{error}");
}

#[test]
fn many_rows_make_several_row_groups_and_come_back_in_order() {
    const ROWS: i64 = 150_000;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("numbers.parquet");
    let column = Column { name: "number".to_owned(), kind: Kind::Integer };
    let mut sink =
        Box::new(Parquet::new(File::create(&path).unwrap(), &[column], &About::default()).unwrap());
    for number in 0..ROWS {
        sink.row(&[if number % 3 == 0 { Value::Null } else { Value::Integer(number) }]).unwrap();
    }
    sink.finish().unwrap();
    let reader = SerializedFileReader::new(File::open(&path).unwrap()).unwrap();
    assert_eq!(reader.metadata().num_row_groups(), 2);
    let expected = |number: i64| if number % 3 == 0 { Field::Null } else { Field::Long(number) };
    for (row, number) in reader.get_row_iter(None).unwrap().zip(0..) {
        assert_eq!(field(&row.unwrap(), "number"), expected(number));
    }
}
