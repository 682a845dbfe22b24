//! Calibration on real servers. It measures the share of false verdicts between equal systems, the share of
//! intervals that contain the true ratio, the share of planted differences that are found, and the variance
//! compared with that of runs one after the other.
//!
//! ```console
//! $ cargo run --release -p dyno-bench -- truth --keep truth.db --minutes 45
//! ```

mod equals;
mod experiments;
mod plans;
mod score;
mod scores;

use std::path::PathBuf;

use clap::Args;

use self::plans::{Planted, planted};
use self::score::Score;
use crate::pair;
use crate::plan_run::{Pause, run_plan_on};

/// Rounds of the comparison of slices with whole trials.
const BIAS_ROUNDS: u32 = 6;
const SEQUENTIAL_ROUNDS: u32 = 24;

#[derive(Args)]
pub(crate) struct Options {
    /// Families of tests between equal systems.
    #[arg(long, default_value_t = 60)]
    families: u32,
    /// Engine of the equal systems.
    #[arg(long, default_value = plans::ENGINE)]
    engine: String,
    /// Searches for each planted difference.
    #[arg(long, default_value_t = 30)]
    searches: u32,
    /// Run only this part. The parts `bias` and `sequential` run only if named.
    #[arg(long)]
    only: Option<Part>,
    /// Write the results file here.
    #[arg(long, value_name = "FILE")]
    keep: Option<PathBuf>,
    /// Pause after this time. The same command with --resume continues.
    #[arg(long, requires = "keep", requires = "only")]
    minutes: Option<u32>,
    /// Resume a paused calibration.
    #[arg(long, requires = "keep", requires = "only")]
    resume: bool,
}

/// A part of the calibration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Part {
    /// Equal systems.
    Equals,
    /// A difference of 2%.
    TwoPercent,
    /// A difference of 5%.
    FivePercent,
    /// The width of an interval after a minute.
    Width,
    /// Whether ratios of slices agree with those of whole trials of a minute.
    Bias,
    /// The variance of ratios from slices, compared with that of ratios of trials one after the other.
    Sequential,
}

impl Part {
    const USUAL: [Self; 4] = [Self::Equals, Self::TwoPercent, Self::FivePercent, Self::Width];

    fn plan(self, options: &Options) -> String {
        match self {
            Self::Equals => plans::equals(&options.engine, options.families),
            Self::TwoPercent => planted(Planted::TWO_PERCENT, options.searches),
            Self::FivePercent => planted(Planted::FIVE_PERCENT, options.searches),
            Self::Width => plans::width(),
            Self::Bias => plans::bias(BIAS_ROUNDS),
            Self::Sequential => plans::sequential(SEQUENTIAL_ROUNDS),
        }
    }

    fn scores(self, run: &dyno_store::Run) -> Vec<Score> {
        match self {
            Self::Equals => equals::scores(run),
            Self::TwoPercent => scores::found(Planted::TWO_PERCENT, run),
            Self::FivePercent => scores::found(Planted::FIVE_PERCENT, run),
            Self::Width => scores::half_width(run),
            Self::Bias => scores::agreement(run),
            Self::Sequential => scores::variance_beside_sequential(run),
        }
    }
}

pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let results = options.keep.clone().unwrap_or_else(|| folder.path().join("truth.db"));
    let pause = Pause { after_minutes: options.minutes, resume: options.resume };
    let parts = options.only.map_or(Part::USUAL.to_vec(), |only| vec![only]);
    let mut table = pair::table(&["what", "of", "measured", "interval", "goal", ""]);
    for part in parts {
        let Some(run) = run_plan_on(&part.plan(options), "truth", &results, pause)? else {
            println!("paused; the same command with --resume goes on");
            return Ok(());
        };
        for score in part.scores(&run) {
            eprintln!("{}", score.row().join(" | "));
            table.add_row(score.row());
        }
    }
    println!("{table}");
    Ok(())
}
