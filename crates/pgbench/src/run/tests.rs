//! Runs scripts without a server. The expected values are those of pgbench's own tests and manual.

use std::os::unix::process::ExitStatusExt as _;
use std::process::{ExitStatus, Output};
use std::rc::Rc;

use crate::{Client, Gather, Parameter, Program, Protocol, ScriptFile, Setup, Step};

const SETUP: Setup = Setup {
    protocol: Protocol::Simple,
    seed: 5432,
    client: 0,
    clients: 1,
    scale: 1,
    tries_max: 1,
    has_pipelines: true,
    allows_shell: false,
};

fn program(scripts: &[(&str, u32)]) -> Result<Rc<Program>, String> {
    let file = |(number, (text, weight)): (usize, &(&str, u32))| {
        (ScriptFile { path: format!("{number}.pgbench"), weight: *weight }, (*text).to_owned())
    };
    let files: Vec<_> = scripts.iter().enumerate().map(file).collect();
    Program::read(&files).map(Rc::new).map_err(|mistake| mistake.to_string())
}

fn client(script: &str) -> Client {
    Client::new(program(&[(script, 1)]).unwrap(), &SETUP).unwrap()
}

/// Runs a transaction. Returns what the client asked its caller to do, or the error.
fn transaction(client: &mut Client) -> Result<Vec<String>, String> {
    client.begin();
    let mut done = Vec::new();
    loop {
        match client.advance().map_err(|error| error.to_string())? {
            Step::Query => done.push(String::from_utf8_lossy(client.sql()).into_owned()),
            Step::Execute { statement } => {
                let parameters: Vec<Parameter<'_>> = client.parameters().collect();
                done.push(format!("{statement}: {} {parameters:?}", client.prepared_sql(true)));
            }
            Step::Sleep { us } => done.push(format!("sleep {us}")),
            Step::Shell => done.push(String::from_utf8_lossy(client.shell_line()).into_owned()),
            Step::StartPipeline { first, end } => {
                let texts: Vec<String> = (first..end).map(|number| client.sql_of(number, true)).collect();
                done.push(format!("start {texts:?}"));
            }
            Step::Pipe { statement } => {
                let parameters: Vec<Parameter<'_>> = client.parameters().collect();
                done.push(format!("pipe {statement} {parameters:?}"));
            }
            Step::Sync => done.push("sync".to_owned()),
            Step::EndPipeline => done.push("end".to_owned()),
            Step::End => return Ok(done),
        }
    }
}

/// The value of an expression, as `debug` writes it, or the error.
fn value(expression: &str) -> Result<String, String> {
    let program = program(&[(&format!("\\set x debug({expression})"), 1)])?;
    let mut client = Client::new(program, &SETUP).map_err(|mistake| mistake.to_string())?;
    for (name, text) in [("foo", "-10.1"), ("n", "null"), ("t", "t"), ("f", "of"), ("bla", "bla")] {
        client.define(name, text);
    }
    transaction(&mut client)?;
    let said = client.take_said().pop().ok_or("nothing")?;
    Ok(said.strip_prefix("debug(script=0,command=1): ").ok_or("another place")?.to_owned())
}

