//! The settings and values that a search tries on a system, and what they mean for the system's durability.

use dyno_judge::ValueSet;
use dyno_lab::{Changes, System};
use dyno_report::{LeftOutOfTuning, TriedSetting};
use dyno_settings::{NotTuned, SystemFacts, TuneRoom, TuneSpace, TunedSetting, TunedValue, tune_space};

/// The settings to try on a system whose server has reported its variables.
pub(super) struct Space {
    base: SystemFacts,
    tuned: TuneSpace,
}

impl Space {
    pub(super) fn of(base: SystemFacts, room: TuneRoom) -> Self {
        let tuned = tune_space(&base, room);
        Self { base, tuned }
    }

    /// Number of values to try for each setting.
    pub(super) fn sizes(&self) -> Vec<usize> {
        self.tuned.settings.iter().map(|setting| setting.values.len()).collect()
    }

    fn values<'a>(&'a self, set: &'a ValueSet) -> impl Iterator<Item = (&'a TunedSetting, &'a TunedValue)> {
        let value = |(setting, value): (&usize, &usize)| {
            let setting = &self.tuned.settings[*setting];
            (setting, &setting.values[*value])
        };
        set.0.iter().map(value)
    }

    /// Returns the server settings that a set of values stands for.
    pub(super) fn changes(&self, set: &ValueSet) -> Changes {
        let settings = self.values(set).flat_map(|(_, value)| &value.settings);
        settings.map(|(name, value)| (name.clone(), Some(value.clone()))).collect()
    }

    /// Describes a set of values, such as `a = 1, b = 2`.
    pub(super) fn in_words(&self, set: &ValueSet) -> String {
        let words: Vec<String> =
            self.values(set).map(|(setting, value)| format!("{} = {}", setting.name, value.value)).collect();
        words.join(", ")
    }

    /// Why a set of values must not be tried; `None` if it keeps all durability guarantees of the base.
    pub(super) fn refusal(&self, set: &ValueSet) -> Option<String> {
        let lost = self.base.promise_lost_with(&self.changes(set))?;
        Some(format!("would weaken durability: a system with it {lost}"))
    }

    /// The disadvantages of a set of values, one per line.
    pub(super) fn given_up(&self, set: &ValueSet) -> Vec<String> {
        let line = |(setting, value): (&TunedSetting, &TunedValue)| {
            let given_up = setting.gives_up.as_ref()?;
            Some(format!("{} = {} gives up {given_up}", setting.name, value.value))
        };
        self.values(set).filter_map(line).collect()
    }

    pub(super) fn tried(&self) -> Vec<TriedSetting> {
        let tried = |setting: &TunedSetting| TriedSetting {
            name: setting.name.clone(),
            why: setting.why.clone(),
            gives_up: setting.gives_up.clone(),
            values: setting.values.iter().map(|value| value.value.clone()).collect(),
        };
        self.tuned.settings.iter().map(tried).collect()
    }

    pub(super) fn left_out(&self) -> Vec<LeftOutOfTuning> {
        let told = |it: &NotTuned| LeftOutOfTuning {
            name: it.name.clone(),
            value: it.value.clone(),
            reason: it.reason.clone(),
        };
        self.tuned.left_out.iter().map(told).collect()
    }
}

/// Number of servers that run at the same time in a comparison.
const SERVERS: u64 = 2;

/// The memory that a server may use: the system's own limit, but at most the server's share of the host's memory.
pub(super) fn room(system: &System, clients: u32) -> anyhow::Result<TuneRoom> {
    let Some(of_host) = dyno_host::usable_memory_bytes() else {
        anyhow::bail!("the host does not tell how much memory it has, so no sizes can be tried")
    };
    let part = of_host / SERVERS;
    let memory_bytes = system.confinement.memory_bytes.map_or(part, |limit| limit.min(part));
    Ok(TuneRoom { memory_bytes, clients })
}
