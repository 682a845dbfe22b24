//! Throughput against client counts, as a table of sparklines.

use crate::document::{Line, Section, Shown};
use crate::model::{Rate, Reports, Row};
use crate::sections::cells::group_table;
use crate::wording::number;

/// A sparkline needs at least this many client counts.
const COUNTS_MIN: usize = 3;

const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// The section; `None` if the run has too few client counts.
pub(crate) fn section(reports: &Reports) -> Option<Section> {
    let counts = &reports.client_counts;
    if counts.len() < COUNTS_MIN {
        return None;
    }
    let mut lines = Vec::new();
    for rows in reports.absolute.rows.chunk_by(|a, b| a.group == b.group) {
        let tests: Vec<Line> = rows.iter().filter_map(|row| line(reports, row)).collect();
        if !tests.is_empty() {
            lines.push(Line::group(&rows[0].group));
            lines.extend(tests);
        }
    }
    let listed: Vec<String> = counts.iter().map(u32::to_string).collect();
    Some(Section {
        title: "Scaling: throughput over client counts".to_owned(),
        paragraphs: vec![format!(
            "A bar for each of {} clients, of the test's highest throughput; then the system's highest as a multiple \
             of that at the fewest clients.",
            listed.join(", ")
        )],
        tables: vec![group_table(reports, "", lines)],
        ..Section::default()
    })
}

/// A test's sparklines, one for each system. `None` if every system ran the test at too few client counts.
fn line(reports: &Reports, row: &Row<Rate>) -> Option<Line> {
    let rate = |cell: &crate::Cell<Rate>| cell.value().map(|rate| rate.operations_per_second);
    let highest = row.cells.iter().filter_map(rate).fold(0.0, f64::max);
    let curves: Vec<Vec<Option<f64>>> = reports
        .systems
        .iter()
        .map(|system| row.cells.iter().filter(|cell| cell.system == system.id).map(rate).collect())
        .collect();
    let is_curve = |curve: &Vec<Option<f64>>| curve.iter().flatten().count() >= COUNTS_MIN;
    let cells = curves.iter().map(|curve| Shown::plain(cell(curve, highest))).collect();
    curves.iter().any(is_curve).then(|| Line::of(&row.step, cells))
}

fn cell(curve: &[Option<f64>], highest: f64) -> String {
    let bars: String = curve.iter().map(|rate| rate.map_or(' ', |rate| bar(rate, highest))).collect();
    let mut known = curve.iter().flatten();
    let growth =
        known.next().filter(|first| **first > 0.0).map(|first| known.fold(*first, |a, b| a.max(*b)) / first);
    match growth {
        Some(growth) => format!("{bars} {}", number::times(growth)),
        None => bars,
    }
}

fn bar(rate: f64, highest: f64) -> char {
    let share = if highest > 0.0 { rate / highest } else { 0.0 };
    BARS[((share * 8.0).ceil() as usize).clamp(1, 8) - 1]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{self, reports};

    #[test]
    fn a_curve_has_a_bar_for_each_client_count() {
        assert_eq!(cell(&[Some(100.0), Some(400.0), Some(800.0)], 800.0), "▁▄█ ×8.00");
        assert_eq!(cell(&[None, Some(50.0), Some(0.0)], 100.0), " ▄▁ ×1.00");
        assert_eq!(cell(&[None, None, None], 100.0), "   ");
    }

    #[test]
    fn two_client_counts_are_no_curve() {
        assert!(section(&reports(&sample::run(1))).is_none());
        let section = section(&reports(&sample::large_run())).unwrap();
        let Line::Test { cells, .. } = &section.tables[0].lines[1] else { panic!() };
        assert!(cells[0].text.ends_with("×4.59"), "{}", cells[0].text);
    }
}
