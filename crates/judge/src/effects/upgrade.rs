//! Whether an upgrade is safe for the traffic that was replayed on both versions.

use dyno_stats::{Better, Margin, rules_out_regression};
use serde::Serialize;

use super::replays::{Answers, DigestFigures, DigestRatio, DigestTest, ReplayedTest};
use crate::compare::comparison::Finding;
use crate::compare::rule::ROUNDS_WITH_VERDICT_MIN;

/// Whether an upgrade is safe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Safety {
    /// No digest is slower, fails or answers differently, and the traffic as a whole is not slower.
    Safe,
    /// A digest is slower, fails or answers differently, more sessions are refused or lost, or the traffic as a
    /// whole is slower.
    NotSafe,
    /// Nothing became worse, but the time of the whole traffic is not known precisely enough.
    NotDecided,
}

/// The effects of an upgrade on the digests of the replayed traffic.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct UpgradeFound {
    pub safety: Safety,
    /// Number of digests.
    pub digests: usize,
    /// The digests that are slower. Those that add the most time come first.
    pub slower: DigestSet,
    /// The digests with an error that the version before the upgrade never has.
    pub failed: DigestSet,
    /// The digests that return other rows than before the upgrade.
    pub answers_otherwise: DigestSet,
    pub faster: DigestSet,
    /// The digests whose time is the same within the margin.
    pub same: DigestSet,
    /// The digests for whose time there is no verdict.
    pub not_decided: DigestSet,
    /// Number of digests whose answers are the same.
    pub answers_same: usize,
    /// Number of digests whose answers cannot be compared ([`Answers::NotDetermined`]).
    pub answers_not_determined: usize,
    pub losses: SessionLosses,
    /// The time of the whole traffic as a multiple of the time before the upgrade.
    pub time: Option<DigestRatio>,
}

/// Some digests of a replay.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct DigestSet {
    /// Indices of the digests in [`ReplayedTest::digests`]. Digests that change the time of the traffic most come
    /// first.
    pub digests: Vec<usize>,
    /// The digests' share of the time of all statements before the upgrade.
    pub time_share: f64,
}

/// How many more sessions the server refused or lost after the upgrade than before the upgrade, in all rounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SessionLosses {
    pub refused: u64,
    pub lost: u64,
}

/// The effects of an upgrade from the system `from` to the system `to`. `None` if one of them did not replay the
/// traffic.
pub fn upgrade_found(test: &ReplayedTest, from: &str, to: &str, margin: Margin) -> Option<UpgradeFound> {
    let position = |id: &str| test.systems.iter().position(|system| system.system == id);
    let (before, after) = (position(from)?, position(to)?);
    let set = |is_it: &dyn Fn(&DigestFigures) -> bool| DigestSet::of(test, after, is_it);
    let of = |wanted: Finding| {
        set(&move |figures| figures.against_base.is_some_and(|ratio| ratio.finding == wanted))
    };
    let count = |wanted: Answers| {
        test.digests.iter().filter(|digest| digest.systems[after].answers == Some(wanted)).count()
    };
    let (old, new) = (&test.systems[before], &test.systems[after]);
    let losses = SessionLosses {
        refused: new.sessions_refused.saturating_sub(old.sessions_refused),
        lost: new.sessions_lost.saturating_sub(old.sessions_lost),
    };
    let mut found = UpgradeFound {
        safety: Safety::NotDecided,
        digests: test.digests.len(),
        slower: of(Finding::Regressed),
        failed: of(Finding::Failed),
        answers_otherwise: set(&|figures| figures.answers == Some(Answers::Differ)),
        faster: of(Finding::Improved),
        same: of(Finding::Same),
        not_decided: set(&|figures| {
            figures.against_base.is_none_or(|ratio| ratio.finding == Finding::NotEnoughEvidence)
        }),
        answers_same: count(Answers::Same),
        answers_not_determined: count(Answers::NotDetermined),
        losses,
        time: new.time_against_base,
    };
    found.safety = found.judged(margin);
    Some(found)
}

impl UpgradeFound {
    fn judged(&self, margin: Margin) -> Safety {
        let sets = [&self.slower, &self.failed, &self.answers_otherwise];
        let does_harm = sets.iter().any(|set| !set.digests.is_empty())
            || self.losses != SessionLosses::default()
            || self.time.is_some_and(|time| time.finding == Finding::Regressed);
        let is_not_slower = self.time.is_some_and(|time| {
            time.rounds >= ROUNDS_WITH_VERDICT_MIN
                && rules_out_regression(time.interval, margin, Better::Lower)
        });
        match (does_harm, is_not_slower) {
            (true, _) => Safety::NotSafe,
            (false, true) => Safety::Safe,
            (false, false) => Safety::NotDecided,
        }
    }
}

