//! What BASE and CANDIDATE mean.

use std::path::Path;

use anyhow::{Context as _, bail};
use dyno_judge::{ComparedSystem, TrialChecks};
use dyno_report::check_trials;
use dyno_store::{Run, RunChoice, RunId, Store, StoreError};

/// The runs and their systems to compare.
pub(super) struct ComparedSystems {
    base: Run,
    /// None if it is the base's.
    candidate: Option<Run>,
    /// Systems of the base's run with those of the candidate's.
    systems: Vec<(String, String)>,
    /// Checks of the base's trials, and of the candidate's if its run is another.
    checks: (TrialChecks, TrialChecks),
}

/// A word of the command line.
enum Word<'a> {
    System(&'a str),
    Run(RunId),
    RunSystem(RunId, &'a str),
}

impl ComparedSystems {
    /// Resolves the arguments. Without a candidate, all other systems are candidates; without a base, it is the plan's.
    /// Disturbed rounds count if the runs or `counts_disturbed` say so.
    pub(super) fn load(
        path: &Path,
        run: Option<RunId>,
        base: Option<&str>,
        candidate: Option<&str>,
        counts_disturbed: bool,
    ) -> anyhow::Result<Self> {
        let store = Store::open_read_only(path)?;
        let read = |choice: RunChoice| {
            let mut run = store.load_run(choice)?;
            run.record.counts_disturbed |= counts_disturbed;
            Ok::<_, StoreError>(run)
        };
        let load = |id: RunId| read(RunChoice::Id(id));
        let chosen = || read(RunChoice::from(run));
        let words =
            (base.map(|word| Word::read(word, &chosen)), candidate.map(|word| Word::read(word, &chosen)));
        let subjects = match words {
            (None, _) => Self::all_with_base(chosen()?, None),
            (Some(base), None) => match base? {
                Word::System(base) => Self::all_with_base(chosen()?, Some(base)),
                Word::Run(run) => Self::all_with_base(load(run)?, None),
                Word::RunSystem(run, base) => Self::all_with_base(load(run)?, Some(base)),
            },
            (Some(base), Some(candidate)) => match (base?, candidate?) {
                (Word::System(base), Word::System(candidate)) => Self::of_one_run(chosen()?, base, candidate),
                (Word::RunSystem(run, base), Word::RunSystem(other, candidate)) if run == other => {
                    Self::of_one_run(load(run)?, base, candidate)
                }
                (Word::RunSystem(run, base), Word::RunSystem(other, candidate)) => {
                    Self::of_two_runs(load(run)?, load(other)?, Some((base, candidate)))
                }
                (Word::Run(run), Word::Run(other)) => Self::of_two_runs(load(run)?, load(other)?, None),
                _ => bail!(
                    "cannot compare a run with a system; write two systems, two runs, or RUN:SYSTEM twice"
                ),
            },
        }?;
        let of_candidate = subjects.candidate.as_ref().map(|run| check_trials(&store, run)).transpose()?;
        let checks = (check_trials(&store, &subjects.base)?, of_candidate.unwrap_or_default());
        Ok(Self { checks, ..subjects })
    }

    /// Without checks, which are read later.
    fn unchecked(base: Run, candidate: Option<Run>, systems: Vec<(String, String)>) -> Self {
        Self { base, candidate, systems, checks: (TrialChecks::new(), TrialChecks::new()) }
    }

    /// Compares every system except controls with one of its run.
    fn all_with_base(run: Run, base: Option<&str>) -> anyhow::Result<Self> {
        let base = match base {
            Some(base) => base.to_owned(),
            None => {
                run.systems.iter().find(|system| system.is_base).context("the run has no base")?.id.clone()
            }
        };
        check_system(&run, &base)?;
        let others = run.systems.iter().filter(|system| system.id != base && system.control_of.is_none());
        let systems: Vec<_> = others.map(|other| (base.clone(), other.id.clone())).collect();
        if systems.is_empty() {
            bail!("run {} has no system besides {base}; name two runs to compare", run.id);
        }
        Ok(Self::unchecked(run, None, systems))
    }

    fn of_one_run(run: Run, base: &str, candidate: &str) -> anyhow::Result<Self> {
        check_system(&run, base)?;
        check_system(&run, candidate)?;
        if base == candidate {
            bail!("{base} cannot be compared with itself; name another system");
        }
        let systems = vec![(base.to_owned(), candidate.to_owned())];
        Ok(Self::unchecked(run, None, systems))
    }

    fn of_two_runs(base: Run, candidate: Run, systems: Option<(&str, &str)>) -> anyhow::Result<Self> {
        if base.id == candidate.id {
            bail!("run {} cannot be compared with itself; name another run", base.id);
        }
        let plans = (&base.record.plan_name, &candidate.record.plan_name);
        if plans.0 != plans.1 {
            bail!(
                "runs {} and {} are of different plans, {} and {}; compare runs of one plan",
                base.id,
                candidate.id,
                plans.0,
                plans.1
            );
        }
        let systems: Vec<(String, String)> = if let Some((of_base, of_candidate)) = systems {
            check_system(&base, of_base)?;
            check_system(&candidate, of_candidate)?;
            vec![(of_base.to_owned(), of_candidate.to_owned())]
        } else {
            let is_in_both = |id: &&String| candidate.systems.iter().any(|system| system.id == **id);
            let ids =
                base.systems.iter().filter(|system| system.control_of.is_none()).map(|system| &system.id);
            ids.filter(is_in_both).map(|id| (id.clone(), id.clone())).collect()
        };
        if systems.is_empty() {
            bail!("runs {} and {} have no system in common; write RUN:SYSTEM twice", base.id, candidate.id);
        }
        Ok(Self::unchecked(base, Some(candidate), systems))
    }

    /// Each base with its candidate.
    pub(super) fn pairs(&self) -> impl Iterator<Item = (ComparedSystem<'_>, ComparedSystem<'_>)> {
        let (of_base, of_candidate) = &self.checks;
        let (other, other_checks) =
            self.candidate.as_ref().map_or((&self.base, of_base), |run| (run, of_candidate));
        self.systems.iter().map(move |(base, candidate)| {
            (
                ComparedSystem { run: &self.base, checks: of_base, system: base },
                ComparedSystem { run: other, checks: other_checks, system: candidate },
            )
        })
    }

    /// An error for a step that the plan does not have.
    pub(super) fn check_steps(&self, steps: &[String]) -> anyhow::Result<()> {
        let known: Vec<&str> = self.base.steps.iter().map(|step| step.id.as_str()).collect();
        match steps.iter().find(|step| !known.contains(&step.as_str())) {
            Some(step) => bail!("run {} has no step `{step}`; it has {}", self.base.id, known.join(", ")),
            None => Ok(()),
        }
    }

    /// An error for a system that none of the runs has.
    pub(super) fn check_systems<'a>(&self, systems: impl Iterator<Item = &'a String>) -> anyhow::Result<()> {
        for system in systems {
            let is_in_candidate =
                self.candidate.as_ref().is_some_and(|run| check_system(run, system).is_ok());
            if !is_in_candidate {
                check_system(&self.base, system)?;
            }
        }
        Ok(())
    }
}

impl<'a> Word<'a> {
    /// `3` is a run unless the chosen run has a system of that name, `3:mysql` a run's system, all else a system.
    fn read<E>(word: &'a str, chosen: &impl Fn() -> Result<Run, E>) -> Result<Self, E> {
        if let Some((run, system)) = word.split_once(':')
            && let Ok(run) = run.parse()
        {
            return Ok(Self::RunSystem(RunId(run), system));
        }
        match word.parse() {
            Ok(run) if !chosen()?.systems.iter().any(|system| system.id == word) => Ok(Self::Run(RunId(run))),
            _ => Ok(Self::System(word)),
        }
    }
}

fn check_system(run: &Run, id: &str) -> anyhow::Result<()> {
    if run.systems.iter().any(|system| system.id == id) {
        return Ok(());
    }
    let known: Vec<&str> = run.systems.iter().map(|system| system.id.as_str()).collect();
    bail!("run {} has no system `{id}`; it has {}", run.id, known.join(", "))
}
