//! Calibration on real servers: the share of false verdicts between equal systems, the share of intervals that contain
//! the true ratio, and the share of planted differences that are found.
//!
//! ```console
//! $ cargo run --release -p dyno-bench -- truth
//! ```

mod neighbour;
mod plans;
mod scores;

use std::env;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use clap::Args;
use dyno_engine::{Cache, Catalogue};
use dyno_lab::{Event, Observer, Plan, RunOptions};
use dyno_store::{Run, RunChoice, Store};

use self::neighbour::Neighbour;
use self::plans::{Planted, equals, planted};
use self::scores::{Score, agreement, false_alarms, found, half_width};
use crate::pair;

/// Rounds of whole trials: the fewest that give a verdict.
const BIAS_ROUNDS: u32 = 3;

#[derive(Args)]
pub(crate) struct Options {
    /// Least number of verdicts on equal systems. Half as many are made beside a busy neighbour.
    #[arg(long, default_value_t = 200)]
    verdicts: u32,
    /// Rounds of each verdict on equal systems.
    #[arg(long, default_value_t = 6)]
    rounds: u32,
    /// Searches for each planted difference.
    #[arg(long, default_value_t = 10)]
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
    let steps = plans::EQUALS_STEPS;
    if wants(Part::Equals) {
        let run = measure(&equals(options.verdicts, options.rounds, steps), &results)?;
        scores.extend(false_alarms("equals", &run, options.rounds));
    }
    if wants(Part::Neighbour) {
        let _busy = Neighbour::start();
        let run = measure(&equals(options.verdicts / 2, options.rounds, steps), &results)?;
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
    // Whole trials alone take 20 minutes.
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

/// Runs a plan and returns its results.
fn measure(text: &str, results: &std::path::Path) -> anyhow::Result<Run> {
    let began = Instant::now();
    let plan = Plan::parse(text, "truth.toml", std::path::Path::new(""), &Catalogue::builtin())?;
    let stop = AtomicBool::new(false);
    let options = RunOptions {
        results: results.to_owned(),
        seed: began.elapsed().as_nanos() as u64 ^ u64::from(std::process::id()),
        resume: false,
        strict: false,
        driver_program: env::current_exe()?,
        cache: Cache::default_location(),
        dyno_version: env!("CARGO_PKG_VERSION").to_owned(),
        command_line: "dyno-bench truth".to_owned(),
        stop: &stop,
        patience: Duration::from_secs(60),
    };
    let ended = dyno_lab::run(&plan, &options, &mut Rounds)?;
    println!("{}: {:.0} s", plan.title, began.elapsed().as_secs_f64());
    anyhow::ensure!(ended.failed_trials == 0, "{} trials failed", ended.failed_trials);
    Ok(Store::open_read_only(results)?.load_run(RunChoice::Id(ended.run))?)
}

/// Prints the rounds only.
struct Rounds;

impl Observer for Rounds {
    fn observe(&mut self, event: &Event<'_>) {
        if let Event::RoundStarted { round, of } = event
            && round % 10 == 0
        {
            eprintln!("round {round} of {of}");
        }
    }
}
