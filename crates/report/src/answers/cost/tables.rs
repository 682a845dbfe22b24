//! The table of candidates.

use dyno_judge::{Answer, Basis, Candidate, CostAnswer, Forecast, Predicted};

use super::hardware_priced::{priced_as, remarks};
use super::sentences::{because, name, with_interval};
use crate::document::{Line, Section, Table};
use crate::wording::hardware::{hardware, resource};
use crate::wording::number::counted;
use crate::wording::prices::dollars;

/// A table of all candidates, in the order of their prices.
pub(super) fn candidates(answer: &CostAnswer) -> Section {
    let lines = answer.candidates.iter().map(|it| Line::plain(name(it), row(it))).collect();
    let heads = ["clients", "operations/s", "p99 ms", "priced as", "$ a year", "$ a million", "answer"];
    let mut paragraphs = vec![
        "Each system at its best number of clients. In brackets: 95% interval over rounds. Meets: the whole interval does; \
         not decided: part of it does, or there are fewer than three rounds."
            .to_owned(),
    ];
    if !answer.forecasts.is_empty() {
        paragraphs.push(
            "Predicted: from the limits and rates of systems that differ only in hardware; the interval covers the variation of \
             rounds and the error of the model. At most: a bound from the resources that an operation takes. No p99 is predicted."
                .to_owned(),
        );
    }
    Section {
        title: "Candidates by price".to_owned(),
        paragraphs,
        items: remarks(answer).into_iter().chain(answer.forecasts.iter().flat_map(unpredicted)).collect(),
        tables: vec![Table::plain("", &heads, lines)],
        ..Section::default()
    }
}

fn row(it: &Candidate) -> [String; 7] {
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
        priced_as(it.price.as_ref()),
        or_dash(it.dollars_per_year.map(dollars)),
        or_dash(it.dollars_per_million_operations.map(|amount| format!("{least}{}", dollars(amount)))),
        format!("{answer}{basis}"),
    ]
}

/// Says why a prediction is only a bound, or is missing. Complete predictions have no sentence.
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
