//! `dyno run`: runs a plan and prints the findings.

mod spread;
mod task;

use std::env;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::Context as _;
use clap::Args;
use clap::builder::FalseyValueParser;
use dyno_cluster::{RemoteDyno, SshDrivers};
use dyno_engine::{Cache, Catalogue};
use dyno_judge::{Rule, analyse};
use dyno_lab::{Foreseen, NotStarted, Plan, Rounds, RunOptions, RunOutcome, TooFewRounds, foresee};
use dyno_report::{Details, Format, NextStep, Reports, render, render_brief, render_next, reports};
use dyno_search::Lab;
use dyno_search::explain::reasons;
use dyno_store::{RunChoice, Store};

use crate::commands::{next, outline};
use crate::options::{ResultsFile, positive};
use crate::{interrupt, output, page, progress};
use spread::SpreadFlags;
pub(crate) use task::Task;

/// Run a plan: start its systems, run its steps on them in turns, in several rounds, and print the findings
#[derive(Debug, Args)]
#[command(
    after_help = "Every trial is stored in the results file when it ends. ^C keeps the trials that have ended, and --resume \
continues the run.

Examples:
  dyno run first-look
  dyno run first-look --dry-run
  dyno run my-plan.toml --results my.db --rounds 10
  dyno run my-plan.toml --budget-seconds 600
  dyno run my-plan.toml --scale 0.01 --only 'point-query*' --only write-heavy
  dyno run inmem-versions --scale small --clients 1
  dyno run first-look --rounds 8 --on ssh:bench1,bench2
  dyno run first-look --rounds 8 --on slurm --partition bench --nodes 4"
)]
pub(crate) struct Run {
    /// Name of a built-in plan (see `dyno plans`), or a .toml file
    plan: String,
    #[command(flatten)]
    flags: RunFlags,
    #[command(flatten)]
    page: PageFlags,
    /// Number of rounds, instead of the plan's
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000), conflicts_with = "budget_seconds")]
    rounds: Option<u32>,
    /// Time for the whole run, instead of the plan's rounds; the first rounds determine how it is divided
    #[arg(long, value_name = "SECONDS", value_parser = positive)]
    budget_seconds: Option<f64>,
    /// Rerun a step up to N times if other processes or the hypervisor used the CPU
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=100))]
    rerun_disturbed: Option<u32>,
    /// Measured seconds of a trial (one system, one step, one round), instead of the plan's
    #[arg(long, value_name = "SECONDS", value_parser = positive)]
    seconds: Option<f64>,
    /// Scale rows, caches and seconds by a factor, or by the name of a scale of the plan
    #[arg(long, value_name = "FACTOR")]
    scale: Option<String>,
    /// Run only steps whose id or group matches (* matches any text), and loads; may be repeated
    #[arg(long, value_name = "PATTERN")]
    only: Vec<String>,
    /// Use only these numbers of clients; steps without any of them keep their own
    #[arg(long, value_name = "NUMBER,…", value_delimiter = ',')]
    clients: Vec<u32>,
    /// Only these systems and the base (* matches any text)
    #[arg(long, value_name = "SYSTEM,…", value_delimiter = ',')]
    systems: Vec<String>,
    /// Resume the last run of this plan if it was stopped, was killed, or has failed trials
    #[arg(long, conflicts_with_all = ["seed", "only_outline"])]
    resume: bool,
    /// On servers that run already: allow loads to drop existing tables that no run of Dyno made
    #[arg(long)]
    may_drop: bool,
    /// Print what the run would do, with estimated time and disk space, and exit
    #[arg(long = "dry-run")]
    only_outline: bool,
    #[command(flatten)]
    spread: SpreadFlags,
}

/// Options of all commands that run plans.
#[derive(Clone, Debug, Args)]
pub(super) struct RunFlags {
    #[command(flatten)]
    pub(super) results: ResultsFile,
    /// Random seed, to repeat a run; by default a new seed each time
    #[arg(long, value_name = "NUMBER")]
    pub(super) seed: Option<u64>,
    /// Fail if systems differ in durability, a limit is not in force, or the host disturbs measurements
    #[arg(long)]
    pub(super) strict: bool,
    /// Count rounds that other processes or the hypervisor disturbed; by default, verdicts leave such rounds out
    #[arg(long, env = "DYNO_COUNT_DISTURBED", hide_env_values = true, value_parser = FalseyValueParser::new())]
    pub(super) count_disturbed: bool,
    /// Path of dyno on the hosts of --on and on the plan's drivers, instead of a copy of this program
    #[arg(long, value_name = "PATH", help_heading = "Several hosts")]
    pub(super) remote_dyno: Option<String>,
    /// Whether the run ends after its first round if a system did not start (see [`RunOptions::needs_all_systems`]).
    /// This is no option of the command line; commands that search set it.
    #[arg(skip)]
    pub(super) needs_all_systems: bool,
    /// Time limit of the run (see [`RunOptions::time_max`]). Of the commands that run plans, only `dyno versus` has an
    /// option that sets it (`--for`).
    #[arg(skip)]
    pub(super) time_max: Option<Duration>,
}