impl DigestSet {
    fn of(test: &ReplayedTest, system: usize, is_it: &dyn Fn(&DigestFigures) -> bool) -> Self {
        let mut digests: Vec<usize> =
            (0..test.digests.len()).filter(|at| is_it(&test.digests[*at].systems[system])).collect();
        let cost = |at: &usize| cost(&test.digests[*at], system);
        digests.sort_by(|a, b| cost(b).total_cmp(&cost(a)).then(a.cmp(b)));
        let share = |at: &usize| test.digests[*at].time_share.unwrap_or(0.0);
        let time_share = digests.iter().map(share).sum();
        Self { digests, time_share }
    }
}

/// How much a digest changes the time of the traffic, as a share of that time.
fn cost(digest: &DigestTest, system: usize) -> f64 {
    let ratio = digest.systems[system].against_base.and_then(|ratio| ratio.ratio).unwrap_or(1.0);
    let share = digest.time_share.unwrap_or(0.0);
    // The small second term orders digests of equal cost by their share of the time.
    share * (ratio - 1.0).abs() + share * 1e-9
}

#[cfg(test)]
mod tests {
    use dyno_stats::{Interval, Method};

    use super::super::replays::ReplayedSystem;
    use super::*;

    fn ratio(ratio: f64, finding: Finding) -> DigestRatio {
        let interval = Interval { low: ratio * 0.99, high: ratio * 1.01, confidence: 0.95 };
        DigestRatio {
            ratio: Some(ratio),
            interval: Some(interval),
            method: Method::Exact,
            rounds: 8,
            p_adjusted: None,
            finding,
        }
    }

    fn digest(share: f64, found: DigestRatio, answers: Option<Answers>) -> DigestTest {
        let of = |system: &str, against_base, answers| DigestFigures {
            system: system.to_owned(),
            against_base,
            answers,
            ..DigestFigures::default()
        };
        DigestTest {
            digest: String::new(),
            statement: String::new(),
            kind: "read".to_owned(),
            time_share: Some(share),
            systems: vec![of("old", None, None), of("new", Some(found), answers)],
        }
    }

    fn found(digests: Vec<DigestTest>, time: Option<DigestRatio>, lost: u64) -> UpgradeFound {
        let system = |name: &str, time_against_base, sessions_lost| ReplayedSystem {
            system: name.to_owned(),
            time_against_base,
            sessions_lost,
            ..ReplayedSystem::default()
        };
        let systems = vec![system("old", None, 1), system("new", time, 1 + lost)];
        let test = ReplayedTest { step: "traffic".to_owned(), clients: 1, systems, digests };
        upgrade_found(&test, "old", "new", Margin::new(0.1).unwrap()).unwrap()
    }

    #[test]
    fn an_upgrade_is_safe_if_nothing_is_worse_and_the_whole_is_known() {
        let same = || vec![digest(1.0, ratio(1.0, Finding::Same), Some(Answers::Same))];
        let all = Some(ratio(1.05, Finding::NotEnoughEvidence));
        assert_eq!(found(same(), all, 0).safety, Safety::Safe, "slower by less than the margin");
        assert_eq!(found(same(), None, 0).safety, Safety::NotDecided);
        let few = DigestRatio { rounds: 5, ..ratio(1.0, Finding::NotEnoughEvidence) };
        assert_eq!(found(same(), Some(few), 0).safety, Safety::NotDecided);
        let wide = Some(ratio(1.095, Finding::NotEnoughEvidence));
        assert_eq!(
            found(same(), wide, 0).safety,
            Safety::NotDecided,
            "the interval reaches beyond the margin"
        );
        assert_eq!(found(same(), Some(ratio(1.3, Finding::Regressed)), 0).safety, Safety::NotSafe);
        assert_eq!(found(same(), all, 2).safety, Safety::NotSafe, "sessions end");
    }

    #[test]
    fn what_costs_most_comes_first_and_one_harm_is_enough() {
        let all = || Some(ratio(0.8, Finding::Improved));
        let slower = found(
            vec![
                digest(0.6, ratio(1.2, Finding::Regressed), Some(Answers::Same)),
                digest(0.3, ratio(3.0, Finding::Regressed), Some(Answers::NotDetermined)),
                digest(0.1, ratio(0.5, Finding::Improved), None),
            ],
            all(),
            0,
        );
        assert_eq!((slower.safety, &slower.slower.digests[..]), (Safety::NotSafe, &[1, 0][..]));
        assert!((slower.slower.time_share - 0.9).abs() < 1e-9);
        assert_eq!((slower.answers_same, slower.answers_not_determined), (1, 1));
        let failed = found(vec![digest(0.0, ratio(1.0, Finding::Failed), None)], all(), 0);
        assert_eq!((failed.safety, failed.failed.digests.len()), (Safety::NotSafe, 1));
        let otherwise = found(vec![digest(1.0, ratio(1.0, Finding::Same), Some(Answers::Differ))], all(), 0);
        assert_eq!((otherwise.safety, otherwise.answers_otherwise.digests.len()), (Safety::NotSafe, 1));
    }
}
