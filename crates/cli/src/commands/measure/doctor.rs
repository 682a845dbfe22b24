//! `dyno doctor`: checks whether this host is quiet enough for verdicts, and whether every step of a plan
//! would start.

use std::env;
use std::fmt::Write as _;
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use anyhow::Context as _;
use clap::Args;
use dyno_engine::{Cache, Catalogue};
use dyno_host::{NeighbourUsage, Neighbours};
use dyno_judge::DisturbanceLimits;
use dyno_lab::{Foreseen, Found, Measure, Plan, Rounds, audit_host, foresee};
use dyno_printable::printable;
use dyno_settings::AuditFinding;
use dyno_store::{Outcome, RunChoice, Store};
use indicatif::HumanBytes;

use super::run::{RunFlags, measure};
use crate::commands::outline;
use crate::options::{ResultsFile, positive};
use crate::{failure, interrupt, output};

/// Check whether this host is quiet enough for verdicts, and whether all steps of a plan would start
#[derive(Debug, Args)]
#[command(
    after_help = "With a plan, every system is started, and every step is run briefly with few rows, at each of its numbers of \
clients, with the commands before and after it. Nothing is kept. Missing engines are fetched. For a server that \
runs already, the state of its database is shown; nothing is changed there, and no step is run.

Exit status: 0 all is well; 1 a system or a step does not start; 3 the host is too busy for verdicts.

Examples:
  dyno doctor
  dyno doctor first-look"
)]
pub(crate) struct Doctor {
    /// Name of a built-in plan (see `dyno plans`), or a .toml file
    plan: Option<String>,
    /// Time for which to watch other processes
    #[arg(long, value_name = "SECONDS", default_value = "3", value_parser = positive)]
    seconds: f64,
    /// Path of dyno on the plan's drivers, instead of a copy of this program
    #[arg(long, value_name = "PATH")]
    remote_dyno: Option<String>,
}

/// Measured time of a step that is tried, in seconds.
const STEP_SECONDS: f64 = 0.2;
/// Scale of the data with which steps are tried.
const SCALE: &str = "0.001";

impl Doctor {
    pub(crate) fn execute(self) -> anyhow::Result<ExitCode> {
        let plan = match &self.plan {
            Some(plan) => Some(Plan::find(plan, &Catalogue::load()?)?),
            None => None,
        };
        let watched = Neighbours::watch(&[]);
        thread::sleep(Duration::from_secs_f64(self.seconds));
        let usage = watched.and_then(Neighbours::usage);
        let is_quiet = usage.is_none_or(is_quiet);
        let disk_bytes = plan.as_ref().map(|plan| plan.outline().disk_bytes);
        // The folder of the servers' data.
        let cache = Cache::default_location();
        let data = if cache.root().is_dir() { cache.root().to_owned() } else { env::temp_dir() };
        let findings = audit_host(&data, disk_bytes).findings;
        output::print(&host_in_words(usage, &findings))?;
        let Some(plan) = plan else { return Ok(status(is_quiet, true)) };
        output::print(&needs(&plan))?;
        let foreseen = foresee(&plan);
        if !foreseen.is_empty() {
            output::print(&of_running_servers(&foreseen))?;
            let is_ready = |it: &Foreseen| !matches!(it.found, Found::Unknown(_) | Found::Refused { .. });
            return Ok(status(is_quiet, foreseen.iter().all(is_ready)));
        }
        let Some(failures) = self.try_out(plan)? else { return Ok(interrupt::exit_code()) };
        let said = if failures.is_empty() {
            "steps       every step starts on every system\n".to_owned()
        } else {
            failures.iter().fold(String::new(), |text, failure| text + "failed      " + failure + "\n")
        };
        output::print(&said)?;
        Ok(status(is_quiet, failures.is_empty()))
    }

