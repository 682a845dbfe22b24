//! Replays of a server's traffic: the figures of each digest (a kind of statement) on each system, and verdicts on the
//! latencies of digests.
//!
//! The verdicts are corrected for the number of digests: all digests of a run on all candidates are one family. The
//! tests of throughput are another family.

use std::collections::{BTreeMap, BTreeSet};

use dyno_stats::{
    Better, Interval, Method, RatioEstimate, SharedTest, Verdict, max_t, median, ratio_of_rounds, verdict,
};
use dyno_store::{Correction, DigestRecord, LatencyCounts, ReplayRecord, Run, StepRecord, Trial};
use serde::Serialize;

use crate::compare::comparison::Finding;
use crate::compare::noise;
use crate::compare::rule::{ROUNDS_WITH_VERDICT_MIN, Rule};
use crate::trial::evidence::Evidence;
use crate::trial::of_run::{pairs, tests};

/// Seed of the random sign reversals, which are used if there are too many rounds to try all reversals. It is
/// fixed, so that the same results always have the same verdicts.
const SEED: u64 = 43;

/// Errors that depend on which statements of several sessions happen to coincide: MySQL's deadlocks and lock waits,
/// and PostgreSQL's deadlocks, serialization failures and cancelled waits. A candidate does not count as failed
/// because of them.
const BY_CHANCE: [&str; 7] = ["1020", "1205", "1213", "3572", "40001", "40P01", "55P03"];

/// A step that replays traffic, at a number of sessions.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReplayedTest {
    pub step: String,
    pub clients: u32,
    /// The systems that replayed the traffic, in the plan's order.
    pub systems: Vec<ReplayedSystem>,
    /// The digests. Those that took the most time on the base come first.
    pub digests: Vec<DigestTest>,
}

/// Totals of a system over all rounds in which it replayed the traffic.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ReplayedSystem {
    pub system: String,
    pub rounds: usize,
    pub statements: u64,
    pub errors: u64,
    pub sessions: u64,
    /// Sessions whose connection the server refused.
    pub sessions_refused: u64,
    /// Sessions whose connection the server closed before the end of the session.
    pub sessions_lost: u64,
    /// Statements that were sent although an earlier commit, which should have preceded them, had not ended.
    pub out_of_order: u64,
    /// Statements that were not sent, by reason.
    pub not_sent: BTreeMap<String, u64>,
    /// How late the client itself sent statements, in µs: the largest of the rounds' 99th percentiles. `None` if the
    /// replay had no pace, because statements then have no time at which they are due.
    pub late_p99_us: Option<f64>,
    /// The time of all statements as a multiple of the base's time. Only digests that both systems executed count,
    /// and each counts as often as the base executed it. `None` for the base.
    pub time_against_base: Option<DigestRatio>,
}

/// A digest of the traffic.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DigestTest {
    /// The hash of the digest's text.
    pub digest: String,
    pub statement: String,
    pub kind: String,
    /// Share of the time of all statements on the base. `None` if the base did not replay the traffic.
    pub time_share: Option<f64>,
    /// The figures of the digest on each system, in the order of [`ReplayedTest::systems`].
    pub systems: Vec<DigestFigures>,
}

/// A digest on a system.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct DigestFigures {
    pub system: String,
    /// Number of statements in all rounds, including failed ones.
    pub statements: u64,
    pub rows: u64,
    /// Rows that the server reads for one example of the digest; `None` if they were not counted.
    pub rows_examined: Option<u64>,
    /// Errors by code.
    pub error_codes: BTreeMap<String, u64>,
    /// Whether the answers are the base's; `None` for the base, and if answers were not read.
    pub answers: Option<Answers>,
    /// Latency from the time at which a statement was sent: the median over rounds of the mean of each round. `None` if
    /// all statements failed.
    pub mean_us: Option<f64>,
    /// The 99th percentile of the latency in all rounds together.
    pub p99_us: Option<f64>,
    /// The mean latency as a multiple of the base's. `None` for the base and its controls. Also `None` if no round has
    /// a latency of both systems, unless the digest fails.
    pub against_base: Option<DigestRatio>,
}

