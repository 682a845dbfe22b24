//! Text queries and their results.

use super::super::framing::packets::FULL_FRAME_BYTES;
use super::server::{Form, MORE, answer, error, numbered, ok, text_result, text_row};
use super::{hear, logged_in, refusal, result_set, rows, sent};
use crate::{Client as _, Event, ServerError, Summary};

const FORMS: [Form; 2] = [Form::Eof, Form::Ok];

#[test]
fn a_statement_without_rows() {
    let mut connection = logged_in(Form::Ok);
    connection.query(b"UPDATE t SET k = 1");
    assert_eq!(sent(&mut connection), b"\x13\0\0\0\x03UPDATE t SET k = 1");
    assert_eq!(connection.advance(), Ok(Event::NeedInput));
    let expected = Summary { affected_rows: 7, warnings: 3, ..Summary::default() };
    assert_eq!(hear(&mut connection, &answer(&[vec![0, 7, 0, 2, 0, 3, 0]])), Event::Done(expected));
    assert_eq!(rows(&mut connection), Vec::<Vec<_>>::new());
}

#[test]
fn rows_in_both_forms_of_the_protocol() {
    for form in FORMS {
        let mut connection = logged_in(form);
        connection.query(b"SELECT a, b FROM t");
        let row = |a, b| vec![Some(a), b];
        let result = text_result(form, &["a", "b"], &[&row("1", None), &row("", Some("x"))], 2);
        assert_eq!(hear(&mut connection, &answer(&result)), result_set(2, 2));
        assert_eq!(connection.field_names(), ["a", "b"]);
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(rows(&mut connection), [[some("1"), None], [some(""), some("x")]]);
        assert!(!connection.next_row(&mut Vec::new()), "there are no more");
    }
}

#[test]
fn an_empty_result_has_columns() {
    for form in FORMS {
        let mut connection = logged_in(form);
        connection.query(b"SELECT a FROM t");
        assert_eq!(hear(&mut connection, &answer(&text_result(form, &["a"], &[], 2))), result_set(0, 1));
        assert_eq!(rows(&mut connection), Vec::<Vec<_>>::new());
    }
}

#[test]
fn results_of_one_command_come_one_at_a_time() {
    for form in FORMS {
        let mut connection = logged_in(form);
        connection.query(b"SELECT 1; UPDATE t SET k = 1; SELECT 2");
        let first = text_result(form, &["1"], &[&[Some("1")]], MORE);
        let last = text_result(form, &["2"], &[&[Some("2")]], 2);
        let first_event = hear(&mut connection, &answer(&[first, vec![ok(5, MORE)], last].concat()));
        assert_eq!(
            first_event,
            Event::Done(Summary { rows: 1, fields: 1, more: true, ..Summary::default() })
        );
        assert_eq!(rows(&mut connection), [[Some("1".to_owned())]]);
        assert_eq!(connection.advance(), Ok(Event::NeedInput), "the next one is not asked for");
        connection.next_result();
        let second = Summary { affected_rows: 5, more: true, ..Summary::default() };
        assert_eq!(connection.advance(), Ok(Event::Done(second)));
        connection.next_result();
        assert_eq!(connection.advance(), Ok(result_set(1, 1)));
        assert_eq!(rows(&mut connection), [[Some("2".to_owned())]]);
    }
}

#[test]
fn an_error_among_rows_leaves_none_and_the_connection_goes_on() {
    let mut connection = logged_in(Form::Ok);
    connection.query(b"SELECT a FROM t");
    let mut result = text_result(Form::Ok, &["a"], &[&[Some("1")]], 2);
    *result.last_mut().unwrap() = error(1317, "70100", "Query execution was interrupted");
    let (state, message) = ("70100".to_owned(), "Query execution was interrupted".to_owned());
    let expected = Event::Failed(ServerError { code: 1317, state, message });
    assert_eq!(hear(&mut connection, &answer(&result)), expected);
    assert_eq!(rows(&mut connection), Vec::<Vec<_>>::new());
    connection.query(b"DO 1");
    assert_eq!(hear(&mut connection, &answer(&[ok(0, 2)])), Event::Done(Summary::default()));
}

#[test]
fn a_file_is_refused_whatever_the_server_makes_of_it() {
    let (state, message) =
        ("HY000".to_owned(), "LOAD DATA LOCAL INFILE is refused: the client sends no files");
    let refused = ServerError { code: 2068, state, message: message.to_owned() };
    let failed = ServerError { code: 1, state: "42000".to_owned(), message: "no".to_owned() };
    for (reaction, expected) in [(ok(0, 2), refused), (error(1, "42000", "no"), failed)] {
        let mut connection = logged_in(Form::Ok);
        connection.query(b"LOAD DATA LOCAL INFILE '/etc/passwd' INTO TABLE t");
        sent(&mut connection);
        assert_eq!(hear(&mut connection, &answer(&[b"\xFB/etc/passwd".to_vec()])), Event::NeedInput);
        assert_eq!(sent(&mut connection), [0, 0, 0, 2], "an empty file");
        assert_eq!(hear(&mut connection, &numbered(3, &[reaction])), Event::Failed(expected));
    }
}

