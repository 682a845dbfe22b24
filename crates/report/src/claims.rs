//! Claims with their verdicts, as one list for every format.

use dyno_judge::{ClaimState, JudgedClaim, TrialChecks, judge_claims};
use dyno_stats::Interval;
use dyno_store::Run;
use serde::Serialize;

use crate::number;
use crate::table::{Column, Line, Shown, Table};

/// Heading of the formats for people.
pub(crate) const TITLE: &str = "Claims: what the plan says will be found";

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ClaimVerdict {
    /// The measurements support it.
    Supported,
    /// The measurements contradict it.
    Refuted,
    /// The measurements do not decide it.
    Inconclusive,
    /// It is invalid, or refers to something that the run does not contain.
    NotJudged,
}

impl ClaimVerdict {
    /// A word or two for people.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Supported => "supported",
            Self::Refuted => "refuted",
            Self::Inconclusive => "inconclusive",
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
            verdict: match result.state {
                ClaimState::Supported => ClaimVerdict::Supported,
                ClaimState::Refuted => ClaimVerdict::Refuted,
                ClaimState::Inconclusive => ClaimVerdict::Inconclusive,
            },
            measured: result.measured,
            interval: result.interval,
            reason: result.reason,
            ..claim
        },
    }
}

/// A table of the claims: the measured figure beside the published one.
pub(crate) fn table(claims: &[Claim]) -> Table {
    let column = |name: &str| Column { system: name.to_owned(), clients: None };
    let shown = |text: Option<String>| Shown::plain(text.unwrap_or_else(|| "–".to_owned()));
    let line = |claim: &Claim| Line::Test {
        name: format!("{}{}", claim.says, because(claim)),
        operation: String::new(),
        cells: vec![
            Shown::plain(claim.verdict.as_str()),
            shown(claim.measured_text()),
            shown(claim.published_text()),
        ],
    };
    Table {
        title: String::new(),
        shows_operations: false,
        columns: ["verdict", "measured", "published"].map(column).to_vec(),
        lines: claims.iter().map(line).collect(),
    }
}

/// A claim's figures in words.
pub(crate) fn figures(claim: &Claim) -> String {
    let measured = claim.measured_text().unwrap_or_else(|| "nothing".to_owned());
    let published = claim.published_text().map_or(String::new(), |figure| format!(", published {figure}"));
    format!("measured {measured}{published}{}", because(claim))
}

fn because(claim: &Claim) -> String {
    claim.reason.as_ref().map_or(String::new(), |reason| format!(" ({reason})"))
}