    /// Runs every step for a moment. Returns the failures, or `None` if the user stopped the run.
    fn try_out(&self, mut plan: Plan) -> anyhow::Result<Option<Vec<String>>> {
        let scale = plan.scale_of(SCALE)?;
        plan = plan.scaled(&scale);
        plan.rounds = Rounds::Fixed(1);
        (plan.crash, plan.reuse_data) = (None, false);
        for step in &mut plan.steps {
            // A search takes minutes. A step without its search still shows whether its load starts.
            if let Measure::Search(_) = step.measure {
                step.measure = Measure::Whole;
            }
            step.set_seconds(step.seconds.min(STEP_SECONDS));
            if let Some(traffic) = &mut step.traffic {
                traffic.seconds_max = Some(step.seconds);
            }
            (step.warmup_seconds, step.warmup_seconds_max) = (0.0, 0.0);
        }
        let folder = tempfile::tempdir().context("cannot make a folder for the results")?;
        let flags = RunFlags {
            results: ResultsFile { path: folder.path().join("doctor.db") },
            seed: None,
            strict: false,
            count_disturbed: true,
            remote_dyno: self.remote_dyno.clone(),
            needs_all_systems: false,
            time_max: None,
        };
        let Some(outcome) = measure(&plan, &flags, false)?.filter(|outcome| !outcome.interrupted) else {
            return Ok(None);
        };
        let run = Store::open_read_only(&flags.results.path)?.load_run(RunChoice::Id(outcome.run))?;
        let mut failures: Vec<String> =
            outcome.not_started.iter().map(|it| format!("{} {}", it.system, it.message)).collect();
        for trial in run.trials.iter().map(|trial| &trial.record) {
            let is_known = outcome.not_started.iter().any(|it| it.system == trial.system_id);
            if let Outcome::Failed { message, .. } = &trial.outcome
                && !is_known
            {
                let (step, clients, system) = (&trial.step_id, trial.clients, &trial.system_id);
                let clients = if clients == 1 { "1 client".to_owned() } else { format!("{clients} clients") };
                failures.push(format!("{step} at {clients}, {system}: {message}"));
            }
        }
        Ok(Some(failures.iter().map(|failure| printable(failure).into_owned()).collect()))
    }
}

/// The state of servers that run already, as a run would find them. Steps are not tried on these servers.
fn of_running_servers(foreseen: &[Foreseen]) -> String {
    let mut text = String::new();
    for Foreseen { system, address, found } in foreseen {
        let line = format!("{system} {address}: {}", outline::met(found));
        let _ = writeln!(text, "server      {}", printable(&line));
    }
    text + "steps       not tried: they would load a server that Dyno has not started\n"
}

fn is_quiet(usage: NeighbourUsage) -> bool {
    let limits = DisturbanceLimits::default();
    let all_us = usage.elapsed_us as f64 * f64::from(usage.cpus);
    usage.cpu_us as f64 <= limits.others_max * all_us && usage.steal_us as f64 <= limits.steal_max * all_us
}

fn status(is_quiet: bool, starts: bool) -> ExitCode {
    match (starts, is_quiet) {
        (false, _) => ExitCode::FAILURE,
        (true, false) => ExitCode::from(failure::NOT_DECIDED),
        (true, true) => ExitCode::SUCCESS,
    }
}

/// CPU use by other processes, and the findings of the host audit.
fn host_in_words(usage: Option<NeighbourUsage>, findings: &[AuditFinding]) -> String {
    let mut text = String::new();
    let _ = match usage {
        None => writeln!(text, "neighbours  not known: the kernel does not show the host's CPU time"),
        Some(usage) => {
            let cpus = |us: u64| us as f64 / usage.elapsed_us.max(1) as f64;
            let limits = DisturbanceLimits::default();
            let all = f64::from(usage.cpus);
            writeln!(
                text,
                "neighbours  other processes use {:.2} of {} CPUs, other guests of the hypervisor {:.2}: {}\n            \
                 a round counts up to {:.2} and {:.2}",
                cpus(usage.cpu_us),
                usage.cpus,
                cpus(usage.steal_us),
                if is_quiet(usage) { "quiet enough for verdicts" } else { "too busy for verdicts" },
                limits.others_max * all,
                limits.steal_max * all,
            )
        }
    };
    for finding in findings {
        let AuditFinding { severity, explanation, advice, .. } = finding;
        let _ = writeln!(text, "{:<11} {}; {}", severity.as_str(), printable(explanation), printable(advice));
    }
    text
}

/// The time and disk space that a run of the plan would need.
fn needs(plan: &Plan) -> String {
    format!(
        "plan        {}: {}, {}, about {}, about {} of disk\n",
        printable(&plan.name),
        match plan.systems.len() {
            1 => "1 system".to_owned(),
            systems => format!("{systems} systems"),
        },
        outline::rounds(plan),
        dyno_search::duration(outline::seconds(plan)),
        HumanBytes(plan.outline().disk_bytes),
    )
}
