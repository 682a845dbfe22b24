//! Scripts of pgbench. They have the same effects as in pgbench, row for row, and errors name a file and a line.

use std::collections::BTreeSet;
use std::process::Command;

use dyno_engine::Server;
use dyno_engine::testing::servers;
use dyno_load::{Address, Job, Protocol, Script, Target, pgbench_workload};
use dyno_testing::dyno_test;

use super::benchmarks::SERVERS;
use super::beside_pgbench;
use crate::bench::{Story, run, target, with_options};

pub(crate) const EVENTS: u64 = 60;
const SEED: u64 = 7;

#[dyno_test(servers(SERVERS))]
fn scripts_name_the_line_that_fails(server: &mut Server) {
    failures(&target(server));
}

#[dyno_test]
fn scripts_on_sqlite_name_the_line_that_fails() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = Address::File(folder.path().join("test.db"));
    failures(&Target::new(Protocol::Sqlite, vec![file]));
}

#[dyno_test(servers(&["postgres@18.4"]))]
fn scripts_have_an_extended_protocol(server: &mut Server) {
    plain(&target(server), &["extended"]);
}

/// A job that runs scripts. Each script has a name with its weight, and a text.
pub(crate) fn job(target: &Target, scripts: &[(&str, &str)], options: &[(&str, &str)]) -> Job {
    let names: Vec<&str> = scripts.iter().map(|(name, _)| *name).collect();
    let text = |path: &str| {
        let found = scripts.iter().find(|(name, _)| name.split('@').next() == Some(path));
        Ok(found.expect("a script of this test").1.to_owned())
    };
    let workload = pgbench_workload(&names.join(","), true, text);
    let script: Script = workload.expect("scripts").expect("no mistake");
    let job = Job { seed: SEED, events: Some(EVENTS), ..Job::new(target.clone(), script, "run") };
    with_options(job, options)
}

pub(crate) fn run_one(target: &Target, script: &str, options: &[(&str, &str)]) -> Story {
    run(Job { events: Some(1), ..job(target, &[("one.pgbench", script)], options) })
}

pub(crate) fn query(target: &Target, sql: &str) -> Vec<Vec<Option<String>>> {
    let source = format!(
        "function go()
            local con = sysbench.sql.driver():connect()
            local result = con:query([==[{sql}]==])
            for _ = 1, result.nrows do
              local row, line = result:fetch_row(), {{}}
              for column = 1, result.nfields do line[column] = row[column] or 'NULL' end
              print(table.concat(line, '\\t'))
            end
         end
         sysbench.cmdline.commands = {{ go = {{ go }} }}"
    );
    let story = run(crate::bench::job_on(target.clone(), "query", &source, "go"));
    assert_eq!(story.failure, None, "{sql}");
    let cells = |line: &str| line.split('\t').map(|cell| Some(cell.to_owned())).collect();
    story.printed.iter().flat_map(|text| text.lines()).map(cells).collect()
}

/// Runs a script whose rows depend on variables. One of the variables comes from a result.
pub(crate) fn plain(target: &Target, protocols: &[&str]) {
    query(target, "CREATE TABLE noted (id INTEGER PRIMARY KEY, kind VARCHAR(20), value INTEGER)");
    let script = "
        \\set last :step
        \\set step :step + 1
        \\if :last > 0
          SELECT MAX(id) AS top, COUNT(*) AS number FROM noted \\gset old_
          \\set id :old_top + 1
        \\else
          \\set id 1
        \\endif
        \\if mod(:id, 3) = 0
          INSERT INTO noted VALUES (:id, 'third: it''s', NULL);
        \\elif :id % 3 = 1
          \\set product :id * :factor
          INSERT INTO noted VALUES (:id, 'first', :product);
        \\else
          \\sleep 10 us
          INSERT INTO noted VALUES (:id, 'second', NULL);
        \\endif
        UPDATE noted SET value = :id WHERE id = :id AND value IS NULL;
    ";
    for protocol in protocols {
        query(target, "DELETE FROM noted");
        let options = [("protocol", *protocol), ("step", "0"), ("factor", "10")];
        let counts = run(job(target, &[("plain.pgbench", script)], &options)).success().counts;
        assert_eq!((counts.events, counts.errors), (EVENTS, 0), "{protocol}");
        // An update that changes no row is not a write.
        let updated = EVENTS - EVENTS.div_ceil(3);
        assert_eq!((counts.reads, counts.writes), (EVENTS - 1, EVENTS + updated), "{protocol}");
        let sums = "SELECT COUNT(*), SUM(CASE WHEN kind = 'first' THEN value ELSE 0 END),
            SUM(CASE WHEN kind = 'first' THEN 0 ELSE value - id END), MAX(id) FROM noted";
        let expected: u64 = (1..=EVENTS).filter(|id| id % 3 == 1).map(|id| 10 * id).sum();
        let expected = [EVENTS, expected, 0, EVENTS].map(|number| Some(number.to_string()));
        assert_eq!(query(target, sums), [expected], "{protocol}");
    }
    query(target, "DROP TABLE noted");
}

