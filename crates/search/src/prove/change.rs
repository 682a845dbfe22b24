//! One thing that a plan gives two systems otherwise: settings, a limit on the host, a step.

use std::collections::BTreeMap;

use dyno_host::LimitPart;
use dyno_lab::System;
use dyno_report::{ChangedSetting, STEP};
use dyno_settings::plain_name;

/// What is changed as one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// Settings that are changed together, with the values that they get; none for the server's default.
    Settings(BTreeMap<String, Option<String>>),
    Limit(LimitPart),
    /// A step before the test that only one of the two runs.
    Step {
        id: String,
        /// Whether it is the candidate that runs it.
        is_candidates: bool,
    },
}

impl Change {
    /// What changes, with the values of both systems.
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

    /// The settings of it; none of a limit and a step.
    pub(super) fn settings(&self) -> Option<&BTreeMap<String, Option<String>>> {
        match self {
            Self::Settings(settings) => Some(settings),
            Self::Limit(_) | Self::Step { .. } => None,
        }
    }
}

/// The value of a step for the system that runs it.
pub(crate) const RUN: &str = "run";

/// The name of a step among those of settings.
pub(crate) fn step_name(id: &str) -> String {
    format!("{STEP}{id}")
}

/// A setting of a system, by any spelling of its name.
fn of_setting(system: &System, name: &str) -> Option<String> {
    let found = system.settings.iter().find(|(known, _)| plain_name(known) == plain_name(name));
    found.map(|(_, value)| value.clone())
}
