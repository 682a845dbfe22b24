//! The section on verdicts: a card for each candidate, for every system as the base.

use dyno_judge::Finding;
use maud::{Markup, PreEscaped, html};

use crate::model::{Relative, Reports, Verdict};
use crate::number;
use crate::phrases;
use crate::words;

/// Cards for the candidates of these reports.
pub(crate) fn cards(reports: &Reports, is_shown: bool) -> Markup {
    html! {
        div.cards data-against=(phrases::base_id(reports)) hidden[!is_shown] {
            @for (verdict, sentences) in reports.verdicts.iter().zip(&reports.summary) {
                (card(reports, verdict, sentences))
            }
        }
    }
}

fn card(reports: &Reports, verdict: &Verdict, sentences: &str) -> Markup {
    let ratios = ratios(reports, &verdict.candidate);
    let (first, rest) = sentences.split_once(". ").map_or((sentences, ""), |(first, rest)| (first, rest));
    html! {
        article.card {
            h3 { (verdict.candidate) span.against { " against " (phrases::base_id(reports)) } }
            @if let Some(mean) = &verdict.overall {
                div.figure {
                    span.big { "×" (number::ratio(mean.ratio)) }
                    span.what {
                        @if let Some(interval) = mean.interval { (number::ratio(interval.low)) "–" (number::ratio(interval.high)) ": " }
                        "throughput, geometric mean of " (number::counted(mean.tests as u64, "test"))
                    }
                }
                (strip(verdict, &ratios, &number::margin(&reports.rule)))
            }
            p.first { (first) @if !rest.is_empty() { "." } }
            @if !rest.is_empty() { p { (rest) } }
        }
    }
}

fn ratios<'a>(reports: &'a Reports, system: &str) -> Vec<&'a Relative> {
    let cells = reports.relative.rows.iter().flat_map(|row| &row.cells);
    cells.filter(|cell| cell.system == system).filter_map(crate::Cell::value).collect()
}

/// The ratio of each test as a tick on a logarithmic scale, coloured by verdict.
fn strip(verdict: &Verdict, ratios: &[&Relative], margin: &str) -> Markup {
    const WIDTH: f64 = 320.0;
    let furthest = ratios.iter().map(|it| it.ratio.max(1.0 / it.ratio)).filter(|far| far.is_finite());
    let reach = furthest.fold(1.25, f64::max) * 1.06;
    let place = |ratio: f64| (WIDTH / 2.0) * (1.0 + (ratio.ln() / reach.ln()).clamp(-1.0, 1.0));
    let ticks = |wanted: &[Finding]| {
        let those = ratios.iter().filter(|it| it.finding.is_some_and(|finding| wanted.contains(&finding)));
        those.fold(String::new(), |path, it| path + &format!("M{:.1} 4v14", place(it.ratio)))
    };
    let Verdict { improved, regressed, same, .. } = verdict;
    let open = verdict.not_enough_evidence + verdict.failed + verdict.decays + verdict.unjudged;
    let same_words = words::finding(Finding::Same, margin);
    let label =
        format!("{improved} faster, {same} {same_words}, {open} without a verdict, {regressed} slower");
    let neither = [Finding::NotEnoughEvidence, Finding::Failed, Finding::Decays, Finding::Unjudged];
    html! {
        svg.strip viewBox="-4 0 328 36" role="img" aria-label=(label) {
            path.rule d=(format!("M0 18H{WIDTH}M{} 0v22", WIDTH / 2.0)) {}
            path.tick.unclear d=(ticks(&neither)) {}
            path.tick.same d=(ticks(&[Finding::Same])) {}
            path.tick.worse d=(ticks(&[Finding::Regressed])) {}
            path.tick.better d=(ticks(&[Finding::Improved])) {}
            text x="0" y="33" { (PreEscaped("&#8592; ")) (number::ratio(1.0 / reach)) }
            text x=(WIDTH / 2.0) y="33" text-anchor="middle" { "1" }
            text x=(WIDTH) y="33" text-anchor="end" { (number::ratio(reach)) (PreEscaped(" &#8594;")) }
        }
        p.counts {
            span.better { (improved) " faster" }
            span.same { (same) " " (same_words) }
            span.unclear { (open) " without a verdict" }
            span.worse { (regressed) " slower" }
        }
    }
}
