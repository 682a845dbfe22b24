//! Finds the version that made a test slower, by binary search between a good and a bad version.

use std::path::Path;

use anyhow::{Context as _, ensure};
use dyno_engine::{Catalogue, EngineName, Entry, SystemName};
use dyno_judge::{Bisection, BisectionStep, GateOutcome, ProbeEffect, VersionVerdict};
use dyno_lab::{Decision, Plan};
use dyno_settings::Profile;
use dyno_stats::Margin;
use dyno_store::{RunId, SearchQuestion};

use crate::images;
use crate::session::{Bar, Lab, Reuse, Session};

/// The probability that a whole search contains any false verdict.
const ALPHA: f64 = 0.05;
/// The longest time for which a version is measured in a round, in seconds, unless the user asks for more. A lower
/// limit would save little, because restarts take longer anyway.
const SECONDS_MAX: f64 = 1.0;
/// The prefix of the names of a search's plans.
const PLANS: &str = "bisect-";

/// What a search looks for: the test, the versions to try, and how to judge them.
#[derive(Debug)]
pub struct Bisect {
    /// The id of the step that is compared.
    pub test: String,
    /// The versions, from a good one to a bad one.
    pub versions: Vec<EngineName>,
    /// The settings profile that all versions run with.
    pub profile: Profile,
    /// Largest number of rounds in a comparison.
    pub rounds_max: u32,
    /// The smallest difference in speed that matters.
    pub margin: Margin,
}

/// The verdict on a version.
#[derive(Debug)]
pub struct Tested<'a> {
    pub version: &'a EngineName,
    /// The good version with which `version` was compared.
    pub good: &'a EngineName,
    pub verdict: VersionVerdict,
    /// The rate of `version` as a multiple of the rate of `good`; `None` without figures of both.
    pub effect: Option<ProbeEffect>,
    /// Why one of the two versions did not start; `None` if both started.
    pub not_started: Option<String>,
    pub run: RunId,
}

/// How a search ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bisected {
    /// The result of the search.
    pub step: BisectionStep,
    /// The verdict of the most recent comparison.
    pub last: VersionVerdict,
    /// Indices of the versions whose comparison failed because a server did not start.
    pub not_started: Vec<usize>,
}

impl Bisected {
    /// Whether the search is undecided and more rounds might decide it. More rounds do not help if a version does
    /// not start, or if comparisons contradict each other.
    pub fn is_undecided(&self) -> bool {
        let failed = |version: usize| self.not_started.contains(&version);
        match &self.step {
            BisectionStep::NoRegression => {
                self.last == VersionVerdict::Unclear && self.not_started.is_empty()
            }
            BisectionStep::Unconfirmed { bad, .. } => self.last == VersionVerdict::Unclear && !failed(*bad),
            BisectionStep::OneOf { versions } => !versions.clone().any(failed),
            BisectionStep::Found { .. } | BisectionStep::Test { .. } | BisectionStep::Confirm { .. } => false,
        }
    }
}

/// Returns all versions of an engine between two versions, oldest first. These are the versions in the catalogue
/// and, for each series that the catalogue lacks, the newest published version.
///
/// # Errors
/// A version is not known, the two versions belong to different engines, or `bad` is not later than `good`.
pub fn between(
    good: &SystemName,
    bad: &SystemName,
    catalogue: &Catalogue,
) -> anyhow::Result<Vec<EngineName>> {
    let (oldest, newest) = (catalogue.find(good)?, catalogue.find(bad)?);
    ensure!(
        good.engine == bad.engine,
        "{good} and {bad} are not versions of one engine; list the versions to try with --versions"
    );
    let between = catalogue.between(&oldest, &newest);
    ensure!(
        between.len() > 1,
        "{bad} is not later than {good}; a search goes from an older version to a newer one"
    );
    let name = |entry: Entry| SystemName {
        engine: entry.engine.clone(),
        version: Some(entry.version.clone()),
        storage_engine: good.storage_engine.clone(),
    };
    Ok(between.into_iter().map(|entry| EngineName::Catalogue(name(entry))).collect())
}

impl Bisect {
    /// Returns the plan of a search, with only the test and the loads that it needs. The test is measured for
    /// `seconds`. The default is the time in `plan`, but at most 1 s.
    ///
    /// # Errors
    /// The plan has no such step.
    pub fn plan(&self, mut plan: Plan, seconds: Option<f64>) -> anyhow::Result<Plan> {
        plan.keep_one_test(&self.test, None, seconds, SECONDS_MAX)?;
        plan.name = format!("{PLANS}{}", self.test);
        Ok(plan)
    }

