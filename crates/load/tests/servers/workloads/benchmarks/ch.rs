//! CH-benCHmark: its answers on several databases, and its transactions while its queries run.

use std::path::Path;
use std::sync::OnceLock;

use dyno_engine::testing::python;
use dyno_load::{Address, Job};
use dyno_testing::{Completion, Failed, dyno_test, ignorable};

use super::{SERVERS, Subject, on, on_sqlite};
use crate::bench::{Story, job_on, run, with_options};

const QUERIES: usize = 22;

/// Statements that make the values of rows depend on the rows' keys. The rows that `prepare` makes are alike in many
/// columns. Without these statements, many answers would therefore be empty or 0.
const VARIED: &str = include_str!("varied.sql");

/// Lua code for a command that prints the text of each query, after a line with the query's number. The code is
/// appended to the workload's script. `DuckDB` understands the functions that are written for PostgreSQL.
const TEXTS: &str = r##"
commands.texts = { function()
  local postgres = { name = function() return "pgsql" end }
  for number = 1, queries.COUNT do
    print("# " .. number .. "\n" .. queries.text(number, 1, postgres))
  end
end }
"##;

fn ch(subject: &Subject, command: &str, options: &[(&str, &str)]) -> Job {
    // Without foreign keys, orders can be deleted without their lines.
    let common = [("scale", "1"), ("use_fk", "0"), ("trx_level", "RC")];
    with_options(with_options(subject.builtin("ch", command, ""), &common), options)
}

/// Fills the tables by one connection, so that the rows are the same on every database, and then varies the rows.
fn load(subject: &Subject) {
    run(ch(subject, "prepare", &[])).success();
    let statements: Vec<String> =
        VARIED.split_terminator(";\n").map(|sql| format!("con:query([[{sql}]])")).collect();
    let source = format!(
        "function go() local con = sysbench.sql.driver():connect()\n{}\ncon:disconnect() end\n\
         sysbench.cmdline.commands = {{ go = {{ go }} }}",
        statements.join("\n")
    );
    run(job_on(subject.target.clone(), "vary", &source, "go")).success();
}

/// Runs a job, and returns what it prints.
fn printed(job: Job) -> String {
    let story = run(job);
    let printed: Vec<&str> = story.printed.iter().map(|text| text.trim_end()).collect();
    let text = printed.join("\n");
    story.success();
    text
}

/// The rows of each query's answer, in the text that the command `answer` prints.
fn rows_of(text: &str) -> Vec<Vec<String>> {
    let sections = text.split("# ").skip(1);
    sections.map(|section| section.lines().skip(1).map(str::to_owned).collect()).collect()
}

fn all_answers(subject: &Subject) -> Vec<Vec<String>> {
    rows_of(&printed(ch(subject, "answer", &[])))
}

/// SQLite's answers, with which the answers of all other databases are compared.
fn reference() -> &'static [Vec<String>] {
    static ANSWERS: OnceLock<Vec<Vec<String>>> = OnceLock::new();
    ANSWERS.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a folder");
        let subject = Subject::sqlite(&folder);
        load(&subject);
        all_answers(&subject)
    })
}

/// Whether two values are equal. Numbers may differ by 0.001, or by a millionth of their value if that is more.
fn is_same(a: &str, b: &str) -> bool {
    let is_near = |a: f64, b: f64| (a - b).abs() <= 0.001_f64.max(1e-6 * a.abs());
    a == b || matches!((a.parse(), b.parse()), (Ok(a), Ok(b)) if is_near(a, b))
}

fn is_same_row(a: &str, b: &str) -> bool {
    let (a, b): (Vec<&str>, Vec<&str>) = (a.split('|').collect(), b.split('|').collect());
    a.len() == b.len() && a.iter().zip(&b).all(|(a, b)| is_same(a, b))
}

