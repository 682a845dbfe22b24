//! The notation of `--rate`: the number of events due a second, and how it changes.
//!
//! `1000` is a steady rate. Phases are separated by commas: `RATE@TIME` keeps a rate for a time, and `FROM:TO@TIME`
//! ramps from one rate to another. The last phase may be just `RATE`. After the last phase, the rate at its end
//! continues.

use dyno_load::{Rate, RatePoint, Spacing};
use thiserror::Error;

/// The highest rate, in events a second. Even scripts that do nothing do not reach it.
const RATE_MAX: f64 = 1e7;

/// A rate that cannot be read.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("a rate of up to 10000000 such as 1000, or phases such as 0:1000@60s,1000@120s (at '{0}')")]
pub(crate) struct RateError(String);

/// Reads a rate with Poisson spacing; `None` if it is 0, which means no limit of the rate.
pub(crate) fn parse(text: &str) -> Result<Option<Rate>, RateError> {
    let phases: Vec<&str> = text.split(',').map(str::trim).collect();
    let mut points = Vec::new();
    let mut at_seconds = 0.0;
    for (n, phase) in phases.iter().enumerate() {
        let wrong = || RateError((*phase).to_owned());
        let (rates, length) =
            phase.split_once('@').map_or((*phase, None), |(rates, time)| (rates, Some(time)));
        let (from, to) = rates.split_once(':').unwrap_or((rates, rates));
        let (from, to) = (per_second(from).ok_or_else(wrong)?, per_second(to).ok_or_else(wrong)?);
        points.push(RatePoint { at_seconds, per_second: from });
        match length {
            Some(length) => at_seconds += seconds(length).ok_or_else(wrong)?,
            // Only the last phase may lack a time, and only if it is not a ramp.
            None if n + 1 < phases.len() || from.to_bits() != to.to_bits() => return Err(wrong()),
            None => {}
        }
        points.push(RatePoint { at_seconds, per_second: to });
    }
    let some = points.iter().any(|point| point.per_second > 0.0);
    Ok(some.then_some(Rate { points, spacing: Spacing::Poisson }))
}

/// Events a second, at most [`RATE_MAX`].
fn per_second(text: &str) -> Option<f64> {
    text.trim().parse::<f64>().ok().filter(|rate| (0.0..=RATE_MAX).contains(rate))
}

/// A time in seconds, minutes or hours: `90`, `90s`, `1.5m`, `2h`.
fn seconds(text: &str) -> Option<f64> {
    let text = text.trim();
    let (number, unit) = match text.chars().last()? {
        's' => (&text[..text.len() - 1], 1.0),
        'm' => (&text[..text.len() - 1], 60.0),
        'h' => (&text[..text.len() - 1], 3600.0),
        _ => (text, 1.0),
    };
    number.parse::<f64>().ok().filter(|time| time.is_finite() && *time >= 0.0).map(|time| time * unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(text: &str) -> Vec<(f64, f64)> {
        let rate = parse(text).unwrap().unwrap();
        rate.points.iter().map(|point| (point.at_seconds, point.per_second)).collect()
    }

    #[test]
    fn a_number_is_a_steady_rate_and_nought_is_none() {
        assert_eq!(points("1000"), [(0.0, 1000.0), (0.0, 1000.0)]);
        assert_eq!(points("0.5"), [(0.0, 0.5), (0.0, 0.5)]);
        assert_eq!(parse("0"), Ok(None));
    }

    #[test]
    fn phases_ramp_and_hold() {
        assert_eq!(
            points("0:1000@60s,1000@2m,50"),
            [(0.0, 0.0), (60.0, 1000.0), (60.0, 1000.0), (180.0, 1000.0), (180.0, 50.0), (180.0, 50.0)]
        );
    }

    #[test]
    fn what_is_no_rate_is_quoted() {
        for (text, at) in [
            ("", ""),
            ("fast", "fast"),
            ("-1", "-1"),
            ("nan", "nan"),
            ("2000000000", "2000000000"),
            ("1,2@5", "1"),
            ("1:2", "1:2"),
            ("5@x,6", "5@x"),
        ] {
            assert_eq!(parse(text), Err(RateError(at.into())), "{text}");
        }
    }
}
