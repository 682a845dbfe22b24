//! Steps in which something is done to the systems while the load continues: the effects on each system.

use dyno_judge::{EffectFigure, EffectRatio, EventEffect, EventQuantity, EventfulTest, PlannedEvent};
use dyno_store::EventKind;

use crate::document::{Line, Section, Shown, Table};
use crate::model::Reports;
use crate::wording::number::{self, counted};
use crate::wording::{phrases, words};

pub(crate) const TITLE: &str = "Events: how they affected the throughput";

/// Longest text of a statement or command, in characters.
const WHAT_MAX: usize = 60;

/// A table for each test. `None` if no step has events.
pub(crate) fn section(reports: &Reports) -> Option<Section> {
    (!reports.events.is_empty()).then(|| Section {
        title: TITLE.to_owned(),
        paragraphs: paragraphs(reports),
        items: reports.events.iter().flat_map(remarks).collect(),
        tables: reports.events.iter().map(|test| table(reports, test)).collect(),
        ..Section::default()
    })
}

pub(crate) fn paragraphs(reports: &Reports) -> Vec<String> {
    vec![
        "Median over rounds. Dip: how far the worst second falls below the throughput before the event, as a share of it. \
         Outage: the longest time in which no transaction ended, if that is not chance. To 95%: the time from the event \
         until a second has 95% of the throughput before it. Lost: the transactions that are missing until then, as seconds \
         of that throughput. Failed: transactions that failed with their connection. Worst p99: the highest p99 of a second. \
         Took: the time that the event itself took."
            .to_owned(),
        format!(
            "Multiples are of {} in the same round, after the precision of the figure was added to both, with the 95% interval \
             over rounds in brackets. + and − mark verdicts: less is better. All of them are one family of tests.",
            phrases::base_id(reports)
        ),
    ]
}

/// The effect of each event on each system, then the same as multiples of the base's.
pub(crate) fn table(reports: &Reports, test: &EventfulTest) -> Table {
    let base = phrases::base_id(reports);
    let mut lines = Vec::new();
    for (number, event) in test.events.iter().enumerate() {
        lines.push(Line::group(heading(event)));
        let effects = || test.systems.iter().map(move |system| (system, &system.events[number]));
        lines.extend(effects().map(|(system, effect)| Line::of(&system.system, figures(effect))));
        let others: Vec<_> = effects().filter(|(system, _)| system.system != base).collect();
        if others.iter().any(|(_, effect)| effect.figures.values().any(|it| it.against_base.is_some())) {
            lines.push(Line::group(format!("{}: multiple of {base}", event.id)));
            lines.extend(others.into_iter().map(|(system, effect)| Line::of(&system.system, ratios(effect))));
        }
    }
    Table::plain(title(test), &HEADS, lines)
}

const HEADS: [&str; 7] = ["dip", "outage s", "to 95% s", "lost s", "failed", "worst p99 ms", "took s"];

/// `ddl with 64 clients`.
pub(crate) fn title(test: &EventfulTest) -> String {
    format!("{} with {}", test.step, counted(u64::from(test.clients), "client"))
}

/// `alter, at 20 s: ALTER TABLE sbtest1 …`.
fn heading(event: &PlannedEvent) -> String {
    format!("{}, at {} s: {}", event.id, number::shortest(event.at_seconds), what(event))
}

/// The action of an event, in words.
fn what(event: &PlannedEvent) -> String {
    let text = &event.what;
    match event.kind {
        EventKind::Sql | EventKind::Command => shortened(text),
        EventKind::Kill => "the server is killed and started again".to_owned(),
        EventKind::Restart => "the server is shut down and started again".to_owned(),
        EventKind::Stop => format!("the server's processes are stopped for {text} s"),
        EventKind::Connections => format!("{text} more connections are opened at once"),
        EventKind::IdleTransaction => format!("a transaction is left open for {text} s"),
        EventKind::DiskLatency => format!("each request to the disk takes {text} ms"),
    }
}

