use super::*;
use crate::distribution::random::SplitMix64;

/// A queue with one server (M/M/1). At rate λ and service rate μ, the 99th percentile of sojourn times is ln
/// 100 / (μ − λ).
struct Queue {
    service_per_second: f64,
    limit_seconds: f64,
    /// Standard deviation of the logarithm of a probe's percentile.
    noise: f64,
    /// Share of probes during which the host stalls.
    stalls: f64,
    random: SplitMix64,
}

impl Queue {
    fn new(seed: u64, limit_seconds: f64, noise: f64, stalls: f64) -> Self {
        Self { service_per_second: 20_000.0, limit_seconds, noise, stalls, random: SplitMix64::new(seed) }
    }

    fn capacity(&self) -> f64 {
        self.service_per_second - 100_f64.ln() / self.limit_seconds
    }

    fn uniform(&mut self) -> f64 {
        (self.random.draw() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A standard normal number (Box and Muller, Annals of Mathematical Statistics 29(2), 1958).
    fn normal(&mut self) -> f64 {
        let (a, b) = (1.0 - self.uniform(), self.uniform());
        (-2.0 * a.ln()).sqrt() * (std::f64::consts::TAU * b).cos()
    }

    fn keeps_limit(&mut self, rate: f64) -> bool {
        let (noise, stall) = (self.noise * self.normal(), self.uniform());
        let free = self.service_per_second - rate;
        free > 0.0 && stall >= self.stalls && (100_f64.ln() / free).ln() + noise <= self.limit_seconds.ln()
    }

    /// Searches until the interval is narrow or `probes_max` probes have been made.
    fn search(&mut self, within: f64, probes_max: usize) -> CapacitySearch {
        let mut search = CapacitySearch::new(self.service_per_second / 4.0, within);
        for _ in 0..probes_max {
            let Some(rate) = search.next_rate() else { break };
            let kept = self.keeps_limit(rate);
            search.note(rate, kept);
        }
        search
    }
}

/// Results of 200 searches: how many intervals contain the capacity, how many are narrow, and the mean number of
/// probes.
fn of_200(limit_seconds: f64, noise: f64, stalls: f64) -> (usize, usize, f64) {
    let (mut hold, mut narrow, mut probes) = (0, 0, 0);
    for seed in 0..200 {
        let mut queue = Queue::new(seed, limit_seconds, noise, stalls);
        let search = queue.search(0.05, 60);
        let found = search.estimate().expect("a rate that keeps the limit and one that does not");
        hold += usize::from((found.interval.low..=found.interval.high).contains(&queue.capacity()));
        narrow += usize::from(found.is_narrow);
        probes += search.probes.len();
    }
    (hold, narrow, probes as f64 / 200.0)
}

/// Checks the counts of [`of_200`] with occasional stalls, and with noise that makes probes near the capacity both keep
/// and violate the limit.
#[test]
fn the_interval_holds_the_capacity() {
    let (hold, narrow, probes) = of_200(0.005, 0.3, 0.02);
    assert!(hold >= 180 && narrow >= 190 && probes < 30.0, "{hold} {narrow} {probes}");
}

#[test]
fn an_interval_that_noise_keeps_wide_holds_the_capacity_too() {
    let (hold, narrow, _) = of_200(0.001, 0.3, 0.02);
    assert!(hold >= 175 && narrow < 150, "{hold} {narrow}");
}

#[test]
fn without_noise_the_search_is_a_bisection() {
    let mut queue = Queue::new(1, 0.005, 0.0, 0.0);
    let search = queue.search(0.05, 60);
    let found = search.estimate().expect("an estimate");
    assert!((found.rate / queue.capacity() - 1.0).abs() < 0.02 && found.is_narrow, "{found:?}");
    let first: Vec<f64> = search.probes.iter().map(|probe| probe.0).take(4).collect();
    assert_eq!(first[..3], [5_000.0, 10_000.0, 20_000.0], "rates double until one violates the limit");
    assert!((10_000.0..20_000.0).contains(&first[3]), "{first:?}");
}

/// Continues a search after the given probes, and checks that these probes have not misled the search.
fn assert_not_misled(probes: &[(f64, bool)]) {
    let mut queue = Queue::new(3, 0.005, 0.05, 0.0);
    let mut search = CapacitySearch::new(5_000.0, 0.05);
    for (rate, kept) in probes {
        search.note(*rate, *kept);
    }
    while let Some(rate) = search.next_rate() {
        let kept = queue.keeps_limit(rate);
        search.note(rate, kept);
    }
    let found = search.estimate().expect("an estimate");
    assert!((found.rate / queue.capacity() - 1.0).abs() < 0.05, "{found:?}");
}

#[test]
fn a_stall_does_not_mislead_the_search() {
    assert_not_misled(&[(5_000.0, true), (10_000.0, false)]);
    assert_not_misled(&[(5_000.0, false), (1_250.0, true)]);
}

#[test]
fn a_limit_that_no_rate_keeps_ends_the_search_at_one_event_a_second() {
    let mut search = CapacitySearch::new(100.0, 0.05);
    let mut rates = Vec::new();
    while let Some(rate) = search.next_rate() {
        rates.push(rate);
        search.note(rate, false);
    }
    assert_eq!(rates, [100.0, 25.0, 6.25, 1.5625, 1.0]);
    assert_eq!(search.estimate(), None);
}

#[test]
fn a_search_that_is_cut_short_has_the_interval_so_far() {
    let mut queue = Queue::new(5, 0.005, 0.3, 0.0);
    let search = queue.search(0.05, 7);
    let found = search.estimate().expect("an estimate");
    assert!(!found.is_narrow && found.interval.low < found.rate && found.rate < found.interval.high);
}