/// Checks that two databases give the same answers, and that no answer is empty.
fn check_same(ours: &[Vec<String>], reference: &[Vec<String>]) {
    assert_eq!((ours.len(), reference.len()), (QUERIES, QUERIES));
    for (number, (ours, theirs)) in (1..).zip(ours.iter().zip(reference)) {
        assert!(
            !ours.is_empty()
                && ours.iter().any(|row| row.split('|').any(|cell| cell != "NULL" && cell != "0")),
            "query {number} finds nothing"
        );
        let other = ours.iter().zip(theirs).find(|(ours, theirs)| !is_same_row(ours, theirs));
        assert_eq!(other, None, "query {number}");
        assert_eq!(ours.len(), theirs.len(), "query {number}");
    }
    // The comparison itself must find differences.
    assert!(!is_same_row("1|a", "2|a") && !is_same_row("1|a", "1|b") && !is_same_row("1", "1|b"));
}

#[dyno_test(on(SERVERS))]
fn ch_answers_as_sqlite_does(subject: &Subject) {
    load(subject);
    check_same(&all_answers(subject), reference());
    run_beside(subject);
    run(ch(subject, "cleanup", &[])).success();
}

/// Checks that `DuckDB` gives the same answers as SQLite on the same rows. SQLite's answers are the reference for the
/// other databases.
#[dyno_test(ignorable)]
fn ch_on_sqlite_answers_as_duckdb_does() -> Result<Completion, Failed> {
    match python::package(python::DUCKDB) {
        Ok(packages) => {
            check_by_duckdb(&packages);
            Ok(Completion::Completed)
        }
        Err(reason) => python::lacking(reason),
    }
}

fn check_by_duckdb(packages: &Path) {
    let folder = tempfile::tempdir().expect("a folder");
    let subject = Subject::sqlite(&folder);
    load(&subject);
    let mut texts = ch(&subject, "texts", &[]);
    texts.script.source.push_str(TEXTS);
    let [Address::File(file)] = &subject.target.addresses[..] else { panic!("SQLite's address is a file") };
    let file = file.to_str().expect("a text");
    let script = include_str!("duckdb_answers.py");
    let theirs = python::run(script, &[file], packages, folder.path(), &printed(texts));
    check_same(&rows_of(&theirs), &all_answers(&subject));
}

/// SQLite's answers are the reference, so they are not compared here.
#[dyno_test(on_sqlite)]
fn ch_on_sqlite_runs_transactions_beside_queries(subject: &Subject) {
    run(ch(subject, "prepare", &[])).success();
    run_beside(subject);
    run(ch(subject, "check", &[])).success();
}

/// Runs transactions and queries at the same time, as two jobs. In a plan, these are a step and its background load.
fn run_beside(subject: &Subject) {
    let transactions =
        Job { connections: 2, events: Some(200), ..ch(subject, "run", &[("action", "transaction")]) };
    let queries = Job { connections: 1, events: Some(22), ..ch(subject, "run", &[]) };
    let (of_transactions, of_queries) = std::thread::scope(|scope| {
        let beside = scope.spawn(|| run(transactions));
        let queries = run(queries);
        (beside.join().expect("no panic"), queries)
    });
    let line = |story: &Story| {
        story
            .printed
            .iter()
            .flat_map(|text| text.lines())
            .find(|line| line.contains("NOPM"))
            .map(str::to_owned)
    };
    assert!(line(&of_transactions).is_some_and(|line| line.trim_start().starts_with("ch: ")));
    assert_eq!(line(&of_queries), None, "queries place no orders");
    assert_eq!(of_transactions.success().counts.events, 200);
    let counts = of_queries.success().counts;
    // One thread also reads the scale.
    assert_eq!((counts.events, counts.reads, counts.writes), (22, 23, 0));
    for (option, value, expected) in [
        ("query", "23", "query is 0 or one of 1 to 22, not 23"),
        ("action", "both", "action is query or transaction, not both"),
        ("scale", "2", "tpcc set 1 was prepared with --scale=1"),
    ] {
        let wrong = Job { events: Some(1), ..ch(subject, "run", &[(option, value)]) };
        let failure = run(wrong).failure.expect("a refusal");
        assert!(failure.contains(expected), "{failure}");
    }
}
