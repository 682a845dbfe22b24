//! `dyno bisect`: which version brought a regression.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, bail, ensure};
use clap::Args;
use dyno_engine::{Catalogue, SystemName};
use dyno_judge::{Bisection, BisectionStep, GateOutcome, VersionVerdict};
use dyno_lab::{Decision, Plan, Version};
use dyno_printable::printable;
use dyno_settings::Profile;
use dyno_stats::Margin;

use super::probe::{Bar, Prober};
use super::run::{self, RunFlags};
use crate::arguments::margin;
use crate::{interrupt, output};

/// Find the version that made a test slower, by binary search between a good and a bad version
#[derive(Debug, Args)]
#[command(
    after_help = "Each version is compared with the good one, in rounds that start both anew, until it is decided
which is better: the last one first, then always the one in the middle of what is left. What was
found is confirmed: the version is compared with the one before it. The chance that any of these
comparisons errs is 5%.

Exit status: 0 the version was found, or there is no regression; 1 it could not be told which version it is;
3 neighbours disturbed a comparison, so that nothing is decided.

Examples:
  dyno bisect --good mysql@5.6.24 --bad mysql@9.7.4 point-query
  dyno bisect --good mariadb@10.1.23 --bad mariadb@11.8 update-index --seconds 5
  dyno bisect --versions mysql@5.6.24,mariadb@10.2.11,mariadb@10.11 point-query
  dyno bisect --basedir build/v1 --basedir build/v2 --basedir build/v3 point-query"
)]
pub(crate) struct Bisect {
    /// The step to compare
    test: String,
    /// A version known to be good
    #[arg(long, value_name = "SYSTEM", requires = "bad", required_unless_present_any = ["versions", "basedirs"])]
    good: Option<String>,
    /// A later version of the same engine, known to be bad
    #[arg(long, value_name = "SYSTEM", requires = "good")]
    bad: Option<String>,
    /// Versions to search, from a good one to a bad one, instead of all that the catalogue has between the two
    #[arg(long, value_name = "SYSTEMS", value_delimiter = ',', conflicts_with_all = ["good", "bad"])]
    versions: Vec<String>,
    /// Folder of a build to search; repeat it for each build, from a good one to a bad one
    #[arg(long = "basedir", value_name = "PATH", conflicts_with_all = ["good", "bad", "versions"])]
    basedirs: Vec<PathBuf>,
    /// Plan that has the step, and the loads before it
    #[arg(long, default_value = "first-look")]
    plan: String,
    /// Profile of settings for all versions
    #[arg(long, default_value = "like-56")]
    profile: String,
    /// Most rounds of a comparison; without a verdict by then it stays open
    #[arg(long, value_name = "N", default_value_t = 12, value_parser = clap::value_parser!(u32).range(6..=1000))]
    rounds_max: u32,
    /// Least difference that matters
    #[arg(long, value_name = "PERCENT", default_value = "2%", value_parser = margin)]
    margin: Margin,
    /// Measured seconds of each version in a round; by default the plan's, at most 1
    #[arg(long, value_name = "SECONDS", value_parser = run::positive_seconds)]
    seconds: Option<f64>,
    /// Scale the plan: a factor, or the name of a scale of the plan
    #[arg(long, value_name = "FACTOR")]
    scale: Option<String>,
    #[command(flatten)]
    flags: RunFlags,
}

/// The error probability of a whole search.
const ALPHA: f64 = 0.05;
/// Measured seconds of a version in a round unless the user asks for more. Restarts take longer anyway.
const SECONDS_MAX: f64 = 1.0;

impl Bisect {
    pub(crate) fn execute(self) -> anyhow::Result<ExitCode> {
        let catalogue = Catalogue::load()?;
        let versions = self.ladder(&catalogue)?;
        let mut bisection = Bisection::new(versions.len()).context("a search takes two versions or more")?;
        let search = Search {
            plan: self.steps(&catalogue)?,
            profile: Profile::find(&self.profile)?,
            alpha: ALPHA / bisection.comparisons_max() as f64,
            catalogue,
            asked: &self,
        };
        let mut last = VersionVerdict::Unclear;
        loop {
            let step = bisection.next_step();
            let (good, tested) = match step {
                BisectionStep::Test { version } => (0, version),
                BisectionStep::Confirm { good, bad } => (good, bad),
                end => return conclude(&end, last, &versions, &self.test),
            };
            let Some(judged) = search.compare(&versions[good], &versions[tested])? else {
                return Ok(interrupt::exit_code());
            };
            match step {
                BisectionStep::Confirm { .. } => bisection.note_confirmation(judged),
                _ => bisection.note(tested, judged),
            }
            last = judged;
        }
    }

