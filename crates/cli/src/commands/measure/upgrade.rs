//! `dyno upgrade`: tests whether an upgrade is safe for a server's own traffic.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::ensure;
use clap::Args;
use dyno_engine::{Catalogue, Entry, upgrade_path};
use dyno_judge::Safety;
use dyno_lab::{Contender, Plan, Upgrade as Text};
use dyno_report::{Format, UpgradeReport, render};
use dyno_search::{TriedUpgrade, duration};
use dyno_stats::Margin;

use super::run::{RunFlags, measure};
use crate::failure::{self, NOT_DECIDED};
use crate::options::{ReportFormat, margin, positive};
use crate::{interrupt, output};

/// Say whether an upgrade is safe: replay a server's own traffic on both versions, on a copy of its data
#[derive(Debug, Args)]
#[command(
    after_help = "FROM and TO are ENGINE[@VERSION][/STORAGE-ENGINE], a folder with a build (./DIR, ~/DIR) or an image (oci:NAME:TAG). \
Settings follow the name: 'mariadb@11.8 optimizer_switch=…'. The data is loaded into FROM and kept. A copy of it is upgraded to TO: \
MySQL and MariaDB start with it and run their own upgrade; PostgreSQL uses pg_upgrade, or a dump if there is none. Then the \
traffic is replayed on both, round by round, each time from the same data. --data itself is never changed.

Exit status: 0 safe; 1 not safe, with the list of statements that are slower, fail or answer differently, or because the server \
refuses the data; 2 an error; 3 not decided.

Examples:
  dyno upgrade mariadb@10.5 mariadb@11.8 --traffic mine.traffic --data dump.sql.zst
  dyno upgrade postgres@14 postgres@18 --traffic mine.traffic --data /backup/pgdata
  dyno upgrade mysql@8.0 mysql@9.7 --traffic mine.traffic --data dump.sql --reload
  dyno upgrade mariadb@10.5 mariadb@11.8 --traffic mine.traffic --print-plan > mine.toml"
)]
pub(crate) struct Upgrade {
    /// The version that the traffic comes from
    #[arg(value_name = "FROM")]
    from: Contender,
    /// The version to upgrade to
    #[arg(value_name = "TO")]
    to: Contender,
    /// The traffic, a file of `dyno traffic import`
    #[arg(long, value_name = "FILE")]
    traffic: PathBuf,
    /// The data on which the traffic ran: a dump (SQL, compressed or not; or the custom format of `pg_dump`), a data
    /// folder of FROM's version whose server does not run, or a Lua script with the command `prepare`. Without it, the
    /// database is empty
    #[arg(long, value_name = "PATH")]
    data: Option<PathBuf>,
    /// Load the dump or the script into TO too, instead of upgrading
    #[arg(long, requires = "data")]
    reload: bool,
    /// A file of SQL that only TO executes on its data, for example to make the indexes and statistics that you plan
    #[arg(long, value_name = "FILE")]
    after: Option<PathBuf>,
    /// The database that the data is in, if there are several
    #[arg(long, value_name = "NAME", requires = "data")]
    database: Option<String>,
    /// Pace of the replay. `closed`: a session sends its next statement when its last one has ended. A number: the
    /// traffic is sent this many times as fast as it was logged
    #[arg(long, value_name = "PACE", default_value = "closed", value_parser = pace)]
    pace: Pace,
    /// Number of sessions at the same time, with --pace closed. With one session, statements run in the same order in
    /// each round, so that answers can be compared
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    sessions: u32,
    /// Number of rounds. A verdict needs 6
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u32).range(2..=1000))]
    rounds: u32,
    /// Send no further statement of a replay after this time
    #[arg(long, value_name = "SECONDS", value_parser = positive)]
    seconds: Option<f64>,
    /// Smallest difference in time that matters
    #[arg(long, value_name = "PERCENT", default_value = "10%", value_parser = margin)]
    margin: Margin,
    /// Do not compare answers, and do not read their rows
    #[arg(long)]
    no_answers: bool,
    /// Profile of settings for both versions; stock means each version's own defaults
    #[arg(long, value_name = "NAME", default_value = "stock")]
    profile: String,
    /// The page; by default upgrade-RUN.html beside the results file
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Do not write a page
    #[arg(long, conflicts_with = "html")]
    no_html: bool,
    /// Output format
    #[arg(long, value_enum, default_value_t = ReportFormat::Text)]
    format: ReportFormat,
    /// Print this command as a plan, and exit
    #[arg(long)]
    print_plan: bool,
    #[command(flatten)]
    flags: RunFlags,
}

