//! Reports whether an upgrade is safe, from a run of the plan that [`dyno_lab::Upgrade`] makes, or from a refusal
//! of the data.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use anyhow::Context as _;
use dyno_engine::{DumpError, StartError, UpgradeError};
use dyno_judge::{Analysis, Rule, Safety, TestComparison, analyse, check_trials, upgrade_found};
use dyno_lab::{DataError, RunError};
use dyno_report::{DigestPlans, ProofState, Refusal, UpgradeReport, UpgradedSystem, disturbed_tests};
use dyno_stats::Margin;
use dyno_store::{Outcome, Run, RunChoice, RunId, StatementPlan, Store};

use crate::explain::{Explainer, proof, settings_between};

/// An upgrade that was tried.
#[derive(Clone, Copy, Debug)]
pub struct TriedUpgrade<'a> {
    /// The ids of both systems in the plan: before and after the upgrade.
    pub ids: &'a [String; 2],
    pub traffic: &'a str,
    pub margin: Margin,
}

impl TriedUpgrade<'_> {
    /// Returns the report of the upgrade's run. `given` says, by system, with which data the system started.
    ///
    /// # Errors
    /// The results file cannot be read.
    pub fn report(
        &self,
        results: &Path,
        run: RunId,
        given: &BTreeMap<String, String>,
    ) -> anyhow::Result<UpgradeReport> {
        let store = Store::open_read_only(results)?;
        let run = store.load_run(RunChoice::Id(run))?;
        let checks = check_trials(&store, &run)?;
        let analysis = analyse(&run, &checks, &Rule { margin: self.margin, ..Rule::default() });
        let plans = store.statement_plans(run.id).context("cannot read the plans of statements")?;
        let [from, to] = self.ids;
        let replay = analysis.replays.first().cloned();
        let found = replay.as_ref().and_then(|replay| upgrade_found(replay, from, to, self.margin));
        let system = |id: &String| UpgradedSystem {
            id: id.clone(),
            version: run.systems.iter().find(|it| it.id == *id).and_then(|it| it.engine_version.clone()),
            data: given.get(id).cloned(),
        };
        let failures = failures(&run, from, to);
        let slower: Vec<String> = found
            .iter()
            .flat_map(|found| &found.slower.digests)
            .filter_map(|at| Some(replay.as_ref()?.digests.get(*at)?.statement.clone()))
            .collect();
        Ok(UpgradeReport {
            safety: match &found {
                _ if !failures.is_empty() => Safety::NotSafe,
                Some(found) => found.safety,
                None => Safety::NotDecided,
            },
            from: system(from),
            to: system(to),
            traffic: self.traffic.to_owned(),
            margin: self.margin,
            run: Some(run.id.0),
            refusal: None,
            plans: self.differing_plans(&run, &plans, &slower),
            proof: self.proof((&store, results), &run, &analysis)?,
            settings: settings_between(&run, from, to),
            warnings: failures.into_iter().chain(warnings(&analysis)).collect(),
            found,
            replay,
        })
    }

    /// Returns both systems' plans for each of the `statements` whose plans differ between the systems.
    fn differing_plans(
        &self,
        run: &Run,
        plans: &HashMap<dyno_store::TrialId, Vec<StatementPlan>>,
        statements: &[String],
    ) -> Vec<DigestPlans> {
        let [from, to] = self.ids.each_ref().map(|id| {
            let trials = run.trials.iter().filter(|trial| trial.record.system_id == *id);
            let found = trials.filter_map(|trial| plans.get(&trial.id)).flatten();
            found.map(|it| (it.statement.as_str(), &it.plan)).collect::<BTreeMap<_, _>>()
        });
        let differing = statements.iter().filter_map(|statement| {
            let words = |plan: &Result<String, String>| match plan {
                Ok(plan) => plan.clone(),
                Err(reason) => format!("no plan: {reason}"),
            };
            let (from, to) = (words(from.get(statement.as_str())?), words(to.get(statement.as_str())?));
            (from != to).then(|| DigestPlans { statement: statement.clone(), from, to })
        });
        differing.collect()
    }

    /// Returns the command that proves which settings make the traffic slower. Returns `None` if no proof is
    /// possible. Also returns `None` if the traffic as a whole is not slower, because a proof measures only the
    /// traffic as a whole.
    fn proof(
        &self,
        (store, results): (&Store, &Path),
        run: &Run,
        analysis: &Analysis,
    ) -> anyhow::Result<Option<String>> {
        let [from, to] = self.ids.each_ref().map(String::as_str);
        let slower = analysis.replays.first().and_then(|replay| {
            let is_slower = |test: &&TestComparison| {
                test.step == replay.step && test.interval.is_some_and(|interval| interval.high < 1.0)
            };
            analysis.comparison(from, to)?.tests.iter().find(is_slower)
        });
        let Some(test) = slower else { return Ok(None) };
        let explanation = Explainer::of(store, run, analysis)?.explanation((from, to), test)?;
        Ok(explanation.and_then(|explanation| match proof(store, results, run, &explanation) {
            ProofState::NotMade { command } => Some(command),
            ProofState::Made { .. } | ProofState::Impossible { .. } => None,
        }))
    }

    /// Returns a report if the server after the upgrade refused the data. Returns `None` for any other error.
    pub fn refused(&self, error: &anyhow::Error, path: Option<String>) -> Option<UpgradeReport> {
        let error = error.chain().find_map(|cause| cause.downcast_ref::<RunError>())?;
        let [from, to] = self.ids;
        let RunError::Data { system, source } = error else { return None };
        let (message, log) = match &**source {
            DataError::Upgrade { source, .. } => refusal(source)?,
            DataError::Dump(error @ DumpError::Statement { .. }) => (error.to_string(), Vec::new()),
            DataError::Server(error) => of_start(error)?,
            _ => return None,
        };
        let named = |id: &String| UpgradedSystem { id: id.clone(), ..UpgradedSystem::default() };
        (system == to).then(|| UpgradeReport {
            safety: Safety::NotSafe,
            from: named(from),
            to: named(to),
            traffic: self.traffic.to_owned(),
            margin: self.margin,
            run: None,
            refusal: Some(Refusal { message, log, path }),
            found: None,
            replay: None,
            plans: Vec::new(),
            proof: None,
            settings: Vec::new(),
            warnings: Vec::new(),
        })
    }
}

