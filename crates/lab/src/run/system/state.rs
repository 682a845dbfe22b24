//! The state of a system that a run keeps from round to round.

use dyno_settings::SystemLimits;
use dyno_store::SystemRecord;

use super::slot::SystemSlot;
use crate::run::not_started::NotStarted;
use crate::run::prepare::Installed;

/// The state of a system that a run keeps from round to round.
pub(crate) struct SystemState<'a> {
    pub(crate) presence: Presence<'a>,
    /// The system's version and variables, read at its first start.
    pub(crate) record: Option<SystemRecord>,
    /// The system's limits, read at its first start; `None` if Dyno does not start the system.
    pub(crate) limits: Option<SystemLimits>,
}

/// Where the instance for the next round comes from.
pub(crate) enum Presence<'a> {
    /// Dyno starts the instance, or connects to it.
    Started,
    /// The instance is that of the previous round. Dyno did not start it, and stays connected to it.
    Carried(SystemSlot<'a>),
    /// There is no instance, because the system cannot be installed or did not start in the first round.
    LeftOut(NotStarted),
}

impl SystemState<'_> {
    pub(crate) fn of(installed: &Installed) -> Self {
        let presence = match installed {
            Ok(_) => Presence::Started,
            Err(not_started) => Presence::LeftOut(not_started.clone()),
        };
        Self { presence, record: None, limits: None }
    }

    /// Returns true after the system has started once, and also if the system is left out of the run.
    pub(crate) fn is_known(&self) -> bool {
        self.record.is_some() || matches!(self.presence, Presence::LeftOut(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_system_that_cannot_be_installed_is_not_waited_for() {
        let not_started =
            NotStarted { system: "a".to_owned(), message: String::new(), log_tail: String::new() };
        assert!(SystemState::of(&Err(not_started)).is_known());
        assert!(!SystemState::of(&Ok(None)).is_known());
    }
}