#[test]
fn expressions_have_the_values_of_pgbench() {
    for (expression, expected) in [
        ("abs(-4)", "int 4"),
        ("greatest(5, 4, 3, 2)", "int 5"),
        ("11 + least(-5, -4, -3, -2)", "int 6"),
        ("int(7.3)", "int 7"),
        ("int(2.5)", "int 2"),
        ("17 / (4|1) + ( 4 + (7 >> 2))", "int 8"),
        ("- (3 * 4 - (-(~ 1) + -(~ 0))) / -1 + 3 % -1", "int 9"),
        ("64 % (((2 + 1 * 2 + (1 # 2) | 4 * (2 & 11)) - (1 << 2)) + 2)", "int 12"),
        ("sqrt(+1.5 * 2.0) * abs(-0.8E1)", "double 13.856406460551"),
        ("double(1 + 1) * (-75.0 / :foo)", "double 14.8514851485149"),
        ("greatest(4, 2, -1.17) * 4.0 * Ln(Exp(1.0))", "double 16"),
        ("least(-5.18, .0E0, 1.0/0) * -3.3", "double 17.094"),
        ("pow(-3,3)", "double -27"),
        ("power(-5.0,-5.0)", "double -0.00032"),
        ("pow(9223372036854775807, 2)", "double 8.50705917302346e+37"),
        ("pow(10,30)", "double 1e+30"),
        ("1.0 = 0.0 and 1.0 != 0.0", "boolean false"),
        ("0 = 1 Or 1.0 = 1", "boolean true"),
        ("case when 0 < 1 then 32 else 0 end", "int 32"),
        ("case when false THEN -1 when 1 = 1 then 13 + 19 + 2.0 end", "double 34"),
        ("CASE WHEN NOT FALSE THEN 3 * 12.3333334 END", "double 37.0000002"),
        ("10 + mod(13 * 7 + 12, 13) - mod(-19 * 11 - 17, 19)", "int 39"),
        ("NULL + NULL * exp(NULL)", "null"),
        ("NOT (:n IS NOT NULL OR :t IS NULL)", "boolean true"),
        (":n ISNULL AND NOT :n IS TRUE AND :n IS NOT FALSE", "boolean true"),
        (":n IS NULL AND NOT :f AND :t", "boolean true"),
        (
            "CASE WHEN 1 THEN TRUE END AND CASE WHEN 1.0 THEN TRUE END AND CASE WHEN :n THEN NULL ELSE TRUE END",
            "boolean true",
        ),
        ("hash(10, 5432)", "int -5817877081768721676"),
        ("hash_fnv1a(10, 5432)", "int -7793829335365542153"),
        ("hash(10) = hash(10, :default_seed)", "boolean true"),
        ("case when 0 = 0 or (1 / 0) < 0 then -1 else (1 / 0) end", "int -1"),
        (":scale + :client_id + :random_seed", "int 5433"),
        ("-9223372036854775808", "int -9223372036854775808"),
        ("-(-9223372036854775808 + 1)", "int 9223372036854775807"),
        ("-9223372036854775808 % -1", "int 0"),
        ("permute(0, 2, 5433)", "int 1"),
        ("~ 1 & 3", "int 2"),
        ("2 - 3 - 4", "int -5"),
        ("1 << 65", "int 2"),
        ("NULL AND FALSE", "null"),
        ("FALSE AND NULL", "boolean false"),
        ("pi()", "double 3.14159265358979"),
        ("random(10, 19)", "int 17"),
    ] {
        assert_eq!(value(expression), Ok(expected.to_owned()), "{expression}");
    }
}

