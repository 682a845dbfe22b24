//! Calibration on real servers. It measures how often verdicts between equal systems are false, how often intervals
//! contain the true ratio, and how often a search finds a planted difference within its wall time. It also compares the
//! variance of ratios that are measured in slices with the variance of ratios of systems that run one after the other.
//!
//! ```console
//! $ cargo run --release -p dyno-bench -- truth --keep truth.db --minutes 45 --resume
//! ```
//!
//! If a paused command is repeated, it continues where it paused. At each pause, it prints a table of everything that
//! was measured until then. With `--minutes 0`, it measures nothing, and prints the table of what the results file has.

mod equals;
pub(super) mod experiments;
mod nights;
mod plans;
mod rounds;
pub(super) mod score;
mod scores;
mod sessions;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args;
use dyno_store::Run;

use self::plans::{ENGINE, EQUAL_ENGINES, FIRST_LOOK_SECONDS, Planted, planted};
use self::score::Score;
use crate::support::pair;
use crate::support::plan_run::{Pause, run_plan_on};

/// Number of rounds when slices are compared with whole trials.
const BIAS_ROUNDS: u32 = 6;
const SEQUENTIAL_ROUNDS: u32 = 24;
const FIRST_LOOKS: u32 = 3;

#[derive(Args)]
pub(crate) struct Options {
    /// Families of tests between equal systems [default: 60 for MariaDB, 20 for the others]
    #[arg(long)]
    families: Option<u32>,
    /// Only this engine of the equal systems [default: MariaDB 10.11, MySQL 9.7, PostgreSQL 18, SQLite]
    #[arg(long)]
    engine: Option<String>,
    /// Searches for each planted difference [default: 30 for 2%, 40 for 5%]
    #[arg(long)]
    searches: Option<u32>,
    /// Run only this part. The part `bias` runs only if named.
    #[arg(long)]
    only: Option<Part>,
    /// Write the results file here.
    #[arg(long, value_name = "FILE")]
    keep: Option<PathBuf>,
    /// Pause after this time.
    #[arg(long, requires = "keep")]
    minutes: Option<u32>,
    /// Use the runs that the results file has, and resume one that was paused.
    #[arg(long, requires = "keep")]
    resume: bool,
}

/// A part of the calibration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Part {
    /// The fewest rounds for verdicts on 24 and on 296 tests, without servers.
    Rounds,
    /// Equal systems, on each engine.
    Equals,
    /// A difference of 2%.
    TwoPercent,
    /// A difference of 5%.
    FivePercent,
    /// The built-in plan `first-look`, for four minutes.
    FirstLook,
    /// How wide the interval of a ratio is after one minute of measuring.
    Width,
    /// The variance of ratios that are measured in slices, compared with the variance of ratios of systems that run one
    /// after the other.
    Sequential,
    /// Whether ratios of slices agree with those of whole trials of a minute.
    Bias,
}

/// Computes the table rows of a part from a run.
type Scores = dyn Fn(&Run) -> Vec<Score>;

/// A run of a part.
struct Measurement {
    plan: String,
    time_max: Option<Duration>,
    scores: Box<Scores>,
}

impl Measurement {
    fn new(plan: String, scores: impl Fn(&Run) -> Vec<Score> + 'static) -> Self {
        Self { plan, time_max: None, scores: Box::new(scores) }
    }
}

impl Part {
    const USUAL: [Self; 7] = [
        Self::Rounds,
        Self::Equals,
        Self::TwoPercent,
        Self::FivePercent,
        Self::FirstLook,
        Self::Width,
        Self::Sequential,
    ];

    fn measurements(self, options: &Options) -> Vec<Measurement> {
        let search = |it: Planted, name: &str| {
            let plan = planted(it, name, options.searches.unwrap_or(it.searches));
            vec![Measurement::new(plan, move |run| scores::found(it, run))]
        };
        match self {
            Self::Rounds => Vec::new(),
            Self::Equals => equal_engines(options)
                .into_iter()
                .map(|(engine, families)| Measurement::new(plans::equals(&engine, families), equals::scores))
                .collect(),
            Self::TwoPercent => search(Planted::TWO_PERCENT, "two-percent"),
            Self::FivePercent => search(Planted::FIVE_PERCENT, "five-percent"),
            Self::FirstLook => (1..=FIRST_LOOKS)
                .map(|number| Measurement {
                    time_max: Some(Duration::from_secs_f64(FIRST_LOOK_SECONDS)),
                    ..Measurement::new(plans::first_look(number), scores::decided)
                })
                .collect(),
            Self::Width => vec![Measurement::new(plans::width(), scores::half_width)],
            Self::Sequential => {
                vec![Measurement::new(
                    plans::sequential(SEQUENTIAL_ROUNDS),
                    scores::variance_beside_sequential,
                )]
            }
            Self::Bias => vec![Measurement::new(plans::bias(BIAS_ROUNDS), scores::agreement)],
        }
    }
}

