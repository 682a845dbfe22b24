//! What the plan said would be found, and whether it was.

use maud::{Markup, html};

use crate::number;

/// How a claim came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClaimVerdict {
    /// The measurements show it.
    Supported,
    /// The measurements show the opposite.
    Refuted,
    /// The measurements allow both.
    Inconclusive,
    /// Nobody has judged it.
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

/// A claim of a plan, beside what was measured.
#[derive(Clone, Debug, PartialEq)]
pub struct ClaimLine {
    /// Its id in the plan.
    pub id: String,
    /// The claim in words.
    pub says: String,
    /// The claim as an expression.
    pub expression: String,
    /// How it came out.
    pub verdict: ClaimVerdict,
    /// What was measured, with its interval, as text; none if it could not be.
    pub measured: Option<String>,
    /// The figure of whoever said it first.
    pub published: Option<f64>,
    /// Where they said it.
    pub source: Option<String>,
    /// Why it came out so; empty if the figures say enough.
    pub reason: String,
}

impl ClaimLine {
    /// The claims of a run, as long as nobody judges them.
    pub fn unjudged(run: &dyno_store::Run) -> Vec<Self> {
        let line = |claim: &dyno_store::ClaimRecord| Self {
            id: claim.id.clone(),
            says: claim.says.clone(),
            expression: claim.expression.clone(),
            verdict: ClaimVerdict::NotJudged,
            measured: None,
            published: claim.published,
            source: claim.source.clone(),
            reason: String::new(),
        };
        run.record.claims.iter().map(line).collect()
    }
}

/// The claims as a table; nothing if there is none.
pub(crate) fn section(claims: &[ClaimLine]) -> Markup {
    html! {
        @if !claims.is_empty() {
            section #claims {
                h2 { "Claims" }
                p.how { "What the plan said would be found, and what was." }
                div.scroll {
                    table.list {
                        caption.hidden-text { "Claims of the plan, their verdicts and figures" }
                        thead { tr {
                            th scope="col" { "verdict" } th scope="col" { "claim" }
                            th.num scope="col" { "measured" } th.num scope="col" { "published" }
                        } }
                        tbody { @for claim in claims { (line(claim)) } }
                    }
                }
            }
        }
    }
}

fn line(claim: &ClaimLine) -> Markup {
    html! {
        tr {
            td { span class={ "badge " (claim.verdict.as_str().replace(' ', "-")) } { (claim.verdict.as_str()) } }
            th.says scope="row" {
                (claim.says)
                div.fine { code { (claim.expression) } }
                @if !claim.reason.is_empty() { div.fine { (claim.reason) } }
            }
            td.num { (claim.measured.as_deref().unwrap_or("–")) }
            td.num {
                (claim.published.map_or_else(|| "–".to_owned(), number::three_digits))
                @if let Some(source) = &claim.source { div.fine { (source) } }
            }
        }
    }
}
