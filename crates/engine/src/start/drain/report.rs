//! The report of a drain.

use serde::{Deserialize, Serialize};

/// An amount of pending writes.
#[derive(Clone, Debug, PartialEq)]
pub struct DrainAmount {
    /// The server's own name for the amount. If the server has none, a name that Dyno gives it.
    pub name: &'static str,
    pub value: f64,
    /// The drain waits until the amount is at most this value. `None` for amounts that are only reported.
    pub goal: Option<f64>,
}

impl DrainAmount {
    /// An amount with a goal. The wait lasts until the amount is at most `goal`.
    pub(super) fn down_to(goal: f64, name: &'static str, value: f64) -> Self {
        Self { name, value, goal: Some(goal) }
    }

    /// An amount that is only reported.
    pub(super) fn told(name: &'static str, value: f64) -> Self {
        Self { name, value, goal: None }
    }

    pub(super) fn is_at_goal(&self) -> bool {
        self.goal.is_none_or(|goal| self.value <= goal)
    }
}

/// Progress of a drain.
#[derive(Clone, Copy, Debug)]
pub struct DrainProgress<'a> {
    /// Time since the drain began, in seconds.
    pub seconds: f64,
    /// The amounts of pending writes when this progress is reported.
    pub amounts: &'a [DrainAmount],
}

/// How a drain ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DrainEnding {
    /// All amounts reached their goals.
    Drained,
    /// The time limit was reached.
    OutOfTime,
    Stopped,
}

/// An amount of pending writes, before and after a drain.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Drained {
    /// The server's own name for the amount. If the server has none, a name that Dyno gives it.
    pub name: String,
    /// The amount at the beginning.
    pub before: f64,
    /// The amount at the end.
    pub after: f64,
    /// The value that the amount had to reach. `None` for amounts that were only reported.
    pub goal: Option<f64>,
}

/// The report of a drain.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DrainReport {
    pub ending: DrainEnding,
    /// Duration in seconds.
    pub seconds: f64,
    pub amounts: Vec<Drained>,
    /// Settings that were changed temporarily, with their temporary values.
    pub set_meanwhile: Vec<(String, String)>,
}

impl DrainReport {
    /// Whether all amounts reached their goals.
    pub fn is_complete(&self) -> bool {
        self.ending == DrainEnding::Drained
    }
}

/// Joins the amounts at the beginning and at the end of a drain by name. A missing amount is 0.
pub(super) fn pair(before: &[DrainAmount], after: &[DrainAmount]) -> Vec<Drained> {
    let of = |amounts: &[DrainAmount], name| {
        amounts.iter().find(|amount| amount.name == name).map_or(0.0, |amount| amount.value)
    };
    let gone = before.iter().filter(|amount| after.iter().all(|other| other.name != amount.name));
    let drained = |amount: &DrainAmount| Drained {
        name: amount.name.to_owned(),
        before: of(before, amount.name),
        after: of(after, amount.name),
        goal: amount.goal,
    };
    after.iter().chain(gone).map(drained).collect()
}
