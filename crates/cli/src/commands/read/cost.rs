//! `dyno cost`: finds the cheapest system of a run for a load, on the measured hardware or on other hardware.

use std::process::ExitCode;

use anyhow::bail;
use clap::Args;
use dyno_host::Confinement;
use dyno_judge::{
    CostAnswer, Forecast, Hardware, Priced, Rule, Target, WantedHardware, analyse, cheapest, check_trials,
    forecasts,
};
use dyno_lab::{HardwareChoice, HardwareNeed, PriceList};
use dyno_report::render;
use dyno_store::{Price, Run, RunChoice, RunId, StepRecord, Store, SystemRecord};

use crate::options::{ReportFormat, ResultsFile, positive, run_id};
use crate::{failure, output};

/// Find the cheapest system of a run for a load, and predict systems on other hardware
#[derive(Debug, Args)]
#[command(
    after_help = "A system meets the target if the whole 95% intervals of its throughput and of its p99 meet it, over at least \
three rounds.

With --iops or --cpus, the throughput on such hardware is predicted, from how the systems' throughput depends on \
their limits (`confinement`, best as a sweep). Measured systems are predicted from the others too, and the \
errors are shown. If the errors are above 20%, there is no prediction but only an upper bound.

Exit status: 0 a measured or predicted system meets the target; 1 none does; 2 an error; 3 not decided.

Examples:
  dyno cost --tps 1000 --p99-ms 20
  dyno cost 3 --tps 2000 --test read-write --clients 64 --format markdown
  dyno cost --tps 2000 --prices aws-2026-01 --instance c7i --volume gp3
  dyno cost --tps 2000 --iops 15000,20000 --cpus 8"
)]
pub(crate) struct Cost {
    /// The run's number; by default the latest run
    #[arg(value_parser = run_id)]
    run: Option<RunId>,
    #[command(flatten)]
    results: ResultsFile,
    /// Operations per second that the system must do; the step determines what an operation is
    #[arg(long = "tps", value_name = "N", value_parser = positive)]
    operations_per_second: f64,
    /// Largest p99 of latency, in milliseconds
    #[arg(long, value_name = "MS", value_parser = positive)]
    p99_ms: Option<f64>,
    /// The step; required if the run has several
    #[arg(long = "test", value_name = "STEP")]
    step: Option<String>,
    /// Only at these numbers of clients
    #[arg(long, value_name = "N", value_delimiter = ',')]
    clients: Vec<u32>,
    /// Price all systems by this list (built in, or a .toml file) instead of by their plan
    #[arg(long, value_name = "LIST")]
    prices: Option<String>,
    /// Instance of the list, or a kind of instance; by default the cheapest that satisfies a system's limits
    #[arg(long, value_name = "NAME", requires = "prices")]
    instance: Option<String>,
    /// Volume of the list, or a kind of volume; by default the cheapest that satisfies a system's limits
    #[arg(long, value_name = "NAME", requires = "prices")]
    volume: Option<String>,
    /// Predict for these numbers of reads per second, and of writes per second
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = clap::value_parser!(u64).range(1..))]
    iops: Vec<u64>,
    /// Predict for these numbers of server CPUs
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = clap::value_parser!(u64).range(1..))]
    cpus: Vec<u64>,
    /// Output format
    #[arg(long, value_enum, default_value_t = ReportFormat::Text)]
    format: ReportFormat,
}

impl Cost {
    /// Errors have an exit status other than 1, because 1 is an answer of this command.
    pub(crate) fn execute(&self) -> ExitCode {
        failure::of_gate(self.answer())
    }

    fn answer(&self) -> anyhow::Result<ExitCode> {
        let store = Store::open_read_only(&self.results.path)?;
        let run = store.load_run(RunChoice::from(self.run))?;
        let prices = self.prices()?;
        prices.check(&run)?;
        let step = self.step(&run)?;
        let clients = self.clients(&run, step)?;
        let checks = check_trials(&store, &run)?;
        let analysis = analyse(&run, &checks, &Rule::default());
        let wanted = WantedHardware { cpus: self.cpus.clone(), iops: self.iops.clone() };
        let forecasts: Vec<Forecast> = if wanted == WantedHardware::default() {
            Vec::new()
        } else {
            forecasts(&run, &analysis, &step.id, &clients, &wanted)
        };
        let target = Target { operations_per_second: self.operations_per_second, p99_ms: self.p99_ms };
        let price = |system: &SystemRecord, elsewhere: Option<Hardware>| prices.of(&run, system, elsewhere);
        let Some(answer) = cheapest(&run, &analysis, target, &step.id, &clients, forecasts, &price) else {
            bail!("run {} has measured nothing in {}; `dyno report {0}` shows what it has", run.id, step.id);
        };
        self.print(&answer)?;
        Ok(match answer.cheapest_of_all() {
            Some(_) => ExitCode::SUCCESS,
            None if answer.is_open() => ExitCode::from(failure::NOT_DECIDED),
            None => ExitCode::FAILURE,
        })
    }

