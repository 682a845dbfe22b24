//! Text queries and their results.

use super::server::{columns, complete, error, message, notice, parameter, ready, row};
use super::{hear, logged_in, refusal, result_set, rows, sent};
use crate::{Client as _, Event, ServerError, Summary};

#[test]
fn a_result_set_is_counted_and_read() {
    let mut connection = logged_in();
    connection.query(b"SELECT id, c FROM t");
    assert_eq!(sent(&mut connection), b"Q\0\0\0\x18SELECT id, c FROM t\0");
    let answer = [
        columns(&["id", "c"]),
        row(&[Some("1"), None]),
        parameter("TimeZone", "UTC"),
        row(&[Some("2"), Some("")]),
        complete("SELECT 2"),
        ready(),
    ];
    assert_eq!(hear(&mut connection, &answer.concat()), Event::Done(result_set(2, 2)));
    assert_eq!(connection.field_names(), ["id", "c"]);
    let text = |text: &str| Some(text.to_owned());
    assert_eq!(rows(&mut connection), [vec![text("1"), None], vec![text("2"), text("")]]);
    assert_eq!(rows(&mut connection), Vec::<Vec<_>>::new(), "rows are read once");
}

#[test]
fn changes_are_counted_with_the_rows_they_return() {
    let mut connection = logged_in();
    connection.query(b"INSERT INTO t VALUES (1) RETURNING id");
    let answer = [columns(&["id"]), row(&[Some("1")]), complete("INSERT 0 1"), ready()].concat();
    let expected = Summary { affected_rows: 1, rows: 1, fields: 1, ..Summary::default() };
    assert_eq!(hear(&mut connection, &answer), Event::Done(expected));
}

#[test]
fn several_statements_give_several_results() {
    let mut connection = logged_in();
    connection.query(b"UPDATE t SET k = 1; SELECT 1; ;");
    let more = |summary| Event::Done(Summary { more: true, ..summary });

    assert_eq!(hear(&mut connection, &complete("UPDATE 3")), Event::NeedInput, "it could be the last");
    let first = Summary { affected_rows: 3, ..Summary::default() };
    assert_eq!(hear(&mut connection, &columns(&["a"])), more(first));
    assert_eq!(rows(&mut connection), Vec::<Vec<_>>::new());

    connection.next_result();
    let rest = [row(&[Some("1")]), complete("SELECT 1"), message(b'I', b"")].concat();
    assert_eq!(hear(&mut connection, &rest), more(result_set(1, 1)));
    assert_eq!(rows(&mut connection), [[Some("1".to_owned())]]);

    connection.next_result();
    assert_eq!(hear(&mut connection, &ready()), Event::Done(Summary::default()));
    assert_eq!(connection.field_names(), Vec::<String>::new());
}

#[test]
fn an_error_ends_the_command_but_not_the_connection() {
    let mut connection = logged_in();
    connection.query(b"SELECT 1; SELECT 1/0");
    let refused = error("ERROR", "22012", "division by zero");
    let answer = [columns(&["a"]), row(&[Some("1")]), complete("SELECT 1"), columns(&["b"]), refused];
    let first = Summary { more: true, ..result_set(1, 1) };
    assert_eq!(hear(&mut connection, &answer.concat()), Event::Done(first));

    connection.next_result();
    assert_eq!(connection.advance(), Ok(Event::NeedInput), "the server is not ready yet");
    let expected = ServerError { code: 0, state: "22012".into(), message: "division by zero".into() };
    assert_eq!(hear(&mut connection, &ready()), Event::Failed(expected));

    connection.query(b"ROLLBACK");
    let answer = [complete("ROLLBACK"), ready()].concat();
    assert_eq!(hear(&mut connection, &answer), Event::Done(Summary::default()));
}

#[test]
fn a_fatal_error_is_told_at_once() {
    let shutdown = error("FATAL", "57P01", "terminating connection");
    let mut connection = logged_in();
    connection.query(b"SELECT 1");
    assert!(matches!(hear(&mut connection, &shutdown), Event::Failed(error) if error.state == "57P01"));

    let mut idle = logged_in();
    idle.receive(&shutdown);
    idle.query(b"SELECT 1");
    assert!(matches!(idle.advance(), Ok(Event::Failed(error)) if error.state == "57P01"));
}

