//! Results without descriptions of their columns, in the MySQL family.

use dyno_engine::Server;
use dyno_engine::testing::servers;
use dyno_load::Metadata;
use dyno_testing::dyno_test;

use crate::ask::{answer, ask, every_way};

/// Executes a prepared statement, changes the type of its column, and executes the statement again. Prints the values,
/// a value of a text result, and the number of bytes that the server sends for ten more executions.
const PREPARED: &str = "
 local function sent()
  local _, bytes = con:query_row(\"SHOW SESSION STATUS LIKE 'Bytes_sent'\")
  return tonumber(bytes)
 end
 con:query('DROP TABLE IF EXISTS described')
 con:query('CREATE TABLE described (id INT PRIMARY KEY, c CHAR(5))')
 con:query(\"INSERT INTO described VALUES (1, '7'), (2, NULL)\")
 local statement = con:prepare('SELECT c, id FROM described WHERE id <= ? ORDER BY id')
 local id = statement:bind_create(sysbench.sql.type.INT)
 statement:bind_param(id)
 id:set(2)
 local function values()
  local texts, result = {}, statement:execute()
  for n = 1, result.nrows do
   local row = result:fetch_row()
   texts[n] = tostring(row[1]) .. ' ' .. row[2]
  end
  print(table.concat(texts, ', '))
 end
 values()
 values()
 con:query('ALTER TABLE described MODIFY c DOUBLE')
 values()
 values()
 print(con:query_row('SELECT c FROM described WHERE id = 1'))
 local before = sent()
 for _ = 1, 10 do statement:execute() end
 print(sent() - before)
";

#[dyno_test(servers(&["mariadb@10.11"]))]
fn mariadb_leaves_out_repeated_descriptions_of_columns_on_request(server: &mut Server) {
    let run = |metadata| {
        let mut job = ask(server, PREPARED);
        job.target.metadata = metadata;
        let mut bytes = Vec::new();
        for job in every_way(&job, server) {
            let mut printed = answer(job).unwrap_or_else(|error| panic!("{metadata:?}: {error}"));
            bytes.push(printed.pop().and_then(|bytes| bytes.parse::<f64>().ok()).expect("bytes"));
            let values = "7 1, nil 2";
            assert_eq!(printed, [values, values, values, values, "7"], "{metadata:?}");
        }
        bytes
    };
    // Each of the ten executions leaves out two definitions of more than 30 bytes each.
    for (full, spared) in run(Metadata::Full).into_iter().zip(run(Metadata::Spared)) {
        assert!(full - spared > 600.0, "{full} and {spared} bytes");
    }
}

/// Counts the rows of a prepared statement, reads a row of a text query, and then tries to read the rows of the
/// prepared statement.
const COUNTED: &str = "
 local statement = con:prepare('SELECT ? + 1')
 local number = statement:bind_create(sysbench.sql.type.INT)
 statement:bind_param(number)
 for n = 1, 3 do
  number:set(n)
  local result = statement:execute()
  print(result.nrows .. ' ' .. result.nfields)
 end
 print(con:query_row('SELECT @@resultset_metadata'))
 print(statement:execute():fetch_row())
 con:query('SELECT 1')
";

#[dyno_test(servers(&["mysql@9.7.4"]))]
fn mysql_leaves_out_all_descriptions_of_columns_on_request(server: &mut Server) {
    let mut job = ask(server, COUNTED);
    job.target.metadata = Metadata::Spared;
    for job in every_way(&job, server) {
        let told = answer(job).expect_err("there are no types");
        assert!(told.contains("no types of its columns (metadata = \"spared\")"), "{told}");
    }
    let mut job =
        ask(server, COUNTED.split(" print(statement:execute():fetch_row())").next().expect("a part"));
    for (metadata, state) in [(Metadata::Spared, "NONE"), (Metadata::Full, "FULL")] {
        job.target.metadata = metadata;
        for job in every_way(&job, server) {
            assert_eq!(answer(job), Ok(["1 1", "1 1", "1 1", state].map(str::to_owned).to_vec()));
        }
    }
}

#[dyno_test(servers(&["mysql@5.6.24", "mariadb@10.5"]))]
fn leaving_out_descriptions_is_refused(server: &mut Server) {
    let mut job = ask(server, "print(1)");
    job.target.metadata = Metadata::Spared;
    for job in every_way(&job, server) {
        let told = answer(job).expect_err("it describes everything");
        assert!(told.contains("describes the columns of every result"), "{told}");
    }
}
