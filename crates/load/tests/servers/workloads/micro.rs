//! The workloads of the suite `sysbench-micro`: the statements that they send, and the results.

use std::collections::HashSet;

use dyno_engine::Server;
use dyno_engine::testing::servers;
use dyno_load::{Address, Job, Protocol, Target, builtin_workload};
use dyno_testing::dyno_test;

use crate::SYSTEMS;
use crate::bench::{job_on, run, target, with_options};

const TABLES: [(&str, &str); 2] = [("tables", "2"), ("table_size", "200")];

/// Lua code that makes a workload's prepared statements print what they send and receive: a line of SQL, then a
/// line with the number of rows, the number of columns, and the first column of every row.
const TELL: &str = r#"
local prepare = prepare_for_table
function prepare_for_table(table_num, kind, sql, ...)
  prepare(table_num, kind, sql, ...)
  local statement = stmt[table_num][kind]
  local told = {}
  function told:execute()
    local result = statement:execute()
    local first = {}
    for row = 1, result.nrows do
      first[row] = result:fetch_row()[1]
    end
    print(sql)
    print(result.nrows .. " " .. result.nfields .. " " .. table.concat(first, ","))
  end
  function told:close()
    statement:close()
  end
  stmt[table_num][kind] = told
end
"#;

#[dyno_test(servers(SYSTEMS))]
fn the_microbenchmarks_ask_for_what_they_say(server: &mut Server) {
    check_all(&target(server));
}

#[dyno_test]
fn the_microbenchmarks_on_sqlite_ask_for_what_they_say() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = Address::File(folder.path().join("test.db"));
    check_all(&Target::new(Protocol::Sqlite, vec![file]));
}

fn check_all(target: &Target) {
    let mut prepare = builtin(target, "oltp_read_only", "prepare", "");
    prepare.connections = 2;
    run(prepare).success();
    points_are_selected(target);
    ranges_are_selected(target);
    scans_find_nothing(target);
    lists_are_updated(target);
    read_only_transactions_refuse_writes(target);
    run(builtin(target, "oltp_read_only", "cleanup", "")).success();
}

fn builtin(target: &Target, name: &str, command: &str, more: &str) -> Job {
    let source = [builtin_workload(name).expect("a built-in workload"), more].concat();
    let mut job = with_options(job_on(target.clone(), name, &source, command), &TABLES);
    // Dyno also uses this distribution for the jobs of plans. The default, `special`, would ask for the same few values
    // again and again.
    job.tuning.globals.insert("rand_type".to_owned(), "uniform".to_owned());
    job
}

/// What a statement printed about its request and its answer.
struct Told {
    sql: String,
    rows: usize,
    columns: usize,
    first: Vec<String>,
}

/// Runs twenty events of a workload, and returns what their statements printed.
fn tell(target: &Target, name: &str, options: &[(&str, &str)]) -> Vec<Told> {
    let mut job = with_options(builtin(target, name, "run", TELL), options);
    job.events = Some(20);
    let story = run(job);
    assert_eq!(story.failure, None, "{name} {options:?}");
    let lines: Vec<&str> = story.printed.iter().flat_map(|text| text.lines()).collect();
    assert_eq!(lines.len(), 40, "{lines:?}");
    lines.chunks(2).map(|pair| told(pair[0], pair[1])).collect()
}

fn told(sql: &str, result: &str) -> Told {
    let mut parts = result.splitn(3, ' ');
    let mut next = || parts.next().unwrap_or_default();
    let mut number = || next().parse().expect("a number");
    let (rows, columns) = (number(), number());
    let first = next().split(',').filter(|value| !value.is_empty()).map(str::to_owned).collect();
    Told { sql: sql.trim().to_owned(), rows, columns, first }
}

fn points_are_selected(target: &Target) {
    let select = |options: &[(&str, &str)]| tell(target, "oltp_inlist_select", options);
    for (key, columns, count) in
        [("id", "c", 1), ("id", "id, c", 2), ("id", "id", 1), ("k", "k", 1), ("k", "k, c", 2)]
    {
        for told in select(&[("key", key), ("columns", columns), ("random_points", "30")]) {
            let beginning = format!("SELECT {columns} FROM sbtest");
            assert!(told.sql.starts_with(&beginning), "{}", told.sql);
            assert!(told.sql.contains(&format!(" WHERE {key} IN (?, ")), "{}", told.sql);
            assert_eq!((told.sql.matches('?').count(), told.columns), (30, count), "{}", told.sql);
            // A list may contain a value twice. If 30 values are drawn from 200, at least 15 of them are distinct in
            // almost every case.
            assert!(key == "k" || (15..=30).contains(&told.rows), "{} rows", told.rows);
        }
    }
    let lists: HashSet<Vec<String>> =
        select(&[("columns", "id")]).into_iter().map(|told| told.first).collect();
    assert!(lists.len() > 10, "lists differ: {lists:?}");
    for told in select(&[("columns", "id"), ("random_points", "3"), ("hot_points", "on")]) {
        let mut ids = told.first;
        ids.sort();
        assert_eq!(ids, ["1", "2", "3"]);
    }
    let wrong = run(with_options(builtin(target, "oltp_inlist_select", "run", ""), &[("key", "pad")]));
    assert!(
        wrong.failure.as_ref().is_some_and(|it| it.contains("key is one of id and k, not pad")),
        "{wrong:?}"
    );
}

