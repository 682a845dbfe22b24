//! What was waited for, and how that went.

use serde::{Deserialize, Serialize};

/// Something that is left to write.
#[derive(Clone, Debug, PartialEq)]
pub struct DrainAmount {
    /// What it is, in the server's words where it has some.
    pub name: &'static str,
    /// How much of it there is.
    pub value: f64,
    /// How much may be left at the end; none for what is only told.
    pub goal: Option<f64>,
}

impl DrainAmount {
    /// Something that is waited for until it is at most `goal`.
    pub(super) fn down_to(goal: f64, name: &'static str, value: f64) -> Self {
        Self { name, value, goal: Some(goal) }
    }

    /// Something that is told and not waited for.
    pub(super) fn told(name: &'static str, value: f64) -> Self {
        Self { name, value, goal: None }
    }

    pub(super) fn is_at_goal(&self) -> bool {
        self.goal.is_none_or(|goal| self.value <= goal)
    }
}

/// One look at what is left.
#[derive(Clone, Copy, Debug)]
pub struct DrainProgress<'a> {
    /// Since the waiting began.
    pub seconds: f64,
    /// What is left now.
    pub amounts: &'a [DrainAmount],
}

/// How the waiting ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DrainEnding {
    /// Everything came to its goal.
    Drained,
    /// The time was over.
    OutOfTime,
    /// Someone stopped it.
    Stopped,
}

/// One thing that was waited for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Drained {
    /// What it is, in the server's words where it has some.
    pub name: String,
    /// How much of it there was.
    pub before: f64,
    /// How much was left.
    pub after: f64,
    /// How much might be left; none for what was only told.
    pub goal: Option<f64>,
}

/// What was waited for, and how that went.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DrainReport {
    /// How it ended.
    pub ending: DrainEnding,
    /// How long it took.
    pub seconds: f64,
    /// What was waited for.
    pub amounts: Vec<Drained>,
    /// Settings that were changed meanwhile and put back, with the values that they had meanwhile.
    pub set_meanwhile: Vec<(String, String)>,
}

impl DrainReport {
    /// Whether nothing that was waited for is left.
    pub fn is_complete(&self) -> bool {
        self.ending == DrainEnding::Drained
    }
}

/// Both looks at each thing, by name; one that only a look had was 0 in the other.
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