#[test]
fn a_file_that_is_offered_is_sent_once_and_must_be_taken_whole() {
    let refused = "LOAD DATA LOCAL INFILE is refused: the client sends no files";
    for (warnings, expected) in [(0, None), (2, Some("the server took the data with 2 warnings"))] {
        let mut connection = logged_in(Form::Ok);
        connection.load(b"LOAD DATA LOCAL INFILE 'rows' INTO TABLE t", b"1|a\n2|b\n");
        sent(&mut connection);
        assert_eq!(hear(&mut connection, &answer(&[b"\xFBrows".to_vec()])), Event::NeedInput);
        assert_eq!(sent(&mut connection), b"\x08\0\0\x021|a\n2|b\n\0\0\0\x03");
        let taken = vec![0, 2, 0, 2, 0, warnings, 0];
        let event = hear(&mut connection, &numbered(4, &[taken]));
        match (event, expected) {
            (Event::Done(summary), None) => assert_eq!(summary.affected_rows, 2),
            (Event::Failed(error), Some(expected)) => assert_eq!(error.message, expected),
            other => panic!("{other:?}"),
        }
        connection.query(b"LOAD DATA LOCAL INFILE 'rows' INTO TABLE t");
        sent(&mut connection);
        hear(&mut connection, &answer(&[b"\xFBrows".to_vec()]));
        assert_eq!(sent(&mut connection), [0, 0, 0, 2], "what was offered is gone");
        let Event::Failed(error) = hear(&mut connection, &numbered(3, &[ok(0, 2)])) else { panic!() };
        assert_eq!(error.message, refused);
    }
}

#[test]
fn a_row_of_more_than_16_mb_is_joined() {
    let mut connection = logged_in(Form::Eof);
    connection.query(b"SELECT a FROM t");
    let big = "x".repeat(FULL_FRAME_BYTES);
    let row = text_row(&[Some(&big)]);
    let (first, rest) = row.split_at(FULL_FRAME_BYTES);
    let mut result = text_result(Form::Eof, &["a"], &[], 2);
    let end = result.pop().unwrap();
    result.extend([first.to_vec(), rest.to_vec(), end]);
    assert_eq!(hear(&mut connection, &answer(&result)), result_set(1, 1));
    assert!(rows(&mut connection) == [[Some(big)]]);
}

#[test]
fn a_row_that_its_fields_do_not_fill_is_reported_by_the_next_advance() {
    for row in [vec![5, b'a'], vec![1, b'a', b'b'], vec![0xFD]] {
        let mut connection = logged_in(Form::Ok);
        connection.query(b"SELECT a FROM t");
        let mut result = text_result(Form::Ok, &["a"], &[&[Some("fine")]], 2);
        result.insert(3, row);
        assert_eq!(hear(&mut connection, &answer(&result)), result_set(2, 1));
        assert_eq!(rows(&mut connection), [[Some("fine".to_owned())]]);
        assert!(connection.advance().unwrap_err().to_string().contains("malformed row"));
    }
}

#[test]
fn a_result_has_1_to_4096_columns() {
    for count in [vec![0xFC, 1, 0x10], vec![0xFE, 255, 255, 255, 255, 255, 255, 255, 255], vec![1, 1]] {
        let mut connection = logged_in(Form::Ok);
        connection.query(b"SELECT *");
        assert!(refusal(&mut connection, &answer(&[count])).contains("columns, expected 1 to 4096"));
    }
}

#[test]
fn a_server_that_gave_up_while_idle_is_heard() {
    let goodbye = numbered(0, &[error(4031, "HY000", "The client was disconnected by the server")]);
    let is_goodbye = |event| matches!(event, Event::Failed(ServerError { code: 4031, .. }));
    let mut connection = logged_in(Form::Ok);
    assert!(is_goodbye(hear(&mut connection, &goodbye)), "at once");
    let mut connection = logged_in(Form::Ok);
    connection.receive(&goodbye);
    connection.query(b"SELECT 1");
    assert!(is_goodbye(connection.advance().unwrap()), "in answer to the next command");
}

#[test]
fn what_was_not_asked_for_is_refused() {
    let mut connection = logged_in(Form::Ok);
    assert!(
        refusal(&mut connection, &numbered(3, &[ok(0, 2)]))
            .contains("a packet that begins with 0x00 came unasked")
    );
}

#[test]
fn quitting_says_goodbye() {
    let mut connection = logged_in(Form::Ok);
    connection.quit();
    assert_eq!(sent(&mut connection), [1, 0, 0, 0, 1]);
}