impl RunFlags {
    /// What a search needs to make comparisons: a lab that runs plans, the path of the results file, and the seed.
    pub(super) fn search(&self) -> (&dyn Lab, &Path, Option<u64>) {
        (self, &self.results.path, self.seed)
    }

    fn remote_dyno(&self) -> RemoteDyno {
        self.remote_dyno.clone().map_or(RemoteDyno::Copied, RemoteDyno::At)
    }
}

impl Lab for RunFlags {
    fn run(&self, plan: &Plan, seed: Option<u64>, resume: bool) -> anyhow::Result<Option<RunOutcome>> {
        measure(plan, &Self { seed, needs_all_systems: true, ..self.clone() }, resume)
    }

    fn tell(&self, line: &str) {
        output::tell(line);
    }
}

/// Options of commands that end with reports.
#[derive(Debug, Args)]
pub(super) struct PageFlags {
    /// Do not write an HTML report
    #[arg(long)]
    pub(super) no_html: bool,
    /// Print every table at the end, instead of a summary
    #[arg(long)]
    pub(super) full: bool,
}

impl Run {
    pub(crate) fn execute(self) -> anyhow::Result<ExitCode> {
        let plan = self.plan()?;
        if self.only_outline {
            let foreseen = foresee(&plan);
            output::print(&outline::describe(&plan, &foreseen))?;
            plan.check_sweeps()?;
            foreseen.into_iter().try_for_each(Foreseen::check)?;
            plan.check_scripts(&program()?)?;
            return Ok(ExitCode::SUCCESS);
        }
        if let Some(on) = &self.spread.on {
            return self.carry_out_on(on, &plan);
        }
        if let Some(found) = plan.too_few_rounds() {
            self.tell_too_few_rounds(found)?;
        } else if let Some(looks) = plan.looks() {
            output::tell(&outline::looks_line(&looks));
        }
        carry_out(&plan, &self.flags, &self.page, self.resume, &[])
    }

    /// Warns that the plan has too few rounds for some verdicts. If the results file cannot be used, only an error
    /// about the file is printed, and no warning.
    fn tell_too_few_rounds(&self, found: TooFewRounds) -> anyhow::Result<()> {
        let results = &self.flags.results.path;
        if can_be_a_file(results) && !self.resume {
            Store::check_usable(results)?;
            output::warn(&outline::too_few_rounds(found));
        }
        Ok(())
    }

    /// Reads the plan and applies the options.
    fn plan(&self) -> anyhow::Result<Plan> {
        let find = if self.only_outline { Plan::find_to_show } else { Plan::find };
        let mut plan = find(&self.plan, &Catalogue::load()?)?;
        plan.select(&self.only)?;
        if let Some(scale) = &self.scale {
            let scale = plan.scale_of(scale)?;
            plan = plan.scaled(&scale);
        }
        plan.check_clients(&self.clients)?;
        plan.keep_clients(&self.clients);
        plan.keep_systems(&self.systems)?;
        plan.rounds = self.rounds.map_or(plan.rounds, Rounds::Fixed);
        plan.rounds = self.budget_seconds.map_or(plan.rounds, |seconds| Rounds::Budget { seconds });
        if self.may_drop {
            plan.allow_drops();
        }
        plan.rerun_disturbed = self.rerun_disturbed.or(plan.rerun_disturbed);
        if let Some(seconds) = self.seconds {
            plan.steps.iter_mut().for_each(|step| step.set_seconds(seconds));
        }
        Ok(plan)
    }
}

/// Whether a path names an existing file, or a file that could be created in an existing folder.
fn can_be_a_file(path: &Path) -> bool {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    !path.is_dir() && folder.is_none_or(Path::is_dir)
}

/// The path of the running program. The load process is the same program.
fn program() -> anyhow::Result<PathBuf> {
    env::current_exe().context("cannot find the program that is running")
}

