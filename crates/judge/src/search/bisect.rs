//! Bisection: finds the version with a regression by a binary search that tolerates versions without a verdict.

use std::ops::Range;

use serde::Serialize;

/// How a version compares with the first version, which is good by definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum VersionVerdict {
    /// The version is not worse than the first version.
    Good,
    Bad,
    /// The comparison was undecided within the budget, or the version could not be measured.
    Unclear,
}

/// The next step of the search.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "step", rename_all = "snake_case")]
pub enum BisectionStep {
    /// Compare this version with the first version.
    Test {
        /// Index of the version in the list of versions.
        version: usize,
    },
    /// Compare these two versions with each other, on fresh instances. Until then, the result depends on several
    /// comparisons with the first version, and each of these may be wrong.
    Confirm {
        /// Index of the version before the culprit.
        good: usize,
        /// Index of the likely culprit.
        bad: usize,
    },
    /// This version has the regression.
    Found {
        /// Index of the version in the list of versions.
        first_bad: usize,
    },
    /// One of these versions introduced the regression. All of them except the last are unclear, or could not be
    /// tested within the allowed number of comparisons.
    OneOf {
        /// Indices of the versions in the list of versions.
        versions: Range<usize>,
    },
    /// The search ended between these two versions, but their direct comparison showed no regression or was
    /// unclear.
    Unconfirmed {
        /// Index of the version before the likely culprit.
        good: usize,
        /// Index of the likely culprit.
        bad: usize,
    },
    /// The last version is not worse than the first, or its verdict is unclear, so there is nothing to search.
    NoRegression,
}

/// Largest number of comparisons of the culprit with the version before it. The second comparison is made only if
/// the first is unclear.
const CONFIRMATIONS_MAX: usize = 2;

/// A search in a list of versions, oldest first. The first version is good by definition.
///
/// The last version is tested first, because without a regression there is nothing to find. Then the search tests
/// the version in the middle between the oldest bad version and the newest good version before it. If the result is
/// unclear, it tests the untested version nearest to the middle. Every clear result halves the remaining versions,
/// so ⌈log₂ n⌉ + 1 tests suffice if all results are clear. At the end, the culprit is compared with the version
/// before it. There are at most [`Self::comparisons_max`] comparisons, and each has an equal part of the total
/// error (Bonferroni).
#[derive(Clone, Debug, PartialEq)]
pub struct Bisection {
    judged: Vec<Option<VersionVerdict>>,
    confirmations: Vec<VersionVerdict>,
}

impl Bisection {
    /// Starts a search in `versions` versions; `None` for fewer than two.
    pub fn new(versions: usize) -> Option<Self> {
        let mut judged = vec![None; versions];
        *judged.first_mut()? = Some(VersionVerdict::Good);
        (versions > 1).then_some(Self { judged, confirmations: Vec::new() })
    }

    /// Largest number of comparisons of the search: ⌈log₂ n⌉ + 1 tests and 2 confirmations.
    pub fn comparisons_max(&self) -> usize {
        let halvings = self.judged.len().next_power_of_two().ilog2() as usize;
        halvings + 1 + CONFIRMATIONS_MAX
    }

    /// Records a version's verdict.
    ///
    /// # Panics
    /// If there is no such version.
    pub fn note(&mut self, version: usize, verdict: VersionVerdict) {
        self.judged[version] = Some(verdict);
    }

    /// Records the result of [`BisectionStep::Confirm`].
    pub fn note_confirmation(&mut self, verdict: VersionVerdict) {
        self.confirmations.push(verdict);
    }

    pub fn next_step(&self) -> BisectionStep {
        let last = self.judged.len() - 1;
        match self.judged[last] {
            None => return BisectionStep::Test { version: last },
            Some(VersionVerdict::Good | VersionVerdict::Unclear) => return BisectionStep::NoRegression,
            Some(VersionVerdict::Bad) => {}
        }
        // The last version is bad and the first version is good, so there is a first bad version. If a good version
        // follows it, the regression was fixed later. The search is for the first regression.
        let bad = self.judged.iter().position(|judged| *judged == Some(VersionVerdict::Bad)).unwrap_or(last);
        let good =
            self.judged[..bad].iter().rposition(|judged| *judged == Some(VersionVerdict::Good)).unwrap_or(0);
        if good + 1 == bad {
            return self.confirm(good, bad);
        }
        let middle = usize::midpoint(good, bad);
        let untried = (good + 1..bad).filter(|version| self.judged[*version].is_none());
        match untried.min_by_key(|version| version.abs_diff(middle)).filter(|_| self.may_test()) {
            Some(version) => BisectionStep::Test { version },
            None => BisectionStep::OneOf { versions: good + 1..bad + 1 },
        }
    }

    /// Whether another test is possible. After it, at least one comparison must remain for the confirmation.
    fn may_test(&self) -> bool {
        self.tests() + 1 < self.comparisons_max()
    }

    /// Number of tests so far. The first version is not tested.
    fn tests(&self) -> usize {
        self.judged[1..].iter().flatten().count()
    }

