//! The part that all searches share. Each comparison is a separate run. The run is made once, and the comparison is
//! judged from the results file.

mod judged;
mod made;

use std::error::Error;
use std::fmt::{self, Display, Formatter};
use std::path::Path;
use std::time::{Duration, Instant};

use dyno_judge::DisturbedTests;
use dyno_lab::{Plan, RunOutcome};
use dyno_report::disturbed_tests;
use dyno_store::RunId;

pub(crate) use judged::{Bar, Compared};
pub(crate) use made::Made;
use made::MadeRuns;

/// Runs the comparisons of a search and reports its progress to the user.
pub trait Lab {
    /// Runs a plan. Without a seed, the run gets a new one. Returns `None` if the user stopped the run.
    ///
    /// # Errors
    /// The plan cannot be run.
    fn run(&self, plan: &Plan, seed: Option<u64>, resume: bool) -> anyhow::Result<Option<RunOutcome>>;

    /// Shows the user what happens next, in one line.
    fn tell(&self, line: &str);
}

/// The error that a run has no verdict because neighbours (other processes or guests of the host) disturbed its
/// rounds.
#[derive(Debug)]
pub struct DisturbedHost {
    pub run: RunId,
    pub found: DisturbedTests,
}

impl Display for DisturbedHost {
    fn fmt(&self, to: &mut Formatter<'_>) -> fmt::Result {
        let found = disturbed_tests(&self.found);
        write!(to, "run {}: {found}; quiet the host, or count such rounds with --count-disturbed", self.run)
    }
}

impl Error for DisturbedHost {}

/// A search in progress.
pub(crate) struct Session<'a> {
    lab: &'a dyn Lab,
    results: &'a Path,
    seed: Option<u64>,
    made: MadeRuns,
    began: Instant,
    /// Duration of the longest comparison in this process.
    longest: Duration,
}

impl<'a> Session<'a> {
    /// Begins a search. Its comparisons are runs of plans named `plan_name`.
    pub(crate) fn begin(
        lab: &'a dyn Lab,
        results: &'a Path,
        seed: Option<u64>,
        plan_name: &str,
    ) -> anyhow::Result<Self> {
        let made = MadeRuns::read(results, plan_name)?;
        Ok(Self { lab, results, seed, made, began: Instant::now(), longest: Duration::ZERO })
    }

    pub(crate) fn tell(&self, line: &str) {
        self.lab.tell(line);
    }

    /// Time since the search began.
    pub(crate) fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }

    pub(crate) fn longest(&self) -> Duration {
        self.longest
    }

    /// Returns the comparison of a plan if an earlier run of the search has made it.
    pub(crate) fn made(&self, plan: &Plan) -> Option<Made> {
        self.made.of(plan)
    }

    /// Judges a comparison whose run is in the results file.
    pub(crate) fn judge(&self, run: RunId, bar: &Bar<'_>) -> anyhow::Result<Compared> {
        bar.judge(self.results, run)
    }

    /// Compares the two systems of a plan. If `reuse` allows it, a comparison from an earlier run of the search is
    /// judged without a new run. An interrupted comparison is resumed. A comparison is repeated if neighbours (other
    /// processes or guests of the host) disturbed it, or if it failed for a reason that cannot be the difference
    /// between the systems. `what` describes the comparison to the user. Returns `None` if the user stopped the
    /// comparison.
    ///
    /// # Errors
    /// The comparison cannot be run, or neighbours disturbed it too much for a verdict.
    pub(crate) fn compare(
        &mut self,
        plan: &Plan,
        bar: &Bar<'_>,
        what: &str,
        reuse: Reuse,
    ) -> anyhow::Result<Option<Compared>> {
        let began = Instant::now();
        let compared = self.compare_once(plan, bar, what, reuse)?;
        self.longest = self.longest.max(began.elapsed());
        Ok(compared)
    }

    fn compare_once(
        &mut self,
        plan: &Plan,
        bar: &Bar<'_>,
        what: &str,
        reuse: Reuse,
    ) -> anyhow::Result<Option<Compared>> {
        match self.made.of(plan) {
            Some(Made::Complete(run)) => {
                let compared = self.judge(run, bar)?;
                let failed = compared.failed_by_accident
                    || (reuse == Reuse::Started
                        && (compared.not_started.is_some() || compared.failure.is_some()));
                let why = match (failed, compared.disturbed) {
                    (true, _) => "failed",
                    (false, Some(_)) => "was disturbed",
                    (false, None) => {
                        self.tell(&format!("{what}: taken from run {run}"));
                        return Ok(Some(compared));
                    }
                };
                self.tell(&format!("comparing {what} again, which {why} in run {run}"));
                self.measure(plan, bar, false)
            }
            Some(Made::Interrupted(run)) if made::is_last(self.results, &plan.name, run)? => {
                self.tell(&format!("going on to compare {what}"));
                self.measure(plan, bar, true)
            }
            Some(Made::Interrupted(_)) | None => {
                self.tell(&format!("comparing {what}"));
                self.measure(plan, bar, false)
            }
        }
    }

    fn measure(&mut self, plan: &Plan, bar: &Bar<'_>, resume: bool) -> anyhow::Result<Option<Compared>> {
        // Each comparison gets its own seed. If all comparisons used the same random numbers, the comparison that
        // must confirm a lucky result would repeat that result.
        let seed = self.seed.map(|seed| of_plan(seed, plan));
        let Some(outcome) = self.lab.run(plan, seed, resume)?.filter(|outcome| !outcome.interrupted) else {
            return Ok(None);
        };
        self.made.add(plan, outcome.run);
        let compared = self.judge(outcome.run, bar)?;
        match compared.disturbed {
            Some(found) => Err(DisturbedHost { run: outcome.run, found }.into()),
            None => Ok(Some(compared)),
        }
    }
}

/// Which comparisons from earlier runs of the search may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reuse {
    /// All comparisons, including those that show that a system does not start or work.
    All,
    /// Only comparisons in which both systems started and worked. A failure in an earlier run may have had a
    /// temporary reason.
    Started,
}

/// Returns the seed of a comparison: the command's seed, the record of the search and the text of the plan, mixed by
/// FNV-1a (RFC 9923).
fn of_plan(seed: u64, plan: &Plan) -> u64 {
    let compared = serde_json::json!(plan.search).to_string();
    let bytes = compared.bytes().chain(plan.text.bytes());
    bytes.fold(seed, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
