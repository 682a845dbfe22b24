//! Values of every type, in text results and in results of prepared statements. In MySQL, results of prepared
//! statements are binary.

use dyno_engine::Server;
use dyno_engine::testing::{named_servers, servers};
use dyno_testing::dyno_test;

use crate::SYSTEMS;
use crate::ask::{answer, ask, execute, on_every_scheduler};

/// A column's type, a value in SQL, and the same value as the server prints it.
type Value = (&'static str, &'static str, &'static str);

const MYSQL: &[Value] = &[
    ("TINYINT", "-128", "-128"),
    ("TINYINT UNSIGNED", "255", "255"),
    ("SMALLINT", "-32768", "-32768"),
    ("SMALLINT UNSIGNED", "65535", "65535"),
    ("MEDIUMINT", "-8388608", "-8388608"),
    ("MEDIUMINT UNSIGNED", "16777215", "16777215"),
    ("INT", "-2147483648", "-2147483648"),
    ("INT UNSIGNED", "4294967295", "4294967295"),
    ("INT(6) ZEROFILL", "42", "000042"),
    ("BIGINT", "-9223372036854775808", "-9223372036854775808"),
    ("BIGINT UNSIGNED", "18446744073709551615", "18446744073709551615"),
    ("FLOAT", "0.1", "0.1"),
    ("FLOAT", "-1.5e20", "-1.5e20"),
    ("FLOAT(7,3)", "3.5", "3.500"),
    ("DOUBLE", "0.1", "0.1"),
    ("DOUBLE", "-1.7976931348623157e308", "-1.7976931348623157e308"),
    ("DOUBLE", "1e15", "1e15"),
    ("DOUBLE", "123456789012345", "123456789012345"),
    ("DOUBLE(12,2)", "2.5", "2.50"),
    ("DECIMAL(30,5)", "-1234567890123456789012345.00001", "-1234567890123456789012345.00001"),
    ("BIT(16)", "b'0100000101000010'", "AB"),
    ("DATE", "'2026-11-21'", "2026-11-21"),
    ("DATE", "'0000-00-00'", "0000-00-00"),
    ("TIME", "'-838:59:59'", "-838:59:59"),
    ("TIME(3)", "'00:00:00.25'", "00:00:00.250"),
    ("TIME(6)", "'01:02:03'", "01:02:03.000000"),
    ("DATETIME", "'2026-11-21 00:00:00'", "2026-11-21 00:00:00"),
    ("DATETIME(6)", "'2026-11-21 22:05:09.000001'", "2026-11-21 22:05:09.000001"),
    ("DATETIME(2)", "'2026-11-21'", "2026-11-21 00:00:00.00"),
    ("TIMESTAMP(1) NULL", "'2026-11-21 22:05:09.5'", "2026-11-21 22:05:09.5"),
    ("YEAR", "2026", "2026"),
    ("YEAR", "0", "0000"),
    ("CHAR(5)", "'ab'", "ab"),
    ("VARCHAR(5) CHARACTER SET utf8mb4", "'Škoda'", "Škoda"),
    ("BINARY(4)", "'abcd'", "abcd"),
    ("VARBINARY(4)", "''", ""),
    ("TINYTEXT", "'tiny'", "tiny"),
    ("MEDIUMTEXT", "'medium'", "medium"),
    ("LONGBLOB", "'long'", "long"),
    ("ENUM('a','b')", "'b'", "b"),
    ("SET('a','b','c')", "'a,c'", "a,c"),
];

/// Types that MariaDB has and MySQL 5.6 lacks.
const MARIADB: &[Value] = &[
    ("JSON", "'{\"a\": [1, null]}'", "{\"a\": [1, null]}"),
    ("UUID", "'123e4567-e89b-12d3-a456-426655440000'", "123e4567-e89b-12d3-a456-426655440000"),
    ("INET6", "'::1'", "::1"),
];

const POSTGRES: &[Value] = &[
    ("boolean", "true", "t"),
    ("smallint", "-32768", "-32768"),
    ("integer", "-2147483648", "-2147483648"),
    ("bigint", "-9223372036854775808", "-9223372036854775808"),
    ("real", "0.1", "0.1"),
    ("double precision", "-1.7976931348623157e308", "-1.7976931348623157e+308"),
    ("double precision", "'NaN'", "NaN"),
    ("numeric(30,5)", "1234567890123456789012345.00001", "1234567890123456789012345.00001"),
    ("char(5)", "'ab'", "ab   "),
    ("varchar(5)", "'ab'", "ab"),
    ("text", "'Škoda'", "Škoda"),
    ("text", "''", ""),
    ("bytea", "'\\x00ff'", "\\x00ff"),
    ("date", "'2026-11-21'", "2026-11-21"),
    ("date", "'infinity'", "infinity"),
    ("time(3)", "'22:05:09.25'", "22:05:09.25"),
    ("timestamp", "'2026-11-21 22:05:09.000001'", "2026-11-21 22:05:09.000001"),
    ("interval", "'1 day 2 hours'", "1 day 02:00:00"),
    ("uuid", "'123e4567-e89b-12d3-a456-426655440000'", "123e4567-e89b-12d3-a456-426655440000"),
    ("jsonb", "'{\"a\": [1, null]}'", "{\"a\": [1, null]}"),
    ("integer[]", "'{1,NULL,3}'", "{1,NULL,3}"),
];

/// Code that prints a result, one value per line. NULL is printed as `nil`.
const PRINT: &str = "
 local function print_rows(result)
    for _ = 1, result.nrows do
       local row = result:fetch_row()
       for column = 1, result.nfields do print(row[column]) end
    end
 end
";

/// Writes a row of values and a row of NULLs, and reads both rows as text and by a prepared statement.
#[dyno_test(named_servers(SYSTEMS))]
fn values_are_the_same_as_text_and_in_binary(server: &mut Server, system: &str) {
    let values: &[Value] = &match system {
        "mariadb@10.11" => [MYSQL, MARIADB].concat(),
        "mysql@5.6.24" => MYSQL.to_vec(),
        _ => POSTGRES.to_vec(),
    };
    let join = |part: fn(usize, &Value) -> String| {
        values.iter().enumerate().map(|(n, value)| part(n, value)).collect::<Vec<_>>().join(", ")
    };
    let columns = join(|n, (kind, ..)| format!("c{n} {kind}"));
    let row = join(|_, (_, sql, _)| (*sql).to_owned());
    let nulls = join(|_, _| "NULL".to_owned());
    execute(
        server,
        &[
            &format!("CREATE TABLE kinds (id INT PRIMARY KEY, {columns})"),
            &format!("INSERT INTO kinds VALUES (1, {row})"),
            &format!("INSERT INTO kinds VALUES (2, {nulls})"),
        ],
    );
    let expected: Vec<&str> =
        values.iter().map(|(.., printed)| *printed).chain(values.iter().map(|_| "nil")).collect();
    let columns = join(|n, _| format!("c{n}"));
    for rows in ["con:query(sql)", "con:prepare(sql):execute()"] {
        let code =
            format!("{PRINT} local sql = 'SELECT {columns} FROM kinds ORDER BY id' print_rows({rows})");
        for job in on_every_scheduler(&ask(server, &code)) {
            let printed = answer(job).unwrap_or_else(|error| panic!("{rows}: {error}"));
            for (n, (printed, expected)) in printed.iter().zip(&expected).enumerate() {
                assert_eq!(printed, expected, "{rows}: {}", values[n % values.len()].0);
            }
            assert_eq!(printed.len(), expected.len(), "{rows}");
        }
    }
}

/// Parameters are stored as they were bound, also if they are NULL, and in repeated executions.
#[dyno_test(servers(SYSTEMS))]
fn parameters_of_every_kind_are_taken(server: &mut Server) {
    execute(
        server,
        &[
            "CREATE TABLE bound (id INT PRIMARY KEY, whole BIGINT, fraction DOUBLE PRECISION, word VARCHAR(20), day DATE)",
        ],
    );
    let code = format!(
        "{PRINT}
         local kinds = sysbench.sql.type
         con:query('DELETE FROM bound')
         local insert = con:prepare('INSERT INTO bound VALUES (?, ?, ?, ?, ?)')
         local id, whole = insert:bind_create(kinds.INT), insert:bind_create(kinds.BIGINT)
         local fraction, word = insert:bind_create(kinds.DOUBLE), insert:bind_create(kinds.VARCHAR, 20)
         local day = insert:bind_create(kinds.DATE)
         insert:bind_param(id, whole, fraction, word, day)
         id:set(1) whole:set(-4611686018427387904LL) fraction:set(0.1) word:set(\"it's \\\\ ?\") day:set('2026-11-21')
         insert:execute()
         id:set(2) whole:set(nil) fraction:set(nil) word:set(nil) day:set(nil)
         insert:execute()
         id:set(3) whole:set(7) fraction:set(-2) word:set('') day:set('1999-12-31')
         insert:execute()
         insert:close()
         print_rows(con:query('SELECT whole, fraction, word, day FROM bound ORDER BY id'))"
    );
    let rows = [
        ["-4611686018427387904", "0.1", "it's \\ ?", "2026-11-21"],
        ["nil"; 4],
        ["7", "-2", "", "1999-12-31"],
    ];
    for prepared_statements in [true, false] {
        let mut job = ask(server, &code);
        job.target.prepared_statements = prepared_statements;
        for job in on_every_scheduler(&job) {
            let printed = answer(job).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(printed, rows.concat(), "prepared by the server: {prepared_statements}");
        }
    }
}
