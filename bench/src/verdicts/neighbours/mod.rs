//! Verdicts while neighbours (other processes) use CPUs. Each run compares a base with an equal system, a system
//! with a planted difference, and another engine.
//!
//! Each run is judged twice: with all rounds, and without disturbed rounds. Reports use the second way.

mod neighbour;
mod plan;

use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};
use std::path::PathBuf;

use clap::Args;
use clap::builder::PossibleValuesParser;
use dyno_judge::{
    DisturbanceLimits, Finding, Rule, TestComparison, TrialChecks, Undecided, analyse, disturbance,
};
use dyno_stats::median;
use dyno_store::Run;

use self::neighbour::{Kind, Neighbour, QUIET};
use crate::support::pair;
use crate::support::plan_run::run_plan;

#[derive(Args)]
pub(crate) struct Options {
    /// Rounds of a run beside each neighbour.
    #[arg(long, default_value_t = 8)]
    rounds: u32,
    /// Only this neighbour, after one run without a neighbour. May be repeated.
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(Kind::ALL.map(|kind| kind.name)))]
    only: Vec<String>,
    /// Runs beside each neighbour.
    #[arg(long, default_value_t = 1)]
    repeats: u32,
    /// Pin threads of servers to their own cores where possible.
    #[arg(long)]
    pin_threads: bool,
    /// Write the results file here.
    #[arg(long, value_name = "FILE")]
    keep: Option<PathBuf>,
}

pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let results = options.keep.clone().unwrap_or_else(|| folder.path().join("neighbours.db"));
    let mut table = pair::table(&[
        "neighbour",
        "others",
        "steal",
        "left out",
        "clients",
        "equal",
        "planted",
        "other engine",
        "with all rounds",
        "as reported",
    ]);
    let is_wanted = |kind: &&Kind| {
        options.only.is_empty() || **kind == QUIET || options.only.iter().any(|name| name == kind.name)
    };
    let (mut with_all, mut as_reported) = (Score::default(), Score::default());
    let mut engines = BTreeMap::new();
    let repeats = |kind: &Kind| if *kind == QUIET && !options.only.is_empty() { 1 } else { options.repeats };
    let kinds = Kind::ALL.iter().filter(is_wanted);
    for kind in kinds.flat_map(|kind| std::iter::repeat_n(kind, repeats(kind) as usize)) {
        let beside = Neighbour::start(*kind)?;
        let run = run_plan(&plan::text(options.rounds, options.pin_threads), "neighbours", &results)?;
        drop(beside);
        let (mut of_all, mut of_reported) = (Tally::default(), Tally::default());
        for clients in [1, 4] {
            let (all, reported) = (tests(&run, clients, true), tests(&run, clients, false));
            if *kind == QUIET
                && let Some((_, quiet)) = reported.iter().find(|(system, _)| system == plan::OTHER)
            {
                engines.entry(clients).or_insert(quiet.finding);
            }
            let engine = engines.get(&clients).copied();
            of_all.add(&all, engine);
            of_reported.add(&reported, engine);
            let (others, steal, left_out, of) = disturbances(&run, clients);
            let ratio = |system: &str| {
                all.iter().find(|(known, _)| known == system).map_or_else(String::new, |it| in_words(&it.1))
            };
            let row = [
                kind.name.to_owned(),
                format!("{:.1}%", 100.0 * others),
                format!("{:.1}%", 100.0 * steal),
                format!("{left_out} of {of}"),
                clients.to_string(),
                ratio(plan::EQUAL),
                ratio(plan::SLOWER),
                ratio(plan::OTHER),
                verdict(&mistakes(&all, engine)),
                verdict(&mistakes(&reported, engine)),
            ];
            eprintln!("{}", row.join(" | "));
            table.add_row(row);
        }
        with_all.add(&of_all);
        as_reported.add(&of_reported);
    }
    println!(
        "{table}\nplanted: {:.4}\nwith all rounds: {with_all}\nas reported: {as_reported}",
        plan::PLANTED
    );
    Ok(())
}

/// The counts of one run. The tests of a run are one family.
#[derive(Default)]
struct Tally {
    /// Number of tests of equal systems that have enough rounds for a verdict.
    could_alarm: usize,
    alarms: usize,
    /// Number of tests of a known difference that have enough rounds for a verdict.
    could_err: usize,
    wrong: usize,
}

