//! The commands, one file each.

mod bisect;
mod compare;
mod completions;
mod cost;
mod crash;
mod doctor;
mod drive;
mod engine;
mod explain;
mod export;
mod history;
mod man;
mod next;
mod outline;
mod plans;
mod quickstart;
mod report;
mod results;
mod run;
mod serve;
mod sysbench;
mod traffic;
mod tune;
mod upgrade;
mod versus;
mod workloads;

use std::process::ExitCode;

use clap::Subcommand;

pub(crate) use crash::CrashClient;
pub(crate) use drive::{Drive, drive};
pub(crate) use run::Task;

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
