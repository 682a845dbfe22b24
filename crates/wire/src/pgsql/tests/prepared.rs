//! Prepared statements.

use super::server::{bound, closed, columns, complete, error, message, parsed, ready, row};
use super::{hear, logged_in, refusal, result_set, rows, sent};
use crate::pgsql::Connection;
use crate::{Client as _, Event, Piped, StatementId, Summary, Value};

const SYNC: &[u8] = b"S\0\0\0\x04";

/// Prepares a statement that returns one column.
fn prepared(connection: &mut Connection) -> StatementId {
    connection.prepare(b"SELECT c FROM t WHERE id = ?");
    sent(connection);
    let answer = [parsed(), columns(&["c"]), ready()].concat();
    let Event::Prepared(statement) = hear(connection, &answer) else { panic!("not prepared") };
    statement
}

#[test]
fn placeholders_are_numbered_when_preparing() {
    let mut connection = logged_in();
    connection.prepare(b"SELECT ?");
    assert_eq!(sent(&mut connection), b"P\0\0\0\x13s1\0SELECT $1\0\0\0D\0\0\0\x08Ss1\0S\0\0\0\x04");
}

#[test]
fn a_statement_is_executed_again_and_again() {
    let mut connection = logged_in();
    let statement = prepared(&mut connection);
    for id in [1, 2] {
        connection.execute(statement, &[Value::Int(id)]);
        assert!(sent(&mut connection).ends_with(SYNC));
        let answer = [bound(), row(&[Some("x")]), complete("SELECT 1"), ready()].concat();
        assert_eq!(hear(&mut connection, &answer), Event::Done(result_set(1, 1)));
        assert_eq!(connection.field_names(), ["c"]);
        assert_eq!(rows(&mut connection), [[Some("x".to_owned())]]);
    }
}

#[test]
fn a_result_set_without_rows_is_still_one() {
    let mut connection = logged_in();
    let statement = prepared(&mut connection);
    connection.execute(statement, &[Value::Null]);
    let answer = [bound(), complete("SELECT 0"), ready()].concat();
    assert_eq!(hear(&mut connection, &answer), Event::Done(result_set(0, 1)));
}

#[test]
fn statements_without_a_result_set_have_no_fields() {
    let mut connection = logged_in();
    connection.prepare(b"DELETE FROM t WHERE id = ?");
    let answer = [parsed(), message(b'n', b""), ready()].concat();
    assert_eq!(hear(&mut connection, &answer), Event::Prepared(1));
    connection.execute(1, &[Value::Int(1)]);
    let answer = [bound(), complete("DELETE 1"), ready()].concat();
    let expected = Summary { affected_rows: 1, ..Summary::default() };
    assert_eq!(hear(&mut connection, &answer), Event::Done(expected));
    assert_eq!(connection.field_names(), Vec::<String>::new());
}

#[test]
fn an_error_skips_to_the_sync() {
    let mut connection = logged_in();
    let statement = prepared(&mut connection);
    connection.execute(statement, &[Value::Bytes(b"x")]);
    let refused = error("ERROR", "22P02", "invalid input syntax");
    assert_eq!(hear(&mut connection, &refused), Event::NeedInput);
    assert!(matches!(hear(&mut connection, &ready()), Event::Failed(error) if error.state == "22P02"));

    connection.execute(statement, &[Value::Int(1)]);
    let answer = [bound(), row(&[None]), complete("SELECT 1"), ready()].concat();
    assert_eq!(hear(&mut connection, &answer), Event::Done(result_set(1, 1)));
}

#[test]
fn a_statement_that_failed_to_prepare_leaves_nothing_behind() {
    let mut connection = logged_in();
    connection.prepare(b"SELEC ?");
    sent(&mut connection);
    let answer = [error("ERROR", "42601", "syntax error"), ready()].concat();
    assert!(matches!(hear(&mut connection, &answer), Event::Failed(_)));
    assert_eq!(sent(&mut connection), b"C\0\0\0\x08Ss1\0");
    assert_eq!(hear(&mut connection, &closed()), Event::NeedInput);
    assert_eq!(prepared(&mut connection), 1);
}

