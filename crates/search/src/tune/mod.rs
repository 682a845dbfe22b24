//! Searches for settings that are faster than a system's own.

mod plans;
mod report;
mod space;

use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use dyno_engine::Catalogue;
use dyno_judge::{
    ProbeEffect, ProbeOutcome, TuneProbe, TuneReach, TuneSize, TuneStep, Tuning, ValueSet, candidates,
};
use dyno_lab::{Changes, Plan};
use dyno_report::{TuneComparison, TuneReport};
use dyno_settings::{CrashKind, Product, TuneRoom};
use dyno_stats::Margin;

use self::space::{Space, room};
use crate::session::{Bar, Compared, Lab, Made, Reuse, Session};
use crate::{Ending, duration, images, reported};

/// The prefix of the names of a search's plans.
const PLANS: &str = "tune-";
/// The longest time for which a system is measured in a round, in seconds, unless the user asks for more. A lower
/// limit would save little, because restarts take longer anyway.
const SECONDS_MAX: f64 = 1.0;
/// Number of candidates if neither the user nor a budget sets it.
const CANDIDATES: usize = 16;
/// The seed of the candidates unless the user gives one. It is constant, so that the same command resumes the
/// search.
const SEED: u64 = 1;

/// The longest duration of a round that is accepted from a results file, in seconds: a year.
const ROUND_SECONDS_MAX: f64 = 365.0 * 86_400.0;

/// What a search tunes, and the limits of the search.
#[derive(Clone, Debug)]
pub struct Tune {
    /// Name of a built-in plan, or a file.
    pub plan: String,
    /// The system to tune; by default the plan's base.
    pub system: Option<String>,
    /// The step to tune for.
    pub step: Option<String>,
    /// The group of steps to tune for. Without a step and a group, the system is tuned for all steps.
    pub group: Option<String>,
    /// Number of clients. The default for each step is the smallest number in the plan.
    pub clients: Option<u32>,
    /// The time limit of the search. No comparison begins after it. By default, the search takes as long as 16
    /// candidates need.
    pub budget: Option<Duration>,
    /// Number of candidates at the start of the search. By default, as many as the budget allows.
    pub candidates: Option<u16>,
    /// Rounds of the comparison that confirms the best candidate.
    pub rounds: u32,
    /// Measured seconds of each system in a round. The default is the time in the plan, but at most 1.
    pub seconds: Option<f64>,
    /// A factor, or the name of a scale of the plan.
    pub scale: Option<String>,
}

impl Tune {
    /// Searches for better settings.
    ///
    /// # Errors
    /// The plan cannot be read, nothing can be tuned, the budget is too short, or a comparison cannot be made.
    pub fn search(
        &self,
        (lab, results, seed): (&dyn Lab, &Path, Option<u64>),
    ) -> anyhow::Result<(TuneReport, Ending)> {
        let mut search = TuneInMaking::begin(self, lab, results, seed)?;
        let ending = search.search()?;
        Ok((search.report(), ending))
    }

    fn read_plan(&self) -> anyhow::Result<Plan> {
        let plan = Plan::find(&self.plan, &Catalogue::load()?)?;
        let Some(scale) = &self.scale else { return Ok(plan) };
        let scale = plan.scale_of(scale)?;
        Ok(plan.scaled(&scale))
    }
}

/// A search in progress.
struct TuneInMaking<'a> {
    asked: &'a Tune,
    session: Session<'a>,
    seed: u64,
    /// The name of the plan before the search renamed it.
    name: String,
    plan: Plan,
    /// The position in the plan of the system that is tuned.
    system: usize,
    product: Product,
    tests: Vec<String>,
    room: TuneRoom,
    /// The settings to try. `None` until the base has reported its variables.
    space: Option<Space>,
    size: TuneSize,
    tuning: Tuning,
    /// Whether the search has an answer already, because an earlier run has confirmed its best candidate.
    is_closed: bool,
    made: Vec<TuneComparison>,
    /// The durability of confirmed settings. The first text is the base's durability, and the second is the
    /// durability with the settings, each as the server reported it.
    promises: Vec<(ValueSet, [String; 2])>,
    round_seconds: f64,
}

