//! Prepared statements.

use super::server::{Form, answer, column, error, ok, prepared, result};
use super::{hear, logged_in, result_set, rows, sent};
use crate::mysql::Connection;
use crate::{Client as _, Event, StatementId, Summary, Value};

/// Prepares a statement. The server gives it the number 9.
fn prepare(connection: &mut Connection, form: Form, params: u8, columns: u8) -> StatementId {
    connection.prepare(b"SELECT ?");
    assert_eq!(sent(connection), b"\x09\0\0\0\x16SELECT ?");
    match hear(connection, &answer(&prepared(form, 9, params, columns))) {
        Event::Prepared(id) => id,
        other => panic!("{other:?}"),
    }
}

/// Executes a statement. Returns the part of the packet that follows the command, the statement's number, the flags and
/// the iterations.
fn execute(connection: &mut Connection, id: StatementId, params: &[Value<'_>]) -> Vec<u8> {
    connection.execute(id, params);
    let packet = sent(connection);
    assert_eq!(packet[4..14], [0x17, 9, 0, 0, 0, 0, 1, 0, 0, 0]);
    assert_eq!(hear(connection, &answer(&[ok(0, 2)])), Event::Done(Summary::default()));
    packet[14..].to_vec()
}

#[test]
fn preparing_is_done_once_all_is_described() {
    for form in [Form::Eof, Form::Ok] {
        for (params, columns) in [(0, 0), (2, 0), (0, 3), (2, 3)] {
            let mut connection = logged_in(form);
            prepare(&mut connection, form, params, columns);
            connection.query(b"DO 1");
            assert_eq!(hear(&mut connection, &answer(&[ok(0, 2)])), Event::Done(Summary::default()));
        }
    }
}

#[test]
fn a_statement_may_be_refused() {
    let mut connection = logged_in(Form::Ok);
    connection.prepare(b"SELEC");
    let refused = hear(&mut connection, &answer(&[error(1064, "42000", "syntax")]));
    assert!(matches!(refused, Event::Failed(error) if error.code == 1064));
}

#[test]
fn types_are_sent_when_they_change() {
    let mut connection = logged_in(Form::Ok);
    let id = prepare(&mut connection, Form::Ok, 2, 0);
    let int_and_text = execute(&mut connection, id, &[Value::Int(-2), Value::Bytes(b"ab")]);
    let values = [&(-2_i64).to_le_bytes()[..], &[2, b'a', b'b']].concat();
    assert_eq!(int_and_text, [&[0, 1, 8, 0, 253, 0][..], &values].concat());
    assert_eq!(
        execute(&mut connection, id, &[Value::Int(-2), Value::Bytes(b"ab")]),
        [&[0, 0][..], &values].concat()
    );
    assert_eq!(execute(&mut connection, id, &[Value::Null, Value::Null]), [3, 0], "NULL goes with any type");
    let float = execute(&mut connection, id, &[Value::Float(1.5), Value::Null]);
    assert_eq!(float, [&[2, 1, 5, 0, 253, 0][..], &1.5_f64.to_le_bytes()].concat());
}

#[test]
fn nine_parameters_take_two_bytes_of_nulls() {
    let mut connection = logged_in(Form::Ok);
    let id = prepare(&mut connection, Form::Ok, 9, 0);
    let mut params = [Value::Null; 9];
    params[1] = Value::Bytes(b"");
    let sent = execute(&mut connection, id, &params);
    assert_eq!(sent[..3], [0b1111_1101, 1, 1]);
}

#[test]
fn wrong_parameters_are_left_to_the_server_to_refuse() {
    let mut connection = logged_in(Form::Ok);
    let id = prepare(&mut connection, Form::Ok, 2, 0);
    assert_eq!(execute(&mut connection, id, &[Value::Int(1)]), b"");
    assert_eq!(execute(&mut connection, id, &[Value::Null; 3]), b"");
}

#[test]
fn a_closed_statement_is_no_more_and_its_place_is_taken_again() {
    let mut connection = logged_in(Form::Ok);
    let first = prepare(&mut connection, Form::Ok, 0, 0);
    let second = prepare(&mut connection, Form::Ok, 0, 0);
    assert_ne!(first, second);
    connection.close_statement(first);
    assert_eq!(sent(&mut connection), [5, 0, 0, 0, 0x19, 9, 0, 0, 0]);
    connection.close_statement(first);
    assert_eq!(sent(&mut connection), b"", "once is enough");
    connection.execute(first, &[]);
    assert_eq!(sent(&mut connection)[5..9], [0; 4], "the server has no statement 0");
    hear(&mut connection, &answer(&[error(1243, "HY000", "Unknown prepared statement handler")]));
    assert_eq!(prepare(&mut connection, Form::Ok, 0, 0), first);
}

#[test]
fn binary_rows_are_printed() {
    let columns = [
        column("tiny", 1, 0, 0),
        column("tiny unsigned", 1, 32, 0),
        column("year", 13, 32 + 64, 0),
        column("medium", 9, 0, 0),
        column("big", 8, 0, 0),
        column("big unsigned", 8, 32, 0),
        column("float", 4, 0, 31),
        column("date", 10, 128, 0),
        column("time", 11, 128, 1),
        column("text", 253, 0, 0),
    ];
    let nulls = [0b0000_0000, 0b0000_0000];
    let values = [
        &[0x80][..],
        &[0x80],
        &[7, 0],
        &(-3_i32).to_le_bytes(),
        &i64::MIN.to_le_bytes(),
        &u64::MAX.to_le_bytes(),
        &0.1_f32.to_le_bytes(),
        &[4, 0xEA, 0x07, 11, 21],
        &[0],
        b"\x03abc",
    ];
    let full = [&[0][..], &nulls, &values.concat()].concat();
    let null = vec![0, 0b1111_1100, 0b0000_1111];
    for form in [Form::Eof, Form::Ok] {
        let mut connection = logged_in(form);
        let id = prepare(&mut connection, form, 0, 10);
        connection.execute(id, &[]);
        let result = result(form, &columns, &[full.clone(), null.clone()], 2);
        assert_eq!(hear(&mut connection, &answer(&result)), result_set(2, 10));
        let expected = [
            "-128",
            "128",
            "00007",
            "-3",
            "-9223372036854775808",
            "18446744073709551615",
            "0.1",
            "2026-11-21",
            "00:00:00.0",
            "abc",
        ];
        assert_eq!(rows(&mut connection), [expected.map(|text| Some(text.to_owned())), [const { None }; 10]]);
    }
}

#[test]
fn a_binary_row_must_be_filled() {
    for row in [vec![], vec![1, 0, 1], vec![0], vec![0, 0], vec![0, 0, 1, 2]] {
        let mut connection = logged_in(Form::Ok);
        let id = prepare(&mut connection, Form::Ok, 0, 1);
        connection.execute(id, &[]);
        let result = result(Form::Ok, &[column("tiny", 1, 0, 0)], std::slice::from_ref(&row), 2);
        assert_eq!(hear(&mut connection, &answer(&result)), result_set(1, 1));
        assert!(rows(&mut connection).is_empty(), "{row:?}");
        assert!(connection.advance().is_err(), "{row:?}");
    }
}
