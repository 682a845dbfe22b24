//! `dyno explain --prove`: makes the comparisons that a proof asks for, and prints the proof.

use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use dyno_engine::Catalogue;
use dyno_judge::{
    Explanation, Probe, ProbeLength, ProbeOutcome, ProofQuestion, ProofStep, Proving, rounds_again,
    rounds_for,
};
use dyno_lab::{Plan, Probed};
use dyno_report::{MadeProbe, ProofReport, render_proof};
use dyno_stats::Margin;
use dyno_store::{Run, RunId};

use super::changes::Changes;
use super::why::in_the_background;
use super::{Explain, ProveFlags, is_decided, settings};
use crate::commands::made::{Made, MadeRuns, PLANS_OF_PROOFS, TEXTS_OF_PROOFS};
use crate::commands::probe::{Bar, Compared, Prober};
use crate::commands::run::RunFlags;
use crate::{interrupt, output};

/// The error probability of all comparisons of a proof together.
const ALPHA: f64 = 0.05;
/// Measured seconds of a system in a round unless the user asks for more. Restarts take longer anyway.
const SECONDS_MAX: f64 = 1.0;
/// Rounds of the first comparison, which shows the noise, unless the user asks for others.
const ROUNDS_FIRST: u32 = 6;
/// Most rounds of a comparison that the noise of the first asks for.
const ROUNDS_MAX: u32 = 12;

impl Explain {
    /// Proves the largest of the differences.
    pub(super) fn prove(&self, run: &Run, explanations: &[Explanation]) -> anyhow::Result<ExitCode> {
        let size = |it: &&Explanation| it.ratio.ln().abs();
        let largest =
            explanations.iter().filter(|it| may_be_one(it)).max_by(|a, b| size(a).total_cmp(&size(b)));
        let Some(explanation) = largest else {
            let asked = &explanations[0];
            bail!(
                "nothing to prove: run {} shows no difference between {} and {} in {}",
                run.id,
                asked.base,
                asked.candidate,
                asked.step
            );
        };
        let mut session = Session::begin(&self.proving, &self.flags.results.path, run, explanation)?;
        let is_stopped = session.search(&self.flags)? == Search::Stopped;
        let report = session.report(run);
        output::print_rendered(&render_proof(&report, self.format.into(), &output::render_options()))?;
        Ok(if is_stopped { interrupt::exit_code() } else { ExitCode::SUCCESS })
    }
}

/// Whether there may be a difference: one that is decided, or that its own interval shows. Among many tests a few rounds
/// decide nothing, and the first comparison of a proof judges the difference alone.
fn may_be_one(explanation: &Explanation) -> bool {
    is_decided(explanation.finding) || explanation.interval.is_some_and(|interval| interval.excludes_one())
}

/// What the comparisons of a proof are about, up to the system that is compared with the base.
pub(super) fn subject(run: RunId, explanation: &Explanation) -> String {
    let Explanation { base, candidate, step, clients, .. } = explanation;
    format!("{TEXTS_OF_PROOFS} {run}, {base} and {candidate} in {step} at {clients} clients: {base} and")
}

/// The name of the plans of a proof's comparisons.
pub(super) fn plan_name(step: &str) -> String {
    format!("{PLANS_OF_PROOFS}{step}")
}

/// How a search for a proof ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Search {
    /// The proof is complete, or the time is over.
    Ended,
    /// The user stopped it.
    Stopped,
}

/// A proof in the making.
pub(super) struct Session<'a> {
    wanted: &'a ProveFlags,
    results: &'a Path,
    explanation: &'a Explanation,
    run: RunId,
    plan: Plan,
    base: usize,
    candidate: usize,
    changes: Changes,
    proving: Proving,
    alpha: f64,
    made: Vec<MadeProbe>,
    made_before: MadeRuns,
    /// Rounds of a comparison.
    rounds: u32,
}