    fn confirm(&self, good: usize, bad: usize) -> BisectionStep {
        let is_left = self.confirmations.len() < CONFIRMATIONS_MAX
            && self.tests() + self.confirmations.len() < self.comparisons_max();
        match self.confirmations.last() {
            Some(VersionVerdict::Bad) => BisectionStep::Found { first_bad: bad },
            None | Some(VersionVerdict::Unclear) if is_left => BisectionStep::Confirm { good, bad },
            _ => BisectionStep::Unconfirmed { good, bad },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs a search in which the verdict of every version is given by `truth`. Returns the last step and the number of
    /// comparisons.
    fn search(truth: &[VersionVerdict]) -> (BisectionStep, usize) {
        search_with(truth, |truth, good, bad| match (truth[good], truth[bad]) {
            (VersionVerdict::Good, VersionVerdict::Bad) => VersionVerdict::Bad,
            _ => VersionVerdict::Unclear,
        })
    }

    /// Like [`search`], but `confirm` returns the results of confirmations.
    fn search_with(
        truth: &[VersionVerdict],
        confirm: impl Fn(&[VersionVerdict], usize, usize) -> VersionVerdict,
    ) -> (BisectionStep, usize) {
        let mut bisection = Bisection::new(truth.len()).unwrap();
        for tests in 0.. {
            assert!(tests <= bisection.comparisons_max());
            match bisection.next_step() {
                BisectionStep::Confirm { good, bad } => {
                    bisection.note_confirmation(confirm(truth, good, bad));
                }
                BisectionStep::Test { version } => {
                    assert_eq!(bisection.judged[version], None, "nothing is tested twice");
                    bisection.note(version, truth[version]);
                }
                end => return (end, tests),
            }
        }
        unreachable!("a search ends")
    }

    fn truth(versions: usize, first_bad: usize) -> Vec<VersionVerdict> {
        (0..versions)
            .map(|version| if version < first_bad { VersionVerdict::Good } else { VersionVerdict::Bad })
            .collect()
    }

    #[test]
    fn the_first_bad_version_is_found_in_few_tests_wherever_it_is() {
        for versions in 2..40 {
            let enough = (versions as f64).log2().ceil() as usize + 1 + 1;
            for first_bad in 1..versions {
                let (end, tests) = search(&truth(versions, first_bad));
                assert_eq!(end, BisectionStep::Found { first_bad });
                assert!(tests <= enough, "{tests} tests of {versions} versions");
            }
        }
    }

    #[test]
    fn unclear_versions_are_passed_by_and_named_if_it_may_be_them() {
        for first_bad in 1..12 {
            for unclear in 1..11 {
                let mut truth = truth(12, first_bad);
                truth[unclear] = VersionVerdict::Unclear;
                let (end, _) = search(&truth);
                let expected = match unclear {
                    _ if unclear == first_bad => BisectionStep::OneOf { versions: unclear..unclear + 2 },
                    _ if unclear + 1 == first_bad => BisectionStep::OneOf { versions: unclear..unclear + 2 },
                    _ => BisectionStep::Found { first_bad },
                };
                assert_eq!(end, expected, "first bad {first_bad}, unclear {unclear}");
            }
        }
    }

    #[test]
    fn if_all_between_is_unclear_it_may_be_any() {
        let mut truth = vec![VersionVerdict::Unclear; 6];
        (truth[0], truth[5]) = (VersionVerdict::Good, VersionVerdict::Bad);
        assert_eq!(search(&truth), (BisectionStep::OneOf { versions: 1..6 }, 5));
    }

    #[test]
    fn a_culprit_that_is_not_worse_than_its_predecessor_is_not_named() {
        let truth = truth(8, 5);
        let (end, tests) = search_with(&truth, |_, _, _| VersionVerdict::Good);
        assert_eq!(end, BisectionStep::Unconfirmed { good: 4, bad: 5 });
        assert_eq!(
            search_with(&truth, |_, _, _| VersionVerdict::Unclear),
            (end, tests + 1),
            "once more if unclear"
        );
    }

    #[test]
    fn comparisons_are_limited_so_that_each_has_its_part_of_the_error() {
        assert_eq!([2, 3, 8, 9, 40].map(|n| Bisection::new(n).unwrap().comparisons_max()), [4, 5, 6, 7, 9]);
        let mut truth = vec![VersionVerdict::Unclear; 100];
        (truth[0], truth[99]) = (VersionVerdict::Good, VersionVerdict::Bad);
        let (end, tests) = search(&truth);
        assert_eq!((end, tests), (BisectionStep::OneOf { versions: 1..100 }, 9));
    }

    #[test]
    fn without_a_regression_at_the_end_there_is_nothing_to_search() {
        for last in [VersionVerdict::Good, VersionVerdict::Unclear] {
            let mut truth = truth(5, 3);
            truth[4] = last;
            assert_eq!(search(&truth), (BisectionStep::NoRegression, 1));
        }
        assert_eq!(Bisection::new(1), None);
        assert_eq!(Bisection::new(0), None);
    }
}