fn shortened(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(WHAT_MAX) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

fn figures(effect: &EventEffect) -> Vec<Shown> {
    let text = |quantity: EventQuantity| {
        let Some(figure) = effect.figures.get(&quantity) else { return without(effect, quantity).to_owned() };
        let median = figure.median;
        match quantity {
            EventQuantity::Depth => number::percent(median),
            EventQuantity::Failed => number::whole(median),
            EventQuantity::WorstP99Ms => number::three_digits(median),
            EventQuantity::OutageSeconds
            | EventQuantity::RecoverySeconds
            | EventQuantity::LostSeconds
            | EventQuantity::DurationSeconds => format!("{median:.2}"),
        }
    };
    EventQuantity::ALL.into_iter().map(|quantity| Shown::plain(text(quantity))).collect()
}

/// The text of a figure that no round has.
fn without(effect: &EventEffect, quantity: EventQuantity) -> &'static str {
    match quantity {
        EventQuantity::RecoverySeconds if effect.not_recovered > 0 => "never",
        EventQuantity::DurationSeconds if effect.cut > 0 => "cut",
        _ => "–",
    }
}

fn ratios(effect: &EventEffect) -> Vec<Shown> {
    let shown = |ratio: &EffectRatio| {
        let mark = words::mark(ratio.finding);
        Shown {
            text: words::ratio_in(ratio.ratio, ratio.interval),
            note: if mark.is_empty() { String::new() } else { format!(" {mark}") },
            tint: words::tint(ratio.finding),
        }
    };
    let of = |quantity: EventQuantity| effect.figures.get(&quantity).and_then(against_base);
    EventQuantity::ALL
        .into_iter()
        .map(|quantity| of(quantity).map_or_else(|| Shown::plain("–"), |it| shown(&it)))
        .collect()
}

fn against_base(figure: &EffectFigure) -> Option<EffectRatio> {
    figure.against_base
}

/// Remarks on what the table cannot show: events that failed, were cut off, or after which the throughput did not
/// recover.
pub(crate) fn remarks(test: &EventfulTest) -> Vec<String> {
    let mut remarks = Vec::new();
    for (number, event) in test.events.iter().enumerate() {
        for system in &test.systems {
            let effect = &system.events[number];
            let mut remark = |text: String| {
                remarks.push(format!("{}, event {} of {}: {text}", system.system, event.id, title(test)));
            };
            for reason in &effect.failures {
                remark(format!("failed: {reason}"));
            }
            if effect.cut > 0 {
                let rounds = counted(effect.cut as u64, "round");
                remark(format!("it still ran at the end of the step in {rounds}, and was ended"));
            }
            if effect.not_recovered > 0 {
                let rounds = counted(effect.not_recovered as u64, "round");
                remark(format!(
                    "in {rounds} the throughput did not return to 95% of its value before the event"
                ));
            }
        }
    }
    remarks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{self, reports};

    #[test]
    fn each_event_has_a_line_for_each_system_and_one_for_its_multiple() {
        assert!(section(&reports(&sample::run(3))).is_none());
        let section = section(&reports(&sample::disrupted_run())).unwrap();
        let [table] = &section.tables[..] else { panic!("{:?}", section.tables) };
        assert_eq!(table.title, "ddl with 64 clients");
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
                "alter, at 3 s: ALTER TABLE sbtest1 ADD INDEX k2 (c(20))",
                "mysql56",
                "maria",
                "alter: multiple of mysql56",
                "maria",
            ]
        );
        let Line::Test { cells, .. } = &table.lines[1] else { panic!() };
        let texts: Vec<&str> = cells.iter().map(|cell| cell.text.as_str()).collect();
        assert_eq!(texts, ["100%", "1.00", "1.00", "1.00", "2", "80.0", "1.50"]);
        assert!(section.items.is_empty(), "{:?}", section.items);
    }

    #[test]
    fn long_statements_are_shortened_between_letters() {
        assert_eq!(shortened("ALTER  TABLE\n t"), "ALTER TABLE t");
        let long = "é".repeat(100);
        assert_eq!(shortened(&long).chars().count(), WHAT_MAX + 1);
    }
}