fn failures(target: &Target) {
    shell(target);
    for (script, expected) in [
        ("SELECT 1;\n\n\\set a 1 / 0", "one.pgbench:3: division by zero"),
        ("SELECT 1;\nSELECT nonsense", "one.pgbench:2: SQL error, errno = "),
        ("\\set a :nosuch", "one.pgbench:1: the variable nosuch is not set"),
        ("SELECT 1 AS a WHERE 1 = 0 \\gset", "one.pgbench:1: \\gset needs one row, and the statement gave 0"),
        ("SELECT 1 AS \"bad name!\" \\gset", "one.pgbench:1: a column is called 'bad name!'"),
    ] {
        // MySQL 5.6 does not accept WHERE without FROM.
        if script.contains("WHERE") && target.driver == Protocol::Mysql {
            continue;
        }
        for protocol in ["simple", "prepared"] {
            let failure = run_one(target, script, &[("protocol", protocol)]).failure.expect("a failure");
            assert!(failure.starts_with(expected), "{protocol}: {failure}");
        }
    }
    let failure =
        |options: &[(&str, &str)]| run_one(target, "SELECT :a;", options).failure.expect("a refusal");
    let wrong = failure(&[("protocol", "binary")]);
    assert!(wrong.contains("option --protocol takes simple, extended or prepared, not 'binary'"), "{wrong}");
    let unknown = failure(&[("b", "1")]);
    assert!(unknown.contains("has no option 'b'"), "{unknown}");
    if target.driver != Protocol::Pgsql {
        let other = failure(&[("protocol", "extended")]);
        assert!(other.contains("--protocol=extended is of PostgreSQL only"), "{other}");
    }
}

/// Programs are run if the option allows it, and errors name the line of the script whose program failed.
fn shell(target: &Target) {
    let script = "\\setshell x echo 5\n\\set y debug(:x + 1)\nSELECT :y;\n\\shell echo said :y ; echo twice";
    let story = run_one(target, script, &[("allow_shell", "on")]);
    let lines: Vec<&str> = story.printed.iter().flat_map(|text| text.lines()).collect();
    assert_eq!(lines, ["debug(script=0,command=2): int 6", "said 6", "twice"], "{story:?}");
    assert_eq!(story.success().counts.events, 1);
    for (script, allow_shell, expected) in [
        ("SELECT 1;\n\\shell false", "on", "one.pgbench:2: the command failed: exit status: 1"),
        ("\\shell kill -9 $$", "on", "one.pgbench:1: the command failed: signal: 9"),
        ("\\setshell x echo five", "on", "one.pgbench:1: \\setshell needs a whole number of 64 bits"),
        ("SELECT 1;\n\\shell true", "off", "one.pgbench:2:1: \\shell runs a program on this machine"),
    ] {
        let failure = run_one(target, script, &[("allow_shell", allow_shell)]).failure.expect("a failure");
        assert!(failure.contains(expected), "{failure}");
    }
    let failure = run_one(target, "\\setshell x echo 1", &[]).failure.expect("a refusal");
    assert!(failure.contains("one.pgbench:1:1: \\setshell runs a program on this machine"), "{failure}");
}

