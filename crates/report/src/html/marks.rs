//! Seconds in which a server did background work that shows in its throughput.

use dyno_store::CounterRecord;
use serde::Serialize;

/// A second with background work.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(crate) struct Mark {
    /// Number of the sample.
    pub(crate) second: usize,
    /// `checkpoint`, `compaction` or `flush`.
    pub(crate) what: &'static str,
}

/// Parts of counters' names, and what such a counter counts.
const KINDS: [(&str, &str); 7] = [
    ("checkpoints_timed", "checkpoint"),
    ("checkpoints_req", "checkpoint"),
    ("checkpointer.num_", "checkpoint"),
    ("checkpoint_sequence", "checkpoint"),
    ("log_checkpoints", "checkpoint"),
    ("compact_write_bytes", "compaction"),
    ("flush_write_bytes", "flush"),
];

/// A counter that moves in more than this part of the seconds is no event but a steady activity.
const SHARE_MAX: f64 = 0.34;

/// The marks of a trial, in order of time.
pub(crate) fn marks(counters: &[CounterRecord]) -> Vec<Mark> {
    let mut marks: Vec<Mark> =
        counters.iter().filter(|counter| !counter.is_gauge).flat_map(of_counter).collect();
    marks.sort();
    marks.dedup();
    marks
}

fn of_counter(counter: &CounterRecord) -> Vec<Mark> {
    let name = counter.name.to_lowercase();
    let Some((_, what)) = KINDS.iter().find(|(part, _)| name.contains(part)) else { return Vec::new() };
    // The first value has none before it to have risen from.
    let rises = counter.values.windows(2).enumerate().filter(|(_, pair)| pair[1] > pair[0]);
    let marks: Vec<Mark> = rises.map(|(at, _)| Mark { second: at + 1, what }).collect();
    if marks.len() as f64 > SHARE_MAX * counter.values.len() as f64 { Vec::new() } else { marks }
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

    #[test]
    fn a_rise_of_a_rare_counter_is_a_mark() {
        let counters = [
            counter("pg_stat_checkpointer.num_timed", &[3.0, 3.0, 3.0, 4.0, 4.0, 4.0, f64::NAN, 4.0]),
            counter("rocksdb_compact_write_bytes", &[0.0, 9.0, 9.0, 9.0]),
            counter("Com_select", &[0.0, 9.0, 9.0, 9.0]),
        ];
        let compaction = Mark { second: 1, what: "compaction" };
        assert_eq!(marks(&counters), [compaction, Mark { second: 3, what: "checkpoint" }]);
    }

    #[test]
    fn what_goes_on_all_the_time_is_no_event() {
        assert_eq!(marks(&[counter("rocksdb_flush_write_bytes", &[0.0, 1.0, 2.0, 3.0, 4.0])]), []);
    }
}
