//! Steps in which systems have replicas: how far the replicas lagged, and which resources they used.

use dyno_judge::{EffectRatio, LagQuantity, LagTest, ReplicatedSystem};

use crate::document::{Line, Section, Shown, Table};
use crate::model::Reports;
use crate::wording::number::{self, counted};
use crate::wording::words;

const TITLE: &str = "Replicas: how late they were";

const HEADS: [&str; 6] = ["lag p50 ms", "p99 ms", "max ms", "said max s", "caught up s", "CPU µs/op"];

/// The section, with a table for each test. `None` if no system has replicas.
pub(crate) fn section(reports: &Reports) -> Option<Section> {
    (!reports.lags.is_empty()).then(|| Section {
        title: TITLE.to_owned(),
        paragraphs: paragraphs(),
        tables: reports.lags.iter().map(table).collect(),
        ..Section::default()
    })
}

fn paragraphs() -> Vec<String> {
    vec![
        "Median over rounds. In each round, the replica with the highest figure counts. Lag: the time from the end of a commit \
         on the primary until the replica shows it, measured with 20 small commits per second. Said: the longest time that \
         the server itself said it was behind. Caught up: the time from the end of the load until the replica had everything. \
         CPU: that of the replica, per operation of the load."
            .to_owned(),
        "Multiples are of the named system in the same round, after the precision of the figure was added to both, with the 95% \
         interval over rounds in brackets. + and − mark verdicts: less is better. All of them are one family of tests."
            .to_owned(),
    ]
}

/// A table of how far each system's replicas lagged, followed by the figures as multiples of the reference
/// system's.
fn table(test: &LagTest) -> Table {
    let mut lines: Vec<Line> =
        test.systems.iter().map(|system| Line::of(name(system), figures(system))).collect();
    let others = test.systems.iter().filter(|system| system.system != test.reference);
    let others: Vec<&ReplicatedSystem> = others.collect();
    if others.iter().any(|system| system.figures.values().any(|figure| figure.against_base.is_some())) {
        lines.push(Line::group(format!("multiple of {}", test.reference)));
        lines.extend(others.into_iter().map(|system| Line::of(system.system.as_str(), ratios(system))));
    }
    let title = format!("{} with {}", test.step, counted(u64::from(test.clients), "client"));
    Table::plain(title, &HEADS, lines)
}

/// A system with its replicas: `maria, 2 semi-synchronous`, `maria, 2 asynchronous, held back 3 s`.
fn name(system: &ReplicatedSystem) -> String {
    let held = match system.delay_seconds {
        0 => String::new(),
        seconds => format!(", held back {seconds} s"),
    };
    format!("{}, {} {}{held}", system.system, system.replicas, system.mode.as_str())
}

fn figures(system: &ReplicatedSystem) -> Vec<Shown> {
    let text = |quantity: LagQuantity| {
        let Some(figure) = system.figures.get(&quantity) else { return "–".to_owned() };
        match quantity {
            LagQuantity::SaidMaxSeconds | LagQuantity::CatchUpSeconds => format!("{:.2}", figure.median),
            LagQuantity::LagP50Ms
            | LagQuantity::LagP99Ms
            | LagQuantity::LagMaxMs
            | LagQuantity::CpuUsPerOperation => number::three_digits(figure.median),
        }
    };
    LagQuantity::ALL.into_iter().map(|quantity| Shown::plain(text(quantity))).collect()
}

fn ratios(system: &ReplicatedSystem) -> Vec<Shown> {
    let shown = |ratio: EffectRatio| {
        let mark = words::mark(ratio.finding);
        Shown {
            text: words::ratio_in(ratio.ratio, ratio.interval),
            note: if mark.is_empty() { String::new() } else { format!(" {mark}") },
            tint: words::tint(ratio.finding),
        }
    };
    let of = |quantity: LagQuantity| system.figures.get(&quantity).and_then(|figure| figure.against_base);
    LagQuantity::ALL
        .into_iter()
        .map(|quantity| of(quantity).map_or_else(|| Shown::plain("–"), shown))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{self, reports};

    #[test]
    fn each_system_with_replicas_has_a_line_and_its_multiple() {
        assert!(section(&reports(&sample::run(3))).is_none());
        let section = section(&reports(&sample::replicated_run())).unwrap();
        let [table] = &section.tables[..] else { panic!("{:?}", section.tables) };
        assert_eq!(table.title, "writes with 64 clients");
        let names: Vec<&str> = table
            .lines
            .iter()
            .map(|line| match line {
                Line::Group { name, .. } | Line::Test { name, .. } => name.as_str(),
            })
            .collect();
        assert_eq!(
            names,
            [
                "mysql56, 2 semi-synchronous",
                "maria, 2 asynchronous, held back 3 s",
                "multiple of mysql56",
                "maria"
            ]
        );
        let Line::Test { cells, .. } = &table.lines[0] else { panic!() };
        let texts: Vec<&str> = cells.iter().take(5).map(|cell| cell.text.as_str()).collect();
        assert_eq!(texts, ["2.00", "8.00", "20.0", "1.00", "0.25"]);
    }
}
