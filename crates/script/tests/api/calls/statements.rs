//! Prepared statements and their parameters.

use dyno_script::{Config, Reply};

use crate::support::{Bench, as_command, config, failure_of, printed_by, refusal, run_go};

/// The request that is sent when `set` sets a parameter of `kind`.
fn sent(kind: &str, set: &str) -> String {
    let mut bench = Bench::new(&as_command(&format!(
        "local statement = con:prepare('SELECT ?')
         local p = statement:bind_create({kind})
         statement:bind_param(p)
         {set}
         statement:execute()"
    )));
    run_go(&mut bench).unwrap();
    let request = bench.host.asked.pop().unwrap();
    let (_, params) = request.split_once("params: ").unwrap();
    params.trim_end_matches(" }").to_owned()
}

#[test]
fn parameters_are_sent_by_their_type() {
    assert_eq!(sent("sysbench.sql.type.INT", "p:set(7)"), "[Int(7)]");
    assert_eq!(sent("sysbench.sql.type.INT", "p:set(-5.7)"), "[Int(-5)]");
    assert_eq!(sent("sysbench.sql.type.BIGINT", "p:set(2 ^ 40)"), "[Int(1099511627776)]");
    assert_eq!(sent("sysbench.sql.type.BIGINT", "p:set(9007199254740993LL)"), "[Int(9007199254740993)]");
    assert_eq!(sent("sysbench.sql.type.DOUBLE", "p:set(0.5)"), "[Float(0.5)]");
    assert_eq!(sent("sysbench.sql.type.DATE", "p:set('2026-11-21')"), sent_text("2026-11-21"));
    assert_eq!(sent("sysbench.sql.type.CHAR, 5", "p:set('longer than five')"), sent_text("longe"));
    assert_eq!(sent("sysbench.sql.type.VARCHAR, 5", "p:set(15)"), sent_text("15"));
    assert_eq!(sent("sysbench.sql.type.CHAR, 5", "p:set_rand_str('ab-cd-ef')"), sent_text("ab-cd"));
}

fn sent_text(text: &str) -> String {
    format!("[Text({:?})]", text.as_bytes())
}

#[test]
fn null_is_what_is_set_to_nil_or_not_at_all() {
    assert_eq!(sent("sysbench.sql.type.INT", "p:set(7) p:set(nil)"), "[Null]");
    assert_eq!(sent("sysbench.sql.type.CHAR, 9", ""), "[Null]");
}

#[test]
fn values_set_before_binding_count_and_order_is_that_of_binding() {
    let mut bench = Bench::new(&as_command(
        "local statement = con:prepare('SELECT ?, ?, ?')
         local a = statement:bind_create(sysbench.sql.type.INT)
         local b = statement:bind_create(sysbench.sql.type.CHAR, 10)
         local c = statement:bind_create(sysbench.sql.type.DOUBLE)
         a:set(1)
         statement:bind_param(c, b, a)
         b:set('x')
         print(statement, a, statement:execute())
         c:set(2)
         statement:execute()
         print(statement:next_result(), statement:close())",
    ));
    run_go(&mut bench).unwrap();
    assert_eq!(
        bench.host.asked[2..],
        [
            "Execute { connection: 0, statement: 1, params: [Null, Text([120]), Int(1)] }",
            "Execute { connection: 0, statement: 1, params: [Float(2.0), Text([120]), Int(1)] }",
            "NextResult { connection: 0 }",
            "CloseStatement { connection: 0, statement: 1 }"
        ]
    );
    assert_eq!(bench.host.printed, ["<sql_statement>\t<sql_param>\t<sql_result>", "<sql_result>\t0"]);
}

#[test]
fn rows_of_a_prepared_statement_can_be_fetched() {
    let mut bench = Bench::new(&as_command(
        "local result = con:prepare('SELECT 1'):execute()
         print(result.nrows, result:fetch_row()[1])",
    ));
    bench.host.rows.push_back(vec![Some("one")]);
    assert_eq!(printed_by(bench), ["1\tone"]);
}

