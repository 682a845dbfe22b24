//! The overall verdict, which determines an exit status.

use serde::Serialize;

use super::{Comparison, Finding, TestComparison};

/// Whether there is a regression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum GateOutcome {
    /// Every test that votes shows that the candidate is not worse by more than the margin, and each candidate has at
    /// least one such test. This needs no correction for the number of tests: if each test is significant on its own,
    /// the conclusion from all of them is too (Berger, "Multiparameter hypothesis testing and acceptance sampling",
    /// Technometrics 24(4), 1982).
    NoneRegressed,
    /// At least one test regressed or failed, after correction for the number of tests.
    SomeRegressed,
    /// The tests show neither of the other outcomes.
    NotDecided,
}

/// What a test contributes to the overall verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum GateVote {
    /// The test shows that the candidate is not worse by more than the margin.
    NotWorse,
    /// The test regressed or failed.
    Worse,
    /// The test shows neither "not worse" nor "worse", although the base's own figures can be judged.
    /// [`TestComparison::undecided`] has the reason. One such test prevents [`GateOutcome::NoneRegressed`].
    Open,
    /// The test says nothing about the candidate, because the base's own figures cannot be judged in this test, or
    /// because no verdict on such a test is possible.
    Abstains,
}

impl GateVote {
    /// The vote of a test with this finding. `is_base_judgeable` says whether the base's own figures can be
    /// judged.
    pub(super) fn of(finding: Finding, rules_out_regression: bool, is_base_judgeable: bool) -> Self {
        match finding {
            Finding::Regressed | Finding::Failed => Self::Worse,
            Finding::Decays => Self::Open,
            Finding::Unjudged if is_base_judgeable => Self::Open,
            Finding::Unjudged => Self::Abstains,
            _ if rules_out_regression => Self::NotWorse,
            _ => Self::Open,
        }
    }
}

/// The overall verdict on all candidates. Controls do not count.
pub(super) fn outcome(comparisons: &[Comparison]) -> GateOutcome {
    let judged = || comparisons.iter().filter(|comparison| !comparison.is_control);
    let any = |comparison: &Comparison, vote| {
        comparison.tests.iter().any(|test: &TestComparison| test.gate == vote)
    };
    let is_shown =
        |comparison: &Comparison| any(comparison, GateVote::NotWorse) && !any(comparison, GateVote::Open);
    if judged().any(|comparison| any(comparison, GateVote::Worse)) {
        GateOutcome::SomeRegressed
    } else if judged().count() > 0 && judged().all(is_shown) {
        GateOutcome::NoneRegressed
    } else {
        GateOutcome::NotDecided
    }
}
