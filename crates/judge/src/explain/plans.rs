//! Statements for which two systems have different plans.

use std::collections::{BTreeMap, HashMap};

use dyno_store::{StatementPlan, TrialId};
use serde::Serialize;

use super::access::{Access, accesses, dialect, rows, without_estimate};

/// The servers' plans of statements, by trial.
pub type Plans = HashMap<TrialId, Vec<StatementPlan>>;

/// Estimates of rows count as alike if they differ by less than this factor, because servers estimate from samples.
const ROWS_FACTOR: f64 = 4.0;

/// The comparison of the plans of two systems.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PlanEvidence {
    /// Number of statements for which both systems have a plan.
    pub compared: usize,
    /// Statements with different plans. Those whose tables are read in another way come first.
    pub changes: Vec<PlanChange>,
    /// Statements for which a system refused to give a plan.
    pub refused: Vec<RefusedPlan>,
}

/// A statement with different plans.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PlanChange {
    /// The statement, with `?` in place of values.
    pub statement: String,
    /// The base's plan, line by line, with estimates in square brackets. If rounds differ, it is the most frequent
    /// plan.
    pub base: String,
    pub candidate: String,
    /// The tables that are read in another way.
    pub accesses: Vec<AccessChange>,
    /// The candidate's estimate of rows as a multiple of the base's, in the line in which they differ most. `None`
    /// if the plans differ in more than estimates, or if the estimates are alike.
    pub rows_ratio: Option<f64>,
}

/// How two plans read a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AccessChange {
    pub base: Access,
    pub candidate: Access,
}

/// A statement for which a system refused to give a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RefusedPlan {
    pub system: String,
    pub statement: String,
    /// The reason, in one line.
    pub reason: String,
}

/// Compares the query plans of a base with the query plans of a candidate. Each system is given as its id and its
/// trials.
pub(super) fn evidence(
    plans: &Plans,
    base: (&str, &[TrialId]),
    candidate: (&str, &[TrialId]),
) -> PlanEvidence {
    let (of_base, of_candidate) = (usual(plans, base.1), usual(plans, candidate.1));
    let mut found = PlanEvidence::default();
    for (system, of_system) in [(base.0, &of_base), (candidate.0, &of_candidate)] {
        found.refused.extend(of_system.iter().filter_map(|(statement, plan)| {
            let reason = plan.err()?.to_owned();
            Some(RefusedPlan { system: system.to_owned(), statement: (*statement).to_owned(), reason })
        }));
    }
    for (statement, plan) in &of_base {
        let own = of_candidate.iter().find(|(known, _)| known == statement).map(|(_, plan)| *plan);
        if let (Ok(base), Some(Ok(candidate))) = (*plan, own) {
            found.compared += 1;
            found.changes.extend(change(statement, base, candidate));
        }
    }
    found.changes.sort_by_key(PlanChange::rank);
    found
}

impl PlanChange {
    /// The rank of the change. The most significant change has rank 0. The order is: a table that only one system
    /// reads in full, another access to a table, another plan, and estimates that differ.
    fn rank(&self) -> u8 {
        let is_scan = |it: &AccessChange| it.base.is_full_scan != it.candidate.is_full_scan;
        if self.accesses.iter().any(is_scan) {
            0
        } else if !self.accesses.is_empty() {
            1
        } else {
            2 + u8::from(self.rows_ratio.is_some())
        }
    }
}

/// The most frequent plan of each statement, because instances may have different plans. Statements are in the
/// order in which they first occur.
fn usual<'a>(plans: &'a Plans, trials: &[TrialId]) -> Vec<(&'a str, Result<&'a str, &'a str>)> {
    let all: Vec<&StatementPlan> = trials.iter().filter_map(|trial| plans.get(trial)).flatten().collect();
    let mut order: Vec<&str> = Vec::new();
    for plan in &all {
        if !order.contains(&plan.statement.as_str()) {
            order.push(&plan.statement);
        }
    }
    let usual_of = |statement: &'a str| {
        let mut times: BTreeMap<String, usize> = BTreeMap::new();
        let mut best: Option<(usize, &'a StatementPlan)> = None;
        for plan in all.iter().copied().filter(|plan| plan.statement == statement) {
            let shape = plan.plan.as_deref().map_or_else(|_| "refused".to_owned(), shape);
            let seen = times.entry(shape).or_default();
            *seen += 1;
            if best.is_none_or(|(most, _)| *seen > most) {
                best = Some((*seen, plan));
            }
        }
        best.map(|(_, plan)| (statement, plan.plan.as_deref().map_err(String::as_str)))
    };
    order.into_iter().filter_map(usual_of).collect()
}

/// A plan without its estimates.
fn shape(plan: &str) -> String {
    plan.lines().map(without_estimate).collect::<Vec<_>>().join("\n")
}

/// The difference between two plans, if any. Plans of different engines have no words in common. For such plans,
/// the only difference that counts is a table that just one of them reads in full.
fn change(statement: &str, base: &str, candidate: &str) -> Option<PlanChange> {
    let is_one_dialect = dialect(base) == dialect(candidate);
    let accesses = access_changes(base, candidate, is_one_dialect);
    let is_other_shape = is_one_dialect && shape(base) != shape(candidate);
    let rows_ratio = (is_one_dialect && !is_other_shape).then(|| rows_ratio(base, candidate)).flatten();
    (!accesses.is_empty() || is_other_shape || rows_ratio.is_some()).then(|| PlanChange {
        statement: statement.to_owned(),
        base: base.to_owned(),
        candidate: candidate.to_owned(),
        accesses,
        rows_ratio,
    })
}

