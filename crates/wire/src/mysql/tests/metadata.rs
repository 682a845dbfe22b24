//! Results without descriptions of their columns.

use super::super::logins::capabilities::{
    DEPRECATE_EOF, MARIADB_CACHE_METADATA, OPTIONAL_METADATA, PLUGIN_AUTH, PROTOCOL_41, SECURE_CONNECTION,
};
use super::server::{
    Form, answer, column, end_of_rows, error, greeting_of_mariadb, numbered, ok, prepared, text_row,
};
use super::{LOGIN, hear, refusal, result_set, rows, sent};
use crate::mysql::Connection;
use crate::{Client as _, Event, Login, Metadata};

const BASE: u32 = PROTOCOL_41 | SECURE_CONNECTION | PLUGIN_AUTH | DEPRECATE_EOF;

fn spared() -> Login {
    Login { metadata: Metadata::Spared, ..LOGIN() }
}

/// A connection to a server with the capabilities `capabilities`, and with `own` as MariaDB's own capabilities.
fn logged_in(capabilities: u32, own: u32) -> Connection {
    let mut connection = Connection::new(spared());
    let greeting = greeting_of_mariadb(capabilities, own, "mysql_native_password");
    assert_eq!(hear(&mut connection, &greeting), Event::NeedInput);
    let introduction = sent(&mut connection);
    assert_eq!(introduction[4..8], (capabilities & (BASE | OPTIONAL_METADATA)).to_le_bytes());
    assert_eq!(introduction[32..36], (own & MARIADB_CACHE_METADATA).to_le_bytes());
    assert_eq!(hear(&mut connection, &numbered(2, &[ok(0, 0)])), Event::Ready);
    connection
}

/// A binary row that contains one text value.
fn binary_row(text: &str) -> Vec<u8> {
    [&[0, 0][..], &text_row(&[Some(text)])].concat()
}

fn some(text: &str) -> Vec<Option<String>> {
    vec![Some(text.to_owned())]
}

#[test]
fn mariadb_describes_a_statement_once_and_again_when_its_columns_change() {
    let mut connection = logged_in(BASE, MARIADB_CACHE_METADATA | 1);
    assert_eq!(connection.first_statement(), None);
    connection.prepare(b"SELECT c FROM t WHERE id = ?");
    let head = prepared(Form::Ok, 9, 1, 1)[0].clone();
    let described = answer(&[head, column("?", 253, 0, 0), column("c", 253, 0, 0)]);
    assert_eq!(hear(&mut connection, &described), Event::Prepared(0));
    let mut execute = |payloads: &[Vec<u8>]| {
        connection.execute(0, &[]);
        assert_eq!(hear(&mut connection, &answer(payloads)), result_set(1, 1));
        (connection.field_names(), rows(&mut connection))
    };
    let end = || end_of_rows(Form::Ok, 2);
    let undescribed = |text: &str| [vec![1, 0], binary_row(text), end()];
    assert_eq!(execute(&undescribed("one")), (vec!["c".to_owned()], vec![some("one")]));
    let changed = [vec![1, 1], column("d", 3, 0, 0), vec![0, 0, 7, 0, 0, 0], end()];
    assert_eq!(execute(&changed), (vec!["d".to_owned()], vec![some("7")]));
    let same = [vec![1, 0], vec![0, 0, 8, 0, 0, 0], end()];
    assert_eq!(execute(&same), (vec!["d".to_owned()], vec![some("8")]));
}

#[test]
fn mariadb_describes_each_text_result() {
    let mut connection = logged_in(BASE, MARIADB_CACHE_METADATA);
    connection.query(b"SELECT c FROM t");
    let result = [vec![1, 1], column("c", 253, 0, 0), text_row(&[Some("x")]), end_of_rows(Form::Ok, 2)];
    assert_eq!(hear(&mut connection, &answer(&result)), result_set(1, 1));
    assert_eq!((connection.field_names(), rows(&mut connection)), (vec!["c".to_owned()], vec![some("x")]));
}

#[test]
fn mysql_describes_nothing_after_its_first_statement() {
    let mut connection = logged_in(BASE | OPTIONAL_METADATA, 0);
    assert_eq!(connection.first_statement(), Some("SET SESSION resultset_metadata = NONE"));
    connection.query(b"SELECT c FROM t");
    let result = [vec![1, 0], text_row(&[Some("x")]), end_of_rows(Form::Ok, 2)];
    assert_eq!(hear(&mut connection, &answer(&result)), result_set(1, 1));
    assert_eq!((connection.field_names(), rows(&mut connection)), (vec![String::new()], vec![some("x")]));
    connection.query(b"SELECT c FROM t");
    let described = [vec![1, 1], column("c", 253, 0, 0), text_row(&[Some("x")]), end_of_rows(Form::Ok, 2)];
    assert_eq!(hear(&mut connection, &answer(&described)), result_set(1, 1));
    assert_eq!(connection.field_names(), ["c"]);
}

#[test]
fn rows_of_a_statement_without_types_are_counted_and_cannot_be_read() {
    let mut connection = logged_in(BASE | OPTIONAL_METADATA, 0);
    connection.prepare(b"SELECT c FROM t WHERE id = ?");
    let head = [prepared(Form::Ok, 9, 1, 1)[0].clone(), vec![0]].concat();
    assert_eq!(hear(&mut connection, &answer(&[head])), Event::Prepared(0));
    for _ in 0..2 {
        connection.execute(0, &[]);
        let result = [vec![1, 0], binary_row("x"), end_of_rows(Form::Ok, 2)];
        assert_eq!(hear(&mut connection, &answer(&result)), result_set(1, 1));
    }
    assert!(!connection.next_row(&mut Vec::new()));
    let told = connection.advance().unwrap_err().to_string();
    assert_eq!(
        told,
        "malformed result from the server: it has no types of its columns (metadata = \"spared\")"
    );
}

#[test]
fn errors_are_as_ever() {
    let mut connection = logged_in(BASE, MARIADB_CACHE_METADATA);
    connection.query(b"SELECT");
    assert!(matches!(
        hear(&mut connection, &answer(&[error(1064, "42000", "syntax")])),
        Event::Failed(error) if error.code == 1064
    ));
    connection.query(b"SELECT c FROM t");
    let told = refusal(&mut connection, &answer(&[vec![1]]));
    assert_eq!(told, "malformed number of columns from the server: it ends too early");
}

#[test]
fn a_server_that_describes_everything_is_refused() {
    for (capabilities, own) in [
        (BASE, 0),
        (BASE, 1),
        (BASE & !DEPRECATE_EOF, MARIADB_CACHE_METADATA),
        ((BASE & !DEPRECATE_EOF) | OPTIONAL_METADATA, 0),
    ] {
        let mut connection = Connection::new(spared());
        let greeting = greeting_of_mariadb(capabilities, own, "mysql_native_password");
        let told = refusal(&mut connection, &greeting);
        assert!(told.starts_with("the server describes the columns of every result"), "{told}");
        assert_eq!(sent(&mut connection), b"");
    }
}
