use super::*;
use crate::testing::{assert_close, normal};

/// SPEC SDM91 on a `SPARCcenter` 2000 (Gunther, "Guerrilla Capacity Planning", section 4.6).
const SDM91: [(f64, f64); 7] = [
    (1.0, 64.9),
    (18.0, 995.9),
    (36.0, 1652.4),
    (72.0, 1853.2),
    (108.0, 1828.9),
    (144.0, 1775.0),
    (216.0, 1702.2),
];

fn points(pairs: &[(f64, f64)]) -> Vec<Point> {
    pairs.iter().map(|&(clients, rate)| Point { clients, rate }).collect()
}

/// Three trials at each of eight levels of a known curve, with noise.
fn noisy(curve: Curve, noise: f64, seed: u64) -> Vec<Point> {
    let mut random = SplitMix64::new(seed);
    let levels = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0];
    let trial = |clients: f64| {
        let rate = curve.rate(clients) * (noise * normal(&mut random)).exp();
        Point { clients, rate }
    };
    levels.into_iter().flat_map(|clients| [clients; 3]).map(trial).collect()
}

#[test]
fn the_published_example() {
    // The R package usl on its data set specsdm91: α 0.0277285, β 0.0001044, γ 89.9952330, peak at 96.5.
    let found = scalability(&points(&SDM91), 1).unwrap();
    assert_close(found.contention.value, 0.027_728_5, 1e-6);
    assert_close(found.coherency.value, 0.000_104_4, 1e-7);
    assert_close(found.single.value, 89.995_233, 1e-3);
    assert_close(found.peak_clients.unwrap().value, 96.5, 0.1);
    assert!(found.r_squared > 0.98, "{}", found.r_squared);
}

#[test]
fn a_known_curve_is_found_within_its_intervals() {
    let truth = Curve { single: 1000.0, contention: 0.05, coherency: 0.0005 };
    let within =
        |estimate: Estimate, truth| (estimate.interval.low..=estimate.interval.high).contains(&truth);
    let mut enclosed = 0;
    for seed in 0..60 {
        let found = scalability(&noisy(truth, 0.03, seed), seed).unwrap();
        enclosed += u32::from(within(found.contention, 0.05)) + u32::from(within(found.coherency, 0.0005));
    }
    // 95% of 120, with an allowance for chance and a small sample.
    assert!(enclosed >= 105, "{enclosed} of 120");
}

#[test]
fn without_a_peak_none_is_made_up() {
    let saturating = Curve { single: 1000.0, contention: 0.05, coherency: 0.0 };
    let found = scalability(&noisy(saturating, 0.03, 1), 1).unwrap();
    assert_eq!(found.peak_clients, None);
    assert_close(found.knee_clients.unwrap(), 20.0, 2.0);
    assert_close(found.clients_max, 128.0, 0.0);

    let perfect = Curve { single: 1000.0, contention: 0.0, coherency: 0.0 };
    let found = scalability(&noisy(perfect, 0.01, 2), 1).unwrap();
    assert_eq!((found.peak_clients, found.knee_clients), (None, None));
    assert_close(found.single.value, 1000.0, 20.0);
}

#[test]
fn the_knee_is_where_perfect_scaling_meets_the_peak() {
    let found = scalability(&points(&SDM91), 1).unwrap();
    let knee = found.knee_clients.unwrap();
    assert!((15.0..30.0).contains(&knee), "{knee}");
}

#[test]
fn too_few_levels_or_nothing_delivered_have_no_curve() {
    assert_eq!(scalability(&points(&SDM91[..5]), 1), None);
    let mut stopped = SDM91;
    stopped[3].1 = 0.0;
    assert_eq!(scalability(&points(&stopped), 1), None);
}