/// The pace of a replay.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Pace {
    Closed,
    Times(f64),
}

fn pace(text: &str) -> Result<Pace, String> {
    match text.parse() {
        _ if text == "closed" => Ok(Pace::Closed),
        Ok(times) if (0.1..=10.0).contains(&times) => Ok(Pace::Times(times)),
        _ => Err("must be `closed`, or a number from 0.1 to 10".to_owned()),
    }
}

/// Name of the generated plan in errors.
const PLAN: &str = "the plan of this line (--print-plan)";

impl Upgrade {
    pub(crate) fn execute(&self) -> ExitCode {
        // Errors have an exit status other than 1, because 1 is an answer of this command.
        failure::of_gate(self.try_it())
    }

    fn try_it(&self) -> anyhow::Result<ExitCode> {
        let text = self.text()?;
        let toml = text.toml();
        if self.print_plan {
            output::print(&toml)?;
            return Ok(ExitCode::SUCCESS);
        }
        let plan = Plan::parse(&toml, PLAN, Path::new(""), &Catalogue::load()?)?;
        output::tell(&format!("{} rounds, about {}", self.rounds, duration(plan.expected_seconds())));
        let ids = text.ids();
        let tried = TriedUpgrade { ids: &ids, traffic: &text.traffic, margin: self.margin };
        let flags = RunFlags { needs_all_systems: true, ..self.flags.clone() };
        let report = match measure(&plan, &flags, false) {
            Ok(None) => return Ok(interrupt::exit_code()),
            Ok(Some(outcome)) if outcome.interrupted => return Ok(interrupt::exit_code()),
            Ok(Some(outcome)) => tried.report(&flags.results.path, outcome.run, &outcome.given)?,
            Err(error) => match tried.refused(&error, path(&plan)) {
                Some(refused) => refused,
                None => return Err(error),
            },
        };
        self.present(&report)
    }

    fn text(&self) -> anyhow::Result<Text> {
        for contender in [&self.from, &self.to] {
            ensure!(
                contender.engine_name().is_some(),
                "an upgrade takes versions that Dyno starts; a server that runs already cannot be upgraded: import its traffic, \
                 and give its dump with --data"
            );
        }
        let is_folder = self.data.as_ref().is_some_and(|data| data.is_dir());
        ensure!(
            !(self.reload && is_folder),
            "--reload takes a dump or a script; a folder is data of one version"
        );
        Ok(Text {
            from: self.from.clone(),
            to: self.to.clone(),
            traffic: self.traffic.display().to_string(),
            data: self.data.as_ref().map(|data| data.display().to_string()),
            is_reloaded: self.reload,
            changes: self.after.as_ref().map(|after| after.display().to_string()),
            database: self.database.clone(),
            pace: match self.pace {
                Pace::Closed => None,
                Pace::Times(times) => Some(times),
            },
            sessions: self.sessions,
            rounds: self.rounds,
            seconds_max: self.seconds,
            compares_answers: !self.no_answers,
            profile: self.profile.clone(),
        })
    }

    /// Writes the page, prints the answer and returns its exit status.
    fn present(&self, report: &UpgradeReport) -> anyhow::Result<ExitCode> {
        let options = output::render_options();
        if !self.no_html {
            let run = report.run.map_or_else(|| "refused".to_owned(), |run| run.to_string());
            let page = self.html.clone();
            let page =
                page.unwrap_or_else(|| self.flags.results.path.with_file_name(format!("upgrade-{run}.html")));
            output::write(&page, &render(report, Format::Html, &options))?;
            output::tell(&format!("page: {}", page.display()));
        }
        output::print_rendered(&render(report, self.format.into(), &options))?;
        Ok(match report.safety {
            Safety::Safe => ExitCode::SUCCESS,
            Safety::NotSafe => ExitCode::FAILURE,
            Safety::NotDecided => ExitCode::from(NOT_DECIDED),
        })
    }
}

/// Describes an upgrade by way of other versions, for the case that the new version refuses the data of the old one.
/// Returns `None` if no such way is known.
fn path(plan: &Plan) -> Option<String> {
    let entries: Vec<&Entry> = plan.systems.iter().filter_map(|system| system.source.entry()).collect();
    let [from, to] = entries[..] else { return None };
    upgrade_path(from, to)
}