impl<'a> TuneInMaking<'a> {
    /// Reads the request. Loads no data and starts no server.
    fn begin(
        asked: &'a Tune,
        lab: &'a dyn Lab,
        results: &'a Path,
        seed: Option<u64>,
    ) -> anyhow::Result<Self> {
        let mut plan = asked.read_plan()?;
        let name = plan.name.clone();
        let system = position(&plan, asked.system.as_deref())?;
        if images::bring(images::absent(&plan.systems[system]), lab)? {
            plan = asked.read_plan()?;
        }
        let product = product(&plan, system)?;
        let (mut tests, what) = if let Some(step) = &asked.step {
            plan.keep_one_test(step, asked.clients, asked.seconds, SECONDS_MAX)?;
            (vec![step.clone()], step.clone())
        } else {
            let group = asked.group.as_deref();
            let tests = plan.keep_group(group, asked.clients, asked.seconds, SECONDS_MAX)?;
            (tests, group.unwrap_or(&name).to_owned())
        };
        let id = &plan.systems[system].id;
        tests.retain(|test| plan.steps.iter().any(|step| step.id == *test && step.is_for(id)));
        ensure!(!tests.is_empty(), "{id} does not run {what} (`not_for`)");
        let clients = plan.steps.iter().flat_map(|step| &step.clients).copied().max().unwrap_or(1);
        plan.name = format!("{PLANS}{what}");
        let size = TuneSize { rounds_confirmed: asked.rounds };
        let search = Self {
            asked,
            session: Session::begin(lab, results, seed, &plan.name)?,
            seed: seed.unwrap_or(SEED),
            name,
            system,
            product,
            tests,
            room: room(&plan.systems[system], clients)?,
            plan,
            space: None,
            size,
            tuning: Tuning::new(Vec::new(), size, Margin::least()),
            is_closed: false,
            made: Vec::new(),
            promises: Vec::new(),
            round_seconds: 0.0,
        };
        search.check_budget()?;
        Ok(search)
    }

    /// Returns an error if the budget is too short to compare each candidate once and to confirm the best.
    fn check_budget(&self) -> anyhow::Result<()> {
        let Some(budget) = self.asked.budget else { return Ok(()) };
        let unchanged = Changes::new();
        let seconds =
            |rounds| self.changed(&unchanged, rounds, self.question(&TuneProbe::Control)).expected_seconds();
        let (first, two) = (seconds(1), seconds(2));
        let candidates = self.asked.candidates.map_or(TuneSize::candidates_min(), usize::from);
        let least = first + (two - first) * f64::from(self.size.rounds_least(candidates) - 1);
        ensure!(
            least <= budget.as_secs_f64(),
            "the budget of {} is too short: comparing {candidates} candidates once and confirming the best takes about {}; \
             give a larger --budget, or fewer --candidates, --rounds or --seconds",
            duration(budget.as_secs_f64()),
            duration(least)
        );
        Ok(())
    }

    /// Makes comparisons until the search is complete, the time is over, or the user stops it.
    fn search(&mut self) -> anyhow::Result<Ending> {
        loop {
            let TuneStep::Probe(probe) = self.tuning.next_step(self.reach()) else {
                return Ok(Ending::Ended);
            };
            if let Some(refusal) = self.refusal(&probe) {
                self.take_down(probe, None, None, Some(refusal), 0.0);
                continue;
            }
            let plan = self.plan_of(&probe);
            if self.is_answered(&probe, &plan) {
                self.is_closed = true;
                continue;
            }
            let bar = Bar { tests: &self.tests, alpha: Tuning::alpha(&probe), margin: Margin::least() };
            let what = self.in_words(&probe);
            let Some(compared) = self.session.compare(&plan, &bar, &what, Reuse::All)? else {
                return Ok(Ending::Stopped);
            };
            self.note(probe, &compared)?;
        }
    }

