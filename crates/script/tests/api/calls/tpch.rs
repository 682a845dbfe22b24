//! The module `dyno.tpch`.

use dyno_script::{Config, Counter};

use crate::support::{Bench, as_command, config, failure_of, run_go};

#[test]
fn rows_are_inserted_in_statements_of_half_a_megabyte_and_counted() {
    let body = "local tpch = require('dyno.tpch')
                tpch.insert(con, 'nation', 1)
                tpch.insert(con, 'orders', 0.01)
                con:query('SELECT 1')";
    let mut bench = Bench::new(&as_command(body));
    run_go(&mut bench).unwrap();
    let inserts: Vec<&String> =
        bench.host.asked.iter().filter(|asked| asked.contains("INSERT INTO ")).collect();
    assert!(inserts[0].contains("INSERT INTO nation VALUES (0,'ALGERIA',0,"), "{}", inserts[0]);
    assert!(inserts.len() > 3 && inserts[1..].iter().all(|sql| sql.contains("INSERT INTO orders VALUES (")));
    let rows = bench.host.counted.iter().filter(|(counter, _)| *counter == Counter::BulkRow);
    assert_eq!(rows.map(|(_, rows)| rows).sum::<u64>(), 25 + 15_000);
}

#[test]
fn a_command_copies_lines_where_the_database_takes_them() {
    let body = "require('dyno.tpch').insert(con, 'region', 1)";
    for (driver, statement) in [
        ("pgsql", "COPY region FROM STDIN WITH (DELIMITER '|')"),
        ("mysql", "LOAD DATA LOCAL INFILE 'region' INTO TABLE region FIELDS TERMINATED BY '|'"),
    ] {
        let config = Config { driver: driver.into(), command: "go".into(), ..config(&as_command(body)) };
        let mut bench = Bench::with(config);
        bench.host.rows = [vec![Some("1")]].into();
        run_go(&mut bench).unwrap();
        let load = bench.host.asked.iter().find(|asked| asked.starts_with("load ")).unwrap();
        assert!(load.starts_with(&format!("load 0: {statement} <- 0|AFRICA|")), "{load}");
        assert_eq!(load.matches('\n').count(), 5, "{load}");
        assert_eq!(bench.host.counted, [(Counter::BulkRow, 5)]);
    }
}

#[test]
fn a_server_that_takes_no_lines_gets_values() {
    let config = config(&as_command("require('dyno.tpch').insert(con, 'region', 1)"));
    let mut bench = Bench::with(Config { command: "go".into(), ..config });
    bench.host.rows = [vec![Some("0")]].into();
    run_go(&mut bench).unwrap();
    let sent = bench.host.asked.iter().find(|asked| asked.starts_with("send ")).unwrap();
    assert!(sent.starts_with("send 0: INSERT INTO region VALUES (0,'AFRICA',"), "{sent}");
}

#[test]
fn a_table_that_is_not_there_is_told() {
    let body = "require('dyno.tpch').insert(con, 'order', 1)";
    let failure = failure_of(Bench::new(&as_command(body)));
    assert!(failure.contains("TPC-H has no table 'order'; it has region, nation"), "{failure}");
}
