//! The tables of candidates, and of measured systems that were predicted from the others.

use dyno_judge::{Answer, Basis, Candidate, CostAnswer, ERROR_MAX, Forecast, Predicted};

use super::sentences::{because, hardware, name, resource, with_interval};
use crate::number::{counted, percent, signed_percent, three_digits};
use crate::prices::dollars;
use crate::section::Section;
use crate::table::{Column, Line, Shown, Table};

/// All candidates by price.
pub(super) fn candidates(answer: &CostAnswer) -> Section {
    let lines = answer.candidates.iter().map(|it| line(name(it), row(it))).collect();
    let heads = ["clients", "operations/s", "p99 ms", "$ a year", "$ a million", "answer"];
    let mut how_to_read = vec![
        "At the number of clients that suits best. In brackets: 95% interval over rounds. Meets: the whole interval does; \
         not decided: part of it does, or there are fewer than three rounds."
            .to_owned(),
    ];
    if !answer.forecasts.is_empty() {
        how_to_read.push(
            "Predicted: from the limits and rates of systems that differ in hardware only; the interval holds what rounds vary \
             and what the model errs. At most: a bound by what an operation demands. No p99 is predicted."
                .to_owned(),
        );
    }
    Section {
        title: "Candidates by price",
        how_to_read,
        items: answer.forecasts.iter().flat_map(unpredicted).collect(),
        tables: vec![table("", &heads, lines)],
        ..Section::default()
    }
}

fn row(it: &Candidate) -> [String; 6] {
    let or_dash = |text: Option<String>| text.unwrap_or_else(|| "–".to_owned());
    let bound = if it.basis == Basis::AtMost { "≤ " } else { "" };
    let least = if it.basis == Basis::AtMost { "≥ " } else { "" };
    let answer = match it.answer {
        Answer::Meets => "meets",
        Answer::DoesNotMeet => "does not",
        Answer::NotDecided => "not decided",
    };
    let basis = match it.basis {
        Basis::Measured => "",
        Basis::Predicted => ", predicted",
        Basis::PredictedOutside => ", predicted outside the measured range",
        Basis::AtMost => ", a bound",
        Basis::Unknown => ", not predicted",
    };
    [
        it.clients.to_string(),
        or_dash(it.operations_per_second.map(|rate| format!("{bound}{}", with_interval(rate, it.interval)))),
        or_dash(it.p99.map(|p99| {
            let bound = if p99.is_lower_bound { "≥ " } else { "" };
            format!("{bound}{}", with_interval(p99.ms, p99.interval))
        })),
        or_dash(it.dollars_per_year.map(dollars)),
        or_dash(it.dollars_per_million_operations.map(|amount| format!("{least}{}", dollars(amount)))),
        format!("{answer}{basis}"),
    ]
}

/// Why there is only a bound, or nothing.
fn unpredicted(forecast: &Forecast) -> Vec<String> {
    let place = counted(u64::from(forecast.clients), "client");
    let sentence = |of: &dyno_judge::Prediction| {
        let what = format!("{} with {} at {place}", forecast.family, hardware(of.hardware));
        match &of.predicted {
            Predicted::Rate { .. } => None,
            Predicted::AtMost { resource: limit, because: reason, .. } => {
                Some(format!("{what}: only a bound by {}: {}.", resource(*limit), because(reason)))
            }
            Predicted::Nothing { because: reason } => {
                Some(format!("{what}: no prediction: {}.", because(reason)))
            }
        }
    };
    forecast.predictions.iter().filter_map(sentence).collect()
}

/// How well measured systems are predicted. None without predictions that could be tried.
pub(super) fn left_out(answer: &CostAnswer) -> Option<Section> {
    let is_asked = |it: &&Forecast| !it.predictions.is_empty() && !it.left_out.is_empty();
    let heads = ["operations/s", "predicted", "error", "hardware"];
    let of_forecast = |forecast: &Forecast| {
        let lines = forecast.left_out.iter().map(|it| {
            let range = if it.is_outside { ", outside the others'" } else { "" };
            let cells = [
                three_digits(it.operations_per_second),
                three_digits(it.predicted),
                signed_percent(it.error),
                format!("{}{range}", hardware(it.hardware)),
            ];
            line(it.system.clone(), cells)
        });
        let place = counted(u64::from(forecast.clients), "client");
        table(&format!("{} at {place}", forecast.family), &heads, lines.collect())
    };
    let tables: Vec<Table> = answer.forecasts.iter().filter(is_asked).map(of_forecast).collect();
    (!tables.is_empty()).then(|| Section {
        title: "Leave-one-out: measured systems predicted from the others",
        how_to_read: vec![format!(
            "Above {} there is no prediction: for hardware within the measured range it is the error of systems within that of the \
             others that counts, and for hardware beyond it any system's.",
            percent(ERROR_MAX)
        )],
        items: answer.forecasts.iter().filter(is_asked).filter_map(bottleneck).collect(),
        tables,
        ..Section::default()
    })
}

/// The resource that each system used most.
fn bottleneck(forecast: &Forecast) -> Option<String> {
    let by_system = forecast.used.chunk_by(|a, b| a.system == b.system);
    let most = by_system.filter_map(|used| used.iter().max_by(|a, b| a.share.total_cmp(&b.share)));
    let said: Vec<String> = most
        .map(|used| format!("{} of {}'s {}", percent(used.share), used.system, resource(used.resource)))
        .collect();
    let place = counted(u64::from(forecast.clients), "client");
    (!said.is_empty()).then(|| format!("Most used, at {place}: {}.", said.join(", ")))
}

fn table(title: &str, heads: &[&str], lines: Vec<Line>) -> Table {
    let column = |head: &&str| Column { system: (*head).to_owned(), clients: None };
    Table {
        title: title.to_owned(),
        shows_operations: false,
        columns: heads.iter().map(column).collect(),
        lines,
    }
}

fn line<const N: usize>(name: String, cells: [String; N]) -> Line {
    Line::Test { name, operation: String::new(), cells: cells.map(Shown::plain).to_vec() }
}
