//! One difference that a plan makes between two systems: settings, a limit on the host, or a step.

use std::collections::BTreeMap;

use dyno_host::LimitPart;
use dyno_lab::System;
use dyno_report::{ChangedSetting, STEP};
use dyno_settings::plain_name;

/// A difference that is changed as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// Settings that are changed together, with their new values; `None` for the server's default.
    Settings(BTreeMap<String, Option<String>>),
    Limit(LimitPart),
    /// A step before the test that only one of the two systems runs.
    Step {
        id: String,
        /// Whether it is the candidate that runs it.
        is_candidates: bool,
    },
}

impl Change {
    /// The parts of the change, with the values of both systems.
    pub(super) fn told(&self, base: &System, candidate: &System) -> Vec<ChangedSetting> {
        match self {
            Self::Settings(settings) => {
                let told = |(name, value): (&String, &Option<String>)| ChangedSetting {
                    name: name.clone(),
                    base: of_setting(base, name),
                    candidate: value.clone(),
                };
                settings.iter().map(told).collect()
            }
            Self::Limit(part) => vec![ChangedSetting {
                name: part.name().to_owned(),
                base: part.value(&base.confinement),
                candidate: part.value(&candidate.confinement),
            }],
            Self::Step { id, is_candidates } => {
                let runs = |is_run: bool| is_run.then(|| RUN.to_owned());
                vec![ChangedSetting {
                    name: step_name(id),
                    base: runs(!is_candidates),
                    candidate: runs(*is_candidates),
                }]
            }
        }
    }

    /// Its settings; `None` for a limit or a step.
    pub(super) fn settings(&self) -> Option<&BTreeMap<String, Option<String>>> {
        match self {
            Self::Settings(settings) => Some(settings),
            Self::Limit(_) | Self::Step { .. } => None,
        }
    }
}

/// The value that is shown for a step of the system that runs it.
pub(crate) const RUN: &str = "run";

/// The name under which a step is shown among settings.
pub(crate) fn step_name(id: &str) -> String {
    format!("{STEP}{id}")
}

/// A setting of a system, by any spelling of its name.
fn of_setting(system: &System, name: &str) -> Option<String> {
    let found = system.settings.iter().find(|(known, _)| plain_name(known) == plain_name(name));
    found.map(|(_, value)| value.clone())
}
