//! `cpu`: an event tries every number up to a limit for being a prime, by dividing it.

use std::hint::black_box;

use super::{Built, Native};
use crate::failure::Failure;
use crate::options::{Definition, Kind, Values};
use crate::report::ReportedWork;
use crate::settings::Settings;

pub(super) const TEST: Native = Native {
    name: "cpu",
    summary: "prime numbers by trial division",
    options: &[Definition {
        name: "cpu-max-prime",
        kind: Kind::Whole,
        default: Some("10000"),
        help: "the largest number to try",
    }],
    build,
};

fn build(values: &Values, settings: &Settings) -> Result<Built, Failure> {
    let limit = values.whole("cpu-max-prime");
    if limit == 0 {
        return Err(Failure::fatal("--cpu-max-prime cannot be 0: give a number from 1 on"));
    }
    let event = move || {
        black_box(odd_primes_to(black_box(limit)));
    };
    Ok(Built {
        subject: ReportedWork::Cpu,
        introduction: format!("Prime numbers limit: {limit}\n\n"),
        events: None,
        threads: (0..settings.threads).map(|_| Box::new(event) as _).collect(),
    })
}

/// How many of the numbers from 3 to `limit` have no divisor from 2 to their square root.
fn odd_primes_to(limit: u64) -> u64 {
    (3..=limit).filter(|number| (2..=number.isqrt()).all(|divisor| number % divisor != 0)).count() as u64
}

#[cfg(test)]
mod tests {
    use super::odd_primes_to;

    #[test]
    fn primes_are_counted() {
        assert_eq!([1, 2, 3, 4, 5, 100, 10_000].map(odd_primes_to), [0, 0, 1, 1, 2, 24, 1228]);
    }
}
