//! Computes the figures of one event in one trial from the times at which transactions ended.

use std::collections::BTreeMap;

use dyno_store::{EventOutcome, SecondRate, StepEventRecord, Timeline, TrialRecord};

use super::EventQuantity;

/// The level of the throughput before an event is the mean over the last seconds before the event. The first number is
/// the longest time that is used, in seconds, and the second is the shortest that is enough.
const BEFORE_SECONDS: (f64, f64) = (10.0, 0.5);
/// Lowest throughput before an event, in transactions per second, for which a dip is computed. At a lower throughput, a
/// single second can be far below the level by chance.
const LEVEL_MIN: f64 = 20.0;
/// Length of the window over which a rate is computed. The window moves in steps of `STEP_SECONDS`.
const WINDOW_SECONDS: f64 = 1.0;
const STEP_SECONDS: f64 = 0.1;
/// The throughput has recovered when it reaches this share of its level before the event.
const RECOVERED_SHARE: f64 = 0.95;
/// Shorter times without finished transactions do not count as outages.
const OUTAGE_SECONDS_MIN: f64 = 0.1;
/// A gap without finished transactions may also be chance. It counts as an outage only if the number of equally long
/// gaps that are expected by chance is at most this value. Stalls use the same limit.
const CHANCE_MAX: f64 = 0.001;

/// Computes the figures of the event with this number; `None` if the event did not begin. `course` has the figures of
/// each second that the trial measured.
pub(super) fn figures(
    trial: &TrialRecord,
    course: &[SecondRate],
    number: usize,
) -> Option<BTreeMap<EventQuantity, f64>> {
    let event = trial.step_events.get(number)?;
    let began = event.began_seconds?;
    let length: f64 = course.iter().map(|second| second.seconds).sum();
    let until = next_of(trial, event).unwrap_or(length).min(length);
    let mut found = BTreeMap::new();
    // A trial in which no transaction ended has no timeline.
    if let Some(ended) = trial.timeline.as_ref().map(|timeline| Ended::of(timeline, length)) {
        let level = level_before(trial, event, &ended);
        found.extend(level.map(|level| against_level(&ended, level, began, until)).unwrap_or_default());
    }
    let seconds = seconds_within(course, began, until);
    found.insert(EventQuantity::Failed, seconds.iter().map(|second| second.failed as f64).sum());
    if let Some(worst) = seconds.iter().filter_map(|second| second.p99_us).reduce(f64::max) {
        found.insert(EventQuantity::WorstP99Ms, worst / 1e3);
    }
    if let (EventOutcome::Done, Some(seconds)) = (event.outcome, event.seconds()) {
        found.insert(EventQuantity::DurationSeconds, seconds);
    }
    Some(found)
}

/// The figures that compare the throughput from `began` until `until` with `level`, the throughput before the event.
fn against_level(ended: &Ended, level: f64, began: f64, until: f64) -> BTreeMap<EventQuantity, f64> {
    let outage = outage(ended, level, began, until).map_or(0.0, |outage| outage.seconds);
    let mut found = BTreeMap::from([(EventQuantity::OutageSeconds, outage)]);
    if let Some(Dip { depth, recovered }) = Dip::find(ended, level, began, until) {
        found.insert(EventQuantity::Depth, depth);
        if let Some(recovered) = recovered {
            found.insert(EventQuantity::RecoverySeconds, recovered - began);
        }
        let to = recovered.unwrap_or(until);
        let due = level * (to - began);
        found.insert(EventQuantity::LostSeconds, ((due - ended.events(began, to)) / level).max(0.0));
    }
    found
}

/// Numbers of transactions that have ended since measuring began, by bin.
struct Ended {
    bin_seconds: f64,
    /// The number at the beginning of each bin, and at the end of the last bin.
    sums: Vec<u64>,
}

impl Ended {
    fn of(timeline: &Timeline, seconds: f64) -> Self {
        let bins = (seconds / timeline.bin_seconds).round() as usize;
        let of_bins = timeline.bins.iter().copied().chain(std::iter::repeat(0)).take(bins);
        let mut sum = 0;
        let after = of_bins.map(|events| {
            sum += u64::from(events);
            sum
        });
        let sums = std::iter::once(0).chain(after.collect::<Vec<_>>()).collect();
        Self { bin_seconds: timeline.bin_seconds, sums }
    }

    fn bin(&self, at_seconds: f64) -> usize {
        ((at_seconds / self.bin_seconds).round().max(0.0) as usize).min(self.sums.len() - 1)
    }

    /// Number of transactions that ended between two times.
    fn events(&self, from: f64, to: f64) -> f64 {
        (self.sums[self.bin(to)] - self.sums[self.bin(from).min(self.bin(to))]) as f64
    }

