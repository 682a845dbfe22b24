//! Logs of servers, and the statements in them.

use std::io::Cursor;

use dyno_traffic::sql::{Dialect, Kind, Normalizer, digest_text, rebuilt};
use dyno_traffic::{Event, LogFormat, Statement, read_log};

/// Reads a log in each format, and parses the statements in it.
pub(crate) fn log(bytes: &[u8]) {
    for format in LogFormat::ALL {
        let dialect = format.dialect();
        let mut normalizers = [false, true].map(|redact| Normalizer::new(dialect, redact));
        let read = read_log(Cursor::new(bytes.to_vec()), Some(format), &mut |_, event| {
            if let Event::Statement(statement) | Event::Failed(statement) = event {
                part(&mut normalizers, &statement, dialect);
            }
            Ok(())
        });
        if let Err(error) = read {
            let _ = error.to_string();
        }
    }
    // As its format is seen by its first lines.
    let _ = read_log(Cursor::new(bytes.to_vec()), None, &mut |_, _| Ok(()));
}

fn part(normalizers: &mut [Normalizer], statement: &Statement<'_>, dialect: Dialect) {
    for normalizer in normalizers {
        let parts = normalizer.part(statement.text, statement.bound);
        let shape = String::from_utf8_lossy(parts.shape);
        let _ = (digest_text(&shape, dialect), Kind::of(parts.shape));
        let Some(again) = rebuilt(&shape, parts.literals, dialect) else { continue };
        let literals = parts.literals.map(str::to_owned);
        let is_utf8 = shape.as_bytes() == parts.shape;
        let (shape, is_whole) = (parts.shape.to_owned(), parts.is_whole);
        // What a replay sends has the same shape, so the same digest.
        let rebuilt = normalizer.part(&again, &[]);
        assert!(!is_whole || !is_utf8 || literals.is_none() || rebuilt.shape == shape, "another shape");
    }
}