#[test]
fn expressions_without_a_value_say_why() {
    for (expression, expected) in [
        ("1/0", "0.pgbench:1: division by zero"),
        ("1 % 0", "0.pgbench:1: division by zero"),
        (":nosuch", "0.pgbench:1: the variable nosuch is not set"),
        (":bla + 1", "0.pgbench:1: the variable bla is 'bla', not a number or a truth value"),
        ("(1<<62) + (1<<62)", "0.pgbench:1: the result of an addition needs more than 64 bits"),
        (
            "0 - (1<<62) - (1<<62) - (1<<62)",
            "0.pgbench:1: the result of a subtraction needs more than 64 bits",
        ),
        ("2 * (1<<62)", "0.pgbench:1: the result of a multiplication needs more than 64 bits"),
        ("-9223372036854775808 / -1", "0.pgbench:1: the result of a division needs more than 64 bits"),
        (
            "int(1E32)",
            "0.pgbench:1: 100000000000000000000000000000000 is too large for an integer of 64 bits",
        ),
        ("NOT 0.0", "0.pgbench:1: a double cannot be used as a truth value"),
        ("TRUE + 2", "0.pgbench:1: a truth value cannot be used as an integer"),
        ("ln(TRUE)", "0.pgbench:1: a truth value cannot be used as a double"),
        ("random(5,3)", "0.pgbench:1: random numbers from 5 to 3: the range is empty"),
        ("permute(0, 0)", "0.pgbench:1: permute needs a size above 0, not 0"),
        (
            "random_zipfian(0, 10, 1)",
            "0.pgbench:1: the parameter of random_zipfian must be from 1.001 to 1000, not 1",
        ),
        ("1 +", "0.pgbench:1:17: ')' is not expected here, but a value"),
        ("1 2", "0.pgbench:1:16: '2' is not expected here, but an operator, ',' or ')'"),
        ("1 < 2 < 3", "0.pgbench:1:20: '<' is not expected here, but AND, OR or the end of the line"),
        ("nosuch()", "0.pgbench:1:14: there is no function nosuch"),
        ("absx(1)", "0.pgbench:1:14: there is no function absx (did you mean abs?)"),
        ("ln(1.0, 2.0)", "0.pgbench:1:14: ln takes one argument, not 2"),
        ("greatest()", "0.pgbench:1:14: greatest takes 1 to 16 arguments, not 0"),
        ("CASE TRUE THEN 1 ELSE 0 END", "0.pgbench:1:19: 'TRUE' is not expected here, but WHEN"),
        (
            "9223372036854775808",
            "0.pgbench:1:14: a number above 9223372036854775807 is not expected here, but a value",
        ),
        ("1 ; 2", "0.pgbench:1:16: ';' is not expected here, but an expression"),
    ] {
        assert_eq!(value(expression), Err(expected.to_owned()), "{expression}");
    }
    let nested = |times| format!("{}1{}", "(".repeat(times), ")".repeat(times));
    for expression in [nested(60), nested(6000), ["1"; 600].join("+"), ["1"; 120].join("+")] {
        assert!(value(&expression).unwrap_err().contains("nested too deeply"), "{expression}");
    }
    assert!(value(&nested(30)).is_ok() && value(&["1"; 99].join("+")).is_ok());
    // The branches of CASE are not nested, so a script may have many of them.
    let many = format!("case {} end", "when 1 = 0 then 1 ".repeat(160));
    assert_eq!(value(&many), Ok("null".to_owned()));
}

#[test]
fn variables_stand_in_statements() {
    let script = "
-- a comment; with a semicolon
\\set a 1 + 1
\\set d 1.5
\\set n NULL
SELECT :a, ':a', \":a\", :d, :n, :unset, x::int /* :a */ -- it's :a
  FROM t WHERE b = 'x;y' AND c = $$ ;' $$;
INSERT INTO t VALUES (:a)\\; DELETE FROM t
";
    let done = transaction(&mut client(script)).unwrap();
    assert_eq!(
        done,
        [
            "SELECT 2, '2', \"2\", 1.5, NULL, :unset, x::int /* :a */ -- it's :a\n  FROM t WHERE b = 'x;y' AND c = $$ ;' $$",
            "INSERT INTO t VALUES (2); DELETE FROM t",
        ]
    );
    let setup = Setup { protocol: Protocol::Prepared, ..SETUP };
    let mut prepared = Client::new(program(&[(script, 1)]).unwrap(), &setup).unwrap();
    let done = transaction(&mut prepared).unwrap();
    assert!(done[0].starts_with("0: SELECT ?, ':a', \":a\", ?, ?, ?, x::int "), "{}", done[0]);
    assert!(done[0].ends_with(" [Int(2), Double(1.5), Null, Null]"), "{}", done[0]);
    assert_eq!(done[1], "1: INSERT INTO t VALUES (?); DELETE FROM t [Int(2)]");
}

