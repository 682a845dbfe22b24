use dyno_judge::{
    Cause, FunctionChange, Probe, ProbeEffect, Proof, ProofEnding, Relation, SettingDifference, Suspect,
};
use dyno_stats::Interval;
use dyno_store::Operation;

use super::*;
use crate::golden::assert_golden;

fn change(name: &str, base: f64, candidate: f64, is_clear: bool) -> AmountChange {
    let ratio = if base > 0.0 { candidate / base } else { 1e9 };
    AmountChange {
        name: name.to_owned(),
        base,
        candidate,
        ratio,
        interval: None,
        is_clear,
        is_same: !is_clear,
        weight: 0.5,
    }
}

fn explanation(finding: Finding) -> Explanation {
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
        functions: vec![FunctionChange {
            function: "Query_cache::insert".to_owned(),
            base_us: 0.0,
            candidate_us: 24.5,
        }],
        settings: vec![
            Suspect { setting: setting("query_cache_type", Some("results are cached")), evidence },
            Suspect { setting: setting("general_log", None), evidence: Vec::new() },
        ],
    }
}

#[test]
fn reads_as_people_expect() {
    let options = RenderOptions { color: false, width: 100 };
    let text = render_explanations(&[explanation(Finding::Regressed)], ExplainFormat::Text, &options);
    assert_golden("explain.txt", &text);
}

#[test]
fn no_difference_has_no_explanation() {
    let options = RenderOptions { color: false, width: 100 };
    let text = render_explanations(&[explanation(Finding::NotEnoughEvidence)], ExplainFormat::Text, &options);
    assert!(text.contains("No difference is decided, so there is nothing to explain."), "{text}");
    assert!(!text.contains("acts on what changed."), "{text}");
}

#[test]
fn cpu_is_blamed_only_where_it_changed() {
    let said = |cpu: AmountChange| {
        let explanation = Explanation { costs: vec![cpu], ..explanation(Finding::Regressed) };
        let options = RenderOptions { color: false, width: 1000 };
        render_explanations(&[explanation], ExplainFormat::Text, &options)
    };
    let same = change(SERVER_CPU, 31.0, 31.0, false);
    assert!(said(same.clone()).contains("so the difference is in waiting, not in CPU."));
    assert!(said(AmountChange { is_same: false, ..same }).contains("whether that changed is not decided."));
}

#[test]
fn every_format_names_the_cause() {
    for format in [ExplainFormat::Markdown, ExplainFormat::Json] {
        let text = render_explanations(&[explanation(Finding::Regressed)], format, &RenderOptions::default());
        assert!(text.contains("cache") && text.contains("Qcache"), "{text}");
    }
}

fn effect(ratio: f64, spread: f64) -> ProbeEffect {
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
fn proof() -> ProofReport {
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
                Some("lowers a promise: a system with it may lose"),
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

fn rendered(report: &ProofReport) -> String {
    render_proof(report, ExplainFormat::Text, &RenderOptions { color: false, width: 1000 })
}

#[test]
fn a_proof_reads_as_people_expect() {
    let options = RenderOptions { color: false, width: 100 };
    assert_golden("proof.txt", &render_proof(&proof(), ExplainFormat::Text, &options));
    let text = rendered(&proof());
    assert!(
        text.contains(
            "query_cache_type = 1 alone: 0.58 [0.56, 0.60] of 0.57; everything else together: 0.99 [0.98, 1.00].\n\
             Proven by 4 probes in 2 minutes; the chance that any of them errs is 5.0%."
        ),
        "{text}"
    );
}

#[test]
fn causes_that_interact_and_lower_a_promise_are_told() {
    let mut report = proof();
    let cause = &mut report.proof.causes[0];
    cause.changes = vec![0, 2];
    cause.alone = vec![Some(effect(1.0, 0.01)), Some(effect(0.99, 0.01))];
    cause.relation = Some(Relation::MoreTogether);
    let text = rendered(&report);
    for words in [
        "query_cache_type = 1, innodb_flush_log_at_trx_commit = 2 together: 0.58",
        "query_cache_type = 1 alone: 1.00",
        "They interact: together they make more of a difference",
        "innodb_flush_log_at_trx_commit = 2 lowers a promise: a system with it may lose.",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
}

#[test]
fn every_ending_is_told_in_its_words() {
    for (ending, words) in [
        (
            ProofEnding::Gone,
            "The difference is gone: repeated, new has 0.57 [0.56, 0.58] times the throughput of old",
        ),
        (ProofEnding::Undecided, "It is not decided whether the difference is still there"),
        (ProofEnding::Refused, "new did not start when the difference was to be repeated."),
        (ProofEnding::Unfinished, "Nothing was compared yet."),
        (ProofEnding::NotTheChanges, "No setting explains the difference: together they make 0.99"),
        (ProofEnding::Partly, "The rest, 0.99 [0.98, 1.00], is not explained"),
        (ProofEnding::NotNarrowed, "The search ended before it could show that all of these are needed."),
    ] {
        let mut report = proof();
        report.proof.ending = ending;
        if ending == ProofEnding::NotTheChanges {
            report.proof.all_changes = Some(effect(0.99, 0.01));
            report.others = vec!["the engine (mysql@5.6.24 and mysql@8.0.33)".to_owned()];
            assert!(
                rendered(&report)
                    .contains("what remains is the engine (mysql@5.6.24 and mysql@8.0.33): 0.58."),
                "{}",
                rendered(&report)
            );
        }
        let text = rendered(&report);
        assert!(text.contains(words), "{words}: {text}");
        assert!(text.contains("That took 4 probes"), "{text}");
    }
}

#[test]
fn a_proof_for_programs_has_its_probes() {
    let json = render_proof(&proof(), ExplainFormat::Json, &RenderOptions::default());
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["proof"]["ending"], "proven");
    assert_eq!(json["proof"]["causes"][0]["changes"][0], 0);
    assert_eq!(json["probes"][0]["probe"], "whole");
    assert_eq!(json["probes"][1]["probe"]["changes"][0], 0);
    assert_eq!(json["changes"][0]["settings"][0]["name"], "query_cache_type");
    let markdown = render_proof(&proof(), ExplainFormat::Markdown, &RenderOptions::default());
    assert!(markdown.contains("# new against old") && markdown.contains("## Comparisons"), "{markdown}");
}