/// How the answers of a digest compare with the base's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Answers {
    /// The answers of both systems are the same in every round.
    Same,
    /// The base gives the same answers in every round. The candidate gives other answers, which are also the same in
    /// every round.
    Differ,
    /// The answers of one system vary between rounds, or the answers differ but there is only one round, or the two
    /// systems have different numbers of statements or errors.
    NotDetermined,
}

/// The mean latency of a digest as a multiple of the base's.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct DigestRatio {
    /// `None` if no round has a latency of both systems.
    pub ratio: Option<f64>,
    /// Confidence interval of the true ratio, for this digest alone.
    pub interval: Option<Interval>,
    pub method: Method,
    pub rounds: usize,
    /// The p-value, adjusted for all digests together; `None` if there are too few rounds.
    pub p_adjusted: Option<f64>,
    /// The verdict. It is [`Finding::Failed`] if the digest fails with an error that the base does not have and
    /// that does not depend on chance.
    pub finding: Finding,
}

/// The replays of a run, in run order.
pub(crate) fn replays(evidence: &Evidence<'_>, base: &str, rule: &Rule) -> Vec<ReplayedTest> {
    let mut found: Vec<ReplayedTest> = Vec::new();
    let mut ratios: Vec<RatioOf> = Vec::new();
    for (step, clients) in tests(evidence.run) {
        let Some(test) = Test::of(evidence, step, clients, base) else { continue };
        let at = found.len();
        found.push(test.replayed(rule));
        ratios.extend(test.ratios(at, &found[at], rule));
    }
    judge(&mut ratios, rule);
    for RatioOf { place: (test, digest, system), finding, .. } in ratios {
        found[test].digests[digest].systems[system].against_base = finding;
    }
    found
}

/// The trials of a test, by system.
struct Test<'a> {
    run: &'a Run,
    step: &'a StepRecord,
    clients: u32,
    base: &'a str,
    systems: Vec<OfSystem<'a>>,
}

/// The trials of a system in a test.
struct OfSystem<'a> {
    id: &'a str,
    /// The completed trials whose times count. Disturbed trials are not among them.
    trials: &'a [&'a Trial],
    /// All completed trials, including disturbed ones. Their errors and answers count.
    made: &'a [&'a Trial],
}

impl<'a> OfSystem<'a> {
    /// The trials for figures of time. If all trials were disturbed, the disturbed trials are used, because their
    /// figures are better than none.
    fn timed(&self) -> &'a [&'a Trial] {
        if self.trials.is_empty() { self.made } else { self.trials }
    }
}

/// The log ratio of a candidate's latency to the base's latency for one digest, by round.
struct RatioOf {
    /// The indices of the test, the digest and the system.
    place: (usize, usize, usize),
    rounds: Vec<(u32, f64)>,
    /// Whether the digest fails with an error that the base does not have.
    fails: bool,
    finding: Option<DigestRatio>,
}