    /// Returns how much of the search the remaining time allows. Enough time is reserved at the end for the
    /// confirmation of the best candidate.
    fn reach(&self) -> TuneReach {
        let Some(budget) = self.asked.budget else {
            return if self.is_closed { TuneReach::Answer } else { TuneReach::Search };
        };
        let elapsed = self.session.elapsed();
        // A damaged results file may have invalid times.
        let round_seconds = self.round_seconds.clamp(0.0, ROUND_SECONDS_MAX);
        let of_rounds = |rounds: u32| {
            Duration::try_from_secs_f64((f64::from(rounds) + 1.0) * round_seconds).unwrap_or_default()
        };
        // The next comparison may take longer than all before it, because later comparisons have more rounds. So its
        // time is also estimated from its number of rounds.
        let next = match self.tuning.next_step(TuneReach::Search) {
            TuneStep::Probe(probe) => of_rounds(self.tuning.rounds(&probe)).max(self.session.longest()),
            TuneStep::End(_) => Duration::ZERO,
        };
        if elapsed >= budget {
            TuneReach::Nothing
        } else if self.is_closed || elapsed + next + of_rounds(self.size.rounds_confirmed) > budget {
            TuneReach::Answer
        } else {
            TuneReach::Search
        }
    }

    /// Whether an earlier run of the search ran out of time before this comparison, and then confirmed the candidate
    /// that was best so far.
    fn is_answered(&self, probe: &TuneProbe, plan: &Plan) -> bool {
        let is_new = matches!(probe, TuneProbe::Search { .. }) && self.session.made(plan).is_none();
        let Some(leader) = self.tuning.leader().filter(|_| is_new) else { return false };
        let confirmation = self.plan_of(&TuneProbe::Confirm(leader));
        matches!(self.session.made(&confirmation), Some(Made::Complete(_)))
    }

    /// Why a comparison must not be made: its settings would weaken durability. `None` if it may be made.
    fn refusal(&self, probe: &TuneProbe) -> Option<String> {
        let (TuneProbe::Search { candidate: values, .. } | TuneProbe::Confirm(values)) = probe else {
            return None;
        };
        self.space.as_ref()?.refusal(values)
    }

    /// Records a comparison. The comparison of the base with itself also determines which settings can be tried.
    fn note(&mut self, probe: TuneProbe, compared: &Compared) -> anyhow::Result<()> {
        let mut effect = compared.effect(self.id())?;
        let mut refused = compared.failure.clone();
        match &probe {
            TuneProbe::Control if effect.is_some() => self.learn(compared)?,
            TuneProbe::Search { candidate: values, .. } | TuneProbe::Confirm(values) if effect.is_some() => {
                if let Some(not_in_force) = not_in_force(compared) {
                    effect = None;
                    refused = Some(format!("not in force: {not_in_force}"));
                } else if let Some(lost) = self.lost(values.clone(), compared) {
                    effect = None;
                    refused = Some(format!("lowered a promise: the server with it {lost}"));
                }
            }
            _ => {}
        }
        let found = match (&effect, &refused) {
            (Some(effect), _) => format!("{:.2} times", effect.ratio),
            (None, refused) => refused.clone().unwrap_or_default(),
        };
        self.session.tell(&format!("{}: {found} (run {})", self.in_words(&probe), compared.run));
        self.take_down(probe, Some(compared.run.0), effect, refused, compared.seconds);
        Ok(())
    }

    fn take_down(
        &mut self,
        probe: TuneProbe,
        run: Option<i64>,
        effect: Option<ProbeEffect>,
        refused: Option<String>,
        seconds: f64,
    ) {
        let rounds = self.tuning.rounds(&probe);
        self.made.push(TuneComparison { run, probe: probe.clone(), rounds, effect, refused, seconds });
        self.tuning.note(probe, effect.map_or(ProbeOutcome::Refused, ProbeOutcome::Measured));
    }