/// Why a server refuses data, and the last lines of its log. Returns `None` if the server is not the reason.
fn refusal(error: &UpgradeError) -> Option<(String, Vec<String>)> {
    match error {
        UpgradeError::Start(error) => of_start(error),
        UpgradeError::Dump(DumpError::Statement { .. }) | UpgradeError::Families { .. } => {
            Some((error.to_string(), Vec::new()))
        }
        _ => None,
    }
}

/// Why a server does not start, and the last lines of its log. Returns `None` if the server is not the reason.
fn of_start(error: &StartError) -> Option<(String, Vec<String>)> {
    match error {
        StartError::Ended { status, log, .. } => Some((format!("its server ends ({status})"), log.clone())),
        StartError::Silent { seconds, reason, log, .. } => {
            Some((format!("its server does not answer within {seconds} s ({reason})"), log.clone()))
        }
        _ => None,
    }
}

/// Returns a sentence on replays that failed after the upgrade. The list is empty if replays before the upgrade
/// failed too.
fn failures(run: &Run, from: &str, to: &str) -> Vec<String> {
    let of = |system: &str| -> Vec<&str> {
        let own = run.trials.iter().filter(|trial| trial.record.system_id == system);
        own.filter_map(|trial| match &trial.record.outcome {
            Outcome::Failed { message, .. } => Some(message.as_str()),
            Outcome::Completed => None,
        })
        .collect()
    };
    match (of(from).is_empty(), of(to).as_slice()) {
        (true, [first, ..]) => vec![format!("{} of the replays on {to} failed: {first}.", of(to).len())],
        _ => Vec::new(),
    }
}

/// Returns sentences on why the figures may be wrong.
fn warnings(analysis: &Analysis) -> Vec<String> {
    let judgement = analysis.base.as_deref().and_then(|base| analysis.judgement(base));
    let disturbed = judgement.and_then(dyno_judge::Judgement::disturbed);
    disturbed
        .iter()
        .map(|found| format!("Other processes disturbed the measurement: {}.", disturbed_tests(found)))
        .collect()
}
