//! The cost of each rung of a ladder. A ladder is a chain of systems, called rungs. Each rung differs from the rung
//! before it by one change.

mod change;
#[cfg(test)]
mod tests;

use dyno_stats::{Interval, Method};
use dyno_store::LadderRecord;
use serde::Serialize;

use self::change::changes;
use crate::compare::comparison::{CostRatio, Finding, Judgement, Subject, TestComparison, Undecided, judge};
use crate::compare::rule::Rule;
use crate::trial::evidence::Evidence;
use crate::trial::member::Member;

pub use self::change::SettingChange;

/// A ladder of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Ladder {
    /// The ladder's id in the plan.
    pub id: String,
    /// The systems of the ladder, from the first to the last.
    pub rungs: Vec<Rung>,
}

/// A system of a ladder.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Rung {
    pub system: String,
    /// Differences from the previous rung; empty for the first rung.
    pub changes: Vec<SettingChange>,
    /// The tests, in run order. A test is a step at a client count. Loads of data are left out.
    pub tests: Vec<RungTest>,
}

/// A system of a ladder in a test.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RungTest {
    pub step: String,
    pub clients: u32,
    /// Throughput as a multiple of the previous rung's throughput; `None` for the first rung.
    pub against_previous: Option<RungRatio>,
    /// Throughput as a multiple of the first rung's throughput, without verdict. `None` for the first rung, and if
    /// the ratio is unknown.
    pub against_first: Option<CostRatio>,
}

/// The change of throughput from the previous rung to this one.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RungRatio {
    /// `None` without a round that both systems completed.
    pub ratio: Option<f64>,
    pub interval: Option<Interval>,
    pub method: Method,
    /// The verdict. All rungs of a ladder in all tests are one family.
    pub finding: Finding,
    /// Why there is no verdict; `None` if there is one.
    pub undecided: Option<Undecided>,
}

/// The ladders of a run. Systems that the run does not have are left out. Ladders with fewer than two remaining
/// systems are left out too.
pub(crate) fn ladders(evidence: &Evidence<'_>, rule: &Rule) -> Vec<Ladder> {
    let timed = evidence.run.steps.iter().filter(|step| step.seconds.is_some()).map(|step| &step.id);
    let steps: Vec<String> =
        timed.filter(|step| rule.steps.is_empty() || rule.steps.contains(step)).cloned().collect();
    // No step remains. A rule with an empty list of steps would compare all steps.
    if steps.is_empty() {
        return Vec::new();
    }
    let rule = Rule { steps, ..rule.clone() };
    evidence.run.record.ladders.iter().filter_map(|ladder| of(ladder, evidence, &rule)).collect()
}

fn of(ladder: &LadderRecord, evidence: &Evidence<'_>, rule: &Rule) -> Option<Ladder> {
    let known = |id: &&String| evidence.run.systems.iter().find(|system| system.id == **id);
    let systems: Vec<_> = ladder.systems.iter().filter_map(|id| known(&id)).collect();
    let (first, others) = systems.split_first().filter(|(_, others)| !others.is_empty())?;
    let judged = |pairs: Vec<[&str; 2]>| {
        let member = |system| Member { evidence, system };
        judge(
            &pairs
                .into_iter()
                .map(|[base, candidate]| Subject::within(member(base), member(candidate)))
                .collect::<Vec<_>>(),
            rule,
        )
    };
    let steps = judged(systems.windows(2).map(|two| [two[0].id.as_str(), two[1].id.as_str()]).collect());
    let from_first = judged(others.iter().map(|system| [first.id.as_str(), system.id.as_str()]).collect());
    let rungs = systems.iter().enumerate().map(|(at, system)| Rung {
        system: system.id.clone(),
        changes: at.checked_sub(1).map_or_else(Vec::new, |before| changes(systems[before], system)),
        tests: tests(at, &steps, &from_first),
    });
    Some(Ladder { id: ladder.id.clone(), rungs: rungs.collect() })
}

/// The tests of the system at a position of a ladder.
fn tests(at: usize, steps: &Judgement, from_first: &Judgement) -> Vec<RungTest> {
    let Some(above) = at.checked_sub(1) else {
        let tests = steps.comparisons.first().into_iter().flat_map(|comparison| &comparison.tests);
        return tests.map(|test| RungTest::of(test, None, None)).collect();
    };
    let pairs = steps.comparisons[above].tests.iter().zip(&from_first.comparisons[above].tests);
    pairs.map(|(step, whole)| RungTest::of(step, Some(RungRatio::of(step)), ratio(whole))).collect()
}

fn ratio(test: &TestComparison) -> Option<CostRatio> {
    Some(CostRatio { ratio: test.ratio?, interval: test.interval, method: test.method })
}

impl RungTest {
    fn of(
        test: &TestComparison,
        against_previous: Option<RungRatio>,
        against_first: Option<CostRatio>,
    ) -> Self {
        Self { step: test.step.clone(), clients: test.clients, against_previous, against_first }
    }
}

impl RungRatio {
    fn of(test: &TestComparison) -> Self {
        Self {
            ratio: test.ratio,
            interval: test.interval,
            method: test.method,
            finding: test.finding,
            undecided: test.undecided.clone(),
        }
    }
}
