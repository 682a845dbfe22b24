//! One difference that a plan makes between two systems: settings, a limit on the host, or a step.

use std::collections::BTreeMap;

use dyno_host::LimitPart;
use dyno_lab::System;
use dyno_report::{ChangedSetting, STEP};
use dyno_settings::plain_name;

/// A difference between the base and the candidate. A proof makes such a change completely or not at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// Settings that are changed together, with their new values. `None` means the server's default.
    Settings(BTreeMap<String, Option<String>>),
    Limit(LimitPart),
    /// A step before the test that only one of the two systems runs.
    Step {
        id: String,
        /// Whether the candidate, not the base, runs the step.
        is_candidates: bool,
    },
}

impl Change {
    /// Returns the parts of the change, each with the values of both systems, for a report.
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

    /// Returns the settings of the change; `None` for a limit or a step.
    pub(super) fn settings(&self) -> Option<&BTreeMap<String, Option<String>>> {
        match self {
            Self::Settings(settings) => Some(settings),
            Self::Limit(_) | Self::Step { .. } => None,
        }
    }
}

/// The value that a report shows for a step, in the column of the system that runs the step.
pub(crate) const RUN: &str = "run";

/// The name of a step in a list of settings.
pub(crate) fn step_name(id: &str) -> String {
    format!("{STEP}{id}")
}

/// Returns a system's value of a setting. Different spellings of the setting's name count as equal.
fn of_setting(system: &System, name: &str) -> Option<String> {
    let found = system.settings.iter().find(|(known, _)| plain_name(known) == plain_name(name));
    found.map(|(_, value)| value.clone())
}
