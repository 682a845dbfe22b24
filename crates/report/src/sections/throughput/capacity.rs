//! Capacities and their probes, as tables.

use dyno_store::ProbeRecord;

use crate::document::{Line, Section, Shown, Table};
use crate::model::{Reports, TestCapacity};
use crate::wording::number::{counted, three_digits};

/// The section; `None` if no step searches for a capacity.
pub(crate) fn section(reports: &Reports) -> Option<Section> {
    let found = &reports.capacities;
    (!found.is_empty()).then(|| Section {
        title: "Capacity: the highest rate of events within a limit of latency".to_owned(),
        paragraphs: vec![
            "Of the round in the middle: the rate at which a probe keeps the limit as often as it violates it, with the \
             95% interval of its search; then its probes by rate. Latency counts from when an event was due."
                .to_owned(),
        ],
        tables: std::iter::once(overview(found)).chain(found.iter().filter_map(probes)).collect(),
        ..Section::default()
    })
}

/// A table with a line for each system in each test.
fn overview(found: &[TestCapacity]) -> Table {
    let mut lines = Vec::new();
    for tests in found.chunk_by(|a, b| a.step == b.step) {
        lines.push(Line::group(format!("{}, {}", tests[0].step, tests[0].limit)));
        lines.extend(tests.iter().filter_map(line));
    }
    Table::plain("", &["events/s", "from", "to", "rounds", "probes"], lines)
}

fn line(test: &TestCapacity) -> Option<Line> {
    let middle = &test.middle_round()?.capacity;
    let rates = [middle.per_second, middle.low_per_second, middle.high_per_second].map(three_digits);
    let counts = [test.rounds.len(), middle.probes.len()].map(|count| count.to_string());
    let cells = rates.into_iter().chain(counts).map(Shown::plain).collect();
    let name = format!("{}, {}", counted(u64::from(test.clients), "client"), test.system);
    Some(Line::of(name, cells))
}

/// A table of the probes in the round with the median capacity, in the order of their rates.
fn probes(test: &TestCapacity) -> Option<Table> {
    let middle = test.middle_round()?;
    let mut probes = middle.capacity.probes.clone();
    probes.sort_by(|a, b| a.rate_per_second.total_cmp(&b.rate_per_second));
    let clients = counted(u64::from(test.clients), "client");
    let title = format!("{}, {clients}, {}: probes of round {}", test.step, test.system, middle.round + 1);
    let latency = format!("p{} ms", test.percentile);
    let heads = [&*latency, "due", "backlog", "sustained", "limit"];
    Some(Table::plain(title, &heads, probes.iter().map(probe).collect()))
}

fn probe(probe: &ProbeRecord) -> Line {
    let latency = probe.latency_ms.map_or_else(|| "–".to_owned(), three_digits);
    let sustained = if probe.is_sustained { "yes" } else { "no" };
    let limit = if probe.keeps_limit { "kept" } else { "violated" };
    let (due, backlog) = (three_digits(probe.due as f64), three_digits(probe.backlog as f64));
    let cells = [latency, due, backlog, sustained.to_owned(), limit.to_owned()];
    Line::plain(format!("{} events/s", three_digits(probe.rate_per_second)), cells)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{self, reports};

    #[test]
    fn a_run_without_a_search_has_no_section() {
        assert!(section(&reports(&sample::run(1))).is_none());
    }

    #[test]
    fn a_capacity_is_shown_with_its_interval_and_the_probes_of_its_round() {
        let found = section(&reports(&sample::searched_run())).expect("a section");
        let Line::Group { name: test, .. } = &found.tables[0].lines[0] else {
            panic!("{:?}", found.tables[0])
        };
        assert_eq!(test, "read-only, p99 ≤ 5 ms");
        let Line::Test { name, cells, .. } = &found.tables[0].lines[1] else {
            panic!("{:?}", found.tables[0])
        };
        let texts: Vec<&str> = cells.iter().map(|cell| cell.text.as_str()).collect();
        assert_eq!(name, "1 client, mysql56");
        assert_eq!(texts, ["1,010", "990", "1,030", "3", "2"], "the middle of 1,000, 1,010 and 1,020");
        assert_eq!(found.tables[1].title, "read-only, 1 client, mysql56: probes of round 2");
        let Line::Test { name, cells, .. } = &found.tables[1].lines[1] else {
            panic!("{:?}", found.tables[1])
        };
        assert_eq!((name.as_str(), cells[4].text.as_str()), ("1,040 events/s", "violated"));
    }

    #[test]
    fn the_operation_of_a_search_is_an_event_within_the_limit() {
        let reports = reports(&sample::searched_run());
        let units: Vec<String> = reports.absolute.rows.iter().map(crate::model::Row::unit).collect();
        assert_eq!(units[1..3], ["query", "event at p99 ≤ 5 ms"]);
    }
}
