//! Text from outside, in results files and from servers, is displayed but has no effect.

use std::collections::BTreeMap;
use std::fs;

use dyno_engine::testing::with_engine;
use dyno_printable::is_unprintable;
use dyno_testing::dyno_test;
use rusqlite::Connection;

use crate::bench::{Bench, Ended, sqlite_plan};

/// Text that controls a terminal, reverses the direction of text, starts a new line, or ends a table or an XML
/// document.
const EVIL: &str = "\u{1b}[2J\u{1b}]0;x\u{7}\r\nerror: forged\u{9b}31m\u{7f}\u{85}\u{202e}\u{2066}\u{200f}\u{61c}\u{200b}\u{2028}\
                    \u{feff}\u{fffe} | `<!-- ]]> & \"";

/// Fails if the output contains control characters, or a line that the hostile text has started.
#[track_caller]
fn assert_is_shown(what: &str, ended: &Ended) {
    for text in [&ended.stdout, &ended.stderr] {
        let found: Vec<char> =
            text.chars().filter(|it| is_unprintable(*it) && !matches!(it, '\n' | '\t')).collect();
        assert!(found.is_empty(), "{what}: {found:?} in {text:?}");
        assert!(!text.lines().any(|line| line.starts_with("error: forged")), "{what}: {text}");
    }
}

/// Text columns by meaning: for example, all columns that hold the name of a step are together.
fn text_columns(file: &Connection) -> BTreeMap<String, Vec<(String, String)>> {
    let sql = "SELECT t.name, c.name FROM sqlite_schema t, pragma_table_info(t.name) c
               WHERE t.type = 'table' AND c.type = 'TEXT'";
    let mut statement = file.prepare(sql).unwrap();
    let rows =
        statement.query_map([], |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?))).unwrap();
    let mut columns: BTreeMap<String, Vec<(String, String)>> = BTreeMap::new();
    for (table, column) in rows.map(Result::unwrap) {
        let holds = match (table.as_str(), column.as_str()) {
            ("system", "id") => "system_id".to_owned(),
            ("step", "id") => "step_id".to_owned(),
            (_, "system_id" | "step_id") => column.clone(),
            _ => format!("{table}.{column}"),
        };
        columns.entry(holds).or_default().push((table, column));
    }
    columns
}

/// Appends the hostile text to columns in all rows. Returns whether the constraints of the file permit this in all
/// of the columns.
fn spoil(file: &Connection, columns: &[(String, String)]) -> bool {
    let spoiled = |(table, column): &(String, String)| {
        let set = |value: &str| {
            file.execute(
                &format!("UPDATE \"{table}\" SET {column} = {value} WHERE {column} IS NOT NULL"),
                [EVIL],
            )
        };
        // If the column is JSON, the text becomes a member.
        set(&format!("{column} || ?1")).or_else(|_| set(&format!("json_set({column}, '$.evil', ?1)"))).is_ok()
    };
    columns.iter().all(spoiled)
}

#[dyno_test]
fn text_of_a_results_file_is_shown_and_not_obeyed() {
    let bench = Bench::new();
    bench.write("plan.toml", &sqlite_plan(0.05));
    bench.dyno(&["run", "plan.toml"]).with(0);
    let path = bench.path("dyno.db");
    let columns = {
        let file = Connection::open(&path).unwrap();
        let failed = "outcome = 'failed', message = 'it failed', log_tail = 'a log'";
        file.execute(&format!("UPDATE trial SET {failed} WHERE id = (SELECT max(id) FROM trial)"), [])
            .unwrap();
        text_columns(&file)
    };
    let mut spoiled = Vec::new();
    for (holds, columns) in columns {
        let before = fs::read(&path).unwrap();
        let is_spoiled = {
            let file = Connection::open(&path).unwrap();
            file.execute_batch("PRAGMA foreign_keys = OFF; PRAGMA journal_mode = DELETE").unwrap();
            spoil(&file, &columns)
        };
        let report = bench.dyno(&["report", "--full"]);
        assert_is_shown(&holds, &report);
        if is_spoiled && report.status == Some(0) {
            spoiled.push(holds);
        } else {
            // The column allows only fixed values, so the text was rejected. The file gets its earlier content
            // back.
            fs::write(&path, before).unwrap();
        }
    }
    for name in [
        "run.plan_name",
        "run.plan_title",
        "run.host",
        "run.command_line",
        "system_id",
        "step_id",
        "system.name",
        "system.engine_version",
        "step.group_name",
        "step.workload",
        "trial.message",
        "trial.log_tail",
    ] {
        assert!(spoiled.iter().any(|holds| holds == name), "{name} is not among {spoiled:?}");
    }
    outputs_show(&bench);
    pages_show(&bench);
}