impl<'a> Test<'a> {
    /// The trials of a test; `None` if no traffic was replayed in the test.
    fn of(evidence: &'a Evidence<'a>, step: &'a StepRecord, clients: u32, base: &'a str) -> Option<Self> {
        let of_system = |id: &'a str| {
            let trials = evidence.trials.completed(&step.id, clients, id);
            let made = evidence.trials.made(&step.id, clients, id);
            made.iter().any(|trial| trial.record.replay.is_some()).then_some(OfSystem { id, trials, made })
        };
        let systems: Vec<_> =
            evidence.run.systems.iter().filter_map(|system| of_system(&system.id)).collect();
        (!systems.is_empty()).then_some(Self { run: evidence.run, step, clients, base, systems })
    }

    fn replayed(&self, rule: &Rule) -> ReplayedTest {
        let mut names: BTreeMap<&str, &DigestRecord> = BTreeMap::new();
        for digest in self.systems.iter().flat_map(|it| it.made).flat_map(|trial| &trial.record.replayed) {
            names.entry(&digest.digest).or_insert(digest);
        }
        let mut times_ns: BTreeMap<&str, f64> = BTreeMap::new();
        let base = self.base().into_iter().flat_map(OfSystem::timed);
        for digest in base.flat_map(|trial| &trial.record.replayed) {
            *times_ns.entry(&digest.digest).or_default() += sum_ns(digest);
        }
        let total_ns: f64 = times_ns.values().sum();
        let mut digests: Vec<DigestTest> = names
            .into_values()
            .map(|name| DigestTest {
                digest: name.digest.clone(),
                statement: name.statement.clone(),
                kind: name.kind.clone(),
                time_share: (total_ns > 0.0)
                    .then(|| times_ns.get(name.digest.as_str()).copied().unwrap_or_default() / total_ns),
                systems: self.systems.iter().map(|it| figures(it, &name.digest)).collect(),
            })
            .collect();
        let share = |digest: &DigestTest| digest.time_share.unwrap_or(0.0);
        digests.sort_by(|a, b| share(b).total_cmp(&share(a)).then_with(|| a.digest.cmp(&b.digest)));
        self.compare_answers(&mut digests);
        let of_system = |it: &OfSystem<'_>| ReplayedSystem {
            time_against_base: self.time_ratio(it, rule),
            ..of_system(it.id, it.made)
        };
        let systems = self.systems.iter().map(of_system).collect();
        ReplayedTest { step: self.step.id.clone(), clients: self.clients, systems, digests }
    }

    fn base(&self) -> Option<&OfSystem<'a>> {
        self.systems.iter().find(|it| it.id == self.base)
    }

    /// Compares the answers of all candidates with the base's answers.
    fn compare_answers(&self, digests: &mut [DigestTest]) {
        let Some(base) = self.base() else { return };
        for digest in digests {
            let of_base = Answered::of(base.made, &digest.digest);
            for (system, figures) in self.systems.iter().zip(&mut digest.systems) {
                let own = Answered::of(system.made, &digest.digest).filter(|_| system.id != self.base);
                figures.answers = of_base.as_ref().zip(own).map(|(base, own)| own.compared(base));
            }
        }
    }

    /// The time of all statements of a candidate as a multiple of the base's time.
    fn time_ratio(&self, system: &OfSystem<'_>, rule: &Rule) -> Option<DigestRatio> {
        let base = self.base().filter(|base| base.id != system.id)?;
        let ln_ratios: Vec<f64> = pairs(base.trials, system.trials)
            .map(|(base, own)| {
                let both = base.record.replayed.iter().filter_map(|digest| {
                    let of_base = mean_us(digest)?;
                    let of_own = mean_us(find(own, &digest.digest)?)?;
                    let times = digest.statements as f64;
                    Some((times * of_own, times * of_base))
                });
                let (own, base) = both.fold((0.0, 0.0), |sum, part| (sum.0 + part.0, sum.1 + part.1));
                (own / base).ln()
            })
            .filter(|ln_ratio| ln_ratio.is_finite())
            .collect();
        let estimate = ratio_of_rounds(&ln_ratios, rule.margin, rule.confidence())?;
        let has_enough = ln_ratios.len() >= ROUNDS_WITH_VERDICT_MIN;
        let interval = estimate.interval.filter(|_| has_enough);
        let found = match verdict(interval, rule.margin, Better::Lower) {
            Verdict::Regressed => Finding::Regressed,
            Verdict::Improved => Finding::Improved,
            Verdict::Same => Finding::Same,
            Verdict::NotEnoughEvidence => Finding::NotEnoughEvidence,
        };
        Some(DigestRatio {
            ratio: Some(estimate.ratio),
            interval: estimate.interval,
            method: estimate.method,
            rounds: ln_ratios.len(),
            p_adjusted: None,
            finding: found,
        })
    }

    /// For each digest and each candidate, returns the ratio of the candidate's latency to the base's, in the rounds in
    /// which both have a latency.
    fn ratios(&self, test: usize, replayed: &ReplayedTest, rule: &Rule) -> Vec<RatioOf> {
        let Some(base) = self.base() else { return Vec::new() };
        let is_control =
            |system: &str| noise::controls(self.run, rule).any(|pair| pair == (system, self.base));
        let mut ratios = Vec::new();
        for (system, OfSystem { id, trials, .. }) in self.systems.iter().enumerate() {
            if *id == self.base || is_control(id) {
                continue;
            }
            for (digest, name) in replayed.digests.iter().enumerate() {
                let ratio = |(base, own): (&Trial, &Trial)| {
                    let mean = |trial: &Trial| mean_us(find(trial, &name.digest)?);
                    Some((own.record.round, (mean(own)? / mean(base)?).ln()))
                };
                let rounds: Vec<(u32, f64)> = pairs(base.trials, trials)
                    .filter_map(ratio)
                    .filter(|(_, ln_ratio)| ln_ratio.is_finite())
                    .collect();
                let fails = fails(&name.systems, system, self.base);
                ratios.push(RatioOf { place: (test, digest, system), rounds, fails, finding: None });
            }
        }
        ratios
    }
}

