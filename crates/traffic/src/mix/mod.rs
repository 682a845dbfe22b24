//! A mix is a workload that resembles traffic. It has the transactions of the traffic, as often as they were
//! executed, with values like those that were seen.

mod census;
mod digests;
mod draw;
mod left_out;
mod lua;
mod sample;
mod seen;
mod table;
mod template;
#[cfg(test)]
mod tests;

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use self::census::Census;
use self::digests::Digests;
use self::draw::Draw;
pub use self::left_out::{LeftOut, LeftOuts};
use self::template::Piece;
use crate::error::TrafficError;
use crate::file::{Place, TrafficFile, unwritable};

/// The first bytes of every SQLite database (<https://www.sqlite.org/fileformat.html>, 1.3).
const SQLITE: &[u8] = b"SQLite format 3\0";
/// Size of the largest table of digests that is read, in bytes.
const TABLE_BYTES_MAX: u64 = 256 << 20;

/// How much of the traffic a mix contains.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mixed {
    /// Number of statements in the traffic.
    pub statements: u64,
    /// Number of the traffic's statements that belong to transactions of the mix.
    pub mixed: u64,
    /// Number of transactions in the mix, including single statements.
    pub transactions: usize,
    pub left_out: LeftOuts,
}

/// A transaction of a mix, or a single statement.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Unit {
    /// How often the transaction was executed in the traffic.
    weight: u64,
    /// Number of statements in the traffic for each execution of the transaction. The mix may add `BEGIN` and `COMMIT`.
    statements: usize,
    sent: Vec<Sent>,
    /// How each value is drawn.
    draws: Vec<Draw>,
    /// For each value, whether it belongs to a parameter and therefore gets quotes.
    is_bound: Vec<bool>,
}

/// A statement of a unit. The unit has a list of values. Those of this statement begin at number `first`: first its
/// literals, then its parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Sent {
    pieces: Vec<Piece>,
    first: usize,
}

impl Sent {
    fn words(sql: &str) -> Self {
        Self { pieces: vec![Piece::Sql(sql.to_owned())], first: 0 }
    }
}

/// The file from which a mix is made.
struct Origin<'a> {
    path: &'a Path,
    /// Whether the file is a table of digests, which has neither values nor transactions.
    is_digests: bool,
}

/// Writes a script for sysbench that executes the transactions of `from`. `from` is a traffic file, or a table of
/// digests (`pg_stat_statements` or `events_statements_summary_by_digest`). The script has at most `most` different
/// transactions.
///
/// # Errors
/// `from` cannot be read, is neither a traffic file nor a table of digests, or contains nothing that can be executed.
/// Or `out` cannot be written, or exists although `overwrite` is not set.
pub fn mix(from: &Path, out: &Path, overwrite: bool, most: usize) -> Result<Mixed, TrafficError> {
    let place = Place::new(out, overwrite)?;
    let (origin, units, mut mixed) = read(from, most)?;
    mixed.transactions = units.len();
    mixed.mixed = units.iter().map(|unit| unit.weight * unit.statements as u64).sum();
    if units.is_empty() {
        return Err(TrafficError::Unmixed { path: from.to_owned() });
    }
    let script = lua::script(&origin, &units, &mixed);
    std::fs::write(place.temporary(), script).map_err(|error| unwritable(out, &error))?;
    place.keep()?;
    Ok(mixed)
}

fn read(from: &Path, most: usize) -> Result<(Origin<'_>, Vec<Unit>, Mixed), TrafficError> {
    let mut mixed = Mixed::default();
    let Some(text) = table_of_digests(from)? else {
        let file = TrafficFile::open(from)?;
        let dialect = file.dialect()?;
        let mut census = Census::of(&file, dialect)?;
        let units = sample::units(&file, dialect, &mut census, most)?;
        mixed.statements = file.outline()?.statements;
        mixed.left_out = census.left_out;
        return Ok((Origin { path: from, is_digests: false }, units, mixed));
    };
    let digests = Digests::read(&text).ok_or_else(|| TrafficError::NoDigests { path: from.to_owned() })?;
    let units = digests.units(most, &mut mixed.left_out);
    mixed.statements = digests.statements();
    Ok((Origin { path: from, is_digests: true }, units, mixed))
}

/// The text of a table of digests. `None` if the file is an SQLite database.
fn table_of_digests(path: &Path) -> Result<Option<String>, TrafficError> {
    let unreadable = |error: io::Error| TrafficError::Unreadable {
        name: path.display().to_string(),
        reason: error.to_string(),
    };
    if !path.metadata().map_err(unreadable)?.is_file() {
        return Err(TrafficError::Foreign { path: path.to_owned() });
    }
    let mut bytes = Vec::new();
    let mut file = File::open(path).map_err(unreadable)?;
    file.by_ref().take(SQLITE.len() as u64).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes == SQLITE {
        return Ok(None);
    }
    file.take(TABLE_BYTES_MAX).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > TABLE_BYTES_MAX {
        return Err(TrafficError::TooLarge { path: path.to_owned(), most_mib: TABLE_BYTES_MAX >> 20 });
    }
    Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
}
