use dyno_judge::{Hardware, Priced, Target, WantedHardware, analyse, cheapest, forecasts};
use dyno_store::SystemRecord;

use super::*;
use crate::golden::assert_golden;
use crate::sample::{self, checks};
use crate::{Format, RenderOptions, render};

fn answer(iops: &[u64], cpus: &[u64], rate: f64) -> CostAnswer {
    answer_of(&sample::hardware_run(), iops, cpus, rate)
}

fn answer_of(run: &dyno_store::Run, iops: &[u64], cpus: &[u64], rate: f64) -> CostAnswer {
    let analysis = analyse(run, &checks(run), &dyno_judge::Rule::default());
    let step = run.steps[0].id.clone();
    let wanted = WantedHardware { cpus: cpus.to_vec(), iops: iops.to_vec() };
    let found = if iops.is_empty() && cpus.is_empty() {
        Vec::new()
    } else {
        forecasts(run, &analysis, &step, &[8], &wanted)
    };
    let prices = |system: &SystemRecord, predicted: Option<Hardware>| match predicted {
        None => Some(Priced { dollars_per_year: system.dollars_per_year()?, by_list: system.price.clone() }),
        Some(hardware) => Some(Priced { dollars_per_year: hardware.read_iops? as f64 * 8.0, by_list: None }),
    };
    let target = Target { operations_per_second: rate, p99_ms: None };
    cheapest(run, &analysis, target, &step, &[8], found, &prices).unwrap()
}

fn text(answer: &CostAnswer) -> String {
    render(answer, Format::Text, &RenderOptions { color: false, width: 120 })
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
    let markdown = render(&answer, Format::Markdown, &RenderOptions::default());
    assert!(
        markdown.contains("## Candidates by price") && markdown.contains("with 3000 IOPS, 8 CPUs"),
        "{markdown}"
    );
    let json: serde_json::Value =
        serde_json::from_str(&render(&answer, Format::Json, &RenderOptions::default())).unwrap();
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

#[test]
fn a_price_of_other_hardware_is_told_with_what_it_is_of() {
    use dyno_store::{HostRecord, Price, PricedInstance, PricedVolume};

    let mut run = sample::hardware_run();
    run.record.host = HostRecord {
        cpus: Some(2),
        memory_bytes: Some(8 << 30),
        cpu_model: Some("Model T".to_owned()),
        ..HostRecord::default()
    };
    for system in &mut run.systems {
        system.confinement = None;
        system.price = Some(Price {
            list: "aws-2018-08".to_owned(),
            date: "2018-08-01".to_owned(),
            source: "a post".to_owned(),
            instance: Some(PricedInstance {
                name: "c5.9xlarge".to_owned(),
                cpus: 36,
                memory_bytes: 72 << 30,
                dollars_per_year: 7881.0,
                ..PricedInstance::default()
            }),
            volume: Some(PricedVolume { name: "io1-5000".to_owned(), iops: 5000, ..PricedVolume::default() }),
        });
    }
    assert_golden("cost-other-hardware.txt", &text(&answer_of(&run, &[], &[], 300.0)));
}
