//! Resolves the arguments BASE and CANDIDATE.

use std::path::Path;

use anyhow::{Context as _, Result, bail};
use dyno_judge::{ComparedSystem, TrialChecks, check_trials};
use dyno_store::{Run, RunChoice, RunId, Store, StoreError, SystemRecord};

use super::word::Word;

/// The systems to compare, and the runs that contain them.
pub(super) struct ComparedSystems {
    /// Each run with the checks of its trials.
    runs: Vec<(Run, TrialChecks)>,
    /// Pairs of a base and a candidate.
    subjects: Vec<(Sessions, Sessions)>,
}

/// A side of a comparison: for each session, the index of the run and the system's id in that run.
type Sessions = Vec<(usize, String)>;

/// Pairs of a base and a candidate. Each side is a system in one or more sessions.
pub(super) type Subjects<'a> = Vec<(Vec<ComparedSystem<'a>>, Vec<ComparedSystem<'a>>)>;

impl ComparedSystems {
    /// Resolves the arguments. If the candidate is missing, all systems of the run except the base are candidates.
    /// If the base is missing too, it is the plan's base. Disturbed rounds count if a run or `counts_disturbed` says
    /// so.
    pub(super) fn load(
        path: &Path,
        run: Option<RunId>,
        base: Option<&str>,
        candidate: Option<&str>,
        counts_disturbed: bool,
    ) -> Result<Self> {
        let store = Store::open_read_only(path)?;
        let read = |choice: RunChoice| {
            let mut run = store.load_run(choice)?;
            run.record.counts_disturbed |= counts_disturbed;
            Ok::<_, StoreError>(run)
        };
        let load = |id: RunId| read(RunChoice::Id(id));
        let chosen = || read(RunChoice::from(run));
        let word = |word| Word::read(word, &chosen);
        let (runs, subjects) = match (base.map(word).transpose()?, candidate.map(word).transpose()?) {
            (None, _) => all_with_base(chosen()?, None),
            (Some(Word::System(base)), None) => all_with_base(chosen()?, Some(base)),
            (Some(Word::Runs(runs)), None) => match runs[..] {
                [(run, base)] => all_with_base(load(run)?, base),
                _ => bail!("several runs have no base in common; name those of the candidate too"),
            },
            (Some(Word::System(base)), Some(Word::System(candidate))) => {
                of_one_run(chosen()?, base, candidate)
            }
            (Some(Word::Runs(base)), Some(Word::Runs(candidate))) => match (&base[..], &candidate[..]) {
                ([(run, Some(base))], [(other, Some(candidate))]) if run == other => {
                    of_one_run(load(*run)?, base, candidate)
                }
                _ => of_runs(&base, &candidate, load),
            },
            _ => {
                bail!("cannot compare a run with a system; write two systems, two runs, or RUN:SYSTEM twice")
            }
        }?;
        let checked = |run: Run| {
            let checks = check_trials(&store, &run)?;
            Ok((run, checks))
        };
        Ok(Self { runs: runs.into_iter().map(checked).collect::<Result<_>>()?, subjects })
    }

    /// Pairs of a base and a candidate, with the runs' data.
    pub(super) fn subjects(&self) -> Subjects<'_> {
        self.subjects.iter().map(|(base, candidate)| (self.side(base), self.side(candidate))).collect()
    }

    fn side<'a>(&'a self, sessions: &'a Sessions) -> Vec<ComparedSystem<'a>> {
        let session = |(at, system): &'a (usize, String)| {
            let (run, checks) = &self.runs[*at];
            ComparedSystem { run, checks, system }
        };
        sessions.iter().map(session).collect()
    }

    /// Returns an error for a step that the plan does not have.
    pub(super) fn check_steps(&self, steps: &[String]) -> Result<()> {
        let (base, _) = &self.runs[0];
        let known: Vec<&str> = base.steps.iter().map(|step| step.id.as_str()).collect();
        match steps.iter().find(|step| !known.contains(&step.as_str())) {
            Some(step) => bail!("run {} has no step `{step}`; it has {}", base.id, known.join(", ")),
            None => Ok(()),
        }
    }

    /// Returns an error for a system that is in none of the runs.
    pub(super) fn check_systems<'a>(&self, systems: impl Iterator<Item = &'a String>) -> Result<()> {
        for system in systems {
            if !self.runs.iter().any(|(run, _)| check_system(run, system).is_ok()) {
                check_system(&self.runs[0].0, system)?;
            }
        }
        Ok(())
    }
}

type Found = (Vec<Run>, Vec<(Sessions, Sessions)>);

/// Compares one system, which is `base` or the plan's base, with every other system of the run. Systems that only
/// repeat another system to measure noise are left out.
fn all_with_base(run: Run, base: Option<&str>) -> Result<Found> {
    let base = match base {
        Some(base) => base.to_owned(),
        None => run.systems.iter().find(|system| system.is_base).context("the run has no base")?.id.clone(),
    };
    check_system(&run, &base)?;
    let others = run.systems.iter().filter(|system| system.id != base && system.control_of.is_none());
    let subjects: Vec<_> =
        others.map(|other| (vec![(0, base.clone())], vec![(0, other.id.clone())])).collect();
    if subjects.is_empty() {
        bail!("run {} has no system besides {base}; name two runs to compare", run.id);
    }
    Ok((vec![run], subjects))
}

