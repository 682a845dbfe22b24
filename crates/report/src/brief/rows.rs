//! The tests of a run with their comparisons, and a choice of tests if not all fit.

use dyno_judge::Finding;

use crate::model::{Cell, Content, Rate, Relative, Reports};

/// A test (a step at a client count) that at least one system has begun.
#[derive(Clone, Debug)]
pub(crate) struct TestRow<'a> {
    pub(crate) group: &'a str,
    pub(crate) step: &'a str,
    pub(crate) clients: u32,
    /// The base's rate; `None` if there is no base.
    pub(crate) base: Option<&'a Cell<Rate>>,
    /// The comparison of each candidate that runs the test, in the plan's order.
    pub(crate) candidates: Vec<&'a Cell<Relative>>,
}

impl TestRow<'_> {
    /// The largest decided difference from the base, as the absolute logarithm of a ratio; 0 if none is decided.
    fn decided(&self) -> f64 {
        let decided = |relative: &Relative| {
            matches!(relative.finding, Some(Finding::Improved | Finding::Regressed | Finding::Decays))
        };
        let values = self.candidates.iter().filter_map(|cell| cell.value()).filter(|it| decided(it));
        values.map(|it| it.ratio.ln().abs()).fold(0.0, f64::max)
    }

    /// Whether a candidate failed in this test.
    fn has_failure(&self) -> bool {
        let failed = |cell: &&Cell<Relative>| {
            matches!(cell.content, Content::Failed)
                || cell.value().and_then(|it| it.finding) == Some(Finding::Failed)
        };
        self.candidates.iter().any(failed)
    }

    /// Whether a candidate's comparison is not decided.
    pub(crate) fn is_undecided(&self) -> bool {
        let mut findings = self.candidates.iter().filter_map(|cell| cell.value()?.finding);
        findings.any(|finding| finding == Finding::NotEnoughEvidence)
    }
}

/// The tests in run order. Tests that no system has begun are left out.
pub(crate) fn rows(reports: &Reports) -> Vec<TestRow<'_>> {
    let is_base = |id: &str| reports.systems.iter().any(|system| system.is_base && system.id == id);
    let mut tests = Vec::new();
    for (rates, ratios) in reports.absolute.rows.iter().zip(&reports.relative.rows) {
        for &clients in &reports.client_counts {
            let has_begun =
                |content: &Content<Rate>| !matches!(content, Content::Unplanned | Content::Missing);
            let mut here = rates.cells.iter().filter(|cell| cell.clients == clients);
            if !here.clone().any(|cell| has_begun(&cell.content)) {
                continue;
            }
            let is_candidate = |cell: &&Cell<Relative>| {
                cell.clients == clients
                    && !is_base(&cell.system)
                    && !matches!(cell.content, Content::Unplanned)
            };
            tests.push(TestRow {
                group: &rates.group,
                step: &rates.step,
                clients,
                base: here.find(|cell| is_base(&cell.system)),
                candidates: ratios.cells.iter().filter(is_candidate).collect(),
            });
        }
    }
    tests
}

/// Splits each row into rows with one candidate each.
pub(crate) fn by_candidate<'a>(rows: Vec<TestRow<'a>>) -> Vec<TestRow<'a>> {
    let each = |row: TestRow<'a>| -> Vec<TestRow<'a>> {
        let one = |cell: &&'a Cell<Relative>| TestRow { candidates: vec![*cell], ..row.clone() };
        row.candidates.iter().map(one).collect()
    };
    rows.into_iter().flat_map(each).collect()
}

/// The tests to show, in run order, and the tests that are left out.
#[derive(Debug)]
pub(crate) struct Chosen<'a> {
    pub(crate) shown: Vec<TestRow<'a>>,
    pub(crate) left: Vec<TestRow<'a>>,
}

/// Chooses at most `count` tests: first those with the largest decided differences, then those with failures, then
/// the others in run order.
pub(crate) fn choose(rows: Vec<TestRow<'_>>, count: usize) -> Chosen<'_> {
    let mut order: Vec<usize> = (0..rows.len()).collect();
    let rank = |at: &usize| (rows[*at].decided(), rows[*at].has_failure());
    order.sort_by(|a, b| {
        let ((far_a, failed_a), (far_b, failed_b)) = (rank(a), rank(b));
        far_b.total_cmp(&far_a).then(failed_b.cmp(&failed_a))
    });
    order.truncate(count);
    let (mut shown, mut left) = (Vec::new(), Vec::new());
    for (at, row) in rows.into_iter().enumerate() {
        if order.contains(&at) { shown.push(row) } else { left.push(row) }
    }
    Chosen { shown, left }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{self, reports};

    fn names(rows: &[TestRow<'_>]) -> Vec<(String, u32)> {
        rows.iter().map(|row| (row.step.to_owned(), row.clients)).collect()
    }

    #[test]
    fn every_test_that_has_begun_has_a_row_with_its_candidates() {
        let reports = reports(&sample::run(12));
        let rows = rows(&reports);
        assert_eq!(rows.len(), 11);
        assert_eq!((rows[0].step, rows[0].clients), ("load", 4));
        assert!(rows.iter().all(|row| row.candidates.len() == 2 && row.base.is_some()));
        assert_eq!(by_candidate(rows).len(), 22);
    }

    #[test]
    fn tests_that_have_not_begun_have_no_row() {
        let mut run = sample::run(12);
        run.trials.retain(|trial| trial.record.step_id == "point-query");
        let reports = reports(&run);
        let names: Vec<&str> = rows(&reports).iter().map(|row| row.step).collect();
        assert_eq!(names, ["point-query", "point-query"]);
    }

    #[test]
    fn the_largest_differences_are_shown_in_run_order() {
        let reports = reports(&sample::run(12));
        let chosen = choose(rows(&reports), 4);
        let expected = [("read-only", 1), ("read-only", 4), ("update-index", 1), ("update-index", 4)];
        assert_eq!(names(&chosen.shown), expected.map(|(step, clients)| (step.to_owned(), clients)));
        assert_eq!(chosen.left.len(), 7);
        assert!(choose(rows(&reports), 20).left.is_empty());
    }
}
