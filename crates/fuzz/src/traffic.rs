//! Reads server logs and traffic captures, and parses the statements in them.

use std::io::Cursor;

use dyno_traffic::sql::{Dialect, Kind, Normalizer, Template, digest_text, rebuilt};
use dyno_traffic::{Event, LogFormat, Statement, read_log};

/// The first byte of an input whose format is detected from its first lines.
pub(crate) const DETECTED: u8 = LogFormat::ALL.len() as u8;

/// Returns the first byte of an input that is read in this format.
pub(crate) fn head(format: LogFormat) -> u8 {
    LogFormat::ALL.iter().position(|other| *other == format).map_or(DETECTED, |position| position as u8)
}

/// Reads a log in the format that the input's first byte selects, and parses the statements in the log.
pub(crate) fn log(bytes: &[u8]) {
    let Some((head, bytes)) = bytes.split_first() else { return };
    let format = LogFormat::ALL.get(usize::from(*head) % (LogFormat::ALL.len() + 1)).copied();
    let dialect = format.map_or(Dialect::Mysql, LogFormat::dialect);
    let mut normalizers = [false, true].map(|redact| Normalizer::new(dialect, redact));
    let mut templates = Vec::new();
    let read = read_log(Cursor::new(bytes.to_vec()), format, &mut |_, event| {
        if let Event::Statement(statement) | Event::Failed(statement) = event {
            part(&mut normalizers, &statement, dialect);
            part_by_templates(&mut normalizers[0], &mut templates, &statement);
        }
        Ok(())
    });
    if let Err(error) = read {
        let _ = error.to_string();
    }
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
        // The statement that a replay sends has the same shape as the original, so both have the same digest.
        let rebuilt = normalizer.part(&again, &[]);
        assert!(!is_whole || !is_utf8 || literals.is_none() || rebuilt.shape == shape, "another shape");
    }
}

/// Splits a statement in two ways: without a template, and by each fitting template of an earlier statement. Both ways
/// must give the same parts.
fn part_by_templates(normalizer: &mut Normalizer, templates: &mut Vec<Template>, statement: &Statement<'_>) {
    const TEMPLATES_MAX: usize = 16;
    let Statement { text, bound, .. } = *statement;
    let whole = format!("{:?}", normalizer.part(text, bound));
    let own = normalizer.template(text);
    for template in &*templates {
        if normalizer.has(template, text) {
            let parts = format!("{:?}", normalizer.of_template(template, bound));
            assert_eq!(parts, whole, "other parts by a template");
        }
    }
    templates.extend(own.filter(|_| templates.len() < TEMPLATES_MAX));
}