/// Transactions that fail are tried again. They fail by serialization (PostgreSQL) or by deadlocks.
#[dyno_test(servers(SERVERS))]
fn scripts_are_tried_again(server: &mut Server) {
    let target = target(server);
    query(&target, "CREATE TABLE counted (id INTEGER PRIMARY KEY, n INTEGER)");
    query(&target, "INSERT INTO counted VALUES (1, 0), (2, 0)");
    let crossing = "
        \\set first :client_id % 2 + 1
        \\set second 3 - :first
        BEGIN;
        UPDATE counted SET n = n + 1 WHERE id = :first;
        \\sleep 2 ms
        UPDATE counted SET n = n + 1 WHERE id = :second;
        COMMIT;";
    let serial = "
        BEGIN ISOLATION LEVEL REPEATABLE READ;
        SELECT n FROM counted WHERE id = 1;
        \\sleep 2 ms
        UPDATE counted SET n = n + 1 WHERE id = 1;
        UPDATE counted SET n = n + 1 WHERE id = 2;
        COMMIT;";
    let script = if target.driver == Protocol::Pgsql { serial } else { crossing };
    for max_tries in ["0", "1", "3"] {
        query(&target, "UPDATE counted SET n = 0");
        let mut job = job(&target, &[("tried.pgbench", script)], &[("max_tries", max_tries)]);
        job.connections = 2;
        let counts = run(job).success().counts;
        assert_eq!(counts.events, EVENTS, "{max_tries}");
        assert!(counts.errors > 0, "{max_tries}: they never met");
        // The failed attempts were rolled back.
        let expected = Some(EVENTS.to_string());
        let rows = query(&target, "SELECT n FROM counted");
        assert_eq!(rows, [[expected.clone()], [expected]], "{max_tries}");
    }
    let failure = run_one(&target, "INSERT INTO counted VALUES (1, 0);", &[]).failure.expect("a failure");
    assert!(failure.starts_with("one.pgbench:1: SQL error"), "a duplicate key is not tried again: {failure}");
}

/// Every try of a transaction fails. The run nevertheless ends when its time is over, and counts every failure.
#[dyno_test(servers(SERVERS))]
fn scripts_may_fail_without_end(server: &mut Server) {
    let target = &target(server);
    let script = match target.driver {
        Protocol::Pgsql => "DO $$ BEGIN RAISE serialization_failure; END $$;",
        _ => "SIGNAL SQLSTATE '40001';",
    };
    for max_tries in ["0", "3"] {
        let endless = job(target, &[("endless.pgbench", script)], &[("max_tries", max_tries)]);
        let timed = Job { events: None, seconds: Some(0.5), connections: 2, ..endless };
        let story = run(timed);
        assert_eq!(story.failure, None, "{max_tries}");
        // Ticks contain the codes of the errors that an option tells the job to ignore. MySQL reports these failures as
        // deadlocks, so only PostgreSQL's code is checked.
        if target.driver == Protocol::Pgsql {
            let codes: BTreeSet<&str> =
                story.ticks.iter().flat_map(|tick| tick.error_codes.keys().map(String::as_str)).collect();
            assert_eq!(codes, BTreeSet::from(["40001"]), "{max_tries}");
        }
        let counts = story.success().counts;
        assert_eq!(counts.events, 0, "{max_tries}");
        assert!(counts.errors > 2, "{max_tries}: {}", counts.errors);
    }
}

#[dyno_test(servers(&["postgres@18.4"]))]
fn scripts_store_results_of_several_statements(server: &mut Server) {
    let target = target(server);
    let script = "SELECT \\gset\n\
        \\; \\; SELECT 0 AS a \\; SELECT 5 AS a, NULL AS b \\; \\; \\gset\n\
        \\set a debug(:a)\n\
        \\; SELECT 6 AS c \\; SELECT 7 AS d \\; SELECT 8 AS d WHERE FALSE \\; \\aset\n\
        SELECT 8 AS c UNION SELECT 9 ORDER BY 1 DESC \\aset x_\n\
        \\set c debug(10000 * :c + 1000 * :d + :x_c)\n\
        SELECT ':b' = '' AS empty \\gset\n\
        \\set e debug(:empty)";
    let story = run_one(&target, script, &[]);
    assert_eq!(story.failure, None);
    let lines: Vec<&str> = story.printed.iter().flat_map(|text| text.lines()).collect();
    assert_eq!(
        lines,
        [
            "debug(script=0,command=3): int 5",
            "debug(script=0,command=6): int 67008",
            "debug(script=0,command=8): boolean true"
        ]
    );
}

