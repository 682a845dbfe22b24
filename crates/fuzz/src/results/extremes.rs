//! Values that no run writes, for every column.

use std::sync::LazyLock;

use rusqlite::types::Value;
use serde_json::{Value as Json, json};

/// Length of a long text in bytes.
const LONG: usize = 1 << 20;
/// Elements of a long list.
const MANY: usize = 100_000;
/// Levels of a deep one.
const DEEP: usize = 100_000;

/// A value to be put into a cell.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Extreme {
    Value(Value),
    /// A text of bytes that need not be UTF-8.
    Text(Vec<u8>),
}

static INTEGERS: LazyLock<Vec<Extreme>> = LazyLock::new(|| values(integers()));
static REALS: LazyLock<Vec<Extreme>> = LazyLock::new(|| values(reals()));
static TEXTS: LazyLock<Vec<Extreme>> = LazyLock::new(texts);
static BLOBS: LazyLock<Vec<Extreme>> = LazyLock::new(blobs);
/// Those for a column of any type.
static ALL: LazyLock<Vec<Extreme>> = LazyLock::new(|| {
    [&INTEGERS[..], &REALS[..], &values([Value::Null])[..], &TEXTS[..], &BLOBS[..]].concat()
});

/// How many there are for every column. Those for the JSON in a cell come last.
pub(super) fn count() -> usize {
    ALL.len() + JSON_CHANGES
}

fn values<T: Into<Value>>(values: impl IntoIterator<Item = T>) -> Vec<Extreme> {
    values.into_iter().map(|value| Extreme::Value(value.into())).collect()
}

/// The extreme value of a number for a cell that has a value, of a column of a declared type. With a type, the value is of the
/// type, so that a reader does not stop at it.
pub(super) fn value(number: usize, present: &Value, declared: Option<&str>) -> Extreme {
    let of = |values: &[Extreme]| values[number % values.len()].clone();
    match declared {
        Some("INTEGER") => of(&INTEGERS),
        Some("REAL") => of(&REALS),
        Some("BLOB") => of(&BLOBS),
        Some(_) if number < JSON_CHANGES => changed_json(number, present),
        Some(_) => of(&TEXTS),
        None => match ALL.get(number) {
            Some(extreme) => extreme.clone(),
            None => changed_json(number - ALL.len(), present),
        },
    }
}

fn integers() -> Vec<i64> {
    // The first and the last second that RFC 3339 can write, and their neighbours.
    let dates = [-1, 0, 253_402_300_799_999, 253_402_300_800_000];
    let edges = [31, 32, 53, 63].map(|bits| (1_u64 << bits).cast_signed());
    let below = [31, 32, 53, 63].map(|bits| ((1_u64 << bits) - 1).cast_signed());
    dates.into_iter().chain(edges).chain(below).chain([1, 2, 1_000_000_007]).collect()
}

/// SQLite keeps NaN as NULL.
fn reals() -> Vec<f64> {
    let two_to_63 = 9_223_372_036_854_775_808.0;
    vec![
        two_to_63,
        -two_to_63,
        2.0 * two_to_63,
        1e308,
        -1e308,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
        f64::MIN_POSITIVE,
        5e-324,
        -0.0,
        0.0,
        -1.0,
        1e-9,
    ]
}

fn texts() -> Vec<Extreme> {
    let text = |text: &str| Extreme::Text(text.as_bytes().to_vec());
    vec![
        text(""),
        text("\0"),
        text("a\r\n\u{1b}[2J\u{202e}\u{7f}<script>|`\"'"),
        text("../../x"),
        text("NaN"),
        text("null"),
        text("[]"),
        text("{}"),
        text("\"x\""),
        text("[-1]"),
        text("[18446744073709551616, 1e999]"),
        Extreme::Text(vec![b'x'; LONG]),
        Extreme::Text("ä\n".repeat(LONG / 3).into_bytes()),
        Extreme::Text(vec![b'['; DEEP]),
        text(&format!("[{}1]", "1,".repeat(MANY))),
        Extreme::Text(vec![0xff, 0xfe, b'a', 0xc0]),
    ]
}

fn blobs() -> Vec<Extreme> {
    let blob = |bytes: Vec<u8>| Extreme::Value(Value::Blob(bytes));
    let few = dyno_store::latency_bytes([1, 1000, u64::MAX]);
    // A histogram of the most events that a bin can have, in as many bins.
    let mut most = few[..40].to_vec();
    let bins = [[0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f]; 2].concat();
    most[4..8].copy_from_slice(&(bins.len() as u32).to_be_bytes());
    most.extend_from_slice(&bins);
    let mut series = vec![b'f'];
    series.extend([f64::NAN, f64::INFINITY, -1e308, 1e308].iter().flat_map(|value| value.to_le_bytes()));
    let whole = [vec![b'i'], vec![0xff; 9], vec![1], vec![0xfe; 9], vec![1]].concat();
    vec![blob(Vec::new()), blob(vec![0; LONG]), blob(few), blob(most), blob(series), blob(whole)]
}

/// Number of ways to change the JSON of a cell.
const JSON_CHANGES: usize = 9;

/// The JSON of a cell with other numbers, texts or lengths. What is no JSON stays as it is.
fn changed_json(number: usize, present: &Value) -> Extreme {
    let Value::Text(text) = present else { return Extreme::Value(present.clone()) };
    let Ok(mut found) = serde_json::from_str::<Json>(text) else { return Extreme::Value(present.clone()) };
    let change: fn(&mut Json) = match number {
        0 => |it| numbers(it, &json!(i64::MAX)),
        1 => |it| numbers(it, &json!(u64::MAX)),
        2 => |it| numbers(it, &json!(u32::MAX)),
        3 => |it| numbers(it, &json!(1e308)),
        4 => |it| numbers(it, &json!(0)),
        5 => |it| numbers(it, &json!(-1)),
        6 => |it| numbers(it, &json!(5e-324)),
        7 => |it| {
            if let Json::String(text) = it {
                *text = "x".repeat(LONG / 16);
            }
        },
        _ => |it| {
            if let Json::Array(list) = it {
                *list = list.iter().cycle().take(list.len() * 1000).cloned().collect();
            }
        },
    };
    visit(&mut found, &change);
    Extreme::Text(found.to_string().into_bytes())
}

fn numbers(json: &mut Json, by: &Json) {
    if json.is_number() {
        *json = by.clone();
    }
}

/// Changes each value of a JSON text, those inside first.
fn visit(json: &mut Json, change: &dyn Fn(&mut Json)) {
    match json {
        Json::Array(list) => list.iter_mut().for_each(|one| visit(one, change)),
        Json::Object(map) => map.values_mut().for_each(|one| visit(one, change)),
        _ => {}
    }
    change(json);
}