    /// The versions to search, oldest first.
    fn ladder(&self, catalogue: &Catalogue) -> anyhow::Result<Vec<Version>> {
        let (Some(good), Some(bad)) = (&self.good, &self.bad) else {
            let named = self.versions.iter().cloned().map(Version::Catalogue);
            return Ok(named.chain(self.basedirs.iter().cloned().map(Version::Basedir)).collect());
        };
        let place = |name: &str| -> anyhow::Result<(SystemName, usize)> {
            let name: SystemName = name.parse()?;
            let entry = catalogue.find(&name)?;
            let is_it = |other: &dyno_engine::Entry| other.to_string() == entry.to_string();
            Ok((name, catalogue.entries().iter().position(is_it).context("an entry is in its catalogue")?))
        };
        let ((good_name, oldest), (bad_name, newest)) = (place(good)?, place(bad)?);
        ensure!(
            good_name.engine == bad_name.engine,
            "{good} and {bad} are no versions of one engine; name every step of the way with --versions"
        );
        // The catalogue has the newest version first.
        ensure!(
            newest < oldest,
            "{bad} is not later than {good}; a search goes from an older version to a newer one"
        );
        let storage_engine = good_name.storage_engine.map_or(String::new(), |name| format!("/{name}"));
        let between = catalogue.entries()[newest..=oldest].iter().rev();
        Ok(between.map(|entry| Version::Catalogue(format!("{entry}{storage_engine}"))).collect())
    }

    /// The steps of the search: the plan's loads and the test.
    fn steps(&self, catalogue: &Catalogue) -> anyhow::Result<Plan> {
        let mut plan = Plan::find(&self.plan, catalogue)?;
        if let Some(scale) = &self.scale {
            let scale = plan.scale_of(scale)?;
            plan = plan.scaled(&scale);
        }
        plan.keep_one_test(&self.test, None, self.seconds, SECONDS_MAX)?;
        plan.name = format!("bisect-{}", self.test);
        Ok(plan)
    }
}

/// The comparisons of a search.
struct Search<'a> {
    asked: &'a Bisect,
    plan: Plan,
    profile: Profile,
    catalogue: Catalogue,
    /// The error probability of each comparison.
    alpha: f64,
}

impl Search<'_> {
    /// Compares a version with a good one, and prints the verdict. None if the user stopped it.
    fn compare(&self, good: &Version, tested: &Version) -> anyhow::Result<Option<VersionVerdict>> {
        let (plan, flags) = (self.plan.clone(), &self.asked.flags);
        let Bisect { rounds_max, margin, .. } = *self.asked;
        let decision = Decision { rounds_max, alpha: self.alpha, margin };
        let two = plan.between_two([good, tested], &self.profile, decision, &self.catalogue)?;
        output::tell(&format!("comparing {tested} with {good}"));
        let tests = std::slice::from_ref(&self.asked.test);
        let prober = Prober { flags, bar: Bar { tests, alpha: self.alpha, margin } };
        let Some(compared) = prober.compare(&two, false)? else { return Ok(None) };
        let judged = match (&compared.not_started, compared.outcome) {
            // That a version does not start says nothing about its speed.
            (Some(_), _) | (None, GateOutcome::NotDecided) => VersionVerdict::Unclear,
            (None, GateOutcome::NoneRegressed) => VersionVerdict::Good,
            (None, GateOutcome::SomeRegressed) => VersionVerdict::Bad,
        };
        let words = match (judged, compared.not_started) {
            (_, Some(message)) => message,
            (VersionVerdict::Good, None) => format!("not worse than {good}"),
            (VersionVerdict::Bad, None) => format!("worse than {good}"),
            (VersionVerdict::Unclear, None) => "not decided".to_owned(),
        };
        output::print(&format!("{tested:<32} {} (run {})\n", printable(&words), compared.run))?;
        Ok(Some(judged))
    }
}

/// Prints how the search ended after the `last` verdict, and returns the exit status.
fn conclude(
    end: &BisectionStep,
    last: VersionVerdict,
    versions: &[Version],
    test: &str,
) -> anyhow::Result<ExitCode> {
    let (sentence, code) = match end {
        BisectionStep::Found { first_bad } => {
            let (before, first) = (&versions[first_bad - 1], &versions[*first_bad]);
            (format!("{first} made {test} slower; {before} was not."), ExitCode::SUCCESS)
        }
        BisectionStep::Unconfirmed { good, bad } => {
            let (before, likely) = (&versions[*good], &versions[*bad]);
            (
                format!(
                    "{likely} is slower than {} in {test}, and {before} is not; but compared with {before}, that was \
                     not confirmed: give it more rounds (--rounds-max).",
                    versions[0]
                ),
                ExitCode::FAILURE,
            )
        }
        BisectionStep::OneOf { versions: range } => {
            let names: Vec<_> = versions[range.clone()].iter().map(ToString::to_string).collect();
            let names = names.join(", ");
            (
                format!(
                    "One of {names} made {test} slower; more rounds, or versions that start, would tell which."
                ),
                ExitCode::FAILURE,
            )
        }
        BisectionStep::NoRegression => {
            let newest = &versions[versions.len() - 1];
            match last {
                VersionVerdict::Unclear => (
                    format!(
                        "Whether {newest} is slower in {test} was not decided; give it more rounds (--rounds-max)."
                    ),
                    ExitCode::FAILURE,
                ),
                _ => (
                    format!("{newest} is not slower in {test}: there is nothing to search."),
                    ExitCode::SUCCESS,
                ),
            }
        }
        BisectionStep::Test { .. } | BisectionStep::Confirm { .. } => bail!("the search has not ended"),
    };
    output::print(&format!("{sentence}\n"))?;
    Ok(code)
}
