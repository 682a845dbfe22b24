//! PostgreSQL's jsonlog, since version 15: one object per line (manual, "Using JSON-Format Log Output").

use std::borrow::Cow;

use serde::Deserialize;

use super::message::{Messages, Record};
use crate::error::TrafficError;
use crate::input::Line;
use crate::log::moment::iso;
use crate::log::{Event, Reader, See, Trouble};

/// Reads a jsonlog.
#[derive(Debug, Default)]
pub(crate) struct Jsonlog {
    messages: Messages,
    has_told_zone: bool,
}

/// The keys that are used. Other keys are skipped.
#[derive(Deserialize)]
struct Object<'a> {
    #[serde(borrow, default)]
    timestamp: Cow<'a, str>,
    #[serde(borrow, default)]
    user: Cow<'a, str>,
    #[serde(borrow, default)]
    dbname: Cow<'a, str>,
    #[serde(borrow, default)]
    session_id: Cow<'a, str>,
    #[serde(borrow, default)]
    error_severity: Cow<'a, str>,
    #[serde(borrow, default)]
    state_code: Cow<'a, str>,
    #[serde(borrow, default)]
    message: Cow<'a, str>,
    #[serde(borrow, default)]
    detail: Cow<'a, str>,
    #[serde(borrow, default)]
    statement: Cow<'a, str>,
}

impl Reader for Jsonlog {
    fn line(&mut self, line: Line<'_>, see: See<'_>) -> Result<(), TrafficError> {
        if line.bytes.trim_ascii().is_empty() {
            return Ok(());
        }
        if line.is_too_long {
            return see(line.number, Event::Trouble(Trouble::TooLong));
        }
        // The text may not be UTF-8, because a database may have another encoding.
        let text = String::from_utf8_lossy(line.bytes);
        let Ok(object) = serde_json::from_str::<Object<'_>>(&text) else {
            let trouble = if line.bytes.starts_with(b"{") { Trouble::Cut } else { Trouble::NotRecognised };
            return see(line.number, Event::Trouble(trouble));
        };
        self.object(&object, line.number, see)
    }

    fn end(&mut self, _see: See<'_>) -> Result<(), TrafficError> {
        Ok(())
    }
}

impl Jsonlog {
    fn object(&mut self, object: &Object<'_>, line: u64, see: See<'_>) -> Result<(), TrafficError> {
        let moment = iso(object.timestamp.as_bytes()).map(|(moment, _)| moment);
        if moment.is_some_and(|moment| !moment.has_zone) && !self.has_told_zone {
            self.has_told_zone = true;
            see(line, Event::Trouble(Trouble::NoZone))?;
        }
        let record = Record {
            line,
            at_us: moment.map(|moment| moment.at_us),
            session: object.session_id.as_bytes(),
            user: object.user.as_bytes(),
            database: object.dbname.as_bytes(),
            severity: object.error_severity.as_bytes(),
            state: object.state_code.as_bytes(),
            message: object.message.as_bytes(),
            detail: object.detail.as_bytes(),
            statement: object.statement.as_bytes(),
        };
        self.messages.see(&record, see)
    }
}
