//! `cpu`: prime numbers by trial division.

use super::{Built, Native};
use crate::options::settings::Settings;
use crate::options::{Definition, Kind, Values};
use crate::report::ReportedWork;

pub(super) const TEST: Native = Native {
    name: "cpu",
    summary: "prime numbers by trial division",
    options: &[Definition {
        name: "cpu-max-prime",
        kind: Kind::Within(1, u64::MAX),
        default: Some("10000"),
        help: "the numbers below this one are tried",
    }],
    build,
};

fn build(values: &Values, settings: &Settings) -> Built {
    let limit = values.whole("cpu-max-prime");
    Built {
        subject: ReportedWork::Cpu,
        introduction: format!("Prime numbers limit: {limit}\n\n"),
        threads: (0..settings.threads).map(|_| dyno_kernels::cpu_event(limit)).collect(),
    }
}