impl<'a> Session<'a> {
    pub(super) fn begin(
        wanted: &'a ProveFlags,
        results: &'a Path,
        run: &Run,
        explanation: &'a Explanation,
    ) -> anyhow::Result<Self> {
        let Explanation { base, candidate, step, clients, .. } = explanation;
        if let Some(reason) = in_the_background(run, step) {
            bail!("{reason}; name one by --test");
        }
        let mut plan = plan_of(wanted, run)?;
        let position = |id: &str| {
            let found = plan.systems.iter().position(|system| system.id == id);
            found.with_context(|| format!("the plan of run {} has no system {id}", run.id))
        };
        let (base, candidate) = (position(base)?, position(candidate)?);
        for system in [base, candidate].map(|position| &plan.systems[position]) {
            ensure!(
                system.source.is_started_by_dyno(),
                "{} is a server that runs already, so its settings cannot be changed; prove it with systems that Dyno \
                 starts",
                system.id
            );
        }
        let family = |position: usize| plan.systems[position].source.entry().map(|entry| entry.family);
        ensure!(
            family(base) == family(candidate),
            "{} and {} are different engines, whose settings are not the same; --prove is for two systems of one engine",
            explanation.base,
            explanation.candidate
        );
        let of_one = plan.steps_of_one(step, [base, candidate]);
        plan.keep_test_after(&of_one, step, Some(*clients), wanted.seconds, SECONDS_MAX)?;
        plan.name = plan_name(step);
        let changes = Changes::between(&plan, (base, candidate), explanation);
        ensure!(
            changes.count() > 0,
            "the plan gives {} and {} the same settings, limits and steps in force, so there is nothing to take away{}",
            explanation.base,
            explanation.candidate,
            if changes.others.is_empty() {
                String::new()
            } else {
                format!("; what differs is {}", changes.others.join(" and "))
            }
        );
        let made_before = MadeRuns::read(results, &plan.name)?;
        let proving = Proving::new(ProofQuestion {
            changes: changes.count(),
            suspects: changes.suspects,
            is_all: changes.others.is_empty(),
            ratio: explanation.ratio,
            margin: Margin::least(),
        });
        Ok(Self {
            wanted,
            results,
            explanation,
            run: run.id,
            plan,
            base,
            candidate,
            changes,
            alpha: ALPHA / proving.probes_max() as f64,
            proving,
            made: Vec::new(),
            made_before,
            rounds: wanted.rounds.unwrap_or(ROUNDS_FIRST),
        })
    }

    /// Makes comparisons until the proof is complete, the time is over, or the user stops it.
    fn search(&mut self, flags: &RunFlags) -> anyhow::Result<Search> {
        let began = Instant::now();
        let mut longest = Duration::ZERO;
        loop {
            let ProofStep::Probe(probe, length) = self.proving.next_step() else { return Ok(Search::Ended) };
            let is_over = |budget| !longest.is_zero() && began.elapsed() + longest > budget;
            if self.wanted.budget.is_some_and(is_over) {
                output::tell("the time of --budget is over; the same command with a larger one goes on");
                return Ok(Search::Ended);
            }
            let started = Instant::now();
            let Some(compared) = self.compare(&probe, length, flags)? else { return Ok(Search::Stopped) };
            longest = longest.max(started.elapsed());
            self.note(probe, length, compared)?;
            self.tell_last();
        }
    }

    /// Takes the comparisons that earlier starts have made, up to the first that is missing.
    pub(super) fn replay(&mut self) -> anyhow::Result<()> {
        while let ProofStep::Probe(probe, length) = self.proving.next_step() {
            let plan = self.plan_of_probe(&probe, length);
            let Some(Made::Complete(run)) = self.made_before.of(&plan) else { break };
            let compared = self.bar().judge(self.results, run)?;
            self.note(probe, length, compared)?;
        }
        Ok(())
    }

