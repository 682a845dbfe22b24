//! Finds seconds with background work of the server.

use dyno_store::CounterRecord;
use serde::Serialize;

/// A second with background work.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(crate) struct Mark {
    /// Index of the sample.
    pub(crate) second: usize,
    /// `checkpoint`, `checkpoint done`, `compaction` or `flush`.
    pub(crate) what: &'static str,
}

/// What a counter of background work counts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unit {
    /// Events. Each second with an increase gets a mark.
    Times,
    /// Bytes, log positions or time. Increases in consecutive seconds are one piece of work with one mark, and
    /// small increases are ignored.
    Amount,
}

/// For each counter: its name, its unit, and the mark of a second in which the counter increases.
///
/// PostgreSQL counts a checkpoint when the checkpoint begins, and adds the write time when the checkpoint ends.
/// InnoDB's checkpoints have neither a start nor an end, so an increase of the checkpoint's log position stands for a
/// checkpoint. RocksDB counts the bytes of a file after writing the file.
const KINDS: [(&str, Unit, &str); 12] = [
    // PostgreSQL up to 16, then PostgreSQL from 17.
    ("pg_stat_bgwriter.checkpoints_timed", Unit::Times, "checkpoint"),
    ("pg_stat_bgwriter.checkpoints_req", Unit::Times, "checkpoint"),
    ("pg_stat_bgwriter.checkpoint_write_time", Unit::Amount, "checkpoint done"),
    ("pg_stat_checkpointer.num_timed", Unit::Times, "checkpoint"),
    ("pg_stat_checkpointer.num_requested", Unit::Times, "checkpoint"),
    ("pg_stat_checkpointer.write_time", Unit::Amount, "checkpoint done"),
    // InnoDB: the counter of MariaDB, the counter of MySQL from 8.0.30, and two metrics that any server has if
    // `innodb_monitor_enable` enables them. A server may have several of these counters.
    ("global_status.Innodb_lsn_last_checkpoint", Unit::Amount, "checkpoint"),
    ("global_status.Innodb_redo_log_checkpoint_lsn", Unit::Amount, "checkpoint"),
    ("innodb_metrics.log_lsn_last_checkpoint", Unit::Amount, "checkpoint"),
    ("innodb_metrics.log_checkpoints", Unit::Times, "checkpoint"),
    // MyRocks.
    ("global_status.Rocksdb_compact_write_bytes", Unit::Amount, "compaction"),
    ("global_status.Rocksdb_flush_write_bytes", Unit::Amount, "flush"),
];

/// A counter that increases in more than this share of the seconds is not marked, because it is steady activity.
const SHARE_MAX: f64 = 0.34;

/// Increases below this share of the counter's largest increase are ignored. InnoDB's position moves a little every
/// few seconds, and MyRocks sometimes flushes a kilobyte.
const RISE_MIN: f64 = 0.05;

/// The marks of a trial, in time order.
pub(crate) fn marks(counters: &[CounterRecord]) -> Vec<Mark> {
    let mut marks: Vec<Mark> =
        counters.iter().filter(|counter| !counter.is_gauge).flat_map(of_counter).collect();
    marks.sort();
    marks.dedup();
    marks
}

fn of_counter(counter: &CounterRecord) -> Vec<Mark> {
    let Some((_, counts, what)) = KINDS.iter().find(|(name, ..)| name.eq_ignore_ascii_case(&counter.name))
    else {
        return Vec::new();
    };
    let rises = rises(&counter.values);
    let least = match counts {
        Unit::Times => 0.0,
        Unit::Amount => RISE_MIN * rises.iter().map(|(_, rise)| *rise).fold(0.0, f64::max),
    };
    let seconds: Vec<usize> =
        rises.into_iter().filter(|(_, rise)| *rise >= least).map(|(second, _)| second).collect();
    if seconds.len() as f64 > SHARE_MAX * counter.values.len() as f64 {
        return Vec::new();
    }
    let goes_on = |second: usize| *counts == Unit::Amount && seconds.contains(&(second - 1));
    seconds.iter().filter(|second| !goes_on(**second)).map(|&second| Mark { second, what }).collect()
}

