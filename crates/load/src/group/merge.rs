//! Merges the figures of the load processes among which one load is divided.

use std::collections::BTreeMap;

use crate::measure::latency::Latency;
use crate::protocol::frame::{Connected, Counts, Fairness, Gaps, StatementLatency, Tick, Total, Usage};

impl Total {
    /// Adds the figures of one interval of the measured time.
    pub(crate) fn add(&mut self, tick: &Tick) {
        self.seconds += tick.seconds;
        self.counts += tick.counts;
        add_codes(&mut self.error_codes, &tick.error_codes);
        self.latency.merge(&tick.latency);
        self.statements.merge(&tick.statements);
        self.usage.user_us += tick.usage.user_us;
        self.usage.system_us += tick.usage.system_us;
        self.usage.context_switches += tick.usage.context_switches;
        self.usage.memory_bytes_max = self.usage.memory_bytes_max.max(tick.usage.memory_bytes_max);
        self.backlog = tick.backlog;
        self.due = sum([self.due, tick.due]);
    }
}

/// Combines the reports of several load processes.
pub(super) fn connected(parts: &[&Connected]) -> Option<Connected> {
    let first = parts.first()?;
    Some(Connected {
        connections: parts.iter().map(|part| part.connections).sum(),
        threads: parts.iter().map(|part| part.threads).sum(),
        method: first.method.clone(),
        database: parts.iter().any(|part| part.database),
    })
}

/// Merges the figures of several processes for the same interval. The interval's length differs slightly between the
/// processes, so the longest one is used.
pub(super) fn tick(parts: &[Tick]) -> Option<Tick> {
    let first = parts.first()?;
    let mut merged = Tick {
        number: first.number,
        warmup: first.warmup,
        seconds: longest(parts.iter().map(|part| part.seconds)),
        counts: Counts::default(),
        error_codes: BTreeMap::new(),
        latency: Latency::default(),
        statements: StatementLatency::default(),
        checkpoint: None,
        usage: usage(parts.iter().map(|part| part.usage)),
        running: parts.iter().map(|part| part.running).sum(),
        backlog: parts.iter().map(|part| part.backlog).sum(),
        due: sum(parts.iter().map(|part| part.due)),
        is_idle: parts.iter().all(|part| part.is_idle),
    };
    for part in parts {
        merged.counts += part.counts;
        add_codes(&mut merged.error_codes, &part.error_codes);
        merged.latency.merge(&part.latency);
        merged.statements.merge(&part.statements);
    }
    Some(merged)
}

/// Merges the totals of several processes. `parts` contains each process's number of connections and its total. The
/// merged measured time is the longest one: if the number of events is limited, the load ends when its last process
/// ends.
pub(super) fn total(parts: &[(u32, &Total)]) -> Total {
    let totals = || parts.iter().map(|(_, total)| *total);
    let mut merged = Total {
        seconds: longest(totals().map(|part| part.seconds)),
        usage: usage(totals().map(|part| part.usage)),
        backlog: totals().map(|part| part.backlog).sum(),
        due: sum(totals().map(|part| part.due)),
        unfinished: totals().map(|part| part.unfinished).sum(),
        gaps: gaps(totals()),
        stall_us_max: totals().map(|part| part.stall_us_max).max().unwrap_or(0),
        fairness: fairness(parts),
        ..Total::default()
    };
    for part in totals() {
        merged.counts += part.counts;
        add_codes(&mut merged.error_codes, &part.error_codes);
        merged.latency.merge(&part.latency);
        merged.censored.merge(&part.censored);
        merged.statements.merge(&part.statements);
    }
    let bins = totals().map(|part| part.timeline.len()).max().unwrap_or(0);
    merged.timeline = vec![0; bins];
    for part in totals() {
        merged.timeline.iter_mut().zip(&part.timeline).for_each(|(sum, bin)| *sum += bin);
    }
    merged.noted = totals().next().map(|part| part.noted.clone()).unwrap_or_default();
    merged
}

/// If a process measured for less than this share of the longest measured time, [`gaps`] leaves it out. Such a process
/// had executed all its events early, so it shows nothing about later stalls.
const THROUGH_SHARE: f64 = 0.9;

/// Estimates the stretches in which no process finished anything. The estimate of the last stretch is the shortest of
/// the processes' last stretches. The estimate of the longest stretch is the shortest of the processes' longest
/// stretches: the true value is at most this long, so no stall is missed. A process in which no event was due is left
/// out, unless this is so in all processes.
fn gaps<'a>(parts: impl Iterator<Item = &'a Total> + Clone) -> Option<Gaps> {
    let most = THROUGH_SHARE * longest(parts.clone().map(|part| part.seconds));
    let is_through = |part: &&Total| part.seconds >= most;
    let owes = |part: &&Total| part.due != Some(0) || part.counts.events + part.backlog > 0;
    let has_due = parts.clone().any(|part| owes(&part));
    let parts = parts.filter(|part| is_through(part) && (owes(part) || !has_due));
    let all: Option<Vec<Gaps>> = parts.map(|part| part.gaps).collect();
    let all = all?;
    let shortest = all.iter().min_by(|a, b| a.longest_seconds.total_cmp(&b.longest_seconds))?;
    let last_seconds = all.iter().map(|gaps| gaps.last_seconds).fold(f64::INFINITY, f64::min);
    Some(Gaps { last_seconds, ..*shortest })
}

