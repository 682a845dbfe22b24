//! Reports which functions the servers' threads executed, and how much time the sampling took.

use dyno_judge::{CONNECTION, StackSummary, ThreadSummary};

use crate::document::{Column, Line, Section, Shown, Table};
use crate::model::Reports;
use crate::wording::number::{self, counted};

/// Functions with a smaller share of stacks are left out of sentences.
const SHARE_MIN: f64 = 0.01;

/// Largest number of functions that a sentence names for a kind of background thread. The JSON report has more.
const FUNCTIONS_OF_OTHERS_MAX: usize = 2;

/// A figure on the samples of a system: its name and its format.
type Figure = (&'static str, fn(&StackSummary) -> String);

const FIGURES: [Figure; 4] = [
    ("samples", |of| of.samples.to_string()),
    ("median time of a sample, ms", |of| number::three_digits(of.sample_ms_median)),
    ("rate while sampled, share of the measured rate", |of| {
        of.rate_share.map_or_else(|| "–".to_owned(), number::percent)
    }),
    ("frames without a name", |of| number::percent(of.unnamed_share)),
];

/// The section; `None` if no stacks were sampled.
pub(crate) fn section(reports: &Reports) -> Option<Section> {
    let same_test = |a: &StackSummary, b: &StackSummary| (&a.step, a.clients) == (&b.step, b.clients);
    (!reports.stacks.is_empty()).then(|| Section {
        title: "Stacks: the functions in which threads were".to_owned(),
        paragraphs: vec![
            "Sampled in one round, while a trial's load was repeated without measurement. Each stack counts for its \
             innermost function of the engine that is not a wait or a lock. Shares are of all stacks of a kind of thread; \
             they get no verdict."
                .to_owned(),
        ],
        items: reports.stacks.iter().flat_map(sentences).collect(),
        tables: reports.stacks.chunk_by(same_test).map(table).collect(),
        ..Section::default()
    })
}

/// Sentences on connection threads, on other threads, and on why sampling ended early.
fn sentences(of: &StackSummary) -> Vec<String> {
    let place = format!("{} in {} at {}", of.system, of.step, counted(u64::from(of.clients), "client"));
    let (connections, others): (Vec<_>, Vec<_>) =
        of.threads.iter().partition(|threads| threads.kind == CONNECTION);
    let connections = connections.iter().map(|threads| threads_in_words(threads, usize::MAX));
    let others: Vec<String> =
        others.iter().map(|threads| threads_in_words(threads, FUNCTIONS_OF_OTHERS_MAX)).collect();
    let others = (!others.is_empty()).then(|| others.join("; "));
    let ended = of.ended_early.iter().map(|why| format!("sampling ended before the load did: {why}"));
    connections.chain(others).chain(ended).map(|sentence| format!("{place}: {sentence}.")).collect()
}

/// A kind of thread: `connection (8 threads) 61% in lock_wait, 20% in row_search, 10% waiting for their client`.
fn threads_in_words(threads: &ThreadSummary, functions_max: usize) -> String {
    let shown = threads.functions.iter().take(functions_max).filter(|function| function.share >= SHARE_MIN);
    let functions = shown.map(|it| format!("{} in {}", number::percent(it.share), it.function));
    let idle = (threads.idle_share >= SHARE_MIN)
        .then(|| format!("{} waiting for their client", number::percent(threads.idle_share)));
    let mean = number::shortest((threads.threads_mean * 10.0).round() / 10.0);
    let noun = if mean == "1" { "thread" } else { "threads" };
    let shares: Vec<String> = functions.chain(idle).collect();
    format!("{} ({mean} {noun}) {}", threads.kind, shares.join(", "))
}

/// A table with the figures of each system in a test.
fn table(of_test: &[StackSummary]) -> Table {
    let line =
        |(name, show): &Figure| Line::of(*name, of_test.iter().map(|of| Shown::plain(show(of))).collect());
    let first = &of_test[0];
    let title = format!("{} at {}", first.step, counted(u64::from(first.clients), "client"));
    let columns = of_test.iter().map(|of| Column::of(&of.system)).collect();
    Table::of(title, columns, FIGURES.iter().map(line).collect())
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
            "mysql56 in update-nonindex at 4 clients: connection (4 threads) 65% in buf_LRU_get_free_block, \
             25% in row_search, 10% waiting for their client."
        );
        assert_eq!(
            section.items[1],
            "mysql56 in update-nonindex at 4 clients: purge (1 thread) 100% in srv_purge."
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
