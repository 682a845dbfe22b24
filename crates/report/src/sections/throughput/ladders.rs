//! Ladders: sequences of systems, each of which differs from the previous one by a change. Shows what each change
//! costs.

use dyno_judge::{Finding, Ladder, Rung, RungRatio, RungTest, SettingChange};

use crate::document::{Line, Section, Shown, Table};
use crate::model::{Cell, Cost, Matrix, Reports};
use crate::sections::efficiency;
use crate::sections::steady_state::level;
use crate::wording::number::{self, counted};
use crate::wording::words;

/// The costs that a ladder shows beside throughput.
const COSTS: [Cost; 7] = [
    Cost::ServerCpu,
    Cost::Writes,
    Cost::ReadKib,
    Cost::WrittenKib,
    Cost::Fsyncs,
    Cost::ReadRate,
    Cost::WrittenRate,
];

/// The section, with two tables for each ladder: throughput and costs. `None` if the plan has no ladder.
pub(crate) fn section(reports: &Reports) -> Option<Section> {
    (!reports.ladders.is_empty()).then(|| Section {
        title: "The price of each promise".to_owned(),
        paragraphs: vec![
            "Each system differs from the one above only in the change that its line names. The table shows operations per \
             second, and throughput as a multiple of the line above and of the first line; in brackets the 95% interval, for \
             a test alone. Only steps have verdicts, corrected for all steps of a ladder."
                .to_owned(),
            format!(
                "+ faster, − slower, = the same within {}, ? not decided, · not judged, ! failed where the line above did \
                 not. Level: the warm-up before the measurement; none: how the rate changed during it; ?: trials were too short \
                 to judge.",
                number::margin(&reports.rule)
            ),
        ],
        tables: reports.ladders.iter().flat_map(|ladder| tables(reports, ladder)).collect(),
        ..Section::default()
    })
}

fn tables(reports: &Reports, ladder: &Ladder) -> [Table; 2] {
    let heads = ["per second", "× line above", "× first", "level"];
    let prices =
        Table::plain(&ladder.id, &heads, lines(ladder, described, |rung, test| prices(reports, rung, test)));
    let mut heads: Vec<&str> = COSTS.into_iter().map(efficiency::name).collect();
    heads.push("on disk");
    let title = format!("{}: costs of an operation, I/O and size", ladder.id);
    let costs = Table::plain(title, &heads, lines(ladder, name, |rung, test| costs(reports, rung, test)));
    [prices, costs]
}

/// The lines of a ladder's table: for each test a group with a line for each rung.
fn lines(
    ladder: &Ladder,
    name: impl Fn(&Ladder, &Rung) -> String,
    cells: impl Fn(&Rung, &RungTest) -> Vec<Shown>,
) -> Vec<Line> {
    let mut lines = Vec::new();
    for (at, test) in ladder.rungs.first().into_iter().flat_map(|rung| rung.tests.iter().enumerate()) {
        lines.push(Line::group(format!("{} at {}", test.step, counted(u64::from(test.clients), "client"))));
        let rungs = ladder.rungs.iter();
        lines.extend(rungs.map(|rung| Line::of(name(ladder, rung), cells(rung, &rung.tests[at]))));
    }
    lines
}

/// A system's id. If the ladder made the system, the ladder's id is removed from it.
fn name(ladder: &Ladder, rung: &Rung) -> String {
    let without_ladder = rung.system.strip_prefix(&ladder.id).and_then(|rest| rest.strip_prefix('.'));
    without_ladder.unwrap_or(&rung.system).to_owned()
}

/// A rung with its changes: `sync: sync_binlog 0 → 1`.
fn described(ladder: &Ladder, rung: &Rung) -> String {
    let changes: Vec<String> = rung.changes.iter().map(change).collect();
    let name = name(ladder, rung);
    if changes.is_empty() { name } else { format!("{name}: {}", changes.join(", ")) }
}

fn change(of: &SettingChange) -> String {
    let value = |value: &Option<String>| match value.as_deref() {
        Some("") => "empty".to_owned(),
        Some(value) => value.to_owned(),
        None => "default".to_owned(),
    };
    format!("{} {} → {}", of.name, value(&of.before), value(&of.after))
}

fn prices(reports: &Reports, rung: &Rung, test: &RungTest) -> Vec<Shown> {
    let rate = cell(&reports.absolute, rung, test).and_then(Cell::value);
    let shown = |text: Option<String>| Shown::plain(text.unwrap_or_else(|| "–".to_owned()));
    vec![
        shown(rate.map(|rate| number::three_digits(rate.operations_per_second))),
        test.against_previous.as_ref().map_or_else(Shown::default, step),
        match &test.against_first {
            Some(from_first) => Shown::plain(words::ratio_in(from_first.ratio, from_first.interval)),
            None => test.against_previous.as_ref().map_or_else(Shown::default, |_| Shown::plain("–")),
        },
        shown(rate.and_then(|rate| rate.steady_state.as_ref()).map(level)),
    ]
}

/// The effect of a rung's changes, with the verdict.
fn step(price: &RungRatio) -> Shown {
    let text = match (price.ratio, price.finding) {
        (Some(ratio), _) => words::ratio_in(ratio, price.interval),
        (None, Finding::Failed) => "failed".to_owned(),
        (None, _) => "–".to_owned(),
    };
    Shown { text, note: format!(" {}", words::mark(price.finding)), tint: words::tint(price.finding) }
}

fn costs(reports: &Reports, rung: &Rung, test: &RungTest) -> Vec<Shown> {
    let costs = cell(&reports.efficiency, rung, test).and_then(Cell::value);
    let of = |cost| costs.and_then(|costs| costs.get(cost)).map(|value| number::three_digits(value.median));
    let shown = |text: Option<String>| Shown::plain(text.unwrap_or_else(|| "–".to_owned()));
    let mut cells: Vec<Shown> = COSTS.into_iter().map(|cost| shown(of(cost))).collect();
    cells.push(shown(disk(reports, rung, test).map(number::bytes)));
    cells
}

fn cell<'a, T>(matrix: &'a Matrix<T>, rung: &Rung, test: &RungTest) -> Option<&'a Cell<T>> {
    let row = matrix.rows.iter().find(|row| row.step == test.step)?;
    row.cells.iter().find(|cell| cell.system == rung.system && cell.clients == test.clients)
}

/// Bytes on disk after the group of steps to which the test belongs.
fn disk(reports: &Reports, rung: &Rung, test: &RungTest) -> Option<u64> {
    let row = reports.absolute.rows.iter().find(|row| row.step == test.step)?;
    let system = reports.systems.iter().position(|system| system.id == rung.system)?;
    reports.disk.iter().find(|disk| disk.group == row.group)?.bytes.get(system).copied().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::golden::assert_golden;
    use crate::sample::{self, reports};
    use crate::{Format, RenderOptions, render};

    #[test]
    fn a_run_without_a_ladder_has_no_section() {
        assert!(section(&reports(&sample::run(3))).is_none());
    }

    #[test]
    fn a_ladder_reads_as_people_expect() {
        let reports = reports(&sample::laddered_run());
        let text = render(&reports, Format::Text, &RenderOptions { color: false, width: 120 });
        let start = text.find("The price of each promise").unwrap();
        let end = text[start..].find("\n\n\n").map_or(text.len(), |at| start + at);
        assert_golden("ladder.txt", &text[start..end]);
    }
}