#[test]
fn warnings_are_counted_for_each_result() {
    let mut connection = logged_in();
    connection.query(b"DO $$ 1 $$; DO $$ 2 $$");
    let answer =
        [notice("WARNING"), notice("NOTICE"), notice("WARNING"), complete("DO"), complete("DO"), ready()];
    let first = Summary { warnings: 2, more: true, ..Summary::default() };
    assert_eq!(hear(&mut connection, &answer.concat()), Event::Done(first));
    connection.next_result();
    assert_eq!(connection.advance(), Ok(Event::Done(Summary::default())));
}

#[test]
fn what_comes_between_commands_is_taken_with_the_next() {
    let mut connection = logged_in();
    let notification = message(b'A', b"\0\0\0\x01channel\0\0");
    assert_eq!(hear(&mut connection, &[notification, notice("WARNING")].concat()), Event::NeedInput);
    connection.query(b"");
    let answer = [message(b'I', b""), ready()].concat();
    assert_eq!(hear(&mut connection, &answer), Event::Done(Summary::default()));
}

#[test]
fn data_to_copy_is_refused_once() {
    let mut connection = logged_in();
    connection.query(b"COPY t FROM STDIN");
    sent(&mut connection);
    let copy_in = message(b'G', b"\0\0\x01\0\0");
    assert_eq!(hear(&mut connection, &copy_in), Event::NeedInput);
    assert_eq!(sent(&mut connection), b"f\0\0\0\x1ddyno has no data to copy\0");
    let error = refusal(&mut connection, &copy_in);
    assert!(error.contains("refused before"), "{error}");
}

#[test]
fn data_that_is_offered_is_copied_once() {
    let mut connection = logged_in();
    connection.load(b"COPY t FROM STDIN", b"1|a\n");
    sent(&mut connection);
    let copy_in = message(b'G', b"\0\0\x01\0\0");
    assert_eq!(hear(&mut connection, &copy_in), Event::NeedInput);
    assert_eq!(sent(&mut connection), b"d\0\0\0\x081|a\nc\0\0\0\x04");
    let done = [message(b'C', b"COPY 1\0"), ready()].concat();
    assert_eq!(hear(&mut connection, &done), Event::Done(Summary::default()));
    connection.query(b"COPY t FROM STDIN");
    sent(&mut connection);
    hear(&mut connection, &copy_in);
    assert!(sent(&mut connection).starts_with(b"f"), "what was offered is gone");
}

#[test]
fn copied_data_is_passed_over_and_not_kept() {
    let mut connection = logged_in();
    connection.query(b"COPY t TO STDOUT");
    hear(&mut connection, &message(b'H', b"\0\0\x01\0\0"));
    let data = message(b'd', &vec![b'x'; 1 << 20]);
    for _ in 0..300 {
        assert_eq!(hear(&mut connection, &data), Event::NeedInput, "more in all than the limit of a result");
    }
    let end = [message(b'c', b""), complete("COPY 300"), ready()].concat();
    assert_eq!(hear(&mut connection, &end), Event::Done(Summary::default()));
}

#[test]
fn a_row_that_lies_about_its_fields_ends_the_rows() {
    let mut connection = logged_in();
    connection.query(b"SELECT 1");
    let lie = message(b'D', b"\0\x02\0\0\0\x7fa");
    let answer = [columns(&["a"]), row(&[Some("1")]), lie, complete("SELECT 2"), ready()].concat();
    assert_eq!(hear(&mut connection, &answer), Event::Done(result_set(2, 1)));
    assert_eq!(rows(&mut connection).len(), 1);
}

#[test]
fn answers_that_fit_no_command_are_refused() {
    for bytes in
        [message(b'1', b""), message(b'2', b""), message(b'R', b"\0\0\0\0"), message(b'W', b""), ready()]
    {
        let mut connection = logged_in();
        connection.query(b"SELECT 1");
        assert!(refusal(&mut connection, &bytes).starts_with("malformed"), "{bytes:?}");
    }
    for bytes in [row(&[]), complete("SELECT 1"), ready(), error("ERROR", "XX000", "out of the blue")] {
        assert!(refusal(&mut logged_in(), &bytes).starts_with("malformed"), "{bytes:?}");
    }
}

#[test]
fn goodbye_is_said() {
    let mut connection = logged_in();
    connection.quit();
    assert_eq!(sent(&mut connection), b"X\0\0\0\x04");
}
