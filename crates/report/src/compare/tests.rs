use dyno_judge::{ComparedSystem, Judgement, Rule, compare};
use dyno_store::Run;

use super::*;
use crate::golden::assert_golden;
use crate::sample;

fn judge(run: &Run, candidates: &[&str]) -> Judgement {
    let checks = sample::checks(run);
    let subject = |system| ComparedSystem { run, checks: &checks, system };
    let pairs: Vec<_> = candidates.iter().map(|candidate| (subject("mysql56"), subject(candidate))).collect();
    compare(&pairs, &Rule::default())
}

fn eventful() -> Judgement {
    judge(&sample::eventful_run(), &["maria", "myrocks"])
}

fn text(judgement: &Judgement) -> String {
    render_judgement(judgement, CompareFormat::Text, &RenderOptions::default())
}

#[test]
fn text_and_markdown_read_as_people_expect() {
    assert_golden("compare.txt", &text(&eventful()));
    let markdown = render_judgement(&eventful(), CompareFormat::Markdown, &RenderOptions::default());
    assert_golden("compare.md", &markdown);
}

#[test]
fn lines_end_without_blanks_and_colour_changes_nothing_but_colour() {
    let plain = text(&eventful());
    assert!(plain.lines().all(|line| line == line.trim_end()));
    let options = RenderOptions { color: true, ..RenderOptions::default() };
    let colored = render_judgement(&eventful(), CompareFormat::Text, &options);
    let stripped = ["\x1b[0m", "\x1b[1m", "\x1b[33m", "\x1b[36m"]
        .iter()
        .fold(colored, |text, code| text.replace(code, ""));
    assert_eq!(stripped, plain);
}

#[test]
fn what_is_missing_is_said_with_about_how_many_rounds_it_takes() {
    let first = |rounds| text(&judge(&sample::run(rounds), &["maria"])).lines().next().unwrap().to_owned();
    let one = first(1);
    assert!(
        one.starts_with("Not enough evidence: it takes about ") && one.ends_with(" more rounds."),
        "{one}"
    );
    assert_eq!(first(12), "Regressed.");
    let of_one = text(&judge(&sample::run(1), &["maria"]));
    assert!(of_one.contains("One round: this pair of servers only."), "{of_one}");
}

#[test]
fn runs_that_did_not_take_turns_say_how_many_rounds_a_side_they_want() {
    let (old, mut new) = (sample::run(3), sample::run(3));
    new.id = dyno_store::RunId(4);
    new.record.started_at_ms += 86_400_000;
    new.trials.iter_mut().for_each(|trial| trial.record.started_at_ms += 86_400_000);
    let checks = sample::checks(&old);
    let subject = |run| ComparedSystem { run, checks: &checks, system: "maria" };
    let judgement = compare(&[(subject(&old), subject(&new))], &Rule::default());
    let text = text(&judgement);
    assert!(text.contains("3 and 3"), "{text}");
    assert!(text.contains(" a side"), "{text}");
    assert!(text.contains("The runs did not take turns"), "{text}");
}

#[test]
fn a_quantity_without_figures_says_nothing_of_turns() {
    let run = sample::run(6);
    let checks = sample::checks(&run);
    let subject = |system| ComparedSystem { run: &run, checks: &checks, system };
    // The sample's trials have no latencies.
    let rule = Rule { quantity: dyno_judge::Quantity::LatencyP99, ..Rule::default() };
    let text = text(&compare(&[(subject("mysql56"), subject("maria"))], &rule));
    assert!(text.contains("not measured") && !text.contains("did not take turns"), "{text}");
}

#[test]
fn junit_is_xml_that_counts_what_it_lists() {
    let mut run = sample::eventful_run();
    let odd = "odd <\"&'\u{1}> group";
    run.steps[0].group = odd.to_owned();
    let xml = render_judgement(
        &judge(&run, &["maria", "myrocks"]),
        CompareFormat::Junit,
        &RenderOptions::default(),
    );
    let document = roxmltree::Document::parse(&xml).unwrap();
    let suites: Vec<_> = document.descendants().filter(|node| node.has_tag_name("testsuite")).collect();
    assert_eq!(suites.len(), 2);
    for suite in suites {
        let count = |name| suite.descendants().filter(|node| node.has_tag_name(name)).count().to_string();
        for (attribute, tag) in
            [("tests", "testcase"), ("failures", "failure"), ("errors", "error"), ("skipped", "skipped")]
        {
            assert_eq!(suite.attribute(attribute), Some(&*count(tag)), "{attribute}");
        }
        let case = suite.descendants().find(|node| node.has_tag_name("testcase")).unwrap();
        assert_eq!(case.attribute("classname"), Some("odd <\"&'\\u{1}> group"));
    }
    assert!(xml.contains("<error message=\"failed: –\"/>"), "{xml}");
}

#[test]
fn json_is_the_judgement() {
    let json = render_judgement(&eventful(), CompareFormat::Json, &RenderOptions::default());
    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(value["outcome"], "some_regressed");
    assert_eq!(value["comparisons"][1]["candidate"]["system"], "myrocks");
}