const SAME: &str = "
-- every function, in every protocol
\\set n :n + 1
\\set uniform random(1, 100000 * :scale)
\\set gaussian random_gaussian(1, 100000, 2.5)
\\set exponential random_exponential(-50, 100000, 3)
\\set zipfian random_zipfian(1, 100000, 1.1)
\\set hashed hash(:uniform)
\\set other hash_fnv1a(:zipfian, 5)
\\set permuted permute(:uniform, 100000 * :scale)
\\set ratio :uniform / 3.0
\\set kind case when :uniform % 2 = 0 then 0 else 1 end
BEGIN;
\\if :kind
INSERT INTO noted (client, n, numbers, ratio) VALUES (:client_id, :n,
  ARRAY[:uniform, :gaussian, :exponential, :zipfian, :hashed, :other, :permuted]::bigint[], :ratio);
\\else
SELECT count(*)::int AS before FROM noted WHERE client = :client_id \\gset
INSERT INTO noted (client, n, numbers, ratio) VALUES (:client_id, :n, ARRAY[:uniform, :before]::bigint[], NULL);
\\endif
END;
";

/// Runs pgbench, and returns the rows that it inserts.
pub(crate) fn rows_of_pgbench(
    server: &Server,
    script: &str,
    clients: u32,
    protocol: &str,
) -> BTreeSet<Vec<Option<String>>> {
    let access = server.access();
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("same.pgbench");
    std::fs::write(&path, script).expect("a file");
    let output = Command::new("pgbench")
        .arg("-h")
        .arg(access.socket.parent().expect("a folder"))
        .args([
            "-p",
            &access.port.to_string(),
            "-U",
            &access.user,
            "-n",
            "-M",
            protocol,
            "-D",
            "n=0",
            "-s",
            "3",
        ])
        .args(["-c", &clients.to_string(), "-t", &EVENTS.to_string(), &format!("--random-seed={SEED}")])
        .arg("-f")
        .arg(&path)
        .arg(dyno_engine::DATABASE)
        .env("PGPASSWORD", &access.password)
        .output()
        .expect("pgbench");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    take_rows(server)
}

pub(crate) fn take_rows(server: &Server) -> BTreeSet<Vec<Option<String>>> {
    let target = target(server);
    let rows = query(&target, "SELECT client, n, numbers, ratio FROM noted");
    query(&target, "DELETE FROM noted");
    rows.into_iter().collect()
}

#[dyno_test(beside_pgbench)]
fn pgbench_changes_the_same_rows(server: &mut Server) {
    let target = target(server);
    query(&target, "CREATE TABLE noted (client int, n int, numbers bigint[], ratio double precision)");
    for protocol in ["simple", "extended", "prepared"] {
        let expected = rows_of_pgbench(server, SAME, 1, protocol);
        assert_eq!(expected.len() as u64, EVENTS);
        let options = [("protocol", protocol), ("n", "0"), ("scale", "3")];
        let one = job(&target, &[("same.pgbench", SAME)], &options);
        let counts = run(one.clone()).success().counts;
        assert_eq!(take_rows(server), expected, "{protocol}");
        let selects = expected.iter().filter(|row| row[3].as_deref() == Some("NULL")).count() as u64;
        assert_eq!((counts.events, counts.reads, counts.writes), (EVENTS, selects, EVENTS), "{protocol}");
        assert_eq!(counts.others, 2 * EVENTS, "{protocol}");
        // With several clients, each client inserts rows of its own. How many depends on which client is faster.
        let expected = rows_of_pgbench(server, SAME, 3, protocol);
        run(Job { connections: 3, ..one }).success();
        let rows = take_rows(server);
        assert!(rows.is_subset(&expected), "{protocol}: {:?}", rows.difference(&expected).next());
    }
}
