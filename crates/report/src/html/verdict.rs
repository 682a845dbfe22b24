//! What was found: a card for each candidate, for every system as the base.

use dyno_stats::{PairedRatio, geometric_mean};
use maud::{Markup, PreEscaped, html};

use crate::model::{Reports, System};
use crate::number;
use crate::phrases;
use crate::summary::{Direction, direction};

/// Cards for the candidates of these reports.
pub(crate) fn cards(reports: &Reports, is_shown: bool) -> Markup {
    let candidates: Vec<&System> = reports.systems.iter().filter(|system| !system.is_base).collect();
    html! {
        div.cards data-against=(phrases::base_id(reports)) hidden[!is_shown] {
            @for (candidate, sentences) in candidates.iter().zip(&reports.summary) {
                (card(reports, candidate, sentences))
            }
        }
    }
}

fn card(reports: &Reports, candidate: &System, sentences: &str) -> Markup {
    let ratios = ratios(reports, &candidate.id);
    let mean = geometric_mean(&ratios.iter().map(|paired| paired.ratio).collect::<Vec<_>>());
    let (first, rest) = sentences.split_once(". ").map_or((sentences, ""), |(first, rest)| (first, rest));
    html! {
        article.card {
            h3 { (candidate.id) span.against { " against " (phrases::base_id(reports)) } }
            @if let Some(mean) = mean {
                div.figure {
                    span.big { "×" (number::ratio(mean)) }
                    span.what { "throughput, geometric mean of " (number::counted(ratios.len() as u64, "test")) }
                }
                (strip(&ratios))
            }
            p.first { (first) @if !rest.is_empty() { "." } }
            @if !rest.is_empty() { p { (rest) } }
        }
    }
}

fn ratios<'a>(reports: &'a Reports, system: &str) -> Vec<&'a PairedRatio> {
    let cells = reports.relative.rows.iter().flat_map(|row| &row.cells);
    cells.filter(|cell| cell.system == system).filter_map(crate::Cell::value).collect()
}

/// Every test's ratio as a tick on a logarithmic scale.
fn strip(ratios: &[&PairedRatio]) -> Markup {
    const WIDTH: f64 = 320.0;
    let furthest =
        ratios.iter().map(|paired| paired.ratio.max(1.0 / paired.ratio)).filter(|far| far.is_finite());
    let reach = furthest.fold(1.25, f64::max) * 1.06;
    let place = |ratio: f64| (WIDTH / 2.0) * (1.0 + (ratio.ln() / reach.ln()).clamp(-1.0, 1.0));
    let ticks = |wanted: Direction| {
        let those = ratios.iter().filter(|paired| direction(paired) == wanted);
        those.fold(String::new(), |path, paired| path + &format!("M{:.1} 4v14", place(paired.ratio)))
    };
    let count = |wanted: Direction| ratios.iter().filter(|paired| direction(paired) == wanted).count();
    let (slower, unclear, faster) =
        (count(Direction::Slower), count(Direction::Unclear), count(Direction::Faster));
    // Without intervals, differences may be chance, and are drawn pale.
    let is_unsure = ratios.iter().any(|paired| paired.interval.is_none());
    let label = format!("{faster} faster, {unclear} unclear, {slower} slower");
    html! {
        svg.strip.unsure[is_unsure] viewBox="-4 0 328 36" role="img" aria-label=(label) {
            path.rule d=(format!("M0 18H{WIDTH}M{} 0v22", WIDTH / 2.0)) {}
            path.tick.unclear d=(ticks(Direction::Unclear)) {}
            path.tick.worse d=(ticks(Direction::Slower)) {}
            path.tick.better d=(ticks(Direction::Faster)) {}
            text x="0" y="33" { (PreEscaped("&#8592; slower ")) (number::ratio(1.0 / reach)) }
            text x=(WIDTH / 2.0) y="33" text-anchor="middle" { "1" }
            text x=(WIDTH) y="33" text-anchor="end" { (number::ratio(reach)) (PreEscaped(" faster &#8594;")) }
        }
        p.counts {
            span.better { (faster) " faster" } span.unclear { (unclear) " unclear" } span.worse { (slower) " slower" }
        }
    }
}
