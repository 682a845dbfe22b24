//! Calibration on real servers: the share of false verdicts between equal systems, the share of intervals that contain
//! the true ratio, and the share of planted differences that are found.
//!
//! ```console
//! $ cargo run --release -p dyno-bench -- truth
//! ```

mod plans;
mod scores;

use std::path::{Path, PathBuf};

use clap::Args;
use dyno_store::Run;

use self::plans::{Planted, equals, planted};
use self::scores::{Score, agreement, false_alarms, found, half_width};
use crate::neighbour::{Kind, Neighbour};
use crate::pair;
use crate::plan_run::run_plan;

/// Rounds of whole trials: the fewest with an exact interval.
const BIAS_ROUNDS: u32 = 6;

#[derive(Args)]
pub(crate) struct Options {
    /// Least number of verdicts on equal systems. Half as many are made beside a busy neighbour.
    #[arg(long, default_value_t = 200)]
    verdicts: u32,
    /// Rounds of each verdict on equal systems.
    #[arg(long, default_value_t = 6)]
    rounds: u32,
    /// Searches for each planted difference.
    #[arg(long, default_value_t = 3)]
    searches: u32,
    /// Run only this part.
    #[arg(long)]
    only: Option<Part>,
    /// Write the results file here.
    #[arg(long, value_name = "FILE")]
    keep: Option<PathBuf>,
}

/// A part of the calibration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Part {
    /// Equal systems.
    Equals,
    /// Equal systems beside a busy neighbour.
    Neighbour,
    /// A difference of 2%.
    TwoPercent,
    /// A difference of 5%.
    FivePercent,
    /// The width of an interval after a minute.
    Width,
    /// Whether ratios of slices agree with those of whole trials of a minute. Runs only if named.
    Bias,
}

pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let results = options.keep.clone().unwrap_or_else(|| folder.path().join("truth.db"));
    let wants = |part| options.only.is_none_or(|only| only == part);
    let mut scores: Vec<Score> = Vec::new();
    if wants(Part::Equals) {
        let run = measure(&equals(options.verdicts, options.rounds), &results)?;
        scores.extend(false_alarms("equals", &run, options.rounds));
    }
    if wants(Part::Neighbour) {
        let _busy = Neighbour::start(Kind::HALF)?;
        let run = measure(&equals(options.verdicts / 2, options.rounds), &results)?;
        scores.extend(false_alarms("equals beside a busy neighbour", &run, options.rounds));
    }
    for (part, plan) in [(Part::TwoPercent, Planted::TWO_PERCENT), (Part::FivePercent, Planted::FIVE_PERCENT)]
    {
        if wants(part) {
            let run = measure(&planted(plan, options.searches), &results)?;
            scores.extend(found(plan, &run));
        }
    }
    if wants(Part::Width) {
        let run = measure(&plans::width(), &results)?;
        scores.extend(half_width(&run));
    }
    // It takes an hour.
    if options.only == Some(Part::Bias) {
        let run = measure(&plans::bias(BIAS_ROUNDS), &results)?;
        scores.extend(agreement(&run));
    }
    let mut table = pair::table(&["what", "of", "measured", "goal", ""]);
    for score in &scores {
        table.add_row(score.row());
    }
    println!("{table}");
    Ok(())
}

fn measure(text: &str, results: &Path) -> anyhow::Result<Run> {
    run_plan(text, "truth", results)
}
