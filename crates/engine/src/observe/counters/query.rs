//! One query whose rows are counters.

use std::collections::HashMap;

use dyno_client::{Client, ClientError};

use super::depth::Depth;
use super::name::{CounterId, CounterKind};
use super::tally::Tally;

/// Gives the kind of a counter. `None` skips the counter.
pub(super) type KindOf = fn(name: &str, server_says: Option<&str>) -> Option<CounterKind>;

/// Where the names and values are in the result of a query.
#[derive(Clone, Copy, Debug)]
pub(super) enum Layout {
    /// Each row has one counter. The number says how many columns at the beginning contain the counter's name. The next
    /// column contains the value. One more column may contain the kind that the server gives the counter.
    Rows(usize),
    /// Each row has several counters. The number says how many columns at the beginning contain the row's subject, such
    /// as a table. Each other column contains the value of one counter.
    Columns(usize),
}

/// A query for counters of one source.
pub(super) struct Query {
    pub(super) source: &'static str,
    pub(super) depth: Depth,
    sql: &'static str,
    layout: Layout,
    kind_of: KindOf,
    /// Maps each known name to the number of its counter, or to `None` if the name is not a counter to read.
    ids: HashMap<String, Option<CounterId>>,
    /// The counters of the last answer, in the order of the answer. The next answer nearly always has the same
    /// order.
    order: Vec<Option<CounterId>>,
}

impl Query {
    pub(super) fn new(
        source: &'static str,
        depth: Depth,
        sql: &'static str,
        layout: Layout,
        kind_of: KindOf,
    ) -> Self {
        Self { source, depth, sql, layout, kind_of, ids: HashMap::new(), order: Vec::new() }
    }

    /// Returns the query without the names that it has learnt from answers.
    pub(super) fn anew(self) -> Self {
        Self::new(self.source, self.depth, self.sql, self.layout, self.kind_of)
    }

    /// Runs the query, and adds its values to the tally.
    pub(super) fn read(&mut self, client: &mut Client, tally: &mut Tally) -> Result<(), ClientError> {
        let mut place = 0;
        let mut columns: Vec<(String, Option<CounterKind>)> = Vec::new();
        client.visit(self.sql, |names, row| match self.layout {
            Layout::Rows(keys) => {
                let Some(value) = number(field(row, keys)) else { return };
                let says = text(field(row, keys + 1));
                let parts = Parts { keys: &subject(row, keys), column: None };
                self.note(tally, &mut place, &parts, value, |of, name| of(name, says));
            }
            Layout::Columns(keys) => {
                if columns.is_empty() {
                    columns = self.kinds(names());
                }
                let subject = subject(row, keys);
                for (at, (column, kind)) in columns.iter().enumerate().skip(keys) {
                    if let (Some(kind), Some(value)) = (*kind, number(field(row, at))) {
                        let parts = Parts { keys: &subject, column: Some(column) };
                        self.note(tally, &mut place, &parts, value, |_, _| Some(kind));
                    }
                }
            }
        })
    }

    fn kinds(&self, columns: Vec<String>) -> Vec<(String, Option<CounterKind>)> {
        let known = |name: String| {
            let kind = (self.kind_of)(&name, None);
            (name, kind)
        };
        columns.into_iter().map(known).collect()
    }

    fn note(
        &mut self,
        tally: &mut Tally,
        place: &mut usize,
        parts: &Parts<'_>,
        value: f64,
        kind: impl FnOnce(KindOf, &str) -> Option<CounterKind>,
    ) {
        let expected = self.order.get(*place).copied().flatten();
        let id = match expected.filter(|&id| parts.are(tally.name(id))) {
            Some(id) => Some(id),
            None => self.look_up(tally, *place, parts.to_string(), kind),
        };
        *place += 1;
        if let Some(id) = id {
            tally.put(id, value);
        }
    }

    fn look_up(
        &mut self,
        tally: &mut Tally,
        place: usize,
        name: String,
        kind: impl FnOnce(KindOf, &str) -> Option<CounterKind>,
    ) -> Option<CounterId> {
        let (source, kind_of) = (self.source, self.kind_of);
        let id = *self
            .ids
            .entry(name)
            .or_insert_with_key(|name| Some(tally.add(source, name.clone(), kind(kind_of, name)?)));
        self.order.resize(self.order.len().max(place + 1), None);
        self.order[place] = id;
        id
    }
}

/// The parts of a counter's name. The name is `keys` joined by `/`, then a space and `column`.
struct Parts<'a> {
    keys: &'a [&'a str],
    column: Option<&'a str>,
}

impl Parts<'_> {
    fn pieces(&self) -> impl Iterator<Item = &str> {
        let separated = self.keys.iter().enumerate().flat_map(|(place, key)| {
            let separator = if place == 0 { "" } else { "/" };
            [separator, key]
        });
        let space = if self.keys.is_empty() { "" } else { " " };
        separated.chain(self.column.into_iter().flat_map(move |column| [space, column]))
    }

    /// Whether these parts, joined, are equal to a given name.
    fn are(&self, name: &str) -> bool {
        let mut rest = name;
        for piece in self.pieces() {
            match rest.strip_prefix(piece) {
                Some(after) => rest = after,
                None => return false,
            }
        }
        rest.is_empty()
    }
}

impl std::fmt::Display for Parts<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.pieces().try_for_each(|piece| f.write_str(piece))
    }
}

/// Returns the subject of a row: its first `keys` columns.
fn subject(row: &[Option<Vec<u8>>], keys: usize) -> Vec<&str> {
    (0..keys).map(|at| text(field(row, at)).unwrap_or_default()).collect()
}

fn field(row: &[Option<Vec<u8>>], at: usize) -> Option<&[u8]> {
    row.get(at)?.as_deref()
}

fn text(field: Option<&[u8]>) -> Option<&str> {
    std::str::from_utf8(field?).ok()
}

/// Reads a number. Returns `None` for text that is not a number, such as words, addresses and dates.
fn number(field: Option<&[u8]>) -> Option<f64> {
    text(field)?.parse().ok().filter(|value: &f64| value.is_finite())
}
