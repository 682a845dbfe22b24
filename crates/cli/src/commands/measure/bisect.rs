//! `dyno bisect`: finds the version that introduced a regression.

use std::process::ExitCode;

use anyhow::bail;
use clap::Args;
use dyno_engine::{Catalogue, EngineName, EngineNameError};
use dyno_judge::{BisectionStep, VersionVerdict};
use dyno_lab::Plan;
use dyno_printable::printable;
use dyno_report::ratio_in;
use dyno_search::bisect::{Bisected, Tested, between};
use dyno_settings::Profile;
use dyno_stats::Margin;

use super::run::RunFlags;
use crate::commands::next;
use crate::failure::{self, NOT_DECIDED};
use crate::options::{margin, positive};
use crate::{interrupt, output};

/// Find the version that made a test slower, by binary search between a good and a bad version
#[derive(Debug, Args)]
#[command(
    after_help = "Each version is compared with the good one, in rounds that start fresh servers of both, until it is decided \
whether it is slower. The last version comes first, then always the middle one of the versions that are left. \
Finally the version that was found is compared with the one before it. The chance that any of these comparisons \
errs is 5%. Each comparison is a run in the results file, so after ^C the same command continues. Builds in \
folders and images that have changed since are compared again.

Exit status: 0 the version was found, or there is no regression; 1 the version cannot be determined, because a \
version does not start or comparisons contradict each other; 2 an error; 3 not decided; more rounds or a quiet \
host may decide it.

Examples:
  dyno bisect --good mysql@5.6.24 --bad mysql@9.7.4 point-query
  dyno bisect --good postgres@9.6 --bad postgres@18 point-query
  dyno bisect --good mariadb@10.1.23 --bad mariadb@11.8 update-index --seconds 5
  dyno bisect --versions mysql@5.6.24,mariadb@10.2.11,mariadb@10.11 point-query
  dyno bisect --basedir build/v1 --basedir build/v2 --basedir build/v3 point-query
  dyno bisect --versions oci:mysql:8.0.32,oci:mysql:8.0.36,oci:mysql:8.4 point-query"
)]
pub(crate) struct Bisect {
    /// The step to compare
    test: String,
    /// A version known to be good
    #[arg(long, value_name = "SYSTEM", requires = "bad", required_unless_present_any = ["versions", "basedirs"])]
    good: Option<EngineName>,
    /// A later version of the same engine, known to be bad
    #[arg(long, value_name = "SYSTEM", requires = "good")]
    bad: Option<EngineName>,
    /// Versions to search, from a good one to a bad one, instead of all known versions between the two: names of
    /// versions, images (oci:NAME:TAG) or folders with builds (./DIR)
    #[arg(long, value_name = "SYSTEMS", value_delimiter = ',', conflicts_with_all = ["good", "bad"])]
    versions: Vec<EngineName>,
    /// Folder of a build to search; repeat the option for each build, from a good one to a bad one
    #[arg(long = "basedir", value_name = "PATH", value_parser = folder, conflicts_with_all = ["good", "bad", "versions"])]
    basedirs: Vec<EngineName>,
    /// Plan with the step and the loads before it
    #[arg(long, default_value = "first-look")]
    plan: String,
    /// Profile of settings for all versions
    #[arg(long, default_value = "like-56")]
    profile: String,
    /// Largest number of rounds of a comparison; a comparison without a verdict after these rounds stays undecided
    #[arg(long, value_name = "N", default_value_t = 12, value_parser = clap::value_parser!(u32).range(6..=1000))]
    rounds_max: u32,
    /// Smallest difference that matters
    #[arg(long, value_name = "PERCENT", default_value = "2%", value_parser = margin)]
    margin: Margin,
    /// Measured seconds of each version in a round; by default the plan's seconds, but at most 1
    #[arg(long, value_name = "SECONDS", value_parser = positive)]
    seconds: Option<f64>,
    /// Scale the plan: a factor, or the name of a scale of the plan
    #[arg(long, value_name = "FACTOR")]
    scale: Option<String>,
    #[command(flatten)]
    flags: RunFlags,
}

impl Bisect {
    /// Errors have an exit status other than 1, because 1 is an answer of this command.
    pub(crate) fn execute(&self) -> ExitCode {
        failure::of_gate(self.answer())
    }