#[test]
fn closing_goes_with_the_next_command() {
    let mut connection = logged_in();
    let statement = prepared(&mut connection);
    connection.close_statement(statement);
    connection.close_statement(statement);
    connection.query(b"");
    assert_eq!(sent(&mut connection), b"C\0\0\0\x08Ss1\0Q\0\0\0\x05\0");
    let answer = [closed(), message(b'I', b""), ready()].concat();
    assert_eq!(hear(&mut connection, &answer), Event::Done(Summary::default()));
}

#[test]
fn data_to_copy_is_refused_with_a_sync_of_its_own() {
    let mut connection = logged_in();
    let statement = prepared(&mut connection);
    connection.execute(statement, &[]);
    sent(&mut connection);
    assert_eq!(hear(&mut connection, &[bound(), message(b'G', b"\0\0\0")].concat()), Event::NeedInput);
    assert!(sent(&mut connection).ends_with(SYNC));
}

#[test]
fn answers_to_something_else_are_refused() {
    for bytes in [columns(&["a"]), message(b'1', b""), message(b't', b"\0\0"), ready()] {
        let mut connection = logged_in();
        let statement = prepared(&mut connection);
        connection.execute(statement, &[]);
        assert!(refusal(&mut connection, &bytes).starts_with("malformed"), "{bytes:?}");
    }
    for bytes in [row(&[]), complete("SELECT 1"), bound()] {
        let mut connection = logged_in();
        connection.prepare(b"SELECT 1");
        assert!(refusal(&mut connection, &bytes).starts_with("malformed"), "{bytes:?}");
    }
}

/// Sends a pipeline of the statement, a point of synchronization, and a statement without a name.
fn pipeline(connection: &mut Connection, statement: StatementId) -> Vec<u8> {
    let params = [Value::Int(1)];
    for part in [
        Piped::Execute { statement, params: &params },
        Piped::Sync,
        Piped::Once { sql: b"DELETE FROM t WHERE id = ?", params: &params },
    ] {
        assert!(connection.pipe(part));
        assert_eq!(sent(connection), b"", "nothing is sent before its end");
    }
    connection.run_pipeline();
    sent(connection)
}

#[test]
fn a_pipeline_has_a_result_for_each_statement() {
    let mut connection = logged_in();
    let statement = prepared(&mut connection);
    for _ in 0..2 {
        let bytes = pipeline(&mut connection, statement);
        assert!(bytes.starts_with(b"B") && bytes.ends_with(SYNC));
        assert_eq!(bytes.windows(SYNC.len()).filter(|bytes| *bytes == SYNC).count(), 2);
        let first = [bound(), row(&[Some("x")]), complete("SELECT 1"), ready()].concat();
        assert_eq!(hear(&mut connection, &first), Event::NeedInput);
        let second =
            [message(b'1', b""), bound(), message(b'n', b""), complete("DELETE 3"), ready()].concat();
        let Event::Done(summary) = hear(&mut connection, &second) else { panic!("no result") };
        assert_eq!((summary.rows, summary.fields, summary.more), (1, 1, true));
        assert_eq!(connection.field_names(), ["c"]);
        assert_eq!(rows(&mut connection), [[Some("x".to_owned())]]);
        connection.next_result();
        let expected = Summary { affected_rows: 3, ..Summary::default() };
        assert_eq!(connection.advance(), Ok(Event::Done(expected)));
    }
    connection.run_pipeline();
    assert_eq!(sent(&mut connection), SYNC);
    assert_eq!(hear(&mut connection, &ready()), Event::Done(Summary::default()), "without statements");
}

#[test]
fn an_error_ends_a_pipeline_at_its_last_synchronization() {
    let mut connection = logged_in();
    let statement = prepared(&mut connection);
    pipeline(&mut connection, statement);
    let refused = error("ERROR", "40001", "could not serialize");
    let first = [bound(), refused, ready()].concat();
    assert_eq!(hear(&mut connection, &first), Event::NeedInput);
    let second = [message(b'1', b""), bound(), message(b'n', b""), complete("DELETE 3"), ready()].concat();
    assert!(matches!(hear(&mut connection, &second), Event::Failed(error) if error.state == "40001"));

    pipeline(&mut connection, statement);
    let early =
        refusal(&mut connection, &[bound(), row(&[None]), complete("SELECT 1"), ready(), ready()].concat());
    assert!(early.contains("it comes before the last statement of a pipeline"), "{early}");
}
