//! Databases that a run holds (locks for itself) on servers that Dyno did not start. A hold makes sure that loads drop
//! only tables that Dyno made.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dyno_engine::{Dsn, HoldError, Left, Remote, Survey};

use super::intent::{Intent, loads, place, running};
use super::keeper::Keeper;
use crate::plan::{Plan, Source, System};
use crate::run::error::{RunError, SystemError};
use crate::run::observer::{Event, Observer};

/// The databases that a run holds (has locked for itself). They are released when this value is dropped.
pub(crate) struct Holds<'a> {
    plan: &'a Plan,
    /// The [`Keeper`] of each database that the run holds, by the database's location. Systems with the same database
    /// share a keeper.
    held: Mutex<BTreeMap<String, Arc<Keeper>>>,
}

impl<'a> Holds<'a> {
    /// First checks the databases of all running servers of a plan, and then holds these databases. A server that
    /// refuses the login is skipped, because its system will not start.
    ///
    /// # Errors
    /// A load could drop tables that Dyno did not make, or another run holds a database.
    pub(crate) fn take(plan: &'a Plan, observer: &mut dyn Observer) -> Result<Self, RunError> {
        let holds = Self { plan, held: Mutex::default() };
        let mut surveys: BTreeMap<String, (&System, Survey)> = BTreeMap::new();
        for (system, dsn) in running(plan) {
            let place = place(system, dsn);
            if surveys.contains_key(&place) {
                continue;
            }
            let Ok(remote) = Remote::connect(dsn) else { continue };
            let survey = holds.survey(system, dsn, &remote).map_err(refused(system))?;
            surveys.insert(place, (system, survey));
        }
        for (place, (system, survey)) in surveys {
            let names = if loads(plan) { survey.foreign() } else { Vec::new() };
            if let Some(keeper) = holds.hold(system, survey).map_err(refused(system))? {
                if !names.is_empty() {
                    observer.observe(&Event::MayDrop { system: &system.id, names: &names });
                }
                holds.lock().insert(place, keeper);
            }
        }
        Ok(holds)
    }

    /// Returns the running server of a system, and the [`Keeper`] of its database if the run holds the database.
    ///
    /// # Errors
    /// The server refuses the login, or a load could drop tables that Dyno did not make.
    pub(crate) fn server(
        &self,
        system: &System,
        dsn: &Dsn,
    ) -> Result<(Remote, Option<Arc<Keeper>>), SystemError> {
        let place = place(system, dsn);
        if let Some(keeper) = self.lock().get(&place) {
            return Ok((keeper.remote.clone(), Some(Arc::clone(keeper))));
        }
        let remote = Remote::connect(dsn)?;
        let survey = self.survey(system, dsn, &remote)?;
        match self.hold(system, survey)? {
            Some(keeper) => {
                self.lock().insert(place, Arc::clone(&keeper));
                Ok((keeper.remote.clone(), Some(keeper)))
            }
            None => Ok((remote, None)),
        }
    }

    /// Drops the tables that the run made, and reports the objects that remain to the observer.
    pub(crate) fn release(self, observer: &mut dyn Observer) {
        for left in self.release_all() {
            observer.observe(&Event::Left { left: &left });
        }
    }

    fn release_all(&self) -> Vec<Left> {
        let held = std::mem::take(&mut *self.lock());
        held.into_values().filter_map(|keeper| keeper.release()).collect()
    }

    /// Examines a database. Returns an error if the plan's loads could harm it.
    fn survey(&self, system: &System, dsn: &Dsn, remote: &Remote) -> Result<Survey, HoldError> {
        let survey = Survey::of(remote)?;
        let intent = Intent::of(self.plan, system, dsn);
        if intent.loads && !intent.may_drop {
            survey.check()?;
        }
        Ok(survey)
    }

    /// Holds a database. Returns `None` if neither the plan nor an earlier run loads tables into it, because the
    /// database then belongs to the user alone.
    fn hold(&self, system: &System, survey: Survey) -> Result<Option<Arc<Keeper>>, HoldError> {
        let Source::Dsn { dsn, .. } = &system.source else { return Ok(None) };
        let intent = Intent::of(self.plan, system, dsn);
        let is_wanted = intent.loads || survey.has_mark() || !dsn.names_database();
        if !is_wanted {
            return Ok(None);
        }
        let may_drop = intent.may_drop || !intent.loads;
        survey.hold(may_drop, intent.keeps).map(|hold| Some(Keeper::start(hold)))
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Arc<Keeper>>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Holds<'_> {
    fn drop(&mut self) {
        self.release_all();
    }
}

fn refused(system: &System) -> impl Fn(HoldError) -> RunError {
    let system = system.id.clone();
    move |source| RunError::Hold { system: system.clone(), source: Box::new(source) }
}