/// Runs every command that reads the file, in every format, and checks its output.
fn outputs_show(bench: &Bench) {
    let commands = [
        "results list",
        "results list --sizes",
        "results show",
        "results check",
        "results delete 1",
        "report",
        "report --full",
        "report --format markdown",
        "compare",
        "compare --format markdown",
        "history x",
        "cost --rate 1",
        "explain --all",
    ];
    let mut all = String::new();
    for command in commands {
        let ended = bench.dyno(&command.split(' ').collect::<Vec<_>>());
        assert_is_shown(command, &ended);
        all += &ended.stdout;
    }
    assert!(all.contains(r"\u{1b}[2J") && all.contains(r"\u{202e}"), "{all}");
    for command in ["results list", "results show", "report", "compare"] {
        let ended =
            bench.dyno(&[&command.split(' ').collect::<Vec<_>>()[..], &["--format", "json"]].concat());
        assert_is_shown(command, &ended);
        let json: serde_json::Value = serde_json::from_str(&ended.stdout)
            .unwrap_or_else(|error| panic!("{command}: {error}: {}{}", ended.stdout, ended.stderr));
        let has_all_of_it = |text: &str| text.contains(EVIL);
        assert!(any_text(&json, &has_all_of_it), "{command}: its values are those of the file: {json}");
    }
    let junit = bench.dyno(&["compare", "--format", "junit"]);
    assert_is_shown("junit", &junit);
    let xml =
        roxmltree::Document::parse(&junit.stdout).unwrap_or_else(|error| panic!("{error}: {}", junit.stdout));
    assert!(xml.descendants().any(|node| node.has_tag_name("testcase")));
}

/// Whether any text of a JSON document satisfies the condition.
fn any_text(json: &serde_json::Value, is_it: &dyn Fn(&str) -> bool) -> bool {
    match json {
        serde_json::Value::String(text) => is_it(text),
        serde_json::Value::Array(values) => values.iter().any(|value| any_text(value, is_it)),
        serde_json::Value::Object(values) => values.iter().any(|(_, value)| any_text(value, is_it)),
        _ => false,
    }
}

fn pages_show(bench: &Bench) {
    let written = bench.dyno(&["report", "--format", "html", "--out", "page.html"]).with(0);
    assert_is_shown("html", &written);
    let page = fs::read_to_string(bench.path("page.html")).unwrap();
    assert!(!page.chars().any(|it| !it.is_ascii() && is_unprintable(it)));
    assert!(page.contains(r"\u{202e}") && !page.contains("<!-- ]]>"));
}

#[dyno_test]
fn a_plan_s_text_is_shown_and_not_obeyed() {
    let bench = Bench::new();
    let evil = r"\u001b[2J\nerror: forged\u009b\u202e";
    bench.write("plan.toml", &sqlite_plan(0.05).replace("A tiny plan", evil));
    let dry = bench.dyno(&["run", "plan.toml", "--dry-run"]).with(0);
    assert_is_shown("--dry-run", &dry);
    assert!(dry.stdout.contains(r"\u{1b}[2J\nerror: forged\u{9b}\u{202e}"), "{}", dry.stdout);
    for (key, wrong) in [("base = \"rollback\"", "base"), ("workload = \"oltp_point_select\"", "workload")] {
        bench.write("wrong.toml", &sqlite_plan(0.05).replace(key, &format!("{wrong} = \"{evil}\"")));
        let refused = bench.dyno(&["run", "wrong.toml"]).with(2);
        assert_is_shown(key, &refused);
    }
    bench.write("wrong.toml", "name = \u{1b}[2J\u{9b}\u{202e}\n");
    assert_is_shown("syntax", &bench.dyno(&["run", "wrong.toml"]).with(2));
}

#[dyno_test(with_engine("mariadb@10.11"))]
fn a_server_s_error_is_shown_and_not_obeyed() {
    let bench = Bench::new();
    let script = "function thread_init() con = sysbench.sql.driver():connect() end
        function event()
          con:query(\"SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'a\\27[2J\\nerror: forged\\226\\128\\174b'\")
        end";
    bench.write("signals.lua", script);
    let plan = sqlite_plan(0.05).replace("\"sqlite\"", "\"mariadb@10.11\"");
    let plan = plan
        .replace("settings = { journal_mode = \"DELETE\" }", "")
        .replace("settings = { journal_mode = \"WAL\" }", "");
    bench.write(
        "plan.toml",
        &plan.replace("oltp_point_select", "./signals.lua").replace("rounds = 2", "rounds = 1"),
    );
    let ended = bench.dyno(&["run", "plan.toml"]).with(1);
    assert_is_shown("run", &ended);
    // The server escapes some characters of its message. The query, which Dyno adds to the message, contains all of
    // them.
    assert!(ended.stderr.contains(r"[2J\nerror: forged\u{202e}b"), "{}", ended.stderr);
    assert!(ended.stderr.contains(r"'a\u{1b}[2J"), "{}", ended.stderr);
    let message: String = bench.value("SELECT message FROM trial WHERE message LIKE '%forged%'").unwrap();
    assert!(message.contains("[2J\nerror: forged\u{202e}b"), "the file keeps what was said: {message:?}");
    for command in ["report --full", "results show"] {
        let ended = bench.dyno(&command.split(' ').collect::<Vec<_>>()).with(0);
        assert_is_shown(command, &ended);
        assert!(ended.stdout.contains(r"\u{1b}[2J"), "{command}: {}", ended.stdout);
    }
}
