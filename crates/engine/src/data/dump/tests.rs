//! Tests how dumps are split into statements.

use super::split::{Item, SplitError, Splitter, Statement, Syntax};
use super::{Statements, new_database};
use crate::catalogue::entry::Family;

/// The statements of a dump with their lines. Rows of `COPY` follow in brackets.
fn parted(text: &str, syntax: Syntax) -> Result<Vec<(u64, String)>, SplitError> {
    let mut dump = Splitter::new(text.as_bytes(), syntax);
    let mut found = Vec::new();
    while let Some(item) = dump.next()? {
        match item {
            Item::Command { text, line } => {
                found
                    .push((line, new_database(&text).map_or(text, |database| format!("connect {database}"))));
            }
            Item::Statement(Statement { sql, line, has_rows }) => {
                found.push((line, String::from_utf8(sql).unwrap().trim().to_owned()));
                let mut has_more = has_rows;
                while has_more {
                    let mut rows = Vec::new();
                    has_more = dump.rows(line, &mut rows, 1)?;
                    found.push((line, format!("[{}]", String::from_utf8(rows).unwrap())));
                }
            }
        }
    }
    Ok(found)
}

fn of(text: &str, syntax: Syntax) -> Vec<(u64, String)> {
    parted(text, syntax).unwrap()
}

fn pairs(expected: &[(u64, &str)]) -> Vec<(u64, String)> {
    expected.iter().map(|(line, text)| (*line, (*text).to_owned())).collect()
}

#[test]
fn a_dump_of_mysql_is_parted_outside_of_quotes_comments_and_triggers() {
    let text = "/*M!999999\\- enable the sandbox mode */ \n-- MariaDB dump; a comment\n/*!40101 SET NAMES utf8 */;\n\
                # more; of it\nCREATE TABLE `a;b` (c varchar(9) DEFAULT ';' /* ; */);\n\
                INSERT INTO t VALUES ('it\\'s; \\\\'),(\"a\\\"b;\"),('x''y;\n z');\nDELIMITER ;;\n\
                /*!50003 CREATE*/ /*!50003 TRIGGER t BEFORE INSERT ON t FOR EACH ROW BEGIN SET @a = 1; SET @b = 2; END */;;\n\
                delimiter ;\nSELECT 1 --no comment\n;\n/* nothing; */ ;\nUSE `x`";
    assert_eq!(
        of(text, Syntax::Mysql),
        pairs(&[
            (
                1,
                "/*M!999999\\- enable the sandbox mode */ \n-- MariaDB dump; a comment\n/*!40101 SET NAMES utf8 */"
            ),
            (5, "CREATE TABLE `a;b` (c varchar(9) DEFAULT ';' /* ; */)"),
            (6, "INSERT INTO t VALUES ('it\\'s; \\\\'),(\"a\\\"b;\"),('x''y;\n z')"),
            (
                9,
                "/*!50003 CREATE*/ /*!50003 TRIGGER t BEFORE INSERT ON t FOR EACH ROW BEGIN SET @a = 1; SET @b = 2; END */"
            ),
            (11, "SELECT 1 --no comment"),
            (14, "USE `x`"),
        ])
    );
}

#[test]
fn a_dump_of_postgresql_is_parted_as_psql_does() {
    let text = "\\restrict abc\n--\n-- PostgreSQL; dump\n--\n/* a /* nested; */ one; */\nSET a = 'x\\';\n\
                CREATE FUNCTION f() RETURNS text AS $body$ SELECT ';$$'; $body$ LANGUAGE sql;\n\
                CREATE OR REPLACE FUNCTION g(i int) RETURNS int BEGIN ATOMIC\n SELECT CASE WHEN i > 0 THEN 1 END; SELECT 2;\nEND;\n\
                CREATE RULE r AS ON INSERT TO t DO (SELECT 1; SELECT 2);\nSELECT E'it\\'s;' || U&'\\0041', \"a;b\", $1;\n\
                \\connect shop\nCOPY public.t (a, b) FROM stdin;\n1\tx;\n2\t\\N\n\\.\n\nCOPY e FROM stdin;\n\\.\n\
                \\connect -reuse-previous=on \"dbname='it\\'s'\"\nSELECT 2;\n\\unrestrict abc\n";
    assert_eq!(
        of(text, Syntax::Postgres),
        pairs(&[
            (1, "restrict abc"),
            (6, "SET a = 'x\\'"),
            (7, "CREATE FUNCTION f() RETURNS text AS $body$ SELECT ';$$'; $body$ LANGUAGE sql"),
            (
                8,
                "CREATE OR REPLACE FUNCTION g(i int) RETURNS int BEGIN ATOMIC\n SELECT CASE WHEN i > 0 THEN 1 END; SELECT 2;\nEND"
            ),
            (11, "CREATE RULE r AS ON INSERT TO t DO (SELECT 1; SELECT 2)"),
            (12, "SELECT E'it\\'s;' || U&'\\0041', \"a;b\", $1"),
            (13, "connect shop"),
            (14, "COPY public.t (a, b) FROM stdin"),
            (14, "[1\tx;\n]"),
            (14, "[2\t\\N\n]"),
            (14, "[]"),
            (19, "COPY e FROM stdin"),
            (19, "[]"),
            (21, "connect it's"),
            (22, "SELECT 2"),
            (23, "unrestrict abc"),
        ])
    );
}

#[test]
fn a_dump_that_was_cut_off_is_told_with_its_line() {
    for (text, syntax, line) in [
        ("SELECT 1;\nINSERT INTO t VALUES ('abc", Syntax::Mysql, 2),
        ("CREATE FUNCTION f() AS $$ SELECT 1;\n", Syntax::Postgres, 1),
        ("COPY t FROM stdin;\n1\n2\n", Syntax::Postgres, 1),
        ("SELECT 1;\n\nSELECT (1;", Syntax::Postgres, 3),
    ] {
        match parted(text, syntax) {
            Err(SplitError::CutOff { line: found }) => assert_eq!(found, line, "{text}"),
            other => panic!("{text}: {other:?}"),
        }
    }
    assert!(of("-- nothing\n/* at all", Syntax::Mysql).is_empty());
}

#[test]
fn statements_of_a_user_are_those_of_the_server_and_its_client_programs_commands_are_refused() {
    let all = |text: &str, family: Family| {
        let mut statements = Statements::of(text.as_bytes(), family);
        let mut found = Vec::new();
        loop {
            match statements.next_statement() {
                Ok(Some(statement)) => found.push(statement.trim().to_owned()),
                Ok(None) => return found,
                Err(error) => found.push(error.to_string()),
            }
        }
    };
    let text = r"SELECT 'a\'; SELECT 5 # 3; DO $$ BEGIN NULL; END $$; SELECT 1";
    let of_postgres = [r"SELECT 'a\'", "SELECT 5 # 3", "DO $$ BEGIN NULL; END $$", "SELECT 1"];
    assert_eq!(all(text, Family::Postgres), of_postgres);
    assert_eq!(
        all(r"SELECT 'it\';s'; SELECT (1; SELECT 2 # 3;", Family::Mysql)[1..],
        ["SELECT (1", "SELECT 2 # 3;"]
    );
    assert_eq!(
        all("\\d t\nCOPY t FROM stdin;\nSELECT 1;\nSELECT 'a", Family::Postgres),
        [
            "line 1: `\\d t` is a command of psql; send SQL, or use psql",
            "line 2: COPY from stdin is not supported; use INSERT, or psql",
            "SELECT 1",
            "line 4: the statement does not end; close its quotes, comments and parentheses",
        ]
    );
}
