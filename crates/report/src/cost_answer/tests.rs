use dyno_judge::{Hardware, Target, WantedHardware, analyse, cheapest, forecasts};
use dyno_store::SystemRecord;

use super::*;
use crate::golden::assert_golden;
use crate::sample::{self, checks};

fn answer(iops: &[u64], cpus: &[u64], rate: f64) -> CostAnswer {
    let run = sample::hardware_run();
    let analysis = analyse(&run, &checks(&run), &dyno_judge::Rule::default());
    let step = run.steps[0].id.clone();
    let wanted = WantedHardware { cpus: cpus.to_vec(), iops: iops.to_vec() };
    let found = if iops.is_empty() && cpus.is_empty() {
        Vec::new()
    } else {
        forecasts(&run, &analysis, &step, &[8], &wanted)
    };
    let prices = |system: &SystemRecord, predicted: Option<Hardware>| match predicted {
        None => system.dollars_per_year(),
        Some(hardware) => Some(hardware.read_iops? as f64 * 8.0),
    };
    let target = Target { operations_per_second: rate, p99_ms: None };
    cheapest(&run, &analysis, target, &step, &[8], found, &prices).unwrap()
}

fn text(answer: &CostAnswer) -> String {
    render_cost(answer, Format::Text, &RenderOptions { color: false, width: 120 })
}

#[test]
fn the_answer_comes_first_and_reads_as_people_expect() {
    assert_golden("cost.txt", &text(&answer(&[], &[], 300.0)));
}

#[test]
fn measured_and_predicted_candidates_are_in_one_table() {
    assert_golden("cost-predicted.txt", &text(&answer(&[3000], &[4, 8], 250.0)));
}

#[test]
fn the_other_formats_say_the_same() {
    let answer = answer(&[3000], &[], 250.0);
    let markdown = render_cost(&answer, Format::Markdown, &RenderOptions::default());
    assert!(
        markdown.contains("## Candidates by price") && markdown.contains("with 3000 IOPS, 8 CPUs"),
        "{markdown}"
    );
    let json: serde_json::Value =
        serde_json::from_str(&render_cost(&answer, Format::Json, &RenderOptions::default())).unwrap();
    assert_eq!(json["candidates"].as_array().unwrap().len(), 6);
    assert_eq!(json["cheapest"]["basis"], "predicted");
    assert_eq!(json["forecasts"][0]["left_out"].as_array().unwrap().len(), 5);
}

#[test]
fn where_nothing_is_enough_it_is_said() {
    let said = sentences::answer(&answer(&[], &[], 5000.0));
    assert_eq!(
        said[0],
        "No system that was measured and has a price gives 5,000 operations a second in read-only.range10.0, as far as the \
         rounds show."
    );
}
