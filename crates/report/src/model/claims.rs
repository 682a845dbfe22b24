//! Claims with their verdicts.

use dyno_judge::{ClaimResult, ClaimState, JudgedClaim, Problem, TrialChecks, judge_claims};
use dyno_stats::Interval;
use dyno_store::{ClaimRecord, Run};
use serde::Serialize;

use crate::wording::number;

/// What the measurements say about a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ClaimVerdict {
    /// The measurements support the claim, and the interval contains the published figure.
    Reproduced,
    /// The measurements support a published claim, but there is no published figure or the interval does not
    /// contain it.
    SameDirection,
    /// The measurements support a claim that names no publication.
    Supported,
    /// The measurements contradict a published claim.
    NotReproduced,
    /// The measurements contradict a claim that names no publication.
    Refuted,
    /// The measurements do not decide the claim.
    Undecided,
    /// No round has all figures of the claim, or the run does not include the claim's tests.
    NotMeasured,
    /// The claim is invalid, or names something that the run does not have.
    NotJudged,
}

impl ClaimVerdict {
    fn of(result: &ClaimResult, record: &ClaimRecord) -> Self {
        let is_published = record.published.is_some() || record.source.is_some();
        let has_figure = record
            .published
            .zip(result.interval)
            .is_some_and(|(figure, interval)| (interval.low..=interval.high).contains(&figure));
        match result.state {
            ClaimState::Supported if has_figure => Self::Reproduced,
            ClaimState::Supported if is_published => Self::SameDirection,
            ClaimState::Supported => Self::Supported,
            ClaimState::Refuted if is_published => Self::NotReproduced,
            ClaimState::Refuted => Self::Refuted,
            ClaimState::Inconclusive if result.rounds == 0 => Self::NotMeasured,
            ClaimState::Inconclusive => Self::Undecided,
        }
    }

    /// The verdict in a few words.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Reproduced => "reproduced",
            Self::SameDirection => "same direction",
            Self::Supported => "supported",
            Self::NotReproduced => "not reproduced here",
            Self::Refuted => "refuted",
            Self::Undecided => "undecided",
            Self::NotMeasured => "not measured",
            Self::NotJudged => "not judged",
        }
    }

    /// The count with a verb, as in a sentence: `13 are reproduced`.
    pub(crate) fn counted(self, count: usize) -> String {
        let (be, have) = if count == 1 { ("is", "has") } else { ("are", "have") };
        if self == Self::SameDirection {
            format!("{count} {have} the same direction")
        } else {
            format!("{count} {be} {}", self.as_str())
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Claim {
    /// The claim's id in the plan.
    pub id: String,
    /// The claim in words.
    pub says: String,
    pub expression: String,
    pub verdict: ClaimVerdict,
    /// The value of the first measured side of the claim's expression. `None` if it was not measured.
    pub measured: Option<f64>,
    /// The interval of `measured`. `None` if there are too few rounds.
    pub interval: Option<Interval>,
    pub published: Option<f64>,
    pub source: Option<String>,
    /// The reason for the verdict, if the figures do not show it.
    pub reason: Option<String>,
}

impl Claim {
    /// The measured value with its interval; `None` if not measured.
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
        Err(error) => {
            let is_left_out = matches!(error.problem, Problem::Tests { count: 0, .. });
            let verdict = if is_left_out { ClaimVerdict::NotMeasured } else { ClaimVerdict::NotJudged };
            Claim { verdict, reason: Some(error.to_string()), ..claim }
        }
        Ok(result) => Claim {
            verdict: ClaimVerdict::of(&result, record),
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
    use crate::sample;

    fn verdict(state: ClaimState, published: Option<f64>, source: Option<&str>) -> ClaimVerdict {
        let result = ClaimResult {
            claim: String::new(),
            state,
            measured: Some(1.15),
            interval: Some(Interval { low: 1.1, high: 1.2, confidence: 0.95 }),
            method: Method::Exact,
            rounds: 9,
            reason: None,
        };
        let source = source.map(str::to_owned);
        ClaimVerdict::of(&result, &ClaimRecord { published, source, ..ClaimRecord::default() })
    }

    #[test]
    fn a_claim_is_reproduced_only_if_it_holds_with_the_published_figure() {
        assert_eq!(verdict(ClaimState::Supported, Some(1.2), None), ClaimVerdict::Reproduced);
        assert_eq!(verdict(ClaimState::Supported, Some(1.25), None), ClaimVerdict::SameDirection);
        assert_eq!(verdict(ClaimState::Refuted, Some(1.15), None), ClaimVerdict::NotReproduced);
        assert_eq!(
            verdict(ClaimState::Inconclusive, Some(1.15), None),
            ClaimVerdict::Undecided,
            "that is not agreement"
        );
    }

    #[test]
    fn only_claims_without_a_publication_are_refuted() {
        let post = Some("a post");
        assert_eq!(verdict(ClaimState::Supported, None, post), ClaimVerdict::SameDirection);
        assert_eq!(verdict(ClaimState::Refuted, None, post), ClaimVerdict::NotReproduced);
        assert_eq!(verdict(ClaimState::Supported, None, None), ClaimVerdict::Supported);
        assert_eq!(verdict(ClaimState::Refuted, None, None), ClaimVerdict::Refuted);
    }

    #[test]
    fn a_test_that_the_run_leaves_out_is_not_measured() {
        let mut run = sample::run(12);
        let claim = |expression: &str| ClaimRecord {
            expression: expression.to_owned(),
            published: Some(1.0),
            ..ClaimRecord::default()
        };
        run.record.claims = vec![
            claim("ratio(maria, mysql56, throughput, point-query, 64) > 1"),
            claim("ratio(maria, mysql56, variation, point-query, 4) > 1"),
            claim("ratio(mirocks, mysql56, throughput, point-query, 4) > 1"),
        ];
        let verdicts: Vec<ClaimVerdict> =
            claims(&run, &TrialChecks::new()).iter().map(|claim| claim.verdict).collect();
        let expected = [ClaimVerdict::NotMeasured, ClaimVerdict::NotMeasured, ClaimVerdict::NotJudged];
        assert_eq!(verdicts, expected);
    }
}
