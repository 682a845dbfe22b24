use dyno_judge::{MeasuredSet, ProbeEffect, TuneEnding, TuneProbe, Tuned, ValueSet, Worth, WorthVerdict};
use dyno_stats::{Interval, Margin};

use super::*;
use crate::golden::assert_golden;
use crate::model::tune::{LeftOutOfTuning, Recommendation, TriedSetting, TuneComparison};
use crate::{Format, RenderOptions, render};

fn effect(ratio: f64) -> ProbeEffect {
    let interval = Interval { low: ratio - 0.02, high: ratio + 0.02, confidence: 0.95 };
    ProbeEffect { ratio, interval: Some(interval) }
}

fn set(values: &[(usize, usize)]) -> ValueSet {
    ValueSet(values.iter().copied().collect())
}

fn tried(name: &str, values: &[&str], gives_up: Option<&str>) -> TriedSetting {
    TriedSetting {
        name: name.to_owned(),
        why: format!("what {name} is for"),
        gives_up: gives_up.map(str::to_owned),
        values: values.iter().map(|value| (*value).to_owned()).collect(),
    }
}

fn made(run: Option<i64>, probe: TuneProbe, effect: Option<ProbeEffect>) -> TuneComparison {
    TuneComparison { run, probe, rounds: 3, effect, refused: None, seconds: 30.0 }
}

/// A search that found two settings. Only one of them has an effect.
fn report() -> TuneReport {
    let (both, one) = (set(&[(0, 1), (1, 0)]), set(&[(0, 1)]));
    let measured =
        |values: &ValueSet, ratio| MeasuredSet { values: values.clone(), effect: Some(effect(ratio)) };
    let search = |stage, candidate: &ValueSet| TuneProbe::Search { stage, candidate: candidate.clone() };
    TuneReport {
        plan: "small".to_owned(),
        system: "mariadb".to_owned(),
        engine: "mariadb@10.11".to_owned(),
        steps: vec!["read-write".to_owned()],
        clients: vec![4],
        memory_bytes: 4 << 30,
        settings: vec![
            tried("innodb_buffer_pool_size", &["410M", "1003M"], None),
            tried("performance_schema", &["OFF"], Some("what the server tells of itself")),
        ],
        left_out: vec![LeftOutOfTuning {
            name: "innodb_log_writer_threads".to_owned(),
            value: None,
            reason: "is left out: not there".to_owned(),
        }],
        candidates: 2,
        margin: Margin::least(),
        alpha: 0.05,
        tuned: Tuned {
            ending: TuneEnding::Better,
            control: Some(effect(1.0)),
            stages: vec![vec![measured(&both, 1.42), measured(&one, 1.35)]],
            is_cut_short: false,
            winner: Some(measured(&both, 1.4)),
            worth: vec![
                Worth { setting: 1, value: 0, effect: Some(effect(1.0)), verdict: WorthVerdict::DoesNothing },
                Worth { setting: 0, value: 1, effect: None, verdict: WorthVerdict::All },
            ],
            recommended: Some(measured(&one, 1.38)),
        },
        recommendation: Some(Recommendation {
            settings: [("innodb_buffer_pool_size", "1003M"), ("sql_mode", "A \"B\"")]
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .into(),
            changed: vec!["innodb_buffer_pool_size".to_owned()],
            effect: Some(effect(1.38)),
            promise_of_base: "no acknowledged commit is lost".to_owned(),
            promise: "no acknowledged commit is lost".to_owned(),
            gives_up: Vec::new(),
        }),
        comparisons: vec![
            made(Some(1), TuneProbe::Control, Some(effect(1.0))),
            made(Some(2), search(0, &both), Some(effect(1.42))),
            TuneComparison {
                refused: Some(
                    "would weaken durability: a system with it may lose everything at a crash".to_owned(),
                ),
                ..made(None, search(0, &one), None)
            },
            made(Some(3), TuneProbe::Confirm(both.clone()), Some(effect(1.4))),
            made(Some(4), TuneProbe::Without { all: both, setting: 1 }, Some(effect(1.0))),
            made(Some(5), TuneProbe::Confirm(one), Some(effect(1.38))),
        ],
    }
}

fn rendered(report: &TuneReport) -> String {
    render(report, Format::Text, &RenderOptions { color: false, width: 1000 })
}