#[test]
fn a_routine_s_body_is_one_statement() {
    let script = "CREATE OR REPLACE FUNCTION f() RETURNS int BEGIN ATOMIC SELECT 1; SELECT CASE WHEN true THEN 2 END; END;
        BEGIN; CREATE RULE r AS ON INSERT TO t DO (SELECT 1; SELECT 2); END;";
    let done = transaction(&mut client(script)).unwrap();
    assert_eq!(done.len(), 4, "{done:?}");
    assert!(done[0].ends_with("; END") && done[2].ends_with("SELECT 2)"));
}

#[test]
fn branches_are_chosen() {
    for (a, expected) in [(0, "zero"), (1, "one"), (2, "two"), (3, "more")] {
        let script = format!(
            "\\set a {a}
            \\if :a = 0
              SELECT 'zero';
            \\elif :a = 1
              SELECT 'one';
            \\elif :a = 2
              \\if 1 / :a > 5
                SELECT 'never';
              \\else
                SELECT 'two';
              \\endif
            \\else
              SELECT 'more';
            \\endif
            SELECT 'end';"
        );
        let expected = [format!("SELECT '{expected}'"), "SELECT 'end'".to_owned()];
        assert_eq!(transaction(&mut client(&script)).unwrap(), expected);
    }
    assert_eq!(transaction(&mut client("\\if NULL\nSELECT 1;\n\\endif")).unwrap(), [] as [String; 0]);
}

#[test]
fn times_to_sleep_have_units() {
    let script = "\\set one 1.0\n\\sleep :one ms\n\\sleep 100 us\n\\sleep 2ms\n\\sleep 0 s\n\\sleep \\\n 3\n\\sleep -1";
    let expected = ["sleep 1000", "sleep 100", "sleep 2000", "sleep 0", "sleep 3000000", "sleep 0"];
    assert_eq!(transaction(&mut client(script)).unwrap(), expected);
    let error = transaction(&mut client("SELECT 1;\n\\sleep :t")).unwrap_err();
    assert_eq!(error, "0.pgbench:2: the variable t is not set");
}

#[test]
fn rows_become_variables() {
    let mut client = client("SELECT 1 AS a, NULL AS b \\gset x_\nSELECT ':x_a', ':x_b';");
    client.begin();
    assert_eq!((client.advance(), client.gathers()), (Ok(Step::Query), Gather::Last));
    let columns = ["a".to_owned(), "b".to_owned()];
    let row = [Some(b"1".to_vec()), None];
    assert_eq!(
        client.store(&columns, &[], 0).unwrap_err().to_string(),
        "0.pgbench:1: \\gset needs one row, and the statement gave 0"
    );
    client.store(&columns, &row, 1).unwrap();
    let column = ["?column?".to_owned()];
    let error = client.store(&column, &row, 1).unwrap_err().to_string();
    assert!(error.starts_with("0.pgbench:1: a column is called 'x_?column?'"), "{error}");
    assert_eq!(client.advance(), Ok(Step::Query));
    assert_eq!(client.sql(), b"SELECT '1', ''");
    assert_eq!(client.gathers(), Gather::Nothing);
}

#[test]
fn scripts_are_chosen_by_weight() {
    let scripts = [("SELECT 1;", 3), ("SELECT 2;", 0), ("SELECT 3;", 1)];
    let mut client = Client::new(program(&scripts).unwrap(), &SETUP).unwrap();
    let mut counts = [0; 4];
    for _ in 0..4000 {
        let number: usize = transaction(&mut client).unwrap()[0][7..].parse().unwrap();
        counts[number] += 1;
    }
    assert_eq!(counts[2], 0);
    assert!((2800..3200).contains(&counts[1]), "{counts:?}");
    let none = program(&[("SELECT 1;", 0)]).unwrap_err();
    assert_eq!(none, "0.pgbench:1:1: the weights of all scripts are 0, so none would run");
}

