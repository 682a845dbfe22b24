//! Whether a trial finished operations, and whether any were due.

use dyno_store::TrialRecord;

/// How much work a completed trial did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Done {
    Something,
    /// No operation finished or was counted.
    Nothing,
    /// No operation finished, because no event was due at the trial's rate.
    NothingDue,
}

impl Done {
    pub(crate) fn of(trial: &TrialRecord) -> Self {
        let Some(measured) = trial.measured.as_ref().filter(|_| trial.capacity.is_none()) else {
            return Self::Something;
        };
        let left = trial.backlog.unwrap_or(0) + trial.unfinished.unwrap_or(0);
        match (measured.counts.operations, measured.counts.events + left, measured.due) {
            (0, 0, Some(0)) => Self::NothingDue,
            (0, ..) => Self::Nothing,
            _ => Self::Something,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::trial;

    #[test]
    fn nothing_done_is_told_from_nothing_due() {
        let mut trial = trial("slow", "db", 1, 0, 0.0);
        assert_eq!(Done::of(&trial), Done::Nothing, "a closed loop");
        trial.measured.as_mut().unwrap().due = Some(3);
        assert_eq!(Done::of(&trial), Done::Nothing);
        trial.measured.as_mut().unwrap().due = Some(0);
        assert_eq!(Done::of(&trial), Done::NothingDue);
        trial.backlog = Some(1);
        assert_eq!(Done::of(&trial), Done::Nothing, "one was due from the time before");
        trial.measured.as_mut().unwrap().counts.operations = 1;
        assert_eq!(Done::of(&trial), Done::Something);
    }
}
