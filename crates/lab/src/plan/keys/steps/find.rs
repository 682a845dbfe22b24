//! The plan key `find`.

use dyno_store::{FindRecord, Operation};
use serde::Deserialize;

use crate::plan::keys::steps::command::Command;
use crate::plan::syntax::error::Problem;
use crate::plan::syntax::mistake::Mistake;
use crate::plan::syntax::value::{Above0, At};

/// The highest limit of latency, in ms. A probe must last several times as long as the limit, to show whether its
/// rate is sustained.
const LIMIT_MS_MAX: f64 = 5000.0;
/// Range of `within`. A search for a narrower interval takes hours, and a wider interval says little.
const WITHIN_MIN: f64 = 0.005;
const WITHIN_MAX: f64 = 0.5;
const WITHIN: f64 = 0.05;
const SECONDS_MAX: f64 = 60.0;

/// Search for the highest rate of events at which a percentile of latency stays within a limit.
#[derive(Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(transform = crate::plan::schema::one_limit))]
#[serde(deny_unknown_fields)]
pub(in crate::plan) struct FindTable {
    /// Limit of the median latency, in ms.
    #[cfg_attr(test, schemars(range(max = LIMIT_MS_MAX)))]
    p50_ms: Option<At<Above0>>,
    /// Limit of the 95th percentile of latency, in ms.
    #[cfg_attr(test, schemars(range(max = LIMIT_MS_MAX)))]
    p95_ms: Option<At<Above0>>,
    /// Limit of the 99th percentile of latency, in ms.
    #[cfg_attr(test, schemars(range(max = LIMIT_MS_MAX)))]
    p99_ms: Option<At<Above0>>,
    /// Relative width of the 95% interval at which the search ends (default 0.05).
    #[cfg_attr(test, schemars(range(min = WITHIN_MIN, max = WITHIN_MAX)))]
    within: Option<At<Above0>>,
    /// Longest time of the search in a trial (default 60).
    seconds_max: Option<Above0>,
}

/// Other keys of a step that decide whether the step can have `find`.
pub(in crate::plan) struct Beside {
    pub(in crate::plan) command: Command,
    pub(in crate::plan) operation: Operation,
    pub(in crate::plan) has_rate: bool,
    pub(in crate::plan) has_spacing: bool,
    pub(in crate::plan) has_seconds: bool,
    pub(in crate::plan) has_background: bool,
}

impl Beside {
    /// Returns why the step cannot have `find` together with one of its other keys.
    fn excluded(&self) -> Option<&'static str> {
        match () {
            () if self.command == Command::Prepare => Some("a load has no rate to find; leave `find` out"),
            () if self.has_rate => Some("`find` searches for the rate; leave `rate` out"),
            () if self.has_spacing => {
                Some("a search spaces events as independent arrivals; leave `spacing` out")
            }
            () if self.has_seconds => {
                Some("a search ends by itself; leave `seconds` out, and write `seconds_max` in `find`")
            }
            () if self.has_background => {
                Some("a search measures nothing beside its probes; leave the background loads out")
            }
            () if self.operation != Operation::Transaction => {
                Some("`find` searches for a rate of events; write `operation = \"transaction\"`")
            }
            () => None,
        }
    }
}

/// Reads the step's key `find`. Returns the limit, and the longest time of the search in seconds.
pub(in crate::plan) fn read(find: At<FindTable>, beside: &Beside) -> Result<(FindRecord, f64), Mistake> {
    if let Some(why) = beside.excluded() {
        return Err(find.wrong(Problem::Other(why.to_owned())));
    }
    find.read(|table| {
        let seconds_max = table.seconds_max.map_or(SECONDS_MAX, |seconds| seconds.0);
        let within = match &table.within {
            Some(own) if !(WITHIN_MIN..=WITHIN_MAX).contains(&own.0) => {
                return Err(own.wrong(out_of_range("within", WITHIN_MIN, WITHIN_MAX)));
            }
            own => own.as_ref().map_or(WITHIN, |own| own.0),
        };
        let limits =
            [(50, "p50_ms", table.p50_ms), (95, "p95_ms", table.p95_ms), (99, "p99_ms", table.p99_ms)];
        let mut limits =
            limits.into_iter().filter_map(|(percentile, key, own)| Some((percentile, key, own?)));
        let Some((percentile, key, limit)) = limits.next() else {
            return Err(Problem::Other("`find` needs a limit: p50_ms, p95_ms or p99_ms".to_owned()).into());
        };
        if let Some((_, other, own)) = limits.next() {
            return Err(own.wrong(format!("`find` has one limit; leave `{key}` or `{other}` out")));
        }
        if limit.0 > LIMIT_MS_MAX {
            return Err(limit.wrong(out_of_range(key, 0.0, LIMIT_MS_MAX)));
        }
        Ok((FindRecord { percentile, limit_ms: limit.0, within }, seconds_max))
    })
}

fn out_of_range(key: &str, min: f64, max: f64) -> Problem {
    let wanted = if min > 0.0 { format!("from {min} to {max}") } else { format!("above 0, at most {max}") };
    Problem::OutOfRange { key: key.to_owned(), wanted }
}
