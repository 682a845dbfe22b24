//! Finds the version that made a test slower, by binary search between a good and a bad version.

use std::path::Path;

use anyhow::{Context as _, ensure};
use dyno_engine::{Catalogue, Entry, SystemName};
use dyno_judge::{Bisection, BisectionStep, GateOutcome, VersionVerdict};
use dyno_lab::{Decision, Plan, Version};
use dyno_settings::Profile;
use dyno_stats::Margin;
use dyno_store::{RunId, SearchQuestion};

use crate::session::{Bar, Lab, Reuse, Session};

/// The error probability of a whole search.
const ALPHA: f64 = 0.05;
/// Measured seconds of a version in a round unless the user asks for more. Restarts take longer anyway.
const SECONDS_MAX: f64 = 1.0;
/// The prefix of its plans' names.
const PLANS: &str = "bisect-";

/// The versions and the test of a search.
#[derive(Debug)]
pub struct Bisect {
    /// The step that is compared.
    pub test: String,
    /// The versions, from a good one to a bad one.
    pub versions: Vec<Version>,
    /// The profile for the settings of all versions.
    pub profile: Profile,
    /// Largest number of rounds of a comparison.
    pub rounds_max: u32,
    /// Smaller differences do not matter.
    pub margin: Margin,
}

/// The verdict on a version.
#[derive(Debug)]
pub struct Tested<'a> {
    pub version: &'a Version,
    /// The version that it was compared with.
    pub good: &'a Version,
    pub verdict: VersionVerdict,
    /// Why one of the two did not start; `None` if both did.
    pub not_started: Option<String>,
    pub run: RunId,
}

/// How a search ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bisected {
    /// The result of the search.
    pub step: BisectionStep,
    /// The verdict of the last comparison.
    pub last: VersionVerdict,
}

/// All versions of an engine between two versions, oldest first: those of the catalogue, and the newest published
/// version of each series that the catalogue lacks.
///
/// # Errors
/// One of them is not known, they belong to two engines, or the second is not later.
pub fn between(good: &str, bad: &str, catalogue: &Catalogue) -> anyhow::Result<Vec<Version>> {
    let place = |name: &str| -> anyhow::Result<(SystemName, Entry)> {
        let name: SystemName = name.parse()?;
        let entry = catalogue.find(&name)?;
        Ok((name, entry))
    };
    let ((good_name, oldest), (bad_name, newest)) = (place(good)?, place(bad)?);
    ensure!(
        good_name.engine == bad_name.engine,
        "{good} and {bad} are no versions of one engine; name every step of the way with --versions"
    );
    let between = catalogue.between(&oldest, &newest);
    ensure!(
        between.len() > 1,
        "{bad} is not later than {good}; a search goes from an older version to a newer one"
    );
    let storage_engine = good_name.storage_engine.map_or(String::new(), |name| format!("/{name}"));
    Ok(between.into_iter().map(|entry| Version::Catalogue(format!("{entry}{storage_engine}"))).collect())
}

impl Bisect {
    /// The plan of a search: the test and its loads. The test is measured for `seconds`; by default for its own
    /// time, at most 1 s.
    ///
    /// # Errors
    /// The plan has no such step.
    pub fn plan(&self, mut plan: Plan, seconds: Option<f64>) -> anyhow::Result<Plan> {
        plan.keep_one_test(&self.test, None, seconds, SECONDS_MAX)?;
        plan.name = format!("{PLANS}{}", self.test);
        Ok(plan)
    }

    /// Searches, and calls `on_verdict` with each verdict. Comparisons of catalogue versions that are in the
    /// results file are not repeated. A comparison of a build in a folder is repeated, because the build may have
    /// changed. `None` if the user stopped the search.
    ///
    /// # Errors
    /// A comparison cannot be made, or neighbours disturbed it too much for a verdict.
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
        let mut session = Session::begin(lab, results, seed, &plan.name)?;
        let (mut last, mut confirmations) = (VersionVerdict::Unclear, 0);
        loop {
            let step = bisection.next_step();
            let (good, tested, confirmation) = match step {
                BisectionStep::Test { version } => (0, version, 0),
                BisectionStep::Confirm { good, bad } => (good, bad, confirmations + 1),
                step => return Ok(Some(Bisected { step, last })),
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
        [good, version]: [&'a Version; 2],
        comparisons_max: usize,
    ) -> anyhow::Result<Option<Tested<'a>>> {
        let bar = Bar {
            tests: std::slice::from_ref(&self.test),
            alpha: ALPHA / comparisons_max as f64,
            margin: self.margin,
        };
        let is_build = |version: &&Version| matches!(version, Version::Basedir(_));
        let reuse = if [good, version].iter().any(is_build) { Reuse::Nothing } else { Reuse::Started };
        let what = format!("{version} with {good}");
        let compared = session.compare(pair, &bar, &what, reuse)?;
        Ok(compared.map(|compared| {
            let verdict = match (&compared.not_started, compared.outcome) {
                // A version that does not start says nothing about its speed.
                (Some(_), _) | (None, GateOutcome::NotDecided) => VersionVerdict::Unclear,
                (None, GateOutcome::NoneRegressed) => VersionVerdict::Good,
                (None, GateOutcome::SomeRegressed) => VersionVerdict::Bad,
            };
            Tested { version, good, verdict, not_started: compared.not_started, run: compared.run }
        }))
    }
}
