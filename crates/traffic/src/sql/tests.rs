use proptest::prelude::*;

use super::{Dialect, Kind, Normalizer, digest_text, rebuilt};

const MYSQL: Dialect = Dialect::Mysql;
const POSTGRESQL: Dialect = Dialect::Postgresql;

/// The shape and the literals of a statement.
fn parts(dialect: Dialect, text: &str) -> (String, String) {
    let mut normalizer = Normalizer::new(dialect, false);
    let parts = normalizer.part(text.as_bytes(), &[]);
    assert!(parts.is_whole, "{text}");
    (String::from_utf8(parts.shape.to_owned()).unwrap(), parts.literals.unwrap_or("[]").to_owned())
}

/// Everything that is kept of a statement.
fn kept(dialect: Dialect, text: &str) -> String {
    let (shape, literals) = parts(dialect, text);
    format!("{shape} {literals}")
}

fn digest(dialect: Dialect, text: &str) -> String {
    digest_text(&parts(dialect, text).0, dialect)
}

#[test]
fn literals_of_every_kind_are_taken_out_of_mysql() {
    for (text, shape, literals) in [
        ("SELECT 1", "SELECT ?", "[1]"),
        ("SELECT  a\n FROM t -- all\nWHERE b='x'", "SELECT a FROM t WHERE b=?", r#"["x"]"#),
        (r#"SELECT "it's", 'it''s', 'it\'s'"#, "SELECT ?, ?, ?", r#"["it's","it's","it's"]"#),
        (r"SELECT 'a\\', '\%\n'", "SELECT ?, ?", r#"["a\\","\\%\u000a"]"#),
        (
            "SELECT 0x1F, x'1f', b'01', 0b01",
            "SELECT ?, ?, ?, ?",
            r#"[{"hex":"1F"},{"hex":"1f"},{"bits":"01"},{"bits":"01"}]"#,
        ),
        (
            "SELECT 1.50, 1e-3, .5, 007",
            "SELECT ?, ?, ?, ?",
            r#"[{"number":"1.50"},{"number":"1e-3"},{"number":".5"},{"number":"007"}]"#,
        ),
        ("SELECT a-1, -1, (-2), 3 - -4", "SELECT a-?, ?, (?), ? - ?", "[1,-1,-2,3,-4]"),
        ("SELECT t1.1a, 2b FROM `t?`", "SELECT t1.1a, 2b FROM `t??`", "[]"),
        ("SELECT _utf8mb4'x', N'y'", "SELECT _utf8mb4?, N?", r#"["x","y"]"#),
        ("SELECT 'a' 'b'", "SELECT ? ?", r#"["a","b"]"#),
        ("SELECT 1 # one\n+ 2 /* two */ + 3", "SELECT ? + ? + ?", "[1,2,3]"),
        ("SELECT 5--1", "SELECT ?-?", "[5,-1]"),
        ("SELECT /*+ MAX_EXECUTION_TIME(1) */ a", "SELECT /*+ MAX_EXECUTION_TIME(1) */ a", "[]"),
        (
            "CREATE TABLE t (a int) /*!50100 PARTITIONS 4 */",
            "CREATE TABLE t (a int) /*!50100 PARTITIONS ? */",
            "[4]",
        ),
        ("SELECT 2*/* c */3", "SELECT ?* ?", "[2,3]"),
        ("SELECT * FROM t WHERE a = ?", "SELECT * FROM t WHERE a = ??", "[]"),
    ] {
        assert_eq!(parts(MYSQL, text), (shape.to_owned(), literals.to_owned()), "{text}");
    }
}

#[test]
fn literals_of_every_kind_are_taken_out_of_postgresql() {
    for (text, shape, literals) in [
        (r#"SELECT "a?" FROM "T" WHERE b = 'c:\d'"#, r#"SELECT "a??" FROM "T" WHERE b = ?"#, r#"["c:\\d"]"#),
        (r"SELECT E'a\'b\n\x41\101\u00e9'", "SELECT ?", r#"["a'b\u000aAAé"]"#),
        ("SELECT $$a'b$$, $x$ $$ $x$", "SELECT ?, ?", r#"["a'b"," $$ "]"#),
        ("SELECT $1::int + 1", "SELECT $1::int + ?", "[1]"),
        ("SELECT a /* x /* y */ z */ FROM t", "SELECT a FROM t", "[]"),
        ("SELECT '{}'::jsonb ? 'k', b ?| c", "SELECT ?::jsonb ?? ?, b ??| c", r#"["{}","k"]"#),
        ("SELECT a # b, 1_000", "SELECT a # b, ?", r#"[{"number":"1_000"}]"#),
        ("SELECT U&'d\\0061'", "SELECT U&?", r#"["d\\0061"]"#),
        ("SELECT 5 --5\n", "SELECT ?", "[5]"),
    ] {
        assert_eq!(parts(POSTGRESQL, text), (shape.to_owned(), literals.to_owned()), "{text}");
    }
}

#[test]
fn what_has_no_end_is_told() {
    for (dialect, text) in [
        (MYSQL, "SELECT 'a"),
        (MYSQL, "SELECT `a"),
        (MYSQL, "SELECT 1 /* a"),
        (POSTGRESQL, "SELECT $$a"),
        (POSTGRESQL, "SELECT /* /* */"),
        (POSTGRESQL, "SELECT \"a"),
    ] {
        assert!(!Normalizer::new(dialect, false).part(text.as_bytes(), &[]).is_whole, "{text}");
    }
}

#[test]
fn statements_that_do_the_same_have_one_digest() {
    for (dialect, same, expected) in [
        (
            MYSQL,
            &[
                "select a from t where b in (1,2,3)",
                "SELECT a\tFROM t WHERE b IN (4)",
                "SELECT a FROM t WHERE b in( ?, ? )",
            ][..],
            "SELECT a FROM t WHERE b IN (?+)",
        ),
        (
            MYSQL,
            &["insert into t values (1,'a')", "INSERT INTO t VALUES (1,'a'), (2,NULL) , (3,'c')"],
            "INSERT INTO t VALUES (?+)",
        ),
        (
            MYSQL,
            &["INSERT INTO t VALUES (1,now()),(2,now())", "INSERT INTO t VALUES(3, now())"],
            "INSERT INTO t VALUES (?, now())",
        ),
        (
            POSTGRESQL,
            &["SELECT A FROM T WHERE B=1", "select a from t where b = -2"],
            "SELECT a FROM t WHERE b = ?",
        ),
        (POSTGRESQL, &["SELECT $1::int", "select $1 :: INT"], "SELECT $1::int"),
    ] {
        for text in same {
            assert_eq!(digest(dialect, &text.replace("?, ?", "8, 9")), expected, "{text}");
        }
    }
    // In MySQL, two tables may have names that differ only by case.
    assert_ne!(digest(MYSQL, "SELECT a FROM T"), digest(MYSQL, "SELECT a FROM t"));
    assert_ne!(digest(POSTGRESQL, "SELECT a FROM \"T\""), digest(POSTGRESQL, "SELECT a FROM t"));
}

#[test]
fn a_comment_that_is_left_out_leaves_none_behind() {
    let text = "SELECT a ---- one\n b FROM t";
    let (shape, literals) = parts(Dialect::Mysql, text);
    assert_eq!(shape, "SELECT a - - b FROM t");
    let again = String::from_utf8(rebuilt(&shape, Some(&literals), Dialect::Mysql).unwrap()).unwrap();
    assert_eq!(parts(Dialect::Mysql, &again).0, shape, "a replay sends the same statement");
}

/// A word that statements contain only as a secret.
const SECRET: &str = "hunter2";

#[test]
fn no_password_is_kept() {
    for (dialect, text) in [
        (MYSQL, "CREATE USER 'u'@'h' IDENTIFIED BY 'hunter2'"),
        (MYSQL, "create user u identified with mysql_native_password by \"hunter2\""),
        (MYSQL, "CREATE USER u IDENTIFIED VIA mysql_native_password USING 'hunter2'"),
        (MYSQL, "ALTER USER u IDENTIFIED BY 'hunter2' REPLACE 'hunter2'"),
        (MYSQL, "ALTER USER u IDENTIFIED BY hunter2"),
        (MYSQL, "GRANT ALL ON *.* TO u IDENTIFIED BY PASSWORD '*hunter2'"),
        (MYSQL, "SET PASSWORD FOR 'u'@'h' = PASSWORD('hunter2')"),
        (MYSQL, "SET PASSWORD = 'hunter2'"),
        (MYSQL, "SET PASSWORD = hunter2"),
        (MYSQL, "SELECT PASSWORD('hunter2'), OLD_PASSWORD( 'hunter2' )"),
        (MYSQL, "UPDATE mysql.user SET authentication_string=PASSWORD('hunter2')"),
        (MYSQL, "CHANGE MASTER TO MASTER_USER='u', MASTER_PASSWORD='hunter2'"),
        (MYSQL, "CHANGE REPLICATION SOURCE TO SOURCE_PASSWORD = 'hunter2'"),
        (MYSQL, "START SLAVE USER='u' PASSWORD='hunter2'"),
        (MYSQL, "CREATE SERVER s FOREIGN DATA WRAPPER mysql OPTIONS (USER 'u', PASSWORD 'hunter2')"),
        (MYSQL, "CREATE OR REPLACE USER u IDENTIFIED BY 0x68756e74657232 -- hunter2"),
        (MYSQL, "/*!50700 ALTER USER u IDENTIFIED BY 'hunter2' */"),
        (MYSQL, "SELECT 1; ALTER USER u IDENTIFIED BY 'hunter2'"),
        (MYSQL, "PREPARE s FROM 'ALTER USER u IDENTIFIED BY ''hunter2'''"),
        (MYSQL, "SET GLOBAL wsrep_sst_auth = 'u:hunter2'"),
        (MYSQL, "INSERT INTO c VALUES ('{\"password\": \"hunter2\"}')"),
        (MYSQL, "SELECT * FROM users WHERE password = 'hunter2'"),
        (MYSQL, "CREATE USER u IDENTIFIED BY 'hunter2"),
        (POSTGRESQL, "CREATE ROLE r WITH LOGIN ENCRYPTED PASSWORD 'hunter2'"),
        (POSTGRESQL, "ALTER USER u PASSWORD E'hunter2'"),
        (POSTGRESQL, "ALTER USER u WITH PASSWORD $$hunter2$$"),
        (POSTGRESQL, "ALTER USER u PASSWORD \"hunter2\""),
        (POSTGRESQL, "ALTER USER u PASSWORD hunter2"),
        (POSTGRESQL, "CREATE USER MAPPING FOR u SERVER s OPTIONS (user 'u', password 'hunter2')"),
        (POSTGRESQL, "ALTER USER MAPPING FOR u SERVER s OPTIONS (SET password 'hunter2')"),
        (POSTGRESQL, "CREATE SUBSCRIPTION s CONNECTION 'host=h password=hunter2' PUBLICATION p"),
        (POSTGRESQL, "CREATE SERVER s FOREIGN DATA WRAPPER w OPTIONS (sslpassword 'hunter2')"),
        (POSTGRESQL, "ALTER SYSTEM SET primary_conninfo = 'host=h password=hunter2'"),
        (POSTGRESQL, "SELECT dblink_connect('host=h PASSWORD = hunter2')"),
        (POSTGRESQL, "DO $$ BEGIN ALTER USER u PASSWORD 'hunter2'; END $$"),
    ] {
        for redact in [false, true] {
            let mut normalizer = Normalizer::new(dialect, redact);
            let parts = normalizer.part(text.as_bytes(), &[]);
            let all = [parts.shape, parts.literals.unwrap_or_default().as_bytes()].concat();
            let all = String::from_utf8(all).unwrap();
            assert!(!all.contains(SECRET) && !all.contains("68756e"), "{text}: {all}");
        }
    }
}

#[test]
fn a_password_that_is_sent_apart_is_not_kept() {
    let mut normalizer = Normalizer::new(POSTGRESQL, false);
    let bound = [Some(b"me".to_vec()), Some(SECRET.as_bytes().to_vec()), None];
    let parts = normalizer.part(b"SELECT id FROM users WHERE name = $1 AND password = $2 OR $3", &bound);
    assert_eq!(parts.bound, Some(r#"["me",{"secret":true},null]"#));
}

#[test]
fn what_is_no_secret_is_kept() {
    for text in [
        "INSERT INTO posts VALUES ('I forgot my password again')",
        "CREATE TABLE t (password varchar(20), kind enum('a','b'))",
        "SELECT name FROM server WHERE region = 'eu'",
        "ALTER USER u PASSWORD EXPIRE INTERVAL 90 DAY",
        "SET NAMES 'utf8mb4'",
        "SELECT * FROM t WHERE note = 'identified by its number'",
    ] {
        assert!(!kept(MYSQL, text).contains("secret"), "{text}");
    }
}

#[test]
fn redacted_values_keep_their_lengths_only() {
    let mut normalizer = Normalizer::new(MYSQL, true);
    let parts = normalizer.part(b"SELECT 'abc', 12345, 0xFF, -1.5", &[Some(b"xy".to_vec()), None]);
    assert_eq!(parts.literals, Some(r#"[{"string":3},{"digits":5},{"hex":2},{"digits":4}]"#));
    assert_eq!(parts.bound, Some(r#"[{"string":2},null]"#));
    let shape = str::from_utf8(parts.shape).unwrap();
    assert_eq!(rebuilt(shape, parts.literals, MYSQL), None);
}

#[test]
fn kinds_follow_from_the_first_words() {
    for (shape, kind) in [
        ("SELECT ?", Kind::Read),
        ("(SELECT ?) UNION SELECT ?", Kind::Read),
        ("WITH a AS (DELETE FROM t RETURNING *) SELECT * FROM a", Kind::Write),
        ("WITH `insert` AS (SELECT ?) SELECT *", Kind::Read),
        ("insert into t values (?)", Kind::Write),
        ("COPY t FROM STDIN", Kind::Write),
        ("COPY (SELECT ?) TO STDOUT", Kind::Read),
        ("START TRANSACTION READ ONLY", Kind::Begin),
        ("START SLAVE", Kind::Other),
        ("ROLLBACK", Kind::End),
        ("ROLLBACK TO SAVEPOINT a", Kind::Transaction),
        ("XA END ?", Kind::Transaction),
        ("XA COMMIT ?", Kind::End),
        ("SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE", Kind::Transaction),
        ("SET autocommit=?", Kind::Session),
        ("CREATE TABLE t (a int)", Kind::Definition),
        ("", Kind::Other),
    ] {
        assert_eq!(Kind::of(shape.as_bytes()), kind, "{shape}");
    }
    for kind in Kind::ALL {
        assert_eq!(Kind::named(kind.name()), Some(kind));
    }
}

/// Pieces from which statements are made.
fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z_]{1,6}",
        "'[^'\\\\]{0,8}'",
        "[0-9]{1,9}(\\.[0-9]{1,3})?",
        Just("?".to_owned()),
        Just(",".to_owned()),
        Just("(".to_owned()),
        Just(")".to_owned()),
        Just("-".to_owned()),
        Just("=".to_owned()),
        Just("/* c */".to_owned()),
        Just("`q?`".to_owned()),
        Just("x'1f'".to_owned()),
    ]
}

proptest! {
    /// A rebuilt statement has the same shape and the same literals.
    #[test]
    fn a_rebuilt_statement_is_the_same(pieces in prop::collection::vec(piece(), 0..20)) {
        let text = pieces.join(" ");
        let (shape, literals) = parts(MYSQL, &text);
        // A statement is skipped if a word such as `password` is in it by chance.
        prop_assume!(!literals.contains("secret"));
        let again = rebuilt(&shape, Some(&literals), MYSQL).unwrap();
        prop_assert_eq!(parts(MYSQL, str::from_utf8(&again).unwrap()), (shape, literals));
    }

    #[test]
    fn any_bytes_are_parted(bytes in prop::collection::vec(any::<u8>(), 0..200), redact: bool) {
        for dialect in [MYSQL, POSTGRESQL] {
            let mut normalizer = Normalizer::new(dialect, redact);
            let parts = normalizer.part(&bytes, &[]);
            let shape = String::from_utf8_lossy(parts.shape).into_owned();
            if let Some(literals) = parts.literals {
                let values: Vec<serde_json::Value> = serde_json::from_str(literals).unwrap();
                prop_assert!(!values.is_empty());
            }
            let _ = digest_text(&shape, dialect);
            let _ = Kind::of(shape.as_bytes());
        }
    }
}
