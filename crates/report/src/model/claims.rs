//! Claims with their verdicts.

use dyno_judge::{ClaimResult, ClaimState, JudgedClaim, TrialChecks, judge_claims};
use dyno_stats::Interval;
use dyno_store::Run;
use serde::Serialize;

use crate::wording::number;

/// What the measurements say of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ClaimVerdict {
    /// They support it, and the interval contains the published figure.
    Reproduced,
    /// They support it, and the interval does not contain the published figure.
    SameDirection,
    /// They support it, and it has no published figure.
    Supported,
    /// They contradict it, and it has a published figure.
    NotReproduced,
    /// They contradict it, and it has no published figure.
    Refuted,
    /// They do not decide it.
    Undecided,
    /// It is invalid, or refers to something that the run does not contain.
    NotJudged,
}

impl ClaimVerdict {
    fn of(result: &ClaimResult, published: Option<f64>) -> Self {
        match (result.state, published) {
            (ClaimState::Supported, None) => Self::Supported,
            (ClaimState::Supported, Some(figure)) => {
                let contains = |interval: Interval| (interval.low..=interval.high).contains(&figure);
                if result.interval.is_some_and(contains) { Self::Reproduced } else { Self::SameDirection }
            }
            (ClaimState::Refuted, None) => Self::Refuted,
            (ClaimState::Refuted, Some(_)) => Self::NotReproduced,
            (ClaimState::Inconclusive, _) => Self::Undecided,
        }
    }

    /// A few words for people.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Reproduced => "reproduced",
            Self::SameDirection => "same direction",
            Self::Supported => "supported",
            Self::NotReproduced => "not reproduced here",
            Self::Refuted => "refuted",
            Self::Undecided => "undecided",
            Self::NotJudged => "not judged",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Claim {
    /// Its id in the plan.
    pub id: String,
    /// The claim in words.
    pub says: String,
    pub expression: String,
    pub verdict: ClaimVerdict,
    /// The value of its first side; none if not measured.
    pub measured: Option<f64>,
    /// The interval of the value; none with too few rounds.
    pub interval: Option<Interval>,
    pub published: Option<f64>,
    /// The publication.
    pub source: Option<String>,
    /// The reason for the verdict, if the figures do not show it.
    pub reason: Option<String>,
}

impl Claim {
    /// The measured value with its interval; none if not measured.
    pub(crate) fn measured_text(&self) -> Option<String> {
        let measured = number::ratio(self.measured?);
        Some(match self.interval {
            Some(interval) => {
                format!("{measured} [{}, {}]", number::ratio(interval.low), number::ratio(interval.high))
            }
            None => measured,
        })
    }

    pub(crate) fn published_text(&self) -> Option<String> {
        self.published.map(|figure| figure.to_string())
    }
}

/// The claims of the run, with verdicts.
pub(crate) fn claims(run: &Run, checks: &TrialChecks) -> Vec<Claim> {
    judge_claims(run, checks).into_iter().map(claim).collect()
}

fn claim(JudgedClaim { record, result }: JudgedClaim<'_>) -> Claim {
    let claim = Claim {
        id: record.id.clone(),
        says: record.says.clone(),
        expression: record.expression.clone(),
        verdict: ClaimVerdict::NotJudged,
        measured: None,
        interval: None,
        published: record.published,
        source: record.source.clone(),
        reason: None,
    };
    match result {
        Err(error) => Claim { reason: Some(error.to_string()), ..claim },
        Ok(result) => Claim {
            verdict: ClaimVerdict::of(&result, record.published),
            measured: result.measured,
            interval: result.interval,
            reason: result.reason,
            ..claim
        },
    }
}

#[cfg(test)]
mod tests {
    use dyno_stats::Method;

    use super::*;

    #[test]
    fn a_claim_is_reproduced_only_if_it_holds_with_the_published_figure() {
        let verdict = |state, published| {
            let interval = Some(Interval { low: 1.1, high: 1.2, confidence: 0.95 });
            let result = ClaimResult {
                claim: String::new(),
                state,
                measured: Some(1.15),
                interval,
                method: Method::Exact,
                rounds: 9,
                reason: None,
            };
            ClaimVerdict::of(&result, published)
        };
        assert_eq!(verdict(ClaimState::Supported, Some(1.2)), ClaimVerdict::Reproduced);
        assert_eq!(verdict(ClaimState::Supported, Some(1.25)), ClaimVerdict::SameDirection);
        assert_eq!(verdict(ClaimState::Supported, None), ClaimVerdict::Supported);
        assert_eq!(verdict(ClaimState::Refuted, Some(1.15)), ClaimVerdict::NotReproduced);
        assert_eq!(verdict(ClaimState::Refuted, None), ClaimVerdict::Refuted);
        assert_eq!(
            verdict(ClaimState::Inconclusive, Some(1.15)),
            ClaimVerdict::Undecided,
            "that is not agreement"
        );
    }
}
