//! Drivers: the load from each host, and the network between it and the system.

use crate::document::{Line, Section, Table};
use crate::model::{DriverLoad, Reports};
use crate::wording::number::{self, counted};

const COLUMNS: [&str; 6] = ["clients", "per second", "p99 ms", "cores", "round trip ms", "MB/s"];

/// The section, with a table for each system in each test. `None` if all load came from the run's own host.
pub(crate) fn section(reports: &Reports) -> Option<Section> {
    let drivers = &reports.drivers;
    let is_same =
        |a: &DriverLoad, b: &DriverLoad| (&a.step, a.clients, &a.system) == (&b.step, b.clients, &b.system);
    (!drivers.is_empty()).then(|| Section {
        title: "Drivers".to_owned(),
        paragraphs: vec![
            "The clients of a test were divided among these hosts, which began together. Medians over rounds. Cores: CPU time \
             of the load process in a second. Round trip: time of a statement that does nothing, on one connection; MB/s: of \
             a large answer; both measured before the first test, the server's own time included."
                .to_owned(),
        ],
        tables: drivers.chunk_by(is_same).map(table).collect(),
        ..Section::default()
    })
}

fn table(drivers: &[DriverLoad]) -> Table {
    let title = drivers.first().map_or_else(String::new, |first| {
        format!("{} at {} · {}", first.step, counted(u64::from(first.clients), "client"), first.system)
    });
    Table::plain(title, &COLUMNS, drivers.iter().map(line).collect())
}

fn line(driver: &DriverLoad) -> Line {
    let or_dash = |figure: Option<f64>| figure.map_or_else(|| "–".to_owned(), number::three_digits);
    let texts = [
        driver.driver_clients.to_string(),
        or_dash(driver.operations_per_second),
        or_dash(driver.latency_p99_us.map(|us| us / 1e3)),
        or_dash(driver.cores),
        or_dash(driver.round_trip_us.map(|us| us / 1e3)),
        or_dash(driver.bytes_per_second.map(|bytes| bytes / 1e6)),
    ];
    Line::plain(&driver.host, texts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{self, reports};

    #[test]
    fn a_run_with_loads_of_its_own_host_has_no_section() {
        assert!(section(&reports(&sample::run(1))).is_none());
    }

    #[test]
    fn each_driver_has_its_figures() {
        let found = section(&reports(&sample::driven_run())).expect("a section");
        let cells = |line: &Line| match line {
            Line::Test { name, cells, .. } => {
                (name.clone(), cells.iter().map(|cell| cell.text.clone()).collect::<Vec<_>>().join(" "))
            }
            Line::Group { name, .. } => panic!("{name}"),
        };
        let lines: Vec<_> = found.tables[0].lines.iter().map(cells).collect();
        let expected = [("ssh://a", "3 1,230 1.50 0.250 0.250 110"), ("ssh://b", "1 0 – 0.250 – –")];
        assert_eq!(lines, expected.map(|(name, cells)| (name.to_owned(), cells.to_owned())));
    }
}
