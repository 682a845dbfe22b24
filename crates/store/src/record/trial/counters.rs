//! Counters of a trial. A table has the first and last value of each counter. The values of each second are packed
//! into a blob.

use std::collections::HashMap;

use rusqlite::{Connection, OptionalExtension, Transaction, params};

use crate::error::StoreError;
use crate::file::open::Store;
use crate::record::{RunId, TrialId};

/// One of a server's counters in a trial.
#[derive(Clone, Debug, PartialEq)]
pub struct CounterRecord {
    /// The server's name for the counter, with its source.
    pub name: String,
    /// Whether the counter is a level (such as the number of dirty pages) rather than a count of events.
    pub is_gauge: bool,
    pub first: f64,
    pub last: f64,
    /// Values at the end of each sample, including the warm-up. NaN stands for a missing reading. Empty if the
    /// counter was not read each second.
    pub values: Vec<f64>,
}

impl CounterRecord {
    /// The largest of `values` and `last`. `None` if the counter was not read each second.
    pub fn peak(&self) -> Option<f64> {
        let seen = self.values.iter().copied().filter(|value| !value.is_nan());
        seen.max_by(f64::total_cmp).map(|largest| largest.max(self.last))
    }
}

/// First byte of a series whose values are all integers. Other series begin with [`FRACTIONAL`].
const WHOLE: u8 = b'i';
const FRACTIONAL: u8 = b'f';

/// The largest `f64` up to which all integers are exact.
const EXACT_MAX: f64 = 9_007_199_254_740_992.0;

impl Store {
    /// The counters of a trial, by name.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn counters(&self, trial: TrialId) -> Result<Vec<CounterRecord>, StoreError> {
        self.rows(
            "SELECT n.name, n.is_gauge, c.first_value, c.last_value, s.encoded
             FROM trial_counter c
             JOIN counter n ON n.id = c.counter_id
             LEFT JOIN counter_series s ON s.trial_id = c.trial_id AND s.counter_id = c.counter_id
             WHERE c.trial_id = ?1 ORDER BY n.name",
            [trial.0],
            |row| {
                Ok(CounterRecord {
                    name: row.get(0)?,
                    is_gauge: row.get(1)?,
                    first: row.get(2)?,
                    last: row.get(3)?,
                    values: row.get::<_, Option<Vec<u8>>>(4)?.map(|bytes| decode(&bytes)).unwrap_or_default(),
                })
            },
        )
    }

    /// The counters with certain names ([`is_counter`]) in each trial of a run, in the order of their names. The
    /// values of each second are read for gauges only.
    pub(crate) fn chosen_counters(
        &self,
        run: RunId,
        names: &[String],
    ) -> Result<HashMap<TrialId, Vec<CounterRecord>>, StoreError> {
        let mut found: HashMap<TrialId, Vec<CounterRecord>> = HashMap::new();
        let mut chosen: Vec<i64> = Vec::new();
        self.for_each_row("SELECT id, name FROM counter", [], |row| {
            let (id, name): (i64, String) = (row.get(0)?, row.get(1)?);
            if names.iter().any(|wanted| is_counter(wanted, &name)) {
                chosen.push(id);
            }
            Ok(())
        })?;
        self.for_each_row(
            "SELECT trial.id, name, is_gauge, first_value, last_value, encoded
             FROM trial CROSS JOIN json_each(?2) chosen
             JOIN trial_counter c ON c.trial_id = trial.id AND c.counter_id = chosen.value
             JOIN counter ON counter.id = chosen.value
             LEFT JOIN counter_series s ON is_gauge AND s.trial_id = trial.id AND s.counter_id = chosen.value
             WHERE run_id = ?1 ORDER BY trial.id, name",
            params![run.0, serde_json::json!(chosen).to_string()],
            |row| {
                let counter = CounterRecord {
                    name: row.get(1)?,
                    is_gauge: row.get(2)?,
                    first: row.get(3)?,
                    last: row.get(4)?,
                    values: row.get::<_, Option<Vec<u8>>>(5)?.map(|bytes| decode(&bytes)).unwrap_or_default(),
                };
                found.entry(TrialId(row.get(0)?)).or_default().push(counter);
                Ok(())
            },
        )?;
        Ok(found)
    }
}

/// Whether the name `wanted` in a plan refers to the counter that has the name `name` in the file. A plan may leave out
/// the source: `Innodb_rows_read` for `global_status.Innodb_rows_read`.
pub fn is_counter(wanted: &str, name: &str) -> bool {
    wanted == name || name.split_once('.').is_some_and(|(_, without_source)| wanted == without_source)
}