fn of_one_run(run: Run, base: &str, candidate: &str) -> Result<Found> {
    check_system(&run, base)?;
    check_system(&run, candidate)?;
    if base == candidate {
        bail!("{base} cannot be compared with itself; name another system");
    }
    let subject = (vec![(0, base.to_owned())], vec![(0, candidate.to_owned())]);
    Ok((vec![run], vec![subject]))
}

/// Compares runs with other runs. If systems are named, these are compared. Otherwise, each system that is in all
/// runs is compared between the runs.
fn of_runs(
    base: &[(RunId, Option<&str>)],
    candidate: &[(RunId, Option<&str>)],
    load: impl Fn(RunId) -> Result<Run, StoreError>,
) -> Result<Found> {
    if let Some((run, _)) = candidate.iter().find(|(run, _)| base.iter().any(|(other, _)| other == run)) {
        bail!("run {run} cannot be compared with itself; name another run");
    }
    let named = || base.iter().chain(candidate);
    let runs: Vec<Run> = named().map(|(run, _)| load(*run)).collect::<Result<_, _>>()?;
    check_plans(&runs)?;
    let sides = |id: &dyn Fn(usize) -> String| {
        let all: Sessions = (0..runs.len()).map(|at| (at, id(at))).collect();
        let (of_base, of_candidate) = all.split_at(base.len());
        (of_base.to_vec(), of_candidate.to_vec())
    };
    let systems: Vec<Option<&str>> = named().map(|(_, system)| *system).collect();
    if systems.iter().all(Option::is_some) {
        let systems: Vec<&str> = systems.into_iter().flatten().collect();
        runs.iter().zip(&systems).try_for_each(|(run, system)| check_system(run, system))?;
        let subject = sides(&|at| systems[at].to_owned());
        check_sides(&runs, &subject)?;
        return Ok((runs, vec![subject]));
    }
    if systems.iter().any(Option::is_some) {
        bail!("cannot compare a run with a system; write two systems, two runs, or RUN:SYSTEM twice");
    }
    let is_followed = |system: &&SystemRecord| system.control_of.is_none() && !system.is_anchor;
    let is_in_all = |system: &&SystemRecord| runs.iter().all(|run| find(run, &system.id).is_some());
    let common = runs[0].systems.iter().filter(is_followed).filter(is_in_all);
    let subjects: Vec<_> = common.map(|system| sides(&|_| system.id.clone())).collect();
    if subjects.is_empty() {
        let ids: Vec<String> = runs.iter().map(|run| run.id.to_string()).collect();
        bail!("runs {} have no system in common; write RUN:SYSTEM twice", ids.join(" and "));
    }
    subjects.iter().try_for_each(|subject| check_sides(&runs, subject))?;
    Ok((runs, subjects))
}

/// Returns an error if the runs have different plans.
fn check_plans(runs: &[Run]) -> Result<()> {
    let plan = |run: &Run| run.record.plan_name.clone();
    match runs.iter().find(|run| plan(run) != plan(&runs[0])) {
        Some(other) => bail!(
            "runs {} and {} are of different plans, {} and {}; compare runs of one plan",
            runs[0].id,
            other.id,
            plan(&runs[0]),
            plan(other)
        ),
        None => Ok(()),
    }
}

/// Returns an error if the sessions of one side have different engines or versions.
fn check_sides(runs: &[Run], (base, candidate): &(Sessions, Sessions)) -> Result<()> {
    for side in [base, candidate] {
        let sessions: Vec<(&Run, &SystemRecord)> =
            side.iter().filter_map(|(at, id)| Some((&runs[*at], find(&runs[*at], id)?))).collect();
        let engine = |(run, system): (&Run, &SystemRecord)| {
            let version = system.engine_version.as_ref()?;
            Some((run.id, format!("{} {version}", system.name)))
        };
        let engines: Vec<(RunId, String)> = sessions.into_iter().filter_map(engine).collect();
        if let Some(two) = engines.windows(2).find(|two| two[0].1 != two[1].1) {
            bail!(
                "the runs of a side are sessions of one system, but run {} has {}, and run {} has {}; name runs of one \
                 version",
                two[0].0,
                two[0].1,
                two[1].0,
                two[1].1
            );
        }
    }
    Ok(())
}

fn find<'a>(run: &'a Run, id: &str) -> Option<&'a SystemRecord> {
    run.systems.iter().find(|system| system.id == id)
}

fn check_system(run: &Run, id: &str) -> Result<()> {
    if find(run, id).is_some() {
        return Ok(());
    }
    let known: Vec<&str> = run.systems.iter().map(|system| system.id.as_str()).collect();
    bail!("run {} has no system `{id}`; it has {}", run.id, known.join(", "))
}
