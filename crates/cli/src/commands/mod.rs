//! The commands, one file each.

mod completions;
mod drive;
mod engine;
mod man;
mod measure;
mod next;
mod outline;
mod plans;
mod read;
mod sysbench;
mod traffic;
mod workloads;

use std::process::ExitCode;

use clap::Subcommand;

pub(crate) use self::drive::{Drive, drive};
pub(crate) use self::measure::crash::CrashClient;
pub(crate) use self::measure::run::Task;
use self::measure::{bisect, crash, doctor, explain, isolation, quickstart, run, tune, upgrade, versus};
use self::read::{compare, cost, export, history, report, results, serve};

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Quickstart(quickstart::Quickstart),
    Versus(versus::Versus),
    Run(run::Run),
    Doctor(doctor::Doctor),
    Report(report::Report),
    Serve(serve::Serve),
    Results(results::Results),
    Compare(compare::Compare),
    Explain(explain::Explain),
    Tune(tune::Tune),
    Cost(cost::Cost),
    Bisect(bisect::Bisect),
    Crash(crash::CrashCommand),
    Isolation(isolation::Isolation),
    Export(export::Export),
    History(history::History),
    Traffic(traffic::Traffic),
    Upgrade(upgrade::Upgrade),
    Plans(plans::Plans),
    Workloads(workloads::Workloads),
    Engine(engine::Engine),
    Sysbench(sysbench::Sysbench),
    Completions(completions::Completions),
    Man(man::Man),
}

impl Command {
    pub(crate) fn execute(self) -> anyhow::Result<ExitCode> {
        match self {
            Self::Quickstart(quickstart) => quickstart.execute(),
            Self::Versus(versus) => versus.execute(),
            Self::Run(run) => run.execute(),
            Self::Doctor(doctor) => doctor.execute(),
            Self::Report(report) => report.execute(),
            Self::Serve(serve) => serve.execute(),
            Self::Results(results) => results.execute(),
            Self::Compare(compare) => Ok(compare.execute()),
            Self::Explain(explain) => explain.execute(),
            Self::Tune(tune) => tune.execute(),
            Self::Cost(cost) => Ok(cost.execute()),
            Self::Bisect(bisect) => Ok(bisect.execute()),
            Self::Crash(crash) => Ok(crash.execute()),
            Self::Isolation(isolation) => Ok(isolation.execute()),
            Self::Export(export) => export.execute(),
            Self::History(history) => history.execute(),
            Self::Traffic(traffic) => traffic.execute(),
            Self::Upgrade(upgrade) => Ok(upgrade.execute()),
            Self::Plans(plans) => plans.execute(),
            Self::Workloads(workloads) => workloads.execute(),
            Self::Engine(engine) => engine.execute(),
            Self::Sysbench(sysbench) => Ok(sysbench.execute()),
            Self::Completions(completions) => completions.execute(),
            Self::Man(man) => man.execute(),
        }
    }
}