/// The answers of a digest on a system.
struct Answered {
    /// For each round, the hash of the answers, the number of statements and the number of errors.
    rounds: Vec<(u64, u64, u64)>,
}

impl Answered {
    /// The answers of a digest; `None` if answers were not read.
    fn of(trials: &[&Trial], digest: &str) -> Option<Self> {
        let of_round = |record: &DigestRecord| Some((record.answers?, record.statements, record.errors()));
        let rounds: Vec<_> = trials.iter().filter_map(|trial| of_round(find(trial, digest)?)).collect();
        (!rounds.is_empty()).then_some(Self { rounds })
    }

    /// The answers of all rounds, if they are equal; `None` otherwise.
    fn determined(&self) -> Option<(u64, u64, u64)> {
        let first = *self.rounds.first()?;
        self.rounds.iter().all(|round| *round == first).then_some(first)
    }

    fn compared(&self, base: &Self) -> Answers {
        match (self.determined(), base.determined()) {
            (Some(own), Some(base)) if own == base => Answers::Same,
            (Some((_, statements, errors)), Some((_, of_base, errors_of_base)))
                if self.rounds.len() > 1
                    && base.rounds.len() > 1
                    && (statements, errors) == (of_base, errors_of_base) =>
            {
                Answers::Differ
            }
            _ => Answers::NotDetermined,
        }
    }
}

/// Whether a digest fails on a system with an error that the base does not have.
fn fails(systems: &[DigestFigures], candidate: usize, base: &str) -> bool {
    let of_base = systems.iter().find(|figures| figures.system == base);
    let is_known = |code: &String| of_base.is_some_and(|base| base.error_codes.contains_key(code));
    let mut codes = systems[candidate].error_codes.keys();
    codes.any(|code| !is_known(code) && !BY_CHANCE.contains(&code.as_str()))
}

/// Sets the finding of each ratio. All ratios are one family.
fn judge(ratios: &mut [RatioOf], rule: &Rule) {
    let estimates: Vec<Option<RatioEstimate>> = ratios
        .iter()
        .map(|of| {
            let values: Vec<f64> = of.rounds.iter().map(|(_, ln_ratio)| *ln_ratio).collect();
            ratio_of_rounds(&values, rule.margin, rule.confidence())
        })
        .collect();
    let adjusted = adjusted(ratios, &estimates, rule);
    for ((of, estimate), p) in ratios.iter_mut().zip(estimates).zip(adjusted) {
        let found = match &estimate {
            _ if of.fails => Finding::Failed,
            Some(estimate) => finding(estimate, p, rule),
            None => continue,
        };
        of.finding = Some(DigestRatio {
            ratio: estimate.map(|estimate| estimate.ratio),
            interval: estimate.and_then(|estimate| estimate.interval),
            method: estimate.map_or(Method::None, |estimate| estimate.method),
            rounds: of.rounds.len(),
            p_adjusted: p,
            finding: found,
        });
    }
}

fn finding(estimate: &RatioEstimate, p_adjusted: Option<f64>, rule: &Rule) -> Finding {
    match p_adjusted {
        Some(p) if p <= rule.alpha && estimate.p_above < estimate.p_below => Finding::Regressed,
        Some(p) if p <= rule.alpha => Finding::Improved,
        Some(_) if verdict(estimate.interval, rule.margin, Better::Lower) == Verdict::Same => Finding::Same,
        _ => Finding::NotEnoughEvidence,
    }
}

