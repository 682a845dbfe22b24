use dyno_store::{Outcome, Run};

use super::*;
use crate::analysis::analyse;
use crate::compare::rule::Rule;
use crate::sample::{add_step, around, latency, run};
use crate::trial::check::TrialChecks;

/// A run of systems, each with a price per year and a rate. The rates of the rounds differ by up to `spread`.
fn priced(systems: &[(&str, f64, f64)], rounds: usize, spread: f64) -> Run {
    let ids: Vec<&str> = systems.iter().map(|(id, ..)| *id).collect();
    let mut run = run(1, &ids);
    for (system, (_, dollars, _)) in run.systems.iter_mut().zip(systems) {
        system.dollars_per_hour = (*dollars > 0.0).then_some(dollars / 8760.0);
    }
    let rates: Vec<(&str, Vec<f64>)> = systems
        .iter()
        .zip(1..)
        .map(|((id, _, rate), salt)| (*id, around(*rate, spread, rounds, salt)))
        .collect();
    add_step(&mut run, "writes", "update", 8, &rates);
    run
}

fn standings(run: &Run) -> Vec<(String, Standing, Option<String>)> {
    let analysis = analyse(run, &TrialChecks::new(), &Rule::default());
    let offers = analysis.frontiers.into_iter().next().map_or(Vec::new(), |frontier| frontier.offers);
    offers.into_iter().map(|offer| (offer.system, offer.standing, offer.dominated_by)).collect()
}

#[test]
fn a_dollar_a_second_is_a_dollar_for_as_many_operations_as_there_are_in_it() {
    assert!((dollars_per_million(SECONDS_PER_YEAR, 1e6).unwrap() - 1.0).abs() < 1e-12);
    assert_eq!(dollars_per_million(1.0, 0.0), None);
}

#[test]
fn what_costs_more_and_is_not_faster_is_dominated() {
    let run = priced(
        &[
            ("fast", 300.0, 2000.0),
            ("slow", 100.0, 1000.0),
            ("dear", 400.0, 1500.0),
            ("equal", 500.0, 2001.0),
            ("gift", 0.0, 9e9),
        ],
        10,
        0.002,
    );
    let by = |system: &str| Some(system.to_owned());
    let expected = [
        ("slow", Standing::Efficient, None),
        ("fast", Standing::Efficient, None),
        ("dear", Standing::Dominated, by("fast")),
        ("equal", Standing::Dominated, by("fast")),
    ];
    let expected = expected.map(|(system, standing, by)| (system.to_owned(), standing, by));
    assert_eq!(standings(&run), expected, "a system without a price has no part");
}

#[test]
fn of_two_at_one_price_the_faster_dominates_and_equals_do_not() {
    let of = |rate: f64| {
        let run = priced(&[("a", 100.0, 1000.0), ("b", 100.0, rate)], 10, 0.002);
        standings(&run).into_iter().map(|(system, standing, _)| (system, standing)).collect::<Vec<_>>()
    };
    assert_eq!(of(1500.0), [("b".to_owned(), Standing::Efficient), ("a".to_owned(), Standing::Dominated)]);
    assert!(of(1001.0).iter().all(|(_, standing)| *standing == Standing::Efficient));
}

#[test]
fn without_verdicts_only_the_cheapest_has_a_standing() {
    let run = priced(&[("a", 100.0, 1000.0), ("b", 200.0, 1500.0)], 1, 0.0);
    let found: Vec<Standing> = standings(&run).into_iter().map(|(_, standing, _)| standing).collect();
    assert_eq!(found, [Standing::Efficient, Standing::NotDecided]);
    assert!(standings(&priced(&[("a", 100.0, 1000.0), ("b", 0.0, 1500.0)], 5, 0.01)).is_empty());
}

fn answer(run: &Run, rate: f64, p99_ms: Option<f64>) -> CostAnswer {
    let analysis = analyse(run, &TrialChecks::new(), &Rule::default());
    let clients: Vec<u32> = analysis.tests.iter().map(|test| test.clients).collect();
    let prices = |system: &dyno_store::SystemRecord, _: Option<_>| {
        let by_list = system.price.clone();
        Some(crate::Priced { dollars_per_year: system.dollars_per_year()?, by_list })
    };
    let target = Target { operations_per_second: rate, p99_ms };
    cheapest(run, &analysis, target, "update", &clients, Vec::new(), &prices).unwrap()
}

fn answers(answer: &CostAnswer) -> Vec<(&str, Answer)> {
    answer.candidates.iter().map(|it| (it.system.as_str(), it.answer)).collect()
}

#[test]
fn the_cheapest_is_the_first_whose_whole_interval_meets_the_target() {
    let run = priced(&[("fast", 300.0, 2000.0), ("slow", 100.0, 1000.0), ("gift", 0.0, 5000.0)], 8, 0.01);
    let found = answer(&run, 1500.0, None);
    let expected = [("slow", Answer::DoesNotMeet), ("fast", Answer::Meets), ("gift", Answer::Meets)];
    assert_eq!(answers(&found), expected);
    assert_eq!(found.cheapest_measured().unwrap().system, "fast");
    assert_eq!(answer(&run, 2000.0, None).candidates[1].answer, Answer::NotDecided);
    assert!(answer(&run, 2000.0, None).is_open());
    let too_much = answer(&run, 3000.0, None);
    assert!(too_much.cheapest_of_all().is_none(), "what has no price is not the cheapest");
    assert!(!too_much.is_open(), "and leaves nothing open");
}