#[test]
fn a_transaction_is_tried_again_with_the_same_random_numbers() {
    let setup = Setup { tries_max: 2, ..SETUP };
    let program = program(&[("\\set r random(1, 1000000)\nSELECT :r;", 1)]).unwrap();
    let mut client = Client::new(program, &setup).unwrap();
    let first = transaction(&mut client).unwrap();
    client.fail();
    assert_eq!(transaction(&mut client).unwrap(), first);
    // After the second failure, the transaction is not tried again.
    client.fail();
    assert_ne!(transaction(&mut client).unwrap(), first);
}

const PIPELINE: &str = "SELECT 0;
\\startpipeline
\\set a 1
SELECT :a;
\\syncpipeline
\\set a 2
SELECT :a + :a;
\\endpipeline
SELECT 3;";

#[test]
fn statements_of_a_pipeline_are_sent_at_its_end() {
    for protocol in [Protocol::Extended, Protocol::Prepared] {
        let setup = Setup { protocol, ..SETUP };
        let mut client = Client::new(program(&[(PIPELINE, 1)]).unwrap(), &setup).unwrap();
        let expected = [
            "0: SELECT 0 []",
            "start [\"SELECT ?\", \"SELECT ? + ?\"]",
            "pipe 1 [Int(1)]",
            "sync",
            "pipe 2 [Int(2), Int(2)]",
            "end",
            "3: SELECT 3 []",
        ];
        for _ in 0..2 {
            assert_eq!(transaction(&mut client).unwrap(), expected, "{protocol:?}");
            let places = [0, 1, 2].map(|number| client.place_in_pipeline(number));
            assert_eq!(places, ["0.pgbench:4", "0.pgbench:7", "0.pgbench:9"]);
        }
    }
    // Each branch may have its own `\startpipeline` or `\endpipeline`.
    let branches = "\\if true\n\\startpipeline\n\\else\n\\startpipeline\n\\endif\nSELECT 1;
        \\if true\nSELECT 2;\n\\endpipeline\n\\else\n\\endpipeline\n\\endif";
    let setup = Setup { protocol: Protocol::Prepared, ..SETUP };
    let mut client = Client::new(program(&[(branches, 1)]).unwrap(), &setup).unwrap();
    let expected = ["start [\"SELECT 1\", \"SELECT 2\"]", "pipe 0 []", "pipe 1 []", "end"];
    assert_eq!(transaction(&mut client).unwrap(), expected);
}

#[test]
fn pipelines_that_cannot_be_had_are_refused() {
    let refused = |setup: &Setup| {
        let client = Client::new(program(&[(PIPELINE, 1)]).unwrap(), setup);
        client.unwrap_err().to_string()
    };
    assert_eq!(
        refused(&SETUP),
        "0.pgbench:2:1: \\startpipeline sends statements without their text, so it needs --protocol=extended or prepared"
    );
    let elsewhere = Setup { protocol: Protocol::Prepared, has_pipelines: false, ..SETUP };
    assert_eq!(
        refused(&elsewhere),
        "0.pgbench:2:1: \\startpipeline needs PostgreSQL, whose protocol has pipelines"
    );
    for (script, expected) in [
        (
            "\\startpipeline\n\\startpipeline\n\\endpipeline",
            "2: \\startpipeline is inside a pipeline; end that first",
        ),
        (
            "\\if false\n\\startpipeline\n\\endif\n\\syncpipeline\n\\endpipeline",
            "4: \\syncpipeline is outside a pipeline: \\startpipeline was not reached",
        ),
        (
            "\\startpipeline\n\\endpipeline\n\\endpipeline",
            "3: \\endpipeline is outside a pipeline: \\startpipeline was not reached",
        ),
        (
            "\\startpipeline\n\\if false\n\\endpipeline\n\\endif",
            "2: the script ends inside a pipeline: \\endpipeline was not reached",
        ),
        (
            "\\startpipeline\nSELECT 1 AS a \\gset\n\\endpipeline",
            "2: \\gset needs an answer at once, which statements of a pipeline do not get",
        ),
    ] {
        let setup = Setup { protocol: Protocol::Extended, ..SETUP };
        let mut client = Client::new(program(&[(script, 1)]).unwrap(), &setup).unwrap();
        assert_eq!(transaction(&mut client).unwrap_err(), format!("0.pgbench:{expected}"), "{script}");
    }
}

