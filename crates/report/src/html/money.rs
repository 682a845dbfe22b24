//! What an operation costs in money, where the plan has prices.

use dyno_store::Run;
use maud::{Markup, html};

use crate::chart::colour;
use crate::model::{Rate, Reports, Row};
use crate::number;

/// Dollars for a million operations at a price by the hour; none if nothing was done.
fn dollars_per_million(dollars_per_hour: f64, operations_per_second: f64) -> Option<f64> {
    (operations_per_second > 0.0).then(|| dollars_per_hour / 3600.0 / operations_per_second * 1e6)
}

/// Bars for each test; nothing without prices.
pub(crate) fn section(run: &Run, reports: &Reports) -> Markup {
    let prices: Vec<Option<f64>> = run.systems.iter().map(|system| system.dollars_per_hour).collect();
    html! {
        @if prices.iter().any(Option::is_some) {
            section #money {
                h2 { "Cost: dollars for a million operations" }
                p.how {
                    "Price of an hour over operations in an hour, at each test's best client count. "
                    @for (system, price) in run.systems.iter().zip(&prices) {
                        @if let Some(price) = price { span.price { (system.id) " $" (price) " an hour" } " " }
                    }
                }
                div.multiples.bars {
                    @for row in &reports.absolute.rows { (bars(run, &prices, row)) }
                }
            }
        }
    }
}

fn bars(run: &Run, prices: &[Option<f64>], row: &Row<Rate>) -> Markup {
    let best = |system: &str| {
        let cells = row.cells.iter().filter(|cell| cell.system == system);
        cells.filter_map(|cell| Some(cell.value()?.operations_per_second)).reduce(f64::max)
    };
    let costs: Vec<Option<f64>> = run
        .systems
        .iter()
        .zip(prices)
        .map(|(system, price)| dollars_per_million((*price)?, best(&system.id)?))
        .collect();
    let greatest = costs.iter().flatten().copied().fold(0.0, f64::max);
    html! {
        @if greatest > 0.0 {
            figure data-group=(row.group) {
                figcaption { (row.step) }
                table.barlist {
                    caption.hidden-text { "Dollars for a million operations in " (row.step) }
                    @for (at, (system, cost)) in run.systems.iter().zip(&costs).enumerate() {
                        @if let Some(cost) = cost {
                            tr {
                                th scope="row" { (system.id) }
                                td { svg.bar viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true" {
                                    rect class=(colour(at)) width=(format!("{:.1}", cost / greatest * 100.0)) height="8" {}
                                } }
                                td.num { "$" (number::three_digits(*cost)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_million_operations_at_a_thousand_a_second_take_a_thousand_seconds() {
        assert_eq!(dollars_per_million(3.6, 1000.0), Some(1.0));
        assert_eq!(dollars_per_million(3.6, 0.0), None);
    }
}
