//! What the readers of a plan's tables share.

use std::collections::BTreeMap;
use std::path::Path;

use dyno_engine::Catalogue;
use toml::Spanned;
use toml::de::DeTable;

use super::error::Problem;
use super::table::{Mistake, Table, Value};

/// Where names in a plan are looked up.
#[derive(Clone, Copy)]
pub(super) struct ParseContext<'a> {
    pub(super) folder: &'a Path,
    pub(super) catalogue: &'a Catalogue,
}

pub(super) fn syntax(error: &toml::de::Error) -> Mistake {
    (error.span().unwrap_or_default(), Problem::Syntax(error.message().trim().to_owned()))
}

/// The top-level table of a file. Errors without a place of their own are shown at its beginning.
pub(super) fn top<'a>(
    what: &'static str,
    table: Spanned<DeTable<'a>>,
    keys: &[&'static str],
) -> Result<Table<'a>, Mistake> {
    let start = table.span().start;
    Table::new(what, Spanned::new(start..start, table.into_inner()), keys)
}

/// Reads a list of tables whose ids must differ, such as `[[system]]`.
pub(super) fn each<'a, T>(
    list: Value<'a>,
    kind: &'static str,
    read: impl Fn(Value<'a>) -> Result<T, Mistake>,
    id: impl Fn(&T) -> &String,
) -> Result<Vec<T>, Mistake> {
    let mut items: Vec<T> = Vec::new();
    for value in list.list("a list of tables")? {
        let span = value.span.clone();
        let item = read(value)?;
        if items.iter().any(|other| id(other) == id(&item)) {
            return Err((span, Problem::Duplicate { kind, id: id(&item).clone() }));
        }
        items.push(item);
    }
    Ok(items)
}

/// Reads settings or options: names with scalar values.
pub(super) fn scalars(value: Value<'_>) -> Result<BTreeMap<String, String>, Mistake> {
    value.entries()?.into_iter().map(|(key, value)| Ok((key, value.scalar()?))).collect()
}