/// Returns the engines of the equal systems, each with its number of families.
fn equal_engines(options: &Options) -> Vec<(String, u32)> {
    let families = |usual: u32| options.families.unwrap_or(usual);
    match &options.engine {
        Some(engine) => vec![(engine.clone(), families(if engine == ENGINE { 60 } else { 20 }))],
        None => EQUAL_ENGINES.map(|(engine, usual)| (engine.to_owned(), families(usual))).into(),
    }
}

pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let results = options.keep.clone().unwrap_or_else(|| folder.path().join("truth.db"));
    let minutes = options.minutes.map(|minutes| Duration::from_secs(60 * u64::from(minutes)));
    let pause = Pause { at: minutes.map(|minutes| Instant::now() + minutes), resume: options.resume };
    let parts = options.only.map_or(Part::USUAL.to_vec(), |only| vec![only]);
    let mut table = pair::table(&["what", "of", "measured", "interval", "goal", ""]);
    let mut is_paused = false;
    for part in parts {
        let mut scores = if part == Part::Rounds { rounds::scores() } else { Vec::new() };
        for measurement in part.measurements(options) {
            let Measurement { plan, time_max, scores: of_run } = measurement;
            let measured = run_plan_on(&plan, "truth", &results, time_max, pause)?;
            is_paused |= measured.as_ref().is_none_or(|measured| measured.is_paused);
            scores.extend(measured.iter().flat_map(|measured| of_run(&measured.run)));
            if is_paused {
                break;
            }
        }
        for score in scores {
            eprintln!("{}", score.row().join(" | "));
            table.add_row(score.row());
        }
        if is_paused {
            break;
        }
    }
    println!("{table}");
    if is_paused {
        println!(
            "paused: the last part has only the rounds until now; the same command with --resume continues"
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use dyno_engine::Catalogue;
    use dyno_lab::{Plan, Rounds};

    use super::*;

    fn plans(options: &Options) -> Vec<Plan> {
        let parts = Part::USUAL.into_iter().chain([Part::Bias]);
        let texts = parts.flat_map(|part| part.measurements(options)).map(|measurement| measurement.plan);
        let catalogue = Catalogue::builtin();
        texts.map(|text| Plan::parse(&text, "truth.toml", Path::new(""), &catalogue).unwrap()).collect()
    }

    fn options() -> Options {
        Options {
            families: None,
            engine: None,
            searches: None,
            only: None,
            keep: None,
            minutes: None,
            resume: false,
        }
    }

    #[test]
    fn every_part_has_plans_with_names_of_their_own_so_that_each_can_be_resumed() {
        let plans = plans(&options());
        let names: BTreeSet<&str> = plans.iter().map(|plan| plan.name.as_str()).collect();
        assert_eq!((names.len(), plans.len()), (12, 12), "{names:?}");
        let rounds = |name: &str| plans.iter().find(|plan| plan.name == name).unwrap().rounds;
        assert_eq!(rounds("truth-equals-mariadb"), Rounds::Fixed(600));
        assert_eq!(rounds("truth-equals-sqlite"), Rounds::Fixed(200));
        assert_eq!(rounds("truth-two-percent"), Rounds::Fixed(600));
        assert!(matches!(rounds("truth-first-look-3"), Rounds::UntilDecided(_)));
        assert!(plans.iter().all(|plan| plan.too_few_rounds().is_none()));
    }

    #[test]
    fn sizes_are_chosen_on_the_command_line() {
        let chosen = Options { families: Some(2), engine: Some("sqlite".to_owned()), ..options() };
        let of_equals: Vec<Plan> =
            plans(&chosen).into_iter().filter(|plan| plan.name.starts_with("truth-equals")).collect();
        let [only] = &of_equals[..] else { panic!("one engine") };
        assert_eq!((only.name.as_str(), only.rounds), ("truth-equals-sqlite", Rounds::Fixed(20)));
    }
}
