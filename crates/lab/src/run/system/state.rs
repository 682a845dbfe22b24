//! What a run knows about a system over its rounds.

use dyno_settings::SystemLimits;
use dyno_store::SystemRecord;

use super::slot::SystemSlot;
use crate::run::not_started::NotStarted;
use crate::run::prepare::Installed;

/// A system over the rounds of a run.
pub(crate) struct SystemState<'a> {
    pub(crate) presence: Presence<'a>,
    /// Its version and variables, from its first start.
    pub(crate) record: Option<SystemRecord>,
    /// Its limits, from its first start; `None` if Dyno does not start it.
    pub(crate) limits: Option<SystemLimits>,
}

/// The source of the instance in the next round.
pub(crate) enum Presence<'a> {
    /// It is started, or connected.
    Started,
    /// Dyno did not start it, and it stays connected.
    Carried(SystemSlot<'a>),
    /// It cannot be installed, or did not start in the first round.
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

    /// Whether it has run, or cannot run.
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
