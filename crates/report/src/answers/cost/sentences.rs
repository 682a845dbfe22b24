//! The answer in sentences.

use dyno_judge::{Answer, Basis, Candidate, CostAnswer, Unpredicted};
use dyno_stats::Interval;

use super::hardware_priced;
use crate::wording::hardware::{hardware, resource};
use crate::wording::number::{self, counted, percent, three_digits};
use crate::wording::prices::dollars;

/// States the cheapest system that was measured, a system that is cheaper by prediction, cheaper systems whose answer
/// is not decided, and systems without a price.
pub(super) fn answer(answer: &CostAnswer) -> Vec<String> {
    let (measured, best) = (answer.cheapest_measured(), answer.cheapest_of_all());
    let wanted = wanted(answer);
    let mut sentences = vec![match measured {
        Some(it) => format!("The cheapest that gives {wanted} is {}.", described(it)),
        None => {
            format!("No system that was measured and has a price gives {wanted}, as far as the rounds show.")
        }
    }];
    if let Some(it) = best.filter(|it| it.basis != Basis::Measured) {
        let cheaper = if measured.is_some() { "a cheaper one is" } else { "the cheapest is" };
        sentences.push(format!("By prediction, not by measurement, {cheaper} {}.", described(it)));
    }
    let limit = best.and_then(|it| it.dollars_per_year).unwrap_or(f64::INFINITY);
    let is_open = |it: &&Candidate| {
        it.answer == Answer::NotDecided && it.dollars_per_year.is_some_and(|price| price < limit)
    };
    let open: Vec<String> = answer.candidates.iter().filter(is_open).map(name).collect();
    if !open.is_empty() {
        let what = if best.is_some() { "Cheaper, and not decided" } else { "Not decided" };
        sentences.push(format!("{what}: {}.", open.join(", ")));
    }
    let unpriced: Vec<String> =
        answer.candidates.iter().filter(|it| it.dollars_per_year.is_none()).map(name).collect();
    if !unpriced.is_empty() {
        sentences.push(format!("Without a price: {}.", unpriced.join(", ")));
    }
    sentences
}

fn wanted(answer: &CostAnswer) -> String {
    let rate = three_digits(answer.target.operations_per_second);
    let p99 = answer.target.p99_ms.map(|ms| format!(" with a p99 of at most {} ms", number::shortest(ms)));
    format!("{rate} operations a second{} in {}", p99.unwrap_or_default(), answer.step)
}

fn described(it: &Candidate) -> String {
    let price = it.dollars_per_year.map(|price| format!("{} a year{}", dollars(price), priced_as(it)));
    let rate = it.operations_per_second.map(|rate| {
        let place = counted(u64::from(it.clients), "client");
        format!("{} operations a second at {place}", with_interval(rate, it.interval))
    });
    let million = it.dollars_per_million_operations.map(|it| format!("{} for a million", dollars(it)));
    let figures: Vec<String> = [price, rate, million].into_iter().flatten().collect();
    format!("{}: {}", name(it), figures.join(", "))
}

/// ` as c5.9xlarge, io1-5000 (other hardware than was measured, see below)`. Empty if the plan states the price
/// itself.
fn priced_as(it: &Candidate) -> String {
    let Some(price) = &it.price else { return String::new() };
    let other = if it.differences.is_empty() { "" } else { " (other hardware than was measured, see below)" };
    format!(" as {}{other}", hardware_priced::priced_as(Some(price)))
}

/// The id of a measured system. For a predicted system, the name of its family, with the hardware.
pub(super) fn name(it: &Candidate) -> String {
    if it.basis == Basis::Measured {
        return it.system.clone();
    }
    format!("{} with {}", it.system, hardware(it.hardware))
}

/// `2,000 [1,990–2,010]`.
pub(super) fn with_interval(value: f64, interval: Option<Interval>) -> String {
    let interval = interval.map(|it| format!(" [{}–{}]", three_digits(it.low), three_digits(it.high)));
    three_digits(value) + &interval.unwrap_or_default()
}

pub(super) fn because(reason: &Unpredicted) -> String {
    match reason {
        Unpredicted::NotVaried { resource: it } => {
            format!("its systems do not differ in {} alone; sweep that", resource(*it))
        }
        Unpredicted::TooFew { systems, wanted } => {
            format!("{} measured, and a prediction takes {wanted}", counted(*systems as u64, "system"))
        }
        Unpredicted::LeaveOneOut { error_max } => {
            format!("its own systems, each predicted from the others, are up to {} off", percent(*error_max))
        }
    }
}
