//! The seconds of a trial as series, for charts and for the CSV download.

use dyno_store::{Phase, Second, Usage};
use serde_json::{Map, Value};

use crate::html::drill_down::thin::Thinning;

/// One series: its key in the data (which is also its name in the CSV header), the number of significant digits to
/// show, and the function that computes the value of a second.
type Series = (&'static str, i32, fn(&Second) -> Option<f64>);

/// Digits of a series that has no chart. Such a series is only in data for downloads.
const UNDRAWN: i32 = 0;

/// All series in the order of the CSV file. Names end in the unit. CPU time per second is the number of busy CPUs.
const SERIES: [Series; 18] = [
    ("operations_per_second", 3, |second| per_second(second, Some(second.operations))),
    ("errors_per_second", UNDRAWN, |second| per_second(second, Some(second.errors))),
    ("p50_us", 3, |second| second.p50_us),
    ("p95_us", 3, |second| second.p95_us),
    ("p99_us", 3, |second| second.p99_us),
    ("max_us", UNDRAWN, |second| second.max_us),
    ("server_user_cpus", 2, |second| cpus(second, second.usage.server_user_cpu_us)),
    ("server_system_cpus", 2, |second| cpus(second, second.usage.server_system_cpu_us)),
    ("client_cpus", 2, |second| cpus(second, client_us(&second.usage))),
    ("other_cpus", 2, |second| cpus(second, others_us(&second.usage))),
    ("iowait_cpus", 2, |second| cpus(second, second.usage.host_iowait_cpu_us)),
    ("steal_cpus", 2, |second| cpus(second, second.usage.host_steal_cpu_us)),
    ("idle_cpus", UNDRAWN, |second| cpus(second, second.usage.host_idle_cpu_us)),
    ("device_read_mib_per_second", 2, |second| mib_per_second(second, second.usage.device_read_bytes)),
    ("device_write_mib_per_second", 2, |second| mib_per_second(second, second.usage.device_write_bytes)),
    ("device_reads_per_second", 2, |second| per_second(second, second.usage.device_reads)),
    ("device_writes_per_second", 2, |second| per_second(second, second.usage.device_writes)),
    ("device_flushes_per_second", 2, |second| per_second(second, second.usage.device_flushes)),
];

/// Precision of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exactness {
    /// For downloads: five significant digits.
    Data,
    Display,
}

impl Exactness {
    fn digits(self, for_display: i32) -> i32 {
        if self == Self::Data { 5 } else { for_display }
    }
}

/// A trial's series as an object. The key `at` has the time of each point: the end of its second, in seconds since the
/// load began. `warmup` is the number of points in the warm-up. `bucket` is the number of seconds that two points stand
/// for. A series without a value other than 0 is left out.
pub(crate) fn series(seconds: &[Second], points_max: usize, exactness: Exactness) -> Map<String, Value> {
    let thinning = Thinning::new(seconds.len(), points_max);
    let mut elapsed = 0.0;
    let ends: Vec<f64> = seconds
        .iter()
        .map(|second| {
            elapsed += second.seconds;
            elapsed
        })
        .collect();
    let places = thinning.places(seconds.len());
    let is_warmup = |place: &&usize| seconds[**place].phase == Phase::Warmup;
    let mut object = Map::new();
    object.insert("bucket".to_owned(), thinning.bucket().into());
    object.insert("warmup".to_owned(), places.iter().take_while(is_warmup).count().into());
    object.insert("at".to_owned(), places.iter().map(|place| number(Some(ends[*place]), 5)).collect());
    for (name, for_display, value) in SERIES {
        let digits = exactness.digits(for_display);
        let values: Vec<Option<f64>> = seconds.iter().map(value).collect();
        let has_any = values.iter().any(|value| value.is_some_and(|value| value != 0.0));
        if digits != UNDRAWN && has_any {
            let points = thinning.thin(&values).into_iter().map(|value| number(value, digits));
            object.insert(name.to_owned(), points.collect());
        }
    }
    object
}

/// Returns the seconds without the CPU time of the client.
pub(crate) fn without_client(seconds: &[Second]) -> Vec<Second> {
    let mut seconds = seconds.to_vec();
    for Second { usage, .. } in &mut seconds {
        (usage.client_user_cpu_us, usage.client_system_cpu_us) = (None, None);
    }
    seconds
}