/// The counts of all runs.
#[derive(Default)]
struct Score {
    /// Number of families in which a test of equal systems had enough rounds for a verdict.
    families: usize,
    /// Number of families with an alarm between equal systems.
    alarmed: usize,
    tests: Tally,
}

impl Score {
    fn add(&mut self, run: &Tally) {
        self.families += usize::from(run.could_alarm > 0);
        self.alarmed += usize::from(run.alarms > 0);
        self.tests.could_alarm += run.could_alarm;
        self.tests.alarms += run.alarms;
        self.tests.could_err += run.could_err;
        self.tests.wrong += run.wrong;
    }
}

impl Tally {
    fn add(&mut self, tests: &[(String, TestComparison)], engine: Option<Finding>) {
        let judged =
            |it: &&(String, TestComparison)| matches!(it.1.undecided, None | Some(Undecided::Interval));
        let equal = |it: &&(String, TestComparison)| it.0 == plan::EQUAL;
        self.could_alarm += tests.iter().filter(judged).filter(equal).count();
        self.could_err += tests.iter().filter(judged).filter(|it| !equal(it)).count();
        let mistakes = mistakes(tests, engine);
        let alarms = mistakes.iter().filter(|system| **system == plan::EQUAL).count();
        self.alarms += alarms;
        self.wrong += mistakes.len() - alarms;
    }
}

impl Display for Score {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} of {} families with a false alarm; {} false alarms in {} tests of equal systems; {} wrong verdicts in {} \
             tests of known differences",
            self.alarmed,
            self.families,
            self.tests.alarms,
            self.tests.could_alarm,
            self.tests.wrong,
            self.tests.could_err
        )
    }
}

/// Returns the test of each candidate at a number of clients.
fn tests(run: &Run, clients: u32, counts_disturbed: bool) -> Vec<(String, TestComparison)> {
    let mut run = run.clone();
    run.record.counts_disturbed = counts_disturbed;
    let analysis = analyse(&run, &TrialChecks::new(), &Rule::default());
    let candidates = [plan::EQUAL, plan::SLOWER, plan::OTHER];
    let test = |candidate: &str| {
        let comparison = analysis.comparison(plan::BASE, candidate)?;
        let test = comparison.tests.iter().find(|test| test.step == "reads" && test.clients == clients)?;
        Some((candidate.to_owned(), test.clone()))
    };
    candidates.into_iter().filter_map(test).collect()
}

/// Returns the median share of CPU time that other processes used, the median share of stolen time, the number of
/// disturbed rounds, and the number of all rounds.
fn disturbances(run: &Run, clients: u32) -> (f64, f64, usize, usize) {
    let trials = run.trials.iter().map(|trial| &trial.record);
    let of_base =
        trials.filter(|it| it.step_id == "reads" && it.clients == clients && it.system_id == plan::BASE);
    let found: Vec<_> = of_base.filter_map(|it| disturbance(it, &DisturbanceLimits::default())).collect();
    let middle = |values: Vec<f64>| median(&values).unwrap_or(f64::NAN);
    (
        middle(found.iter().map(|it| it.others_share).collect()),
        middle(found.iter().map(|it| it.steal_share).collect()),
        found.iter().filter(|it| it.is_disturbed).count(),
        found.len(),
    )
}

/// Returns the systems with a wrong verdict: equal systems that are judged different, the slower system if it is judged
/// the same or faster, and the other engine if its verdict is the reverse of its verdict on the quiet host.
fn mistakes(tests: &[(String, TestComparison)], engine: Option<Finding>) -> Vec<&str> {
    let is_wrong = |(system, test): &&(String, TestComparison)| match (system.as_str(), test.finding) {
        (plan::EQUAL, Finding::Improved | Finding::Regressed)
        | (plan::SLOWER, Finding::Improved | Finding::Same) => true,
        (plan::OTHER, Finding::Improved) => engine == Some(Finding::Regressed),
        (plan::OTHER, Finding::Regressed) => engine == Some(Finding::Improved),
        _ => false,
    };
    tests.iter().filter(is_wrong).map(|(system, _)| system.as_str()).collect()
}

fn verdict(mistakes: &[&str]) -> String {
    if mistakes.is_empty() { "right".to_owned() } else { format!("wrong: {}", mistakes.join(", ")) }
}

fn in_words(test: &TestComparison) -> String {
    let interval = test.interval.map_or_else(String::new, |it| format!(" [{:.3}, {:.3}]", it.low, it.high));
    test.ratio.map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.3}{interval}"))
}
