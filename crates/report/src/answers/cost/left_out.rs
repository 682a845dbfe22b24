//! Shows how accurately a system is predicted from other systems that differ only in hardware.

use dyno_judge::{ERROR_MAX, Forecast};
use dyno_stats::median;

use crate::document::{Line, Section, Table};
use crate::wording::hardware::{hardware, resource};
use crate::wording::number::{counted, percent, signed_percent, three_digits};

/// The section, with a table for each family of systems that has predictions. `None` if there is no such family.
pub(super) fn section(step: &str, forecasts: &[Forecast]) -> Option<Section> {
    let is_tested = |it: &&Forecast| !it.predictions.is_empty() && !it.left_out.is_empty();
    let tested = || forecasts.iter().filter(is_tested);
    let errors: Vec<f64> = tested().flat_map(|it| &it.left_out).map(|it| it.error.abs()).collect();
    let median = median(&errors)?;
    let mut items =
        vec![format!("Median error: {} of {}.", percent(median), counted(errors.len() as u64, "prediction"))];
    items.extend(tested().filter_map(|it| bottleneck(step, it)));
    Some(Section {
        title: "Leave-one-out: measured systems predicted from the others".to_owned(),
        paragraphs: vec![format!(
            "Systems that differ only in CPUs or IOPS. `dyno cost --iops N --cpus N` predicts such systems on other hardware, \
             unless an error here exceeds {}. For hardware within the measured range, only errors of systems within the \
             range of the others count; for other hardware, all errors count.",
            percent(ERROR_MAX)
        )],
        items,
        tables: tested().map(|it| table(step, it)).collect(),
        ..Section::default()
    })
}

fn table(step: &str, forecast: &Forecast) -> Table {
    let lines = forecast.left_out.iter().map(|it| {
        let range = if it.is_outside { ", outside the others' range" } else { "" };
        let cells = [
            three_digits(it.operations_per_second),
            three_digits(it.predicted),
            signed_percent(it.error),
            format!("{}{range}", hardware(it.hardware)),
        ];
        Line::plain(it.system.clone(), cells)
    });
    Table::plain(title(step, forecast), &["operations/s", "predicted", "error", "hardware"], lines.collect())
}

/// A sentence on the resource that each system used most.
fn bottleneck(step: &str, forecast: &Forecast) -> Option<String> {
    let by_system = forecast.used.chunk_by(|a, b| a.system == b.system);
    let most = by_system.filter_map(|used| used.iter().max_by(|a, b| a.share.total_cmp(&b.share)));
    let said: Vec<String> = most
        .map(|used| format!("{} of {}'s {}", percent(used.share), used.system, resource(used.resource)))
        .collect();
    (!said.is_empty()).then(|| format!("Most used, {}: {}.", title(step, forecast), said.join(", ")))
}

fn title(step: &str, forecast: &Forecast) -> String {
    format!("{} in {step} at {}", forecast.family, counted(u64::from(forecast.clients), "client"))
}