/// Runs a plan and prints its findings. `more` are commands to suggest after the usual suggestions.
pub(super) fn carry_out(
    plan: &Plan,
    flags: &RunFlags,
    page: &PageFlags,
    resume: bool,
    more: &[NextStep],
) -> anyhow::Result<ExitCode> {
    match measure(plan, flags, resume)? {
        Some(outcome) => present(&outcome, flags, page, more),
        None => Ok(interrupt::exit_code()),
    }
}

/// Writes the page of a run and prints its findings. A run that was stopped is presented like any other.
pub(super) fn present(
    outcome: &RunOutcome,
    flags: &RunFlags,
    page: &PageFlags,
    more: &[NextStep],
) -> anyhow::Result<ExitCode> {
    if outcome.completed_trials > 0 {
        let results = &flags.results;
        let store = Store::open_read_only(&results.path)?;
        let run = store.load_run(RunChoice::Id(outcome.run))?;
        let details = Details::load(&store, &run)?;
        let analysis = analyse(&run, &details.checks, &Rule::default());
        let reasons = reasons(&store, &results.path, &run, &analysis)?;
        let reports = Reports { why: reasons.why.clone(), ..reports(&run, &details.checks, &analysis) };
        let path = (!page.no_html).then(|| page::default_path(&results.path, &run));
        let write = |path| page::write(&page::of_details(&run, &details, &analysis, &reasons, false), path);
        let written = path.as_deref().map_or(Ok(()), write);
        let mut next = next::steps(results, run.id, &reports, path.as_deref());
        next.extend_from_slice(more);
        let options = output::render_options();
        let text = if page.full {
            render(&reports, Format::Text, &options) + &render_next(&next, &options)
        } else {
            render_brief(&reports, &next::full_report(results, run.id), &next, &options)
        };
        output::print_rendered(&text)?;
        written?;
    }
    Ok(conclude(outcome, flags))
}

/// Runs a plan. Returns `None` if the user stopped it before the run began.
pub(super) fn measure(plan: &Plan, flags: &RunFlags, resume: bool) -> anyhow::Result<Option<RunOutcome>> {
    let stop = interrupt::stop_flag()?;
    let options = options(flags, resume, &stop)?;
    let mut observer = progress::observer(&flags.results.path);
    let outcome = dyno_lab::run(plan, &options, observer.as_mut());
    drop(observer);
    match outcome {
        Err(error) if stop.load(Ordering::Relaxed) && error.can_come_from_stop() => Ok(None),
        outcome => Ok(Some(outcome?)),
    }
}

/// Converts the user's flags to the options of a run.
fn options<'a>(flags: &RunFlags, resume: bool, stop: &'a AtomicBool) -> anyhow::Result<RunOptions<'a>> {
    let program = program()?;
    Ok(RunOptions {
        results: flags.results.path.clone(),
        seed: flags.seed.unwrap_or_else(new_seed),
        resume,
        task: None,
        strict: flags.strict,
        counts_disturbed: flags.count_disturbed,
        needs_all_systems: flags.needs_all_systems,
        time_max: flags.time_max,
        drivers: Box::new(SshDrivers::new(program.clone(), flags.remote_dyno())),
        driver_program: program,
        cache: Cache::default_location(),
        dyno_version: env!("CARGO_PKG_VERSION").to_owned(),
        command_line: env::args().collect::<Vec<_>>().join(" "),
        stop,
        patience: Duration::from_secs(60),
    })
}

/// Prints the missing trials and returns the exit status.
fn conclude(outcome: &RunOutcome, flags: &RunFlags) -> ExitCode {
    let RunOutcome { run, planned_trials, completed_trials, failed_trials, not_started, .. } = outcome;
    let results = flags.results.path.display();
    if outcome.interrupted {
        output::warn(&format!(
            "stopped: {completed_trials} of {planned_trials} trials are in {results}; \
             see them with `dyno report {run} --results {results}`, continue with --resume"
        ));
        return interrupt::exit_code();
    }
    if *failed_trials > 0 {
        let reasons: Vec<_> = not_started
            .iter()
            .map(|NotStarted { system, message, .. }| format!("; {system} {message}"))
            .collect();
        output::warn(&format!(
            "error: {failed_trials} of {planned_trials} trials failed{}; {results} has their logs, --resume tries \
             them again",
            reasons.concat()
        ));
        return ExitCode::FAILURE;
    }
    if !outcome.failed_crash_tests.is_empty() {
        output::warn(&format!(
            "crash tests failed: {}; the report has what was found",
            outcome.failed_crash_tests.join(", ")
        ));
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

fn new_seed() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos() as u64)
}
