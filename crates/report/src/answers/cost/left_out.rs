//! Shows how accurately a system is predicted from other systems that differ only in hardware.

use dyno_judge::{ERROR_MAX, LeftOutTest};
use dyno_stats::median;

use crate::document::{Line, Section, Table};
use crate::model::Reports;
use crate::wording::hardware::{hardware, resource};
use crate::wording::number::{counted, percent, signed_percent, three_digits};

/// For each step, the predictions at the number of clients with the highest throughput.
fn shown(reports: &Reports) -> Vec<LeftOutTest> {
    let most = |of_clients: &[LeftOutTest]| {
        let rates = of_clients.iter().flat_map(|it| &it.left_out).map(|it| it.operations_per_second);
        rates.fold(0.0, f64::max)
    };
    let by_step = reports.left_out.chunk_by(|a, b| a.step == b.step);
    let best = by_step.filter_map(|of_step| {
        let by_clients = of_step.chunk_by(|a, b| a.clients == b.clients);
        by_clients.max_by(|a, b| most(a).total_cmp(&most(b)))
    });
    best.flatten().cloned().collect()
}

/// The section in the report of a run.
pub(in crate::sections) fn of_run(reports: &Reports) -> Option<Section> {
    section(&shown(reports))
}

/// The section, with a table for each family of systems in each step. `None` if no system can be predicted.
pub(crate) fn section(tests: &[LeftOutTest]) -> Option<Section> {
    let errors: Vec<f64> = tests.iter().flat_map(|it| &it.left_out).map(|it| it.error.abs()).collect();
    let median = median(&errors)?;
    let mut items =
        vec![format!("Median error: {} of {}.", percent(median), counted(errors.len() as u64, "prediction"))];
    items.extend(tests.iter().filter_map(bottleneck));
    Some(Section {
        title: "Leave-one-out: measured systems predicted from the others".to_owned(),
        paragraphs: vec![format!(
            "Systems that differ only in CPUs or IOPS. `dyno cost --iops N --cpus N` predicts such systems on other hardware, \
             unless an error here exceeds {}. For hardware within the measured range, only errors of systems within the \
             range of the others count; for other hardware, all errors count.",
            percent(ERROR_MAX)
        )],
        items,
        tables: tests.iter().map(table).collect(),
        ..Section::default()
    })
}

fn table(test: &LeftOutTest) -> Table {
    let lines = test.left_out.iter().map(|it| {
        let range = if it.is_outside { ", outside the others' range" } else { "" };
        let cells = [
            three_digits(it.operations_per_second),
            three_digits(it.predicted),
            signed_percent(it.error),
            format!("{}{range}", hardware(it.hardware)),
        ];
        Line::plain(it.system.clone(), cells)
    });
    Table::plain(title(test), &["operations/s", "predicted", "error", "hardware"], lines.collect())
}

/// A sentence on the resource that each system used most.
fn bottleneck(test: &LeftOutTest) -> Option<String> {
    let by_system = test.used.chunk_by(|a, b| a.system == b.system);
    let most = by_system.filter_map(|used| used.iter().max_by(|a, b| a.share.total_cmp(&b.share)));
    let said: Vec<String> = most
        .map(|used| format!("{} of {}'s {}", percent(used.share), used.system, resource(used.resource)))
        .collect();
    (!said.is_empty()).then(|| format!("Most used, {}: {}.", title(test), said.join(", ")))
}

fn title(test: &LeftOutTest) -> String {
    format!("{} in {} at {}", test.family, test.step, counted(u64::from(test.clients), "client"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{self, reports};
    use crate::{Format, RenderOptions, render, render_html};

    #[test]
    fn a_sweep_of_hardware_is_predicted_from_itself_in_every_format() {
        let reports = reports(&sample::hardware_run());
        let [test] = &reports.left_out[..] else { panic!("{:?}", reports.left_out) };
        assert_eq!((test.step.as_str(), test.clients, test.left_out.len()), ("read-only.range10.0", 8, 5));
        for format in [Format::Text, Format::Markdown] {
            let shown = render(&reports, format, &RenderOptions { color: false, width: 10_000 });
            for words in [
                "Leave-one-out: measured systems",
                "of 5 predictions.",
                "1000 IOPS, 8 CPUs, outside the others' range",
            ] {
                assert!(shown.contains(words), "{words}: {shown}");
            }
        }
        let page = sample::with_page_input(&sample::hardware_run(), render_html);
        assert!(page.contains("<section id=\"left-out\">") && page.contains("of 5 predictions."));
    }

    #[test]
    fn the_number_of_clients_at_which_most_was_done_is_shown() {
        let mut reports = reports(&sample::hardware_run());
        let mut fewer = reports.left_out[0].clone();
        fewer.clients = 4;
        fewer.left_out.iter_mut().for_each(|it| it.operations_per_second /= 2.0);
        reports.left_out.insert(0, fewer);
        assert_eq!(shown(&reports).iter().map(|test| test.clients).collect::<Vec<_>>(), [8]);
    }

    #[test]
    fn systems_that_differ_otherwise_are_not_predicted() {
        assert_eq!(reports(&sample::swept_run()).left_out, []);
        assert!(section(&[]).is_none());
    }
}
