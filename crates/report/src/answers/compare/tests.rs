use dyno_judge::{ComparedSystem, Finding, GateOutcome, GateVote, Judgement, Rule, compare};
use dyno_store::Run;

use super::*;
use crate::golden::assert_golden;
use crate::sample;
use crate::{Format, RenderOptions, render};

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
    render(judgement, Format::Text, &RenderOptions::default())
}

/// The report's text on one line, so that tests can search for whole sentences.
fn unwrapped(judgement: &Judgement) -> String {
    text(judgement).split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn text_and_markdown_read_as_people_expect() {
    assert_golden("compare.txt", &text(&eventful()));
    let markdown = render(&eventful(), Format::Markdown, &RenderOptions::default());
    assert_golden("compare.md", &markdown);
}

#[test]
fn lines_end_without_blanks_and_colour_changes_nothing_but_colour() {
    let plain = text(&eventful());
    assert!(plain.lines().all(|line| line == line.trim_end()));
    let options = RenderOptions { color: true, ..RenderOptions::default() };
    let colored = render(&eventful(), Format::Text, &options);
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
fn runs_with_an_anchor_say_how_many_rounds_a_side_they_want() {
    let [mut old, mut new] = nights(3);
    for run in [&mut old, &mut new] {
        run.systems[0].is_anchor = true;
    }
    let told = unwrapped(&between(&old, &new));
    assert!(told.contains("3 and 3"), "{told}");
    assert!(told.contains(" per side"), "{told}");
    assert!(told.contains("Anchor: mysql56, "), "{told}");
    assert!(told.contains("Each figure is divided by that of the anchor in the same round"), "{told}");
    new.systems[0].engine_version = Some("5.6.51".to_owned());
    let told = unwrapped(&between(&old, &new));
    let differs = "The anchor mysql56 is not used, since the runs' anchors differ: version, ";
    assert!(told.contains(differs) && told.contains("5.6.51 in run 4"), "{told}");
}

/// Two runs of this many rounds each, on two different days.
fn nights(rounds: u32) -> [Run; 2] {
    let (old, mut new) = (sample::run(rounds), sample::run(rounds));
    new.id = dyno_store::RunId(4);
    new.record.started_at_ms += 86_400_000;
    new.trials.iter_mut().for_each(|trial| trial.record.started_at_ms += 86_400_000);
    [old, new]
}

fn between(old: &Run, new: &Run) -> Judgement {
    let checks = sample::checks(old);
    let subject = |run| ComparedSystem { run, checks: &checks, system: "maria" };
    compare(&[(subject(old), subject(new))], &Rule::default())
}

#[test]
fn two_sessions_have_ratios_and_no_verdict_in_every_format() {
    let [old, new] = nights(8);
    let judgement = between(&old, &new);
    let render = |format| render(&judgement, format, &RenderOptions::default());
    let told = unwrapped(&judgement);
    assert!(told.starts_with("Not decided: each side has only one session. A verdict needs both"), "{told}");
    assert!(told.contains("not judged: one session per side and no common anchor"), "{told}");
    assert!(told.contains("ratios are shown without intervals and verdicts"), "{told}");
    let markdown = render(Format::Markdown);
    assert!(markdown.contains("not judged: one session per side and no common anchor"), "{markdown}");
    let junit = render_junit(&judgement);
    assert!(junit.contains("several runs per side in turns, or an anchor in the plan"), "{junit}");
    let json: serde_json::Value = serde_json::from_str(&render(Format::Json)).unwrap();
    let test = &json["comparisons"][0]["tests"][1];
    assert_eq!(
        (&test["undecided"]["reason"], &test["replicates"]),
        (&"one_session".into(), &"one_session".into())
    );
    assert!(test["ratio"].is_number() && test["interval"].is_null(), "{test}");
    assert_eq!(json["outcome"], "not_decided");
}

#[test]
fn sessions_are_named_and_counted() {
    let [old, new] = nights(2);
    let checks = sample::checks(&old);
    let subject = |run| ComparedSystem { run, checks: &checks, system: "maria" };
    let (mut third, mut fourth) = (old.clone(), new.clone());
    (third.id, fourth.id) = (dyno_store::RunId(5), dyno_store::RunId(6));
    let sides = (vec![subject(&old), subject(&third)], vec![subject(&new), subject(&fourth)]);
    let told = unwrapped(&dyno_judge::compare_sessions(&[sides], &Rule::default()));
    assert!(told.contains("maria of runs 4, 6 against maria of runs 3, 5"), "{told}");
    assert!(told.contains("it needs 6 sessions per side, in turns"), "{told}");
    assert!(told.contains("Each run is a session and counts once"), "{told}");
    assert!(told.contains("paired with a neighbour in time of the other side"), "{told}");
}

#[test]
fn sides_that_did_not_alternate_are_told() {
    let [old, new] = nights(2);
    let checks = sample::checks(&old);
    let again = |run: &Run, first: i64| -> Vec<Run> {
        (first..first + 6).map(|id| Run { id: dyno_store::RunId(id), ..run.clone() }).collect()
    };
    let (olds, news) = (again(&old, 10), again(&new, 20));
    let subject = |run| ComparedSystem { run, checks: &checks, system: "maria" };
    let sides = (olds.iter().map(subject).collect(), news.iter().map(subject).collect());
    let judgement = dyno_judge::compare_sessions(&[sides], &Rule::default());
    let told = unwrapped(&judgement);
    let why =
        "sessions must alternate (A B B A): these form 1 pair of neighbours of the 6 that a verdict needs";
    assert!(told.contains(why), "{told}");
    assert_eq!(judgement.outcome, GateOutcome::NotDecided);
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
    let xml = render_junit(&judge(&run, &["maria", "myrocks"]));
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
    assert!(xml.contains("<error message=\"failed: –\">failed: –</error>"), "{xml}");
}

/// Returns the number of test cases, and the number of those that servers show in red, which are failures and errors.
fn junit_counts(judgement: &Judgement) -> (usize, usize) {
    let xml = junit::render(judgement);
    let document = roxmltree::Document::parse(&xml).unwrap();
    let count = |names: &[&str]| {
        let is_one = |node: &roxmltree::Node<'_, '_>| names.contains(&node.tag_name().name());
        document.descendants().filter(is_one).count()
    };
    (count(&["testcase"]), count(&["failure", "error"]))
}

#[test]
fn junit_is_green_exactly_if_the_exit_status_is_0() {
    let mut unjudged = sample::run(8);
    unjudged.trials.iter_mut().for_each(|trial| sample::set_rate(&mut trial.record, 0));
    let mut control = sample::run(8);
    control.systems[1].control_of = Some("mysql56".to_owned());
    let [old, new] = nights(8);
    let mut passed = judge(&sample::run(12), &["maria"]);
    passed.outcome = GateOutcome::NoneRegressed;
    for (at, test) in passed.comparisons[0].tests.iter_mut().enumerate() {
        (test.finding, test.gate) = match at {
            0 => (Finding::Unjudged, GateVote::Abstains),
            _ => (Finding::Same, GateVote::NotWorse),
        };
    }
    let judgements = [
        (passed, GateOutcome::NoneRegressed),
        (judge(&sample::run(12), &["maria"]), GateOutcome::SomeRegressed),
        (judge(&sample::run(1), &["maria"]), GateOutcome::NotDecided),
        (between(&old, &new), GateOutcome::NotDecided),
        (judge(&unjudged, &["maria", "myrocks"]), GateOutcome::NotDecided),
        (judge(&control, &["maria"]), GateOutcome::NotDecided),
        (judge(&sample::run(1), &[]), GateOutcome::NotDecided),
        (eventful(), GateOutcome::SomeRegressed),
    ];
    for (at, (judgement, outcome)) in judgements.iter().enumerate() {
        let (tests, red) = junit_counts(judgement);
        assert_eq!(judgement.outcome, *outcome, "{at}");
        assert!(tests > 0, "{at}: a report without tests is green");
        assert_eq!(red == 0, *outcome == GateOutcome::NoneRegressed, "{at}: {red} of {tests}");
    }
}

#[test]
fn json_is_the_judgement() {
    let json = render(&eventful(), Format::Json, &RenderOptions::default());
    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(value["outcome"], "some_regressed");
    assert_eq!(value["comparisons"][1]["candidate"]["system"], "myrocks");
}