fn ranges_are_selected(target: &Target) {
    let select = |options: &[(&str, &str)]| {
        tell(target, "oltp_range_select", &[&[("range_size", "5")], options].concat())
    };
    for told in select(&[("columns", "id, c")]) {
        let ids: Vec<u32> = told.first.iter().map(|id| id.parse().expect("an id")).collect();
        assert!(told.sql.ends_with("WHERE id BETWEEN ? AND ?") && told.columns == 2, "{}", told.sql);
        let expected = (201 - ids[0]).min(5);
        assert!(ids.iter().copied().eq(ids[0]..ids[0] + expected), "{ids:?}");
    }
    let covered = select(&[("key", "k"), ("columns", "k")]);
    assert!(covered.iter().all(|told| told.columns == 1 && told.sql.starts_with("SELECT k FROM")));
    let values: Vec<u32> =
        covered.iter().flat_map(|told| &told.first).map(|k| k.parse().expect("k")).collect();
    assert!(!values.is_empty() && values.iter().all(|k| (1..=200).contains(k)), "{values:?}");
    for told in select(&[("columns", "count(c)")]) {
        assert_eq!((told.rows, told.columns), (1, 1));
        assert!((1..=5).contains(&told.first[0].parse::<u32>().expect("a count")), "{:?}", told.first);
    }
}

fn scans_find_nothing(target: &Target) {
    let told = "local init = thread_init
        function thread_init()
          init()
          local scanned = con
          con = { query = function(_, sql)
            local result = scanned:query(sql)
            print(sql .. ' ' .. result.nrows .. ' ' .. result.nfields)
          end, disconnect = function() scanned:disconnect() end }
        end";
    let mut job = builtin(target, "oltp_scan", "run", told);
    (job.connections, job.events) = (3, Some(30));
    let story = run(job);
    let lines: HashSet<&str> = story.printed.iter().flat_map(|text| text.lines()).map(str::trim).collect();
    let scan = |table| format!("SELECT * FROM sbtest{table} WHERE LENGTH(c) < 0 0 4");
    let expected: [String; 2] = [scan(1), scan(2)];
    assert!(!lines.is_empty() && lines.iter().all(|line| expected.iter().any(|it| it == line)), "{lines:?}");
    let counts = story.success().counts;
    assert_eq!((counts.events, counts.reads, counts.others), (30, 30, 0));
}

fn lists_are_updated(target: &Target) {
    for told in tell(target, "oltp_inlist_update", &[("random_points", "7")]) {
        assert!(told.sql.contains(" SET c=? WHERE id IN (?, "), "{}", told.sql);
        assert_eq!((told.sql.matches('?').count(), told.rows), (8, 0), "{}", told.sql);
    }
    let mut job = builtin(target, "oltp_inlist_update", "run", "");
    job.events = Some(20);
    assert_eq!(run(job).success().counts.writes, 20);
}

fn read_only_transactions_refuse_writes(target: &Target) {
    let write = "function event() begin() con:query('UPDATE sbtest1 SET k=1 WHERE id=1') commit() end";
    let transaction = |options: &[(&str, &str)], more: &str| {
        let mut job = with_options(builtin(target, "oltp_read_only", "run", more), options);
        job.events = Some(5);
        run(job)
    };
    let read_only = [("read_only", "on"), ("range_selects", "off")];
    if target.driver == Protocol::Sqlite {
        let failure = transaction(&read_only, "").failure.expect("a refusal");
        assert!(failure.contains("sqlite has no read-only transactions"), "{failure}");
        return;
    }
    let counts = transaction(&read_only, "").success().counts;
    assert_eq!((counts.reads, counts.others), (50, 10));
    let failure = transaction(&read_only, write).failure.expect("a refusal").to_lowercase();
    assert!(failure.replace('-', " ").contains("read only transaction"), "{failure}");
    assert_eq!(transaction(&[], write).failure, None);
}