#[test]
fn commands_for_a_shell_need_permission() {
    let refusal = |script: &str| {
        let program = program(&[(script, 1)]).unwrap();
        Client::new(program, &SETUP).unwrap_err().to_string()
    };
    let needs = "runs a program on this machine, for which it needs the option allow_shell";
    assert_eq!(refusal("SELECT 1;\n\\shell date"), format!("0.pgbench:2:1: \\shell {needs}"));
    assert_eq!(refusal("\\SetShell a date"), format!("0.pgbench:1:1: \\setshell {needs}"));
}

/// The output of a command that printed this text. `status` is the command's status as the system call `wait` returns
/// it.
fn output(status: i32, printed: &str) -> Output {
    let stdout = printed.as_bytes().to_vec();
    Output { status: ExitStatus::from_raw(status), stdout, stderr: Vec::new() }
}

/// The status that the system call `wait` returns for a command that exits with 1.
const EXIT_1: i32 = 1 << 8;

#[test]
fn commands_for_a_shell_print_lines_and_numbers() {
    let setup = Setup { allows_shell: true, ..SETUP };
    let client = |script: &str| Client::new(program(&[(script, 1)]).unwrap(), &setup).unwrap();
    let mut set = client("\\set a 5\n\\setshell b  count :a ::a c:a \\\n 'd e'\n\\set c debug(:b + 1)");
    for status in [0, EXIT_1] {
        set.begin();
        assert_eq!(set.advance(), Ok(Step::Shell));
        assert_eq!(String::from_utf8_lossy(set.shell_line()), "count 5 :a c:a 'd e'");
        assert_eq!(set.shell_ran(&output(status, " 41 \nmore\n")), Ok(()));
        assert_eq!(set.advance(), Ok(Step::End));
        assert_eq!(set.take_said(), ["debug(script=0,command=3): int 42"]);
    }
    for printed in ["", "five\n", "5 6\n", "99999999999999999999\n"] {
        set.begin();
        assert_eq!(set.advance(), Ok(Step::Shell));
        let error = set.shell_ran(&output(0, printed)).unwrap_err().to_string();
        let expected = format!(
            "0.pgbench:2: \\setshell needs a whole number of 64 bits, and the command printed '{}'",
            printed.trim()
        );
        assert_eq!(error, expected);
    }

    let mut plain = client("\\shell date");
    let failed = Err("0.pgbench:1: the command failed: exit status: 1".to_owned());
    for (status, expected) in [(0, Ok(())), (EXIT_1, failed)] {
        plain.begin();
        assert_eq!(plain.advance(), Ok(Step::Shell));
        let ran = plain.shell_ran(&output(status, "Monday\n")).map_err(|error| error.to_string());
        assert_eq!(ran, expected);
        assert_eq!(plain.take_said(), ["Monday"]);
    }
    let unset = client("\\shell echo :nosuch").advance().unwrap_err().to_string();
    assert_eq!(unset, "0.pgbench:1: the variable nosuch is not set");
}

