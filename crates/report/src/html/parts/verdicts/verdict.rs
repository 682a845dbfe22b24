//! The section on verdicts: a card for each candidate, against each system as the base.

use dyno_judge::Finding;
use maud::{Markup, html};

use crate::model::{Reports, VerdictCounts};
use crate::wording::number::{self, counted};
use crate::wording::phrases;
use crate::wording::words;

/// Cards for the candidates of these reports. The page has cards for every base, and shows the cards for one base at
/// a time.
pub(crate) fn cards(reports: &Reports, is_shown: bool) -> Markup {
    html! {
        div.cards data-against=(phrases::base_id(reports)) hidden[!is_shown] {
            @for (verdict, sentences) in reports.verdicts.iter().zip(&reports.summary) {
                (card(reports, verdict, sentences))
            }
        }
    }
}

fn card(reports: &Reports, verdict: &VerdictCounts, sentences: &str) -> Markup {
    let (first, rest) = sentences.split_once(". ").map_or((sentences, ""), |(first, rest)| (first, rest));
    let suspect = reports.trial_warnings.iter().filter(|it| it.system == verdict.candidate).count();
    html! {
        article.card {
            h3 { (verdict.candidate) span.against { " against " (phrases::base_id(reports)) } }
            @if let Some(mean) = &verdict.overall {
                div.figure {
                    span.big { (number::times(mean.ratio)) }
                    span.what {
                        @if let Some(interval) = mean.interval { (number::ratio(interval.low)) "–" (number::ratio(interval.high)) ": " }
                        "throughput, geometric mean of " (counted(mean.tests as u64, "test"))
                    }
                }
                (counts(verdict, &number::margin(&reports.rule)))
            }
            p.first { (first) @if !rest.is_empty() { "." } }
            @if !rest.is_empty() { p { (rest) } }
            @if suspect > 0 {
                p { "⚠ " (suspect) " of its tests " @if suspect == 1 { "is" } @else { "are" } " " a href="#trial-warnings" { "suspect" } "." }
            }
        }
    }
}

fn counts(verdict: &VerdictCounts, margin: &str) -> Markup {
    let VerdictCounts { improved, regressed, same, .. } = verdict;
    let open = verdict.not_enough_evidence + verdict.failed + verdict.decays + verdict.unjudged;
    html! {
        p.counts {
            span.better { (improved) " faster" }
            span.same { (same) " " (words::finding(Finding::Same, margin)) }
            span.unclear { (open) " without a verdict" }
            span.worse { (regressed) " slower" }
        }
    }
}

/// A candidate's verdicts in a run that is in progress: `maria so far: 3 faster, 1 slower, 2 the same; 5 open`.
pub(crate) fn so_far(verdict: &VerdictCounts) -> String {
    let VerdictCounts { candidate, improved, regressed, same, not_enough_evidence, .. } = verdict;
    let open = not_enough_evidence + verdict.unjudged;
    if improved + regressed + same == 0 {
        return format!("{candidate}: no test is decided yet");
    }
    format!("{candidate} so far: {improved} faster, {regressed} slower, {same} the same; {open} open")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{self, reports};

    #[test]
    fn what_is_decided_so_far_is_counted() {
        let says = |rounds| so_far(&reports(&sample::run(rounds)).verdicts[1]);
        assert_eq!(says(1), "myrocks: no test is decided yet");
        assert_eq!(says(12), "myrocks so far: 4 faster, 6 slower, 0 the same; 1 open");
    }

    #[test]
    fn a_card_says_how_many_of_its_tests_are_suspect() {
        let page = cards(&reports(&sample::eventful_run()), true).into_string();
        assert!(page.contains("of its tests") && page.contains("href=\"#trial-warnings\""), "{page}");
    }
}
