//! Compares known lags with the lags that Dyno measures. The replica is held back for a known time while a load writes.
//!
//! A replica of PostgreSQL applies each commit a set time after the commit was made (`recovery_min_apply_delay`).
//! This time is the true lag of every token. A replica of MariaDB or MySQL stops applying for a time. A token that
//! is committed in that time appears when the replica continues, so its true lag is the time from its commit until
//! then. The replica then applies the waiting transactions in order, which takes longer the more there are. That
//! extra time is not an error of the measurement. It is kept short by a low rate, and by servers that do not wait
//! for their disks.
//!
//! ```console
//! $ cargo run --release -p dyno-bench -- lag
//! ```

mod bed;
mod holds;

use clap::Args;
use dyno_engine::SystemName;
use dyno_stats::median;

use self::bed::Bed;
use self::holds::{Hold, hold};
use crate::support::goals::{Goals, Limit};
use crate::support::pair;

/// Goal: largest distance of a measured lag from the true lag, in ms.
const GOAL_MS: f64 = 10.0;

#[derive(Args)]
pub(crate) struct Options {
    /// Times for which the replica is held back, in ms.
    #[arg(long, value_delimiter = ',', default_values_t = [100, 300, 1000, 2000])]
    planted_ms: Vec<u32>,
    /// How often the replica is held back for each time.
    #[arg(long, default_value_t = 6)]
    repeats: u32,
    /// Transactions per second of the load.
    #[arg(long, default_value_t = 10.0)]
    rate: f64,
    /// Systems of the catalogue, measured one after the other.
    #[arg(long, num_args = 1.., default_values = ["mariadb@10.11", "postgres@18.4"])]
    systems: Vec<SystemName>,
}

pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let headings = [
        "system",
        "held back, ms",
        "times",
        "tokens",
        "planted lag, median ms",
        "measured, median ms",
        "difference, median ms",
        "worst ms",
        "within 10 ms",
        "server said at most, s",
    ];
    let mut table = pair::table(&headings);
    let mut goals = Goals::new(["planted, median ms", "measured, median ms"]);
    for name in &options.systems {
        let of_system = measure(options, name)?;
        for planted_ms in &options.planted_ms {
            let holds: Vec<&Hold> = of_system.iter().filter(|hold| hold.planted_ms == *planted_ms).collect();
            table.add_row(row(name, *planted_ms, &holds));
        }
        let all: Vec<&Hold> = of_system.iter().collect();
        let sides = || [figure(&all, |token| token.planted_ms), figure(&all, |token| token.measured_ms)];
        let limit = Some(Limit::AtMost(GOAL_MS));
        let each = |of: fn(&Hold) -> Option<f64>| -> Vec<f64> { of_system.iter().filter_map(of).collect() };
        let what = |of: &str| format!("{name}, {of} difference of the tokens of a time, ms");
        goals.values_beside(&what("median"), sides(), &each(Hold::median_off_ms), limit);
        goals.values_beside(&what("worst"), sides(), &each(Hold::worst_off_ms), limit);
    }
    pair::print("lag of a replica that is held back, token by token", table, 1);
    goals.print("lag of a replica held back by a known time");
    Ok(())
}

/// Holds a system's replica back for each of the times in turn. This sequence is repeated as often as the options say.
fn measure(options: &Options, name: &SystemName) -> anyhow::Result<Vec<Hold>> {
    let bed = Bed::start(name, options.rate)?;
    let mut holds = Vec::new();
    for repeat in 1..=options.repeats {
        eprintln!("{name}: {repeat} of {}", options.repeats);
        for planted_ms in &options.planted_ms {
            holds.push(hold(bed.topology(), *planted_ms)?);
        }
    }
    bed.stop()?;
    Ok(holds)
}

fn row(name: &SystemName, planted_ms: u32, holds: &[&Hold]) -> Vec<String> {
    let off: Vec<f64> = holds.iter().flat_map(|hold| hold.off_ms()).collect();
    let within = off.iter().filter(|off| **off <= GOAL_MS).count();
    let said = holds.iter().filter_map(|hold| hold.said_max_seconds).reduce(f64::max);
    vec![
        name.to_string(),
        planted_ms.to_string(),
        holds.len().to_string(),
        off.len().to_string(),
        figure(holds, |token| token.planted_ms),
        figure(holds, |token| token.measured_ms),
        figure(holds, |token| token.measured_ms - token.planted_ms),
        off.iter().copied().reduce(f64::max).map_or_else(|| "–".to_owned(), |off| format!("{off:.1}")),
        format!("{:.1}%", 100.0 * within as f64 / off.len().max(1) as f64),
        said.map_or_else(|| "–".to_owned(), |seconds| format!("{seconds:.1}")),
    ]
}

/// The median of a figure over all tokens.
fn figure(holds: &[&Hold], of: fn(&holds::Token) -> f64) -> String {
    let values: Vec<f64> = holds.iter().flat_map(|hold| &hold.tokens).map(of).collect();
    median(&values).map_or_else(|| "–".to_owned(), |value| format!("{value:.1}"))
}