/// For each digest of each candidate, the adjusted p-value; `None` if the digest has too few rounds.
fn adjusted(ratios: &[RatioOf], estimates: &[Option<RatioEstimate>], rule: &Rule) -> Vec<Option<f64>> {
    let has_enough = |of: &RatioOf| of.rounds.len() >= ROUNDS_WITH_VERDICT_MIN;
    if rule.correction() == Correction::MaxT {
        let rounds: BTreeSet<u32> =
            ratios.iter().flat_map(|of| &of.rounds).map(|(round, _)| *round).collect();
        let shared = |of: &RatioOf| {
            let own: BTreeMap<u32, f64> =
                if has_enough(of) { of.rounds.iter().copied().collect() } else { BTreeMap::new() };
            let ln_ratios = rounds.iter().map(|round| own.get(round).copied()).collect();
            SharedTest { ln_ratios, margin: rule.margin }
        };
        let tests: Vec<SharedTest> = ratios.iter().map(shared).collect();
        let p = max_t(&tests, rounds.len(), SEED);
        return ratios.iter().zip(p).map(|(of, p)| has_enough(of).then_some(rule.over_looks(p))).collect();
    }
    let judged = || ratios.iter().zip(estimates).filter(|(of, _)| has_enough(of));
    let p: Vec<f64> = judged().filter_map(|(_, estimate)| Some(estimate.as_ref()?.p())).collect();
    let mut adjusted = rule.adjust_over_looks(&p).into_iter();
    let of = |(of, estimate): (&RatioOf, &Option<RatioEstimate>)| {
        (has_enough(of) && estimate.is_some()).then(|| adjusted.next()).flatten()
    };
    ratios.iter().zip(estimates).map(of).collect()
}

fn of_system(system: &str, trials: &[&Trial]) -> ReplayedSystem {
    let mut sum = ReplayedSystem { system: system.to_owned(), ..ReplayedSystem::default() };
    for record in trials.iter().map(|trial| &trial.record) {
        let Some(replay) = &record.replay else { continue };
        let ReplayRecord { sessions, sessions_refused, sessions_lost, out_of_order, not_sent, late } = replay;
        sum.rounds += 1;
        sum.statements += record.replayed.iter().map(|digest| digest.statements).sum::<u64>();
        sum.errors += record.replayed.iter().map(DigestRecord::errors).sum::<u64>();
        sum.sessions += sessions;
        sum.sessions_refused += sessions_refused;
        sum.sessions_lost += sessions_lost;
        sum.out_of_order += out_of_order;
        for (why, statements) in not_sent {
            *sum.not_sent.entry(why.clone()).or_default() += statements;
        }
        let late_us = late.map(|late| late.p99_us);
        sum.late_p99_us = [sum.late_p99_us, late_us].into_iter().flatten().reduce(f64::max);
    }
    sum
}

fn figures(of: &OfSystem<'_>, digest: &str) -> DigestFigures {
    let mut found = DigestFigures { system: of.id.to_owned(), ..DigestFigures::default() };
    for record in of.made.iter().filter_map(|trial| find(trial, digest)) {
        found.statements += record.statements;
        found.rows += record.rows;
        found.rows_examined = found.rows_examined.or(record.rows_examined);
        for (code, errors) in &record.error_codes {
            *found.error_codes.entry(code.clone()).or_default() += errors;
        }
    }
    let (mut means_us, mut counts) = (Vec::new(), LatencyCounts::default());
    for record in of.timed().iter().filter_map(|trial| find(trial, digest)) {
        means_us.extend(mean_us(record));
        if let Some(own) = LatencyCounts::of(&record.latency) {
            counts.add(&own);
        }
    }
    found.mean_us = median(&means_us);
    found.p99_us = (counts.events() > 0).then(|| counts.quantile_us(0.99));
    found
}

fn find<'a>(trial: &'a Trial, digest: &str) -> Option<&'a DigestRecord> {
    let digests = &trial.record.replayed;
    digests.binary_search_by(|known| known.digest.as_str().cmp(digest)).ok().map(|at| &digests[at])
}

fn sum_ns(digest: &DigestRecord) -> f64 {
    digest.latency.exact.map_or(0.0, |exact| exact.sum_ns as f64)
}

/// Mean latency of the statements without an error; `None` if all statements failed.
fn mean_us(digest: &DigestRecord) -> Option<f64> {
    let executed = digest.statements.saturating_sub(digest.errors());
    (executed > 0).then(|| sum_ns(digest) / executed as f64 / 1e3).filter(|mean| *mean > 0.0)
}

#[cfg(test)]
mod tests;
