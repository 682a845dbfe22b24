//! How a query plan reads each table, parsed from the lines of servers' plans.

use serde::Serialize;

/// How a plan reads a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Access {
    pub table: String,
    /// The server's word for the kind of access, such as `ref`, `ALL`, `Index Scan` or `SEARCH`.
    pub how: String,
    /// The index, if one is used.
    pub key: Option<String>,
    /// Whether the access reads every row.
    pub is_full_scan: bool,
}

/// The kind of server that wrote a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    Mysql,
    Pgsql,
    Sqlite,
}

/// The kind of server, from the form of the plan's first line; `None` for an empty plan.
pub(super) fn dialect(plan: &str) -> Option<Dialect> {
    let first = plan.lines().next()?;
    Some(if mysql_head(first).is_some() {
        Dialect::Mysql
    } else if rows(first).is_some() {
        Dialect::Pgsql
    } else {
        Dialect::Sqlite
    })
}

/// The accesses to tables in a plan, in the order of the plan's lines.
pub(super) fn accesses(plan: &str) -> Vec<Access> {
    let lines = plan.lines().map(without_estimate);
    match dialect(plan) {
        None => Vec::new(),
        Some(Dialect::Mysql) => lines.filter_map(of_mysql).collect(),
        Some(Dialect::Pgsql) => of_pgsql(lines),
        Some(Dialect::Sqlite) => lines.filter_map(of_sqlite).collect(),
    }
}

/// The number of rows that a server estimates, from a line that ends with `[120 rows]`.
pub(super) fn rows(line: &str) -> Option<f64> {
    let (_, estimate) = line.rsplit_once('[')?;
    estimate.strip_suffix(" rows]")?.parse().ok()
}

/// A line without the estimate in square brackets at its end.
pub(super) fn without_estimate(line: &str) -> &str {
    if rows(line).is_none() {
        return line;
    }
    line.rsplit_once('[').map_or(line, |(before, _)| before.trim_end())
}

/// Splits a line of a MySQL plan into kind, table and rest. The line looks like `1 SIMPLE sbtest1: ref, k_1, 4
/// bytes of the key = const; Using where`.
fn mysql_head(line: &str) -> Option<(&str, &str, &str)> {
    let (head, rest) = line.split_once(": ")?;
    let (number, head) = head.split_once(' ')?;
    let is_number = number == "-" || number.bytes().all(|byte| byte.is_ascii_digit());
    let (kind, table) = head.rsplit_once(' ')?;
    is_number.then_some((kind, table, rest))
}

fn of_mysql(line: &str) -> Option<Access> {
    let (kind, table, rest) = mysql_head(line)?;
    // An INSERT or REPLACE does not read its table, whatever access the line names.
    if matches!(kind, "INSERT" | "REPLACE") {
        return None;
    }
    let access = rest.split(';').next()?.split(" = ").next()?;
    let (how, key) = match access.split_once(", ") {
        Some((how, key)) => (how, key.rsplit_once(", ").map(|(key, _)| key.to_owned())),
        None => (access, None),
    };
    (how != "-").then(|| Access {
        table: table.to_owned(),
        how: how.to_owned(),
        key,
        is_full_scan: how == "ALL",
    })
}

/// Parses lines such as `->  Index Scan using k_1 on sbtest1`. A `Bitmap Heap Scan on sbtest1` has its index in a
/// line below, `Bitmap Index Scan on k_1`.
fn of_pgsql<'a>(lines: impl Iterator<Item = &'a str>) -> Vec<Access> {
    let mut found: Vec<Access> = Vec::new();
    for line in lines {
        let node = line.trim_start().trim_start_matches("->").trim_start();
        let Some((what, table)) = node.split_once(" on ") else { continue };
        let (how, key) = match what.split_once(" using ") {
            Some((how, key)) => (how, Some(key.to_owned())),
            None => (what, None),
        };
        let how = how.trim_end_matches(" Backward");
        let Some(name) = table.split_whitespace().next().filter(|_| how.ends_with(" Scan")) else { continue };
        if how == "Bitmap Index Scan" {
            if let Some(heap) = found.last_mut().filter(|heap| heap.key.is_none()) {
                heap.key = Some(name.to_owned());
            }
            continue;
        }
        found.push(Access {
            table: name.to_owned(),
            how: how.to_owned(),
            key,
            is_full_scan: how.ends_with("Seq Scan"),
        });
    }
    found
}

