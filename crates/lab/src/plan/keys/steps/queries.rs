//! A step's keys for queries that take long: `events`, `event_seconds_max`, `explain` and `answers`.

use crate::plan::keys::steps::command::Command;
use crate::plan::syntax::mistake::Mistake;
use crate::plan::syntax::value::{Above0, At, Whole};

/// How a step treats queries: the time limit of events, which query plans are requested, and whether answers are
/// compared. These options are most useful for long queries.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Queries {
    /// If no event ends for this time, in seconds, the trial fails. `None` uses the run's limit.
    pub event_seconds_max: Option<f64>,
    /// Which query plans are requested.
    pub explain: Explained,
    /// Whether the systems must give the same answers.
    pub answers: bool,
}

/// Which query plans are requested from the servers after a step's trials.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Explained {
    Nothing,
    /// The plans of all statements of the step, as evidence for differences.
    #[default]
    Statements,
    /// The plan that the workload's command `explain` prints for the step's query, for reports. If the step does not
    /// have the key `events`, also the plans of all statements.
    Query,
}

/// A number of events. The limit catches typing errors.
pub(in crate::plan) type EventsNumber = Whole<1, 1_000_000_000>;

/// A step's keys for long queries. A load cannot have them.
pub(in crate::plan) struct QueriesKeys {
    pub(in crate::plan) events: Option<At<EventsNumber>>,
    pub(in crate::plan) event_seconds_max: Option<At<Above0>>,
    pub(in crate::plan) explain: Option<At<bool>>,
    pub(in crate::plan) answers: Option<At<bool>>,
}

impl QueriesKeys {
    /// Reads the keys. `obstacle` is a key of the step that excludes `events`, with the reason.
    pub(in crate::plan) fn read(
        &self,
        command: Command,
        obstacle: Option<(&'static str, &'static str)>,
    ) -> Result<Queries, Mistake> {
        if command == Command::Prepare {
            self.check_load()?;
        }
        if let (Some(events), Some((key, why))) = (&self.events, obstacle) {
            return Err(events
                .wrong(format!("`events` and `{key}` exclude each other: {why}; leave one of them out")));
        }
        Ok(Queries {
            event_seconds_max: self.event_seconds_max.as_ref().map(|seconds| seconds.0),
            explain: match self.explain.as_ref().map(|explain| **explain) {
                None => Explained::Statements,
                Some(true) => Explained::Query,
                Some(false) => Explained::Nothing,
            },
            answers: self.answers.as_ref().is_some_and(|answers| **answers),
        })
    }

    fn check_load(&self) -> Result<(), Mistake> {
        let none = |key: &str| format!("a load runs no events; leave `{key}` out");
        match self {
            Self { events: Some(at), .. } => Err(at.wrong(none("events"))),
            Self { event_seconds_max: Some(at), .. } => Err(at.wrong(none("event_seconds_max"))),
            Self { explain: Some(at), .. } => Err(at.wrong(none("explain"))),
            Self { answers: Some(at), .. } => Err(at.wrong(none("answers"))),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Measure;
    use crate::plan::testing::{TEXT, parse};

    #[test]
    fn a_step_of_some_events_is_whole_and_has_no_warm_up() {
        let keys = "events = 3\nevent_seconds_max = 60\nexplain = true\nanswers = true\n";
        let plan = parse(&format!("{TEXT}{keys}")).unwrap();
        let step = &plan.steps[1];
        let wanted = Queries { event_seconds_max: Some(60.0), explain: Explained::Query, answers: true };
        assert_eq!((step.queries, step.measure), (wanted, Measure::Events(3)));
        assert_eq!((step.warmup_seconds.to_bits(), step.warmup_seconds_max.to_bits()), (0, 0));
        assert_eq!(plan.steps[0].queries, Queries::default());
    }

    #[test]
    fn statements_are_explained_unless_they_are_long_or_the_step_says_no() {
        for (keys, notes) in
            [("", true), ("explain = true", true), ("explain = false", false), ("events = 3", false)]
        {
            let plan = parse(&format!("{TEXT}{keys}\n")).unwrap();
            assert_eq!(plan.steps[1].notes_statements(), notes, "{keys}");
        }
    }

    #[test]
    fn what_excludes_counted_events_is_told() {
        for (text, words) in [
            (format!("{TEXT}events = 3\nrate = 5\n"), "`events` and `rate` exclude each other"),
            (
                format!("{TEXT}events = 3\nwarmup_seconds = 5\n"),
                "`events` and `warmup_seconds` exclude each other",
            ),
            (format!("{TEXT}events = 3\nslice_seconds = 1\n"), "it ends after its events"),
            (format!("{TEXT}events = 0\n"), "from 1"),
            (
                TEXT.replace("operation = \"row\"", "operation = \"row\"\nexplain = true"),
                "a load runs no events; leave `explain` out",
            ),
        ] {
            let error = parse(&text).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
    }
}
