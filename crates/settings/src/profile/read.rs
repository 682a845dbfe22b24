//! Reads a profile file.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::{Spanned, Value};

use super::{Assignment, Problem, Profile, ProfileError, Section};
use crate::files::near::nearest;
use crate::translation::{is_known, known_settings};

type Settings = BTreeMap<Spanned<String>, Spanned<Value>>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    name: String,
    title: String,
    #[serde(default)]
    mysql: Settings,
    #[serde(default)]
    innodb: Settings,
    #[serde(default)]
    rocksdb: Settings,
    #[serde(default)]
    postgres: Settings,
    #[serde(default)]
    sqlite: Settings,
}

impl Profile {
    /// Reads a profile's text; `file` names it in errors.
    ///
    /// # Errors
    /// The text is not a profile, or names an unknown setting.
    pub fn parse(text: &str, file: &str) -> Result<Self, ProfileError> {
        let at = |span, problem| ProfileError::at(file, text, span, problem);
        let parsed: File = toml::from_str(text)
            .map_err(|error| at(error.span(), Problem::Syntax(error.message().trim().to_owned())))?;
        let File { name, title, mysql, innodb, rocksdb, postgres, sqlite } = parsed;
        let tables = [mysql, innodb, rocksdb, postgres, sqlite];
        let mut sections = BTreeMap::new();
        for (section, table) in Section::ALL.into_iter().zip(tables) {
            let settings: Result<_, _> = table
                .into_iter()
                .map(|(name, value)| {
                    let span = name.span();
                    assignment(section, name.into_inner(), value).map_err(|problem| at(Some(span), problem))
                })
                .collect();
            sections.insert(section, settings?);
        }
        Ok(Self { name, title, sections })
    }
}

fn assignment(
    section: Section,
    name: String,
    value: Spanned<Value>,
) -> Result<(String, Assignment), Problem> {
    let Some(assignment) = read(value.into_inner()) else { return Err(Problem::Value { name }) };
    let families = section.families();
    if assignment.verbatim || families.iter().any(|family| is_known(&name, *family)) {
        return Ok((name, assignment));
    }
    let near = nearest(&name, families.iter().flat_map(|family| known_settings(*family)));
    Err(Problem::UnknownSetting { name, section: section.name(), near })
}

/// Reads a setting, which is a bare value or a table of the value and its options.
fn read(value: Value) -> Option<Assignment> {
    let Value::Table(mut table) = value else {
        return Some(Assignment { value: scalar(value)?, ..Assignment::default() });
    };
    let assignment = Assignment {
        value: scalar(table.remove("value")?)?,
        optional: flag(table.remove("optional"))?,
        verbatim: flag(table.remove("verbatim"))?,
    };
    table.is_empty().then_some(assignment)
}

fn flag(value: Option<Value>) -> Option<bool> {
    value.map_or(Some(false), |value| value.as_bool())
}

/// Reads a single value. true and false become ON and OFF, which every server accepts.
fn scalar(value: Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text),
        Value::Integer(number) => Some(number.to_string()),
        Value::Float(number) => Some(number.to_string()),
        Value::Boolean(truth) => Some(if truth { "ON" } else { "OFF" }.to_owned()),
        _ => None,
    }
}