#[test]
fn mistakes_have_a_line_and_a_column() {
    for (script, expected) in [
        ("", "1:1: the script has no command"),
        ("-- nothing\n ;", "1:1: the script has no command"),
        ("SELECT 1;\n  \\nosuch", "2:3: pgbench has no command \\nosuch"),
        ("\\sett a 1", "1:1: pgbench has no command \\sett (did you mean set?)"),
        ("SELECT 1;\n\\shell", "2:1: \\shell lacks its program; write \\shell PROGRAM [ARGUMENT ...]"),
        ("\\setshell", "1:1: \\setshell lacks its variable; write \\setshell NAME PROGRAM [ARGUMENT ...]"),
        ("\\setshell a", "1:1: \\setshell lacks its program; write \\setshell NAME PROGRAM [ARGUMENT ...]"),
        (
            "\\shell echo :1",
            "1:13: '1' cannot be the name of a variable: a name has letters, digits and _, and does not begin with a digit",
        ),
        ("\\startpipeline", "1:1: this \\startpipeline has no \\endpipeline"),
        ("SELECT 1;\n\\syncpipeline", "2:1: \\syncpipeline has no \\startpipeline before it"),
        ("\\endpipeline", "1:1: \\endpipeline has no \\startpipeline before it"),
        ("\\startpipeline 5", "1:16: \\startpipeline takes no further argument '5'; write \\startpipeline"),
        ("\\set", "1:1: \\set lacks its variable; write \\set NAME EXPRESSION"),
        ("\\set a", "1:7: the end of the line is not expected here, but a value"),
        (
            "\\set . 1",
            "1:6: '.' cannot be the name of a variable: a name has letters, digits and _, and does not begin with a digit",
        ),
        ("\\sleep", "1:1: \\sleep lacks its time; write \\sleep TIME [us|ms|s]"),
        ("\\sleep 1 week", "1:10: 'week' is not a unit of time: us, ms or s"),
        ("\\sleep 1 ms now", "1:13: \\sleep takes no further argument 'now'; write \\sleep TIME [us|ms|s]"),
        ("\\sleep soon", "1:8: 'soon' is not a time: write a whole number or a variable, then us, ms or s"),
        ("\\gset", "1:1: \\gset must follow a statement of SQL, without a semicolon"),
        ("\\set i 1\n\\gset", "2:1: \\gset must follow a statement of SQL, without a semicolon"),
        ("SELECT 1 \\gset\n\\aset", "2:1: \\aset must follow a statement of SQL, without a semicolon"),
        ("SELECT 1 \\gset a b", "1:18: \\gset takes no further argument 'b'; write \\gset [PREFIX]"),
        ("SELECT 'a\n;", "1:8: a string begins here and has no end"),
        ("SELECT $a$ $b$;", "1:8: a string begins here and has no end"),
        ("SELECT /* /* */ 1;", "1:8: a comment begins here and has no end"),
        ("\\else", "1:1: \\else has no \\if before it"),
        ("\\endif", "1:1: \\endif has no \\if before it"),
        ("\\if 1\n\\else\n\\elif 2\n\\endif", "3:1: \\elif follows \\else; only \\endif can"),
        ("SELECT 1;\n\\if 1\nSELECT 2;", "2:1: this \\if has no \\endif"),
        ("\\if 1\n\\endif now", "2:8: \\endif takes no further argument 'now'; write \\endif"),
        ("\\set é 1\n\\set ü é(1)", "2:8: there is no function é"),
    ] {
        assert_eq!(program(&[(script, 1)]).unwrap_err(), format!("0.pgbench:{expected}"), "{script}");
    }
    let many = format!("\\set i 0\nSELECT LEAST({});", [":i"; 256].join(", "));
    let setup = Setup { protocol: Protocol::Prepared, ..SETUP };
    let error = Client::new(program(&[(&many, 1)]).unwrap(), &setup).unwrap_err().to_string();
    assert!(error.starts_with("0.pgbench:2:1: a statement has 256 variables"), "{error}");
}

proptest::proptest! {
    #[test]
    fn no_script_panics(script in "(\\\\(set|if|elif|else|endif|sleep|gset) ?)?[-a-z:;'\"$/*()\\\\ \n0-9.<>=+,é]{0,60}") {
        if let Ok(program) = program(&[(&script, 1)]) {
            let mut client = Client::new(program, &SETUP).unwrap();
            let _ = transaction(&mut client);
        }
    }
}
