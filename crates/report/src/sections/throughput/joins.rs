//! The throughput for each number of background clients, in tests in which these clients join one after the other.

use dyno_judge::{JoinedSystem, JoinedTest, Stretch, StretchRatio};
use dyno_store::Operation;

use crate::document::{Column, Line, Section, Shown, Table};
use crate::model::Reports;
use crate::wording::number::{self, counted};
use crate::wording::phrases;
use crate::wording::words;

pub(crate) const TITLE: &str = "Joins: throughput while background clients join";

/// The section, with a table for each test. `None` if no clients join.
pub(crate) fn section(reports: &Reports) -> Option<Section> {
    (!reports.joined.is_empty()).then(|| Section {
        title: TITLE.to_owned(),
        paragraphs: paragraphs(reports),
        tables: reports.joined.iter().map(|test| table(reports, test)).collect(),
        ..Section::default()
    })
}

pub(crate) fn paragraphs(reports: &Reports) -> Vec<String> {
    vec![format!(
        "A column for each number of background clients. A rate is the mean of the time between two joins, without the \
         second in which clients join; median over rounds. Multiples are of the same round, with the 95% interval over \
         rounds in brackets; they are not judged. The base is {}.",
        phrases::base_id(reports)
    )]
}

/// A table of up to four groups: the step's rate, that rate as a multiple of the rate without background clients,
/// the background load's rate, and the step's rate as a multiple of the base's. Each group has a line for each
/// system.
pub(crate) fn table(reports: &Reports, test: &JoinedTest) -> Table {
    let rate = |rate: Option<f64>| rate.map_or_else(|| "–".to_owned(), number::three_digits);
    let ratio = |ratio: Option<StretchRatio>, without: &str| {
        ratio.map_or_else(|| without.to_owned(), |it| words::ratio_in(it.ratio, it.interval))
    };
    let mut lines = Vec::new();
    let mut group = |title: String, cell: &dyn Fn(&JoinedSystem, &Stretch) -> String| {
        lines.push(Line::group(title));
        lines.extend(test.systems.iter().map(|system| {
            let cells = system.stretches.iter().map(|stretch| Shown::plain(cell(system, stretch)));
            Line::of(&system.system, cells.collect())
        }));
    };
    group(own_rate(test), &|_, stretch| rate(stretch.rate));
    group(format!("{}: multiple of that without {}", test.step, test.background), &|_, stretch| {
        ratio(stretch.kept, if stretch.joined == 0 && stretch.rate.is_some() { "1" } else { "–" })
    });
    group(background_rate(test), &|_, stretch| rate(stretch.background_rate));
    let base = phrases::base_id(reports);
    if test.systems.iter().any(|system| system.system != base) {
        group(format!("{}: multiple of the base's", test.step), &|system, stretch| {
            ratio(
                stretch.against_base,
                if system.system == base && stretch.rate.is_some() { "1" } else { "–" },
            )
        });
    }
    let joined = std::iter::once(0).chain(test.joins.iter().map(|join| join.clients));
    Table::of(title(test), joined.map(|clients| Column::of(clients.to_string())).collect(), lines)
}

/// The test's title: `mixed with 64 clients, while clients of mixed.writers join`.
pub(crate) fn title(test: &JoinedTest) -> String {
    let clients = counted(u64::from(test.clients), "client");
    format!("{} with {clients}, while clients of {} join", test.step, test.background)
}

/// The name of the step's rate: `mixed: queries per second`.
pub(crate) fn own_rate(test: &JoinedTest) -> String {
    format!("{}: {} per second", test.step, operations(test.operation))
}

/// The name of the background load's rate: `mixed.writers: transactions per second`.
pub(crate) fn background_rate(test: &JoinedTest) -> String {
    format!("{}: {} per second", test.background, operations(test.background_operation))
}

/// The noun for the operations that a rate counts.
pub(crate) fn operations(operation: Operation) -> &'static str {
    match operation {
        Operation::Query => "queries",
        Operation::Transaction => "transactions",
        Operation::Row => "rows",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{self, reports};

    #[test]
    fn each_number_of_writers_has_a_column_and_each_system_a_line() {
        assert!(section(&reports(&sample::run(3))).is_none());
        let section = section(&reports(&sample::joined_run())).unwrap();
        let [table] = &section.tables[..] else { panic!("{:?}", section.tables) };
        assert_eq!(table.title, "mixed with 64 clients, while clients of mixed.writers join");
        let heads: Vec<&str> = table.columns.iter().map(|column| column.system.as_str()).collect();
        assert_eq!(heads, ["0", "4", "16"]);
        let texts = |line: usize| {
            let Line::Test { name, cells, .. } = &table.lines[line] else { panic!("{:?}", table.lines) };
            (name.as_str(), cells.iter().map(|cell| cell.text.as_str()).collect::<Vec<_>>())
        };
        assert_eq!(table.lines[0], Line::group("mixed: queries per second"));
        assert_eq!(texts(1), ("mysql56", vec!["10,000", "5,000", "2,500"]));
        let Line::Group { name: kept, .. } = &table.lines[3] else { panic!() };
        assert_eq!(kept, "mixed: multiple of that without mixed.writers");
        assert_eq!(texts(4).1[0], "1");
        assert!(texts(4).1[2].starts_with("0.25 ["), "{:?}", texts(4));
        assert_eq!(texts(7).1, ["0", "400", "1,600"]);
        assert_eq!(texts(10), ("mysql56", vec!["1"; 3]));
        assert!(texts(11).1[1].starts_with("2.00 ["), "{:?}", texts(11));
    }
}
