//! Reads all rows after a crash and compares them with the clients' records of their transactions.

use std::time::Duration;

use crate::clients::contents::{COUNTER, PARTS, TABLES, counted, payload};
use crate::clients::ledger::{Finding, Ledger, Sightings};
use crate::clients::session::{Field, Session, SessionError};
use crate::report::Losses;

/// Largest number of findings that are described in words. Further findings are only counted.
const TOLD_MAX: usize = 5;

/// The effects of a crash on transactions.
#[derive(Debug, Default)]
pub(crate) struct Checked {
    pub(crate) losses: Losses,
    /// The first findings, in words.
    pub(crate) told: Vec<String>,
}

/// Reads all rows and compares them with the ledgers. Records in the ledgers which transactions are present now.
/// `crash_at` and `now` are times since the beginning of the test.
pub(crate) fn check(
    session: &mut dyn Session,
    ledgers: &mut [Ledger],
    crash_at: Duration,
    now: Duration,
) -> Result<Checked, SessionError> {
    let mut checked = Checked::default();
    let seen = look(session, ledgers, &mut checked)?;
    for (ledger, seen) in ledgers.iter_mut().zip(&seen) {
        let client = ledger.client;
        for (seq, finding) in ledger.settle(seen, now) {
            let age = |at: Duration| crash_at.saturating_sub(at).as_secs_f64() * 1e3;
            checked.losses.note(finding, age);
            if let Some(words) = words(finding, age) {
                checked.tell(|| format!("transaction {seq} of client {client} {words}"));
            }
        }
        let expected = counted(seen.last());
        if seen.counter != Some(expected) {
            checked.losses.torn += 1;
            checked.tell(|| {
                let counter = seen.counter.map_or("is gone".to_owned(), |number| format!("says {number}"));
                format!("the counter of client {client} {counter}, its last transaction is {expected}")
            });
        }
    }
    Ok(checked)
}

fn words(finding: Finding, age: impl Fn(Duration) -> f64) -> Option<String> {
    match finding {
        Finding::Lost(at) => {
            Some(format!("was acknowledged {:.1} ms before the crash, and is gone", age(at)))
        }
        Finding::Torn => Some("is present in part, or with other contents".to_owned()),
        Finding::Resurrected => Some("was not committed, and is there".to_owned()),
        Finding::InDoubtKept | Finding::InDoubtGone => None,
    }
}

impl Checked {
    fn tell(&mut self, words: impl FnOnce() -> String) {
        if self.told.len() < TOLD_MAX {
            self.told.push(words());
        }
    }
}

/// Reads the rows of each client's transactions. Rows that no client wrote are counted in `checked`.
fn look(
    session: &mut dyn Session,
    ledgers: &[Ledger],
    checked: &mut Checked,
) -> Result<Vec<Sightings>, SessionError> {
    let mut seen: Vec<Sightings> = ledgers.iter().map(|_| Sightings::default()).collect();
    for table in TABLES {
        let query = format!("SELECT client, seq, part, payload FROM {table}");
        session.rows(&query, &mut |row| {
            let Some((client, seq, part)) = known(row, ledgers) else {
                checked.losses.torn += 1;
                checked.tell(|| format!("{table} has a row that nobody wrote"));
                return;
            };
            seen[client].see(seq, part);
            if row[3].as_deref() != Some(payload(client as u32, seq, part).as_bytes()) {
                seen[client].damaged.insert(seq);
            }
        })?;
    }
    session.rows(&format!("SELECT client, seq FROM {COUNTER}"), &mut |row| {
        let client = number(row, 0).and_then(|client| seen.get_mut(client as usize));
        if let Some(client) = client {
            client.counter = number(row, 1);
        }
    })?;
    Ok(seen)
}

/// Returns the client and the transaction that wrote the row, and which part of the transaction the row is. Returns
/// `None` if no client wrote such a row.
fn known(row: &[Field], ledgers: &[Ledger]) -> Option<(usize, usize, u32)> {
    let client = usize::try_from(number(row, 0)?).ok()?;
    let seq = usize::try_from(number(row, 1)?).ok()?;
    let part = u32::try_from(number(row, 2)?).ok()?;
    (seq < ledgers.get(client)?.len() && part < PARTS && row.len() > 3).then_some((client, seq, part))
}

fn number(row: &[Field], at: usize) -> Option<i64> {
    std::str::from_utf8(row.get(at)?.as_deref()?).ok()?.parse().ok()
}
