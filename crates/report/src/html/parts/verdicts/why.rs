//! The largest differences of a run as cards: the size, what changed, the suspect, and the command that proves the
//! cause.

use maud::{Markup, html};

use crate::html::address;
use crate::model::Reports;
use crate::model::why::{ProofState, Why};
use crate::sections::why::{HOW_TO_READ, TITLE};
use crate::wording::number::{self, counted};

/// The section; empty without a decided difference.
pub(crate) fn section(reports: &Reports) -> Markup {
    html! {
        @if !reports.why.is_empty() {
            section #why {
                h2 { (TITLE) }
                p.how { (HOW_TO_READ) }
                div.cards { @for why in &reports.why { (card(why)) } }
            }
        }
    }
}

fn card(why: &Why) -> Markup {
    let Why { base, candidate, step, clients, .. } = why;
    html! {
        article.card {
            h3 { a href=(address::of_cell(step, candidate, *clients)) { (step) } span.against { " at " (counted(u64::from(*clients), "client")) ": " (candidate) " against " (base) } }
            div.figure {
                span.big { (number::times(why.ratio)) }
                span.what {
                    "throughput"
                    @if let Some(interval) = why.interval { ", " (number::ratio(interval.low)) "–" (number::ratio(interval.high)) }
                    @if let Some(cost) = &why.cost { br; b { (cost.name) " " (number::factor(cost.ratio)) } " for an operation" }
                }
            }
            @if let Some(suspect) = &why.suspect { p { span.badge { "suspect" } " " code { (suspect) } } }
            details { summary { "What changed" } @for says in &why.says { p { (says) } } }
            (proof(&why.proof))
        }
    }
}

fn proof(proof: &ProofState) -> Markup {
    html! {
        @match proof {
            ProofState::Made { says } => { p.first { b { "Proven: " } (says.join(" ")) } }
            ProofState::NotMade { command } => {
                p.fine { "Not proven yet. This measures it:" }
                div.command { code { (command) } button type="button" data-copy hidden { "copy" } }
            }
            ProofState::Impossible { reason } => { p.fine { "Not proven: " (reason) "." } }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn a_card_has_the_size_the_cost_the_suspect_and_the_command() {
        let command = "dyno explain 3 new --test point-query --clients 4 --prove".to_owned();
        let why = |proof| Why::of(&sample::planned(), proof);
        let all = vec![
            why(ProofState::NotMade { command: command.clone() }),
            why(ProofState::of(&sample::proof())),
            why(ProofState::Impossible { reason: "they are two engines".to_owned() }),
        ];
        let reports = Reports { why: all, ..sample::reports(&sample::run(1)) };
        let page = section(&reports).into_string();
        assert!(page.starts_with("<section id=\"why\"><h2>Why</h2>"), "{page}");
        for part in [
            "×0.57",
            "<b>server CPU ×1.80</b> for an operation",
            "<code>query_cache_type: OFF → ON</code>",
            "new reads sbtest1 by a full scan, old by index k_1.",
            &format!("<code>{command}</code><button type=\"button\" data-copy hidden>"),
            "Not proven: they are two engines.",
        ] {
            assert!(page.contains(part), "{part}: {page}");
        }
    }

    #[test]
    fn without_a_difference_there_is_no_section() {
        assert_eq!(section(&sample::reports(&sample::run(1))).into_string(), "");
    }
}