#[test]
fn reads_as_people_expect() {
    let options = RenderOptions { color: false, width: 100 };
    assert_golden("tune.txt", &render(&report(), Format::Text, &options));
    let text = rendered(&report());
    for words in [
        "With the settings below, the throughput of mariadb is 1.38 [1.36, 1.40] times",
        "settings without an effect: performance_schema = OFF.",
        "Durability after a power cut is the same: no acknowledged commit is lost.",
        "\n    [system.settings]\n    innodb_buffer_pool_size = \"1003M\"\n    sql_mode = \"A \\\"B\\\"\"\n",
        "no run: stage 1, innodb_buffer_pool_size = 1003M: would weaken durability",
        "run 4: innodb_buffer_pool_size = 1003M, performance_schema = OFF without performance_schema = OFF",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
}

#[test]
fn what_is_given_up_is_told_and_a_promise_that_changed() {
    let mut report = report();
    let recommendation = report.recommendation.as_mut().unwrap();
    recommendation.gives_up =
        vec!["performance_schema = OFF gives up what the server tells of itself".to_owned()];
    recommendation.promise_of_base = "any number of the last commits may be lost".to_owned();
    let text = rendered(&report);
    assert!(text.contains("performance_schema = OFF gives up what the server tells of itself."), "{text}");
    assert!(text.contains("no acknowledged commit is lost. With the base: any number of"), "{text}");
}

#[test]
fn every_ending_is_told_in_its_words() {
    let found = |ending, has_winner: bool| {
        let mut report = report();
        report.recommendation = None;
        report.tuned.recommended = None;
        report.tuned.ending = ending;
        report.tuned.winner.take_if(|_| !has_winner);
        rendered(&report)
    };
    for (ending, has_winner, words) in [
        (TuneEnding::NothingBetter, false, "No settings better than the base were found.\n"),
        (
            TuneEnding::NothingBetter,
            true,
            "1.40 [1.38, 1.42] times the throughput in rounds that the search did not use",
        ),
        (TuneEnding::BaseFailed, false, "mariadb did not complete a comparison with itself"),
        (TuneEnding::Unfinished, false, "Nothing was found yet. The same command continues."),
        (
            TuneEnding::Unfinished,
            true,
            "It is not confirmed, so this is not a verdict. The same command continues.",
        ),
    ] {
        let text = found(ending, has_winner);
        assert!(text.contains(words), "{words}: {text}");
        assert!(!text.contains("[system.settings]") && !text.contains("The probability that"), "{text}");
    }
}

#[test]
fn a_search_that_was_cut_short_and_a_host_that_moves_are_told() {
    let mut report = report();
    report.tuned.is_cut_short = true;
    report.tuned.control = Some(effect(1.2));
    let text = rendered(&report);
    assert!(text.contains("A larger --budget may find more."), "{text}");
    assert!(
        text.contains("The base differs from itself: 1.20 [1.18, 1.22] times its own throughput"),
        "{text}"
    );
}

#[test]
fn programs_and_pages_get_all_of_it() {
    let options = RenderOptions::default();
    let json: serde_json::Value = serde_json::from_str(&render(&report(), Format::Json, &options)).unwrap();
    assert_eq!(json["tuned"]["ending"], "better");
    assert_eq!(json["recommendation"]["settings"]["innodb_buffer_pool_size"], "1003M");
    assert_eq!(json["tuned"]["recommended"]["values"]["0"], 1);
    assert_eq!(json["comparisons"][0]["probe"], "control");
    assert_eq!(json["comparisons"][4]["probe"]["without"]["setting"], 1);
    assert_eq!(json["tuned"]["worth"][0]["verdict"], "does_nothing");
    let markdown = render(&report(), Format::Markdown, &options);
    assert!(
        markdown.contains("\n```toml\n[system.settings]\ninnodb_buffer_pool_size = \"1003M\"\n"),
        "{markdown}"
    );
    assert!(markdown.contains("## What each setting is worth"), "{markdown}");
}

#[test]
fn names_with_dots_are_quoted_keys() {
    assert_eq!(key("innodb_io_capacity"), "innodb_io_capacity");
    assert_eq!(key("auto_explain.log_min_duration"), "\"auto_explain.log_min_duration\"");
}
