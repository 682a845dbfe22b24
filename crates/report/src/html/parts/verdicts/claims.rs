//! The section on claims.

use maud::{Markup, html};

use crate::model::claims::Claim;
use crate::sections::claims::summary;

/// The claims as a table; empty without claims.
pub(crate) fn section(claims: &[Claim]) -> Markup {
    html! {
        @if !claims.is_empty() {
            section #claims {
                h2 { "Claims" }
                p.how { (summary(claims)) }
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

fn line(claim: &Claim) -> Markup {
    html! {
        tr {
            td { span class={ "badge " (claim.verdict.as_str().replace(' ', "-")) } { (claim.verdict.as_str()) } }
            th.says scope="row" {
                (claim.says)
                div.fine { code { (claim.expression) } }
                @if let Some(reason) = &claim.reason { div.fine { (reason) } }
            }
            td.num { (claim.measured_text().as_deref().unwrap_or("–")) }
            td.num {
                (claim.published_text().as_deref().unwrap_or("–"))
                @if let Some(source) = &claim.source { div.fine { (source) } }
            }
        }
    }
}
