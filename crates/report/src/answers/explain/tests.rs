use dyno_judge::{PlanEvidence, ProofEnding, Relation};

use super::*;
use crate::golden::assert_golden;
use crate::model::proof::{ChangedSetting, ProofChange, ProofReport};
use crate::sample::{change, effect, explanation, planned, proof};
use crate::{Format, RenderOptions, render};

#[test]
fn reads_as_people_expect() {
    let options = RenderOptions { color: false, width: 100 };
    let text = render([planned()].as_slice(), Format::Text, &options);
    assert_golden("explain.txt", &text);
}

#[test]
fn without_plans_nothing_is_said_of_them_and_with_the_same_ones_that() {
    let said = |plans: PlanEvidence| {
        let explanation = Explanation { plans, ..explanation(Finding::Regressed) };
        render([explanation].as_slice(), Format::Text, &RenderOptions::default())
    };
    assert!(!said(PlanEvidence::default()).contains("Plans"));
    let same = said(PlanEvidence { compared: 1, ..PlanEvidence::default() });
    assert!(same.contains("Both have the same plan for 1 statement."), "{same}");
}

#[test]
fn a_table_is_named_once_and_no_more_than_three_are() {
    let mut explanation = planned();
    let change = explanation.plans.changes[0].clone();
    explanation.plans.changes = (0..6)
        .map(|number| {
            let mut change = change.clone();
            let access = &mut change.accesses[0];
            access.candidate.table = format!("t{}", number / 2 + number / 5);
            change
        })
        .collect();
    let said = sentences(&explanation);
    let reads: Vec<&str> = said.iter().map(String::as_str).filter(|it| it.contains(" reads ")).collect();
    assert_eq!(
        reads,
        [
            "new reads t0 by a full scan, old by index k_1.",
            "new reads t1 by a full scan, old by index k_1.",
            "new reads t2 by a full scan, old by index k_1."
        ]
    );
    assert!(said.iter().any(|it| it == "1 more table is read in another way."), "{said:?}");
}

#[test]
fn no_difference_has_no_explanation() {
    let options = RenderOptions { color: false, width: 100 };
    let text = render([explanation(Finding::NotEnoughEvidence)].as_slice(), Format::Text, &options);
    assert!(text.contains("The difference has no verdict, so there is nothing to explain."), "{text}");
    assert!(!text.contains("affects what changed."), "{text}");
}

#[test]
fn cpu_is_blamed_only_where_it_changed() {
    let said = |cpu: AmountChange| {
        let explanation = Explanation { costs: vec![cpu], ..explanation(Finding::Regressed) };
        let options = RenderOptions { color: false, width: 1000 };
        render([explanation].as_slice(), Format::Text, &options)
    };
    let same = change(SERVER_CPU, 31.0, 31.0, false);
    assert!(said(same.clone()).contains("so the difference is in waiting, not in CPU."));
    assert!(said(AmountChange { is_same: false, ..same }).contains("whether that changed is not decided."));
}

#[test]
fn every_format_names_the_cause() {
    for format in [Format::Markdown, Format::Json] {
        let text = render([explanation(Finding::Regressed)].as_slice(), format, &RenderOptions::default());
        assert!(text.contains("cache") && text.contains("Qcache"), "{text}");
    }
}

fn rendered(report: &ProofReport) -> String {
    render(report, Format::Text, &RenderOptions { color: false, width: 1000 })
}

#[test]
fn a_proof_reads_as_people_expect() {
    let options = RenderOptions { color: false, width: 100 };
    assert_golden("proof.txt", &render(&proof(), Format::Text, &options));
    let text = rendered(&proof());
    assert!(
        text.contains(
            "query_cache_type = 1 alone: 0.58 [0.56, 0.60] of 0.57; everything else together: 0.99 [0.98, 1.00].\n\
             Proven by 4 probes in 2 minutes; the probability that any of them errs is 5.0%."
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
        "They interact: together they have a larger effect",
        "innodb_flush_log_at_trx_commit = 2 weakens durability: a system with it may lose.",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
}

#[test]
fn limits_and_steps_are_told_as_what_they_are() {
    let mut report = proof();
    let change = |name: &str, base: Option<&str>, candidate: Option<&str>| ProofChange {
        settings: vec![ChangedSetting {
            name: name.to_owned(),
            base: base.map(str::to_owned),
            candidate: candidate.map(str::to_owned),
        }],
        promise: None,
    };
    for (name, base, candidate, words) in [
        ("confinement.server_cpus", Some("0-1"), Some("0"), "confinement.server_cpus = 0 alone: 0.58"),
        ("confinement.memory", Some("512M"), None, "no confinement.memory alone: 0.58"),
        ("step.age", None, Some("run"), "the step age alone: 0.58"),
        ("step.age", Some("run"), None, "without the step age alone: 0.58"),
    ] {
        report.changes[0] = change(name, base, candidate);
        assert!(rendered(&report).contains(words), "{words}: {}", rendered(&report));
    }
    report.proof.ending = ProofEnding::NotTheChanges;
    report.proof.all_changes = Some(effect(1.0, 0.01));
    report.others = vec!["the tables".to_owned()];
    let words = "No setting, limit or step explains the difference: together they make 1.00 [0.99, 1.01] of 0.57; what \
                 remains is the tables: 0.57.";
    assert!(rendered(&report).contains(words), "{}", rendered(&report));
}

#[test]
fn every_ending_is_told_in_its_words() {
    for (ending, words) in [
        (
            ProofEnding::Gone,
            "The difference is gone: repeated, new has 0.57 [0.56, 0.58] times the throughput of old",
        ),
        (ProofEnding::Undecided, "It is not decided whether the difference is still there"),
        (ProofEnding::Refused, "new did not start, so the difference could not be measured again."),
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
        if ending == ProofEnding::Unfinished {
            let words = "The difference is there: repeated, new has 0.57 [0.56, 0.58] times";
            assert!(rendered(&report).contains(words), "{}", rendered(&report));
            report.proof.whole = None;
        }
        if ending == ProofEnding::Undecided {
            report.proof.all_changes = Some(effect(0.8, 0.3));
            let words =
                "whether the changes make the difference: together they make 0.80 [0.50, 1.10] of 0.57.";
            assert!(rendered(&report).contains(words), "{}", rendered(&report));
            report.proof.all_changes = None;
        }
        let text = rendered(&report);
        assert!(text.contains(words), "{words}: {text}");
        assert!(text.contains("That took 4 probes"), "{text}");
    }
}

#[test]
fn a_proof_for_programs_has_its_probes() {
    let json = render(&proof(), Format::Json, &RenderOptions::default());
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["proof"]["ending"], "proven");
    assert_eq!(json["proof"]["causes"][0]["changes"][0], 0);
    assert_eq!(json["probes"][0]["probe"], "whole");
    assert_eq!(json["probes"][1]["probe"]["changes"][0], 0);
    assert_eq!(json["changes"][0]["settings"][0]["name"], "query_cache_type");
    let markdown = render(&proof(), Format::Markdown, &RenderOptions::default());
    assert!(markdown.contains("# new against old") && markdown.contains("## Comparisons"), "{markdown}");
}