    fn print(&self, answer: &CostAnswer) -> anyhow::Result<()> {
        let format = self.format.into();
        output::print_rendered(&render(answer, format, &output::render_options()))
    }

    fn prices(&self) -> anyhow::Result<Prices> {
        let Some(name) = &self.prices else { return Ok(Prices::OfPlan) };
        let choice = HardwareChoice { instance: self.instance.clone(), volume: self.volume.clone() };
        Ok(Prices::OfList { list: PriceList::find(name)?, choice })
    }

    /// The requested step. If none was requested, the only step that is measured for a time.
    fn step<'a>(&self, run: &'a Run) -> anyhow::Result<&'a StepRecord> {
        let is_test = |step: &&StepRecord| step.seconds.is_some() && step.background_of.is_none();
        let steps: Vec<&StepRecord> = run.steps.iter().filter(is_test).collect();
        let known = || steps.iter().map(|step| step.id.as_str()).collect::<Vec<_>>().join(", ");
        match (&self.step, steps.as_slice()) {
            (Some(wanted), _) => match steps.iter().find(|step| step.id == *wanted) {
                Some(step) => Ok(step),
                None => bail!("run {} has no test {wanted}; it has {}", run.id, known()),
            },
            (None, [only]) => Ok(only),
            (None, []) => bail!("run {} has no step that is measured for a time", run.id),
            (None, _) => bail!("run {} has several tests; choose one with --test: {}", run.id, known()),
        }
    }

    fn clients(&self, run: &Run, step: &StepRecord) -> anyhow::Result<Vec<u32>> {
        if let Some(other) = self.clients.iter().find(|clients| !step.clients.contains(clients)) {
            let known: Vec<String> = step.clients.iter().map(u32::to_string).collect();
            bail!(
                "run {} has not measured {} at {other} clients, but at {}",
                run.id,
                step.id,
                known.join(", ")
            );
        }
        Ok(if self.clients.is_empty() { step.clients.clone() } else { self.clients.clone() })
    }
}

/// The source of prices.
enum Prices {
    /// The prices that the plan gave its systems.
    OfPlan,
    OfList {
        list: PriceList,
        choice: HardwareChoice,
    },
}

impl Prices {
    /// Returns an error if no system has a price in the plan, or if the list lacks a price for a system.
    fn check(&self, run: &Run) -> anyhow::Result<()> {
        match self {
            Self::OfPlan if run.systems.iter().all(|system| system.dollars_per_year().is_none()) => bail!(
                "run {} has no prices; name a list with --prices, or give its plan's systems a `price` (docs/do/cost.md)",
                run.id
            ),
            Self::OfPlan => Ok(()),
            Self::OfList { list, choice } => {
                for system in &run.systems {
                    let need = need(system, Hardware::of(run, system));
                    if let Err(problem) = list.cheapest(choice, &need) {
                        bail!("{}: {problem}", system.id);
                    }
                }
                Ok(())
            }
        }
    }

    /// The price of a system on its own hardware, or on the hardware `elsewhere` if that is given. `None` if there
    /// is no price.
    fn of(&self, run: &Run, system: &SystemRecord, elsewhere: Option<Hardware>) -> Option<Priced> {
        let hardware = elsewhere.unwrap_or_else(|| Hardware::of(run, system));
        let need = need(system, hardware);
        match self {
            Self::OfList { list, choice } => list.cheapest(choice, &need).ok().map(by_list),
            Self::OfPlan if elsewhere.is_none() => {
                let dollars_per_year = system.dollars_per_year()?;
                Some(Priced { dollars_per_year, by_list: system.price.clone() })
            }
            Self::OfPlan => {
                let price = system.price.as_ref()?;
                // The other hardware may need another size than the plan's hardware has. Therefore the price list is
                // searched by kind. Hardware without a kind has only one size.
                let instance = price.instance.as_ref().map(|it| it.kind.as_ref().unwrap_or(&it.name).clone());
                let volume = price.volume.as_ref().map(|it| it.kind.as_ref().unwrap_or(&it.name).clone());
                let list = PriceList::find(&price.list).ok().filter(|list| list.date == price.date)?;
                list.price(&HardwareChoice { instance, volume }, &need).ok().map(by_list)
            }
        }
    }
}

fn by_list(price: Price) -> Priced {
    Priced { dollars_per_year: price.dollars_per_year(), by_list: Some(price) }
}

/// The hardware that a system needs: `hardware`, and the system's limits on memory and volume.
fn need(system: &SystemRecord, hardware: Hardware) -> HardwareNeed {
    let limits: Confinement =
        system.confinement.clone().and_then(|limits| serde_json::from_value(limits).ok()).unwrap_or_default();
    HardwareNeed {
        cpus: hardware.cpus,
        iops: hardware.read_iops.max(hardware.write_iops),
        ..HardwareNeed::of(&limits)
    }
}
