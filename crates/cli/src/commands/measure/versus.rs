//! `dyno versus`: compares systems that the command line names.

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::ensure;
use clap::Args;
use dyno_engine::Catalogue;
use dyno_judge::{GateOutcome, Judgement, Rule, analyse, check_trials};
use dyno_lab::{Contender, Plan, Rounds, Script, Versus as Text};
use dyno_report::NextStep;
use dyno_search::duration;
use dyno_stats::ROUNDS_MIN;
use dyno_store::{RunChoice, RunId, Store};

use super::run::{self, PageFlags, RunFlags};
use crate::failure::{self, NOT_DECIDED};
use crate::options::{positive, setting, time};
use crate::{interrupt, output};

/// Compare systems in one line: versions, settings, builds, or servers that run already
#[derive(Debug, Args)]
#[command(
    after_help = "A system is ENGINE[@VERSION][/STORAGE-ENGINE], a folder with a build (./DIR, ~/DIR), an image (oci:NAME:TAG), or \
the address of a running server (mysql://…, postgres://…). Settings follow its name: 'mariadb@11.8 \
innodb_flush_method=fsync'. Among them, storage_engine=NAME chooses the storage engine of the tables. The first \
system is the base. Servers that Dyno starts get the settings of a profile, so that all have the same \
durability. --profile stock leaves each server its own defaults.

Without --workload, point selects, ranges, updates and transactions on sysbench's table are measured. Rounds \
follow each other until every test is decided, or until the time of --for is over.

Exit status with --gate: 0 no system is slower than the first, 1 one is, 2 an error, 3 not decided.

Examples:
  dyno versus mariadb@10.11 mariadb@11.8
  dyno versus mariadb@11.8 'mariadb@11.8 innodb_flush_method=fsync' --for 60s
  dyno versus mysql@8.0 mysql@9.7 --workload my.lua --rows 100000 --clients 1,16
  dyno versus ./build-main ./build-pr --gate
  dyno versus sqlite 'sqlite synchronous=NORMAL' --print-plan > mine.toml"
)]
pub(crate) struct Versus {
    /// The systems; the first is the base. A single system is measured without a verdict
    #[arg(required = true, value_name = "SYSTEM")]
    systems: Vec<Contender>,
    /// A Lua script with sysbench's interface, or the name of a built-in workload (see `dyno workloads`)
    #[arg(long, value_name = "SCRIPT")]
    workload: Option<String>,
    /// An option of the workload; may be repeated
    #[arg(long = "option", value_name = "NAME=VALUE", value_parser = setting, requires = "workload")]
    options: Vec<(String, String)>,
    /// The workload has no command `prepare`
    #[arg(long, requires = "workload")]
    no_prepare: bool,
    /// Rows of a table (`table_size` of a workload); by default 10000, or the workload's own number
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    rows: Option<u64>,
    /// Number of tables; by default 1, or the workload's own number
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    tables: Option<u32>,
    /// Numbers of clients
    #[arg(long, value_name = "NUMBER,…", value_delimiter = ',', default_value = "1", value_parser = clap::value_parser!(u32).range(1..))]
    clients: Vec<u32>,
    /// Measured seconds of each system, in each step of a round
    #[arg(long, value_name = "SECONDS", default_value_t = 0.5, value_parser = positive)]
    seconds: f64,
    /// Run as many rounds as fit into this time, such as 60s or 10m, but at least six
    #[arg(long = "for", value_name = "TIME", value_parser = time)]
    time_max: Option<Duration>,
    /// Largest number of rounds
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(6..=1000))]
    rounds_max: u32,
    /// Profile of settings for started servers
    #[arg(long, value_name = "NAME", default_value = "safe")]
    profile: String,
    /// Resume the last run of the same line if it was stopped, was killed, or has failed trials
    #[arg(long, conflicts_with = "seed")]
    resume: bool,
    /// Exit with a status for a job: 0, 1 or 3; 2 for an error
    #[arg(long)]
    gate: bool,
    /// Print this command as a plan, and exit
    #[arg(long)]
    print_plan: bool,
    #[command(flatten)]
    flags: RunFlags,
    #[command(flatten)]
    page: PageFlags,
}

/// Name of the generated plan in errors.
const PLAN: &str = "the plan of this command (--print-plan)";
/// Number of tables of the built-in workload, unless the user chooses it.
const TABLES: u32 = 1;
const ROWS: u64 = 10_000;

impl Versus {
    pub(crate) fn execute(self) -> anyhow::Result<ExitCode> {
        let outcome = self.compare();
        // With a gate, exit status 1 is a verdict, so errors need another one.
        if self.gate { Ok(failure::of_gate(outcome)) } else { outcome }
    }