    /// How a comparison is judged.
    fn bar(&self) -> Bar<'a> {
        Bar {
            tests: std::slice::from_ref(&self.explanation.step),
            alpha: self.alpha,
            margin: Margin::least(),
        }
    }

    /// Makes a comparison, or takes one that an earlier start has made. None if the user stopped it.
    fn compare(
        &self,
        probe: &Probe,
        length: ProbeLength,
        flags: &RunFlags,
    ) -> anyhow::Result<Option<Compared>> {
        let what = format!("{} with {}", self.explanation.base, self.in_words(probe));
        let what = match length {
            ProbeLength::Usual => what,
            ProbeLength::Longer => format!("{what} again, with {} rounds", self.rounds_of(length)),
        };
        let prober = Prober { flags, bar: self.bar() };
        prober.compare_once(&self.plan_of_probe(probe, length), &self.made_before, &what)
    }

    fn rounds_of(&self, length: ProbeLength) -> u32 {
        match length {
            ProbeLength::Usual => self.rounds,
            ProbeLength::Longer => rounds_again(self.rounds, ROUNDS_MAX),
        }
    }

    fn plan_of_probe(&self, probe: &Probe, length: ProbeLength) -> Plan {
        let rounds = self.rounds_of(length);
        let seconds = self.plan.steps.last().map_or(0.0, |step| step.seconds);
        // The text of its plan tells a comparison from every other.
        let about = format!(
            "{} {}, {rounds} rounds of {seconds} s",
            subject(self.run, self.explanation),
            self.in_words(probe)
        );
        match probe {
            Probe::Whole => self.plan.probe(self.base, Probed::System(self.candidate), rounds, &about),
            Probe::Changes(groups) => {
                let chosen = self.changes.of(groups);
                self.plan.probe(self.base, Probed::Mixed(chosen.mixture()), rounds, &about)
            }
        }
    }

    /// `new`, or `old with query_cache_type = 1`.
    fn in_words(&self, probe: &Probe) -> String {
        match probe {
            Probe::Whole => self.explanation.candidate.clone(),
            Probe::Changes(groups) => format!("it with {}", self.changes.words(groups)),
        }
    }

    /// Takes down a comparison. The first decides how many rounds the others have, unless the user did: then none is made again.
    fn note(&mut self, probe: Probe, length: ProbeLength, compared: Compared) -> anyhow::Result<()> {
        let effect = compared.effect(&self.explanation.base)?;
        let outcome = effect.map_or(ProbeOutcome::Refused, ProbeOutcome::Measured);
        if probe == Probe::Whole && self.wanted.rounds.is_none() {
            self.rounds = rounds_for(&compared.ln_ratios(), self.alpha, ROUNDS_MAX);
        }
        let Compared { run, seconds, failure, .. } = compared;
        self.made.push(MadeProbe { run: run.0, probe: probe.clone(), effect, refused: failure, seconds });
        let length = if self.wanted.rounds.is_some() { ProbeLength::Longer } else { length };
        self.proving.note(probe, length, outcome);
        Ok(())
    }

    /// Tells the user what the last comparison found.
    fn tell_last(&self) {
        let Some(MadeProbe { run, probe, effect, refused, .. }) = self.made.last() else { return };
        output::tell(&format!(
            "{}: {} (run {run})",
            self.in_words(probe),
            match effect {
                Some(effect) => format!("{:.2} times {}", effect.ratio, self.explanation.base),
                None => refused.clone().unwrap_or_default(),
            }
        ));
    }

    pub(super) fn report(&self, run: &Run) -> ProofReport {
        let proof = self.proving.so_far();
        let mut others = self.changes.others.clone();
        if others.is_empty() && proof.all_changes.is_some() {
            others.push(self.changes.unstated.clone());
        }
        let Explanation { base, candidate, step, clients, ratio, interval, .. } = self.explanation.clone();
        ProofReport {
            run: self.run.0,
            changes: self.changes.told(settings::facts(run, &base).as_ref()),
            base,
            candidate,
            step,
            clients,
            ratio,
            interval,
            others,
            proof,
            probes: self.made.clone(),
            probes_max: self.proving.probes_max(),
            alpha: ALPHA,
        }
    }
}

/// The plan of the run, as the user names it or as the run keeps it.
fn plan_of(wanted: &ProveFlags, run: &Run) -> anyhow::Result<Plan> {
    let catalogue = Catalogue::load()?;
    let named = wanted.plan.as_ref().map(|name| Plan::find(name, &catalogue)).transpose()?;
    let plan = Plan::of_run(run, named, &catalogue);
    plan.with_context(|| format!("cannot make the systems of run {} again", run.id))
}
