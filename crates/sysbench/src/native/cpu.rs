//! `cpu`: prime numbers by trial division.

use super::{Built, Events, Native};
use crate::failure::Failure;
use crate::options::{Definition, Kind, Values};
use crate::report::ReportedWork;
use crate::settings::Settings;

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

#[expect(clippy::unnecessary_wraps, reason = "other tests can fail to be built")]
fn build(values: &Values, settings: &Settings) -> Result<Built, Failure> {
    let limit = values.whole("cpu-max-prime");
    Ok(Built {
        subject: ReportedWork::Cpu,
        introduction: format!("Prime numbers limit: {limit}\n\n"),
        events: Events::AsGiven,
        threads: (0..settings.threads).map(|_| dyno_kernels::cpu_event(limit)).collect(),
    })
}
