//! The effects of a step's events on each system. An event is an action on the systems while the load continues.

use dyno_judge::{
    EffectFigure, EffectRatio, EventEffect, EventQuantity, EventfulTest, Finding, PlannedEvent,
};
use dyno_store::EventKind;

use crate::document::{Line, Section, Shown, Table};
use crate::model::Reports;
use crate::wording::number::{self, counted};
use crate::wording::{phrases, words};

pub(crate) const TITLE: &str = "Events: how they affected the throughput";

/// Longest text of a statement or command, in characters.
const WHAT_MAX: usize = 60;

/// The section, with the tables of each test. `None` if no step has events.
pub(crate) fn section(reports: &Reports) -> Option<Section> {
    (!reports.events.is_empty()).then(|| Section {
        title: TITLE.to_owned(),
        paragraphs: paragraphs(reports),
        items: reports.events.iter().flat_map(remarks).collect(),
        tables: reports.events.iter().flat_map(|test| tables(reports, test)).collect(),
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

/// The tables of each event. The first table has the event's effect on each system, with verdicts. The second table has
/// the effects as multiples of the base's. It is left out if there are no such multiples.
pub(crate) fn tables(reports: &Reports, test: &EventfulTest) -> Vec<Table> {
    let base = phrases::base_id(reports);
    let of_event = |(number, event): (usize, &PlannedEvent)| {
        let effects = || test.systems.iter().map(move |system| (&system.system, &system.events[number]));
        let event_title = format!("{}; {}", title(test), heading(event));
        let lines = effects().map(|(system, effect)| Line::of(system, figures(effect))).collect();
        let has_multiples =
            effects().any(|(_, effect)| effect.figures.values().any(|figure| figure.against_base.is_some()));
        let multiples = has_multiples.then(|| {
            let others = effects().filter(|(system, _)| *system != base);
            let lines = others.map(|(system, effect)| Line::of(system, ratios(effect))).collect();
            let title = format!("{}; {}: multiples of {base}", title(test), event.id);
            Table::plain(title, &HEADS, lines)
        });
        std::iter::once(Table::plain(event_title, &HEADS, lines)).chain(multiples)
    };
    test.events.iter().enumerate().flat_map(of_event).collect()
}

const HEADS: [&str; 7] = ["dip", "outage s", "to 95% s", "lost s", "failed", "worst p99 ms", "took s"];

/// The test's title: `ddl with 64 clients`.
pub(crate) fn title(test: &EventfulTest) -> String {
    format!("{} with {}", test.step, counted(u64::from(test.clients), "client"))
}

/// The event's heading: `alter, at 20 s: ALTER TABLE sbtest1 …`.
fn heading(event: &PlannedEvent) -> String {
    format!("{}, at {} s: {}", event.id, number::shortest(event.at_seconds), what(event))
}

/// What an event does, in words.
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
    let text = |quantity: EventQuantity, median: f64| match quantity {
        EventQuantity::Depth => number::percent(median),
        EventQuantity::Failed => number::whole(median),
        EventQuantity::WorstP99Ms => number::three_digits(median),
        EventQuantity::OutageSeconds
        | EventQuantity::RecoverySeconds
        | EventQuantity::LostSeconds
        | EventQuantity::DurationSeconds => format!("{median:.2}"),
    };
    let shown = |quantity: EventQuantity| match effect.figures.get(&quantity) {
        Some(figure) => marked(text(quantity, figure.median), figure.against_base.map(|ratio| ratio.finding)),
        None => Shown::plain(without(effect, quantity)),
    };
    EventQuantity::ALL.into_iter().map(shown).collect()
}

/// A text with the mark of its verdict, if the verdict is better or worse.
fn marked(text: String, finding: Option<Finding>) -> Shown {
    match finding {
        Some(finding @ (Finding::Improved | Finding::Regressed)) => {
            Shown { text, note: format!(" {}", words::mark(finding)), tint: words::tint(finding) }
        }
        _ => Shown::plain(text),
    }
}

/// The text that a cell shows if no round has the figure.
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

/// Remarks on facts that the table cannot show: events that failed or were cut off, and events after which the
/// throughput did not recover.
pub(crate) fn remarks(test: &EventfulTest) -> Vec<String> {
    let of_event = |(number, event): (usize, &PlannedEvent)| {
        let place = format!("{} of {}", event.id, title(test));
        let failures = test.systems.iter().flat_map(move |system| {
            system.events[number].failures.iter().map(|reason| (&system.system, reason))
        });
        let failed = failures.map(|(system, reason)| format!("{place}: failed on {system}: {reason}"));
        let cut = in_rounds(test, number, |effect| effect.cut)
            .map(|where_| format!("{place}: still ran at the end of the step, and was ended, {where_}"));
        let not_recovered = in_rounds(test, number, |effect| effect.not_recovered).map(|where_| {
            format!("{place}: the throughput did not return to 95% of its value before the event {where_}")
        });
        failed.chain(cut).chain(not_recovered).collect::<Vec<_>>()
    };
    test.events.iter().enumerate().flat_map(of_event).collect()
}

/// `in 1 round of mysql80, 3 rounds of maria`. `None` if no system has such a round.
fn in_rounds(test: &EventfulTest, number: usize, rounds: fn(&EventEffect) -> usize) -> Option<String> {
    let counts = test.systems.iter().map(|system| (&system.system, rounds(&system.events[number])));
    let texts: Vec<String> = counts
        .filter(|(_, rounds)| *rounds > 0)
        .map(|(system, rounds)| format!("{} of {system}", counted(rounds as u64, "round")))
        .collect();
    (!texts.is_empty()).then(|| format!("in {}", texts.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{self, reports};

    fn names(table: &Table) -> Vec<&str> {
        let named = table.lines.iter().map(|line| match line {
            Line::Group { name, .. } | Line::Test { name, .. } => name.as_str(),
        });
        named.collect()
    }

    #[test]
    fn each_event_has_a_line_for_each_system_and_its_multiple_in_another_table() {
        assert!(section(&reports(&sample::run(3))).is_none());
        let section = section(&reports(&sample::disrupted_run())).unwrap();
        let [table, multiples] = &section.tables[..] else { panic!("{:?}", section.tables) };
        let event = "alter, at 3 s: ALTER TABLE sbtest1 ADD INDEX k2 (c(20))";
        assert_eq!(table.title, format!("ddl with 64 clients; {event}"));
        assert_eq!(multiples.title, "ddl with 64 clients; alter: multiples of mysql56");
        assert_eq!(names(table), ["mysql56", "maria"]);
        assert_eq!(names(multiples), ["maria"]);
        let Line::Test { cells, .. } = &table.lines[0] else { panic!() };
        let texts: Vec<&str> = cells.iter().map(|cell| cell.text.as_str()).collect();
        assert_eq!(texts, ["100%", "1.00", "1.00", "1.00", "2", "80.0", "1.50"]);
        assert!(section.items.is_empty(), "{:?}", section.items);
    }

    #[test]
    fn a_verdict_stands_beside_its_figure() {
        let shown = |finding| marked("0.70".to_owned(), finding).note;
        assert_eq!(shown(Some(Finding::Regressed)), " −");
        assert_eq!(shown(Some(Finding::Improved)), " +");
        assert_eq!(
            [shown(Some(Finding::Same)), shown(Some(Finding::NotEnoughEvidence)), shown(None)],
            [""; 3]
        );
    }

    #[test]
    fn rounds_are_told_of_all_systems_together() {
        let mut reports = reports(&sample::disrupted_run());
        assert!(remarks(&reports.events[0]).is_empty());
        for (system, rounds) in reports.events[0].systems.iter_mut().zip([1, 3]) {
            system.events[0].not_recovered = rounds;
            system.events[0].cut = rounds - 1;
        }
        let place = "alter of ddl with 64 clients: ";
        assert_eq!(
            remarks(&reports.events[0]),
            [
                format!("{place}still ran at the end of the step, and was ended, in 2 rounds of maria"),
                format!(
                    "{place}the throughput did not return to 95% of its value before the event in 1 round of \
                     mysql56, 3 rounds of maria"
                ),
            ]
        );
    }

    #[test]
    fn long_statements_are_shortened_between_letters() {
        assert_eq!(shortened("ALTER  TABLE\n t"), "ALTER TABLE t");
        let long = "é".repeat(100);
        assert_eq!(shortened(&long).chars().count(), WHAT_MAX + 1);
    }
}
