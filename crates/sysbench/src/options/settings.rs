//! Settings from the general options.

use std::time::{SystemTime, UNIX_EPOCH};

use dyno_load::{Rate, Spacing};

use crate::failure::Failure;
use crate::log::Level;
use crate::options::Values;
use crate::options::rate;

/// The version of sysbench whose defaults and report are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compat {
    /// sysbench 1.0.20.
    V1_0,
    V1_1,
}

impl Compat {
    pub(crate) fn of(values: &Values) -> Self {
        if values.text("compat") == "1.1" { Self::V1_1 } else { Self::V1_0 }
    }

    /// The version of sysbench that is reported to scripts.
    pub(crate) fn version(self) -> &'static str {
        match self {
            Self::V1_0 => "1.0.20",
            Self::V1_1 => "1.1.0",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Text,
    /// One JSON object per line.
    Json,
}

/// The seed of all random numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Seed {
    Given(u64),
    /// A different seed each time.
    Clock(u64),
}

impl Seed {
    pub(crate) fn number(self) -> u64 {
        match self {
            Self::Given(number) | Self::Clock(number) => number,
        }
    }
}

/// The options common to all tests, with their types.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) threads: u32,
    pub(crate) events: Option<u64>,
    pub(crate) seconds: Option<f64>,
    pub(crate) warmup_seconds: f64,
    /// Time from the end of the test until running events are dropped, in seconds. `None` means that the load waits for
    /// these events practically without a limit.
    pub(crate) forced_shutdown_seconds: Option<f64>,
    pub(crate) rate: Option<Rate>,
    /// The rate as the user wrote it.
    pub(crate) rate_text: String,
    /// Seconds between lines of progress.
    pub(crate) interval_seconds: Option<f64>,
    /// Seconds after which reports are due, in ascending order.
    pub(crate) checkpoints_seconds: Vec<f64>,
    pub(crate) percentiles: Vec<f64>,
    pub(crate) histogram: bool,
    pub(crate) debug: bool,
    pub(crate) validate: bool,
    pub(crate) seed: Seed,
    pub(crate) verbosity: Level,
    pub(crate) compat: Compat,
    pub(crate) format: Format,
}

impl Settings {
    /// Parses the values, and checks combinations.
    pub(crate) fn of(values: &Values) -> Result<Self, Failure> {
        let debug = values.flag("debug");
        let seed = values.whole("rand-seed");
        let some = |number: f64| (number > 0.0).then_some(number);
        let mut checkpoints_seconds = values.numbers("report-checkpoints");
        checkpoints_seconds.sort_by(f64::total_cmp);
        let settings = Self {
            threads: values.whole("threads") as u32,
            events: Some(values.whole("events")).filter(|&events| events > 0),
            seconds: some(values.number("time")),
            warmup_seconds: values.number("warmup-time"),
            forced_shutdown_seconds: forced_shutdown(values.text("forced-shutdown"), values.number("time")),
            rate: rate(values),
            rate_text: values.text("rate").to_owned(),
            interval_seconds: some(values.number("report-interval")),
            checkpoints_seconds,
            percentiles: percentiles(values),
            histogram: values.flag("histogram"),
            debug,
            validate: values.flag("validate"),
            seed: if seed == 0 { Seed::Clock(clock_seed()) } else { Seed::Given(seed) },
            verbosity: if debug { Level::Debug } else { Level::of(values.whole("verbosity")) },
            compat: Compat::of(values),
            format: if values.text("format") == "json" { Format::Json } else { Format::Text },
        };
        if settings.rate.is_some() && values.number("think-time") > 0.0 {
            return Err(Failure::usage(
                "--think-time and --rate exclude each other: a rate says when events begin",
            ));
        }
        Ok(settings)
    }

    /// Seconds between the frames of the load. Intervals and checkpoints consist of whole frames.
    pub(crate) fn tick_seconds(&self) -> f64 {
        match self.interval_seconds {
            Some(interval) if interval.fract() != 0.0 => interval,
            _ => 1.0,
        }
    }
}

fn rate(values: &Values) -> Option<Rate> {
    let rate = rate::parse(values.text("rate")).ok().flatten()?;
    let spacing = match values.text("rate-spacing") {
        "constant" => Spacing::Constant,
        _ => Spacing::Poisson,
    };
    Some(Rate { spacing, ..rate })
}

/// Reads seconds, or a percentage of the test's time. An option without a value stands for five percent. `None` if the
/// option is off.
fn forced_shutdown(text: &str, time_seconds: f64) -> Option<f64> {
    let of_time = |percent: f64| (time_seconds * percent / 100.0).floor();
    match text {
        "off" => None,
        "" | "on" => Some(of_time(5.0)),
        text => match text.strip_suffix('%') {
            Some(percent) => percent.parse().ok().map(of_time),
            None => text.parse().ok(),
        },
    }
}

fn percentiles(values: &Values) -> Vec<f64> {
    values.numbers("percentile").into_iter().filter(|&percentile| percentile > 0.0).collect()
}

/// Nanoseconds since 1970.
fn clock_seed() -> u64 {
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    (since_1970.as_nanos() as u64).max(1)
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::*;
    use crate::options::Arguments;

    fn settings(arguments: &[&str]) -> Result<Settings, Failure> {
        let arguments: Vec<_> = arguments.iter().map(OsString::from).collect();
        Settings::of(&Arguments::parse(&arguments).unwrap().values)
    }

    #[test]
    fn defaults_are_sysbenchs() {
        let settings = settings(&[]).unwrap();
        assert_eq!((settings.threads, settings.events, settings.seconds), (1, None, Some(10.0)));
        assert_eq!(
            (settings.percentiles, settings.rate, settings.interval_seconds),
            (vec![95.0], None, None)
        );
        assert_eq!((settings.verbosity, settings.compat), (Level::Notice, Compat::V1_0));
        assert!(matches!(settings.seed, Seed::Clock(1..)));
    }

    #[test]
    fn nought_means_no_limit_and_no_percentile() {
        let settings =
            settings(&["--time=0", "--percentile=0", "--forced-shutdown", "--rand-seed=7"]).unwrap();
        assert_eq!((settings.seconds, settings.forced_shutdown_seconds), (None, Some(0.0)));
        assert!(settings.percentiles.is_empty());
        assert_eq!(settings.seed, Seed::Given(7));
    }

    #[test]
    fn forced_shutdown_waits_for_seconds_or_for_a_part_of_the_time() {
        let seconds = |argument| settings(&["--time=30", argument]).unwrap().forced_shutdown_seconds;
        for (argument, expected) in [
            ("--forced-shutdown=off", None),
            ("--forced-shutdown", Some(1.0)),
            ("--forced-shutdown=0", Some(0.0)),
            ("--forced-shutdown=7", Some(7.0)),
            ("--forced-shutdown=10%", Some(3.0)),
        ] {
            assert_eq!(seconds(argument), expected, "{argument}");
        }
    }

    #[test]
    fn ticks_are_seconds_unless_intervals_are_not() {
        assert_eq!(settings(&["--report-interval=10"]).unwrap().tick_seconds().to_bits(), 1.0_f64.to_bits());
        assert_eq!(
            settings(&["--report-interval=0.25"]).unwrap().tick_seconds().to_bits(),
            0.25_f64.to_bits()
        );
    }

    #[test]
    fn a_rate_excludes_a_think_time() {
        assert!(matches!(settings(&["--rate=5", "--think-time=1"]), Err(Failure::Usage(_))));
    }
}