/// The seconds in which a counter increased, and by how much. If readings are missing, the increase belongs to the
/// next reading. The first reading has no increase.
fn rises(values: &[f64]) -> Vec<(usize, f64)> {
    let known: Vec<(usize, f64)> =
        values.iter().copied().enumerate().filter(|(_, value)| !value.is_nan()).collect();
    let rises = known.windows(2).map(|pair| (pair[1].0, pair[1].1 - pair[0].1));
    rises.filter(|(_, rise)| *rise > 0.0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counter(name: &str, values: &[f64]) -> CounterRecord {
        CounterRecord {
            name: name.to_owned(),
            is_gauge: false,
            first: 0.0,
            last: 0.0,
            values: values.to_vec(),
        }
    }

    /// A counter with a first value and a rise for each second, as recorded on a server under load.
    fn recorded(name: &str, first: f64, rises: &[u32]) -> CounterRecord {
        let sum = |sum: &mut f64, rise: &u32| {
            *sum += f64::from(*rise);
            Some(*sum)
        };
        let rest = rises.iter().scan(first, sum);
        counter(name, &[first].into_iter().chain(rest).collect::<Vec<f64>>())
    }

    fn seconds(counters: &[CounterRecord], what: &str) -> Vec<usize> {
        marks(counters).iter().filter(|mark| mark.what == what).map(|mark| mark.second).collect()
    }

    #[test]
    fn postgres_18_begins_and_ends_checkpoints() {
        let requested = [0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 1, 0, 1, 0, 0, 1, 0, 1, 0, 0];
        let write_ms = [
            0, 0, 0, 32_108, 0, 0, 0, 0, 4828, 0, 0, 2699, 0, 2115, 0, 0, 2008, 0, 1824, 0, 2027, 0, 0, 2065,
            0, 0,
        ];
        let counters = [
            recorded("pg_stat_checkpointer.num_requested", 1.0, &requested),
            recorded("pg_stat_checkpointer.write_time", 0.0, &write_ms),
            recorded("pg_stat_checkpointer.buffers_written", 305.0, &[0, 243, 87, 0, 0, 0, 0, 0]),
        ];
        assert_eq!(seconds(&counters, "checkpoint"), [4, 9, 12, 15, 17, 19, 22, 24]);
        assert_eq!(seconds(&counters, "checkpoint done"), [4, 9, 12, 14, 17, 19, 21, 24]);
        assert_eq!(marks(&counters).len(), 16, "pages are written all the time and are no mark");
    }

    #[test]
    fn postgres_16_has_the_same_under_other_names() {
        let requested =
            [0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1];
        let write_ms = [
            0, 0, 0, 3986, 0, 0, 0, 3586, 0, 0, 2910, 0, 0, 2458, 0, 0, 2019, 0, 2096, 0, 0, 0, 2663, 0, 0,
            2704, 0, 1820, 0,
        ];
        let counters = [
            recorded("pg_stat_bgwriter.checkpoints_req", 1.0, &requested),
            recorded("pg_stat_bgwriter.checkpoint_write_time", 0.0, &write_ms),
        ];
        assert_eq!(seconds(&counters, "checkpoint"), [4, 8, 12, 15, 17, 20, 23, 26, 29]);
        assert_eq!(seconds(&counters, "checkpoint done"), [4, 8, 11, 14, 17, 19, 23, 26, 28]);
    }

    #[test]
    fn mariadb_checkpoints_where_its_position_leaps() {
        // Increases that were recorded with a redo log of 48 MB.
        let rises = [
            0, 0, 0, 0, 515, 5_327_575, 0, 29_735_370, 2070, 191_578, 0, 4_795_852, 2223, 5102, 10_231,
            1_120_499, 0, 4_514_853, 1_502_529, 544, 3596, 5_495_577, 9_231_125, 0, 6_795_909, 132_635,
            6_847_229, 906, 10_298_575,
        ];
        let leaps = [recorded("global_status.Innodb_lsn_last_checkpoint", 44_590.0, &rises)];
        assert_eq!(seconds(&leaps, "checkpoint"), [6, 8, 12, 18, 22, 25, 27, 29]);
        // Increases that were recorded with a redo log of 8 MB. The position moves in every second.
        let steady = [
            4_073_007, 2_387_144, 3_690_251, 2_386_968, 3_697_582, 2_379_624, 3_698_922, 2_378_301,
            3_707_205, 2_369_935,
        ];
        assert_eq!(marks(&[recorded("global_status.Innodb_lsn_last_checkpoint", 9_072_075.0, &steady)]), []);
    }

    #[test]
    fn mysql_80_has_another_name_for_it() {
        let mut rises = [0; 26];
        for (second, rise) in [(8, 47_289), (15, 1_910_292), (20, 3_502_850), (24, 3_141_952)] {
            rises[second] = rise;
        }
        let counters = [recorded("global_status.Innodb_redo_log_checkpoint_lsn", 90_676_853.0, &rises)];
        assert_eq!(seconds(&counters, "checkpoint"), [16, 21, 25]);
    }

    #[test]
    fn myrocks_flushes_and_compacts() {
        let compacted = [
            0, 4_217_070, 3_621_811, 0, 0, 0, 0, 17_574_391, 0, 0, 0, 0, 0, 0, 0, 14_747_055, 7_382_636,
            958_754, 0, 0, 0, 0, 0, 0, 0, 0,
        ];
        let flushed = [
            0, 3_278_571, 0, 0, 3_281_507, 3_278_688, 0, 3_277_612, 0, 3_279_741, 0, 3_279_192, 0, 0, 0,
            3_281_383, 0, 0, 1505, 0, 0, 0, 0, 3_281_787, 0, 0,
        ];
        let counters = [
            recorded("global_status.Rocksdb_compact_write_bytes", 22_021_102.0, &compacted),
            recorded("global_status.Rocksdb_flush_write_bytes", 38_716_243.0, &flushed),
        ];
        assert_eq!(seconds(&counters, "compaction"), [2, 8, 16]);
        assert_eq!(seconds(&counters, "flush"), [2, 5, 8, 10, 12, 16, 24]);
    }

    #[test]
    fn what_goes_on_all_the_time_is_no_event() {
        let rises = [2_187_089, 2_176_375, 2_185_314, 0, 2_178_069, 2212, 2_203_004, 2_190_064];
        assert_eq!(marks(&[recorded("global_status.Rocksdb_flush_write_bytes", 5_847_175.0, &rises)]), []);
    }

    #[test]
    fn a_rise_over_a_missing_second_is_seen_and_other_counters_are_not() {
        let values = [3.0, 3.0, f64::NAN, 4.0, 4.0, 4.0];
        let counters = [
            counter("pg_stat_checkpointer.num_timed", &values),
            counter("global_status.Com_select", &values),
        ];
        assert_eq!(marks(&counters), [Mark { second: 3, what: "checkpoint" }]);
    }
}