/// A number rounded to significant digits. Whole numbers have no decimal point. `null` for a value that is not
/// finite.
pub(crate) fn number(value: Option<f64>, digits: i32) -> Value {
    let Some(value) = value.filter(|value| value.is_finite()) else { return Value::Null };
    if value == 0.0 {
        return 0.into();
    }
    let unit = 10_f64.powi(value.abs().log10().floor() as i32 + 1 - digits);
    // A unit below 1 is not exact, but its inverse is a whole power of ten. A division by this inverse gives the
    // shortest decimal.
    let rounded = if unit < 1.0 {
        (value / unit).round() / (1.0 / unit).round()
    } else {
        (value / unit).round() * unit
    };
    if rounded.fract() == 0.0 && rounded.abs() < 9e15 { (rounded as i64).into() } else { rounded.into() }
}

fn per_second(second: &Second, count: Option<u64>) -> Option<f64> {
    (second.seconds > 0.0).then(|| Some(count? as f64 / second.seconds)).flatten()
}

fn cpus(second: &Second, cpu_us: Option<u64>) -> Option<f64> {
    Some(per_second(second, cpu_us)? / 1e6)
}

fn mib_per_second(second: &Second, bytes: Option<u64>) -> Option<f64> {
    Some(per_second(second, bytes)? / f64::from(1 << 20))
}

fn client_us(usage: &Usage) -> Option<u64> {
    Some(usage.client_user_cpu_us? + usage.client_system_cpu_us?)
}

/// CPU time of processes other than server and client.
fn others_us(usage: &Usage) -> Option<u64> {
    let all = usage.host_user_cpu_us? + usage.host_system_cpu_us?;
    let server = usage.server_user_cpu_us? + usage.server_system_cpu_us?;
    // The load process of an in-process engine is already counted as the server.
    Some(all.saturating_sub(server + client_us(usage).unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn second(phase: Phase, operations: u64) -> Second {
        Second {
            phase,
            seconds: 0.5,
            operations,
            events: operations,
            due: None,
            errors: 0,
            failed: 0,
            p50_us: Some(120.0),
            p95_us: None,
            p99_us: None,
            max_us: None,
            usage: Usage {
                server_user_cpu_us: Some(400_000),
                server_system_cpu_us: Some(0),
                host_user_cpu_us: Some(600_000),
                host_system_cpu_us: Some(50_000),
                ..Usage::default()
            },
        }
    }

    #[test]
    fn a_series_is_a_rate_and_one_without_values_is_left_out() {
        let series = series(&[second(Phase::Warmup, 10), second(Phase::Measure, 33)], 100, Exactness::Data);
        let text = Value::Object(series).to_string();
        assert_eq!(
            text,
            r#"{"at":[0.5,1],"bucket":1,"operations_per_second":[20,66],"other_cpus":[0.5,0.5],"p50_us":[120,120],"server_user_cpus":[0.8,0.8],"warmup":1}"#
        );
    }

    #[test]
    fn a_client_on_another_host_takes_nothing_off_this_one() {
        let mut second = second(Phase::Measure, 1);
        (second.usage.client_user_cpu_us, second.usage.client_system_cpu_us) = (Some(900_000), Some(100_000));
        let of = |seconds: &[Second]| series(seconds, 100, Exactness::Data);
        let here = of(std::slice::from_ref(&second));
        assert_eq!((here.get("client_cpus"), here.get("other_cpus")), (Some(&json!([2])), None));
        let elsewhere = of(&without_client(&[second]));
        assert_eq!((elsewhere.get("client_cpus"), &elsewhere["other_cpus"]), (None, &json!([0.5])));
    }

    #[test]
    fn thinned_points_are_extremes_of_their_bucket() {
        let seconds: Vec<Second> = (1..=100).map(|rate| second(Phase::Measure, rate)).collect();
        let series = series(&seconds, 20, Exactness::Display);
        assert_eq!(series["bucket"], 10);
        let rates: Vec<f64> =
            series["operations_per_second"].as_array().unwrap().iter().filter_map(Value::as_f64).collect();
        assert_eq!(rates[..4], [2.0, 20.0, 22.0, 40.0]);
        assert_eq!(rates.len(), 20);
    }

    #[test]
    fn numbers_keep_their_significant_digits() {
        let cases = [
            (123_456.0, "123000"),
            (0.012_345, "0.0123"),
            (1.0, "1"),
            (0.0, "0"),
            (99.96, "100"),
            (f64::NAN, "null"),
        ];
        for (value, text) in cases {
            assert_eq!(number(Some(value), 3).to_string(), text);
        }
    }
}