    fn compare(&self) -> anyhow::Result<ExitCode> {
        let catalogue = Catalogue::load()?;
        for engine in self.systems.iter().filter_map(Contender::engine) {
            catalogue.find(engine)?;
        }
        let text = self.fitting(&catalogue)?.toml();
        if self.print_plan {
            output::print(&text)?;
            return Ok(ExitCode::SUCCESS);
        }
        let plan = Plan::parse(&text, PLAN, Path::new(""), &catalogue)?;
        let is_alone = self.systems.len() == 1;
        ensure!(!(is_alone && self.gate), "--gate needs at least two systems");
        ensure!(
            !(is_alone && self.time_max.is_some()),
            "--for needs at least two systems; one is measured in 3 rounds"
        );
        self.foretell(&plan);
        let flags = RunFlags { time_max: self.time_max, ..self.flags.clone() };
        let Some(outcome) = run::measure(&plan, &flags, self.resume)? else {
            return Ok(interrupt::exit_code());
        };
        let more = NextStep::new("the same with --print-plan", "this command as a plan");
        let status = run::present(&outcome, &flags, &self.page, &[more])?;
        if self.gate && !outcome.interrupted {
            return gate(&self.flags.results.path, outcome.run);
        }
        Ok(status)
    }

    /// The plan with as many rounds as fit into the user's time, but at least six. The run judges its tests at looks,
    /// each after a certain number of rounds. The looks share the permitted error probability. A plan with fewer rounds
    /// has fewer looks, so each look gets a larger share, and a short run can decide.
    fn fitting(&self, catalogue: &Catalogue) -> anyhow::Result<Text> {
        let text = self.text();
        let Some(time) = self.time_max else { return Ok(text) };
        let plan = Plan::parse(&text.toml(), PLAN, Path::new(""), catalogue)?;
        let seconds = |rounds| Plan { rounds: Rounds::Fixed(rounds), ..plan.clone() }.expected_seconds();
        let (first, two) = (seconds(1), seconds(2));
        let fit = 1.0 + (time.as_secs_f64() - first) / (two - first).max(0.001);
        let rounds_max = (fit.max(0.0) as u32).clamp(ROUNDS_MIN as u32, self.rounds_max);
        Ok(Text { rounds_max, ..text })
    }

    /// The size that the user requests, as options of a script.
    fn size(&self) -> impl Iterator<Item = (String, String)> + use<> {
        let tables = self.tables.map(|tables| ("tables".to_owned(), tables.to_string()));
        let rows = self.rows.map(|rows| ("table_size".to_owned(), rows.to_string()));
        tables.into_iter().chain(rows)
    }

    fn text(&self) -> Text {
        let script = self.workload.as_ref().map(|name| Script {
            name: name.clone(),
            options: self.size().chain(self.options.iter().cloned()).collect(),
            is_prepared: !self.no_prepare,
        });
        Text {
            contenders: self.systems.clone(),
            profile: self.profile.clone(),
            data: script.is_none().then(|| (self.tables.unwrap_or(TABLES), self.rows.unwrap_or(ROWS))),
            script,
            clients: self.clients.clone(),
            seconds: self.seconds,
            rounds_max: self.rounds_max,
        }
    }

    /// Prints the shortest time that the run takes, and the time limit if the user gave one.
    fn foretell(&self, plan: &Plan) {
        let least = plan.expected_seconds();
        let rounds = if plan.rounds_min() == plan.rounds.max() {
            format!("{} rounds", plan.rounds_min())
        } else {
            format!("{} rounds or more", plan.rounds_min())
        };
        let most = self.time_max.map(|time| time.as_secs_f64()).filter(|most| *most > least);
        let most = most.map_or(String::new(), |most| format!(", at most about {}", duration(most)));
        output::tell(&format!("{rounds}, about {}{most}", duration(least)));
    }
}

/// The exit status of a gate: the verdict on all candidates of the run.
fn gate(results: &Path, run: RunId) -> anyhow::Result<ExitCode> {
    let store = Store::open_read_only(results)?;
    let run = store.load_run(RunChoice::Id(run))?;
    let analysis = analyse(&run, &check_trials(&store, &run)?, &Rule::default());
    let judgement = analysis.base.as_deref().and_then(|base| analysis.judgement(base));
    Ok(match judgement.map(|judgement: &Judgement| judgement.outcome) {
        Some(GateOutcome::NoneRegressed) => ExitCode::SUCCESS,
        Some(GateOutcome::SomeRegressed) => ExitCode::FAILURE,
        Some(GateOutcome::NotDecided) | None => ExitCode::from(NOT_DECIDED),
    })
}