#[test]
fn booleans_are_the_numbers_that_c_takes_them_for() {
    let mut bench = Bench::new(&as_command(
        "local p = con:prepare('SELECT ?, ?')
         local whole, fraction = p:bind_create(sysbench.sql.type.INT), p:bind_create(sysbench.sql.type.DOUBLE)
         p:bind_param(whole, fraction)
         whole:set(true) fraction:set(false)
         p:execute()",
    ));
    run_go(&mut bench).unwrap();
    assert_eq!(bench.host.asked[2], "Execute { connection: 0, statement: 1, params: [Int(1), Float(0.0)] }");
}

#[test]
fn wrong_parameters_are_named_at_the_script_s_line() {
    let failures = [
        ("p:bind_create(99)", "unsupported parameter type: 99"),
        ("p:bind_create(sysbench.sql.type.CHAR)", "a parameter of type CHAR or VARCHAR needs a length"),
        ("p:bind_create(3):set('x')", "a parameter of an integer type cannot be set to a string"),
        ("p:bind_create(6):set({})", "a parameter of a floating point type cannot be set to a table"),
        ("p:bind_create(11, 5):set({})", "a parameter of a text type cannot be set to a table"),
        ("p:bind_param(5)", "parameter 1 has not been made by bind_create()"),
        ("p:close() p:execute()", "the statement is closed: the script has called its close()"),
    ];
    for (body, message) in failures {
        let script = as_command(&format!("local p = con:prepare('SELECT ?')\n{body}\nprint()"));
        assert_eq!(failure_of(Bench::new(&script)), format!("test.lua:3: {message}"));
    }
}

#[test]
fn a_failed_execution_is_an_error_at_its_line() {
    let mut bench = Bench::new(&as_command("local p = con:prepare('INSERT')\np:execute()\nprint()"));
    bench.host.replies.extend([
        Reply::Connected(0),
        Reply::Prepared(1),
        refusal(1062, "23000", "Duplicate entry '1'", false),
    ]);
    let error = failure_of(bench);
    let expected =
        "test.lua:3: SQL error, errno = 1062, state = '23000': Duplicate entry '1', for query 'INSERT'";
    assert_eq!(error, expected);
}

#[test]
fn postgresql_is_told_the_types_that_parameters_are_bound_with() {
    let body = "local t = sysbench.sql.type
        for _, name in ipairs({ 'TINYINT', 'SMALLINT', 'INT', 'BIGINT', 'FLOAT', 'DOUBLE', 'CHAR', 'VARCHAR',
            'TIME', 'DATE', 'DATETIME', 'TIMESTAMP' }) do
          local statement = con:prepare('SELECT ? -- ' .. name)
          statement:bind_param(statement:bind_create(t[name], 20))
        end
        con:prepare('SELECT 1')
        con:prepare('SELECT ?'):execute()
        print()";
    let config = Config { driver: "pgsql".into(), ..config(&as_command(body)) };
    let mut bench = Bench::with(config);
    run_go(&mut bench).unwrap();
    let types = |kind: &str, names: &[&str]| -> Vec<String> {
        names.iter().map(|name| format!("prepare 0: SELECT ? -- {name} [{kind}]")).collect()
    };
    let mut expected = types("Int", &["TINYINT", "SMALLINT", "INT", "BIGINT"]);
    expected.extend(types("Float", &["FLOAT", "DOUBLE"]));
    expected.extend(types("Text", &["CHAR", "VARCHAR"]));
    expected.extend(types("Inferred", &["TIME", "DATE", "DATETIME", "TIMESTAMP"]));
    expected.extend(["prepare 0: SELECT 1".to_owned(), "prepare 0: SELECT ?".to_owned()]);
    let prepared: Vec<String> =
        bench.host.asked.into_iter().filter(|asked| asked.starts_with("prepare")).collect();
    assert_eq!(prepared, expected);
}