    /// Searches, and calls `on_verdict` with each verdict. Comparisons that are in the results file are not repeated,
    /// unless the name of a version now refers to another image or to a new build in the same folder. Returns `None` if
    /// the user stopped the search.
    ///
    /// # Errors
    /// A comparison cannot be made, or neighbours (other processes or guests of the host) disturbed it too much for a
    /// verdict.
    pub fn search(
        &self,
        plan: &Plan,
        catalogue: &Catalogue,
        (lab, results, seed): (&dyn Lab, &Path, Option<u64>),
        on_verdict: &mut dyn FnMut(&Tested<'_>) -> anyhow::Result<()>,
    ) -> anyhow::Result<Option<Bisected>> {
        let mut bisection =
            Bisection::new(self.versions.len()).context("a search takes two versions or more")?;
        let comparisons_max = bisection.comparisons_max();
        let images = self.versions.iter().filter_map(|version| match version {
            EngineName::Image(name) => Some(name),
            EngineName::Catalogue(_) | EngineName::Basedir(_) => None,
        });
        images::bring(images, lab)?;
        let mut session = Session::begin(lab, results, seed, &plan.name)?;
        let (mut last, mut confirmations, mut not_started) = (VersionVerdict::Unclear, 0, Vec::new());
        loop {
            let step = bisection.next_step();
            let (good, tested, confirmation) = match step {
                BisectionStep::Test { version } => (0, version, 0),
                BisectionStep::Confirm { good, bad } => (good, bad, confirmations + 1),
                step => return Ok(Some(Bisected { step, last, not_started })),
            };
            let (good, version) = (&self.versions[good], &self.versions[tested]);
            let question = SearchQuestion::Bisection {
                profile: self.profile.name.clone(),
                comparisons_max,
                margin: self.margin.relative(),
                confirmation,
            };
            let decision = Decision {
                rounds_max: self.rounds_max,
                alpha: ALPHA / comparisons_max as f64,
                margin: self.margin,
            };
            let pair =
                plan.clone().between_two([good, version], &self.profile, decision, catalogue, question)?;
            let Some(found) = self.compare(&mut session, &pair, [good, version], comparisons_max)? else {
                return Ok(None);
            };
            on_verdict(&found)?;
            if found.not_started.is_some() {
                not_started.push(tested);
            }
            match step {
                BisectionStep::Confirm { .. } => bisection.note_confirmation(found.verdict),
                _ => bisection.note(tested, found.verdict),
            }
            last = found.verdict;
            confirmations = confirmations.max(confirmation);
        }
    }

    fn compare<'a>(
        &self,
        session: &mut Session<'_>,
        pair: &Plan,
        [good, version]: [&'a EngineName; 2],
        comparisons_max: usize,
    ) -> anyhow::Result<Option<Tested<'a>>> {
        let bar = Bar {
            tests: std::slice::from_ref(&self.test),
            alpha: ALPHA / comparisons_max as f64,
            margin: self.margin,
        };
        let what = format!("{version} with {good}");
        let compared = session.compare(pair, &bar, &what, Reuse::Started)?;
        Ok(compared.map(|compared| {
            let verdict = match (&compared.not_started, compared.outcome) {
                // A comparison in which a version did not start gives no information about the version's speed.
                (Some(_), _) | (None, GateOutcome::NotDecided) => VersionVerdict::Unclear,
                (None, GateOutcome::NoneRegressed) => VersionVerdict::Good,
                (None, GateOutcome::SomeRegressed) => VersionVerdict::Bad,
            };
            // A version without figures is an answer here.
            let effect = compared.effect(&good.to_string()).ok().flatten();
            let (not_started, run) = (compared.not_started, compared.run);
            Tested { version, good, verdict, effect, not_started, run }
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_rounds_decide_what_noise_left_open_and_nothing_else() {
        use VersionVerdict::{Bad, Good, Unclear};
        let one_of = BisectionStep::OneOf { versions: 1..3 };
        let unconfirmed = BisectionStep::Unconfirmed { good: 1, bad: 2 };
        for (step, last, not_started, is_undecided) in [
            (BisectionStep::Found { first_bad: 2 }, Bad, vec![], false),
            (BisectionStep::NoRegression, Good, vec![], false),
            (BisectionStep::NoRegression, Unclear, vec![], true),
            (BisectionStep::NoRegression, Unclear, vec![2], false),
            (unconfirmed.clone(), Unclear, vec![], true),
            (unconfirmed.clone(), Unclear, vec![1], true),
            (unconfirmed.clone(), Unclear, vec![2], false),
            (unconfirmed, Good, vec![], false),
            (one_of.clone(), Unclear, vec![], true),
            (one_of.clone(), Good, vec![0, 3], true),
            (one_of, Good, vec![1], false),
        ] {
            let found = Bisected { step, last, not_started };
            assert_eq!(found.is_undecided(), is_undecided, "{found:?}");
        }
    }
}