pub(crate) fn insert(
    transaction: &Transaction<'_>,
    trial: TrialId,
    counter: &CounterRecord,
) -> rusqlite::Result<()> {
    // SQLite stores NaN as NULL, which would make the trial invalid. So a counter with NaN or an infinite value is
    // not stored.
    if !(counter.first.is_finite() && counter.last.is_finite()) {
        return Ok(());
    }
    let id = number(transaction, &counter.name, counter.is_gauge)?;
    transaction
        .prepare_cached(
            "INSERT INTO trial_counter (trial_id, counter_id, first_value, last_value) VALUES (?1, ?2, ?3, ?4)",
        )?
        .execute(params![trial.0, id, counter.first, counter.last])?;
    if !counter.values.is_empty() {
        transaction
            .prepare_cached("INSERT INTO counter_series (trial_id, counter_id, encoded) VALUES (?1, ?2, ?3)")?
            .execute(params![trial.0, id, encode(&counter.values)])?;
    }
    Ok(())
}

/// Returns the number of a counter in the file. Adds the counter with a new number if the file does not have it.
pub(crate) fn number(connection: &Connection, name: &str, is_gauge: bool) -> rusqlite::Result<i64> {
    let known = connection
        .prepare_cached("SELECT id FROM counter WHERE name = ?1")?
        .query_row([name], |row| row.get(0))
        .optional()?;
    if let Some(id) = known {
        return Ok(id);
    }
    connection
        .prepare_cached("INSERT INTO counter (name, is_gauge) VALUES (?1, ?2)")?
        .execute(params![name, is_gauge])?;
    Ok(connection.last_insert_rowid())
}

/// Encodes a series. If all values are integers, their differences are encoded in zigzag and LEB128 form as in
/// Protocol Buffers, and most take one or two bytes. Otherwise, values are encoded as little-endian `f64`.
fn encode(values: &[f64]) -> Vec<u8> {
    if !values.iter().all(|value| value.fract() == 0.0 && value.abs() <= EXACT_MAX) {
        return [FRACTIONAL].into_iter().chain(values.iter().flat_map(|value| value.to_le_bytes())).collect();
    }
    let mut bytes = vec![WHOLE];
    let mut previous = 0;
    for value in values.iter().map(|&value| value as i64) {
        let difference = value - previous;
        previous = value;
        let mut rest = ((difference << 1) ^ (difference >> 63)).cast_unsigned();
        while rest >= 0x80 {
            bytes.push(rest as u8 | 0x80);
            rest >>= 7;
        }
        bytes.push(rest as u8);
    }
    bytes
}

/// The values of a series from `counter_series.encoded`, with NaN for a missing reading. Invalid bytes are decoded
/// as far as possible.
pub fn decode(bytes: &[u8]) -> Vec<f64> {
    match bytes.split_first() {
        Some((&FRACTIONAL, rest)) => {
            rest.as_chunks().0.iter().map(|chunk| f64::from_le_bytes(*chunk)).collect()
        }
        Some((&WHOLE, rest)) => whole_numbers(rest),
        _ => Vec::new(),
    }
}

/// Whether the bytes are a complete series, without bytes after its end.
pub(crate) fn is_sound(bytes: &[u8]) -> bool {
    match bytes.split_first() {
        Some((&FRACTIONAL, rest)) => rest.len() % size_of::<f64>() == 0,
        Some((&WHOLE, rest)) => rest.last().is_none_or(|byte| byte & 0x80 == 0),
        _ => false,
    }
}

