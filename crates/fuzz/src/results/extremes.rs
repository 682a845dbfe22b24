//! Extreme values for every column. No run would write such values.

use std::sync::LazyLock;

use rusqlite::types::Value;
use serde_json::{Value as Json, json};

/// A value to be put into a cell.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Extreme {
    Value(Value),
    /// Text that may be invalid UTF-8.
    Text(Vec<u8>),
}

/// The extreme values for each type of column. `size` is the size of the long ones.
pub(super) struct Extremes {
    size: Size,
    integers: Vec<Extreme>,
    reals: Vec<Extreme>,
    texts: Vec<Extreme>,
    blobs: Vec<Extreme>,
    /// Values for a column of any type.
    all: Vec<Extreme>,
}

/// How large the long values are.
#[derive(Clone, Copy)]
struct Size {
    /// Length of a text, in bytes.
    long: usize,
    /// Number of elements of a list, and of levels of a nested list.
    many: usize,
}

/// Values for changes of one cell. Long texts have a megabyte.
pub(super) static LARGE: LazyLock<Extremes> =
    LazyLock::new(|| Extremes::of(Size { long: 1 << 20, many: 100_000 }));
/// Values for changes of many cells. The long texts are shorter than those of [`LARGE`], but have more than 65,535
/// characters, because Rust's formatting cannot pad a text to a greater width. The nested lists are deeper than some
/// parsers accept.
pub(super) static SMALL: LazyLock<Extremes> =
    LazyLock::new(|| Extremes::of(Size { long: 66_000, many: 2_000 }));

impl Extremes {
    fn of(size: Size) -> Self {
        let (integers, reals) = (values(integers()), values(reals()));
        let (texts, blobs) = (texts(size), blobs(size));
        let all = [&integers[..], &reals[..], &values([Value::Null])[..], &texts[..], &blobs[..]].concat();
        Self { size, integers, reals, texts, blobs, all }
    }

    /// Returns the number of extreme values for a column of any type. The values with the last [`JSON_CHANGES`] numbers
    /// are changes of the JSON that the cell contains.
    pub(super) fn count(&self) -> usize {
        self.all.len() + JSON_CHANGES
    }

    /// Returns the extreme value with a number, for a cell whose present value is `present`. If `declared` gives
    /// the column's type, the value has that type, so that a reader does not reject it immediately.
    pub(super) fn value(&self, number: usize, present: &Value, declared: Option<&str>) -> Extreme {
        let of = |values: &[Extreme]| values[number % values.len()].clone();
        match declared {
            Some("INTEGER") => of(&self.integers),
            Some("REAL") => of(&self.reals),
            Some("BLOB") => of(&self.blobs),
            // Texts are tried in JSON columns too. Most of them are not JSON, and the reader stops at those
            // immediately.
            Some(_) if number < self.texts.len() => of(&self.texts),
            Some(_) => changed_json(number % JSON_CHANGES, present, self.size),
            None => match self.all.get(number) {
                Some(extreme) => extreme.clone(),
                None => changed_json(number - self.all.len(), present, self.size),
            },
        }
    }
}

fn values<T: Into<Value>>(values: impl IntoIterator<Item = T>) -> Vec<Extreme> {
    values.into_iter().map(|value| Extreme::Value(value.into())).collect()
}

fn integers() -> Vec<i64> {
    // The start of 1970, the last millisecond that RFC 3339 can represent, and a neighbour of each.
    let dates = [-1, 0, 253_402_300_799_999, 253_402_300_800_000];
    let edges = [31, 32, 53, 63].map(|bits| (1_u64 << bits).cast_signed());
    let below = [31, 32, 53, 63].map(|bits| ((1_u64 << bits) - 1).cast_signed());
    dates.into_iter().chain(edges).chain(below).chain([1, 2, 1_000_000_007]).collect()
}

/// Extreme numbers. SQLite stores NaN as NULL.
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

fn texts(Size { long, many }: Size) -> Vec<Extreme> {
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
        Extreme::Text(vec![b'x'; long]),
        Extreme::Text("ä\n".repeat(long / 3).into_bytes()),
        Extreme::Text(vec![b'['; many]),
        text(&format!("[{}1]", "1,".repeat(many))),
        Extreme::Text(vec![0xff, 0xfe, b'a', 0xc0]),
    ]
}

fn blobs(Size { long, .. }: Size) -> Vec<Extreme> {
    let blob = |bytes: Vec<u8>| Extreme::Value(Value::Blob(bytes));
    let few = dyno_store::latency_bytes([1, 1000, u64::MAX]);
    // A histogram in which each of two bins has the largest possible count.
    let mut most = few[..40].to_vec();
    let bins = [[0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f]; 2].concat();
    most[4..8].copy_from_slice(&(bins.len() as u32).to_be_bytes());
    most.extend_from_slice(&bins);
    let mut series = vec![b'f'];
    series.extend([f64::NAN, f64::INFINITY, -1e308, 1e308].iter().flat_map(|value| value.to_le_bytes()));
    let whole = [vec![b'i'], vec![0xff; 9], vec![1], vec![0xfe; 9], vec![1]].concat();
    vec![blob(Vec::new()), blob(vec![0; long]), blob(few), blob(most), blob(series), blob(whole)]
}

/// Number of ways to change the JSON of a cell.
const JSON_CHANGES: usize = 9;

/// Returns the JSON of a cell with other numbers, texts or lengths. A value that is not JSON is returned unchanged.
fn changed_json(number: usize, present: &Value, Size { long, many }: Size) -> Extreme {
    let Value::Text(text) = present else { return Extreme::Value(present.clone()) };
    let Ok(mut found) = serde_json::from_str::<Json>(text) else { return Extreme::Value(present.clone()) };
    let numbers = |by: Json| {
        move |it: &mut Json| {
            if it.is_number() {
                it.clone_from(&by);
            }
        }
    };
    match number {
        0 => visit(&mut found, &numbers(json!(i64::MAX))),
        1 => visit(&mut found, &numbers(json!(u64::MAX))),
        2 => visit(&mut found, &numbers(json!(u32::MAX))),
        3 => visit(&mut found, &numbers(json!(1e308))),
        4 => visit(&mut found, &numbers(json!(0))),
        5 => visit(&mut found, &numbers(json!(-1))),
        6 => visit(&mut found, &numbers(json!(5e-324))),
        7 => visit(&mut found, &|it| {
            if let Json::String(text) = it {
                *text = "x".repeat(long / 16);
            }
        }),
        // Does nothing if an earlier change made the texts long, because long lists of long texts would take hundreds
        // of megabytes.
        _ if text.len() > long / 64 => {}
        _ => visit(&mut found, &|it| {
            if let Json::Array(list) = it {
                *list = list.iter().cycle().take(list.len() * many / 100).cloned().collect();
            }
        }),
    }
    Extreme::Text(found.to_string().into_bytes())
}

/// Applies a change to each value in a JSON document, inner values first.
fn visit(json: &mut Json, change: &dyn Fn(&mut Json)) {
    match json {
        Json::Array(list) => list.iter_mut().for_each(|one| visit(one, change)),
        Json::Object(map) => map.values_mut().for_each(|one| visit(one, change)),
        _ => {}
    }
    change(json);
}