/// The tables that the two plans read in different ways. The first access to a table in one plan is compared with the
/// first access to that table in the other plan, then the second with the second, and so on.
fn access_changes(base: &str, candidate: &str, is_one_dialect: bool) -> Vec<AccessChange> {
    let mut left = accesses(candidate);
    let mut changes = Vec::new();
    for base in accesses(base) {
        let Some(place) = left.iter().position(|it| it.table == base.table) else { continue };
        let candidate = left.remove(place);
        let is_other =
            if is_one_dialect { base != candidate } else { base.is_full_scan != candidate.is_full_scan };
        if is_other {
            changes.push(AccessChange { base, candidate });
        }
    }
    changes
}

/// The ratio of the two plans' estimates in the line in which they differ most; `None` if the estimates of all
/// lines are alike.
fn rows_ratio(base: &str, candidate: &str) -> Option<f64> {
    let ratios = base
        .lines()
        .zip(candidate.lines())
        .filter_map(|(base, candidate)| Some(rows(candidate)?.max(1.0) / rows(base)?.max(1.0)));
    ratios
        .filter(|ratio| ratio.ln().abs() >= ROWS_FACTOR.ln())
        .max_by(|a, b| a.ln().abs().total_cmp(&b.ln().abs()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(statement: &str, plan: Result<&str, &str>) -> StatementPlan {
        StatementPlan {
            statement: statement.to_owned(),
            plan: plan.map(str::to_owned).map_err(str::to_owned),
        }
    }

    const BY_KEY: &str = "1 SIMPLE t: ref, k_1, 4 bytes of the key = const [10 rows]";
    const SCAN: &str = "1 SIMPLE t: ALL; Using where [986 rows]";

    /// The comparison of two systems. Each element of `base` and `candidate` has the plans of one trial.
    fn found(base: &[&[StatementPlan]], candidate: &[&[StatementPlan]]) -> PlanEvidence {
        let trials = |from: i64, of: &[&[StatementPlan]]| -> Vec<(TrialId, Vec<StatementPlan>)> {
            (from..).zip(of).map(|(id, plans)| (TrialId(id), plans.to_vec())).collect()
        };
        let (base, candidate) = (trials(1, base), trials(100, candidate));
        let ids = |of: &[(TrialId, Vec<StatementPlan>)]| of.iter().map(|(id, _)| *id).collect::<Vec<_>>();
        let (of_base, of_candidate) = (ids(&base), ids(&candidate));
        let plans = base.into_iter().chain(candidate).collect();
        evidence(&plans, ("old", &of_base), ("new", &of_candidate))
    }

    #[test]
    fn a_full_scan_in_the_place_of_an_index_comes_first() {
        let sorted = "1 SIMPLE t: ref, k_1, 4 bytes of the key = const; Using filesort [10 rows]";
        let other_key = "1 SIMPLE t: ref, k_2, 4 bytes of the key = const [10 rows]";
        let old = ["sorts", "other key", "scans", "same"].map(|it| plan(it, Ok(BY_KEY)));
        let new = [
            plan("scans", Ok(SCAN)),
            plan("same", Ok(BY_KEY)),
            plan("sorts", Ok(sorted)),
            plan("other key", Ok(other_key)),
            plan("of new alone", Ok(SCAN)),
        ];
        let found = found(&[&old], &[&new]);
        let order: Vec<&str> = found.changes.iter().map(|it| it.statement.as_str()).collect();
        assert_eq!((order, found.compared), (vec!["scans", "other key", "sorts"], 4));
        let [change] = &found.changes[0].accesses[..] else { panic!() };
        assert_eq!((change.base.key.as_deref(), change.candidate.is_full_scan), (Some("k_1"), true));
        assert!(found.changes[2].accesses.is_empty() && found.changes[2].rows_ratio.is_none());
    }

    #[test]
    fn estimates_count_where_nothing_else_differs_and_only_if_they_differ_by_much() {
        let with = |rows: u32| [plan("s", Ok(&BY_KEY.replace("10 rows", &format!("{rows} rows"))))];
        assert!(found(&[&with(10)], &[&with(39)]).changes.is_empty());
        let found = found(&[&with(1000)], &[&with(10)]);
        assert_eq!(found.changes[0].rows_ratio, Some(0.01));
    }

    #[test]
    fn the_plan_of_most_rounds_counts() {
        let (by_key, scan) = ([plan("s", Ok(BY_KEY))], [plan("s", Ok(SCAN))]);
        assert!(found(&[&by_key], &[&scan, &by_key, &by_key]).changes.is_empty());
        assert_eq!(found(&[&by_key], &[&by_key, &scan, &scan]).changes.len(), 1);
    }

    #[test]
    fn plans_of_two_engines_differ_only_by_full_scans() {
        let of = |text: &str| [plan("s", Ok(text))];
        let pgsql = "Index Scan using other_name on t [1 rows]";
        assert!(found(&[&of(BY_KEY)], &[&of(pgsql)]).changes.is_empty());
        let found = found(&[&of(BY_KEY)], &[&of("Seq Scan on t [986 rows]")]);
        assert_eq!(found.changes[0].accesses[0].candidate.how, "Seq Scan");
    }

    #[test]
    fn what_a_server_refuses_is_told_and_not_compared() {
        let old = [plan("s", Err("error 1064: no"))];
        let found = found(&[&old], &[&[plan("s", Ok(SCAN))]]);
        assert_eq!((found.compared, found.changes.len()), (0, 0));
        let [refused] = &found.refused[..] else { panic!() };
        assert_eq!((refused.system.as_str(), refused.reason.as_str()), ("old", "error 1064: no"));
    }
}
