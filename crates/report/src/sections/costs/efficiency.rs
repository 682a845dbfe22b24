//! The efficiency report: a table for each cost, in the layout of the other reports.

use crate::document::{Section, Shown, Table};
use crate::model::{Cell, Cost, CostValue, Reports};
use crate::sections::cells::table;
use crate::wording::number;
use crate::wording::phrases;

/// A section with a table for each cost that was measured and is not always 0, and with a sentence on the other
/// costs.
pub(in crate::sections) fn section(reports: &Reports) -> Section {
    let in_process = phrases::in_process_note(reports);
    let (mut tables, mut nothing, mut unmeasured) = (Vec::new(), Vec::new(), Vec::new());
    for cost in Cost::ALL {
        match greatest(reports, cost) {
            None if is_of_client(cost) && in_process.is_some() => {}
            // Most plans have no system with a pooler, so the lack of this cost is not mentioned.
            None if cost == Cost::PoolerCpu => {}
            None => unmeasured.push(name(cost)),
            Some(0.0) => nothing.push(name(cost)),
            Some(_) => tables.push(cost_table(reports, cost)),
        }
    }
    let mut paragraphs = vec![
        format!(
            "Median of the rounds, with × as a multiple of {}'s; above 1 costs more. Costs are not judged.",
            phrases::base_id(reports)
        ),
        "Reads, writes and fsyncs (cache flushes) are counted at the data's device while the system is loaded, and include \
         those of other processes. The client's CPU and memory are the load process's; all other figures are the server \
         process's. Memory is resident memory."
            .to_owned(),
    ];
    paragraphs.extend(has_ratios_of_rounds(reports).then(|| phrases::OF_ROUNDS_NOTE.to_owned()));
    paragraphs.extend(in_process);
    let mut list = |what: &str, costs: &[&str]| {
        if !costs.is_empty() && !reports.efficiency.rows.is_empty() {
            paragraphs.push(format!("{what}: {}.", costs.join(", ")));
        }
    };
    list("0 in every test", &nothing);
    list("Not measured", &unmeasured);
    Section {
        title: "Efficiency: what an operation costs, I/O and memory".to_owned(),
        paragraphs,
        tables,
        ..Section::default()
    }
}

/// The name of a cost, with its unit.
pub(crate) fn name(cost: Cost) -> &'static str {
    match cost {
        Cost::ServerCpu => "server CPU µs",
        Cost::ClientCpu => "client CPU µs",
        Cost::PoolerCpu => "pooler CPU µs",
        Cost::ContextSwitches => "context switches",
        Cost::Reads => "reads",
        Cost::Writes => "writes",
        Cost::ReadKib => "KiB read",
        Cost::WrittenKib => "KiB written",
        Cost::Fsyncs => "fsyncs",
        Cost::ReadRate => "MiB/s read",
        Cost::WrittenRate => "MiB/s written",
        Cost::ServerMemory => "server memory MiB, the most",
        Cost::ServerMemoryMean => "server memory MiB, the mean",
        Cost::ClientMemory => "client memory MiB, the most",
    }
}

/// The name of a cost with its unit, and with `per operation` if it is the cost of an operation.
pub(crate) fn title(cost: Cost) -> String {
    let is_of_time = matches!(
        cost,
        Cost::ReadRate | Cost::WrittenRate | Cost::ServerMemory | Cost::ServerMemoryMean | Cost::ClientMemory
    );
    format!("{}{}", name(cost), if is_of_time { "" } else { " per operation" })
}

/// Whether the cost is a cost of the load process. For an in-process engine, such a cost has no separate figure.
fn is_of_client(cost: Cost) -> bool {
    matches!(cost, Cost::ClientCpu | Cost::ClientMemory)
}

/// Costs that were measured and are not always 0.
pub(crate) fn shown_costs(reports: &Reports) -> Vec<Cost> {
    let is_shown = |cost: &Cost| greatest(reports, *cost).is_some_and(|greatest| greatest > 0.0);
    Cost::ALL.into_iter().filter(is_shown).collect()
}

/// The largest median of a cost in any cell; `None` if no cell has this cost.
fn greatest(reports: &Reports, cost: Cost) -> Option<f64> {
    let cells = reports.efficiency.rows.iter().flat_map(|row| &row.cells);
    cells.filter_map(|cell| Some(cell.value()?.get(cost)?.median)).reduce(f64::max)
}

fn cost_table(reports: &Reports, cost: Cost) -> Table {
    let table = table(reports, &reports.efficiency, |_, costs| {
        costs.get(cost).map_or_else(|| Shown::plain("–"), shown)
    });
    Table { title: title(cost), ..table }
}

fn shown(value: &CostValue) -> Shown {
    let amount = number::three_digits(value.median);
    let relative = value.relative.map(|relative| format!(" {}", number::times(relative.ratio)));
    let of_rounds = if value.is_quotient { "" } else { phrases::OF_ROUNDS };
    Shown { note: of_rounds.to_owned(), ..Shown::plain(amount + &relative.unwrap_or_default()) }
}

/// Whether at least one multiple differs from the quotient of the two figures in the same row.
pub(crate) fn has_ratios_of_rounds(reports: &Reports) -> bool {
    let cells = reports.efficiency.rows.iter().flat_map(|row| &row.cells).filter_map(Cell::value);
    cells.flat_map(|costs| costs.0.values()).flatten().any(|value| !value.is_quotient)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{self, reports};

    fn titles(section: &Section) -> Vec<&str> {
        section.tables.iter().map(|table| &table.title[..]).collect()
    }

    #[test]
    fn a_cost_that_nobody_paid_is_a_line_and_not_a_table() {
        let section = section(&reports(&sample::run(1)));
        assert_eq!(
            titles(&section),
            [
                "server CPU µs per operation",
                "client CPU µs per operation",
                "context switches per operation",
                "writes per operation",
                "KiB written per operation",
                "fsyncs per operation",
                "MiB/s written",
                "server memory MiB, the most",
                "server memory MiB, the mean",
                "client memory MiB, the most",
            ]
        );
        assert_eq!(section.paragraphs.last().unwrap(), "0 in every test: reads, KiB read, MiB/s read.");
    }

    #[test]
    fn what_could_not_be_measured_is_said_apart_from_nothing() {
        let mut run = sample::run(1);
        for trial in &mut run.trials {
            trial.record.usage.device_flushes = None;
        }
        let section = section(&reports(&run));
        assert_eq!(section.paragraphs.last().unwrap(), "Not measured: fsyncs.");
    }

    #[test]
    fn a_client_inside_the_server_is_explained_and_not_called_unmeasured() {
        let mut run = sample::run(1);
        for system in ["mysql56", "maria", "myrocks"] {
            sample::put_in_process(&mut run, system);
        }
        let section = section(&reports(&run));
        assert!(!titles(&section).contains(&"client CPU µs per operation"));
        let notes = section.paragraphs.join(" ");
        assert!(notes.contains("mysql56, maria and myrocks run inside the load process"), "{notes}");
        assert!(!notes.contains("Not measured"), "{notes}");
    }
}