    /// Returns a durability guarantee of the base that a server with changed settings does not give, according to that
    /// server's report. Returns `None` if the server gives all guarantees of the base. Also records what both servers
    /// guarantee.
    fn lost(&mut self, values: ValueSet, compared: &Compared) -> Option<String> {
        let [base, changed] = compared.systems.as_slice() else { return None };
        let [base, changed] = [base, changed].map(|system| reported::facts(system, self.product.clone()));
        let promises = [&base, &changed].map(|facts| facts.promise(CrashKind::Power).to_string());
        self.promises.push((values, promises));
        base.promise_lost_by(&changed)
    }

    /// Learns from the comparison of the base with itself which settings can be tried, and how many candidates the
    /// time allows.
    fn learn(&mut self, control: &Compared) -> anyhow::Result<()> {
        let base = control.systems.first().context("a comparison has two systems")?;
        let space = Space::of(reported::facts(base, self.product.clone()), self.room);
        let settings = space.sizes().len();
        ensure!(
            settings > 0,
            "there is nothing to tune on {}: its server has every value that could be tried on {}, or does not know it",
            self.id(),
            self.product
        );
        let rounds = f64::from(self.tuning.rounds(&TuneProbe::Control));
        self.round_seconds = control.round_seconds.unwrap_or(control.seconds / rounds);
        let load_seconds = (control.seconds - rounds * self.round_seconds).max(0.0);
        let within = |budget: Duration| {
            let rounds = (budget.as_secs_f64() - load_seconds) / self.round_seconds.max(0.001);
            self.size.candidates_within(rounds as u32)
        };
        let by_budget = self.asked.budget.map_or(CANDIDATES, within);
        let number = self.asked.candidates.map_or(by_budget, usize::from);
        let candidates = candidates(&space.sizes(), number, self.seed);
        let expected = f64::from(self.size.rounds_expected(candidates.len())) * self.round_seconds;
        self.session.tell(&format!(
            "{} candidates, {settings} settings, about {}",
            candidates.len(),
            duration(expected)
        ));
        self.tuning.set_candidates(candidates);
        self.space = Some(space);
        Ok(())
    }
}

/// Returns the changed settings that the server has not put in force; `None` if all are in force.
fn not_in_force(compared: &Compared) -> Option<String> {
    let [base, changed] = compared.systems.as_slice() else { return None };
    let (base, asked) = (base.asked(), changed.asked());
    let product = Product::reported(&changed.variables)?;
    let lacking = reported::facts(changed, product).not_in_force().into_iter();
    let of_change = lacking.filter(|it| base.get(&it.name) != asked.get(&it.name));
    let told: Vec<String> = of_change.map(|it| it.to_string()).collect();
    (!told.is_empty()).then(|| told.join(", "))
}

/// The position of the system to tune.
fn position(plan: &Plan, wanted: Option<&str>) -> anyhow::Result<usize> {
    let Some(wanted) = wanted else { return Ok(plan.base) };
    let found = plan.systems.iter().position(|system| system.id == wanted);
    found.with_context(|| {
        let known: Vec<&str> = plan.systems.iter().map(|system| system.id.as_str()).collect();
        format!("the plan {} has no system {wanted}; it has: {}", plan.name, known.join(", "))
    })
}

/// Returns the product of the system to tune. Returns an error if Dyno does not start the system.
fn product(plan: &Plan, system: usize) -> anyhow::Result<Product> {
    let system = &plan.systems[system];
    let Some(entry) = system.source.entry() else {
        anyhow::bail!(
            "{} is a server that runs already, so its settings cannot be changed; tune a system that Dyno starts",
            system.id
        )
    };
    Product::of(entry, system.source.storage_engine())
        .with_context(|| format!("{} has no version that settings are known for", system.id))
}