/// Parses lines such as `SEARCH sbtest1 USING COVERING INDEX k_1 (k=?)` and `SCAN sbtest1`.
fn of_sqlite(line: &str) -> Option<Access> {
    let (how, rest) =
        line.trim_start().split_once(' ').filter(|(how, _)| matches!(*how, "SCAN" | "SEARCH"))?;
    if rest == "CONSTANT ROW" || rest.ends_with("VALUES CLAUSE") {
        return None;
    }
    let rest = rest.strip_prefix("TABLE ").unwrap_or(rest);
    let (table, using) = match rest.split_once(" USING ") {
        Some((table, using)) => (table, Some(using)),
        None => (rest, None),
    };
    let key = using.map(|using| match using.split_once("INDEX ") {
        Some((_, index)) if !index.starts_with('(') => index.split(' ').next().unwrap_or_default().to_owned(),
        _ => using.split(" (").next().unwrap_or_default().to_owned(),
    });
    Some(Access {
        table: table.split(' ').next()?.to_owned(),
        how: how.to_owned(),
        is_full_scan: how == "SCAN" && key.is_none(),
        key,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each access as `table how key`. An exclamation mark after the access means a full scan.
    fn told(plan: &str) -> Vec<String> {
        let one = |it: Access| {
            let mark = if it.is_full_scan { "!" } else { "" };
            format!("{} {} {}{mark}", it.table, it.how, it.key.as_deref().unwrap_or("-"))
        };
        accesses(plan).into_iter().map(one).collect()
    }

    #[test]
    fn plans_of_mysql_tell_type_and_key() {
        let plan = "1 SIMPLE sbtest1: ref, k_1, 4 bytes of the key = const; Using where; Using index [100 rows]\n\
                    1 SIMPLE t: ALL; Using where [986 rows]\n\
                    2 DEPENDENT SUBQUERY <derived3>: index_merge, a,b, 4,4 bytes of the key [2 rows]\n\
                    1 SIMPLE -: -; Impossible WHERE";
        assert_eq!(told(plan), ["sbtest1 ref k_1", "t ALL -!", "<derived3> index_merge a,b"]);
        assert!(told("1 INSERT sbtest1: ALL").is_empty(), "nothing is read");
        assert_eq!(
            told("1 UPDATE sbtest1: range, PRIMARY, 4 bytes of the key = const; Using where [1 rows]"),
            ["sbtest1 range PRIMARY"]
        );
    }

    #[test]
    fn plans_of_postgres_tell_the_scan_and_its_index() {
        let plan = "Update on sbtest1 [0 rows]\n  ->  Index Only Scan Backward using k_1 on sbtest1 s [5 rows]\n\
                    \x20 ->  Bitmap Heap Scan on public.t [9 rows]\n        ->  Bitmap Index Scan on t_a [9 rows]\n\
                    \x20 ->  Parallel Seq Scan on u [7 rows]";
        assert_eq!(
            told(plan),
            ["sbtest1 Index Only Scan k_1", "public.t Bitmap Heap Scan t_a", "u Parallel Seq Scan -!"]
        );
    }

    #[test]
    fn plans_of_sqlite_tell_search_or_scan() {
        let plan = "CO-ROUTINE x\n  SCAN sbtest1\nSEARCH t USING COVERING INDEX k_1 (k=?)\nSCAN TABLE u AS v\n\
                    SEARCH w USING INTEGER PRIMARY KEY (rowid=?)\nSCAN z USING INDEX i\nUSE TEMP B-TREE FOR ORDER BY\n\
                    SEARCH y USING AUTOMATIC COVERING INDEX (a=?)\nSCAN CONSTANT ROW\nSCAN 3-ROW VALUES CLAUSE";
        assert_eq!(
            told(plan),
            [
                "sbtest1 SCAN -!",
                "t SEARCH k_1",
                "u SCAN -!",
                "w SEARCH INTEGER PRIMARY KEY",
                "z SCAN i",
                "y SEARCH AUTOMATIC COVERING INDEX"
            ]
        );
    }

    #[test]
    fn a_plan_without_lines_reads_nothing() {
        assert_eq!((accesses(""), dialect("")), (Vec::new(), None));
        assert_eq!(rows("Seq Scan on t [12 rows]"), Some(12.0));
        assert_eq!((rows("a [b"), without_estimate("a [x rows]")), (None, "a [x rows]"));
    }
}
