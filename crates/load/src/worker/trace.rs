//! Writes requests of scripts and their replies as lines of text (`--mysql-debug`).

use dyno_script::{Param, Piped, Reply, Request};

/// One line for a request of thread `tid` and its reply; `None` if the request is not for the database.
pub(super) fn line(tid: u32, request: &Request<'_>, reply: &Reply) -> Option<String> {
    let text = |sql: &[u8]| String::from_utf8_lossy(sql).into_owned();
    let (connection, call) = match *request {
        Request::Sleep { .. } | Request::NextEvent => return None,
        Request::Connect => (None, "connect".to_owned()),
        Request::Disconnect { connection } => (Some(connection), "disconnect".to_owned()),
        Request::Reconnect { connection } => (Some(connection), "reconnect".to_owned()),
        Request::Query { connection, sql } => (Some(connection), format!("query {}", text(sql))),
        Request::Send { connection, sql } => (Some(connection), format!("send {}", text(sql))),
        Request::Load { connection, sql, data } => {
            (Some(connection), format!("load {} bytes by {}", data.len(), text(sql)))
        }
        Request::Receive { connection } => (Some(connection), "receive".to_owned()),
        Request::Prepare { connection, sql, .. } => (Some(connection), format!("prepare {}", text(sql))),
        Request::Execute { connection, statement, params } => {
            (Some(connection), format!("execute {statement} ({})", parameters(params)))
        }
        Request::ExecuteOnce { connection, sql, params } => {
            (Some(connection), format!("execute {} ({})", text(sql), parameters(params)))
        }
        Request::Pipe { connection, part } => {
            let part = match part {
                Piped::Execute { statement, params } => {
                    format!("execute {statement} ({})", parameters(params))
                }
                Piped::Once { sql, params } => format!("execute {} ({})", text(sql), parameters(params)),
                Piped::Sync => "sync".to_owned(),
            };
            (Some(connection), format!("pipe {part}"))
        }
        Request::RunPipeline { connection } => (Some(connection), "run the pipeline".to_owned()),
        Request::CloseStatement { connection, statement } => (Some(connection), format!("close {statement}")),
        Request::NextResult { connection } => (Some(connection), "next result".to_owned()),
    };
    let outcome = match reply {
        Reply::Connected(number) => format!("connection {number}"),
        Reply::Prepared(statement) => format!("statement {statement}"),
        Reply::Result { has_rows: true } => "rows".to_owned(),
        Reply::Result { has_rows: false } | Reply::Done | Reply::Continue(_) => "ok".to_owned(),
        Reply::Failed(failure) => format!("error {} ({}): {}", failure.errno, failure.state, failure.message),
    };
    let connection = connection.map_or_else(String::new, |number| format!(" connection {number}"));
    Some(format!("DEBUG: thread {tid}{connection}: {call} -> {outcome}"))
}

fn parameters(params: &[Param<'_>]) -> String {
    params.iter().map(parameter).collect::<Vec<_>>().join(", ")
}

fn parameter(param: &Param<'_>) -> String {
    match param {
        Param::Null => "NULL".to_owned(),
        Param::Int(value) => value.to_string(),
        Param::Float(value) => value.to_string(),
        Param::Text(bytes) => format!("'{}'", String::from_utf8_lossy(bytes)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_names_thread_connection_call_and_outcome() {
        let params = [Param::Null, Param::Int(7), Param::Float(0.5), Param::Text(b"a b")];
        let execute = Request::Execute { connection: 1, statement: 3, params: &params };
        assert_eq!(
            line(2, &execute, &Reply::Result { has_rows: true }).unwrap(),
            "DEBUG: thread 2 connection 1: execute 3 (NULL, 7, 0.5, 'a b') -> rows"
        );
        assert_eq!(
            line(0, &Request::Connect, &Reply::Connected(0)).unwrap(),
            "DEBUG: thread 0: connect -> connection 0"
        );
        assert_eq!(line(0, &Request::Sleep { us: 1 }, &Reply::Done), None);
    }
}
