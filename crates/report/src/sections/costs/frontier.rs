//! Which systems are worth their price: tables and a chart.

use dyno_judge::{Frontier, Standing};

use crate::chart::{Axis, Chart, Line, LineChart};
use crate::document::{self, Section, Table};
use crate::model::Reports;
use crate::wording::number::{self, counted};
use crate::wording::prices::dollars;

/// For each step, the frontier at the client count with the highest throughput.
pub(crate) fn shown(reports: &Reports) -> Vec<&Frontier> {
    let highest = |frontier: &Frontier| {
        frontier.offers.iter().map(|offer| offer.operations_per_second).fold(0.0, f64::max)
    };
    let by_step = reports.frontiers.chunk_by(|a, b| a.step == b.step);
    by_step.filter_map(|of_step| of_step.iter().max_by(|a, b| highest(a).total_cmp(&highest(b)))).collect()
}

/// The section, with a table for each step. `None` unless at least two systems have a price.
pub(crate) fn section(reports: &Reports) -> Option<Section> {
    let tables: Vec<Table> = shown(reports).into_iter().map(table).collect();
    (!tables.is_empty()).then(|| Section {
        title: "Price: which systems are worth it".to_owned(),
        paragraphs: vec![
            "In order of price, each step at the number of clients with the highest throughput; dollars for a million \
             operations if a system is loaded like this all the time. On the frontier: faster, by verdict, than every cheaper \
             system. Dominated: a system that costs no more is as fast or faster, by verdict. Not decided: the verdicts show \
             neither."
                .to_owned(),
        ],
        items: sources(reports),
        tables,
        ..Section::default()
    })
}

/// A sentence on each price list of the systems.
fn sources(reports: &Reports) -> Vec<String> {
    let mut sources: Vec<String> = Vec::new();
    for price in reports.systems.iter().filter_map(|system| system.price.as_ref()) {
        let source = format!("Prices of {}, {}: {}.", price.list, price.date, price.source);
        if !sources.contains(&source) {
            sources.push(source);
        }
    }
    sources
}

fn table(frontier: &Frontier) -> Table {
    let lines = frontier.offers.iter().map(|offer| {
        let million = offer.dollars_per_million_operations;
        let cells = [
            dollars(offer.dollars_per_year),
            number::three_digits(offer.operations_per_second),
            million.map_or_else(|| "–".to_owned(), dollars),
            match (&offer.standing, &offer.dominated_by) {
                (Standing::Dominated, Some(by)) => format!("dominated by {by}"),
                (Standing::Efficient, _) => "on it".to_owned(),
                _ => "not decided".to_owned(),
            },
        ];
        document::Line::plain(&offer.system, cells)
    });
    let heads = ["$ a year", "operations/s", "$ a million", "frontier"];
    Table::plain(title(frontier), &heads, lines.collect())
}

pub(crate) fn title(frontier: &Frontier) -> String {
    format!("{} at {}", frontier.step, counted(u64::from(frontier.clients), "client"))
}

/// Throughput against price: a dot for each system, and a dashed line through the frontier.
pub(crate) fn chart(reports: &Reports, frontier: &Frontier, width: f64, height: f64) -> Chart {
    let point = |offer: &dyno_judge::Offer| (offer.dollars_per_year, offer.operations_per_second);
    let series = |id: &str| reports.systems.iter().position(|system| system.id == id).unwrap_or(0);
    let efficient: Vec<&dyno_judge::Offer> =
        frontier.offers.iter().filter(|offer| offer.standing == Standing::Efficient).collect();
    let mut lines = Vec::new();
    if let Some(first) = efficient.first() {
        let points = efficient.iter().map(|offer| point(offer)).collect();
        lines.push(Line { series: series(&first.system), points, has_dots: false, is_dashed: true });
    }
    lines.extend(frontier.offers.iter().map(|offer| Line {
        series: series(&offer.system),
        points: vec![point(offer)],
        has_dots: true,
        is_dashed: false,
    }));
    LineChart {
        title: format!("{}: operations per second over dollars a year", title(frontier)),
        width,
        height,
        x: Axis::from_zero(frontier.offers.iter().map(|offer| offer.dollars_per_year)),
        y: Axis::from_zero(frontier.offers.iter().map(|offer| offer.operations_per_second)),
        units: ["$ a year", "operations/s"],
        x_ticks: Vec::new(),
        marks: Vec::new(),
        lines,
    }
    .draw()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::golden::assert_golden;
    use crate::sample::{self, reports};
    use crate::{Format, RenderOptions, render};

    #[test]
    fn without_prices_there_is_no_section() {
        assert!(section(&reports(&sample::run(6))).is_none());
    }

    #[test]
    fn prices_read_as_people_expect() {
        let reports = reports(&sample::swept_run());
        let text = render(&reports, Format::Text, &RenderOptions::default());
        let start = text.find("Price: which").unwrap();
        let end = start + text[start..].find("\n\n\n").unwrap();
        assert_golden("frontier.txt", &text[start..end]);
        let markdown = render(&reports, Format::Markdown, &RenderOptions::default());
        assert!(markdown.contains("## Price: which systems are worth it"));
    }

    #[test]
    fn the_chart_has_a_dot_for_each_system_and_a_line_through_the_frontier() {
        let reports = reports(&sample::swept_run());
        let frontier = shown(&reports)[0];
        let svg = chart(&reports, frontier, 300.0, 180.0).body.into_string();
        assert_eq!(svg.matches("<circle").count(), frontier.offers.len());
        assert_eq!(svg.matches("dashed").count(), 1);
    }
}
