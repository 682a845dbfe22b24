//! Proves which changes cause a difference, by comparisons.

mod change;
mod changes;
mod replay;

use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use dyno_engine::Catalogue;
use dyno_judge::{
    Explanation, Probe, ProbeLength, ProbeOutcome, ProofQuestion, ProofStep, Proving, rounds_again,
    rounds_for,
};
use dyno_lab::{Plan, Probed, Source, System};
use dyno_report::{MadeProbe, ProofReport};
use dyno_stats::Margin;
use dyno_store::{Run, RunId, SearchQuestion};

pub(crate) use self::change::{RUN, step_name};
use self::changes::Changes;
pub(crate) use self::replay::so_far;
use crate::explain::{in_the_background, is_decided, reported_facts};
use crate::session::{Bar, Compared, Lab, Made, Reuse, Session};
use crate::{Ending, images};

/// The probability that any comparison of a whole proof gives a false verdict.
const ALPHA: f64 = 0.05;
/// The longest time for which a system is measured in a round, in seconds, unless the user asks for more. A lower
/// limit would save little, because restarts take longer anyway.
const SECONDS_MAX: f64 = 1.0;
/// Number of rounds in the first comparison, unless the user sets the number. The first comparison shows the noise.
const ROUNDS_FIRST: u32 = 6;
/// Largest number of rounds in a comparison, if the noise of the first one determines the number.
const ROUNDS_MAX: u32 = 12;

/// The prefix of the names of a proof's plans.
const PLANS: &str = "explain-";

/// Positions of the two systems in `ProofInMaking::builds`.
const BASE: usize = 0;
const CANDIDATE: usize = 1;

/// How a difference is proven.
#[derive(Clone, Debug, Default)]
pub struct Prove {
    /// The time limit of the proof. A comparison does not begin if it would probably end after this time.
    pub budget: Option<Duration>,
    /// Rounds of each comparison. By default, the noise of the first comparison decides the number.
    pub rounds: Option<u32>,
    /// Measured seconds of each system in a round. The default is the time in the run's plan, but at most 1.
    pub seconds: Option<f64>,
    /// The name or file of the run's plan. It is needed if the plan's text refers to other files in the plan's
    /// folder.
    pub plan: Option<String>,
}

impl Prove {
    /// Proves the cause of the largest of the given differences.
    ///
    /// # Errors
    /// There is no difference, the difference has no parts, a comparison cannot be made, or neighbours (other processes
    /// or guests of the host) disturbed a comparison too much for a verdict.
    pub fn search(
        &self,
        (lab, results, seed): (&dyn Lab, &Path, Option<u64>),
        run: &Run,
        explanations: &[Explanation],
    ) -> anyhow::Result<(ProofReport, Ending)> {
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
        let plan = plan_of(self, run)?;
        let is_compared =
            |system: &&System| [&explanation.base, &explanation.candidate].contains(&&system.id);
        images::bring(plan.systems.iter().filter(is_compared).filter_map(images::absent), lab)?;
        let mut proof = ProofInMaking::begin(self, (lab, results, seed), run, explanation)?;
        proof.check_images(run)?;
        let ending = proof.search()?;
        Ok((proof.report(run), ending))
    }
}

/// Whether there may be a difference: the test has a verdict, or its own interval excludes 1. With many tests and
/// few rounds, a run may decide nothing. The proof can still succeed, because its first comparison judges this
/// difference alone.
fn may_be_one(explanation: &Explanation) -> bool {
    is_decided(explanation.finding) || explanation.interval.is_some_and(|interval| interval.excludes_one())
}

/// The question that identifies the comparisons of a difference's proof.
pub(crate) fn question(run: &Run, explanation: &Explanation) -> SearchQuestion {
    let Explanation { base, candidate, step, clients, .. } = explanation.clone();
    SearchQuestion::Proof { run_started_at_ms: run.record.started_at_ms, base, candidate, step, clients }
}

/// The name of the plans of a proof's comparisons.
pub(crate) fn plan_name(step: &str) -> String {
    format!("{PLANS}{step}")
}

/// A proof in progress.
struct ProofInMaking<'a> {
    wanted: &'a Prove,
    session: Session<'a>,
    explanation: &'a Explanation,
    question: SearchQuestion,
    run: RunId,
    plan: Plan,
    base: usize,
    candidate: usize,
    changes: Changes,
    /// The builds of the base and the candidate when the proof was made, if the proof is only read. `None` if the proof
    /// is being made now, with the current builds.
    builds: Option<[Option<String>; 2]>,
    proving: Proving,
    alpha: f64,
    made: Vec<MadeProbe>,
    /// Number of rounds of a comparison, unless the comparison is repeated with more rounds.
    rounds: u32,
}

impl<'a> ProofInMaking<'a> {
    fn begin(
        wanted: &'a Prove,
        (lab, results, seed): (&'a dyn Lab, &'a Path, Option<u64>),
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
        let proving = Proving::new(ProofQuestion {
            changes: changes.count(),
            suspects: changes.suspects,
            is_all: changes.others.is_empty(),
            ratio: explanation.ratio,
            margin: Margin::least(),
        });
        Ok(Self {
            wanted,
            session: Session::begin(lab, results, seed, &plan.name)?,
            explanation,
            question: question(run, explanation),
            run: run.id,
            plan,
            base,
            candidate,
            changes,
            builds: None,
            alpha: ALPHA / proving.probes_max() as f64,
            proving,
            made: Vec::new(),
            rounds: wanted.rounds.unwrap_or(ROUNDS_FIRST),
        })
    }

