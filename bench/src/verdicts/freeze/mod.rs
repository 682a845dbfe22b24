//! Measures whether work that a server postpones counts for that server, or is done while another server is
//! measured.
//!
//! Two servers do the same work for each query. One server does all of the work immediately. The other server
//! postpones a known share of the work by up to 200 ms, and does that share in a separate thread. Their true ratio
//! is therefore 1.
//!
//! ```console
//! $ cargo run --release -p dyno-bench -- freeze
//! ```

mod plan;

use std::path::PathBuf;

use clap::Args;
use dyno_judge::{Rule, TestComparison, TrialChecks, analyse};
use dyno_stats::{Interval, Margin, median};
use dyno_store::{Run, TrialRecord};

use crate::support::pair;
use crate::support::plan_run::run_plan;

/// Goal: largest bias of a ratio.
const GOAL: f64 = 0.01;

#[derive(Args)]
pub(crate) struct Options {
    /// Shares of the work to postpone, in percent.
    #[arg(long, value_delimiter = ',', default_values_t = [1, 5, 20], value_parser = clap::value_parser!(u32).range(0..=90))]
    put_off: Vec<u32>,
    /// Rounds for each share: this many with freezing, and as many without.
    #[arg(long, default_value_t = 12)]
    rounds: u32,
    /// Measured seconds of a server in a round.
    #[arg(long, default_value_t = 4.0)]
    seconds: f64,
    /// Also count rounds in which other processes used the host.
    #[arg(long)]
    count_disturbed: bool,
    /// Write the results file here.
    #[arg(long, value_name = "FILE")]
    keep: Option<PathBuf>,
}

pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let results = options.keep.clone().unwrap_or_else(|| folder.path().join("freeze.db"));
    let headings =
        ["put off", "resting servers", "rounds", "ratio", "bias", "CPU at rest", "thaws", "goal", ""];
    let mut table = pair::table(&headings);
    for put_off in &options.put_off {
        for freeze in [true, false] {
            let text = plan::text(*put_off, freeze, options.rounds, options.seconds);
            let mut run = run_plan(&text, "freeze", &results)?;
            run.record.counts_disturbed = options.count_disturbed;
            let row = row(*put_off, freeze, &run);
            eprintln!("{}", row.join(" | "));
            table.add_row(row);
        }
    }
    println!("{table}");
    Ok(())
}

fn row(put_off: u32, freeze: bool, run: &Run) -> [String; 9] {
    let analysis = analyse(run, &TrialChecks::new(), &Rule::default());
    let comparison = analysis.comparison(plan::AT_ONCE, plan::LATER);
    let test = comparison.and_then(|comparison| comparison.tests.first());
    let percent =
        |share: Option<f64>| share.map_or_else(|| "-".to_owned(), |share| format!("{:.2}%", 100.0 * share));
    let goal = if freeze { format!("bias below {:.0}%", 100.0 * GOAL) } else { String::new() };
    let met = match test.and_then(|test| test.interval) {
        _ if !freeze => "",
        Some(interval) if is_within_goal(interval) => "met",
        _ => "missed",
    };
    [
        format!("{put_off}%"),
        if freeze { "frozen" } else { "at work" }.to_owned(),
        test.map_or(0, |test| test.rounds.len()).to_string(),
        test.map_or_else(String::new, in_words),
        percent(test.and_then(|test| test.ratio).map(|ratio| ratio - 1.0)),
        percent(middle(run, rest_share)),
        percent(middle(run, thaw_share)),
        goal,
        met.to_owned(),
    ]
}

/// Whether the ratio's whole interval lies within the goal around 1, which is the true ratio.
fn is_within_goal(interval: Interval) -> bool {
    let goal = Margin::new(GOAL).expect("a margin");
    interval.low >= goal.low() && interval.high <= goal.high()
}

fn in_words(test: &TestComparison) -> String {
    let interval = test.interval.map_or_else(String::new, |it| format!(" [{:.4}, {:.4}]", it.low, it.high));
    test.ratio.map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.4}{interval}"))
}

/// Returns the median of a figure over the trials of the server that postpones work.
fn middle(run: &Run, figure: impl Fn(&TrialRecord) -> Option<f64>) -> Option<f64> {
    let own = run.trials.iter().map(|trial| &trial.record).filter(|record| record.system_id == plan::LATER);
    median(&own.filter_map(figure).collect::<Vec<_>>())
}

/// Returns the CPU time that the server used between its slices, as a share of its CPU time within them.
fn rest_share(record: &TrialRecord) -> Option<f64> {
    let busy_us = record.usage.server_user_cpu_us? + record.usage.server_system_cpu_us?;
    Some(record.rest_cpu_us? as f64 / busy_us as f64)
}

/// Returns the time that thaws take, as a share of the slices' time.
fn thaw_share(record: &TrialRecord) -> Option<f64> {
    let seconds: f64 = record.slices.iter().map(|slice| slice.seconds).sum();
    Some(record.thaw_us? as f64 / 1e6 / seconds)
}
