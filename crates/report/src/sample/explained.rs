//! An explanation and a proof.

use dyno_judge::{
    Access, AccessChange, AmountChange, Cause, Explanation, Finding, FunctionChange, PlanChange,
    PlanEvidence, Probe, ProbeEffect, Proof, ProofEnding, RefusedPlan, Relation, SettingDifference, Suspect,
};
use dyno_stats::Interval;
use dyno_store::Operation;

use crate::answers::explain::SERVER_CPU;
use crate::model::proof::{ChangedSetting, MadeProbe, ProofChange, ProofReport};

pub(crate) fn change(name: &str, base: f64, candidate: f64, is_clear: bool) -> AmountChange {
    AmountChange {
        name: name.to_owned(),
        base,
        candidate,
        ratio: (base > 0.0 && candidate > 0.0).then(|| candidate / base),
        interval: None,
        is_clear,
        is_same: !is_clear,
        weight: 0.5,
    }
}

pub(crate) fn explanation(finding: Finding) -> Explanation {
    let setting = |name: &str, about: Option<&str>| SettingDifference {
        name: name.to_owned(),
        base: Some("OFF".to_owned()),
        candidate: Some("ON".to_owned()),
        about: about.map(str::to_owned),
        acts_on: Vec::new(),
    };
    let evidence = vec!["Qcache_inserts".to_owned()];
    Explanation {
        base: "old".to_owned(),
        candidate: "new".to_owned(),
        step: "point-query".to_owned(),
        clients: 4,
        operation: Operation::Query,
        ratio: 0.57,
        interval: None,
        finding,
        costs: vec![change(SERVER_CPU, 31.0, 55.8, true), change("reads", 0.01, 0.01, false)],
        counters: vec![change("Qcache_inserts", 0.0, 0.99, true), change("Sort_rows", 2.0, 4.0, true)],
        counters_compared: 312,
        plans: PlanEvidence::default(),
        functions: vec![FunctionChange {
            function: "Query_cache::insert".to_owned(),
            base_us: 0.0,
            candidate_us: 24.5,
        }],
        settings: vec![
            Suspect { setting: setting("query_cache_type", Some("results are cached")), evidence },
            Suspect { setting: setting("general_log", None), evidence: Vec::new() },
        ],
        not_in_force: Vec::new(),
    }
}

/// An explanation with plans. A table is read by a full scan, another plan has other estimates, and one statement
/// was refused.
pub(crate) fn planned() -> Explanation {
    let access = |how: &str, key: Option<&str>| Access {
        table: "sbtest1".to_owned(),
        how: how.to_owned(),
        key: key.map(str::to_owned),
        is_full_scan: key.is_none(),
    };
    let by_key = "1 SIMPLE sbtest1: ref, k_1, 4 bytes of the key = const [10 rows]";
    let change = |statement: &str, candidate: &str| PlanChange {
        statement: statement.to_owned(),
        base: by_key.to_owned(),
        candidate: candidate.to_owned(),
        accesses: Vec::new(),
        rows_ratio: None,
    };
    let refused = |statement: &str| RefusedPlan {
        system: "old".to_owned(),
        statement: statement.to_owned(),
        reason: "error 1064: no".to_owned(),
    };
    let scan = AccessChange { base: access("ref", Some("k_1")), candidate: access("ALL", None) };
    let plans = PlanEvidence {
        compared: 7,
        changes: vec![
            PlanChange {
                accesses: vec![scan],
                ..change("SELECT c FROM sbtest1 WHERE k=?", "1 SIMPLE sbtest1: ALL; Using where [986 rows]")
            },
            PlanChange {
                rows_ratio: Some(50.0),
                ..change("SELECT pad FROM sbtest1 WHERE k=?", &by_key.replace("10 rows", "500 rows"))
            },
        ],
        refused: vec![
            refused("UPDATE sbtest1 SET k=k+? WHERE id=?"),
            refused("DELETE FROM sbtest1 WHERE id=?"),
        ],
    };
    Explanation { plans, ..explanation(Finding::Regressed) }
}

pub(crate) fn effect(ratio: f64, spread: f64) -> ProbeEffect {
    let interval = Interval { low: ratio - spread, high: ratio + spread, confidence: 0.998 };
    ProbeEffect { ratio, interval: Some(interval) }
}

fn setting_change(name: &str, value: &str, promise: Option<&str>) -> ProofChange {
    ProofChange {
        settings: vec![ChangedSetting {
            name: name.to_owned(),
            base: None,
            candidate: Some(value.to_owned()),
        }],
        promise: promise.map(str::to_owned),
    }
}

/// A proof that the first of three settings makes a difference.
pub(crate) fn proof() -> ProofReport {
    let (whole, alone, rest) = (effect(0.57, 0.01), effect(0.58, 0.02), effect(0.99, 0.01));
    let made =
        |run, probe, effect| MadeProbe { run, probe, effect: Some(effect), refused: None, seconds: 30.0 };
    ProofReport {
        run: 3,
        base: "old".to_owned(),
        candidate: "new".to_owned(),
        step: "point-query".to_owned(),
        clients: 4,
        ratio: 0.56,
        interval: None,
        changes: vec![
            setting_change("query_cache_type", "1", None),
            setting_change("sort_buffer_size", "4M", None),
            setting_change(
                "innodb_flush_log_at_trx_commit",
                "2",
                Some("weakens durability: a system with it may lose"),
            ),
        ],
        others: Vec::new(),
        proof: Proof {
            ending: ProofEnding::Proven,
            whole: Some(whole),
            all_changes: None,
            causes: vec![Cause {
                changes: vec![0],
                is_smallest: true,
                together: Some(alone),
                alone: Vec::new(),
                relation: None,
                without: Some(rest),
                relation_to_rest: Some(Relation::AddUp),
            }],
            rest: Some(rest),
        },
        probes: vec![
            made(4, Probe::Whole, whole),
            made(5, Probe::Changes(vec![0]), alone),
            MadeProbe {
                effect: None,
                refused: Some("did not start: unknown variable".to_owned()),
                ..made(6, Probe::Changes(vec![1]), whole)
            },
            made(7, Probe::Changes(vec![1, 2]), rest),
        ],
        probes_max: 14,
        alpha: 0.05,
    }
}
