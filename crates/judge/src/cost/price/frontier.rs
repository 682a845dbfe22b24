//! The efficient frontier: the systems that are faster than every cheaper system.

use dyno_store::{Operation, Run, SystemRecord};
use serde::Serialize;

use super::dollars_per_million;
use crate::analysis::test::Test;
use crate::compare::comparison::{Finding, Judgement};

/// For a test, the systems that have a price, and whether each is worth its price.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Frontier {
    pub group: String,
    pub step: String,
    pub clients: u32,
    /// The kind of operation that the rate counts.
    pub operation: Operation,
    /// In ascending order of price. At equal prices, the faster system comes first.
    pub offers: Vec<Offer>,
}

/// A system with its price.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Offer {
    pub system: String,
    pub dollars_per_year: f64,
    /// Median over rounds.
    pub operations_per_second: f64,
    /// Price of a million operations if the system runs at this rate all the time.
    pub dollars_per_million_operations: Option<f64>,
    pub standing: Standing,
    /// The cheapest system that dominates this system; `None` if no system does.
    pub dominated_by: Option<String>,
}

/// Whether verdicts show that a system is worth its price.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// The system is faster than every cheaper system. Compared with every system of the same price, it is faster
    /// or the same.
    Efficient,
    /// A cheaper system is the same or faster, or a system of the same price is faster.
    Dominated,
    /// The verdicts show neither.
    NotDecided,
}

/// The frontier of each timed step at each client count, in run order. A test is left out if fewer than two systems
/// have a price and a rate. Controls are left out too.
pub(crate) fn frontiers(run: &Run, tests: &[Test], against: &[Judgement]) -> Vec<Frontier> {
    let is_timed = |test: &&Test| run.steps.iter().any(|step| step.id == test.step && step.seconds.is_some());
    let frontier = |test: &Test| {
        let offers = offers(run, test, against);
        (offers.len() > 1).then(|| Frontier {
            group: test.group.clone(),
            step: test.step.clone(),
            clients: test.clients,
            operation: test.operation,
            offers,
        })
    };
    tests.iter().filter(is_timed).filter_map(frontier).collect()
}

fn offers(run: &Run, test: &Test, against: &[Judgement]) -> Vec<Offer> {
    let offer = |system: &SystemRecord| {
        let dollars_per_year = system.dollars_per_year().filter(|_| system.control_of.is_none())?;
        let cell = test.cells.iter().find(|cell| cell.system == system.id)?;
        let operations_per_second = cell.rate.filter(|rate| *rate > 0.0)?;
        Some(Offer {
            system: system.id.clone(),
            dollars_per_year,
            operations_per_second,
            dollars_per_million_operations: dollars_per_million(dollars_per_year, operations_per_second),
            standing: Standing::NotDecided,
            dominated_by: None,
        })
    };
    let mut offers: Vec<Offer> = run.systems.iter().filter_map(offer).collect();
    offers.sort_by(|a, b| {
        let by_price = a.dollars_per_year.total_cmp(&b.dollars_per_year);
        by_price.then(b.operations_per_second.total_cmp(&a.operations_per_second))
    });
    let finding = |base: &str, candidate: &str| finding(run, test, against, base, candidate);
    let standings: Vec<(Standing, Option<String>)> =
        offers.iter().map(|offer| standing(offer, &offers, &finding)).collect();
    for (offer, (standing, dominated_by)) in offers.iter_mut().zip(standings) {
        (offer.standing, offer.dominated_by) = (standing, dominated_by);
    }
    offers
}

fn standing(
    offer: &Offer,
    offers: &[Offer],
    finding: &impl Fn(&str, &str) -> Option<Finding>,
) -> (Standing, Option<String>) {
    let mut is_efficient = true;
    for other in offers.iter().filter(|other| other.system != offer.system) {
        if other.dollars_per_year > offer.dollars_per_year {
            continue;
        }
        let is_cheaper = other.dollars_per_year < offer.dollars_per_year;
        match finding(&other.system, &offer.system) {
            Some(Finding::Improved) => {}
            Some(Finding::Same) if !is_cheaper => {}
            Some(Finding::Same | Finding::Regressed) => {
                return (Standing::Dominated, Some(other.system.clone()));
            }
            _ => is_efficient = false,
        }
    }
    (if is_efficient { Standing::Efficient } else { Standing::NotDecided }, None)
}

/// The verdict on a candidate against a base in a test.
fn finding(run: &Run, test: &Test, against: &[Judgement], base: &str, candidate: &str) -> Option<Finding> {
    let at = run.systems.iter().position(|system| system.id == base)?;
    let comparison = against.get(at)?.comparisons.iter().find(|it| it.candidate.system == candidate)?;
    let found = comparison.tests.iter().find(|it| it.step == test.step && it.clients == test.clients)?;
    Some(found.finding)
}