fn whole_numbers(bytes: &[u8]) -> Vec<f64> {
    let mut values = Vec::new();
    let (mut previous, mut zigzag, mut shift) = (0_i64, 0_u64, 0);
    for byte in bytes {
        zigzag |= u64::from(byte & 0x7f).unbounded_shl(shift);
        shift += 7;
        if byte & 0x80 == 0 {
            let difference = (zigzag >> 1).cast_signed() ^ -((zigzag & 1).cast_signed());
            previous = previous.wrapping_add(difference);
            values.push(previous as f64);
            (zigzag, shift) = (0, 0);
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::sample::{File, trial};

    proptest! {
        #[test]
        fn whole_numbers_come_back(values in prop::collection::vec(-(1_i64 << 53)..=1 << 53, 0..300)) {
            let values: Vec<f64> = values.into_iter().map(|value| value as f64).collect();
            prop_assert_eq!(decode(&encode(&values)), values);
        }

        #[test]
        fn any_numbers_come_back(bits in prop::collection::vec(any::<u64>(), 0..300)) {
            let values: Vec<f64> = bits.into_iter().map(f64::from_bits).collect();
            let again = decode(&encode(&values));
            prop_assert_eq!(again.len(), values.len());
            for (value, again) in values.iter().zip(again) {
                let same = value.total_cmp(&again).is_eq() || (*value + again).abs() < f64::MIN_POSITIVE;
                prop_assert!(same, "{} became {}", value, again);
            }
        }

        #[test]
        fn any_bytes_are_borne(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            prop_assert!(decode(&bytes).len() <= bytes.len());
        }

        #[test]
        fn what_is_cut_short_is_not_sound(values in prop::collection::vec(200_i64..1 << 40, 1..30)) {
            let values: Vec<f64> = values.into_iter().map(|value| value as f64 + 0.5).collect();
            let bytes = encode(&values);
            prop_assert!(is_sound(&bytes));
            prop_assert!(!is_sound(&bytes[..bytes.len() - 1]));
            let whole = encode(&[values[0] - 0.5]);
            prop_assert!(is_sound(&whole));
            prop_assert!(!is_sound(&whole[..whole.len() - 1]));
        }
    }

    #[test]
    fn a_counter_that_rises_slowly_takes_a_byte_a_second() {
        let values: Vec<f64> = (0..300).map(|second| f64::from(1_000_000 + second * 50)).collect();
        assert!(encode(&values).len() < 310);
    }

    #[test]
    fn the_peak_is_no_less_than_the_last_value() {
        let gauge = |last, values: &[f64]| CounterRecord {
            name: "dirty".to_owned(),
            is_gauge: true,
            first: 9.0,
            last,
            values: values.to_vec(),
        };
        assert_eq!(gauge(3.0, &[1.0, 4.0, f64::NAN]).peak(), Some(4.0));
        assert_eq!(gauge(7.0, &[1.0, 4.0]).peak(), Some(7.0));
        assert_eq!(gauge(7.0, &[]).peak(), None);
        assert_eq!(gauge(7.0, &[f64::NAN]).peak(), None);
    }

    #[test]
    fn a_run_has_the_counters_that_its_plan_chooses() {
        let mut file = File::new();
        let names = [
            "global_status.Com_select",
            "global_status.Com_update",
            "global_status.pages_dirty",
            "pg_stat_io.reads",
        ];
        let counters = names.map(|name| CounterRecord {
            name: name.to_owned(),
            is_gauge: name.ends_with("_dirty"),
            first: 1.0,
            last: 3.0,
            values: vec![1.0, f64::NAN, 4.0],
        });
        let wanted = ["Com_select", "pg_stat_io.reads", "none", "global_status", "pages_dirty"]
            .map(str::to_owned)
            .to_vec();
        let record = crate::RunRecord { counters: wanted, ..crate::sample::run() };
        let systems = [crate::sample::system("old", true), crate::sample::system("new", false)];
        let run = file.store.begin_run(&record, &[crate::sample::step()], &systems).unwrap();
        let with = crate::TrialRecord { counters: counters.to_vec(), ..trial("old", 0, 1000) };
        file.store.commit_trial(run, &with).unwrap();
        file.store.commit_trial(run, &trial("new", 0, 1000)).unwrap();
        let found = file.store.load_run(crate::RunChoice::Id(run)).unwrap();
        assert_eq!(found.record.counters, record.counters);
        let found: Vec<Vec<(&str, Option<f64>)>> = found
            .trials
            .iter()
            .map(|trial| trial.record.counters.iter().map(|it| (it.name.as_str(), it.peak())).collect())
            .collect();
        let of_old = [
            ("global_status.Com_select", None),
            ("global_status.pages_dirty", Some(4.0)),
            ("pg_stat_io.reads", None),
        ];
        assert_eq!(found, [of_old.to_vec(), Vec::new()], "values of each second are read of gauges only");
    }

    #[test]
    fn counters_come_back_by_name_with_their_series() {
        let mut file = File::new();
        let counter = |name: &str, is_gauge, values: &[f64]| CounterRecord {
            name: name.to_owned(),
            is_gauge,
            first: 10.0,
            last: 25.5,
            values: values.to_vec(),
        };
        let counters = vec![
            counter("Com_select", false, &[12.0, 20.0]),
            counter("Innodb_buffer_pool_pages_dirty", true, &[10.25, 25.5]),
            counter("Slow_queries", false, &[]),
        ];
        let record = crate::TrialRecord { counters: counters.clone(), ..trial("old", 0, 1000) };
        let id = file.store.commit_trial(file.run, &record).unwrap();
        assert_eq!(file.store.counters(id).unwrap(), counters);
        let second = file.store.commit_trial(file.run, &trial("new", 0, 1000)).unwrap();
        assert!(file.store.counters(second).unwrap().is_empty());
        assert_eq!(file.sql::<f64>("SELECT change FROM counter_change WHERE name = 'Com_select'"), [15.5]);
    }
}