    /// Transactions per second between two times; `None` if the times are less than a bin apart.
    fn rate(&self, from: f64, to: f64) -> Option<f64> {
        let bins = self.bin(to).checked_sub(self.bin(from)).filter(|bins| *bins > 0)?;
        Some(self.events(from, to) / (bins as f64 * self.bin_seconds))
    }
}

/// The throughput from the end of the previous event, or from the start of the trial, until this event begins. Only the
/// last seconds of this time count ([`BEFORE_SECONDS`]). If the previous event ended too shortly before, the time
/// during and before it counts too. `None` if there was no throughput, or if the time is too short.
fn level_before(trial: &TrialRecord, event: &StepEventRecord, ended: &Ended) -> Option<f64> {
    let began = event.began_seconds?;
    let earlier = trial.step_events.iter().filter(|other| other.began_seconds.is_some_and(|at| at < began));
    let quiet = earlier.filter_map(|other| other.ended_seconds).filter(|at| *at < began).fold(0.0, f64::max);
    let (longest, shortest) = BEFORE_SECONDS;
    let from = if began - quiet < shortest { 0.0 } else { quiet };
    let from = from.max(began - longest);
    (began - from >= shortest).then(|| ended.rate(from, began)).flatten().filter(|level| *level > 0.0)
}

/// When the next event began; `None` for the last event.
fn next_of(trial: &TrialRecord, event: &StepEventRecord) -> Option<f64> {
    let began = event.began_seconds?;
    trial.step_events.iter().filter_map(|other| other.began_seconds).filter(|at| *at > began).reduce(f64::min)
}

/// The dip of the throughput that an event causes.
struct Dip {
    /// The part of the level that is missing in the worst second, as a share of the level.
    depth: f64,
    /// When the rate had recovered: the start of the first second after the worst one in which the rate reaches
    /// [`RECOVERED_SHARE`] of its level again. The event's start if no second is below this share. `None` if no later
    /// second reaches the share.
    recovered: Option<f64>,
}

impl Dip {
    /// The dip between two times. `None` if they are less than a second apart, or if the level is below
    /// [`LEVEL_MIN`].
    fn find(ended: &Ended, level: f64, began: f64, until: f64) -> Option<Self> {
        let steps = ((until - began - WINDOW_SECONDS) / STEP_SECONDS + 1e-9).floor();
        if steps < 0.0 || level < LEVEL_MIN {
            return None;
        }
        let rate = |step: usize| {
            let from = began + step as f64 * STEP_SECONDS;
            Some((from, ended.rate(from, from + WINDOW_SECONDS)?))
        };
        let rates: Vec<(f64, f64)> = (0..=steps as usize).filter_map(rate).collect();
        let (worst_at, worst) = rates.iter().copied().min_by(|a, b| a.1.total_cmp(&b.1))?;
        let is_enough = |rate: f64| rate >= RECOVERED_SHARE * level;
        let recovered = if is_enough(worst) {
            Some(began)
        } else {
            rates.iter().find(|(at, rate)| *at > worst_at && is_enough(*rate)).map(|(at, _)| *at)
        };
        Some(Self { depth: (1.0 - worst / level).max(0.0), recovered })
    }
}

/// A time without finished transactions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outage {
    /// Start of the outage, since the measurement began.
    pub began_seconds: f64,
    pub seconds: f64,
}

/// The longest outage between two times of a trial that usually finishes `level` transactions per second.
pub fn longest_outage(timeline: &Timeline, level: f64, from: f64, until: f64) -> Option<Outage> {
    outage(&Ended::of(timeline, until), level, from, until)
}

/// The longest time without finished transactions between two moments. `None` if chance explains it. The expected
/// number of gaps longer than L, among n independent gaps at a rate λ, is n·exp(−λL).
fn outage(ended: &Ended, level: f64, from: f64, until: f64) -> Option<Outage> {
    let (mut longest, mut current) = (0..0, 0..0);
    for bin in ended.bin(from)..ended.bin(until) {
        let is_empty = ended.sums[bin + 1] == ended.sums[bin];
        let begins = if is_empty { current.start } else { bin + 1 };
        current = begins.max(ended.bin(from))..bin + 1;
        if current.len() > longest.len() {
            longest = current.clone();
        }
    }
    let seconds = longest.len() as f64 * ended.bin_seconds;
    let expected = (level * (until - from)).max(1.0);
    let limit = ((expected / CHANCE_MAX).ln() / level).max(OUTAGE_SECONDS_MIN);
    let began_seconds = longest.start as f64 * ended.bin_seconds;
    (seconds >= limit).then_some(Outage { began_seconds, seconds })
}

/// The seconds that overlap with an interval of time.
fn seconds_within(course: &[SecondRate], from: f64, to: f64) -> Vec<SecondRate> {
    let mut begins = 0.0;
    let mut within = Vec::new();
    for second in course {
        let ends = begins + second.seconds;
        if ends > from && begins < to {
            within.push(*second);
        }
        begins = ends;
    }
    within
}
