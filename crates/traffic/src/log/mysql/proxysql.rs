//! ProxySQL's eventslog with `eventslog_format = 2`, which has one JSON object per line (ProxySQL's documentation,
//! "Query Logging", and `doc/internal/MySQL_Logging_Prepared_Statements_Parameters.md` in its repository).

use std::borrow::Cow;

use serde::Deserialize;

use super::parameters::with_values;
use crate::error::TrafficError;
use crate::input::Line;
use crate::log::{Event, Reader, See, Statement, Trouble};

/// The key that identifies a line of an eventslog.
const KEY: &[u8] = b"\"starttime_timestamp_us\":";

/// Reads an eventslog.
#[derive(Debug, Default)]
pub(crate) struct Proxysql;

/// The keys that are used. Other keys are skipped.
#[derive(Deserialize)]
struct Object<'a> {
    #[serde(borrow, default)]
    event: Cow<'a, str>,
    thread_id: Option<u64>,
    #[serde(borrow, default)]
    username: Cow<'a, str>,
    #[serde(borrow, default)]
    schemaname: Cow<'a, str>,
    #[serde(borrow, default)]
    query: Cow<'a, str>,
    starttime_timestamp_us: Option<i64>,
    duration_us: Option<u64>,
    rows_sent: Option<u64>,
    rows_affected: Option<u64>,
    errno: Option<u32>,
    /// The values of a prepared statement. ProxySQL logs them since version 3.
    #[serde(borrow)]
    parameters: Option<Vec<Parameter<'a>>>,
}

/// A value of a prepared statement.
#[derive(Deserialize)]
pub(super) struct Parameter<'a> {
    /// The name of the value's type in MySQL's protocol.
    #[serde(borrow, default, rename = "type")]
    pub(super) kind: Cow<'a, str>,
    #[serde(borrow)]
    pub(super) value: Option<Cow<'a, str>>,
}

/// Whether a line is an entry of ProxySQL's eventslog.
pub(in crate::log) fn is_proxysql(line: &[u8]) -> bool {
    line.starts_with(b"{") && memchr::memmem::find(line, KEY).is_some()
}

impl Reader for Proxysql {
    fn line(&mut self, line: Line<'_>, see: See<'_>) -> Result<(), TrafficError> {
        if line.bytes.trim_ascii().is_empty() {
            return Ok(());
        }
        if line.is_too_long {
            return see(line.number, Event::Trouble(Trouble::TooLong));
        }
        let text = String::from_utf8_lossy(line.bytes);
        match serde_json::from_str::<Object<'_>>(&text) {
            Ok(object) => entry(&object, line.number, see),
            Err(_) if line.bytes.starts_with(b"{") => see(line.number, Event::Trouble(Trouble::Cut)),
            Err(_) => see(line.number, Event::Trouble(Trouble::NotRecognised)),
        }
    }

    fn end(&mut self, _see: See<'_>) -> Result<(), TrafficError> {
        Ok(())
    }
}

fn entry(object: &Object<'_>, line: u64, see: See<'_>) -> Result<(), TrafficError> {
    let Some(at_us) = object.starttime_timestamp_us else {
        return see(line, Event::Trouble(Trouble::NoTime));
    };
    let Some(thread_id) = object.thread_id else { return see(line, Event::Trouble(Trouble::NoSession)) };
    let text = match (&*object.event, &object.parameters) {
        ("COM_QUERY", _) => object.query.as_bytes().to_vec(),
        ("COM_STMT_EXECUTE", Some(parameters)) => match with_values(object.query.as_bytes(), parameters) {
            Some(text) => text,
            None => return see(line, Event::Command("Execute without values")),
        },
        ("COM_STMT_EXECUTE", None) if !object.query.contains('?') => object.query.as_bytes().to_vec(),
        ("COM_STMT_EXECUTE", None) => return see(line, Event::Command("Execute without values")),
        ("COM_STMT_PREPARE", _) => return see(line, Event::Command("Prepare")),
        _ => return see(line, Event::Unrelated),
    };
    let (session, error) = (thread_id.to_string(), object.errno.unwrap_or(0).to_string());
    let database = Some(object.schemaname.as_bytes()).filter(|name| !name.is_empty());
    let statement = Statement {
        session: session.as_bytes(),
        at_us,
        text: &text,
        bound: &[],
        user: Some(object.username.as_bytes()),
        database,
        latency_us: object.duration_us,
        rows_sent: object.rows_sent,
        rows_examined: None,
        rows_affected: object.rows_affected,
        error: (error != "0").then_some(error.as_bytes()),
    };
    see(line, Event::Statement(statement))
}