/// Combines the averages and standard deviations of several processes into those over the connections of all processes
/// (by the law of total variance).
fn fairness(parts: &[(u32, &Total)]) -> Fairness {
    let connections: f64 = parts.iter().map(|(connections, _)| f64::from(*connections)).sum();
    let pooled = |of: fn(&Fairness) -> (f64, f64)| {
        let each = || parts.iter().map(|(number, part)| (f64::from(*number), of(&part.fairness)));
        let mean = each().map(|(number, (mean, _))| number * mean).sum::<f64>() / connections;
        let squares = each()
            .map(|(number, (own, deviation))| number * (deviation * deviation + (own - mean) * (own - mean)));
        (mean, (squares.sum::<f64>() / connections).sqrt())
    };
    let (events_avg, events_stddev) = pooled(|it| (it.events_avg, it.events_stddev));
    let (seconds_avg, seconds_stddev) = pooled(|it| (it.seconds_avg, it.seconds_stddev));
    Fairness { events_avg, events_stddev, seconds_avg, seconds_stddev }
}

/// Adds up the usage of processes that run at the same time. The sum of their largest memory sizes is used as the
/// largest memory size of all processes together.
fn usage(parts: impl Iterator<Item = Usage>) -> Usage {
    parts.fold(Usage::default(), |sum, part| Usage {
        user_us: sum.user_us + part.user_us,
        system_us: sum.system_us + part.system_us,
        context_switches: sum.context_switches + part.context_switches,
        memory_bytes_max: sum.memory_bytes_max + part.memory_bytes_max,
    })
}

fn add_codes(into: &mut BTreeMap<String, u64>, from: &BTreeMap<String, u64>) {
    for (code, count) in from {
        *into.entry(code.clone()).or_default() += count;
    }
}

/// The sum of the known values; `None` if none is known.
fn sum(parts: impl IntoIterator<Item = Option<u64>>) -> Option<u64> {
    parts.into_iter().flatten().reduce(u64::saturating_add)
}

fn longest(seconds: impl Iterator<Item = f64>) -> f64 {
    seconds.fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(events: u64, latency_us: u64, gaps: Gaps, fairness: Fairness) -> Total {
        let mut latency = Latency::default();
        (0..events).for_each(|_| latency.record_us(latency_us));
        let counts = Counts { events, ..Counts::default() };
        Total { seconds: 2.0, counts, latency, gaps: Some(gaps), fairness, ..Total::default() }
    }

    #[test]
    fn two_processes_are_one_load() {
        let gaps = |longest_seconds, longest_began_seconds, last_seconds| Gaps {
            longest_seconds,
            longest_began_seconds,
            last_seconds,
        };
        // Three connections with 10 events each, and one connection with 30 events.
        let fair = |events_avg| Fairness { events_avg, ..Fairness::default() };
        let (slow, fast) =
            (part(30, 100, gaps(1.5, 0.1, 0.0), fair(10.0)), part(30, 900, gaps(0.2, 1.0, 0.2), fair(30.0)));
        let merged = total(&[(3, &slow), (1, &fast)]);
        assert_eq!((merged.counts.events, merged.latency.histogram().len()), (60, 60));
        assert_eq!((merged.latency.histogram().min(), merged.latency.histogram().max()), (100, 900));
        assert_eq!(merged.gaps, Some(gaps(0.2, 1.0, 0.0)));
        let soon_through = Total { seconds: 0.5, ..fast.clone() };
        assert_eq!(total(&[(3, &slow), (1, &soon_through)]).gaps, slow.gaps);
        let nothing_due =
            Total { seconds: 2.0, due: Some(0), gaps: Some(Gaps::default()), ..Total::default() };
        let at_a_rate = Total { due: Some(40), ..slow.clone() };
        let merged_at_a_rate = total(&[(3, &at_a_rate), (1, &nothing_due)]);
        assert_eq!((merged_at_a_rate.gaps, merged_at_a_rate.due), (slow.gaps, Some(40)));
        assert!((merged.fairness.events_avg - 15.0).abs() < 1e-9);
        assert!((merged.fairness.events_stddev - 75.0_f64.sqrt()).abs() < 1e-9);
        assert_eq!(merged.seconds.to_bits(), 2.0_f64.to_bits());
    }
}