    fn answer(&self) -> anyhow::Result<ExitCode> {
        let catalogue = Catalogue::load()?;
        let search = dyno_search::Bisect {
            test: self.test.clone(),
            versions: self.ladder(&catalogue)?,
            profile: Profile::find(&self.profile)?,
            rounds_max: self.rounds_max,
            margin: self.margin,
        };
        let names: Vec<String> = search.versions.iter().map(ToString::to_string).collect();
        output::tell(&format!("{} versions: {}", names.len(), names.join(", ")));
        let mut plan = Plan::find(&self.plan, &catalogue)?;
        if let Some(scale) = &self.scale {
            let scale = plan.scale_of(scale)?;
            plan = plan.scaled(&scale);
        }
        let plan = search.plan(plan, self.seconds)?;
        let mut last_run = None;
        let mut on_verdict = |tested: &Tested<'_>| {
            last_run = Some(tested.run);
            print_verdict(tested)
        };
        let found = search.search(&plan, &catalogue, self.flags.search(), &mut on_verdict)?;
        let Some(found) = found else { return Ok(interrupt::exit_code()) };
        let code = conclude(&found, &search.versions, &self.test)?;
        if let (BisectionStep::Found { .. }, Some(run)) = (found.step, last_run) {
            output::tell(&next::proof(&self.flags.results, run));
        }
        Ok(code)
    }

    /// The versions to search, oldest first.
    fn ladder(&self, catalogue: &Catalogue) -> anyhow::Result<Vec<EngineName>> {
        match (&self.good, &self.bad) {
            (Some(EngineName::Catalogue(good)), Some(EngineName::Catalogue(bad))) => {
                between(good, bad, catalogue)
            }
            (Some(good), Some(bad)) => {
                output::tell(
                    "no versions between an image or a folder and another version are known, so only these two are compared; \
                     --versions takes the versions in between",
                );
                Ok(vec![good.clone(), bad.clone()])
            }
            _ => Ok(self.versions.iter().chain(&self.basedirs).cloned().collect()),
        }
    }
}

/// Parses a folder. Any path is valid, even without the `./` that distinguishes a folder from a version.
fn folder(text: &str) -> Result<EngineName, EngineNameError> {
    match text.parse::<EngineName>() {
        Err(error @ EngineNameError::NoHome(_)) => Err(error),
        Ok(name @ EngineName::Basedir(_)) => Ok(name),
        _ => Ok(EngineName::Basedir(text.into())),
    }
}

fn print_verdict(tested: &Tested<'_>) -> anyhow::Result<()> {
    let Tested { version, good, verdict, effect, not_started, run } = tested;
    let times = effect.map(|effect| format!(": {} times its rate", ratio_in(effect.ratio, effect.interval)));
    let times = times.unwrap_or_default();
    let words = match (verdict, not_started) {
        (_, Some(message)) => message.clone(),
        (VersionVerdict::Good, None) => format!("not worse than {good}{times}"),
        (VersionVerdict::Bad, None) => format!("worse than {good}{times}"),
        (VersionVerdict::Unclear, None) => format!("not decided against {good}{times}"),
    };
    output::print(&format!("{version:<32} {} (run {run})\n", printable(&words)))
}

/// Prints the result of the search and returns the exit status.
fn conclude(found: &Bisected, versions: &[EngineName], test: &str) -> anyhow::Result<ExitCode> {
    let is_undecided = found.is_undecided();
    let open = if is_undecided { ExitCode::from(NOT_DECIDED) } else { ExitCode::FAILURE };
    let (sentence, code) = match &found.step {
        BisectionStep::Found { first_bad } => {
            let (before, first) = (&versions[first_bad - 1], &versions[*first_bad]);
            (format!("{first} made {test} slower; {before} was not."), ExitCode::SUCCESS)
        }
        BisectionStep::Unconfirmed { good, bad } => {
            let (first, before, likely) = (&versions[0], &versions[*good], &versions[*bad]);
            let sentence = format!(
                "{likely} is slower than {first} in {test}, and {before} is not; but compared with {before}, that was not \
                 confirmed: give it more rounds (--rounds-max)."
            );
            (sentence, open)
        }
        BisectionStep::OneOf { versions: range } => {
            let names: Vec<_> = versions[range.clone()].iter().map(ToString::to_string).collect();
            let names = names.join(", ");
            let what = if is_undecided { "more rounds" } else { "more rounds, or versions that start," };
            (format!("One of {names} made {test} slower; {what} would tell which."), open)
        }
        BisectionStep::NoRegression => {
            let newest = &versions[versions.len() - 1];
            match found.last {
                VersionVerdict::Unclear if is_undecided => {
                    let sentence = format!(
                        "Whether {newest} is slower in {test} was not decided; give it more rounds (--rounds-max)."
                    );
                    (sentence, open)
                }
                VersionVerdict::Unclear => (
                    format!("Whether {newest} is slower in {test} is not known: a server did not start."),
                    open,
                ),
                VersionVerdict::Good | VersionVerdict::Bad => {
                    let sentence = format!("{newest} is not slower in {test}: there is nothing to search.");
                    (sentence, ExitCode::SUCCESS)
                }
            }
        }
        BisectionStep::Test { .. } | BisectionStep::Confirm { .. } => bail!("the search has not ended"),
    };
    output::print(&format!("{sentence}\n"))?;
    Ok(code)
}
