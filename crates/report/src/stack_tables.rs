//! In which functions the servers' threads were, in words, and what looking cost.

use dyno_judge::{StackSummary, ThreadSummary};

use crate::model::Reports;
use crate::number::{self, counted};
use crate::section::Section;
use crate::table::{Column, Line, Shown, Table};

/// Shares below this are left out of sentences.
const SHARE_MIN: f64 = 0.01;

/// A figure on the samples of a system: its name and its format.
type Figure = (&'static str, fn(&StackSummary) -> String);

const FIGURES: [Figure; 4] = [
    ("samples", |of| of.samples.to_string()),
    ("median time of a sample, ms", |of| number::three_digits(of.sample_ms_median)),
    ("rate while sampled, of the measured", |of| {
        of.rate_share.map_or_else(|| "–".to_owned(), number::percent)
    }),
    ("frames without a name", |of| number::percent(of.unnamed_share)),
];

/// The section on stacks; none if none were sampled.
pub(crate) fn section(reports: &Reports) -> Option<Section> {
    let same_test = |a: &StackSummary, b: &StackSummary| (&a.step, a.clients) == (&b.step, b.clients);
    (!reports.stacks.is_empty()).then(|| Section {
        title: "Stacks: in which functions threads were",
        how_to_read: vec![
            "Sampled in one round, while a trial's load ran once more, unmeasured. A function is the innermost of the \
             engine that is more than a wait or a lock. Shares are of all stacks of a kind of thread; they are not \
             judged."
                .to_owned(),
        ],
        items: reports.stacks.iter().flat_map(sentences).collect(),
        tables: reports.stacks.chunk_by(same_test).map(table).collect(),
    })
}

fn sentences(of: &StackSummary) -> Vec<String> {
    let place = place(of);
    let mut sentences: Vec<String> =
        of.threads.iter().map(|threads| format!("{place}: {}.", threads_in_words(threads))).collect();
    if let Some(reason) = &of.ended_early {
        sentences.push(format!("{place}: sampling ended before the load did: {reason}."));
    }
    sentences
}

fn place(of: &StackSummary) -> String {
    format!("{} in {} at {}", of.system, of.step, counted(u64::from(of.clients), "client"))
}

/// `of 8.0 connection threads 61% were in lock_wait, 20% in row_search; 10% waited for their client`.
fn threads_in_words(threads: &ThreadSummary) -> String {
    let shown = threads.functions.iter().filter(|function| function.share >= SHARE_MIN);
    let functions: Vec<String> =
        shown.map(|it| format!("{} in {}", number::percent(it.share), it.function)).collect();
    let idle = (threads.idle_share >= SHARE_MIN)
        .then(|| format!("{} waiting for their client", number::percent(threads.idle_share)));
    let parts: Vec<String> =
        [functions.join(", ")].into_iter().filter(|text| !text.is_empty()).chain(idle).collect();
    format!(
        "of {} {} threads {}",
        number::shortest((threads.threads_mean * 10.0).round() / 10.0),
        threads.kind,
        if parts.is_empty() { "none in a function for long".to_owned() } else { parts.join("; ") }
    )
}

/// The figures of a test's systems.
fn table(of_test: &[StackSummary]) -> Table {
    let line = |(name, show): &Figure| Line::Test {
        name: (*name).to_owned(),
        operation: "",
        cells: of_test.iter().map(|of| Shown::plain(show(of))).collect(),
    };
    let first = &of_test[0];
    Table {
        title: format!("{} at {}", first.step, counted(u64::from(first.clients), "client")),
        shows_operations: false,
        columns: of_test.iter().map(|of| Column { system: of.system.clone(), clients: None }).collect(),
        lines: FIGURES.iter().map(line).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{self, reports};

    #[test]
    fn shares_are_in_words_by_kind_of_thread() {
        let section = section(&reports(&sample::eventful_run())).unwrap();
        assert_eq!(
            section.items[0],
            "mysql56 in update-nonindex at 4 clients: of 4 connection threads 65% in buf_LRU_get_free_block, \
             25% in row_search; 10% waiting for their client."
        );
        assert_eq!(
            section.items.last().unwrap(),
            "myrocks in update-nonindex at 4 clients: sampling ended before the load did: the process 7 has ended."
        );
        let [table] = &section.tables[..] else { panic!() };
        let Line::Test { cells, .. } = &table.lines[1] else { panic!() };
        assert_eq!(cells[0].text, "12.5");
        assert!(self::section(&reports(&sample::run(1))).is_none());
    }
}
