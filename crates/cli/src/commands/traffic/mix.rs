//! `dyno traffic mix`: makes a workload of traffic.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use dyno_traffic::Mixed;
use indicatif::HumanCount;

use super::words::plural;
use crate::output;

/// Make a workload with the transactions of a traffic file
///
/// Writes a Lua script in sysbench's interface. It executes the transactions of the traffic as often as they were
/// executed, with values from the ranges that were seen. Tables of digests work too: `pg_stat_statements`, and
/// `events_statements_summary_by_digest` of MySQL and MariaDB. They have neither values nor transactions.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  dyno traffic mix mine.traffic --out mine.lua
  psql --csv -c 'SELECT query, calls FROM pg_stat_statements' > digests.csv
  dyno traffic mix digests.csv --out mine.lua")]
pub(super) struct Mix {
    /// Traffic file, or table of digests as CSV or as `mysql --batch` prints it
    file: PathBuf,
    /// Script to write
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Overwrite an existing file
    #[arg(long)]
    force: bool,
    /// Largest number of different transactions; the most frequent ones are kept
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u16).range(1..=1000))]
    transactions: u16,
}

impl Mix {
    pub(super) fn execute(self) -> anyhow::Result<ExitCode> {
        let mixed = dyno_traffic::mix(&self.file, &self.out, self.force, usize::from(self.transactions))?;
        output::print(&self.told(&mixed))?;
        Ok(ExitCode::SUCCESS)
    }

    fn told(&self, mixed: &Mixed) -> String {
        let share = 100.0 * mixed.mixed as f64 / mixed.statements.max(1) as f64;
        let transactions =
            plural(HumanCount(mixed.transactions as u64), mixed.transactions as u64, "transaction");
        let mut told = format!(
            "{}: {transactions} with {share:.1}% of {}\n",
            self.out.display(),
            plural(HumanCount(mixed.statements), mixed.statements, "statement")
        );
        for (why, statements) in &mixed.left_out {
            let statements = plural(HumanCount(*statements), *statements, "statement");
            let _ = writeln!(told, "left out: {statements} that {why}");
        }
        told
    }
}
