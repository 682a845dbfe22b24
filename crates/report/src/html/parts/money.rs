//! Shows the price of operations, with a chart. Only plans with prices have this section.

use dyno_store::Run;
use maud::{Markup, html};

use crate::chart::colour;
use crate::model::{Rate, Reports, Row};
use crate::sections::frontier;
use crate::wording::prices::{self, dollars, dollars_per_million_operations};

/// The section, with bars for each test. Empty if no system has a price.
pub(crate) fn section(run: &Run, reports: &Reports) -> Markup {
    html! {
        @if prices::has_any(run) {
            section #money {
                h2 { "Cost: dollars for a million operations" }
                p.how {
                    "Price of an hour over operations in an hour, at each test's best client count. "
                    @for system in &run.systems {
                        @if let Some(price) = system.dollars_per_year() { span.price { (system.id) " " (dollars(price)) " a year" } " " }
                    }
                }
                div.multiples.bars {
                    @for row in &reports.absolute.rows { (bars(run, row)) }
                }
                div.multiples {
                    @for frontier in frontier::shown(reports) {
                        figure data-group=(frontier.group) {
                            figcaption { (frontier.step) ": operations per second over dollars a year" }
                            (frontier::chart(reports, frontier, 300.0, 180.0).inline())
                        }
                    }
                }
            }
        }
    }
}

fn bars(run: &Run, row: &Row<Rate>) -> Markup {
    let costs = dollars_per_million_operations(run, row);
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
                                td.num { (dollars(*cost)) }
                            }
                        }
                    }
                }
            }
        }
    }
}