    /// Returns an error if the image of a system has changed since the run. The image's name may now refer to another
    /// image than the one that the run measured.
    fn check_images(&self, run: &Run) -> anyhow::Result<()> {
        for system in [self.base, self.candidate].map(|position| &self.plan.systems[position]) {
            let measured = run.systems.iter().find(|it| it.id == system.id).and_then(|it| it.image.as_ref());
            let (Source::Image { installation, .. }, Some(then)) = (&system.source, measured) else {
                continue;
            };
            let now = installation.image();
            ensure!(
                now.as_ref() == Some(then),
                "run {} measured {} as {then}, and its name means {} now; bring the earlier image back, or run the plan again",
                run.id,
                system.id,
                now.as_deref().unwrap_or("nothing")
            );
        }
        Ok(())
    }

    /// Makes comparisons until the proof is complete, the time is over, or the user stops it.
    fn search(&mut self) -> anyhow::Result<Ending> {
        loop {
            let ProofStep::Probe(probe, length) = self.proving.next_step() else { return Ok(Ending::Ended) };
            let longest = self.session.longest();
            let is_over = |budget| !longest.is_zero() && self.session.elapsed() + longest > budget;
            if self.wanted.budget.is_some_and(is_over) {
                self.session
                    .tell("the time of --budget is over; the same command with a larger one continues");
                return Ok(Ending::Ended);
            }
            let Some(compared) = self.compare(&probe, length)? else { return Ok(Ending::Stopped) };
            self.note(probe, length, compared)?;
            self.tell_last();
        }
    }

    /// Takes comparisons from earlier runs of the search, up to the first comparison that is missing.
    fn replay(&mut self) -> anyhow::Result<()> {
        while let ProofStep::Probe(probe, length) = self.proving.next_step() {
            let plan = self.plan_of_probe(&probe, length);
            let Some(Made::Complete(run)) = self.session.made(&plan) else { break };
            let compared = self.session.judge(run, &self.bar())?;
            self.note(probe, length, compared)?;
        }
        Ok(())
    }

    /// The criteria by which a comparison is judged.
    fn bar(&self) -> Bar<'a> {
        Bar {
            tests: std::slice::from_ref(&self.explanation.step),
            alpha: self.alpha,
            margin: Margin::least(),
        }
    }

    /// Makes a comparison, or takes it from an earlier run of the search. Returns `None` if the user stopped it.
    fn compare(&mut self, probe: &Probe, length: ProbeLength) -> anyhow::Result<Option<Compared>> {
        let what = format!("{} with {}", self.explanation.base, self.in_words(probe));
        let what = match length {
            ProbeLength::Usual => what,
            ProbeLength::Longer => format!("{what} again, with {} rounds", self.rounds_of(length)),
        };
        let plan = self.plan_of_probe(probe, length);
        self.session.compare(&plan, &self.bar(), &what, Reuse::All)
    }

    fn rounds_of(&self, length: ProbeLength) -> u32 {
        match length {
            ProbeLength::Usual => self.rounds,
            ProbeLength::Longer => rounds_again(self.rounds, ROUNDS_MAX),
        }
    }

    fn plan_of_probe(&self, probe: &Probe, length: ProbeLength) -> Plan {
        let (rounds, question) = (self.rounds_of(length), self.question.clone());
        let (mut plan, second) = match probe {
            Probe::Whole => {
                (self.plan.probe(self.base, Probed::System(self.candidate), rounds, question), CANDIDATE)
            }
            Probe::Changes(groups) => {
                let chosen = self.changes.of(groups);
                (self.plan.probe(self.base, Probed::Mixed(chosen.mixture()), rounds, question), BASE)
            }
        };
        if let (Some(builds), Some(record)) = (&self.builds, &mut plan.search) {
            for (side, of) in record.sides.iter_mut().zip([BASE, second]) {
                side.build.clone_from(&builds[of]);
            }
        }
        plan
    }

    /// Describes the second system of a comparison: `new`, or `it with query_cache_type = 1`, where "it" is the base.
    fn in_words(&self, probe: &Probe) -> String {
        match probe {
            Probe::Whole => self.explanation.candidate.clone(),
            Probe::Changes(groups) => format!("it with {}", self.changes.words(groups)),
        }
    }

    /// Records a comparison. If the user set the number of rounds, all comparisons have that number, and no
    /// comparison is repeated with more rounds. Otherwise, the first comparison decides the number of rounds of the
    /// later ones.
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

    /// Reports the result of the most recent comparison to the user.
    fn tell_last(&self) {
        let Some(MadeProbe { run, probe, effect, refused, .. }) = self.made.last() else { return };
        self.session.tell(&format!(
            "{}: {} (run {run})",
            self.in_words(probe),
            match effect {
                Some(effect) => format!("{:.2} times {}", effect.ratio, self.explanation.base),
                None => refused.clone().unwrap_or_default(),
            }
        ));
    }

    fn report(&self, run: &Run) -> ProofReport {
        let proof = self.proving.so_far();
        let mut others = self.changes.others.clone();
        if others.is_empty() && proof.all_changes.is_some() {
            others.push(self.changes.unstated.clone());
        }
        let Explanation { base, candidate, step, clients, ratio, interval, .. } = self.explanation.clone();
        ProofReport {
            run: self.run.0,
            changes: self.changes.told(reported_facts(run, &base).as_ref()),
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

/// The plan of the run: the plan that the user names, or the plan that is stored with the run.
fn plan_of(wanted: &Prove, run: &Run) -> anyhow::Result<Plan> {
    let catalogue = Catalogue::load()?;
    let named = wanted.plan.as_ref().map(|name| Plan::find(name, &catalogue)).transpose()?;
    let plan = Plan::of_run(run, named, &catalogue);
    plan.with_context(|| format!("cannot make the systems of run {} again", run.id))
}
