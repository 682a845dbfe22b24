//! Some tests repeat an earlier test. Compares each of them with the earlier test. The ratio shows the effect of the
//! steps that ran between the two.

use crate::document::{Line, Section, Shown, Table};
use crate::model::{Repeated, RepeatedRatio, Reports};
use crate::sections::cells::{group_table, test_line};
use crate::wording::number::counted;
use crate::wording::words::ratio_in;

/// The section, with a table for each client count; `None` if no test repeats another.
pub(crate) fn section(reports: &Reports) -> Option<Section> {
    let pairs: Vec<String> =
        reports.repeated.iter().map(|it| format!("{} repeats {}", it.row.step, it.repeats)).collect();
    (!pairs.is_empty()).then(|| Section {
        title: "Before and after: throughput of tests that repeat an earlier one".to_owned(),
        paragraphs: vec![
            "Throughput as a multiple of the same server's in the earlier test, median over rounds. Below 1, the server was \
             slower after the steps between the two. It gets no verdict."
                .to_owned(),
            format!("{}.", pairs.join(", ")),
        ],
        tables: (0..reports.client_counts.len()).filter_map(|at| table(reports, at)).collect(),
        ..Section::default()
    })
}

/// The table for a client count, given by its index. `None` if no repeated test ran at this client count.
fn table(reports: &Reports, at: usize) -> Option<Table> {
    let systems = reports.systems.len();
    let line = |repeated: &Repeated<RepeatedRatio>| {
        let cells = repeated.row.cells.get(at * systems..(at + 1) * systems)?;
        let ran = cells.iter().any(|cell| cell.value().is_some());
        let shown = |change: &RepeatedRatio| Shown::plain(ratio_in(change.ratio, change.interval));
        ran.then(|| test_line(&repeated.row.step, String::new(), cells, &|_, change| shown(change)))
    };
    let lines: Vec<Line> = reports.repeated.iter().filter_map(line).collect();
    let title = counted(u64::from(reports.client_counts[at]), "client");
    (!lines.is_empty()).then(|| group_table(reports, &title, lines))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{self, reports};

    #[test]
    fn a_test_is_set_beside_the_one_that_it_repeats_system_by_system() {
        let mut run = sample::run(7);
        assert!(section(&reports(&run)).is_none());
        run.steps[3].repeats = Some("point-query".to_owned());
        let rates: Vec<_> = run.trials.iter().map(|trial| trial.record.clone()).collect();
        let halved = |trial: &&mut dyno_store::Trial| trial.record.step_id == "update-index";
        for trial in run.trials.iter_mut().filter(halved) {
            let record = &mut trial.record;
            let before = rates.iter().find(|before| {
                (before.step_id.as_str(), before.clients, before.round, &before.system_id)
                    == ("point-query", record.clients, record.round, &record.system_id)
            });
            let before = before.unwrap().measured.as_ref().unwrap();
            let measured = record.measured.as_mut().unwrap();
            measured.seconds = before.seconds;
            measured.counts.operations = before.counts.operations / 2;
        }
        let section = section(&reports(&run)).unwrap();
        assert_eq!(section.paragraphs[1], "update-index repeats point-query.");
        assert_eq!(section.tables.len(), 2);
        let [Line::Test { name, cells, .. }] = &section.tables[0].lines[..] else { panic!() };
        assert_eq!(name, "update-index");
        assert!(cells.iter().all(|cell| cell.text == "0.50 [0.50, 0.50]"), "{:?}", cells[0].text);
    }
}