#[test]
fn latency_counts_and_one_round_decides_nothing() {
    // By Little's law, the latency is 4 ms with 8 clients and 2000 operations per second.
    let mut run = priced(&[("fast", 300.0, 2000.0)], 8, 0.01);
    assert_eq!(answers(&answer(&run, 1000.0, Some(5.0))), [("fast", Answer::Meets)]);
    assert_eq!(answers(&answer(&run, 1000.0, Some(3.0))), [("fast", Answer::DoesNotMeet)]);
    for trial in &mut run.trials {
        trial.record.latency_censored = Some(latency([4000]).histogram);
    }
    let bounds = answer(&run, 1000.0, Some(5.0));
    assert!(bounds.candidates[0].p99.unwrap().is_lower_bound);
    assert_eq!(bounds.candidates[0].answer, Answer::NotDecided);
    let once = priced(&[("fast", 300.0, 2000.0)], 1, 0.0);
    assert_eq!(answers(&answer(&once, 1000.0, None)), [("fast", Answer::NotDecided)]);
}

#[test]
fn what_failed_in_a_round_is_not_shown_to_meet_a_target() {
    let mut run = priced(&[("fast", 300.0, 2000.0)], 8, 0.01);
    assert_eq!(answers(&answer(&run, 1000.0, None)), [("fast", Answer::Meets)]);
    run.trials[0].record.outcome = Outcome::failed("");
    assert_eq!(answers(&answer(&run, 1000.0, None)), [("fast", Answer::NotDecided)]);
}

#[test]
fn the_number_of_clients_that_serves_best_is_shown() {
    let mut run = priced(&[("a", 100.0, 1000.0)], 8, 0.01);
    add_step(&mut run, "writes", "update", 64, &[("a", around(3000.0, 0.01, 8, 9))]);
    let many = &answer(&run, 2000.0, None).candidates[0];
    assert_eq!((many.clients, many.answer), (64, Answer::Meets));
    // By Little's law, the latency is 21 ms with 64 clients at 3000 operations per second, and 8 ms with 8 clients at
    // 1000.
    let few = &answer(&run, 900.0, Some(10.0)).candidates[0];
    assert_eq!((few.clients, few.answer), (8, Answer::Meets));
}

#[test]
fn few_rounds_that_differ_much_have_no_negative_latency() {
    let mut run = priced(&[("a", 100.0, 1000.0)], 3, 0.0);
    for (trial, us) in run.trials.iter_mut().zip([1000, 2000, 30_000]) {
        trial.record.measured.as_mut().unwrap().latency = latency([us]);
    }
    let p99 = answer(&run, 100.0, None).candidates[0].p99.unwrap();
    assert!(p99.interval.unwrap().low > 0.0 && (p99.ms / 3.91 - 1.0).abs() < 0.01, "{p99:?}");
}

#[test]
fn a_price_of_other_hardware_is_told() {
    use dyno_store::{Origin, Price, PricedInstance, PricedVolume};

    use super::PriceDifference;

    const GIB: u64 = 1 << 30;
    let mut run = priced(&[("small", 0.0, 2000.0)], 8, 0.01);
    run.record.host = dyno_store::HostRecord {
        cpus: Some(2),
        memory_bytes: Some(8 * GIB),
        cpu_model: Some("Model T".to_owned()),
        ..dyno_store::HostRecord::default()
    };
    let instance = |cpus, gib| PricedInstance {
        name: "c5.9xlarge".to_owned(),
        cpus,
        memory_bytes: gib * GIB,
        dollars_per_year: 7881.0,
        ..PricedInstance::default()
    };
    let volume = PricedVolume { name: "io1-5000".to_owned(), iops: 5000, ..PricedVolume::default() };
    let price = |cpus, gib| Price {
        instance: Some(instance(cpus, gib)),
        volume: Some(volume.clone()),
        ..Price::default()
    };
    let told = |run: &Run| answer(run, 1000.0, None).candidates[0].differences.clone();

    run.systems[0].price = Some(price(36, 72));
    assert_eq!(
        told(&run),
        [
            PriceDifference::Cpus { measured: 2, priced: 36 },
            PriceDifference::MemoryBytes { measured: 8 * GIB, priced: 72 * GIB },
            PriceDifference::Iops { measured: None, priced: 5000 }
        ]
    );
    let found = answer(&run, 1000.0, None);
    assert_eq!(found.candidates[0].price, run.systems[0].price);
    assert_eq!(found.processor.as_deref(), Some("Model T"));

    run.systems[0].price = Some(price(2, 8));
    run.systems[0].confinement = Some(serde_json::json!({ "read_iops": 5000, "write_iops": 5000 }));
    assert_eq!(told(&run), [], "what was measured is what is priced");
    run.systems[0].price = Some(Price { volume: None, ..price(2, 8) });
    assert_eq!(told(&run), [PriceDifference::NoVolume]);
    run.systems[0].price = Some(price(36, 72));
    run.systems[0].origin = Origin::Dsn;
    assert_eq!(told(&run), [], "nothing is known of the hardware of a server that ran already");
}
